"""A check for `parsemark corpus check`: tables have the grid that TeX gives the LaTeX stored with them."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Iterator, Sequence

from parsemark.corpora.check import CheckReport, CorpusCheck
from parsemark.model import Element, Sample

NORMALISED = "grid: normalised columns"
"""Cause: a table lacks columns or rows that no reader sees; each of its cells lies in TeX's slots."""


class TexGridCheck(CorpusCheck):
    """Compares grids with TeX's own."""

    def __init__(self) -> None:
        self._tables: dict[tuple[str, str], list[Element]] = defaultdict(list)
        """The parts of each table, by its place and its LaTeX."""

    def add(self, sample: Sample) -> None:
        """Remember the tables of a page."""
        for element in sample.truth.tables if sample.truth is not None else ():
            if element.table is not None:
                where = "" if element.attributes.get("long") else f"{sample.id} {element.id}"
                self._tables[f"{sample.document} {where}", element.latex or ""].append(element)

    def finish(self, report: CheckReport) -> None:
        """Set all tables and compare."""
        if not self._tables:
            return
        if shutil.which("pdflatex") is None:
            report.notes.append("pdflatex is not installed, so grids were not compared with TeX's.")
            return
        from parsemark_makers.latex.tex_grids import is_normalised, tex_grids

        report.harmless.add(NORMALISED)
        with_source = [
            (where.strip(), latex, parts) for (where, latex), parts in self._tables.items() if latex
        ]
        n_compared = n_equal = n_normalised = 0
        grids = tex_grids([latex for _, latex, _ in with_source])
        for (where, latex, parts), marked in zip(with_source, grids, strict=True):
            if marked is None:
                continue
            n_compared += 1
            spans = set(_spans(parts))
            if spans == marked.slots:
                n_equal += 1
            elif is_normalised(latex, spans, marked):
                n_normalised += 1
                report.disagree(NORMALISED, f"{where}: columns or rows that no reader sees are left out.")
            else:
                report.problems.append(f"{where}: the grid differs from TeX's own.")
        if n_compared:
            line = f"grids equal to TeX's own: {n_equal} of {n_compared} ({100 * n_equal / n_compared:.3f} %)"
            line += f"; {n_normalised} more but for normalised columns" if n_normalised else ""
            n_skipped = len(self._tables) - n_compared
            report.measured.append(line + (f"; {n_skipped} not compared" if n_skipped else ""))


def _spans(parts: Sequence[Element]) -> Iterator[tuple[int, int, int, int]]:
    """Yield the slots of a table; the parts of a long one are joined below their common header."""
    offset = 0
    for index, part in enumerate(parts):
        table, stated = part.table, part.attributes.get("header_rows")
        assert table is not None
        head = stated if isinstance(stated, int) else min(1, table.n_rows)
        head = head if index else 0
        for cell in table.cells:
            if cell.row >= head:
                yield (cell.row - head + offset, cell.col, cell.rowspan, cell.colspan)
        offset += table.n_rows - head
