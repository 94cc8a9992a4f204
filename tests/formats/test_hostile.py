"""Hostile input: a FormatError or tables, in bounded time, and nothing else ever."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import slowness, uncollected

from parsemark.errors import FormatError
from parsemark.formats import FORMATS, read_tables

from .strategies import PIECES

MAX_CPU_S = 10.0
"""Far above what is needed (at most 3 s), so that slow machines pass; quadratic scans take hours."""

_LAUGHS = "".join(f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(20))
_HEAD = "| a | b |\n|---|---|\n| "

REFUSED = {
    "a colspan of a milliard": '<table><tr><td colspan="999999999">a</td></tr></table>',
    "a rowspan of ten thousand digits": f'<table><tr><td rowspan="{"9" * 9_000}">a</td></tr></table>',
    "spans that multiply": "<table>" + "<tr><td rowspan=1000 colspan=1000>a</td></tr>" * 10 + "</table>",
    "ten thousand nested tags": "<table><tr><td>" + "<b>" * 10_000 + "x</table>",
    "ten thousand nested tables": "<table><tr><td>" * 10_000,
    "fifty million pipes": "|" * 50_000_000,
    "rows of pipes": ("|" * 20_000 + "\n") * 100,
    "a million rows": "| a | b |\n" * 400_000,
    "a LaTeX row without end": r"\begin{tabular}{l}" + "&" * 900_000,
    "a million cells": "<table>" + "<td>" * 1_000_000,
    "many tables": "| a |\n|---|\n| b |\n\n" * 9_999,
    "a huge drawing": ("+-" * 700 + "+\n" + "| " * 700 + "|\n") * 700,
    "a wide aligned text": ("a  " * 600 + "b\n") * 420,
    "a cell without end": _HEAD + "x" * 1_000_000 + " | b |",
}

ENDURED = {
    "a staircase": "".join(" " * i + "a  b\n" for i in range(3_000)),
    "laughs": f'<!DOCTYPE t [<!ENTITY a "ha">{_LAUGHS}]><table><tr><td>&u;</td></tr></table>',
    "NUL and lone surrogates": "| \ud800 | b |\n|---|---|\n" + "| \ud800\udfff | \x00 |\n" * 1_000,
    "pipes in one line": "|" * 4_900_000,
    "angle brackets": "<" * 4_900_000,
    "brackets in a cell": "<table><tr><td>" + "<" * 90_000 + "</table>",
    "open comments": "<!--" * 1_000_000,
    "dollars": f"{_HEAD}{'$' * 90_000} | b |",
    "prices": f"{_HEAD}{'$x ' * 30_000} | b |",
    "backticks": f"{_HEAD}{' '.join('`' * i for i in range(1, 400))} | b |",
    "stars": f"{_HEAD}{'**a *b ' * 12_000} | b |",
    "links": f"{_HEAD}{'[a](b ' * 15_000} | b |",
    "open math": f"{_HEAD}{chr(92) + '(' * 45_000} | b |",
    "backslashes": f"{_HEAD}{chr(92) * 90_000} | b |",
    "spaces in a rule": "a|b\n|-" + " " * 900_000 + "x\n",
    "corners": "+-" * 2_400_000,
    "quotes": '"' * 4_900_000,
    "rules": "-- " * 400_000 + "x\n",
    "attributes": ("<td " + "colspan" + " " * 9_000) * 300,
    "box drawing": "┌" * 3_000_000,
}


def read_within_limits(text: str, format: str | None = None) -> bool:
    """Whether the text was read (and not refused)."""
    started = time.process_time()
    with uncollected():
        try:
            for found in read_tables(text, format):
                assert found.source == text[found.start : found.end]
        except FormatError as error:
            assert len(str(error)) < 500
            return False
        finally:
            assert time.process_time() - started < MAX_CPU_S * slowness()
    return True


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_over_the_limits_is_refused(name: str) -> None:
    assert not read_within_limits(REFUSED[name])


@pytest.mark.parametrize("name", ENDURED)
def test_what_is_strange_is_endured(name: str) -> None:
    assert read_within_limits(ENDURED[name])


def test_an_error_tells_the_place() -> None:
    text = 'x\n\n<table><tr><td colspan="999999999">a</td></tr></table>'
    with pytest.raises(FormatError) as caught:
        read_tables(text)
    assert caught.value.position == text.index("colspan")


def test_controls_and_surrogates_become_replacement_characters() -> None:
    (found,) = read_tables("<table><tr><td>a\x00\ud800b</td></tr></table>")
    assert found.table.cells[0].text == "a\ufffd\ufffdb"
    assert "\x00" in found.source


_TAGS = ["<table>", "<tr>", "<td colspan=3>", "<td rowspan=2>", "</tr>", "<th>", "</td>", "<!--", "<math>"]
_LINES = ["| a | b |\n", "|---|---|\n", "+---+---+\n", "+===+\n", "a  b  c\n", "a,b,c\n", "a\tb\n", "```\n"]
_TEX = ["\\begin{tabular}{lc}", "\\end{tabular}", " & ", "\\\\", "\\multicolumn{2}{c}{x}", "{", "}", "%"]
FUZZ = st.lists(st.sampled_from(_TAGS + _LINES + _TEX) | PIECES | st.text(max_size=5), max_size=30)


@given(FUZZ.map("".join), st.sampled_from([None, *FORMATS]))
def test_only_format_errors_come_out(text: str, format: str | None) -> None:
    read_within_limits(text, format)
