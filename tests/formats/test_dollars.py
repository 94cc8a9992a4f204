"""One decision about `$` in Markdown: reading keeps every dollar, in cells as in texts; comparing drops those
that stand around math, on both sides alike, and no others.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsemark import read_document, read_table
from parsemark.formats.notation import fold_notation
from parsemark.protocols.document.strict.page import in_one_notation

PIECES = ("$", "$ ", " ", "a", "5", "x1", "_", "_b_", "\\$", "(", ",", "PATH", "\\alpha ", "**c**")


def read_both(text: str) -> tuple[str, str]:
    """What a cell and a paragraph of this text say."""
    (paragraph,) = read_document(f"Say {text} end").elements
    return read_table(f"| Say {text} end |\n|---|").text_rows()[0][0], paragraph.text or ""


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=9).map("".join))
def test_reading_keeps_every_dollar_the_same_in_cells_and_texts(text: str) -> None:
    if "$$" in text:
        return  # a display formula, where a text has one
    cell, paragraph = read_both(text)
    assert cell.count("$") == paragraph.count("$") == text.count("$")
    assert " ".join(cell.split()) == " ".join(paragraph.split())


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("costs $5 to $6", "costs $5 to $6"),
        ("US$ 5, A$ 6", "US$ 5, A$ 6"),
        ("_$EXEC_PREFIX_ is set", "$EXEC_PREFIX is set"),
        (r"a \$5 note", "a $5 note"),
        ("$x$ and $ y $", "x and y"),
        (r"0.72$\pm$5", "0.72±5"),
    ],
)
def test_comparing_drops_the_dollars_around_math_alone(written: str, folded: str) -> None:
    for said in read_both(written):
        assert in_one_notation(said) == in_one_notation(f"Say {folded} end")


def test_a_lost_dollar_is_a_difference() -> None:
    assert fold_notation("$EXEC_PREFIX") != fold_notation("EXEC_PREFIX")
    assert fold_notation("costs $5") != fold_notation("costs 5")
