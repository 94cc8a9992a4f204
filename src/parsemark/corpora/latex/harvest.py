"""Harvests tables from LaTeX sources into a pool."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from parsemark.corpora.latex.cell_boxes import MarkedTable
from parsemark.corpora.latex.measure import BATCH, MeasuredTable, TableSource, measure
from parsemark.corpora.latex.pool import PoolEntry, Rejected, write_lines
from parsemark.corpora.latex.sources import SourceDocument, gather
from parsemark.corpora.latex.standalone import StandaloneTable, document_definitions, tables_of
from parsemark.corpora.making import Progress, silent
from parsemark.errors import FormatError, LatexError
from parsemark.formats.latex import read_latex_table
from parsemark.model import Table
from parsemark.model.table import complexity
from parsemark.system.pdflatex import require_pdflatex

_Candidate = tuple[str, str, StandaloneTable, Table]
"""Source, licence, the table, and how we read it."""


@dataclass
class Harvest:
    """What came of a harvest."""

    documents: int = 0
    entries: list[PoolEntry] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)
    """Documents that could not be read, with the reason."""
    skipped: list[str] = field(default_factory=list)
    """Files of archives that were not taken, with the reason."""

    def reasons(self) -> Counter[str]:
        """How often each kind of rejection occurred."""
        return Counter(r.reason.split(":")[0] for r in self.rejected)


def harvest(
    paths: Iterable[Path],
    out: Path,
    *,
    licence: str = "unknown",
    progress: Progress = silent,
) -> Harvest:
    """Write the pool `out` (JSON lines) and beside it `*.rejected.jsonl`.

    Args:
        paths: LaTeX files, folders, and archives.
        out: The pool.
        licence: Of documents that bring no licence file of their own.
        progress: Called with the number of documents that were read since the last call.
    """
    require_pdflatex("Harvesting tables")
    result = Harvest()
    seen: set[str] = set()
    waiting: list[_Candidate] = []
    for document in gather(paths):
        result.documents += 1
        waiting += _candidates(document, licence, result, seen)
        if len(waiting) >= BATCH:
            _compile(waiting, result)
            waiting = []
        progress(1)
    _compile(waiting, result)
    write_lines(out, result.entries)
    write_lines(rejected_path(out), result.rejected)
    return result


def rejected_path(pool: Path) -> Path:
    """Where the tables are listed that did not get into a pool."""
    return pool.with_name(f"{pool.stem}.rejected.jsonl")


def _candidates(
    document: SourceDocument, licence: str, result: Harvest, seen: set[str]
) -> Iterable[_Candidate]:
    result.skipped += [f"{document.name}/{entry}" for entry in document.skipped]
    if document.problem is not None:
        result.problems[document.origin] = document.problem
        return
    files = document.tex_files()
    definitions = document_definitions(files)
    for name, text in files.items():
        place = f"{document.name}/{name}"
        for found in tables_of(text, definitions):
            if isinstance(found, FormatError):
                result.rejected.append(Rejected(source=place, reason=f"cannot be read: {found}", latex=""))
                continue
            table = _readable(found, place, result, seen)
            if table is not None:
                yield place, document.licence(licence), found, table


def _readable(found: StandaloneTable, place: str, result: Harvest, seen: set[str]) -> Table | None:
    reason = None
    table = None
    try:
        table = read_latex_table(found.latex)
    except FormatError as error:
        reason = f"cannot be read: {error}"
    sha = _sha(found.latex)
    if sha in seen:
        reason = "is there already"
    elif "\\includegraphics" in found.latex:
        reason = "has pictures"
    elif table is not None and (table.n_rows < 2 or table.n_cols < 2):
        reason = "has fewer than two rows or columns"
    elif table is not None and sum(bool(c.text) for c in table.cells) < 4:
        reason = "has fewer than four cells with text"
    seen.add(sha)
    if reason is not None:
        result.rejected.append(Rejected(source=place, reason=reason, latex=found.latex))
        return None
    return table


def _compile(candidates: list[_Candidate], result: Harvest) -> None:
    sources = [TableSource(found.latex, found.preamble) for _, _, found, _ in candidates]
    for (place, licence, found, table), measured in zip(candidates, measure(sources), strict=True):
        if isinstance(measured, LatexError):
            result.rejected.append(Rejected(source=place, reason=str(measured), latex=found.latex))
        elif not same_grid(table, measured.marked):
            reason = "its grid is not TeX's: columns that are always spanned, or text between columns"
            result.rejected.append(Rejected(source=place, reason=reason, latex=found.latex))
        else:
            result.entries.append(_entry(place, licence, found, table, measured))


def same_grid(table: Table, marked: MarkedTable) -> bool:
    """Whether our reading of a table has exactly TeX's cells, so that each gets TeX's box."""
    shapes = ((t.n_rows, t.n_cols, t.slots) for t in (table, marked))
    return next(shapes) == next(shapes)


def _entry(
    place: str, licence: str, found: StandaloneTable, table: Table, measured: MeasuredTable
) -> PoolEntry:
    return PoolEntry.model_validate(
        {
            "sha": _sha(found.latex),
            "source": place,
            "licence": licence,
            "environment": found.environment,
            "latex": found.latex,
            "preamble": found.preamble,
            "packages": found.packages,
            "width_pt": measured.width_pt,
            "height_pt": measured.height_pt,
            "n_rows": table.n_rows,
            "n_cols": table.n_cols,
            "complexity": complexity(table),
        }
    )


def _sha(latex: str) -> str:
    return hashlib.sha256(latex.encode()).hexdigest()
