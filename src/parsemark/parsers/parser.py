"""A parser as the rest of parsemark sees it: a name, facts, and a command that starts its worker."""

import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

from parsemark.errors import ParserError
from parsemark.parsers.declaration import Declaration, Info
from parsemark.parsers.environment import Environment, Progress
from parsemark.parsers.fingerprint import fingerprint
from parsemark.parsers.installation import NoWheelError
from parsemark.parsers.needs import missing_needs, this_machine, without_wheels
from parsemark.parsers.npm import NpmPackages, needs_of_npm
from parsemark.parsers.weights import Bar, StoredWeights, Weights
from parsemark.parsers.working_tree import Requirement, normal_name, resolve_requirement
from parsemark.specs import OptionValue, Spec
from parsemark.system.processes import Confinement, confinement_for, why_not_confined

KIT = Path(__file__).with_name("kit") / "parsemark_worker.py"
WORKERS = Path(__file__).with_name("workers")
"""The built-in scripts: each stands alone, and some have the names of packages that others import."""

_INHERITED = re.compile(
    r"PATH|LANG|LANGUAGE|LC_\w+|TZ|USER|LOGNAME|SHELL|TERM|LD_LIBRARY_PATH|JAVA_HOME|TESSDATA_PREFIX|FONTCONFIG_\w+"
    r"|CUDA_\w+|NVIDIA_\w+|ROCR_\w+|HIP_\w+|PARSEMARK_FAULT|PARSEMARK_WAIT_S|COVERAGE_\w+"
)
"""Variables that every worker is given: of the system, none of them a secret."""
_INHERITED_WITH_NETWORK = re.compile(
    r"(?:https?|all|no)_proxy|SSL_CERT_(?:FILE|DIR)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE", re.I
)
CONTAINER = "`podman build --platform linux/amd64 -t parsemark .` in the repository"
"""For machines on which packages have no wheels."""
_PYTHON = {"PYTHONNOUSERSITE": "1", "PYTHONHASHSEED": "0", "PYTHONUNBUFFERED": "1"}
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_THREAD_LIMIT")


@dataclass(frozen=True, slots=True)
class State:
    """Whether a parser can be used now."""

    kind: Literal["ready", "installable", "missing"]
    missing: tuple[str, ...] = ()  # what is missing and cannot be installed by us, each with what to do
    with_flag: str = ""  # what a command must be told before it installs it

    def __str__(self) -> str:
        if self.missing:
            return f"missing {'; '.join(self.missing)}"
        return f"{self.kind} with {self.with_flag}" if self.with_flag else self.kind


@dataclass(frozen=True, slots=True)
class WorkerCommand:
    """How a worker is started."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    confinement: Confinement | None = None  # what it may use, and a folder of its own; None for all
    file_names: bool = True  # whether it sees the names of the files that it is given


@dataclass(frozen=True)
class Parser:
    """One parser with its options."""

    short_name: str
    script: Path
    declaration: Declaration
    options: Mapping[str, OptionValue]  # all of them, defaults included
    builtin: bool = True
    lock: tuple[str, ...] = ()  # all packages of its environment, where it has a lock
    version: str = ""  # of its own package, where one was asked for: see `parsemark.parsers.releases`
    threads: int = 1  # of its worker
    npm: NpmPackages | None = None
    pins: StoredWeights = field(
        default_factory=StoredWeights
    )  # revisions and hashes of its weights, where they are known

    @cached_property
    def name(self) -> str:
        """Return the canonical spec: the short name with its version, and the options that differ from
        defaults.
        """
        return self._spec(self.short_name, re.sub(r"git:.*#", "git:", self.version, flags=re.DOTALL))

    @cached_property
    def spec(self) -> str:
        """Return the argument of `get_parser` that gives this parser: the name, or the script's path."""
        return self._spec(self._given_name, self.version)

    @property
    def _given_name(self) -> str:
        """Return the name by which commands take it: of a script, its path."""
        return self.short_name if self.builtin else str(self.script)

    def _spec(self, name: str, version: str) -> str:
        head = f"{name}@{version}" if version else name
        known = self.info.options
        changed = tuple((k, v) for k, v in sorted(self.options.items()) if v != known[k].default)
        return str(Spec(head, changed))

    @property
    def info(self) -> Info:
        """Return licence, what it gives, what it needs."""
        return self.declaration.info

    @cached_property
    def environment(self) -> Environment:
        """Return its Python environment."""
        declared, found = self.declaration, self.requirements
        texts = tuple(requirement.text for requirement in found)
        trees = tuple(requirement.path for requirement in found if requirement.path is not None)
        asked = self.version.startswith("git:")  # whoever names a commit wants it to be built
        no_deps = declared.info.no_deps
        return Environment(texts, declared.requires_python, no_deps, trees, self.lock, asked, self.npm)

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """Return the packages that its script lists, in that order."""
        declared, folder = self.declaration, self.script.parent
        sources = {normal_name(name): source.path for name, source in declared.sources.items()}
        return tuple(resolve_requirement(text, sources, folder) for text in declared.dependencies)

    @property
    def needs(self) -> tuple[str, ...]:
        """Return its requirements with these options."""
        by_choice = [
            need
            for key, option in sorted(self.info.options.items())
            for need in option.needs_of(self.options[key])
        ]
        return (*self.info.needs, *by_choice, *needs_of_npm(self.declaration))

    @property
    def without_wheels(self) -> dict[str, list[str]]:
        """Return the machines on which it cannot be installed, each with the packages that lack wheels.

        It is known of built-in parsers at their own release.
        """
        is_known = self.builtin and not self.version
        return without_wheels(self.lock or self.declaration.dependencies) if is_known else {}

    @property
    def weights(self) -> Weights | None:
        """Return the weights that are fetched for it; None if it needs none or its variable names a
        folder.
        """
        variables = [need.partition(":")[2] for need in self.needs if need.startswith("folder:")]
        if not self.info.weights or not variables or os.environ.get(variables[0]):
            return None
        names = self._given_name, variables[0]
        return Weights(*names, self.info.weights, self.info.weight_files, self.pins)

    def state(self) -> State:
        """Return whether it is ready, can be installed, or misses something."""
        weights = self.weights
        needs = [need for need in self.needs if weights is None or need != f"folder:{weights.variable}"]
        words = self.info.weights_note or ", ".join(source.source for source in self.info.weights)
        missing = missing_needs(needs, words, self.info.weight_files)
        if weights is not None and (absent := weights.what_is_missing()):
            missing = (*missing, absent)
        environment = self.environment
        if (lacking := self.without_wheels.get(this_machine())) and not environment.is_ready():
            listed = f"wheels of {', '.join(lacking)} for {this_machine()}"
            missing = (*missing, f"{listed} (use the container: {CONTAINER})")
        if missing:
            return State("missing", missing)
        if environment.is_ready() and (weights is None or weights.is_ready()):
            return State("ready")
        flag = "--allow-local-builds" if environment.projects and not environment.may_build else ""
        return State("installable", with_flag=flag)

    @property
    def installed_mb(self) -> float | None:
        """Return the size of its environment on disk; None before it is built."""
        return self.environment.size_mb if self.environment.is_ready() else None

    def install(self, progress: Progress | None = None, bar: Bar | None = None) -> None:
        """Fetch its weights and build its environment unless that is done; ParserError if that fails."""
        if self.weights is not None:
            self.weights.fetch(progress, bar)
        try:
            self.environment.build(progress)
        except NoWheelError as error:
            again = f"List another version in it and run `parsemark parsers install {self.script}`"
            hint = f"Use the container: {CONTAINER}" if self.builtin else again
            raise ParserError(f"{error} {hint}.") from error

    def command(self, hidden: Collection[Path] = ()) -> WorkerCommand:
        """Return the command that starts its worker; the environment must be built. `hidden`: folders that it
        must not see, also if they lie in its own one: of the corpus and the run.
        """
        argv = (str(self.environment.python), "-P", str(KIT), str(self.script))
        confinement = None
        if why_not_confined() is None:
            given = list(self._given_places(hidden))
            given += [str(self.weights.folder)] if self.weights else []
            python = self.environment.python.resolve().parents[1]
            own = [str(path) for path in self._own_files(hidden)]
            read = [str(self.environment.folder), str(python), str(KIT.parent), *own, *given]
            confinement = confinement_for(read, (), network=self.info.network)
        names = self.info.file_names
        return WorkerCommand(argv, self._variables(), str(self.script.parent), confinement, names)

    def _given_places(self, hidden: Collection[Path]) -> Iterator[str]:
        """Yield the files and folders that its variables name; ParserError where truths or outputs lie in
        one.
        """
        secret = [path.resolve() for path in hidden]
        for name in self._given:
            if not (value := os.environ.get(name, "")).startswith("/"):
                continue
            folder = Path(value).resolve()
            if any(path == folder or folder in path.parents for path in secret):
                raise ParserError(
                    f"{name} is {value}, which contains the corpus or the run, and {self.name} may not read "
                    f"these. Set {name} to another folder."
                )
            yield value

    def _own_files(self, hidden: Collection[Path]) -> list[Path]:
        """Return the worker's folder; what lies in it beside a folder that must not be seen, one by one; and
        inside such a folder, only what it can import: other files may be truths.
        """
        folder = self.script.resolve().parent
        secret = [path.resolve() for path in hidden]
        if not self.builtin and any(path in (folder, *folder.parents) for path in secret):
            settings = self.script.resolve().with_suffix(".json")
            return [self.script.resolve(), settings, *(p for p in folder.iterdir() if p.suffix == ".py")]
        if not any(folder in path.parents for path in secret):
            return [folder]
        return [p for p in folder.iterdir() if not any(p == path or p in path.parents for path in secret)]

    @property
    def _given(self) -> list[str]:
        """Return names of the variables that it declares."""
        parted = [need.partition(":") for need in self.needs]
        return [*(name for kind, _, name in parted if kind in ("env", "folder")), *self.info.variables]

    def _variables(self) -> dict[str, str]:
        """Return its declared variables, those that every program needs, and the thread limit; no key of
        another parser.

        Workers are run side by side; each with its own pool of threads would make timings meaningless.
        """
        network = _INHERITED_WITH_NETWORK if self.info.network else None
        variables = {
            name: value
            for name, value in os.environ.items()
            if _INHERITED.fullmatch(name) or name in self._given or (network and network.fullmatch(name))
        }
        if self.weights is not None:
            variables[self.weights.variable] = str(self.weights.folder)
        variables |= dict.fromkeys(_THREADS, str(self.threads))
        return variables | {"PYTHONPATH": str(KIT.parent), **_PYTHON}

    @cached_property
    def fingerprint(self) -> str:
        """Return the hash of what decides its output."""
        decisive = self.script, KIT, self.environment.key, self.options, self.needs
        weights = self.weights.identity if self.weights is not None else ""
        return fingerprint(*decisive, weights=weights, stands_alone=self.script.parent == WORKERS)
