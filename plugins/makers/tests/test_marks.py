"""Marks give TeX's own grid and exact boxes, and move nothing."""

import shutil
from pathlib import Path

import pytest

from parsemark.model import Box
from parsemark.pdf import page_glyphs
from parsemark.system.pdflatex import compile_latex
from parsemark_makers.latex.cell_boxes import MarkedTable
from parsemark_makers.latex.marks import LOAD_MARKS, MARKS_FILE, MarkedPage, read_marks

pytestmark = [
    pytest.mark.latex,
    pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed"),
]

SOURCE = r"""\documentclass{article}
\usepackage{booktabs,multirow,longtable,graphicx,tabularx}
\begin{document}
Text before the tables.

\begin{tabular}{|l|c|p{2cm}|}\hline
\multicolumn{2}{|c|}{Head} & x\\\cline{1-2}
\multirow{2}{*}{Tall} & 1 & some long text in this cell here\\\cline{2-3}
& 22 & z\\\hline
\end{tabular}

\rotatebox{90}{\begin{tabular}{@{}lr@{}}\toprule a & bbbb\\\midrule cc & 3.5\\\bottomrule\end{tabular}}

\rotatebox{-90}{\begin{tabular}{@{}lr@{}}\toprule a & bbbb\\\midrule cc & 3.5\\\bottomrule\end{tabular}}

\begin{tabularx}{5cm}{lX}a & one \begin{tabular}{c}nested\end{tabular}\\b & d\end{tabularx}

\begin{longtable}{lr}head & i\endhead
\newcount\n\loop a & 1\\ b & 2\\
\end{longtable}
\end{document}
""".replace(r"\newcount\n\loop a & 1\\ b & 2\\", "\n".join(rf"row{i} & {i}\\" for i in range(60)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("marks")
    shutil.copy(MARKS_FILE, folder)
    assert compile_latex(SOURCE, folder, name="clean", passes=2).ok
    marked = compile_latex(LOAD_MARKS + SOURCE, folder, name="marked", passes=2)
    assert marked.ok, marked.reason
    assert "PARSEMARK: cannot mark" not in marked.log
    return folder


@pytest.fixture(scope="module")
def pages(folder: Path) -> list[MarkedPage]:
    return read_marks(folder / "marked.pdf")


def grid(table: MarkedTable) -> list[tuple[int, int, int, int, str]]:
    return [(c.row, c.col, c.rowspan, c.colspan, c.text.replace(" ", "")) for c in table.cells]


def test_the_grid_is_that_of_tex(pages: list[MarkedPage]) -> None:
    assert grid(pages[0].tables[0]) == [
        (0, 0, 1, 2, "Head"),
        (0, 2, 1, 1, "x"),
        (1, 0, 2, 1, "Tall"),
        (1, 1, 1, 1, "1"),
        (1, 2, 1, 1, "somelongtextinthiscellhere"),
        (2, 1, 1, 1, "22"),
        (2, 2, 1, 1, "z"),
    ]


def test_rotation_is_seen_and_undone(pages: list[MarkedPage]) -> None:
    left, right = pages[0].tables[1:3]
    assert (left.angle, right.angle) == (90, 270)
    first, second = left.cells[0].box, left.cells[1].box
    assert second.y1 == pytest.approx(first.y0)  # the row runs upwards
    first, second = right.cells[0].box, right.cells[1].box
    assert first.y1 == pytest.approx(second.y0)  # the row runs downwards


def test_only_outermost_tables_are_marked(pages: list[MarkedPage]) -> None:
    assert grid(pages[0].tables[3])[1] == (0, 1, 1, 1, "onenested")


def test_a_long_table_has_a_part_on_each_page(pages: list[MarkedPage]) -> None:
    parts = [t for page in pages for t in page.tables if t.id == pages[0].tables[4].id]
    assert len(parts) >= 2
    assert all(grid(part)[0][4] == "head" for part in parts)
    assert sum(part.n_rows - 1 for part in parts) == 60


def test_cells_tile_their_table_and_hold_their_ink(pages: list[MarkedPage]) -> None:
    for table in (t for page in pages for t in page.tables):
        area = sum(cell.box.area for cell in table.cells)
        assert area == pytest.approx(table.box.area, rel=1e-6)
        assert all(cell.box.contains(cell.ink, 0.05) for cell in table.cells if cell.ink)


def test_marks_move_nothing(folder: Path) -> None:
    clean = [g for g in page_glyphs(folder / "clean.pdf", 1) if g.text.strip()]
    marked = [g for g in page_glyphs(folder / "marked.pdf", 1) if g.text.strip()]
    assert len(clean) == len(marked) > 200
    for glyph in clean:
        shifts = [shift(glyph.box, g.box) for g in marked if g.text == glyph.text]
        assert min(shifts) < 0.2


def shift(one: Box, other: Box) -> float:
    return max(abs(a - b) for a, b in zip(one.as_tuple(), other.as_tuple(), strict=True))


def test_a_span_upwards_covers_the_empty_cells_above_it(tmp_path: Path) -> None:
    shutil.copy(MARKS_FILE, tmp_path)
    source = r"""\documentclass{article}\usepackage{multirow}\begin{document}\begin{tabular}{ll}
     & a \\ & b \\ \multirow{-3}{*}{tall} & c \\ {} & d\end{tabular}\end{document}"""
    assert compile_latex(LOAD_MARKS + source, tmp_path, name="marked", passes=2).ok
    ((table,),) = [page.tables for page in read_marks(tmp_path / "marked.pdf")]
    assert sorted(grid(table)) == [
        (0, 0, 3, 1, "tall"), (0, 1, 1, 1, "a"), (1, 1, 1, 1, "b"), (2, 1, 1, 1, "c"), (3, 0, 1, 1, ""),
        (3, 1, 1, 1, "d"),
    ]  # fmt: skip
