"""What is decided without looking closely has to be what a close look decides."""

from __future__ import annotations

import re
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from parsemark.formats import notation
from parsemark.formats.html import tables, tree
from parsemark.metrics import TableInput, get_metric
from parsemark.metrics.reader import likeness, metric, sheet, symbols, texts, value_kinds
from parsemark.metrics.reader.align import Likenesses, _similarities
from parsemark.metrics.reader.sheet import Sheet
from parsemark.metrics.reader.structure import Structure
from parsemark.metrics.reader.value_events import Asked
from parsemark.model import Table

_TAGS = ("<table>", "</table>", "<TABLE >", "</Table >", "<tr>", "</tr>", "<td>", "</td>", '<td rowspan="2">')
_ODD = ('<td colspan="1001">', "<!--", "-->", "<table", "</table", "<td x='", ">", "<", "a", "é", "İ", "\n")
_soup = st.lists(st.sampled_from(_TAGS + _ODD), max_size=14).map("".join)
_cells = st.text("019.ex -%,5aB×^{}_'~$*", max_size=12)
_texts = st.text("abeoßŁ한x0125.,e -±^{}_×'[]*", max_size=10) | st.sampled_from(["alpha", "alphabet", "2e5"])
_values = st.text("0125.,e -±^{}_×ab'", max_size=8)


_rows = st.lists(
    st.sampled_from(["", "alpha", "beta", "alpha beta", "12.3", "45", "3 45"]), min_size=3, max_size=3
)
_grids = st.lists(_rows, min_size=1, max_size=6)


def _spans(text: str) -> object:
    try:
        return tables.html_table_spans(text)
    except tables.FormatError as error:
        return str(error)


@given(st.one_of(_soup, _soup.map(lambda inside: f"<table><tr><td>{inside}</td></tr></table>")))
def test_the_span_of_a_plain_table_is_that_of_reading_every_tag(text: str) -> None:
    found = _spans(text)
    with mock.patch.object(tables, "_plain_span", lambda text: None):
        assert _spans(text) == found


@given(_cells)
def test_plain_texts_fold_to_themselves(text: str) -> None:
    fold = notation.fold_notation.__wrapped__
    found = fold(text)
    with mock.patch.object(notation, "_PLAIN", re.compile("(?!)")):
        assert fold(text) == found


@given(_cells | st.text("nauelxNo Ab", max_size=9) | st.text("0123456789.", max_size=6))
def test_plain_cells_fold_to_themselves(text: str) -> None:
    assert sheet.fold_cell(text) == sheet.folded_cell(text)


@given(_cells | st.text("0123456789.", max_size=6) | st.text("Aiz ", max_size=6))
def test_the_features_of_plain_texts_are_those_of_any_text(text: str) -> None:
    found = texts.features.__wrapped__(text)
    never = re.compile("(?!)")
    with mock.patch.multiple(texts, _DECIMAL=never, _WORDS=never):
        assert texts.features.__wrapped__(text) == found


@given(
    st.one_of(_soup, st.lists(st.sampled_from(["<b>", "<tdx>", "< td>", "<", "<H<8", "</sup>"])).map("".join))
)
def test_tags_of_tables_are_no_stray_angles(text: str) -> None:
    found = tree.has_stray_angles(text)
    with mock.patch.object(tree, "_OTHER_TAG", re.compile("")):
        assert tree.has_stray_angles(text) == found


@given(_values, _values, st.booleans())
def test_other_digits_are_another_value(truth: str, pred: str, name: bool) -> None:
    differ = likeness._difference.__wrapped__
    found = differ(truth, pred, name)
    with mock.patch.object(likeness, "_digits", lambda text: 0):
        assert differ(truth, pred, name) == found


@given(
    st.lists(st.lists(st.sampled_from(["a", "1", "-", "", " "]), min_size=3, max_size=3), max_size=4),
    st.none() | st.integers(0, 4),
)
def test_the_sheet_of_plain_rows_is_that_of_their_cells(
    rows: list[list[str]], header_rows: int | None
) -> None:
    table = Table.from_rows(rows, header_rows)
    found = Sheet.from_table(table)
    table.__dict__["plain_rows"] = None
    assert Sheet.from_table(table) == found


@given(st.lists(_cells | st.sampled_from(["alpha", "null", "12.3", "a\nb", "\n", ""]), max_size=6))
def test_cells_are_folded_together_as_each_is_alone(said: list[str]) -> None:
    assert sheet._folded(said) == list(map(sheet.fold_cell, said))


@given(_grids, st.booleans())
def test_the_values_of_whole_rows_are_those_of_looking_at_each_cell(
    rows: list[list[str]], named: bool
) -> None:
    truth = Sheet.from_rows(rows)
    structure = Structure(0, ((), (0,), (0,)) if named else ((), (), ()), frozenset())
    weights = {
        (r, c): 1.0 if text else 0.3
        for r, row in enumerate(truth.texts)
        for c, text in enumerate(row)
        if truth.present[r][c] and (c or not named or not any(truth.present[r][1:]))
    }
    for r, row in enumerate(truth.texts):  # one remark for a whole row is one value
        of_row = [c for c in range(3) if (r, c) in weights]
        said = {row[c] for c in of_row}
        if len(of_row) > 1 and len(said) == 1 and all(len(text) > 1 and text.isalpha() for text in said):
            weights |= dict.fromkeys([(r, c) for c in of_row], 1 / len(of_row))
    asked = Asked(truth, structure, 0.3)
    assert list(asked.weights.items()) == list(weights.items())
    assert asked.of_row == {
        row: sum(w for (r, _), w in weights.items() if r == row) for row in {r for r, _ in weights}
    }
    assert asked.of_column == {
        col: sum(w for (_, c), w in weights.items() if c == col) for col in {c for _, c in weights}
    }


_columns = st.lists(st.sampled_from(["1", "2", "3", "4"]), min_size=7, max_size=7)


@given(_grids)
def test_cells_that_say_something_are_known_by_their_numbers(rows: list[list[str]]) -> None:
    found = Likenesses(Sheet.from_rows(rows))
    assert [[found.texts[number] for number in row] for row in found.ids] == rows
    assert found.filled.tolist() == [[bool(text) for text in row] for row in rows]


@pytest.mark.parametrize("begin", ["<html><body>", "<!DOCTYPE html>\n<html lang='en'>\n<BODY >\n"])
def test_the_frame_of_a_page_is_no_text(begin: str) -> None:
    rows = "<tr><td>body</td><td>html</td></tr><tr><td>a</td><td>1</td></tr>"
    framed = TableInput(f"{begin}<table>{rows}</table></body></html>")
    assert framed.pages == TableInput(f"<table>{rows}</table>").pages
    assert not framed.pages.lines


@given(st.lists(st.text("xoXO*<>|~a1×", max_size=2), min_size=1, max_size=4))
def test_symbols_are_found_in_plain_texts_as_in_others(said: list[str]) -> None:
    found = symbols._used(Sheet(*[[said]] * 5, None))
    assert found == (set(said) & set("xXoO")) | (set("".join(said)) & symbols._SYMBOLS)


@given(_grids, _grids, st.sampled_from(["", "alpha 12.3 45", "Table 1"]))
def test_a_form_is_given_up_only_where_another_is_better(
    truth: list[list[str]], pred: list[list[str]], line: str
) -> None:
    one, other = (_markdown(rows) for rows in (truth, pred))
    found = _read(one, f"{other}\n\n{line}")
    with mock.patch.object(metric, "_ROUNDING", 100.0):  # no form is given up
        assert _read(one, f"{other}\n\n{line}") == found


_lengths = st.lists(st.text("ab1", max_size=5) | st.sampled_from(["a" * 64, "b" * 65, "ab" * 50]), max_size=5)


@given(_lengths, _lengths)
def test_long_texts_are_compared_as_short_ones_are(one: list[str], other: list[str]) -> None:
    every = cdist(one, other, scorer=Levenshtein.normalized_similarity, dtype=np.float32)
    assert _similarities(one, other).tolist() == every.tolist()


def _markdown(rows: list[list[str]]) -> str:
    head, *body = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([head, "|---|---|---|", *body])


def _read(truth: str, pred: str) -> object:
    return get_metric("reader").compute(TableInput(truth), TableInput(pred))


# One pattern that says plainly what `may_have_other_ways` looks for in parts.
_OTHER_WAYS = re.compile(
    r"(?i)[:(△▲▵☐☒☑🗹⊠▢\[+$€£¥₹年~∼…]|\d\s?(?:to|bis|h|-|\.\.)\s?\d|\d\s?[ap]\.?m\b"
    r"|(?:1[5-9]|20)\d\d[-/.]|[-/.\s](?:1[5-9]|20)\d\d|USD|EUR|GBP|JPY|INR|CHF|CNY|RMB"
)
_PIECES = (
    *"0129 -./\nx:年m",
    "to",
    "Bis",
    "H",
    "..",
    "a.m",
    "PM",
    "pm",
    "1",
    "15",
    "20",
    "2019",
    "usd",
    "Rmb",
)


@settings(max_examples=500)
@given(st.lists(st.sampled_from(_PIECES), max_size=7).map("".join))
def test_no_other_way_to_write_a_value_is_overlooked(text: str) -> None:
    assert value_kinds.may_have_other_ways(text) == bool(_OTHER_WAYS.search(text))
