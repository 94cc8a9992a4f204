"""What is decided without looking closely has to be what a close look decides."""

from __future__ import annotations

import re
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from parsemark.formats import notation
from parsemark.formats.html import scan, tree
from parsemark.metrics.reader import likeness, rejoin, sheet
from parsemark.metrics.reader.align import Lookup, align
from parsemark.metrics.reader.sheet import Sheet

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
        return scan.html_table_spans(text)
    except scan.FormatError as error:
        return str(error)


@given(st.one_of(_soup, _soup.map(lambda inside: f"<table><tr><td>{inside}</td></tr></table>")))
def test_the_span_of_a_plain_table_is_that_of_reading_every_tag(text: str) -> None:
    found = _spans(text)
    with mock.patch.object(scan, "_plain_span", lambda text: None):
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
    found = likeness.features.__wrapped__(text)
    never = re.compile("(?!)")
    with mock.patch.multiple(likeness, _DECIMAL=never, _WORDS=never):
        assert likeness.features.__wrapped__(text) == found


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


@given(_texts, st.lists(_texts, min_size=1, max_size=3))
def test_no_text_is_more_like_another_than_its_pieces_allow(truth: str, pieces: list[str]) -> None:
    held = sum(likeness.weight(piece, truth) for piece in pieces)
    assert likeness.likeness(truth, " ".join(filter(None, pieces))) <= likeness.most_alike(held, truth) + 1e-9


@given(_texts, _texts, st.sampled_from([0.3, 0.5, 0.8]))
def test_names_of_which_one_is_much_longer_are_not_alike(truth: str, pred: str, least: float) -> None:
    alike = likeness.difference(truth, pred, name=True).likeness > least
    assert likeness.may_be_alike(truth, pred, least) or not alike


@given(_grids, _grids)
def test_torn_rows_are_those_of_trying_every_group(truth: list[list[str]], pred: list[list[str]]) -> None:
    sheets = Sheet.stacked([], truth, 3), Sheet.stacked([], pred, 3)
    alignment = align(Lookup(*sheets), 1)
    found = rejoin.joined_rows(*sheets, alignment)
    with mock.patch.object(rejoin, "most_alike", lambda held, truth: 1.0):
        assert rejoin.joined_rows(*sheets, alignment) == found
