"""Corpora from real LaTeX documents: what is a table, what is none, and which of its rows are headers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.corpora import load_corpus
from parsemark.corpora.check import check_corpus
from parsemark.model import Element
from parsemark_makers.latex.documents.make import DocumentReport

from .latex_documents import make_documents

pytestmark = [
    pytest.mark.latex,
    pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed"),
]

PAGE = r"""\documentclass[OPTIONS]{article}\usepackage{PACKAGES}\begin{document}
Some words of a page that has an alignment.\par\bigskip
BODY
\end{document}"""


def made(
    folder: Path, body: str, *, packages: str = "graphicx", options: str = "10pt"
) -> tuple[list[Element], DocumentReport]:
    """The tables of a document, and what the report says of it; its corpus must be faithful."""
    source = PAGE.replace("OPTIONS", options).replace("PACKAGES", packages).replace("BODY", body)
    (folder / "in").mkdir()
    (folder / "in" / "main.tex").write_text(source, encoding="utf-8")
    report = make_documents(folder / "in", folder / "out")
    corpus = load_corpus(str(folder / "out"))
    check = check_corpus(corpus)
    assert check.is_faithful, (check.problems, check.disagreements)
    found = [table for sample in corpus.samples() if sample.truth for table in sample.truth.tables]
    return found, report.documents[0]


def grid(element: Element) -> list[list[str]]:
    assert element.table is not None
    return element.table.text_rows()


def header(element: Element) -> int | None:
    stated = element.attributes.get("header_rows")
    return stated if isinstance(stated, int) else None


PICTURES = r"""\begin{tabular}{cc}
\includegraphics[width=3cm]{gone/one.pdf} & \includegraphics[width=3cm]{gone/two.png}\\
First words & Second words\\
\includegraphics[width=3cm]{gone/three.pdf} & \includegraphics[width=3cm]{four.jpg}
\end{tabular}"""
DRAFTS = r"""\begin{tabular}{cc}\includegraphics[draft,width=3cm]{example-image-a} &
\includegraphics[draft,width=3cm]{example-image-b}\\
\rotatebox{90}{First words} & Second words\end{tabular}"""
TO_SIGN = (
    r"""\begin{tabular}{p{5cm}p{1cm}p{5cm}}\dotfill & & \dotfill\\ Town and date & & Signature\end{tabular}"""
)
TO_SIGN_ON_LINES = r"""\begin{tabular}{ll}
\rule{5cm}{.4pt} & \makebox[3cm]{\hrulefill}\\ First Reader & Date\\[1cm]
\underline{\hspace{5cm}} & \rule{3cm}{.4pt}\\ Second Reader & Date\end{tabular}"""
AUTHORS = r"""\begin{tabular}{cc} Ada Example & Max Example\\ Institute of One & School of Two\\
\texttt{ada@one.edu} & \texttt{max@two.org}\end{tabular}"""
ONE_COLUMN = r"\begin{tabular}{c} Only one column\\ of words\\ in a block\end{tabular}"


@pytest.mark.parametrize("body", [PICTURES, DRAFTS, TO_SIGN, TO_SIGN_ON_LINES, AUTHORS, ONE_COLUMN])
def test_layout_is_no_table_and_costs_no_page(tmp_path: Path, body: str) -> None:
    found, report = made(tmp_path, body)
    assert (found, report.layout, report.pages, report.left_out) == ([], 1, 1, {})


def test_columns_of_a_page_with_little_text_are_those_of_tex(tmp_path: Path) -> None:
    """Its tables were ordered by their height, and it was a page of one column."""
    cells = r"\begin{tabular}{ll}NAME & b\\ \rule{0pt}{SIZE}c & d\end{tabular}"
    table = rf"\begin{{table}}[t]\caption{{NAME}}{cells}\end{{table}}"
    body = "".join(
        table.replace("NAME", name).replace("SIZE", size)
        for name, size in (("one", "1cm"), ("two", "14cm"), ("three", "2cm"))
    )
    made(tmp_path, body, options="10pt,twocolumn")
    (sample,) = load_corpus(str(tmp_path / "out")).samples()
    assert sample.truth is not None and sample.truth.attributes["layout"] == "double_column"
    assert [grid(e)[0][0] for e in sample.truth.tables] == ["one", "two", "three"]


def test_tables_with_pictures_lines_and_addresses_stay_tables(tmp_path: Path) -> None:
    kept = [
        r"""\begin{tabular}{lll}\hline Name & Sign & Number\\ \hline
        ant \vrule width0pt height1cm & \includegraphics[width=3cm,height=5mm]{gone.pdf} & 1 and words\\
        bee \vrule width0pt height1cm & three & 2 and words\\ \hline\end{tabular}""",
        r"\begin{tabular}{ll} Name & \rule{3cm}{.4pt}\\ Street & one\\ Town & two\\ Land & six\end{tabular}",
        r"\begin{tabular}{ll} Name & Address\\ Ada & ada@one.edu\\ Max & max@two.org\end{tabular}",
    ]
    found, report = made(tmp_path, r"\par\bigskip ".join(kept))
    assert (len(found), report.layout) == (3, 0)


NOTES = r"""\ctable[caption={Towns},pos=h]{lcc}{\tnote{Estimated.}\tnote[b]{Measured there.}}{
\FL Town & Value\tmark & Area (m$^2$)\tmark[b]\ML Oslo & 12.5 & 405\NN Rome & 13.7 & 88\LL}"""
NOTES_BY_HAND = r"""\begin{tabular}{lcc}\hline Town & Value$^*$ & Area$^{b}$\\ \hline Oslo & 12.5 & 405\\
Rome & 13.7 & 88\\ \hline\end{tabular}\\
\begin{tabular}{rl}$^*$ & Estimated.\\ $^b$ & Measured there.\end{tabular}"""


@pytest.mark.parametrize("body", [NOTES, NOTES_BY_HAND])
def test_the_notes_below_a_table_are_no_table(tmp_path: Path, body: str) -> None:
    found, report = made(tmp_path, body, packages="ctable")
    assert [grid(element)[1] for element in found] == [["Oslo", "12.5", "405"]]
    assert report.layout == 1


def test_a_table_of_letters_below_another_is_no_note(tmp_path: Path) -> None:
    other = r"\begin{tabular}{lc}\hline Town & Value\\ \hline Oslo & 12.5\\ Rome & 13.7\\ \hline\end{tabular}"
    found, _ = made(tmp_path, rf"{other}\\ \begin{{tabular}}{{rl}}a & Alpha\\ b & Beta\end{{tabular}}")
    assert len(found) == 2


GROUPS = {
    r"""\multirow{3}{*}{Cloud} & one node & 10 & 20\\ \cline{2-4} & two nodes & 18 & 37\\ \cline{2-4}
    & four nodes & 33 & 70\\ \hline \multirow{2}{*}{House} & one node & 12 & 23\\
    & two nodes & 20 & 41""": None,
    r"Low & 10 & 20\\ & 11 & 21\\ \hline High & 30 & 40\\ & 31 & 41": None,
    r"""\multirow{2}{*}{Low} & red & blue\\ & green & pink\\ \hline \multirow{2}{*}{High} & white & black\\
    & brown & grey""": None,
    r"""\multirow{2}{*}{Body} & Mass & Radius\\ & (kg) & (m)\\ \hline
    \multirow{2}{*}{Inner} & 10 & 20\\ & 11 & 21\\
    \hline \multirow{2}{*}{Outer} & 30 & 40\\ & 31 & 41""": 2,
    r"\multirow{2}{*}{Country} & Income & Income\\ & 2010 & 2011\\ \hline One & 30 & 40\\ Two & 31 & 41": 2,
    r"\multirow{2}{*}{Name} & \multicolumn{2}{c}{Years}\\ & 2010 & 2011\\ \hline A & 30 & 40\\ B & 3 & 4": 2,
}  # fmt: skip


@pytest.mark.parametrize("rows", GROUPS)
def test_a_first_group_of_data_is_no_header(tmp_path: Path, rows: str) -> None:
    columns = "lll" if rows.count("&") < 10 else "llll"
    body = rf"\begin{{tabular}}{{{columns}}}\hline {rows}\\ \hline\end{{tabular}}"
    found, _ = made(tmp_path, body, packages="multirow")
    assert [header(element) for element in found] == [GROUPS[rows]]


def test_columns_with_words_on_both_sides_are_two(tmp_path: Path) -> None:
    tables = {
        r"\begin{tabular}{l@{ : }l} Author & A Name\\ Number & 12345\end{tabular}": [
            ["Author :", "A Name"],
            ["Number :", "12345"],
        ],
        r"\begin{tabular}{lr@{/}r}\hline Test & Hit & Miss\\ \hline A & 10 & 2\\ B & 120 & 12\end{tabular}": [
            ["Test", "Hit/", "Miss"],
            ["A", "10/", "2"],
            ["B", "120/", "12"],
        ],
        r"\begin{tabular}{lr@{/}r} Test & \multicolumn{2}{c}{Hits}\\ A & 10 & 2\\ B & 1 & 12\end{tabular}": [
            ["Test", "Hits"],
            ["A", "10/2"],
            ["B", "1/12"],
        ],
    }
    found, _ = made(tmp_path, r"\par\bigskip ".join(tables))
    assert [grid(element) for element in found] == list(tables.values())


PAGED_ROWS = "\n".join(rf"{i} & Street {3 * i} & {i % 7}.{i}\\" for i in range(1, 91))
PAGED = rf"""\tablefirsthead{{\hline No. & Street & Size\\ \hline}}
\tablehead{{\hline \multicolumn{{3}}{{|l|}}{{continued}}\\ \hline No. & Street & Size\\ \hline}}
\tabletail{{\hline\multicolumn{{3}}{{|r|}}{{goes on}}\\ \hline}}\tablelasttail{{\hline}}
\begin{{KIND}}{{|r|l|c|}}
{PAGED_ROWS}
\end{{KIND}}"""


@pytest.mark.parametrize(
    ("package", "kind", "options"),
    [
        ("supertabular", "supertabular", "10pt"),
        ("supertabular", "supertabular", "twocolumn"),
        ("xtab", "xtabular", "10pt"),
    ],
)
def test_tables_that_are_set_page_by_page_are_one_long_table(
    tmp_path: Path, package: str, kind: str, options: str
) -> None:
    other = r"\begin{tabular}{ll} one & two\\ three & four\end{tabular}"
    body = f"{PAGED.replace('KIND', kind)}\\par {other}"
    found, _ = made(tmp_path, body, packages=package, options=options)
    *parts, last = found
    assert len(parts) > 1
    assert [(p.attributes["long"], p.attributes["part"]) for p in parts] == [
        (True, number + 1) for number in range(len(parts))
    ]
    assert len({p.id.split("-")[0] for p in parts}) == 1
    assert [header(p) for p in parts] == [1, *[2] * (len(parts) - 1)]
    numbers = [row[0] for part in parts for row in grid(part)[header(part) :] if row[0].isdecimal()]
    assert numbers == [str(i) for i in range(1, 91)]
    assert "long" not in last.attributes and grid(last) == [["one", "two"], ["three", "four"]]


def test_lists_in_cells_of_arydshln_keep_their_place(tmp_path: Path) -> None:
    cell = r"\begin{itemize}\item quick \item simple\end{itemize}"
    tables = [
        rf"""\begin{{tabular}}{{|p{{3cm}}|{kind}{{4cm}}|l|}}\hline A & B & C\\ \hdashline
        Old & {cell} & 2.3\\ \hline New & x & y\\ \hline\end{{tabular}}"""
        for kind in "pmb"
    ]
    found, report = made(tmp_path, r"\par\bigskip ".join(tables), packages="array,arydshln")
    assert report.left_out == {}
    assert [grid(element)[1] for element in found] == [["Old", "• quick\n• simple", "2.3"]] * 3


def test_tables_on_coloured_boxes_stand_at_their_ink(tmp_path: Path) -> None:
    table = r"\begin{tabular}{cc} A & B\\ \hline 11 & 12\\ 21 & 22\end{tabular}"
    boxed = rf"\begin{{tcolorbox}}[title=Words]{table}\end{{tcolorbox}}"
    found, _ = made(tmp_path, rf"{boxed} \colorbox{{yellow}}{{\fbox{{{table}}}}}", packages="tcolorbox")
    assert [grid(element)[2] for element in found] == [["21", "22"]] * 2


def test_sources_can_be_named_one_behind_the_other(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.tex").write_text(r"\documentclass{article}\begin{document}x\end{document}")
    files = [str(tmp_path / "a.tex"), str(tmp_path / "b.tex")]
    done = CliRunner().invoke(
        app,
        ["corpus", "make", "latex", *files, "--out", str(tmp_path / "out"), "--workers", "1"],
    )
    assert done.exit_code == 0, done.output
    assert "2 documents" in done.output
