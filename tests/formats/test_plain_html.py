"""Tables in plain HTML are read in one pass, with the result of reading any HTML."""

from types import ModuleType
from unittest import mock

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from parsemark.formats import read_tables
from parsemark.formats.html.plain import PlainTable, read_plain_table
from parsemark.formats.tables import read_html_alone
from parsemark.kernels import pure
from parsemark.metrics import TableInput, get_metric

try:
    from parsemark.kernels import _native
except ImportError:
    _native = pure

both = pytest.mark.parametrize(
    "impl",
    [pure] if _native is pure else [pure, _native],
    ids=lambda m: m.__name__.rpartition(".")[2],
)
_PIECES = [
    "a",
    "1.2",
    "b  c",
    " ",
    "\n",
    "\t",
    "é",
    "e\u0301",
    "\u2009",
    "\xa0",
    "\u2028",
    "p > 5",
    "hidden",
    "中",
    "ſ",
]
_REFERENCES = ["&amp;", "&lt;b", "&nbsp;", "R & D", "&#39;", "&quot;"]
_MARKED = [
    "<b>x</b>",
    "<br>",
    "<BR />",
    "10<sup>-3</sup>",
    "x<sub> i j </sub>",
    "<i>y<b>z</b></i>",
    "<sup></sup>",
]
_CELL_TEXTS = st.lists(st.sampled_from(_PIECES + _REFERENCES + _MARKED), max_size=3).map("".join)
_ATTRIBUTES = [
    "",
    "",
    "",
    "",
    ' colspan="2"',
    " rowspan=3",
    ' class="x"',
    " COLSPAN='3' rowspan=\"2\" ",
    ' colspan="1"',
]
_STYLED = [' style="text-align: right;"', " width=10%", "\nid=a"]
_GAPS = st.sampled_from(["", "", " ", "\r\n"])
_ODD = [
    "<!-- c -->",
    "<p>",
    "</p>",
    "<td>",
    "</tr>",
    "&foo;",
    "&",
    "<",
    "<H",
    "```",
    "<caption>c</caption>",
    "</table>",
]
_ODD += [
    "<td hidden>x</td>",
    '<td style="display:none">',
    "\x00",
    "\x0b",
    "\ufeff",
    "<th/>",
    "<b>",
    "</sup>",
    "\\begin{",
]
_ODD += [
    '<td colspan="1500">',
    '<td rowspan="0">',
    '<td rowspan="2" rowspan="3">',
    "]:",
    "<row>",
    "x",
    "<table>",
    "\x85",
]


@st.composite
def _rows(draw: st.DrawFn) -> str:
    rows = []
    for _ in range(draw(st.integers(0, 3))):
        names = draw(st.lists(st.sampled_from(["td", "td", "th", "TD"]), max_size=3))
        cells = (
            f"<{name}{draw(st.sampled_from(_ATTRIBUTES + _STYLED))}>{draw(_CELL_TEXTS)}</{name}>{draw(_GAPS)}"
            for name in names
        )
        rows.append(f"<tr>{draw(_GAPS)}{''.join(cells)}</tr>{draw(_GAPS)}")
    return "".join(rows)


@st.composite
def plain_html(draw: st.DrawFn) -> str:
    """One table in plain HTML."""
    sections = draw(st.lists(st.sampled_from(["", "", "thead", "tbody", "tfoot"]), max_size=3))
    parts = (f"<{name}>{draw(_rows())}</{name}>" if name else draw(_rows()) for name in sections)
    before = draw(st.sampled_from(["", "", "<html><body>", "<HTML>\n<head></head><body> ", "<body>"]))
    behind = draw(st.sampled_from(["", "", "</body></html>", "</html>"]))
    opening = draw(st.sampled_from(["<table>", '<table border="1" >', "<Table class=dataframe>"]))
    return f"{draw(_GAPS)}{before}{opening}{draw(_GAPS)}{''.join(parts)}</table>{draw(_GAPS)}{behind}"


@st.composite
def _damaged(draw: st.DrawFn) -> str:
    text = draw(plain_html())
    for piece in draw(st.lists(st.sampled_from(_ODD), max_size=2)):
        place = draw(st.integers(0, len(text)))
        text = text[:place] + piece + text[place + draw(st.sampled_from([0, 0, 1, 2])) :]
    return text


def _not_plain(text: str) -> None:
    """Nothing is plain."""


@given(plain_html() | _damaged())
@settings(max_examples=400)
def test_the_twins_read_the_same(text: str) -> None:
    assert _native.read_plain_table(text) == pure.read_plain_table(text)


@given(plain_html())
def test_such_tables_are_plain(text: str) -> None:
    assert read_plain_table(text) is not None


@given(plain_html() | _damaged(), st.sampled_from([None, "html"]))
@settings(max_examples=300)
def test_tables_are_read_as_by_a_parser_of_html(text: str, format: str | None) -> None:
    assume("<tr>" in text)
    found = read_tables(text, format, leave_out=True)
    with (
        mock.patch("parsemark.formats.tables.read_plain_table", _not_plain),
        mock.patch("parsemark.formats.html.tables.read_plain_table", _not_plain),
    ):
        assert found == read_tables(text, format, leave_out=True)


@given(plain_html())
@settings(max_examples=200)
def test_metrics_see_what_a_parser_of_html_sees(text: str) -> None:
    one, other = TableInput(text), TableInput(text)
    with mock.patch("parsemark.metrics.table_input.read_html_alone", _not_plain):
        assert other.row_cells == one.row_cells
        assert other.lossless_row_cells == one.lossless_row_cells
        assert other.is_absent is one.is_absent is False


@given(plain_html(), plain_html())
@settings(max_examples=100, deadline=None)
def test_values_are_those_of_tables_that_a_parser_reads(truth: str, pred: str) -> None:
    metrics = [
        get_metric(name) for name in ("teds", "teds(normalize=none)", "grits_top", "grits_con", "reader")
    ]
    values = [metric.score(TableInput(truth), TableInput(pred)) for metric in metrics]
    with (
        mock.patch("parsemark.metrics.table_input.read_html_alone", _not_plain),
        mock.patch("parsemark.formats.tables.read_plain_table", _not_plain),
        mock.patch("parsemark.formats.html.tables.read_plain_table", _not_plain),
    ):
        assert values == [metric.score(TableInput(truth), TableInput(pred)) for metric in metrics]


@both
def test_what_is_read_of_a_plain_table(impl: ModuleType) -> None:
    text = (
        ' <body><table><thead><tr><th colspan="2">A &amp;\n B</th></tr></thead><tr></tr>'
        "<tr><td>10<sup>-3</sup> </td><td rowspan=1>2<BR/>3</td></tr></table>"
    )
    table = PlainTable(*impl.read_plain_table(text))
    assert text[table.start : table.end] == text[7:]
    assert table.row_lengths == [1, 0, 2]
    assert table.texts == ["A & B", "10-3", "23"]
    assert table.spans == {0: (1, 2)}
    assert table.headers == [True, False, False]
    assert table.marked == {1: ["10", "sup", "-3", "/sup", " "], 2: ["2", "br", "3"]}
    assert [cell.text for cell in table.table().cells] == ["A & B", "10^{-3}", "2\n3"]


@pytest.mark.parametrize(
    "cell",
    [
        "<td>a",
        "<td>a</th>",
        "<td>a<b>b</td>",
        "<td>a<b><i>b</b></i></td>",
        f"<td>{'<b>' * 17}{'</b>' * 17}</td>",
        "<td><b class='x'>a</b></td>",
        "<td>a</td>b",
        "<td>&copy;</td>",
        "<td>&amp</td>",
        "<td>&AMP;</td>",
        "<td>a<!-- b --></td>",
        "<td>1<2</td>",
        "<td>\x1f</td>",
        "<td>\x85</td>",
        "<td>\ud800</td>",
        "<td hidden>a</td>",
        "<td style='x:y'class='z'>a</td>",
        '<td style="visibility: hidden">a</td>',
        '<td style="COLOR: white">a</td>',
        "<td style=x>a</td>",
        '<td class="a/b">a</td>',
        '<td title="a">a</td>',
        '<td rowspan="0">a</td>',
        '<td colspan="1000">a</td>',
        '<td colspan="2" colspan="3">a</td>',
        f"<td {' ' * 1000}>a</td>",
        "<td><table><tr><td>a</td></tr></table></td>",
        "<td><img></td>",
        "<td/>",
    ],
)
@both
def test_what_is_not_plain(impl: ModuleType, cell: str) -> None:
    assert impl.read_plain_table(f"<table><tr>{cell}</tr></table>") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "<table>",
        "<table></table>a",
        "a<table></table>",
        "<table></table><table></table>",
        "<tr></tr>",
        "<head><table></table>",
        "<!DOCTYPE html><table></table>",
        "<table><tr></table>",
        "<table></tr></table>",
    ],
)
@both
def test_texts_that_are_not_one_plain_table(impl: ModuleType, text: str) -> None:
    assert impl.read_plain_table(text) is None


@pytest.mark.parametrize(
    "html",
    [
        "<tr><td>" + "a" * 100_000 + "</td></tr>",
        "<tr></tr>" * 2_000 + "<tr>" + "<td></td>" * 200 + "</tr>",
        '<tr><td rowspan="900" colspan="900"></td></tr>',
    ],
    ids=["long", "ragged", "spanning"],
)
def test_what_may_be_over_a_limit_is_left_to_the_parser(html: str) -> None:
    assert read_plain_table(f"<table>{html}</table>") is None


@pytest.mark.parametrize(
    "mark", ["```", "\\begin{tabular}", "\\iffalse", "\\textcolor{white}{x}", "[1]: # (a)"]
)
def test_what_other_readers_look_at_is_left_to_them(mark: str) -> None:
    text = f"<table><tr><td>{mark}</td></tr></table>"
    assert read_plain_table(text) is not None and read_html_alone(text) is None
