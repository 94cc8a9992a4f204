"""Makers write new corpora. They are found by name; packages register theirs as `parsemark.makers`.

A maker is a frozen dataclass whose fields are its options, as in `typst(pages=60,languages=english+french)`.
The first line of its docstring describes it.
"""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import Any, ClassVar

from parsemark.corpora.base import Corpus, Remark
from parsemark.corpora.commitments import (
    Secret,
    commit_to,
    commitment_path,
    committed_note,
    differences,
    draw_seed,
    read_secret,
    require_free,
)
from parsemark.corpora.files import write_manifest, write_page
from parsemark.corpora.schema import CorpusFile
from parsemark.errors import ParsemarkError, UsageError
from parsemark.specs import OptionValue, Registry, Spec, check_options, distribution_of, own_plugins
from parsemark.system.scratch import whole_folder

__all__ = [
    "MAKERS", "CorpusFile", "MadeCorpus", "Maker", "MakerHelp", "MakingJob", "Progress", "get_maker",
    "list_makers", "option", "run_maker", "silent", "write_copy_manifest", "write_manifest", "write_page",
]  # fmt: skip

MAKERS = Registry("maker", "parsemark.makers", {})
Progress = Callable[[int], None]  # called with the number of pages, or documents, that were finished


def silent(count: int) -> None:
    """Ignore progress."""


@dataclass(frozen=True)
class MakingJob:
    """What a maker reads, where it writes, and how."""

    out: Path
    """An empty folder for `corpus.json`, `pdfs/` and `truth/`; it gets its final name in the end."""
    corpus: Corpus | None = None
    sources: tuple[Path, ...] = ()
    workers: int | None = None  # None: one per CPU
    progress: Progress = silent


@dataclass(frozen=True)
class MadeCorpus:
    """A new corpus, and what its maker reports about it."""

    manifest: CorpusFile
    notes: tuple[str, ...] = ()
    left_out: tuple[Remark, ...] = ()  # pages of the source corpus that are missing from the copy
    differences: tuple[str, ...] = ()
    """Why revealed pages are not those that were committed to."""

    @property
    def n_pages(self) -> int:
        """Number of pages with truth."""
        return sum(name.startswith("truth/") for name in self.manifest.files)


def option(help: str, default: Any = MISSING) -> Any:
    """Declare an option of a maker: one line that describes it, and its default if it has one."""
    return dataclasses.field(default=default, metadata={"help": help})


@dataclass(frozen=True, kw_only=True)
class Maker(ABC):
    """Writes a new corpus. Its fields are its options, declared with `option`."""

    generator: ClassVar[str]
    """Name and version, as in the manifest. The version rises whenever the same options give other pages."""
    needs_corpus: ClassVar[bool] = False  # whether it changes pages of another corpus
    sources_help: ClassVar[str] = ""  # which files it reads; empty if it reads none

    @abstractmethod
    def make(self, job: MakingJob) -> MadeCorpus:
        """Write the pages, their truths and the manifest into `job.out`."""

    def n_steps(self, job: MakingJob) -> int | None:
        """Return the sum of what `make` reports to `job.progress`; None if it is not known before."""
        return None if job.corpus is None else len(job.corpus)

    def settings(self) -> dict[str, Any]:
        """Return the options as the manifest records them: all but name and seed, which it has itself."""
        fields = dataclasses.asdict(self)
        return {key: value for key, value in fields.items() if key not in ("name", "seed")}

    @classmethod
    def options_of(cls, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options that `settings` was made from: its inverse."""
        return {k: tuple(v) if isinstance(v, list) else v for k, v in settings.items() if v is not None}


def get_maker(spec: str | Spec, options: Mapping[str, Any] | None = None) -> Maker:
    """Return the maker that a spec names, with further options.

    Raises:
        UsageError: It has no such option, an option has a wrong value, or a required one is missing.
    """
    spec = MAKERS.spec(spec) if isinstance(spec, str) else spec
    maker = _maker_class(spec.name)
    given = spec.as_dict()
    if twice := given.keys() & (options or {}).keys():
        raise UsageError(f"Option {min(twice)!r} of {spec.name!r} is given twice.")
    checked = check_options(maker, "Maker", spec.name, {**given, **(options or {})})
    for field in dataclasses.fields(maker):
        if field.default is MISSING and field.name not in checked:
            how = f"--{field.name} N" if field.name == "pages" else f"{spec.name}({field.name}=…)"
            raise UsageError(f"Maker {spec.name!r} needs the option {field.name!r}: {how}.")
    return maker(**checked)


def _maker_class(name: str) -> type[Maker]:
    maker = MAKERS.load(name)
    if not (isinstance(maker, type) and issubclass(maker, Maker)):
        raise MAKERS.broken(name, TypeError("it is not a subclass of parsemark.corpora.making.Maker"))
    return maker


@dataclass(frozen=True, slots=True)
class MakerHelp:
    """What a maker does and takes, for help texts."""

    name: str
    distribution: str  # which brings it
    summary: str
    reads: str = ""
    """What it takes besides options, as the command line calls it: `--corpus CORPUS`, `SOURCES...`."""
    options: tuple[tuple[str, str], ...] = ()  # `name=default`, and one line


def list_makers() -> Iterator[MakerHelp]:
    """Describe all makers, also those of parsemark's plug-ins that are not installed."""
    missing = {name for groups in own_plugins().values() for name in groups.get(MAKERS.group, ())}
    for name in sorted({*MAKERS, *missing}):
        if name in MAKERS:
            yield _help_of(name)
        else:
            distribution = str(distribution_of(MAKERS.group, name))
            yield MakerHelp(name, distribution, f"Not installed: pip install {distribution}")


def _help_of(name: str) -> MakerHelp:
    distribution = MAKERS.distribution(name)
    try:
        maker = _maker_class(name)
    except ParsemarkError as error:
        return MakerHelp(name, distribution, str(error))
    reads = "--corpus CORPUS" if maker.needs_corpus else "SOURCES..." if maker.sources_help else ""
    options = tuple(
        (field.name + _default_text(field.default), str(field.metadata.get("help", "")))
        for field in dataclasses.fields(maker)
    )
    return MakerHelp(name, distribution, (maker.__doc__ or "").partition("\n")[0], reads, options)


def _default_text(default: Any) -> str:
    if default is MISSING or default in (None, "", ()):
        return ""
    return f"={'+'.join(map(str, default)) if isinstance(default, tuple) else default}"


def run_maker(
    maker: str | Maker,
    out: Path,
    *,
    options: Mapping[str, OptionValue],
    corpus: Corpus | None = None,
    sources: Sequence[Path] = (),
    workers: int | None = None,
    commit: Path | None = None,
    reveal: Path | None = None,
    progress: Callable[[int, int | None], None],
) -> MadeCorpus:
    """Write a corpus into a folder that is new or empty, as `parsemark.make_corpus` describes."""
    if commit is not None:
        if reveal is not None:
            raise UsageError("Give --commit or --reveal, not both.")
        require_free(commit)  # before anything is made
    secret = None if reveal is None else read_secret(reveal)
    if isinstance(maker, str):
        chosen = _chosen(maker, options, secret, draw=commit is not None)
    elif options or secret is not None:
        raise UsageError("A maker object has its options; name the maker by its spec to give others.")
    else:
        chosen = maker
    _require_inputs(chosen, corpus, sources)
    with whole_folder(out) as folder:
        job = MakingJob(folder, corpus, tuple(sources), workers)
        total = chosen.n_steps(job)
        progress(0, total)
        made = chosen.make(dataclasses.replace(job, progress=lambda n: progress(n, total)))
    if commit is not None:
        made = _with_notes(made, *commit_to(out, commit))
    if reveal is not None and secret is not None:
        commitment = commitment_path(reveal)
        if found := tuple(differences(out, secret, commitment)):
            return dataclasses.replace(made, differences=found)
        made = _with_notes(made, committed_note(out, secret, commitment))
    return made


def _chosen(text: str, options: Mapping[str, OptionValue], secret: Secret | None, *, draw: bool) -> Maker:
    """Return the maker of a spec; its options are those of a secret, or its seed is drawn."""
    spec = MAKERS.spec(text)
    maker = _maker_class(spec.name)
    names = {field.name for field in dataclasses.fields(maker)}
    if secret is not None:
        if spec.options or options:
            raise UsageError("--reveal takes all options from its file; give none.")
        if secret.generator != maker.generator:
            raise UsageError(
                f"The secret is of {secret.generator!r}, but {spec.name} is {maker.generator!r}."
            )
        identity = {"name": secret.name, "seed": secret.seed}
        known = {key: value for key, value in identity.items() if key in names}
        return get_maker(spec, {**maker.options_of(secret.settings), **known})
    if draw and "seed" in names and "seed" not in {*spec.as_dict(), *options}:
        options = {**options, "seed": draw_seed()}
    return get_maker(spec, options)


def _require_inputs(maker: Maker, corpus: Corpus | None, sources: Sequence[Path]) -> None:
    if maker.needs_corpus and corpus is None:
        raise UsageError("This maker changes the pages of a corpus; name one: --corpus CORPUS.")
    if corpus is not None and not maker.needs_corpus:
        raise UsageError("This maker does not read a corpus; leave out --corpus.")
    if sources and not maker.sources_help:
        raise UsageError(f"This maker does not read files; leave out {sources[0]}.")


def _with_notes(made: MadeCorpus, *notes: str) -> MadeCorpus:
    return dataclasses.replace(made, notes=(*made.notes, *notes))


def write_copy_manifest(
    out: Path, corpus: Corpus, kind: str, description: str, settings: dict[str, Any], **fields: Any
) -> CorpusFile:
    """Write the manifest of a copy of a corpus, whose name ends with its `kind`."""
    return write_manifest(
        out,
        name=f"{corpus.name}-{kind}",
        version=corpus.version,
        licence=corpus.licence,
        description=f"{corpus.name} {description}.",
        settings={**settings, "corpus": corpus.name, "corpus_hash": corpus.hash},
        **fields,
    )
