"""Lines of scripts from right to left: from places back to the text."""

from __future__ import annotations

import random
import unicodedata
from itertools import groupby, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsemark.pdf.direction import PlacedSign, in_reading_order


def placed(line: str, *, turned: bool = True, gaps: str = "") -> list[PlacedSign]:
    """Glyphs as they are painted from left to right; a blank that is given as `_` takes room and is none."""
    signs: list[PlacedSign] = []
    x = 0.0
    for glyph in line.split("|") if "|" in line else list(line):
        width = 30.0 if glyph == "\t" else 5.0
        if glyph not in ("_", "\t"):
            signs += [PlacedSign(len(signs) + k, sign, x, x + 5, 10) for k, sign in enumerate(glyph)]
        x += width
    signs = signs[::-1] if turned else signs  # as most readers do, those of a ligature as well
    return signs + [PlacedSign(1000 + k, " ", 0, 0, 10, generated=True) for k, _ in enumerate(gaps)]


def read(signs: list[PlacedSign], *, mostly_right: bool = True) -> str:
    return "".join(sign.text for sign in in_reading_order(signs, mostly_right=mostly_right))


@pytest.mark.parametrize(
    ("painted", "text"),
    [
        ("םולש", "שלום"),
        ("אב :12 גד", "דג 12: בא"),
        (".ףוס ,ןושאר", "ראשון, סוף."),
        ("1,234.5 ריחמ", "מחיר 1,234.5"),
        ("12% זוחא", "אחוז 12%"),  # signs of numbers stay with them in Hebrew,
        ("%12 ةبسن", "نسبة 12%"),  # and not in Arabic
        ("רבדמ Word One אוה", "הוא Word One מדבר"),
        ("20 10 םירפסמ", "מספרים 10 20"),
    ],
)
def test_lines(painted: str, text: str) -> None:
    assert read(placed(painted)) == text


@pytest.mark.parametrize("given_as", ["()", ")("])
def test_brackets_open_before_they_close(given_as: str) -> None:
    left, right = given_as
    assert read(placed(f"{left}1 הלבט ואר{right}")) == "(ראו טבלה 1)"


def test_ligatures_are_read_as_they_are_written() -> None:
    assert read(placed("ق|لإ|ا")) == read(placed("ق|لإ|ا", turned=False)) == "الإق"
    two = [PlacedSign(0, "ل", 5, 10, 10), PlacedSign(1, "ا", 5, 9, 10), PlacedSign(2, "ب", 0, 5, 10)]
    assert read(two) == read(two[::-1]) == "لاب"  # two glyphs in one place, which are no ligature


def test_marks_stay_on_their_letters() -> None:
    signs = [PlacedSign(0, "ב", 5, 10, 10), PlacedSign(1, "\u05bc", 6, 6, 10), PlacedSign(2, "א", 0, 5, 10)]
    assert read(signs) == "ב\u05bcא"


def test_a_phrase_in_a_line_from_left_to_right() -> None:
    assert read(placed("the word םולש 3 הנש here"), mostly_right=False) == "the word שנה 3 שלום here"


def test_cells_stand_for_themselves() -> None:
    """A number in its own cell is not turned by the letters of the next one."""
    assert read(placed("12%\t%34 ةبسن")) == "نسبة 34%12%"


def test_numbers_alone_on_a_page_from_right_to_left() -> None:
    assert read(placed("0.1_±_0.8", gaps="  ")) == "0.8 ± 0.1"
    assert read(placed("9,342.2+")) == "+9,342.2"
    assert read(placed("2022_2023", gaps=" ")) == "2023 2022"


def test_made_up_blanks_stand_between_words() -> None:
    assert read(placed("דג_בא", gaps=" ")) == "אב גד"


_LETTERS = {"R": "אבגדהוזחטיכלמנסעפצקרשת", "AL": "بتثجحخدذرزسشصضطظعغفقكمنهوي", "L": "abcdefghXYZ"}


def shown(text: str) -> str:
    """A text from right to left as it is painted, by the rules: words of letters and digits, and blanks."""
    words = [list(group) for _, group in groupby(text, key=lambda c: c == " ")]
    runs: list[list[list[str]]] = []
    for word in words:
        is_left = unicodedata.bidirectional(word[0]) == "L"
        blank = word == [" "]
        if runs and is_left and len(runs) > 1 and runs[-1] == [[" "]] and runs[-2][0][0] in _LETTERS["L"]:
            runs[-2:] = [[*runs[-2], *runs[-1], word]]
        else:
            runs.append([[" "]] if blank else [word])
    painted = ""
    for run in reversed(runs):
        for word in run:
            kind = unicodedata.bidirectional(word[0])
            painted += "".join(reversed(word) if kind in ("R", "AL") else word)
    return painted


@given(
    st.lists(
        st.tuples(st.sampled_from(["R", "AL", "L", "EN"]), st.integers(0, 10**6)), min_size=1, max_size=7
    )
)
def test_what_the_rules_paint_is_read_again(words: list[tuple[str, int]]) -> None:
    said = []
    for kind, seed in words:
        dice = random.Random(seed)
        said.append(
            str(dice.randint(1, 9999))
            if kind == "EN"
            else "".join(dice.choices(_LETTERS[kind], k=dice.randint(1, 6)))
        )
    kinds = [kind for kind, _ in words]
    if any({a, b} == {"EN", "L"} for a, b in pairwise(kinds)):
        return  # a number beside a foreign word: both orders look the same
    line = " ".join(["שלום" * 20, *said, "سلام" * 20])
    assert read(placed(shown(line))) == line
