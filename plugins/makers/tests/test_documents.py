"""Corpora from real LaTeX documents: classes, layouts, rotation, long tables, and what goes wrong."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.corpora import load_corpus
from parsemark.corpora.check import check_corpus
from parsemark.corpora.render import page_words
from parsemark.errors import CorpusError, LatexError
from parsemark.model import Element, Sample
from parsemark_makers.latex.documents.build import repair
from parsemark_makers.latex.documents.make import Report
from parsemark_makers.latex.documents.source_tables import flattened, main_files
from parsemark_makers.latex.documents.typeset import _engines as engines_of
from parsemark_makers.latex.sources import SourceDocument
from parsemark_makers.making import in_processes

from .latex_documents import make_documents

pytestmark = [
    pytest.mark.latex,
    pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed"),
]

SIMPLE = r"""\begin{tabular}{lrr}\toprule
Name & \multicolumn{2}{c}{Values} \\ \cmidrule{2-3} & $x_1$ & 50\% \\ \midrule
\method{a} & 1.5 & 2 \\ \multirow{2}{*}{tall} & 3 & 4 \\ & 5 & 6 \\ \bottomrule\end{tabular}"""
TINY = r"\begin{tabular}{ll} one & two \\ 3 & 4 \end{tabular}"
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
UNMARKABLE = r"""\documentclass{article}\begin{document}
\begin{tabbing}one \= two \\ three \> four\end{tabbing}\end{document}"""
KINDS = r"""\documentclass{article}\usepackage[spanish]{babel}\usepackage{tabularray}\begin{document}
\begin{tblr}{colspec={lX[1]r},hlines,cell{2}{1}={r=2}{}}
Name & Words & Value \\ a & one & 1.5 \\ & two & 2 \end{tblr}
\newpage Words. \begin{table}[h]\caption{An array}
$\begin{array}{lrr}x & y & z \\ \hline 1 & 2 & 3 \\ 4 & 5 & 6\end{array}$\end{table}
\newpage Words. \newpage Words.
\newpage\vbox{\halign{#\quad&#\cr one & two \cr three & four\cr}}
\newpage\[\begin{array}{l|r}x & y \\ \hline 1 & 2\end{array}\begin{array}{c}3\\4\end{array}\]
\end{document}"""


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
        "kinds": {"main.tex": KINDS},
        "fragment": {"f.tex": "no class"},
    }.items():
        (sources / name).mkdir(parents=True)
        for file, text in files.items():
            (sources / name / file).write_text(text, encoding="utf-8")
    report = make_documents(sources, folder / "corpus")
    corpus = load_corpus(str(folder / "corpus"))
    return {s.id: s for s in corpus.samples()}, report, folder / "corpus"


def tables(sample: Sample) -> tuple[Element, ...]:
    assert sample.truth is not None
    return sample.truth.tables


def test_all_pages_are_there_and_failures_say_why(made: tuple[dict[str, Sample], Report, Path]) -> None:
    samples, report, folder = made
    by_name = {d.document: d for d in report.documents}
    assert {name: d.pages for name, d in by_name.items() if d.problem is None}.keys() == {
        "article", "twocolumn", "koma", "report", "kinds",
    }  # fmt: skip
    assert "Undefined control sequence" in str(by_name["broken"].problem)
    assert "tabbing" in str(by_name["unmarkable"].problem)
    assert "documentclass" in str(by_name["fragment"].problem)
    assert sum(name.startswith("article") for name in samples) == 3
    assert not tables(samples["article-p002"])
    assert by_name["article"].licence == "CC0-1.0"
    assert by_name["article"].layout >= 2  # the title block
    assert by_name["article"].not_set == 1
    assert json.loads((folder / "report.json").read_text(encoding="utf-8"))["documents"]


def test_tables_of_other_kinds_are_marked_or_cost_their_page(
    made: tuple[dict[str, Sample], Report, Path],
) -> None:
    samples, report, _ = made
    left_out = next(d.left_out for d in report.documents if d.document == "kinds")
    assert {page: reason.split()[5] for page, reason in left_out.items()} == {5: "halign,", 6: "array,"}
    (tblr,) = tables(samples["kinds-p001"])
    assert tblr.table is not None
    assert tblr.table.text_rows() == [["Name", "Words", "Value"], ["a", "one", "1.5"], ["a", "two", "2"]]
    (array,) = tables(samples["kinds-p002"])
    assert array.table is not None
    assert array.table.text_rows() == [["x", "y", "z"], ["1", "2", "3"], ["4", "5", "6"]]
    assert array.attributes["header_rows"] == 1
    assert not tables(samples["kinds-p003"])


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
    make_documents(source, tmp_path / "out")
    figures = check_corpus(load_corpus(str(tmp_path / "out")))
    assert figures.tables == 1
    assert figures.worst_ink_distance < 0.1
    assert figures.cells_equal == figures.cells == 6


def test_nothing_to_make_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.tex").write_text(BROKEN, encoding="utf-8")
    with pytest.raises(CorpusError, match="No document could be used"):
        make_documents(tmp_path / "a.tex", tmp_path / "out")


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


AS_SHOWN = r"""\documentclass{article}\usepackage{threeparttable}
\newcommand{\rmnum}[1]{\expandafter\uppercase\expandafter{\romannumeral #1}}
\begin{document}File \jobname.
\begin{threeparttable}\begin{tabular}{lcc}\hline Method & Value & See \\ \hline
Alpha \cite{a} & 10.1\tnote{1} & \ref{s} \\ \shortstack{Beta\\two} & Gar\c{c}on & Dis-\rmnum{2} \\
$\frac{a+b}{c}$ & $\sqrt[3]{8}$ & \~{}/bin \\ $\frac{3}{2}^-$ & $\sqrt{x+1}$ & \texttt{\~{}me} \\ \hline
\end{tabular}\begin{tablenotes}\item[1] a note\end{tablenotes}\end{threeparttable}
\section{S}\label{s}\begin{thebibliography}{9}\bibitem{a} A.\end{thebibliography}\newpage
\newcommand{\nameless}{{\font\manual=manfnt \manual\char1}}
\begin{tabular}{ll}a1 & b1 \\ c1 & \nameless\ref{s} \\ e1 & f1\end{tabular}\end{document}"""
SIDE_BY_SIDE = r"""\documentclass{article}\begin{document}\begin{tabular}{cc}
\begin{tabular}{ll}a & b \\ c & d\end{tabular} & \begin{tabular}{ll}e & f \\ g & h\end{tabular}\end{tabular}
\end{document}"""
BIBTEX = {
    "paper.tex": r"""\documentclass{article}\begin{document}
    \begin{tabular}{ll}x & \cite{k} \\ y & z\end{tabular}
    \bibliographystyle{plain}\bibliography{refs}\end{document}""",
    "refs.bib": "@book{k, author={A. Author}, title={Title}, publisher={P}, year=2000}",
}
UNMARKED_PAGE = r"""\documentclass{article}\begin{document}First page.\newpage
\begin{tabbing}one \= two \\ three \> four\end{tabbing}\newpage
\begin{tabular}{ll}five & six \\ seven & eight\end{tabular}\end{document}"""
PARTS = {
    "doc/main.tex": r"\documentclass{article}\begin{document}\input{../common/rows}\input{gone}\nono "
    r"\end{document}",
    "doc/second.tex": r"\documentclass{article}\begin{document}x\end{document}",
    "common/rows.tex": r"\begin{tabular}{ll}a1 & b1 \\ a2 & b2\end{tabular}",
}


def make_one(folder: Path, files: dict[str, str]) -> tuple[dict[str, Sample], Report]:
    for name, text in files.items():
        (folder / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "in" / name).write_text(text, encoding="utf-8")
    report = make_documents(folder / "in", folder / "out")
    return {s.id: s for s in load_corpus(str(folder / "out")).samples()}, report


def test_the_truth_is_what_the_page_shows(tmp_path: Path) -> None:
    samples, report = make_one(tmp_path, {"as-shown/thesis.tex": AS_SHOWN})
    ((element,),) = [tables(sample) for sample in samples.values()]
    assert element.table is not None
    assert element.table.text_rows() == [
        ["Method", "Value", "See"], ["Alpha [1]", "10.1^1", "1"], ["Beta\ntwo", "Garçon", "Dis-II"],
        ["(a+b)/c", "∛8", "~/bin"], ["3/2^−", "√(x+1)", "~me"],
    ]  # fmt: skip
    assert "no meaning" in report.documents[0].left_out[2]
    assert [c.header for c in element.table.cells][:4] == [True, True, True, False]
    assert element.attributes["line"] == "fewer_line"
    assert any("thesis" in w.text for w in page_words(next(iter(samples.values()))))


@pytest.mark.parametrize("fonts", ["amsmath", "lmodern"])
def test_signs_of_the_extension_font_are_what_the_page_shows(tmp_path: Path, fonts: str) -> None:
    formulas = {
        r"\sum x_i": "∑x_i", r"\int f": "∫f", r"\prod p": "∏p", r"\oint g": "∮g", r"\bigcup A": "⋃A",
        r"\displaystyle\sum_{i=1}^n a_i": "∑_{i=1}^{n}a_i", r"\bigl[P\bigr]": "[P]", r"\Bigl[R\Bigr]": "[R]",
    }  # fmt: skip
    rows = r"\\".join(f"{number} & ${latex}$" for number, latex in enumerate(formulas))
    body = rf"\begin{{tabular}}{{ll}}\hline Name & Formula\\ \hline {rows}\\ \hline\end{{tabular}}"
    head = rf"\documentclass{{article}}\usepackage{{{fonts}}}"
    samples, _ = make_one(tmp_path, {"main.tex": rf"{head}\begin{{document}}{WORDS} {body}\end{{document}}"})
    ((element,),) = [tables(sample) for sample in samples.values()]
    assert element.table is not None
    assert [row[1] for row in element.table.text_rows()[1:]] == list(formulas.values())
    assert check_corpus(load_corpus(str(tmp_path / "out"))).is_faithful


OWN_COMMANDS = r"""\documentclass{article}\usepackage{amssymb}\begin{document}
\def\bt{\begin{tabular}{ll}}\def\et{\end{tabular}}
%s\end{document}"""


def read_from_page(folder: Path, cells: Mapping[str, str], size: str = "normalsize") -> list[str]:
    """The texts of cells in a table that only TeX can read."""
    rows = r"\\".join(f"{number} & {latex}" for number, latex in enumerate(cells))
    body = rf"{WORDS} {{\{size} \bt First & Second\\ {rows}\et}}"
    samples, _ = make_one(folder, {"main.tex": OWN_COMMANDS % body})
    ((element,),) = [tables(sample) for sample in samples.values()]
    assert element.table is not None and element.attributes["text_from"] == "glyphs"
    return [row[1] for row in element.table.text_rows()[1:]]


def test_a_table_never_has_the_source_of_another(tmp_path: Path) -> None:
    rows = r"Method & Score & Rank\\ Alpha & %s & 12\\ Beta & 63.2 & 14\\ Gamma & 77.1 & 9"
    plain = rf"\begin{{tabular}}{{lrr}}{rows}\end{{tabular}}"
    own = r"\def\bt{\begin{tabular}{lrr}}\def\et{\end{tabular}}"
    body = (
        rf"\newif\ifdraft {own}{WORDS} \iffalse\ifdraft x\fi {plain % '61.5'}\fi \bt {rows % '61.6'}\et"
        rf"\par \bt {rows % '61.7'}\et\par {plain % '61.8'}"
    )
    text = rf"\documentclass{{article}}\begin{{document}}{body}\end{{document}}"
    samples, _ = make_one(tmp_path, {"main.tex": text})
    found = [element for sample in samples.values() for element in tables(sample)]
    assert [e.table.text_rows()[1][1] for e in found if e.table] == ["61.6", "61.7", "61.8"]
    assert [e.latex for e in found] == [None, None, plain % "61.8"]


def test_cells_with_numbers_from_elsewhere_keep_their_source(tmp_path: Path) -> None:
    cells = {
        r"mini\_x~\cite{a}": "mini_x [1]",
        r"\v{S}koda et al.\ \cite[p.~2]{a}, $\frac{1}{2}$": "Škoda et al. [1, p. 2], 1/2",
        r"Table~\ref{s}: $\sqrt{x+1}$ \cite{a}": "Table 1: √(x+1) [1]",
        r"log\_w\footnotemark, \L": "log_w^1, Ł",
        r"0.5\sym{**}": "0.5^{**}", r"$0.5\sym{*}$": "0.5^*", r"\texttt{a\_b}\cite{a}\cite{a}": "a_b[1][1]",
        r"$x^{2}$\cite{a}": "x^2[1]", r"$x^{\ref{s}}$ a\_b": "x^1 a_b", r"\ref{gone}\_5": "??_5",
        r"\makecell{a\_b\\\cite{a}}": "a_b\n[1]",
    }  # fmt: skip
    rows = r"\\".join(f"{number} & {latex}" for number, latex in enumerate(cells))
    body = rf"\begin{{tabular}}{{ll}}\hline Name & Text\\ \hline {rows}\\ \hline\end{{tabular}}"
    sym = r"\def\sym#1{\ifmmode^{#1}\else\(^{#1}\)\fi}"
    head = rf"\documentclass{{article}}\usepackage{{makecell}}{sym}\begin{{document}}"
    tail = r"\section{S}\label{s}\begin{thebibliography}{9}\bibitem{a} A.\end{thebibliography}\end{document}"
    samples, _ = make_one(tmp_path, {"main.tex": f"{head}{WORDS} {body}{tail}"})
    ((element,),) = [tables(sample) for sample in samples.values()]
    assert element.table is not None and element.attributes["glyph_agreement"] == 1.0
    assert [row[1] for row in element.table.text_rows()[1:]] == list(cells.values())


def test_signs_of_several_glyphs_are_read_from_the_page_as_one(tmp_path: Path) -> None:
    cells = {
        r"\'Angel Nu\~nez": "Ángel Nuñez", r"\v{S}koda \.Zak": "Škoda Żak", r"\L\'od\'z": "Łódź",
        r"\l a": "ła",
        r"\'{E}cole \emph{et al.}": "École et al.", r"\AA ngstr\"om \c{C}a": "Ångström Ça",
        r"$K\bar{K}\pi$ $\vec{x}$": "KK̄π x⃗", r"log\_wage\_1": "log_wage_1",
        r"\texttt{a\_b} \_cons": "a_b _cons",
        r"$x\neq y$, $a\notin B$": "x ≠ y, a ∉ B", r"$a\mapsto b$ $\longmapsto$": "a ↦ b ⟼",
        r"$\Longrightarrow$ $\longleftarrow$ $\iff$": "⟹ ⟵ ⟺", r"$A\cong B$ $\models$": "A ≅ B ⊨",
        r"$A\hookrightarrow B$ $\doteq$": "A ↪ B ≐", r"\underline{low} t7$\to$": "low t7→",
    }  # fmt: skip
    assert read_from_page(tmp_path, cells) == list(cells.values())


def test_formulas_are_read_from_the_page_as_one_writes_them(tmp_path: Path) -> None:
    cells = {
        r"$\frac12$ x": "1/2 x", r"$\frac{a+b}{c}$": "(a+b)/c", r"$\displaystyle\frac{a}{b}$": "a/b",
        r"$1\frac12$": "1 1/2", r"$\sqrt{x+1}$, $\sqrt2$": "√(x+1), √2", r"$\sqrt{\frac{a}{b}}$": "√(a/b)",
        r"$\left(\frac{a}{b}\right)^2$": "(a/b)^2", r"$\big(x\big)$": "(x)", r"$\biggl(x\biggr)$": "(x)",
        r"$\Biggl\{x\Biggr\}$": "{x}", r"$\left|\frac xy\right|$": "|x/y|", r"$\overline{x}+y$": "x̄ + y",
        r"\shortstack{\underline{12.3}\\0.4}": "12.3 0.4", r"$\overbrace{a+b}$": "a + b",
        r"$x^2_{ij}$ $z_1^{22}$": "x_{ij}^2 z_1^{22}",
    }  # fmt: skip
    assert read_from_page(tmp_path, cells) == list(cells.values())


@pytest.mark.parametrize("size", ["tiny", "scriptsize", "footnotesize", "small", "normalsize", "large"])
def test_scripts_are_read_from_the_page_at_all_sizes(tmp_path: Path, size: str) -> None:
    cells = {
        r"$N_{\mathrm{obs}}$": "N_{obs}", r"CO$_2$": "CO_2", r"$\chi_{cJ}$ and m$^2$": "χ_{cJ} and m^2",
    }  # fmt: skip
    assert read_from_page(tmp_path, cells, size) == list(cells.values())


def test_text_over_an_edge_and_numbers_over_two_columns(tmp_path: Path) -> None:
    source = r"""\documentclass[twoside]{article}\usepackage{booktabs,rotating}\begin{document}
\begin{tabular}{p{1.2cm}lr@{}l}\toprule Name & Seen & \multicolumn{2}{c}{Value}\\\midrule
x \mbox{[SD01,M02]} & \quad\quad y & 2.17&6\\ z & [3] & 12.4&1\\ w & [4] & 0.33&72\\\bottomrule\end{tabular}
\begin{sidewaystable}\caption{A}\begin{tabular}{lll}\hline Name & First & Second\\\hline
alpha & 1.25 & 2.50\\ beta & 3.75 & 4.00\\ gamma & 5.5 & 6.25\\\hline\end{tabular}\end{sidewaystable}
\end{document}"""
    samples, report = make_one(tmp_path, {"over/main.tex": source})
    assert report.documents[0].left_out == {}
    upright, turned = (tables(sample)[0].table for sample in samples.values())
    assert upright is not None and turned is not None
    assert [row[-1] for row in upright.text_rows()] == ["Value", "2.176", "12.41", "0.3372"]
    checked = check_corpus(load_corpus(str(tmp_path / "out")))
    assert checked.is_faithful and checked.glyphs_inside == checked.glyphs


def test_marks_that_are_larger_than_their_text(tmp_path: Path) -> None:
    cells = {
        r"{\footnotesize Mass}\raisebox{2.8pt}{a}": "Mass^a",
        r"{\footnotesize HD 1}\raisebox{2.8pt}{b}": "HD 1^b",
    }
    assert read_from_page(tmp_path, {**cells, r"$_2F_1$": "_2F_1"}) == [*cells.values(), "_2F_1"]


def test_tables_beside_each_other_in_a_layout_are_tables(tmp_path: Path) -> None:
    samples, _ = make_one(tmp_path, {"main.tex": SIDE_BY_SIDE})
    (sample,) = samples.values()
    rows = [e.table.text_rows() for e in tables(sample) if e.table is not None]
    assert rows == [[["a", "b"], ["c", "d"]], [["e", "f"], ["g", "h"]]]


def test_bibliographies_are_made(tmp_path: Path) -> None:
    samples, _ = make_one(tmp_path, BIBTEX)
    ((element,),) = [tables(sample) for sample in samples.values()]
    assert element.table is not None
    assert element.table.text_rows()[0] == ["x", "[1]"]


def test_a_page_with_a_table_that_cannot_be_marked_is_left_out(tmp_path: Path) -> None:
    samples, report = make_one(tmp_path, {"main.tex": UNMARKED_PAGE})
    assert sorted(samples) == ["in-p001", "in-p003"]
    (document,) = report.documents
    assert list(document.left_out) == [2]
    assert "tabbing" in document.left_out[2]


def test_files_above_missing_parts_errors_and_several_main_files(tmp_path: Path) -> None:
    samples, report = make_one(tmp_path, PARTS)
    by_name = {d.document: d for d in report.documents}
    assert by_name["doc"].main == "main.tex"
    notes = " ".join(by_name["doc"].notes)
    assert "gone.tex is missing" in notes
    assert "Undefined control sequence" in notes
    assert by_name["doc"].other_mains == ["second.tex"]
    (element,) = tables(samples["doc-p001"])
    assert element.table is not None
    assert element.table.text_rows() == [["a1", "b1"], ["a2", "b2"]]
    assert "documentclass" in str(by_name["common"].problem)


def test_main_files_that_are_not_used_are_said(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("one.tex", "two.tex", "three.tex"):
        (tmp_path / "in" / name).write_text(PARTS["doc/second.tex"], encoding="utf-8")
    command = ["corpus", "make", "latex", str(tmp_path / "in"), "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0
    assert "not used: 2 other main files" in result.output


def test_spanned_rows_in_columns_of_paragraphs_keep_their_place(tmp_path: Path) -> None:
    table = r"\begin{tabular}{p{2cm}l}\multirow{2}{*}{tall} & a \\ & b \\ c & d\end{tabular}"
    text = rf"\documentclass{{article}}\usepackage{{array,multirow}}\begin{{document}}{table}\end{{document}}"
    samples, report = make_one(tmp_path, {"main.tex": text})
    assert not report.documents[0].left_out
    ((element,),) = [tables(sample) for sample in samples.values()]
    assert element.table is not None
    assert element.table.text_rows() == [["tall", "a"], ["tall", "b"], ["c", "d"]]


def test_listings_that_want_a_program_are_set_without_it(tmp_path: Path) -> None:
    text = r"""\documentclass{article}\usepackage{minted}\setminted{frame=lines}\begin{document}
\begin{minted}[linenos]{python}
answer = 42
\end{minted}
Inline \mintinline{python}{x = 1}.
\begin{tabular}{ll}a & b \\ c & d\end{tabular}\end{document}"""
    samples, report = make_one(tmp_path, {"main.tex": text})
    (document,) = report.documents
    assert document.engine == "pdflatex"
    assert document.notes == ["minted wants to run a program, which is not done: its listings are black"]
    words = [w.text for w in page_words(samples["in-p001"])]
    assert words[:3] == ["answer", "=", "42"]


@pytest.mark.skipif(shutil.which("xelatex") is None, reason="xelatex is not installed")
def test_documents_for_other_engines(tmp_path: Path) -> None:
    text = r"""\documentclass{article}\usepackage{fontspec}\setmainfont{lmroman10-regular.otf}
    \begin{document}\begin{tabular}{ll}Žluťoučký & kůň \\ Ωμέγα & 1\end{tabular}\end{document}"""
    samples, report = make_one(tmp_path, {"main.tex": text.replace("Ωμέγα", "omega")})
    assert report.documents[0].engine == "xelatex"
    ((element,),) = [tables(sample) for sample in samples.values()]
    assert element.table is not None
    assert element.table.text_rows() == [["Žluťoučký", "kůň"], ["omega", "1"]]


@pytest.mark.parametrize("name", ["marks", "50%", 'a"b', "a\\b"])
def test_main_files_with_odd_names(tmp_path: Path, name: str) -> None:
    """TeX cannot be given them as they are, and one had the name of our own file."""
    source = tmp_path / "source"
    source.mkdir()
    text = rf"\documentclass{{article}}\begin{{document}}See \cite{{x}}. {TINY}"
    text += r"\bibliographystyle{plain}\bibliography{none}\end{document}"
    (source / f"{name}.tex").write_text(text)
    entry = r"\begin{thebibliography}{1}\bibitem{x} Someone.\end{thebibliography}"
    (source / f"{name}.bbl").write_text(entry)
    report = make_documents(source, tmp_path / "out")
    (document,) = report.documents
    assert document.problem is None, document.problem
    (sample,) = load_corpus(str(tmp_path / "out")).samples()
    assert sample.truth is not None
    assert [c.text for c in sample.truth.tables[0].table.cells] == ["one", "two", "3", "4"]
    assert "Someone" in " ".join(word.text for word in page_words(sample)), "the bibliography came along"


ONE_TABLE = r"""\documentclass{article}\usepackage{graphicx}\begin{document}
\includegraphics[width=2cm]{figure.pdf} \fbox{\jobname}
\begin{tabular}{|l|r|}\hline Name & One \\ \hline Alpha & 1.5 \\ \hline Beta & 2 \\ \hline\end{tabular}
\end{document}"""
NO_PAGE = (
    "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n"
)


def test_a_broken_picture_costs_only_itself(tmp_path: Path) -> None:
    folder = tmp_path / "paper"
    folder.mkdir()
    (folder / "paper.tex").write_text(ONE_TABLE)
    (folder / "figure.pdf").write_text(NO_PAGE + "trailer<</Root 1 0 R>>\n")
    report = make_documents(folder, tmp_path / "out")
    assert report.documents[0].tables == 1
    assert any("is broken" in note for note in report.documents[0].notes)
    assert check_corpus(load_corpus(str(tmp_path / "out"))).is_faithful


@pytest.mark.parametrize(
    ("settings", "first"),
    [
        ("$pdf_mode = 4;\n", "lualatex"),
        ("# $pdf_mode = 4;\n  $pdf_mode=5;", "xelatex"),
        ("$pdflatex = 'xelatex %O %S';", "xelatex"),
        ("$pdf_mode = 1;", "pdflatex"),
        ("system('rm -rf /')", "pdflatex"),
    ],
)
def test_the_settings_of_latexmk_name_the_program(settings: str, first: str, tmp_path: Path) -> None:
    if shutil.which(first) is None:
        pytest.skip(f"{first} is not installed")
    (tmp_path / "latexmkrc").write_text(settings)
    assert engines_of("", tmp_path)[0] == first


class Broken:
    """A document whose last run ended with a complaint."""

    def __init__(self, root: Path, log: str) -> None:
        self.root, self.folder, self.log = root, root, log
        self.notes: list[str] = []
        self.ran: list[tuple[str, ...]] = []

    def tool(self, *command: str) -> bool:
        self.ran.append(command)
        if command[0] == "mf-nowin":
            (self.folder / "bbm10.720gf").write_bytes(b"font")
        return True


def test_a_font_of_metafont_is_drawn_at_the_size_that_is_missing(tmp_path: Path) -> None:
    build = Broken(tmp_path, "!pdfTeX error: /usr/bin/pdflatex (file bbm10): Font bbm10 at 720 not found\n")
    assert repair(build, fatal=True)
    assert "mag:=720/600" in build.ran[0][-1] and build.ran[1] == ("gftopk", "bbm10.720gf", "bbm10.720pk")


def test_pictures_outside_of_the_document_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    outside = tmp_path / "figure.png"
    outside.write_bytes(b"mine")
    log = "!pdfTeX error: pdflatex (file {}): libpng: internal error\n"
    assert not repair(Broken(tmp_path / "root", log.format("../figure.png")), fatal=True)
    (tmp_path / "root" / "link.png").symlink_to(outside)
    assert not repair(Broken(tmp_path / "root", log.format("link.png")), fatal=True)
    assert outside.read_bytes() == b"mine"


OVERLAY = r"""\documentclass{beamer}\begin{document}\begin{frame}{Results}
\begin{tabular}{lr} Method & Rate \\ \hline alpha & 12 \\ \pause beta & 15 \\ gamma & 99 \\ \end{tabular}
\end{frame}\end{document}"""
LONG_CAPTIONS = r"""\documentclass{article}\usepackage{longtable,booktabs,dcolumn,nobodyhasthis}
\newcount\columns \columns 3
\begin{document}
\begin{tabular}{l@{\hspace{1em}}r@{.}l} Name & \multicolumn{2}{c}{Value} \\ \hline
\multicolumn{\columns}{l}{All of them} \\ \noalign{\hbox{between two rows}} one & 12 & 5 \\
two & 3 & 25 \\ \end{tabular}

\begin{tabular}{D{.}{.}{1}D{.}{.}{1}} 72.32 & 141.384 \\ 8.5 & 3.4 \\ 9.1 & 2.2 \end{tabular}
\begin{longtable}{ll} \caption{First}\\ \toprule Key & Value \\ \midrule \endfirsthead
\multicolumn{2}{l}{Table 1 continued}\\ \toprule Key & Value \\ \midrule \endhead \bottomrule \endfoot
ROWS \end{longtable}
\end{document}""".replace("ROWS", r" \\ ".join(f"key{i} & value{i}" for i in range(60)))


def test_what_beamer_covers_is_not_there(tmp_path: Path) -> None:
    samples, _ = make_one(tmp_path, {"talk.tex": OVERLAY})
    shown = [
        table.table.text_rows() for sample in samples.values() for table in tables(sample) if table.table
    ]
    assert shown == [
        [["Method", "Rate"], ["alpha", "12"]],
        [["Method", "Rate"], ["alpha", "12"], ["beta", "15"], ["gamma", "99"]],
    ]
    assert check_corpus(load_corpus(str(tmp_path / "out"))).is_faithful


def test_captions_of_long_tables_registers_seams_and_a_missing_package(tmp_path: Path) -> None:
    samples, report = make_one(tmp_path, {"paper.tex": LONG_CAPTIONS})
    assert any("nobodyhasthis.sty is missing" in note for note in report.documents[0].notes)
    found = [table for sample in samples.values() for table in tables(sample)]
    assert found[0].table is not None
    assert found[0].table.text_rows() == [
        ["Name", "Value"],
        ["All of them", "All of them"],
        ["between two rows", "between two rows"],
        ["one", "12.5"],
        ["two", "3.25"],
    ]
    check = check_corpus(load_corpus(str(tmp_path / "out")))
    assert check.tables == check.tables_at_ink == len(found) == 4
    assert check.cells == check.cells_equal


OTHER_PACKAGES = r"""\documentclass{article}\usepackage{tabu,nicematrix,multirow,enumitem,xcolor}
\usepackage{diagbox,tikz}\usetikzlibrary{matrix}
\begin{document} PAGE
\newpage Words. \newpage More words. \newpage And more.
\end{document}"""
GRIDS = {
    "tabu": (
        r"\begin{tabu}{l|rr}\hline Name & One & Two \\ \hline x & 1 & 2 \\ y & 3 & 4 \\ \hline\end{tabu}",
        [["Name", "One", "Two"], ["x", "1", "2"], ["y", "3", "4"]],
    ),
    "tabu to a width": (
        r"""\begin{tabu} to 9cm {|X[2,l]|X[m,c]|r|}\tabucline{-} \multicolumn{2}{|c|}{Both} & Last \\
        \multirow{2}{*}{down} & 1 & 2 \\ & words that fill more than one line & 4 \\
        \tabucline{-}\end{tabu}""",
        [["Both", "Both", "Last"], ["down", "1", "2"], ["down", "words that fill more than one line", "4"]],
    ),
    "tabu spread": (
        r"\begin{tabu} spread 2cm {|X|X|r|}\hline Name & A & B \\ alpha & 1 & 2 \\ beta & 3 & 4\\ \end{tabu}",
        [["Name", "A", "B"], ["alpha", "1", "2"], ["beta", "3", "4"]],
    ),
    "nice": (
        r"""\begin{NiceTabular}{lcc}[hvlines] Name & \multicolumn{2}{c}{Both} \\ x & 1 & 2 \\
        y & 3 & 4 \end{NiceTabular}""",
        [["Name", "Both", "Both"], ["x", "1", "2"], ["y", "3", "4"]],
    ),
    "nice with colortbl": (
        r"""\begin{NiceTabular}{lcc} Item & Qty & Price \\ Bolt & 10 & 2.50 \\ Nut & 20 & 1.25
        \end{NiceTabular}""",
        [["Item", "Qty", "Price"], ["Bolt", "10", "2.50"], ["Nut", "20", "1.25"]],
    ),
    "a divided corner": (
        r"""\begin{tabular}{|c|c|c|}\hline \diagbox{Row}{Col} & c1 & c2 \\ \hline r1 & 1 & 2 \\ \hline
        r2 & 3 & 4 \\ \hline\end{tabular}""",
        [["Row / Col", "c1", "c2"], ["r1", "1", "2"], ["r2", "3", "4"]],
    ),
    "a narrow divided corner": (
        r"""\begin{tabular}{|c|c|c|}\hline \diagbox{x}{y} & c & d \\ \hline r & 1 & 2 \\ \hline
        s & 3 & 4 \\ \hline\end{tabular}""",
        [["x / y", "c", "d"], ["r", "1", "2"], ["s", "3", "4"]],
    ),
    "columns and rows of space": (
        r"\begin{tabular}{llll} A & & B & C \\ 1 & & 2 & 3 \\ & & & \\ 4 & & 5 & 6 \end{tabular}",
        [["A", "B", "C"], ["1", "2", "3"], ["4", "5", "6"]],
    ),
    "blocks": (
        r"""\newcommand\wide[1]{\Block{1-2}{#1}}\begin{NiceTabular}{ccc}[hvlines,first-row]
        Top & \wide{Both} & \\ \Block{2-1}<\bfseries>{Down} & b & x \\ & d & y \\
        e & \Block{2-2}{Square \\ two} \\ f \end{NiceTabular}""",
        [
            ["Top", "Both", "Both"],
            ["Down", "b", "x"],
            ["Down", "d", "y"],
            ["e", "Square two", "Square two"],
            ["f", "Square two", "Square two"],
        ],
    ),
    "blocks to the end": (
        r"""\begin{NiceTabularX}{9cm}{Xc}\CodeBefore\rowcolor{gray!15}{1}\Body \Block{1-*}{All} \\ a & b \\
        \Block{*-1}{rest} & e \\ & f \end{NiceTabularX}""",
        [["All", "All"], ["a", "b"], ["rest", "e"], ["rest", "f"]],
    ),
}
LEFT_OUT = {
    "text under a block": (
        r"\begin{NiceTabular}{cc} \Block{1-2}{Both} & text \\ a & b \\ c & d \end{NiceTabular}",
        "do not form a grid",
    ),
    "notes in the box": (
        r"\begin{NiceTabular}{cc} A\tabularnote{Note.} & B \\ a & b \\ c & d \end{NiceTabular}",
        "NiceTabular with notes",
    ),
    "lines in a formula": (
        r"$\begin{NiceArray}{cc}[hvlines] A & B \\ a & b \\ c & d \end{NiceArray}$",
        "NiceArray",
    ),
    "an array in a float": (
        r"\begin{table}[h]\caption{C}$\begin{NiceArray}{cc} A&B \\ a & b \\ c & d\end{NiceArray}$\end{table}",
        "NiceArray",
    ),
    "a TikZ matrix with frames": (
        r"""\begin{tikzpicture}\matrix[matrix of nodes,nodes={draw,minimum width=2cm}]{
        Name & Qty & Price \\ ant & 1 & 2.50 \\ bee & 2 & 3.75 \\};\end{tikzpicture}""",
        "TikZ matrix",
    ),
    "a TikZ matrix with a line": (
        r"""\begin{tikzpicture}\matrix(m)[matrix of nodes,nodes={minimum width=2cm}]{
        Name & Qty \\ ant & 1 \\ bee & 2 \\};
        \draw (m-1-1.south west) -- (m-1-1.south west -| m-1-2.south east);\end{tikzpicture}""",
        "TikZ matrix",
    ),
    "over the edge": (
        r"\hskip8cm\begin{tabular}{llll} one & two & three & a long text in the last column of it \\ a&b&c&d"
        r"\\ 1 & 2 & 3 & 4 \end{tabular}",
        "runs over the edge of the page",
    ),
    "columns beside the page": (
        r"\begin{tabular}{lp{8cm}lp{8cm}l} a & b & c & d & e \\ 1 & 2 & 3 & 4 & 5 \end{tabular}",
        "runs over the edge of the page",
    ),
}
DIAGRAM = r"""\begin{tikzpicture}\matrix(m)[matrix of math nodes,row sep=8mm,column sep=12mm,nodes={draw}]{
A & B & C \\ D & E & F \\};\draw[->] (m-1-1) -- (m-1-2);\draw[->] (m-1-1) -- (m-2-1);\end{tikzpicture}"""
LINES = {
    r"\begin{tblr}{hlines,vlines} Key & Two & End \\ Tall & a & 10 \\ Short & b & 20 \end{tblr}": "full_line",
    r"\begin{tblr}{hline{1,2,Z}} Key & Two & End \\ Tall & a & 10 \\ Short & b & 20 \end{tblr}": "fewer_line",
    r"""\begin{tabular}{|l|c|r|}\hline Key & Wide & Last \\ \hline Tall & a & 10 \\ \hline Short & b & 20
    \\ \hline\end{tabular}""": "full_line",
    r"""\begin{tabular}{lll} a & b & c \\ \cmidrule(lr){2-2}\cmidrule(lr){3-3} d & e & f \\ g & h & i
    \end{tabular}""": "less_line",
    r"\begin{tabular}{lll} a & b & c \\ d & e & f \\ g & h & i \end{tabular}": "wireless_line",
}


def test_a_diagram_of_tikz_is_no_table(tmp_path: Path) -> None:
    samples, report = make_one(tmp_path, {"paper.tex": OTHER_PACKAGES.replace("PAGE", DIAGRAM)})
    assert report.documents[0].left_out == {}
    assert not any(tables(sample) for sample in samples.values())


def test_the_lines_of_tables_also_in_pieces(tmp_path: Path) -> None:
    body = r"\par\bigskip ".join(LINES)
    head = r"\documentclass{article}\usepackage{tabularray,booktabs}"
    samples, _ = make_one(tmp_path, {"main.tex": rf"{head}\begin{{document}}{body}\end{{document}}"})
    (sample,) = samples.values()
    assert [element.attributes["line"] for element in tables(sample)] == list(LINES.values())


def test_bold_rows_are_headers_also_without_lines(tmp_path: Path) -> None:
    bold = r"\textbf{Name} & \textbf{Q1} & \textbf{Q2} \\ ant & 1 & 2 \\ bee & 3 & 4 \\ cow & 5 & 6"
    rows = (bold, rf"\rowcolor{{gray!30}}{bold}", r"Name & Q1 & Q2 \\ ant & 1 & 2 \\ bee & 3 & 4")
    body = r"\par\bigskip ".join(rf"\begin{{tabular}}{{lrr}}{own}\end{{tabular}}" for own in rows)
    head = r"\documentclass{article}\usepackage[table]{xcolor}"
    samples, _ = make_one(tmp_path, {"main.tex": rf"{head}\begin{{document}}{body}\end{{document}}"})
    (sample,) = samples.values()
    assert [element.attributes.get("header_rows") for element in tables(sample)] == [1, 1, None]


@pytest.mark.parametrize("kind", GRIDS)
def test_tables_of_other_packages(tmp_path: Path, kind: str) -> None:
    latex, grid = GRIDS[kind]
    source = OTHER_PACKAGES.replace("PAGE", latex)
    if "colortbl" in kind:
        source = source.replace("{tabu", "{colortbl,tabu")
    samples, _ = make_one(tmp_path, {"paper.tex": source})
    ((element,),) = [tables(sample) for sample in samples.values() if tables(sample)]
    assert element.table is not None
    assert element.table.text_rows() == grid
    assert check_corpus(load_corpus(str(tmp_path / "out"))).is_faithful


@pytest.mark.parametrize("kind", LEFT_OUT)
def test_tables_that_cannot_be_had_cost_their_page(tmp_path: Path, kind: str) -> None:
    latex, reason = LEFT_OUT[kind]
    samples, report = make_one(tmp_path, {"paper.tex": OTHER_PACKAGES.replace("PAGE", latex)})
    assert set(report.documents[0].left_out) == {1}
    assert reason in report.documents[0].left_out[1]
    assert len(samples) == 3


def half_of(number: int) -> int:
    if number == 3:
        os._exit(1)
    return number // 2


def test_a_document_that_ends_its_process_costs_itself() -> None:
    assert dict(in_processes(half_of, [2, 3, 4, 6], 2)) == {2: 1, 3: None, 4: 2, 6: 3}
