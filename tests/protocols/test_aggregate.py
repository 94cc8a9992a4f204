"""Figures know their range: a score from 0 to 10 is treated as one from 0 to 1 is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsemark.protocols.run_scores.aggregate import figure_of, mean_of_figures, mean_statistic
from parsemark.protocols.run_scores.pair_verdicts import rank
from parsemark.protocols.run_scores.slices import attribute_groups
from parsemark.protocols.run_scores.sums import DocumentSums, FigureSums
from parsemark.store.summary import FigureInfo

SCORE = st.floats(0, 1).map(lambda score: round(score, 9))
"""Not the smallest floats: a mean of them is 0 in one unit and not in the other."""
SCORES = st.lists(st.tuples(SCORE, SCORE), min_size=6, max_size=15)


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


@given(st.lists(st.tuples(SCORE, st.integers(1, 9), SCORE, st.integers(1, 9)), min_size=6, max_size=15))
def test_an_interval_of_a_mean_of_scores_weights_documents_as_its_verdicts_do(
    counted: list[tuple[float, int, float, int]],
) -> None:
    """A parser's interval is the same in its score and in a comparison on the same documents."""
    info = FigureInfo(name="x", label="X", definition="", denominator="pages")
    names = tuple(f"d{k}" for k in range(len(counted)))
    parts = [
        FigureSums(
            info, names, names, {"a": np.array([[s * n, n] for s, n in part], dtype=float)}, mean_statistic
        )
        for part in ([c[:2] for c in counted], [c[2:] for c in counted])
    ]
    both = mean_of_figures(info, parts)
    assert figure_of(both, "a").interval == pytest.approx(DocumentSums(both).interval("a"))


@pytest.mark.parametrize(("n", "said"), [(1, "1 document"), (2, "2 documents")])
def test_notes_say_what_so_few_documents_resolve(n: int, said: str) -> None:
    notes = rank(of_scores([(0.9, 0.2), (0.8, 0.4)][:n], 1.0)).notes
    assert notes == [f"{said}: confidence intervals and verdicts need at least 6."]


@pytest.mark.parametrize("top", [1.0, 10.0])
def test_what_is_resolved_does_not_depend_on_where_intervals_are_cut(top: float) -> None:
    """No difference is above 1, so the interval of perfect against nothing ends there; what the documents
    resolve is the same as for two parsers that are equal on them.
    """
    apart, equal = (rank(of_scores([pair] * 14, top)) for pair in ((1.0, 0.0), (1.0, 1.0)))
    assert apart.verdicts[0].high == top
    assert apart.resolution == pytest.approx(equal.resolution) and "under" in apart.notes[0]


def test_equal_numbers_are_one_group_however_they_are_written() -> None:
    sizes = [(1, {"size": 10}), (2, {"size": 10.0}), (3, {"size": 9.5}), (4, {"size": 1e300})]
    groups = {value: members for _, value, members in attribute_groups(sizes)}
    assert groups == {"10": [1, 2], "9.5": [3], "1e+300": [4]}
