"""Real tables: all convert, and their grids and glyphs are those of TeX itself."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from parsemark.formats import read_table, read_tables
from parsemark.formats.glyphs import glyph_text
from parsemark.formats.latex import read_latex_table
from parsemark.formats.latex.grid import read_grid
from parsemark.formats.latex.table import PrintedCell, join_rows, print_cells
from parsemark.model import Table
from parsemark.system.pdflatex import CompileLimits, compile_latex
from parsemark_makers.latex.cell_boxes import MarkedTable
from parsemark_makers.latex.marks import LOAD_MARKS, MARKS_FILE, read_marks

pytestmark = pytest.mark.conformance

PREAMBLE = r"""\documentclass{article}
\usepackage[T1]{fontenc}\usepackage{lmodern}
\usepackage{amsmath,amssymb,textcomp,array,booktabs,multirow,makecell,graphicx,tabularx,longtable,hhline,pifont,
  siunitx,bm,threeparttable,adjustbox,diagbox,soul,ulem}\usepackage[table]{xcolor}
\usepackage[paperwidth=120cm,paperheight=100cm,margin=1cm]{geometry}\pagestyle{empty}\parindent0pt
\begin{document}
"""


@pytest.fixture(scope="module")
def real_tables(reference_data: Path) -> list[str]:
    files = sorted((reference_data / "pdf-parse-bench-tables" / "ground_truth").glob("*.json"))
    blocks = [block for file in files for block in json.loads(file.read_text(encoding="utf-8"))]
    found = [block["data"] for block in blocks if block["type"] == "table"]
    assert len(found) > 200
    return found


@pytest.fixture(scope="module")
def tex_tables(real_tables: list[str], tmp_path_factory: pytest.TempPathFactory) -> list[MarkedTable]:
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    folder = tmp_path_factory.mktemp("conformance")
    shutil.copy(MARKS_FILE, folder)
    pages = "\n\\clearpage\n".join(real_tables)
    source = f"{LOAD_MARKS}{PREAMBLE}{pages}\n\\end{{document}}\n"
    result = compile_latex(
        source, folder, halt_on_error=False, limits=CompileLimits(cpu_s=120, memory_mb=4000)
    )
    assert result.pdf is not None, result.reason
    return [page.tables[0] for page in read_marks(result.pdf)]


def joined(source: str) -> list[PrintedCell]:
    grid = read_grid(source)
    return join_rows(print_cells(grid), grid.n_rows)


def test_every_table_converts(real_tables: list[str]) -> None:
    for source in real_tables:
        table = read_latex_table(source)
        assert any(cell.text for cell in table.cells)


def test_every_grid_is_that_of_tex(real_tables: list[str], tex_tables: list[MarkedTable]) -> None:
    assert len(real_tables) == len(tex_tables)
    for source, tex in zip(real_tables, tex_tables, strict=True):
        ours = {(c.row, c.col, c.rowspan, c.colspan) for c in joined(source)}
        assert ours == {(c.row, c.col, c.rowspan, c.colspan) for c in tex.cells}, source


def test_cells_have_the_glyphs_that_tex_sets(real_tables: list[str], tex_tables: list[MarkedTable]) -> None:
    equal: Counter[str] = Counter()
    differing: list[tuple[str, str]] = []
    for source, tex in zip(real_tables, tex_tables, strict=True):
        shown = {(c.row, c.col): c.text for c in tex.cells}
        for cell in joined(source):
            ours, theirs = glyph_text(cell.text), glyph_text(shown[cell.row, cell.col])
            kind = "equal" if ours == theirs else "order" if sorted(ours) == sorted(theirs) else "differ"
            equal[kind] += 1
            if kind == "differ":
                differing.append((cell.text, shown[cell.row, cell.col]))
    # `order` is x_1^2, which TeX sets as x21.
    share = (equal["equal"] + equal["order"]) / equal.total()
    assert share >= 0.99, (equal, differing)


def shape(table: Table) -> set[tuple[int, int, int, int]]:
    return {(c.row, c.col, c.rowspan, c.colspan) for c in table.cells}


def test_published_html_has_our_grid(reference_data: Path) -> None:
    """Two of the published tables differ: there the HTML drops or adds a multirow."""
    rated = json.loads((reference_data / "human-ratings" / "tables.json").read_text(encoding="utf-8"))
    differing = []
    for entry in rated:
        ours, theirs = read_latex_table(entry["gt_table"]), read_table(entry["gt_table_html"], "html")
        assert (ours.n_rows, ours.n_cols) == (theirs.n_rows, theirs.n_cols)
        if shape(ours) != shape(theirs):
            differing.append(entry["gt_id"])
            continue
        pairs = zip(ours.cells, theirs.cells, strict=True)
        unequal = [(a.text, b.text) for a, b in pairs if glyph_text(a.text) != glyph_text(b.text)]
        assert len(unequal) <= 0.01 * ours.n_cells, unequal
    assert differing == ["000_02", "000_03"]


def test_extractions_in_latex_are_found(reference_data: Path) -> None:
    rated = json.loads((reference_data / "human-ratings" / "tables.json").read_text(encoding="utf-8"))
    texts = [x["extracted_table"] or "" for entry in rated for x in entry["extractions"]]
    latex = [text for text in texts if "\\begin{tabular}" in text]
    assert latex
    for text in latex:
        assert any(found.format == "latex" and found.table.n_cells > 3 for found in read_tables(text)), text
