"""Outputs that were made elsewhere: one file per page, in any format, named by the sample."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from parsemark.corpora import Corpus
from parsemark.engine.events import Events
from parsemark.engine.parse import ParseOptions, add_samples, open_run
from parsemark.errors import FormatError, UsageError
from parsemark.formats import read_tables
from parsemark.model import Status, Table
from parsemark.protocols import canonical_specs
from parsemark.store import ParseRecord, ParserEntry, Run, work_key

MAX_FILE_BYTES = 64 * 1024 * 1024
_TEXT_FORMATS = {
    ".html": "html",
    ".htm": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".tex": "latex",
    ".txt": "text",
}


def import_predictions(
    out: Path,
    corpus: Corpus,
    folder: Path,
    *,
    name: str | None = None,
    pages: str | None = None,
    protocols: tuple[str, ...] = (),
    command: tuple[str, ...] = (),
    events: Events | None = None,
) -> Run:
    """Put outputs that lie in a folder into a run, as if a parser had made them.

    Args:
        out: The run directory; may hold other parsers of the same corpus.
        corpus: The corpus that the outputs are of.
        folder: With files `SAMPLE.md`, `.html`, `.json`, `.tex`, `.csv` or `.txt`. A sample without a file
            counts as not answered.
        name: Of the parser; by default the folder's.
        pages: Which samples: see `select_keys`.
        protocols: Specs by which the run will be scored, besides those that it has.
        command: Recorded in a new run.
        events: Told about files that fit no sample.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder with outputs.")
    parser = name or folder.resolve().name
    files, unused = _files_by_sample(folder, set(corpus.keys))
    run = open_run(out, corpus, ParseOptions(command=command))
    run.update_manifest(lambda manifest: manifest.with_protocols(canonical_specs(protocols)))
    wanted = add_samples(run, corpus, pages, needs_pdf=False)
    if not any(page.sample in files for page in wanted):
        raise UsageError(
            f"No file of {folder} is named after a sample of {corpus.name}; "
            f"expected names like {wanted[0].sample}.md"
        )
    _tell_unused(folder, unused, events or Events())
    digest = hashlib.sha256()
    with run.journal() as journal:
        for page in wanted:
            record = _record(run, page.sample, parser, files.get(page.sample))
            digest.update(record.key.encode())
            journal.append(record.to_json())
    run.fold_journals()
    entry = ParserEntry(name=parser, fingerprint=f"imported {digest.hexdigest()}")
    run.update_manifest(lambda manifest: manifest.with_parser(entry))
    return run


def read_output_file(path: Path) -> bytes:
    """A file as a raw output, which `read_raw` reads.

    Raises:
        FormatError: It is too large, no text, or JSON of an unknown kind.
    """
    if path.stat().st_size > MAX_FILE_BYTES:
        raise FormatError(f"The file is over {MAX_FILE_BYTES} bytes")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError("The file is not UTF-8 text", position=error.start) from error
    return json.dumps(_READERS[path.suffix.lower()](text), ensure_ascii=False).encode("utf-8", "replace")


def _read_json(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"The file is not JSON: {error}") from error
    if isinstance(data, list):
        return {"format": "elements", "elements": data}
    if isinstance(data, dict):
        if "format" in data:
            return data
        if isinstance(data.get("elements"), list):
            return {"format": "elements", "elements": data["elements"]}
        for kind in ("html", "markdown", "latex", "text"):
            if isinstance(data.get(kind), str):
                return {"format": kind, "content": data[kind]}
    raise FormatError("The JSON has none of: format, elements, html, markdown, latex, text")


def _read_csv(text: str) -> dict[str, Any]:
    tables = [found.table for found in read_tables(text, "csv")]
    return {"format": "elements", "elements": [_table_element(table) for table in tables]}


def _table_element(table: Table) -> dict[str, Any]:
    cells = [
        {"row": c.row, "col": c.col, "rowspan": c.rowspan, "colspan": c.colspan, "text": c.text}
        for c in table.cells
    ]
    return {"category": "table", "cells": cells}


def _as_text(kind: str) -> Callable[[str], dict[str, Any]]:
    return lambda text: {"format": kind, "content": text}


_READERS: dict[str, Callable[[str], dict[str, Any]]] = {
    ".json": _read_json,
    **{suffix: _as_text(kind) for suffix, kind in _TEXT_FORMATS.items()},
    ".csv": _read_csv,
}
"""Suffix to reader; of several files for one sample the first suffix counts."""
_MAX_LISTED = 5


def _files_by_sample(folder: Path, samples: set[str]) -> tuple[dict[str, Path], list[str]]:
    """The file of each sample, and what else lies in the folder, each with why it is not used."""
    inside = folder.resolve()
    rank = {suffix: k for k, suffix in enumerate(_READERS)}
    found: dict[str, Path] = {}
    unused: list[str] = []
    entries = sorted(folder.iterdir(), key=lambda p: (rank.get(p.suffix.lower(), len(rank)), p.name))
    for path in entries:
        if path.suffix.lower() not in _READERS:
            why = "a folder" if path.is_dir() else "not a known format"
        elif not path.resolve().is_relative_to(inside):
            why = "leads out of the folder"
        elif not path.is_file():
            why = "not a file"
        elif path.stem not in samples:
            why = "no sample of that name"
        elif path.stem in found:
            why = f"{found[path.stem].name} is taken"
        else:
            found[path.stem] = path
            continue
        unused.append(f"{path.name} ({why})")
    return found, unused


def _tell_unused(folder: Path, unused: list[str], events: Events) -> None:
    if unused:
        more = f" and {len(unused) - _MAX_LISTED} more" if len(unused) > _MAX_LISTED else ""
        events.note(f"Not used in {folder}: {', '.join(unused[:_MAX_LISTED])}{more}")


def _record(run: Run, sample: str, parser: str, path: Path | None) -> ParseRecord:
    now = time.time()
    if path is None:
        why = "There is no file for this page."
        return ParseRecord(sample, parser, Status.NO_PREDICTION, "imported", error=why, finished=now)
    try:
        raw = read_output_file(path)
    except (FormatError, OSError) as error:
        return ParseRecord(
            sample, parser, Status.PARSER_FAILED, "imported", error=f"{path.name}: {error}", finished=now
        )
    blob = run.blobs.put(raw)
    key = work_key(blob, 1, "imported")
    return ParseRecord(sample, parser, Status.OK, key, blob=blob, n_bytes=len(raw), finished=now)
