"""Checks a folder of PDFs against a folder of outputs, document by document, and can be resumed.

Each document is one line of `results.jsonl`; a line is written when its document is done, and a document with
a line is not checked again unless its PDF or its output has changed. What is known of all documents is in a
file, so memory does not grow with their number.
"""

from __future__ import annotations

import hashlib
import heapq
import json
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from parsemark.errors import ParsemarkError, UsageError
from parsemark.pdf import TRAITS, made_with
from parsemark.system import make_folder
from parsemark.system.files import locked_folder
from parsemark.system.scratch import ScratchFolder
from parsemark.verdicts.check import KINDS, check
from parsemark.verdicts.check.outputs import output_of
from parsemark.verdicts.check.report import (
    COUNTED_ONCE,
    SCHEMA_VERSION,
    Limit,
    PdfCheck,
    count_in_words,
)

__all__ = ["BatchSummary", "check_folder", "output_of", "pdf_names", "results", "write_parquet"]

RESULTS = "results.jsonl"
_NEEDED = ("kind", "page", "text", "output", "words", "numbers", "severity")
"""Of a stored finding, what limits look at."""
_WORST = 100
_ROWS_AT_ONCE = 50_000  # of the table of findings
_CACHE_KB = 1024  # of the index
_PAGE_TRAITS = TRAITS.keys() - {"file", "maker"}
"""Those that differ from page to page."""
_MAX_LINE = 64 * 2**20


@dataclass
class BatchSummary:
    """The sums over all documents."""

    documents: int = 0
    pages: int = 0
    words: int = 0
    hidden: int = 0
    """Findings that are less certain than asked for."""
    statuses: Counter[str] = field(default_factory=Counter)
    """`ok` (no limit exceeded), `exceeded`, `not judged` (no page could be), `error` and `no output`."""
    counts: Counter[str] = field(default_factory=Counter)
    """Words, numbers or pages by kind of finding."""
    by_producer: dict[str, Counter[str]] = field(default_factory=dict)
    """The same for each kind of program that made the PDFs, with `documents`, `pages` and `words`."""
    by_source: dict[str, Counter[str]] = field(default_factory=dict)
    """The same for what pages were compared with: `text layer`, `OCR` or `not judged`."""
    by_type: dict[str, dict[str, Counter[str]]] = field(default_factory=dict)
    """The same for each value of each trait of pages."""
    worst: list[dict[str, Any]] = field(default_factory=list)
    """The documents with most findings of severity high, then with most words in findings."""
    failed: list[dict[str, str]] = field(default_factory=list)
    """The first documents that could not be checked, with the reason."""

    def statuses_in_words(self) -> str:
        """Return how many documents have each status."""
        ok = "within limits" if self.statuses["exceeded"] else "checked"
        words = {"ok": ok, "exceeded": "over a limit"}
        return ", ".join(f"{n:,} {words.get(status, status)}" for status, n in self.statuses.items())

    def counts_in_words(self) -> str:
        """Return what was found in all documents together, in the order of the kinds; empty if nothing."""
        return ", ".join(count_in_words(kind, self.counts[kind]) for kind in KINDS if self.counts[kind])

    @property
    def n_unchecked(self) -> int:
        """Return the number of documents without an output, or whose PDF or output cannot be used."""
        return self.statuses["error"] + self.statuses["no output"]

    def to_json(self) -> dict[str, Any]:
        """Return the sums as plain data."""
        return {
            "schema": "parsemark.check_folder",
            "schema_version": SCHEMA_VERSION,
            **{
                name: getattr(self, name)
                for name in ("documents", "pages", "words", "hidden", "worst", "failed")
            },
            "statuses": dict(self.statuses),
            "counts": {kind: self.counts[kind] for kind in KINDS},
            "by_producer": {name: dict(own) for name, own in sorted(self.by_producer.items())},
            "by_source": {name: dict(own) for name, own in sorted(self.by_source.items())},
            "by_type": {
                trait: {value: dict(own) for value, own in sorted(self.by_type[trait].items())}
                for trait in TRAITS
                if trait in self.by_type
            },
        }


def check_folder(
    pdfs: Path,
    outputs: Path,
    out: Path,
    *,
    ocr: Literal["auto", "off"] = "auto",
    certain: float = 0.75,
    limits: Mapping[str, Limit] | None = None,
    done: Callable[[int, int], None] = lambda _done, _all: None,
) -> BatchSummary:
    """Check every PDF below a folder against the output of the same name below another one.

    `report.pdf` is checked against `report.md` (or another known ending), or against a folder `report`.
    Results go to `results.jsonl` in `out`; they are kept as long as neither PDF nor output changes.

    Raises:
        UsageError: A folder does not exist, or has no PDF.
    """
    for folder in (pdfs, outputs):
        if not folder.is_dir():
            raise UsageError(f"{folder} is not a folder.")
    with DocumentIndex(pdf_names(pdfs)) as index:
        if not (n_documents := len(index)):
            raise UsageError(f"{pdfs} has no PDF.")
        make_folder(out)
        with locked_folder(out):
            index.read(out)
            with (out / RESULTS).open("a", encoding="utf-8") as journal:
                if journal.tell() and not _ends_with_newline(out / RESULTS):
                    journal.write("\n")  # the line that was being written when the process ended
                for number, (name, known) in enumerate(index.documents(), start=1):
                    output = output_of(outputs, name)
                    key = _key(pdfs / name, output, f"{ocr} {certain:g}")
                    if known != key:
                        line = {
                            "document": name.as_posix(),
                            "key": key,
                            **_result(pdfs / name, output, ocr, certain),
                        }
                        journal.write(json.dumps(line, ensure_ascii=True) + "\n")
                        journal.flush()
                    done(number, n_documents)
            index.read(out)
            return summarise(index.latest(out), limits or {})


def pdf_names(folder: Path) -> Iterator[Path]:
    """Yield the PDFs below a folder, relative to it."""
    inside, left = folder.resolve(), [folder]
    while left:
        with os.scandir(left.pop()) as entries:  # `rglob` and `walk` hold all names
            for entry in entries:
                path = Path(entry.path)
                if entry.is_dir(follow_symlinks=False):
                    left.append(path)
                elif (
                    path.suffix.lower() == ".pdf" and path.is_file() and path.resolve().is_relative_to(inside)
                ):
                    yield path.relative_to(folder)


class DocumentIndex:
    """The documents of a batch in the order of their names, and the place of the newest result of each, in a
    temporary file.
    """

    def __init__(self, names: Iterable[Path]) -> None:
        self._scratch = ScratchFolder("parsemark-check-")
        try:
            self._db = sqlite3.connect(self._scratch.path / "documents.sqlite", isolation_level=None)
            for setting in ("journal_mode = OFF", "synchronous = OFF", f"cache_size = -{_CACHE_KB}"):
                self._db.execute(f"PRAGMA {setting}")
            self._db.execute(
                "CREATE TABLE documents (name BLOB PRIMARY KEY, key TEXT, start INTEGER) WITHOUT ROWID"
            )
            self._db.execute("BEGIN")
            rows = ((_sort_key(name.as_posix()),) for name in names)
            self._db.executemany("INSERT OR IGNORE INTO documents (name) VALUES (?)", rows)
            self._db.execute("COMMIT")
        except BaseException:
            self._scratch.close()
            raise

    def __enter__(self) -> DocumentIndex:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()
        self._scratch.close()

    def __len__(self) -> int:
        return int(self._db.execute("SELECT COUNT(*) FROM documents").fetchone()[0])

    def read(self, out: Path) -> None:
        """Read where the newest result of each document stands."""
        rows = ((str(line["key"]), start, _sort_key(line["document"])) for start, line in _placed(out))
        self._db.execute("BEGIN")
        self._db.executemany("UPDATE documents SET key = ?, start = ? WHERE name = ?", rows)
        self._db.execute("COMMIT")

    def documents(self) -> Iterator[tuple[Path, str | None]]:
        """Yield each document with the key of its newest result."""
        with closing(self._db.execute("SELECT name, key FROM documents ORDER BY name")) as rows:
            for name, key in rows:
                yield Path(_name_of(name)), key

    def latest(self, out: Path) -> Iterator[dict[str, Any]]:
        """Yield the newest result of each document that has one."""
        query = "SELECT start FROM documents WHERE start IS NOT NULL ORDER BY name"
        with closing(self._db.execute(query)) as rows, (out / RESULTS).open("rb") as file:
            for (start,) in rows:
                file.seek(start)
                yield json.loads(file.readline(_MAX_LINE))


def _sort_key(name: str) -> bytes:
    """Return a name so that bytes have the order of paths."""
    return name.replace("/", "\0").encode("utf-8", "surrogatepass")


def _name_of(key: bytes) -> str:
    return key.decode("utf-8", "surrogatepass").replace("\0", "/")


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read(1) == b"\n"


def _key(pdf: Path, output: Path | None, options: str) -> str:
    """Return a key of the state of both files."""
    files = [pdf] if output is None else [pdf, output]
    if output is not None and output.is_dir():
        files += sorted(output.iterdir())
    states = [(path.name, (s := path.stat()).st_size, s.st_mtime_ns) for path in files]
    return hashlib.sha256(repr((SCHEMA_VERSION, options, states)).encode()).hexdigest()[:16]


def _result(pdf: Path, output: Path | None, ocr: Literal["auto", "off"], certain: float) -> dict[str, Any]:
    if output is None:
        return {"status": "no output", "message": "no output has this name"}
    try:
        found: PdfCheck = check(pdf, output, ocr=ocr, certain=certain)
        producer = made_with(pdf)
    except ParsemarkError as error:
        return {"status": "error", "message": str(error)}
    data = found.to_json()
    return {"status": "ok", "producer": producer, **data}


def results(out: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a batch, the last one of each document last; broken ones are passed over."""
    return (line for _, line in _placed(out))


def _placed(out: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the same lines with the places in the file at which they begin."""
    path = out / RESULTS
    if not path.exists():
        return
    with path.open("rb") as file:
        end = 0
        while raw := file.readline(_MAX_LINE):
            start, end = end, end + len(raw)
            try:
                line = json.loads(raw)
            except (ValueError, RecursionError):
                continue
            if (
                isinstance(line, dict)
                and {"document", "key", "status"} <= line.keys()
                and isinstance(line["document"], str)
            ):
                yield start, line


def summarise(lines: Iterable[dict[str, Any]], limits: Mapping[str, Limit]) -> BatchSummary:
    """Return the sums over the results of some documents."""
    found = BatchSummary()
    worst: list[tuple[tuple[int, int], str, dict[str, Any]]] = []
    for line in lines:
        found.documents += 1
        status = line["status"]
        if status == "ok":
            findings = [finding for page in line["pages"] for finding in page["findings"]]
            n_words = sum(page["words"] for page in line["pages"])
            producer = found.by_producer.setdefault(line["producer"], Counter())
            sums = Counter({"documents": 1, "pages": len(line["pages"]), "words": n_words, **line["counts"]})
            producer.update(sums)
            for page in line["pages"]:
                own = Counter({"pages": 1, "words": page["words"]})
                for finding in page["findings"]:
                    own[finding["kind"]] += 1 if finding["kind"] in COUNTED_ONCE else finding["words"]
                found.by_source.setdefault(page["judged_by"].partition(":")[0], Counter()).update(own)
                types = page.get("types", {})  # an older version had none
                for trait in _PAGE_TRAITS & types.keys():
                    found.by_type.setdefault(trait, {}).setdefault(types[trait], Counter()).update(own)
            found.pages, found.words = found.pages + sums["pages"], found.words + n_words
            found.hidden += line["hidden"]
            found.counts.update(line["counts"])
            exceeded = exceeded_limits(line, limits)
            status = "exceeded" if exceeded else "ok"
            if all(page["judged_by"].startswith("not judged") for page in line["pages"]):
                status = "not judged"
                if len(found.failed) < _WORST:
                    found.failed.append({"document": line["document"], "why": line["verdict"]})
            n_high = sum(finding["severity"] == "high" for finding in findings)
            rank = n_high, sum(finding["words"] for finding in findings)
            entry = {"document": line["document"], "verdict": line["verdict"], "exceeded": exceeded}
            heapq.heappush(worst, (rank, line["document"], entry))
            if len(worst) > _WORST:
                heapq.heappop(worst)
        elif len(found.failed) < _WORST:
            found.failed.append({"document": line["document"], "why": str(line.get("message", status))})
        found.statuses[status] += 1
    found.worst = [
        entry for rank, _, entry in sorted(worst, key=lambda one: one[0], reverse=True) if any(rank)
    ]
    return found


def exceeded_limits(line: Mapping[str, Any], limits: Mapping[str, Limit]) -> list[str]:
    """Return the limits that a stored result exceeds."""
    from parsemark.verdicts.check.report import CheckedPage, CheckFinding

    pages = tuple(
        CheckedPage(
            page["number"],
            page["width"],
            page["height"],
            page["judged_by"],
            page["words"],
            page["said"],
            tuple(CheckFinding(**{name: finding[name] for name in _NEEDED}) for finding in page["findings"]),
        )
        for page in line["pages"]
    )
    return PdfCheck(line["pdf"], line["output"], pages).over(limits)


def write_parquet(out: Path, pdfs: Path) -> Path:
    """Write the findings of all PDFs of a folder as `findings.parquet`, one row each.

    They are not held in memory.
    """
    import polars as pl

    from parsemark.system.files import replacing

    plain: dict[str, Any] = {
        **{"document": pl.String, "producer": pl.String, "page": pl.Int64, "kind": pl.String},
        **{"detail": pl.String, "severity": pl.String, "text": pl.String, "output": pl.String},
        **{"words": pl.Int64, "numbers": pl.Int64, "line": pl.Int64, "file": pl.String},
        **{"region": pl.String, "certainty": pl.Float64},
        **{"judged_by": pl.String, "boxes": pl.List(pl.List(pl.Float64))},
    }
    with ScratchFolder("parsemark-check-") as scratch:
        rows = scratch / "rows.jsonl"
        with rows.open("w", encoding="utf-8") as file, DocumentIndex(pdf_names(pdfs)) as index:
            index.read(out)
            for line in index.latest(out):
                for page in line.get("pages", ()):
                    for finding in page["findings"]:
                        own = {"document": line["document"], "producer": line["producer"], **finding}
                        own["judged_by"] = page["judged_by"]
                        file.write(json.dumps({name: own[name] for name in plain}) + "\n")
        target = out / "findings.parquet"
        with replacing(target) as temporary:
            if rows.stat().st_size:
                table = pl.scan_ndjson(rows, schema=plain, low_memory=True)
                table.sink_parquet(temporary, row_group_size=_ROWS_AT_ONCE)
            else:
                pl.DataFrame(schema=plain).write_parquet(temporary)
    return target
