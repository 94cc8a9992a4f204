"""Figures know their range: a score from 0 to 10 is treated as one from 0 to 1 is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsemark.protocols.figures.aggregate import figure_of, mean_statistic
from parsemark.protocols.figures.figure import FigureInfo, FigureSums
from parsemark.protocols.figures.pair_verdicts import rank

SCORE = st.floats(0, 1).map(lambda score: round(score, 9))
"""Not the smallest floats: a mean of them is 0 in one unit and not in the other."""
SCORES = st.lists(st.tuples(SCORE, SCORE), min_size=3, max_size=15)


def of_scores(scores: list[tuple[float, float]], top: float) -> FigureSums:
    """The mean of the scores of two parsers, one page for each document, from 0 to `top`."""
    info = FigureInfo(name="x", label="X", definition="", denominator="pages", largest=top)
    names = tuple(f"d{k}" for k in range(len(scores)))
    sums = {
        parser: np.array([[score[k] * top, 1.0] for score in scores]) for k, parser in enumerate(("a", "b"))
    }
    return FigureSums(info, names, names, sums, mean_statistic)


@given(SCORES)
def test_the_range_of_a_score_changes_its_unit_alone(scores: list[tuple[float, float]]) -> None:
    one, ten = of_scores(scores, 1.0), of_scores(scores, 10.0)
    for parser in ("a", "b"):
        small, large = figure_of(one, parser), figure_of(ten, parser)
        assert large.interval == pytest.approx(tuple(10 * end for end in small.interval or ()), abs=1e-6)
        assert large.low is not None and large.value is not None and large.high is not None
        assert large.low - 1e-6 <= large.value <= large.high + 1e-6
    here, there = rank(one), rank(ten)
    assert [v.state for v in here.verdicts] == [v.state for v in there.verdicts]
    for v, w in zip(here.verdicts, there.verdicts, strict=True):
        assert w.difference == pytest.approx(10 * v.difference, abs=1e-6)
        assert v.low is not None and w.low == pytest.approx(10 * v.low, abs=1e-5)


def test_scores_go_up_to_one_unless_they_say_otherwise() -> None:
    named = {"name": "x", "label": "X", "definition": "", "denominator": ""}
    assert FigureInfo(**named).top == 1.0 and FigureInfo(**named).margin == 0.05
    assert FigureInfo(**named, largest=10.0).margin == 0.5
    assert (
        FigureInfo(**named, style="seconds").top is None and FigureInfo(**named, style="rate").margin is None
    )


@pytest.mark.parametrize(
    ("n", "said"), [(1, "1 document: there is no interval"), (2, "Fewer than 6 documents")]
)
def test_notes_say_what_so_few_documents_resolve(n: int, said: str) -> None:
    notes = rank(of_scores([(0.9, 0.2), (0.8, 0.4)][:n], 1.0)).notes
    assert notes[0].startswith(said)
    assert (n == 1) == (not any("intervals are wide" in note for note in notes))


@pytest.mark.parametrize("top", [1.0, 10.0])
def test_what_is_resolved_does_not_depend_on_where_intervals_are_cut(top: float) -> None:
    """No difference is above 1, so the interval of perfect against nothing ends there; what the documents
    resolve is the same as for two parsers that are equal on them.
    """
    apart, equal = (rank(of_scores([pair] * 14, top)) for pair in ((1.0, 0.0), (1.0, 1.0)))
    assert apart.verdicts[0].high == top
    assert apart.resolution == pytest.approx(equal.resolution) and "under" in apart.notes[0]
