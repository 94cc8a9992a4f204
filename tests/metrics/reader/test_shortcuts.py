"""What is decided without looking closely has to be what a close look decides."""

from __future__ import annotations

import re
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from parsemark.formats import notation
from parsemark.formats.html import scan
from parsemark.metrics.reader import likeness

_TAGS = ("<table>", "</table>", "<TABLE >", "</Table >", "<tr>", "</tr>", "<td>", "</td>", '<td rowspan="2">')
_ODD = ('<td colspan="1001">', "<!--", "-->", "<table", "</table", "<td x='", ">", "<", "a", "é", "İ", "\n")
_soup = st.lists(st.sampled_from(_TAGS + _ODD), max_size=14).map("".join)
_cells = st.text("019.ex -%,5aB×^{}_'~$*", max_size=12)
_values = st.text("0125.,e -±^{}_×ab'", max_size=8)


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


@given(_values, _values, st.booleans())
def test_other_digits_are_another_value(truth: str, pred: str, name: bool) -> None:
    differ = likeness._difference.__wrapped__
    found = differ(truth, pred, name)
    with mock.patch.object(likeness, "_digits", lambda text: ()):
        assert differ(truth, pred, name) == found
