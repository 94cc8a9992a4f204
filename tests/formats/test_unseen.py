"""What a reader would not see answers nothing: no table and no text."""

from __future__ import annotations

import pytest

from parsemark.formats import read_document, read_tables
from parsemark.formats.hidden_text import seen

HTML = "<table><tr><th>a</th><td>17</td></tr><tr><td>b</td><td>2</td></tr></table>"
LATEX = r"\begin{tabular}{ll} a & 17 \\ c & d \\ \end{tabular}"
PIPES = "\n\n| a | b |\n|---|---|\n| 17 | 2 |\n\n"
IN_HTML = (
    "<script>{}</script>",
    "<script>if (a<b){{s='>'}} {}</script>",
    "<template><template>x</template>{}</template>",
    "<template>{}",
    "<noscript>{}</noscript>",
    "<div hidden>{}</div>",
    "<div class=x HIDDEN=''><div>y</div>{}</div>",
    '<div style="color: red; display : none">{}</div>',
    "<section style='visibility:hidden'>{}</section>",
    '<p style="font-size:0px">{}</p>',
    "<!-- {} -->",
    "<style>p {{color: red}} .x, b {{ display: none }}</style><div class='a x'>{}</div>",
    "<style>@media screen {{ div#q {{visibility:hidden}} }}</style><div id=q>{}</div>",
    '<div style="display&#58;none">{}</div>',
    '<div style="display/* */:none">{}</div>',
    '<div style="d\\69splay:none">{}</div>',
    "<dialog>{}</dialog>",
    "<div popover>{}</div>",
    '<div style="color:#FFF">{}</div>',
)
IN_LATEX = (
    r"\iffalse {} \fi",
    r"\iffalse \ifx\a\b x \fi {} \fi",
    r"\iffalse {} \else seen \fi",
    "\\begin{{comment}}\n{}\n\\end{{comment}}",
    r"\if0 {} \fi",
    r"\phantom{{the words {} }}",
    r"\textcolor{{white}}{{{}}}",
    r"{{\color{{white}} {}}}",
)


@pytest.mark.parametrize("table", [HTML, LATEX, PIPES])
@pytest.mark.parametrize("hidden", [*IN_HTML, *IN_LATEX])
def test_a_hidden_table_is_none_and_hidden_words_are_none(hidden: str, table: str) -> None:
    text = f"Shown.\n\n{hidden.format(table)}"
    assert read_tables(text) == []
    for format in ("markdown", "text", "html" if hidden in IN_HTML else "latex"):
        elements = read_document(text, format).elements
        assert "17" not in " ".join(e.text or "" for e in elements), format
        assert [e for e in elements if e.table is not None] == [], format
    assert len(read_tables(f"{text}\n\n{HTML}")) == (0 if hidden == "<template>{}" else 1)


@pytest.mark.parametrize("words", ["Text % {}", "%{}", "% a\n % {}", r"\% x % {}"])
def test_a_latex_table_behind_a_comment_sign_is_none(words: str) -> None:
    assert read_tables(words.format(LATEX)) == []
    floating = rf"\begin{{table}}\caption{{It}}{LATEX}\end{{table}}"
    for format in ("markdown", "latex"):
        assert not any(e.table for e in read_document(words.format(floating), format).elements)


@pytest.mark.parametrize("words", ["A 50% {}", "A 50 % {}", "www.a/b%20c {}", r"in \% {}", "50 %\n{}"])
def test_a_per_cent_sign_hides_no_table(words: str) -> None:
    assert [f.table.text_rows()[0] for f in read_tables(words.format(LATEX))] == [["a", "17"]]


def test_what_is_only_spoken_of_hides_nothing() -> None:
    text = f"Write the <script> tag, `<div hidden>` or a <p hidden> one. {HTML} An \\iff."
    assert len(read_tables(text)) == 1
    spoken = "Write `<div hidden>` or a <p hidden> one."
    assert "one." in " ".join(e.text or "" for e in read_document(spoken).elements)
    for honest in (
        "Inline `\\iffalse` only.\n\nLast.",
        "Use `\\iffalse` and `\\fi` here. Last.",
        "An \\iffalse that nobody closes.\n\nLast.",
        "<template> is inert.\n\nLast.",
        "The <template> element and the <script> tag. Last.",
    ):
        assert "Last." in " ".join(e.text or "" for e in read_document(honest, "markdown").elements)
    assert seen('<td class="hidden">a</td> <p style="overflow:hidden;display:block">b</p>').count(">") == 4


@pytest.mark.parametrize("format", ["markdown", "text"])
def test_a_page_that_shows_latex_goes_on_behind_its_end(format: str) -> None:
    """Only an output that is LaTeX ends there; a manual of LaTeX shows it."""
    shown = "Write this:\n\n\\begin{document}\nHello\n\\end{document}\n\nThen run it.\n\n"
    assert "Then run it." in " ".join(e.text or "" for e in read_document(shown + HTML, format).elements)
    assert len(read_tables(shown + HTML)) == 1


@pytest.mark.parametrize("table", [HTML, LATEX, PIPES])
def test_latex_ends_with_its_document(table: str) -> None:
    text = (
        f"% made by a parser\n\\documentclass{{a}}\n\\begin{{document}}\nShown.\n\\end{{document}}\n\n{table}"
    )
    assert read_tables(text) == []
    for format in ("markdown", "text", "latex"):
        assert [e for e in read_document(text, format).elements if e.table is not None] == [], format


def test_hidden_cells_are_gone_and_clear_ones_keep_their_place() -> None:
    row = "<table><tr><td>1</td><td {}>no<td>3</td></tr><tr><td>4</td><td>5</td><td>6</td></tr></table>"
    gone = read_tables(row.format("hidden"))[0].table.text_rows()
    clear = read_tables(row.format("style='visibility:hidden'"))[0].table.text_rows()
    assert (gone[0][:2], clear[0]) == (["1", "3"], ["1", "", "3"])


def test_a_comment_still_names_its_block_and_its_picture() -> None:
    found = read_document("<!-- image -->\n\n<!-- table_caption -->\nTable 1. It.\n").elements
    assert [str(e.category) for e in found] == ["figure", "table_caption"]


@pytest.mark.parametrize(
    "note", ["[//]: # (It is 17)", '[//]: # "It is 17"', "[comment]: <> (It is\n17 or so)"]
)
def test_a_comment_of_markdown_says_nothing(note: str) -> None:
    for format in ("markdown", "text"):
        said = " ".join(e.text or "" for e in read_document(f"Shown.\n\n{note}\n\nLast.", format).elements)
        assert "17" not in said and "Last." in said


@pytest.mark.parametrize(
    "honest",
    [
        "<style>.x {{display:none}}</style><p class=y>{}</p>",
        "<style>p.x, #z {{display:none}}</style><div class=x id=y>{}</div>",
        "<style>@media print {{ .x {{color:red}} .y {{display:none}} }}</style><p class=y>{}</p>",
        "<dialog open>{}</dialog>",
        "<p style='color:white;background:black'>{}</p>",
        "\\cellcolor{{black}}\\textcolor{{white}}{{{}}}",
        "\\textcolor{{red}}{{{}}}",
        "\\if00 {} \\fi",
        "[1]: see {}",
        "[a]: # and {}",
    ],
)
def test_what_hides_something_else_hides_nothing(honest: str) -> None:
    said = " ".join(e.text or "" for e in read_document(honest.format("It is 17 here"), "markdown").elements)
    assert "17" in said
    assert seen("a $\\phantom{0}5$ b") == "a $\\phantom{0}5$ b"
