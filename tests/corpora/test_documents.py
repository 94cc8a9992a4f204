"""Corpora from real LaTeX documents: classes, layouts, rotation, long tables, and what goes wrong."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from parsemark.corpora import load_corpus
from parsemark.corpora.check import check_corpus
from parsemark.corpora.latex.documents.latexml import compare_with_latexml
from parsemark.corpora.latex.documents.main_file import flattened, main_files
from parsemark.corpora.latex.documents.make import Report, make_documents
from parsemark.corpora.latex.sources import SourceDocument
from parsemark.corpora.render import page_words
from parsemark.errors import CorpusError, LatexError
from parsemark.model import Cell, Element, Sample, Table

pytestmark = [
    pytest.mark.latex,
    pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed"),
]

SIMPLE = r"""\begin{tabular}{lrr}\toprule
Name & \multicolumn{2}{c}{Values} \\ \cmidrule{2-3} & $x_1$ & 50\% \\ \midrule
\method{a} & 1.5 & 2 \\ \multirow{2}{*}{tall} & 3 & 4 \\ & 5 & 6 \\ \bottomrule\end{tabular}"""
WORDS = "Some words that fill a line of the page and then some more of them. " * 12

ARTICLE = rf"""\documentclass{{article}}
\usepackage{{booktabs,multirow}}\newcommand{{\method}}[1]{{Method~#1}}
\title{{A title}}\author{{One \and Two}}
\begin{{document}}\maketitle
{WORDS}
\begin{{table}}[h]\caption{{A caption}}{SIMPLE}\end{{table}}
\newpage {WORDS} % no table here
\newpage \input{{part}}
\end{{document}}"""
PART = r"""A table in another file:
\begin{tabular}{r@{.}lc}\multicolumn{2}{c}{Number} & Sign \\ 12 & 5 & + \\ 3 & 25 & -- \\\end{tabular}
% \begin{tabular}{ll} commented & out \\ a & b\end{tabular}
\iffalse\begin{tabular}{ll}not & set \\ c & d\end{tabular}\fi
$\left(\begin{array}{cc}1&2\\3&4\end{array}\right)$"""

TWO_COLUMNS = rf"""\documentclass[twocolumn]{{article}}
\usepackage{{booktabs,multirow,graphicx}}\newcommand{{\method}}[1]{{#1}}
\begin{{document}}{WORDS * 4}
\begin{{table*}}\centering{SIMPLE}\end{{table*}}
\rotatebox{{-90}}{{\begin{{tabular}}{{|l|l|}}\hline down & wards \\ \hline one & two \\ \hline
\end{{tabular}}}}
\end{{document}}"""

KOMA = r"""\documentclass{scrartcl}\usepackage{tabularx,rotating}\begin{document}
\begin{sidewaystable}\begin{tabularx}{8cm}{lX} key & some longer text that needs
more than one line of the column \\ other & text \\
\end{tabularx}\caption{Sideways}\end{sidewaystable}\end{document}"""

ROWS = "\n".join(rf"row {i} & {i * 7} \\" for i in range(80))
REPORT = rf"""\documentclass{{report}}\usepackage{{longtable}}\begin{{document}}\chapter{{Long}}
\begin{{longtable}}{{lr}}\caption{{A long one}}\\ \hline Name & Number \\ \hline\endfirsthead
\hline Name & Number (continued) \\ \hline\endhead
\hline\multicolumn{{2}}{{r}}{{more}} \\ \endfoot \hline\endlastfoot
{ROWS}
\end{{longtable}}\end{{document}}"""

BROKEN = r"\documentclass{article}\begin{document}\undefined\end{document}"
UNMARKABLE = r"""\documentclass{article}\usepackage{tabu}
\begin{document}\begin{tabu}{ll}a&b\\c&d\end{tabu}\end{document}"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Sample], Report, Path]:
    folder = tmp_path_factory.mktemp("documents")
    sources = folder / "sources"
    for name, files in {
        "article": {"main.tex": ARTICLE, "part.tex": PART, "LICENSE": "CC0-1.0\n"},
        "twocolumn": {"paper.tex": TWO_COLUMNS},
        "koma": {"k.tex": KOMA},
        "report": {"r.tex": REPORT},
        "broken": {"b.tex": BROKEN},
        "unmarkable": {"t.tex": UNMARKABLE},
        "fragment": {"f.tex": "no class"},
    }.items():
        (sources / name).mkdir(parents=True)
        for file, text in files.items():
            (sources / name / file).write_text(text, encoding="utf-8")
    _, report = make_documents([sources], folder / "corpus", workers=1)
    corpus = load_corpus(str(folder / "corpus"))
    return {s.id: s for s in corpus.samples()}, report, folder / "corpus"


def tables(sample: Sample) -> tuple[Element, ...]:
    assert sample.truth is not None
    return sample.truth.tables


def test_all_pages_are_there_and_failures_say_why(made: tuple[dict[str, Sample], Report, Path]) -> None:
    samples, report, folder = made
    by_name = {d.document: d for d in report.documents}
    assert {name: d.pages for name, d in by_name.items() if d.problem is None}.keys() == {
        "article", "twocolumn", "koma", "report",
    }  # fmt: skip
    assert "Undefined control sequence" in str(by_name["broken"].problem)
    assert "tabu" in str(by_name["unmarkable"].problem)
    assert "documentclass" in str(by_name["fragment"].problem)
    assert sum(name.startswith("article") for name in samples) == 3
    assert not tables(samples["article-p002"])
    assert by_name["article"].licence == "CC0-1.0"
    assert by_name["article"].layout >= 2  # the title block
    assert by_name["article"].not_set == 1
    assert json.loads((folder / "report.json").read_text(encoding="utf-8"))["documents"]


def test_content_comes_from_the_source(made: tuple[dict[str, Sample], Report, Path]) -> None:
    (element,) = tables(made[0]["article-p001"])
    assert element.table is not None
    assert element.table.text_rows()[2:] == [["Method a", "1.5", "2"], ["tall", "3", "4"], ["tall", "5", "6"]]
    assert [c.header for c in element.table.cells if c.col == 0] == [True, True, False, False]
    assert element.attributes["text_from"] == "source"
    assert element.attributes["glyph_agreement"] == 1.0
    assert element.html is not None
    assert 'rowspan="2"' in element.html


def test_columns_with_text_between_them_have_one_box(made: tuple[dict[str, Sample], Report, Path]) -> None:
    (element,) = tables(made[0]["article-p003"])
    assert element.table is not None
    assert element.table.text_rows() == [["Number", "Sign"], ["12.5", "+"], ["3.25", "–"]]
    assert all(c.box is not None for c in element.table.cells)


def test_boxes_hold_their_words(made: tuple[dict[str, Sample], Report, Path]) -> None:
    checked = 0
    for sample in made[0].values():
        words = page_words(sample)
        for element in tables(sample):
            if element.table is None or element.box is None or element.attributes["rotated"]:
                continue
            for cell in element.table.cells:
                assert cell.box is not None
                assert element.box.expanded(0.5).contains(cell.box)
                inside = [w for w in words if cell.box.expanded(0.5).contains(w.box)]
                if cell.text.replace(" ", "").isalnum():
                    assert "".join(w.text for w in inside) == cell.text.replace(" ", "")
                    checked += 1
    assert checked > 150


def test_rotation(made: tuple[dict[str, Sample], Report, Path]) -> None:
    samples = made[0]
    two = [e for key, s in samples.items() if key.startswith("twocolumn") for e in tables(s)]
    assert sorted(bool(e.attributes["rotated"]) for e in two) == [False, True]
    (sideways,) = [e for key, s in samples.items() if key.startswith("koma") for e in tables(s)]
    assert sideways.attributes["rotated"] is True
    assert sideways.table is not None
    assert sideways.table.text_rows()[1] == ["other", "text"]


def test_long_tables_have_a_part_on_each_page(made: tuple[dict[str, Sample], Report, Path]) -> None:
    parts = [e for key, s in sorted(made[0].items()) if key.startswith("report") for e in tables(s)]
    assert len(parts) >= 2
    assert [e.attributes["part"] for e in parts] == list(range(1, len(parts) + 1))
    rows = [e.table.text_rows() for e in parts if e.table is not None]
    assert [r[0] for r in rows] == [["Name", "Number"]] + [["Name", "Number (continued)"]] * (len(parts) - 1)
    body = [row for part in rows for row in part if row[0].startswith("row")]
    assert body == [[f"row {i}", str(i * 7)] for i in range(80)]
    assert all(e.attributes["text_from"] == "source" for e in parts)


@pytest.mark.parametrize("packages", ["", r"\usepackage{array}"])
def test_vertical_rules_are_as_wide_as_in_the_clean_document(tmp_path: Path, packages: str) -> None:
    source = tmp_path / "rules.tex"
    table = r"\begin{tabular}{|l|c||r|}\hline a & 1 & x \\ \hline b & 22 & y \\ \hline\end{tabular}"
    source.write_text(rf"\documentclass{{article}}{packages}\begin{{document}}Here: {table}\end{{document}}")
    make_documents([source], tmp_path / "corpus", workers=1)
    figures = check_corpus(load_corpus(str(tmp_path / "corpus"))).figures
    assert figures.tables == 1
    assert figures.worst_ink_distance < 0.1
    assert figures.cells_equal == figures.cells == 6


def test_nothing_to_make_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.tex").write_text(BROKEN, encoding="utf-8")
    with pytest.raises(CorpusError, match="No document could be used"):
        make_documents([tmp_path / "a.tex"], tmp_path / "out", workers=1)


def test_main_file_and_inputs() -> None:
    document = SourceDocument("d", "d")
    document.files = {
        "other.tex": b"\\documentclass{article}\\begin{document}longer, but not the main one\\end{document}",
        "main.tex": b"\\documentclass{article}\\begin{document}\\input{a}\\include{sub/b}\\end{document}",
        "a.tex": b"A\\input{a}% \\input{sub/b}",
        "sub/b.tex": b"B",
    }
    assert main_files(document) == ["main.tex", "other.tex"]
    assert flattened(document, "main.tex").endswith("A\\input{a}B")
    document.files = {"a.tex": b"x"}
    with pytest.raises(LatexError, match="documentclass"):
        main_files(document)


def test_second_opinion(tmp_path: Path) -> None:
    """A stand-in for latexmlc that returns one equal and one different table."""
    program = tmp_path / "bin" / "latexmlc"
    program.parent.mkdir()
    program.write_text(
        "#!/bin/sh\ncat > parsemark-latexml.html <<'END'\n"
        "<table><tr><td>a</td><td>b</td></tr></table><table><tr><td>c</td></tr><tr><td>d</td></tr></table>\nEND\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    same = Table.from_rows([["a", "b"]])
    other = Table(1, 2, (Cell(0, 0, "c"), Cell(0, 1, "d")))
    elements = [Element("t1", "table", table=same), Element("t2", "table", table=other)]
    found = compare_with_latexml(str(program), tmp_path, "main.tex", elements)
    assert [(d.table, d.kind) for d in found] == [("t2", "grid")]
