"""Whole documents: elements with their place and order, and a writer that reads back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsemark.corpora import load_corpus
from parsemark.errors import FormatError, UnknownNameError
from parsemark.formats import DOCUMENT_FORMATS, read_document, read_tables, write_document
from parsemark.model import Element, Page, Table

from .strategies import PIECES

MARKDOWN = r"""# A *great* title

First paragraph with **bold**, a [link](http://x.y) and
$a_1 \le b$ over two lines.
Before $$E = mc^2$$ after.

## 1.1 Methods

- one
- two $x$
  continued
1. first
2. second

Table 1: Results of all runs

| a | b |
|---|---|
| 1 | 2 |

<table><tr><td colspan="2">x</td></tr><tr><td>1</td><td>2</td></tr></table>

\begin{align}
a &= b \\
- c &= d
\end{align}

(3)

![plot](plot.png)

**Figure 2** The plot.

```python
x = 1 | 2
```

\[ y = \frac{1}{2} \]

> quoted text \[1\]

<!-- page_footnote -->

* Not a list.
"""


def shown(text: str, format: str = "markdown") -> list[tuple[str, str | None]]:
    return [(str(e.category), e.text or e.latex) for e in read_document(text, format).elements]


def test_markdown_gives_every_kind_of_element() -> None:
    assert shown(MARKDOWN) == [
        ("title", "A great title"),
        ("text_block", r"First paragraph with bold, a link and $a_1 \le b$ over two lines. Before"),
        ("equation_isolated", "E = mc^2"),
        ("text_block", "after."),
        ("title", "1.1 Methods"),
        ("list_group", "one\ntwo $x$ continued"),
        ("list_group", "1. first\n2. second"),
        ("table_caption", "Table 1: Results of all runs"),
        ("table", None),
        ("table", None),
        ("equation_isolated", "\\begin{align}\na &= b \\\\\n- c &= d\n\\end{align}"),
        ("equation_caption", "(3)"),
        ("figure", None),
        ("figure_caption", "Figure 2 The plot."),
        ("code_txt", "x = 1 | 2"),
        ("equation_isolated", r"y = \frac{1}{2}"),
        ("text_block", "quoted text [1]"),
        ("page_footnote", "Not a list."),
    ]


def test_elements_know_their_place_level_and_order() -> None:
    document = read_document(MARKDOWN)
    places = [(e.attributes["start"], e.attributes["end"]) for e in document.elements]
    sources = [MARKDOWN[start:end] for start, end in places]
    assert places == sorted(places)
    assert sources[0] == "# A *great* title"
    assert sources[2] == "$$E = mc^2$$"
    assert sources[8] == "| a | b |\n|---|---|\n| 1 | 2 |"
    assert [e.attributes.get("level") for e in document.elements if e.category == "title"] == [1, 2]
    orders = [e.order for e in document.elements]
    assert orders[:-1] == list(range(len(orders) - 1)) and orders[-1] is None
    assert document.elements[9].html == sources[9]
    assert [(f.latex, f.attributes["within"]) for f in document.inline_formulas] == [
        (r"a_1 \le b", "e2"),
        ("x", "e6"),
    ]
    formula = document.inline_formulas[0].attributes
    assert MARKDOWN[formula["start"] : formula["end"]] == r"$a_1 \le b$"


def test_html_gives_every_kind_of_element() -> None:
    text = (
        "<html><head><title>no</title></head><body><h2>A <b>title</b></h2><p>Text &amp; more<br>second"
        "<ul><li>one<li>two</ul><ol start=3><li><p>three</p></li></ol>"
        "<table><caption>Table 1</caption><tr><td>a</td></tr></table>after<pre>x &lt; 1\n y</pre>"
        '<figure><img src="a.png"><figcaption>A plot</figcaption></figure>'
        '<math display="block" alttext="a=b"><mi>a</mi></math></body></html>'
    )
    assert shown(text, "html") == [
        ("title", "A title"),
        ("text_block", "Text & more\nsecond"),
        ("list_group", "one\ntwo"),
        ("list_group", "3. three"),
        ("table", None),
        ("table_caption", "Table 1"),
        ("text_block", "after"),
        ("code_txt", "x < 1\n y"),
        ("figure", None),
        ("figure_caption", "A plot"),
        ("equation_isolated", "a=b"),
    ]


HTML_BODY = (
    "<h2>Results</h2>\n<p>Costs $$5 a piece.</p><p>$$E = mc^2 &lt; \\alpha$$</p>\n"
    "<p>First words\n\nand last words.</p><ul><li>one<li>two</ul><p>With \\[x = 1\\] inside.</p>\n"
    "<pre>$$no = formula$$</pre><p>End.</p>"
)
HTML_ELEMENTS = [
    ("title", "Results"),
    ("text_block", "Costs $$5 a piece."),
    ("equation_isolated", "E = mc^2 < \\alpha"),
    ("text_block", "First words and last words."),
    ("list_group", "one\ntwo"),
    ("text_block", "With"),
    ("equation_isolated", "x = 1"),
    ("text_block", "inside."),
    ("code_txt", "$$no = formula$$"),
    ("text_block", "End."),
]
HTML_BEGINNINGS = [
    "",
    "<!DOCTYPE html>\n",
    '<?xml version="1.0"?>\n<!-- made by a tool -->\n<!DOCTYPE html PUBLIC "-//W3C//DTD" "x.dtd">\n',
    "<!doctype html><html><head><title>Window</title>\n\n<style>p { color: red }</style></head><body>",
    "<html><head><meta charset='utf-8'><title>Window</title><body>\n",
    "<head><script>if (a < b) { f('<p>no</p>') }</script></head>",
]


@pytest.mark.parametrize("beginning", HTML_BEGINNINGS)
def test_what_stands_before_the_body_changes_nothing_in_html(beginning: str) -> None:
    assert shown(beginning + HTML_BODY, "html") == HTML_ELEMENTS
    if beginning:  # without it, blank lines part texts as Markdown says
        assert shown(beginning + HTML_BODY) == HTML_ELEMENTS
        assert shown(f"```html\n{beginning}{HTML_BODY}\n```") == HTML_ELEMENTS


@pytest.mark.parametrize(
    "beginning",
    ['<?xml version="1.0"?>', "<style>\np { a: b }\n\nq { c: d }</style>", "<!-- note -->",
     "<meta charset=utf-8>", "<a id='top'></a>", "<!DOCTYPE note>", "<title>Window</title>"],
)  # fmt: skip
def test_a_fragment_of_html_in_markdown_may_begin_with_what_nobody_sees(beginning: str) -> None:
    wanted = [("title", "Results"), ("text_block", "One."), ("text_block", "Two.")]
    assert shown(f"{beginning}\n<h2>Results</h2>\n<p>One.</p>\n<p>Two.</p>") == wanted


def test_what_is_opened_and_never_closed_hides_nothing() -> None:
    assert shown("<html><head><style><p>One.</p><title><p>Two.</p>", "html") == [
        ("text_block", "One."),
        ("text_block", "Two."),
    ]
    assert ("text_block", "Two.") in shown("<style>\n\nTwo.")


def test_a_comment_that_stands_for_a_picture_is_a_figure_in_html_too() -> None:
    assert shown("<p>One.</p><!-- image --><p>Two.<!-- note --> Three.</p>", "html") == [
        ("text_block", "One."),
        ("figure", None),
        ("text_block", "Two. Three."),
    ]


def test_latex_gives_every_kind_of_element() -> None:
    text = r"""\documentclass{article}\newcommand{\ours}{Our method}
\begin{document}
\section*{Intro} Some \textbf{bold} text with $x^2$ % gone
and more.

New paragraph.
\begin{itemize}\item one \item[b)] two\end{itemize}
\begin{equation}\label{a} E=mc^2 \end{equation}
\begin{table}\caption{Results}\begin{tabular}{ll} \ours & 1 \\ a & 2 \end{tabular}\end{table}
\[ a=b \]
\begin{verbatim}
x = {1}
\end{verbatim}
\subsection{End}
\end{document}"""
    assert shown(text, "latex") == [
        ("title", "Intro"),
        ("text_block", "Some bold text with $x^2$ and more."),
        ("text_block", "New paragraph."),
        ("list_group", "one\nb) two"),
        ("equation_isolated", "E=mc^2"),
        ("table_caption", "Results"),
        ("table", r"\begin{tabular}{ll} \ours & 1 \\ a & 2 \end{tabular}"),
        ("equation_isolated", "a=b"),
        ("code_txt", "x = {1}"),
        ("title", "End"),
    ]
    (table,) = (e.table for e in read_document(text, "latex").elements if e.table)
    assert table.text_rows() == [["Our method", "1"], ["a", "2"]]


def test_lists_without_items_are_what_they_hold() -> None:
    assert shown(r"\begin{itemize}\end{itemize}", "latex") == []
    assert shown(r"a \begin{enumerate}[x] b c\end{enumerate}", "latex") == [
        ("text_block", "a"),
        ("text_block", "b c"),
    ]


def test_text_gives_paragraphs_lists_and_tables() -> None:
    text = (
        "A line\nand another.\n\n• one\n• two\n  more\n\n"
        "Name    Age   City\nAnn     31    Rome\nBob     42    Oslo\n"
    )
    assert shown(text, "text") == [
        ("text_block", "A line and another."),
        ("list_group", "• one\n• two more"),
        ("table", None),
    ]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Sign:\n" + "_" * 60 + " (date)", [("text_block", "Sign: " + "_" * 60 + " (date)")]),
        ("\\[1\\] Smith, J.", [("text_block", "[1] Smith, J.")]),
        ("$$\n|a| = 1\n|b| = 2\n$$", [("equation_isolated", "|a| = 1\n|b| = 2")]),
        ("It costs $5 and $6.", [("text_block", "It costs $5 and $6.")]),
        ("```markdown\n# T\n\ntext\n```", [("title", "T"), ("text_block", "text")]),
        ("```math\na=b\n```", [("equation_isolated", "a=b")]),
        ("<!-- image -->", [("figure", None)]),
        ("<h1>T</h1>\n\n<p align='center'>x</p>", [("title", "T"), ("text_block", "x")]),
        ("\\section*{1 Intro}\n\ntext", [("title", "1 Intro"), ("text_block", "text")]),
        ("    indented, not code", [("text_block", "indented, not code")]),
        ("<!-- never closed", [("text_block", "<!-- never closed")]),
    ],
)
def test_what_parsers_write(text: str, wanted: list[tuple[str, str | None]]) -> None:
    assert shown(text) == wanted


@pytest.mark.parametrize(
    "text", ["# Title\n\ntext", "| a | b |\n|---|---|\n| 1 | 2 |\n", "- one\n- two", "$$a=b$$", "a,b\n1,2\n"]
)
def test_a_byte_order_mark_is_no_part_of_the_text(text: str) -> None:
    for format in DOCUMENT_FORMATS:
        assert shown("\ufeff" + text, format) == shown(text, format)
    for format in (None, "csv", "markdown"):
        marked = read_tables("\ufeff" + text, format)
        assert [found.table for found in marked] == [found.table for found in read_tables(text, format)]


def test_the_demo_corpus_written_as_markdown_reads_back() -> None:
    for sample in load_corpus("demo").samples():
        assert sample.truth is not None
        found = read_document(write_document(sample.truth)).elements
        truth = sorted(sample.truth.elements, key=lambda e: (e.order is not None, e.order or 0))
        for category in {e.category for e in truth}:
            wanted = [_content(e) for e in truth if e.category == category]
            assert [_content(e) for e in found if e.category == category] == wanted
        assert [e.category for e in truth if e.order is not None] == [
            e.category for e in found if e.order is not None
        ]


def _content(element: Element) -> object:
    if element.table is None:
        return element.text, element.latex
    rows = [[" ".join(text.split()) for text in row] for row in element.table.text_rows()]
    return rows, element.table.n_cells


TEXTS = st.lists(
    st.sampled_from(
        ["a", "b c", "*", "_", "$", "$x_1$", "#", "1.", "-", ">", "|", "<", "&amp;", "\\", "`", "Table 1:",
         "(2)", "[", "](", "~~", "+", "=", "é"]
    )
    | st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1, max_size=4),
    min_size=1,
    max_size=8,
).map(" ".join)  # fmt: skip
KINDS = ["title", "text_block", "list_group", "table_caption", "page_footnote", "header", "reference"]
ELEMENTS = st.lists(
    st.tuples(st.sampled_from(KINDS), TEXTS).map(lambda pair: Element("x", pair[0], text=pair[1], order=1))
    | st.just(Element("x", "equation_isolated", latex=r"\frac{a}{b} | c", order=1))
    | st.just(Element("x", "code_txt", text="a | b\n\n  `c`", order=1))
    | st.just(Element("x", "figure", order=1))
    | TEXTS.map(lambda text: Element("x", "table", table=Table.from_rows([[text, "1"]]), order=1)),
    max_size=6,
)


@given(ELEMENTS)
def test_what_is_written_reads_back(elements: list[Element]) -> None:
    found = read_document(write_document(Page("p", 1, 1, tuple(elements)))).elements
    assert [(e.category, _content(e)) for e in found] == [(e.category, _content(e)) for e in elements]


def test_bad_calls_are_refused() -> None:
    with pytest.raises(UnknownNameError):
        read_document("x", "docx")
    with pytest.raises(FormatError):
        read_document(b"x")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError):
        write_document([], "latex")


@pytest.mark.parametrize("latex", ["x = 1", "$$\nx = 1\n$$", "\\[ x = 1 \\]"])
def test_delimiters_that_a_corpus_keeps_are_written_once(latex: str) -> None:
    (found,) = read_document(write_document([Element("f", "equation_isolated", latex=latex)])).elements
    assert found.category == "equation_isolated" and "x = 1" in (found.latex or "")


_BLOCKS = ["# a\n", "- ", "1. ", "> ", "\n\n", "```\n", "$$", "\\[", "\\]", "<p>", "<li>", "</ul>", "<table>",
           "<td>", "| a |\n", "|--|\n", "<!--", "-->", "![](", "\\begin{table}", "\\end{table}", "\\item",
           "\\begin{itemize}", "\\caption{", "}", "\\section{", "$", "---\n", "&#99999999999;"]  # fmt: skip


@given(
    st.lists(st.sampled_from(_BLOCKS) | PIECES | st.text(max_size=5), max_size=30).map("".join),
    st.sampled_from(DOCUMENT_FORMATS),
)
def test_only_format_errors_come_out(text: str, format: str) -> None:
    try:
        document = read_document(text, format)
    except FormatError:
        return
    for element in (*document.elements, *document.inline_formulas):
        start, end = element.attributes["start"], element.attributes["end"]
        assert isinstance(start, int) and isinstance(end, int) and 0 <= start <= end <= len(text)


def test_deep_lists_and_quotes_are_kept_or_refused() -> None:
    deep = "".join("  " * level + f"- x{level}\n" for level in range(12))
    (element,) = read_document(deep, "markdown").elements
    assert (element.text or "").split() == [f"x{level}" for level in range(12)]
    assert [e.text for e in read_document("> " * 20 + "Lead is heavy.", "markdown").elements] == [
        "Lead is heavy."
    ]
    for endless in ("> " * 500 + "x", "".join("  " * level + "- x\n" for level in range(200))):
        with pytest.raises(FormatError, match="nested deeper"):
            read_document(endless, "markdown")


@pytest.mark.parametrize("format", ["markdown", "html", "text"])
def test_a_table_over_a_limit_costs_itself_and_not_the_page(format: str) -> None:
    absurd = '<table><tr><td colspan="100000">a</td><td>b</td></tr></table>'
    page = f"Some words.\n\n{absurd}\n\nMore words.\n\n<table><tr><td>1</td><td>2</td></tr></table>"
    elements = read_document(page, format).elements
    assert [e.table.text_rows() for e in elements if e.table is not None] == [[["1", "2"]]]
    assert "More words." in [e.text for e in elements]
