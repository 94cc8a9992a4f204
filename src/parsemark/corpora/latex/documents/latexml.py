"""LaTeXML as a second opinion on tables, where it is installed."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel

from parsemark.corpora.latex.glyphs import glyph_text
from parsemark.errors import FormatError, MissingDependencyError
from parsemark.formats import read_tables
from parsemark.model import Element, Table
from parsemark.system.processes import run_program, tool_environment, tool_rights

TIMEOUT_S = 300
_LIMITS = {"cpu_s": 240, "memory_mb": 2048, "file_mb": 64}
_READABLE = ["/etc", "/var/lib/texmf"]


class LatexmlDisagreement(BaseModel):
    """A table that LaTeXML reads differently."""

    table: str
    kind: str
    """`missing`, `grid` or `text`."""
    ours: str
    theirs: str | None = None


def find_latexml() -> str:
    """The path of latexmlc."""
    found = shutil.which("latexmlc")
    if found is None:
        raise MissingDependencyError(
            "LaTeXML", "A second opinion on tables", "apt-get install --no-install-recommends latexml"
        )
    return found


def compare_with_latexml(
    program: str, folder: Path, main: str, tables: Sequence[Element]
) -> list[LatexmlDisagreement]:
    """Where LaTeXML's tables differ from ours; a failing run is one disagreement about everything."""
    html = _run(program, (folder / main).parent, Path(main).name)
    try:
        theirs = [found.table for found in read_tables(html, "html")] if html else []
    except FormatError:
        theirs = []
    if not theirs and tables:
        return [LatexmlDisagreement(table="all", kind="missing", ours=f"{len(tables)} tables")]
    found = (_compare(element, theirs) for element in tables if not element.attributes.get("long"))
    return [disagreement for disagreement in found if disagreement is not None]


def _run(program: str, folder: Path, main: str) -> str | None:
    """LaTeXML's HTML, made with the same confinement as TeX's."""
    rights = tool_rights([*_READABLE, str(Path(program).parent)], [str(folder)], **_LIMITS)
    target = folder / "parsemark-latexml.html"
    command = [program, "--quiet", "--format=html5", "--nodefaultresources", f"--dest={target.name}", main]
    with contextlib.suppress(subprocess.TimeoutExpired):
        run_program(command, rights, cwd=folder, env=tool_environment(folder), timeout_s=TIMEOUT_S)
    return target.read_text(encoding="utf-8", errors="replace") if target.is_file() else None


def _compare(element: Element, theirs: Sequence[Table]) -> LatexmlDisagreement | None:
    table = element.table
    if table is None:
        return None
    wanted = _glyphs(table)
    best = max(theirs, key=lambda other: _common(wanted, _glyphs(other)))
    if _common(wanted, _glyphs(best)) < 0.6:
        return LatexmlDisagreement(table=element.id, kind="missing", ours=_describe(table))
    if table.slots != best.slots:
        return LatexmlDisagreement(
            table=element.id, kind="grid", ours=_describe(table), theirs=_describe(best)
        )
    for one, other in zip(table.cells, best.cells, strict=True):
        if sorted(glyph_text(one.text)) != sorted(glyph_text(other.text)):
            return LatexmlDisagreement(table=element.id, kind="text", ours=one.text, theirs=other.text)
    return None


def _glyphs(table: Table) -> list[str]:
    return [glyph_text(cell.text) for cell in table.cells if cell.text]


def _common(one: Sequence[str], other: Sequence[str]) -> float:
    shared = len(set(one) & set(other))
    return 2 * shared / (len(set(one)) + len(set(other)) or 1)


def _describe(table: Table) -> str:
    spans = sum(c.rowspan > 1 or c.colspan > 1 for c in table.cells)
    return f"{table.n_rows} x {table.n_cols}, {spans} spanning cells"
