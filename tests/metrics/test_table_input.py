"""Reading tables for metrics: formats, hostile input, limits."""

import time

import pytest
from tests.growth import slowness

from parsemark.errors import FormatError
from parsemark.formats import read_table, write_table
from parsemark.metrics import METRICS, TableInput, get_metric, grits, score, teds
from parsemark.metrics.base import MAX_POSITION_PAIRS, check_pairs
from parsemark.model import Cell, Status, Table

from .table_examples import MARKDOWN, PLAIN, SPANNED


def test_formats_meet() -> None:
    markdown = "| a | b |\n|---|---|\n| 1 | 2 |"
    assert teds(PLAIN, markdown) == teds(markdown, PLAIN) == 1.0
    assert grits(PLAIN, read_table(markdown)) == (1.0, 1.0)
    assert teds(f"Some prose.\n\n{PLAIN}\n\nMore.", PLAIN) == 1.0


def test_a_format_can_be_named() -> None:
    assert TableInput("a,b\n1,2\n", "csv").table.n_cols == 2
    with pytest.raises(FormatError, match="must be a text"):
        TableInput(3)  # type: ignore[arg-type]  # wrong on purpose


def test_a_table_inside_a_cell_is_text() -> None:
    nested = "<table><tr><td>a<table><tr><td>x</td><td>y</td></tr></table></td><td>b</td></tr></table>"
    cells = TableInput(nested).row_cells
    assert (cells.lengths, cells.texts) == ([2], ["axy", "b"])


def test_a_stray_angle_is_text_for_the_default_teds() -> None:
    table = TableInput("<table><tr><td>-9<H<8</td><td>1</td></tr></table>")
    assert table.lossless_row_cells.texts == ["-9<H<8", "1"]


def test_spans_as_browsers_read_them() -> None:
    odd = '<table><tr><td colspan="2%">a</td><td colspan="x">b</td><td colspan="0">c</td></tr></table>'
    assert TableInput(odd).row_cells.spans == {0: (1, 2)}


@pytest.mark.parametrize(
    "hostile",
    [
        '<table><tr><td colspan="999999999">a</td></tr></table>',
        '<table><tr><td rowspan="1000" colspan="1000">a</td></tr></table>',
        "<table>" + "<div>" * 10_000 + "</table>",
        "<table>" + '<tr><td rowspan="900" colspan="900">a</td></tr>' * 50 + "</table>",
        "<table><tr><td>" + "a" * 11_000_000 + "</td></tr></table>",
        "<table>" + "<tr>" + "<td>1</td>" * 100_001 + "</tr>" + "</table>",
        "\x00<table><tr><td>\ud800</td></tr></table>",
        '<!DOCTYPE lolz [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><table><tr><td>&b;</td></tr></table>',
    ],
    ids=["colspan", "both spans", "nested", "many spans", "long", "wide", "controls", "entities"],
)
def test_hostile_input_is_scored_or_refused_in_bounded_time(hostile: str) -> None:
    start = time.process_time()
    for result in score(PLAIN, hostile, metrics=METRICS.builtin).values():
        assert (result.value is None) == (result.status is Status.METRIC_FAILED)
    assert time.process_time() - start < 30 * slowness()


def test_a_million_cells_are_refused() -> None:
    million = "<table>" + ("<tr>" + "<td>1</td>" * 1000 + "</tr>") * 1000 + "</table>"
    start = time.process_time()
    for spec in ("teds", "grits_con", "grits_top"):
        result = get_metric(spec).score(TableInput(million), TableInput(million))
        assert result.status is Status.METRIC_FAILED
    assert time.process_time() - start < 60 * slowness()


def test_comparisons_have_a_limit() -> None:
    check_pairs("cells", 10_000, 10_000, MAX_POSITION_PAIRS)
    with pytest.raises(FormatError, match="too large to compare: 10,001 and 10,000 cells"):
        check_pairs("cells", 10_001, 10_000, MAX_POSITION_PAIRS)


def test_markup_in_cells_is_tokens_only_for_normalize_none() -> None:
    plain = SPANNED.replace("<b>", "").replace("</b>", "").replace("<sup>", "").replace("</sup>", "")
    assert teds(SPANNED, plain) == 1.0
    assert teds(SPANNED, plain, normalize="none") < 1.0
    assert teds(MARKDOWN, MARKDOWN, normalize="none") == 1.0


@pytest.mark.parametrize("format", ["html", "latex"])
def test_a_perfect_copy_has_the_best_value_of_every_metric(format: str) -> None:
    """Whatever white space and line ends a truth has, writing and reading it loses nothing that counts."""
    truth = Table(
        2,
        2,
        (
            Cell(0, 0, "Pression\u202f(kPa)\nmesurée", header=True),
            Cell(0, 1, "1\u202f391,0\u00a0± 2"),
            Cell(1, 0, "a\u2009b\tc"),
            Cell(1, 1, "x < y & 5%"),
        ),
    )
    copy = read_table(write_table(truth, format))
    for name in METRICS:
        metadata = get_metric(name).metadata
        if metadata.kind == "table":
            best = metadata.range[1] if metadata.higher_is_better else metadata.range[0]
            assert score(truth, copy, metrics=[name])[name].value == pytest.approx(best), name


@pytest.mark.parametrize("text", ["<p>hello world</p>", "<b>", "<!-- hi", "<div>a<br>b</div>", "hello"])
def test_a_truth_without_any_table_is_a_failure(text: str) -> None:
    for pred in (text, "| a |\n|---|\n| b |"):
        found = score(text, pred, metrics=["reader", "teds"])
        assert {f.status for f in found.values()} == {Status.METRIC_FAILED}, found


@pytest.mark.parametrize("text", ["", "<table></table>", "<tr><td>1</td></tr>", "<td>1"])
def test_an_empty_table_and_a_piece_of_one_are_truths(text: str) -> None:
    assert score(text, text, metrics=["teds"])["teds"].value == 1.0


@pytest.mark.parametrize("text", ["hello", "<p>hello world</p>", "<b>", "<!-- hi"])
def test_a_truth_without_a_table_is_refused_whatever_tags_it_has(text: str) -> None:
    with pytest.raises(FormatError, match="No table was found"):
        TableInput(text).require_table()


@pytest.mark.parametrize("text", ["", "<table></table>", "<tr><td>a</td></tr>", "| a |\n|---|\n| b |"])
def test_an_empty_table_is_a_truth(text: str) -> None:
    TableInput(text).require_table()


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "a,b\r\n1,2", "\na,b\n1,2\n\n", "metal,\nlead,11"])
def test_a_text_that_is_two_rows_of_two_values_is_a_truth(text: str) -> None:
    TableInput(text).require_table()
    assert (TableInput(text).table.n_rows, TableInput(text).table.n_cols) == (2, 2)
    assert score(text, text, metrics=["teds"])["teds"].value == 1.0


@pytest.mark.parametrize("text", ["Well, yes\nNo, never", "a,b", "a,b\n1", "a,b\n\n1,2", "a,\nb,"])
def test_prose_and_single_rows_are_still_no_table(text: str) -> None:
    with pytest.raises(FormatError, match="truth_format"):
        TableInput(text).require_table()
