"""A run in one file that others can check: a zip archive of plain text with a hash of each part.

    bundle.json                     the parts with sizes and hashes, corpus, protocols with their versions
    manifest.json                   what was run
    samples.jsonl                   the pages with their truth, unless that is kept back
    texts.jsonl                     the text layers that some figures are held against, likewise
    parses.jsonl                    status, times and memory of each page and parser
    raw/<sha256>                    what parsers returned, byte for byte
    protocols/NAME/matches.jsonl    and scores.jsonl, summary.json

A bundle is untrusted input. So it is never unpacked by the names that it gives: only members that a bundle
can have are read, by their places in this list, within limits, and written to places that we name. Tables are
lines of JSON and not Parquet, so that what is read never takes much more memory than its stated size.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from parsemark import pdf
from parsemark.errors import CorpusError, StoreError
from parsemark.plain_words import first_problem
from parsemark.store.folder import MANIFEST, SUMMARY, RunFolder
from parsemark.store.manifest import CorpusEntry, Manifest, NewerError, parse_manifest
from parsemark.store.records import ParseRecord, sample_from_row
from parsemark.store.run import Run
from parsemark.store.tables import LATER_COLUMNS, PROTOCOL_TABLES, SCHEMAS
from parsemark.system import BROKEN_ARCHIVE, replacing
from parsemark.version import __version__

BUNDLE_VERSION = 1  # raised whenever a reader of the former version would misread a bundle
INDEX = "bundle.json"
MAX_MEMBERS = 20_000_000
MAX_RAW_BYTES = 64 * 2**20  # of one raw output; no larger one is ever recorded
MAX_TEXT_BYTES = 256 * 2**20  # of the index, the manifest or a summary
_FREE_BYTES, _MAX_RATIO = 2**27, 200  # an archive may hold this much, or so many times its own size
_RAW_NAME = re.compile(r"raw/([0-9a-f]{64})")
_PART_NAME = re.compile(
    r"manifest\.json|(?:samples|texts|parses)\.jsonl"
    r"|protocols/[A-Za-z_][\w.\-]{0,120}/(?:(?:matches|scores)\.jsonl|summary\.json)",
    re.ASCII,
)
_TEXTS: dict[str, pl.DataType | type[pl.DataType]] = {"sample": pl.String, "text": pl.String}
_NAMED = {
    "parses": ("sample", "parser", "status", "key"),
    "samples": ("sample", "document", "page_number"),
    "scores": tuple(column for column in SCHEMAS["scores"] if column not in LATER_COLUMNS),
}
"""Columns without which no version wrote a line; of other tables all of them."""
_STAMP = (1980, 1, 1, 0, 0, 0)  # what `zipfile` raises on archives that are damaged or meant to harm


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class BundlePart(_Entry):
    """One member, as the index states it."""

    bytes: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class RawParts(_Entry):
    """All raw outputs: their names are their hashes."""

    n: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")  # of their sorted names, one per line


class ProtocolEntry(_Entry):
    """A protocol by which the run was scored."""

    spec: str
    comparability: int
    folder: str


class Index(_Entry):
    """What a bundle says about itself."""

    format: Literal["parsemark-bundle"] = "parsemark-bundle"
    version: int = BUNDLE_VERSION
    code_version: str  # of the parsemark that made the bundle
    created: str  # when the run was begun
    corpus: CorpusEntry
    protocols: list[ProtocolEntry]
    has_truth: bool
    submitter: str | None = Field(default=None, max_length=200)  # whose results they are, as they say
    raw: RawParts
    parts: dict[str, BundlePart]


class DamagedBundleError(StoreError):
    """A bundle that is no archive, breaks a limit, or whose parts do not fit their hashes."""


def write_bundle(run: Run, out: Path, *, truth: bool = True, submitter: str | None = None) -> Index:
    """Write a scored run into one file, whole or absent. Equal runs give equal files. StoreError if it has
    not been scored, or something in it is damaged.

    With `truth` go truths, text layers and messages (which quote both); without them a check needs the
    corpus. `submitter`: whose results they are, as a board shows it.
    """
    if not run.protocols:
        run.summary()  # says that it has not been scored, and what to do
    if run.repeats:
        raise StoreError(
            f"{run.path} has scores over several parses, which a bundle cannot hold. Bundle one parse: "
            f"parsemark bundle {run.repeats[0].path}"
        )
    records = run.records()
    known = {record.blob for record in records if record.blob is not None}
    with replacing(out) as temporary, zipfile.ZipFile(temporary, "w", allowZip64=True) as archive:
        writer = _BundleWriter(archive)
        writer.add(MANIFEST, _public(run.manifest).model_dump_json(indent=2).encode() + b"\n")
        samples = run.table("samples")
        bare = samples.with_columns(pdf=pl.lit(None, pl.String))
        if not truth:
            bare = bare.with_columns(truth=pl.lit(None, pl.String), attributes=pl.lit(None, pl.String))
        writer.add_frame("samples.jsonl", bare)
        if truth:
            texts = text_layers(samples.iter_rows(named=True))
            lines = ((json.dumps(row, ensure_ascii=False) + "\n").encode() for row in texts)
            writer.add_chunks("texts.jsonl", lines)
        writer.add_frame("parses.jsonl", run.table("parses"))
        protocols = []
        for spec in run.protocols:
            folder = run.protocol_folder(spec).name
            for name in PROTOCOL_TABLES:
                table = run.table(name, spec)
                if not truth:  # which both may quote
                    quoting = [column for column in ("message", "details") if column in table.columns]
                    table = table.with_columns(pl.lit(None, pl.String).alias(column) for column in quoting)
                writer.add_frame(f"protocols/{folder}/{name}.jsonl", table)
            summary = run.summary(spec)
            writer.add(f"protocols/{folder}/{SUMMARY}", (run.protocol_folder(spec) / SUMMARY).read_bytes())
            protocols.append(ProtocolEntry(spec=spec, comparability=summary.comparability, folder=folder))
        for blob in sorted(known):
            archive.writestr(_info(f"raw/{blob}"), run.raw(blob), compresslevel=6)
        index = Index(
            code_version=__version__,
            created=run.manifest.created,
            corpus=_public(run.manifest).corpus,
            protocols=protocols,
            has_truth=truth,
            submitter=submitter,
            raw=RawParts(n=len(known), sha256=_hash_of_names(known)),
            parts=writer.parts,
        )
        writer.add(INDEX, index.model_dump_json(indent=2).encode() + b"\n")
    return index


class _BundleWriter:
    """Adds members and remembers their hashes."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.parts: dict[str, BundlePart] = {}

    def add(self, name: str, data: bytes) -> None:
        self._archive.writestr(_info(name), data, compresslevel=6)
        self.parts[name] = BundlePart(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())

    def add_frame(self, name: str, frame: pl.DataFrame) -> None:
        slices = (frame.slice(start, 50_000) for start in range(0, frame.height, 50_000))
        self.add_chunks(name, (rows.write_ndjson().encode() for rows in slices))

    def add_chunks(self, name: str, chunks: Iterable[bytes]) -> None:
        digest, size = hashlib.sha256(), 0
        with self._archive.open(_info(name), "w", force_zip64=True) as member:
            for chunk in chunks:
                member.write(chunk)
                digest.update(chunk)
                size += len(chunk)
        self.parts[name] = BundlePart(bytes=size, sha256=digest.hexdigest())


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _STAMP)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    return info


def text_layers(samples: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the text layer of each page that has one."""
    for row in samples:
        sample = sample_from_row({**row, "truth": None})
        if sample.pdf is not None:
            with contextlib.suppress(CorpusError, OSError):
                text = pdf.page_text(sample.pdf, sample.page_number).encode("utf-8", "replace").decode()
                yield {"sample": sample.id, "text": text}


def _public(manifest: Manifest) -> Manifest:
    """Return the manifest without folders of the machine: a bundle is published."""
    loader, colon, path = manifest.corpus.spec.rpartition(":")
    corpus = manifest.corpus.model_copy(update={"spec": f"{loader}{colon}{_last_name(path)}"})
    command = [_last_name(argument) for argument in manifest.command]
    parsers = [entry.model_copy(update={"spec": None}) for entry in manifest.parsers]
    changed = {"corpus": corpus, "command": command, "origin": "", "parsers": parsers}
    return manifest.model_copy(update=changed)


def _last_name(argument: str) -> str:
    """Return an absolute path without its folders, also in `--out=/a/b` and `icdar2013:/a/b`; else as it
    is.
    """
    return re.sub(r"(^|[=:])(?:~|/)(?:[^/\0]*/)*(?=[^/\0])", r"\1", argument)


def _hash_of_names(names: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(names)).encode()).hexdigest()


class Bundle:
    """An open bundle. A context manager; what is read of it is checked against its hashes.

    StoreError if there is no such file, or it is of a newer parsemark; DamagedBundleError if it is no bundle,
    is damaged, or breaks a limit.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_file():
            raise StoreError(f"{path} does not exist.")
        try:
            self._archive = zipfile.ZipFile(path)
        except BROKEN_ARCHIVE as error:
            raise self._damaged(f"it is not a whole zip archive ({error})") from error
        try:
            self._members = self._checked_members()
            self.index = self._read_index()
            self._check_names()
        except BaseException:
            self._archive.close()
            raise

    def __enter__(self) -> Bundle:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()

    @property
    def raw_names(self) -> list[str]:
        """Return the hashes of the raw outputs, sorted."""
        return sorted(m[1] for name in self._members if (m := _RAW_NAME.fullmatch(name)))

    def damage(self) -> Iterator[str]:
        """Read everything and yield each part whose content does not match its hash."""
        for read, names in ((self._hashed, list(self.index.parts)), (self.raw, self.raw_names)):
            for name in names:
                try:
                    read(name)
                except DamagedBundleError as error:
                    yield str(error)

    def raw(self, blob: str) -> bytes:
        """Return a raw output, checked against its name."""
        data = self._read(f"raw/{blob}", MAX_RAW_BYTES)
        if hashlib.sha256(data).hexdigest() != blob:
            raise self._damaged(f"raw/{blob} does not match its hash")
        return data

    def manifest(self) -> Manifest:
        """Return the manifest of the run."""
        try:
            return parse_manifest(self._member_bytes(MANIFEST), MANIFEST)
        except NewerError:
            raise
        except StoreError as error:
            raise self._damaged(str(error).rstrip(".")) from error

    def summary(self, protocol: ProtocolEntry) -> Any:
        """Return a protocol's summary as plain JSON data."""
        return self._json(f"protocols/{protocol.folder}/{SUMMARY}")

    def table(self, name: str, protocol: ProtocolEntry | None = None) -> pl.DataFrame:
        """Return one of `samples`, `texts`, `parses`, or of a protocol's `matches`, `scores`."""
        member = f"{name}.jsonl" if protocol is None else f"protocols/{protocol.folder}/{name}.jsonl"
        schema = _TEXTS if name == "texts" else SCHEMAS[name]
        if member not in self.index.parts:
            return pl.DataFrame(schema=schema)
        data = self._hashed(member)
        if not data.strip():
            return pl.DataFrame(schema=schema)
        # A row takes memory for each column, whatever stands in its line: so each must name them.
        least = sum(len(column) + len('"":0,') for column in _NAMED.get(name, schema))
        if (data.count(b"\n") + 1) * least > len(data) + least:
            raise self._damaged(f"{member} has lines that lack columns")
        try:
            return pl.read_ndjson(data, schema=schema)
        except (pl.exceptions.PolarsError, ValueError) as error:
            why = " ".join(str(error).split())[:200]
            raise self._damaged(f"{member} is not a table of lines of JSON ({why})") from error

    def unpack(self, target: Path) -> Run:
        """Make a run directory of what scores are made of, in a new or empty folder."""
        run = Run.create(target, self.manifest())
        for name in ("samples", "parses"):
            RunFolder.of(run).write_table(name, self.table(name))
        texts = self.table("texts")
        if texts.height:
            with replacing(RunFolder.of(run).files.texts_path) as temporary:
                texts.write_parquet(temporary)
        for blob in self.raw_names:
            RunFolder.of(run).blobs.put(self.raw(blob))
        return run

    def _checked_members(self) -> dict[str, zipfile.ZipInfo]:
        """Return every member by its name, none of them outside of what a bundle may be."""
        members: dict[str, zipfile.ZipInfo] = {}
        infos = self._archive.infolist()
        if len(infos) > MAX_MEMBERS:
            raise self._damaged(f"it has more than {MAX_MEMBERS:,} members")
        for info in infos:
            name = info.filename
            if name != INDEX and not _RAW_NAME.fullmatch(name) and not _PART_NAME.fullmatch(name):
                raise self._damaged(f"it has an unexpected member, {name[:80]!r}")
            if name in members:
                raise self._damaged(f"it has {name} twice")
            if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise self._damaged(f"{name} is encrypted or packed in an unusual way")
            members[name] = info
        size = self.path.stat().st_size
        total = sum(info.file_size for info in infos)
        if total > max(_FREE_BYTES, _MAX_RATIO * size):
            raise self._damaged(f"its {size:,} bytes declare an implausible unpacked size of {total:,}")
        return members

    def _read_index(self) -> Index:
        if INDEX not in self._members:
            raise self._damaged(f"it has no {INDEX}")
        data = self._json(INDEX)
        version = data.get("version") if isinstance(data, dict) else None
        if isinstance(version, int) and version > BUNDLE_VERSION:
            raise NewerError(
                f"{self.path} was made by a newer parsemark (bundle {version}; this one reads up to "
                f"{BUNDLE_VERSION}). Upgrade with: pip install --upgrade parsemark"
            )
        try:
            return Index.model_validate(data)
        except ValidationError as error:
            raise self._damaged(f"{INDEX} is not valid: {first_problem(error)}") from error

    def _check_names(self) -> None:
        """Raise DamagedBundleError unless the bundle has exactly the members that the index lists."""
        parts = {name for name in self._members if name != INDEX and not _RAW_NAME.fullmatch(name)}
        folders = {entry.folder for entry in self.index.protocols}
        needed = {MANIFEST, "samples.jsonl", "parses.jsonl"}
        needed |= {f"protocols/{f}/{n}" for f in folders for n in ("matches.jsonl", "scores.jsonl", SUMMARY)}
        if missing := sorted((needed | self.index.parts.keys()) - parts):
            raise self._damaged(f"{missing[0]} is missing")
        if extra := sorted(parts - self.index.parts.keys()):
            raise self._damaged(f"{extra[0]} is not in {INDEX}")
        raw = self.raw_names
        if len(raw) != self.index.raw.n or _hash_of_names(raw) != self.index.raw.sha256:
            raise self._damaged(
                f"its {len(raw)} raw outputs are not the {self.index.raw.n} that {INDEX} lists"
            )

    def _hashed(self, name: str) -> bytes:
        part = self.index.parts[name]
        data = self._read(name, part.bytes)
        if hashlib.sha256(data).hexdigest() != part.sha256:
            raise self._damaged(f"{name} does not match its hash in {INDEX}")
        return data

    def _json(self, name: str) -> Any:
        try:
            return json.loads(self._member_bytes(name))
        except (ValueError, RecursionError) as error:
            raise self._damaged(f"{name} is not JSON ({str(error)[:200]})") from error

    def _member_bytes(self, name: str) -> bytes:
        return self._read(name, MAX_TEXT_BYTES) if name == INDEX else self._hashed(name)

    def _read(self, name: str, limit: int) -> bytes:
        """Return the bytes of a member, never more than its stated size or the limit."""
        info = self._members[name]
        if info.file_size > limit:
            raise self._damaged(f"{name} has {info.file_size:,} bytes instead of at most {limit:,}")
        try:
            with self._archive.open(info) as member:
                data = member.read(info.file_size)
                if len(data) != info.file_size or member.read(1):
                    raise ValueError("its size differs from the declared one")
                return data
        except BROKEN_ARCHIVE as error:
            raise self._damaged(f"{name} cannot be unpacked ({error})") from error

    def records(self) -> list[ParseRecord]:
        """Return the records in `parses`; raise DamagedBundleError for a line that is not a record."""
        try:
            return [
                ParseRecord.from_json(row, f"line {number} of parses.jsonl", remedy="")
                for number, row in enumerate(self.table("parses").iter_rows(named=True), start=1)
            ]
        except DamagedBundleError:
            raise
        except StoreError as error:
            raise self._damaged(str(error).rstrip(".")) from error

    def _damaged(self, what: str) -> DamagedBundleError:
        return DamagedBundleError(f"{self.path} is damaged, or is not a bundle of parsemark: {what}.")
