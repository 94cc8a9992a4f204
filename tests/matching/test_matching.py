from itertools import combinations, permutations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from parsemark.matching import match_by_ngrams, match_one_to_one
from parsemark.matching.combine import slice_rows, stack_tables
from parsemark.matching.tables import assign, assign_by_confidence
from parsemark.model import Box, Cell, Element, Table

ROWS_A = [["city", "people"], ["Lisbon", "545 796"], ["Porto", "231 800"], ["Braga", "193 324"]]
ROWS_B = [["metal", "density"], ["copper", "8.96"], ["lead", "11.34"], ["zinc", "7.14"]]


def table(
    name: str, rows: list[list[str]], box: Box | None = None, confidence: float | None = None
) -> Element:
    return Element(name, "table", box=box, table=Table.from_rows(rows), confidence=confidence)


def test_boxes_are_matched_by_overlap_and_the_rest_is_kept() -> None:
    truth = [table("t1", ROWS_A, Box(0, 0, 10, 10)), table("t2", ROWS_B, Box(0, 20, 10, 30))]
    pred = [table("p1", ROWS_B, Box(0, 21, 10, 30)), table("p2", ROWS_A, Box(50, 50, 60, 60))]
    kinds = {(m.truth, m.pred): m.kind for m in match_one_to_one("bbox", truth, pred).matches}
    assert kinds == {(("t1",), ()): "miss", (("t2",), ("p1",)): "pair", ((), ("p2",)): "extra"}


def test_the_assignment_is_optimal_not_greedy() -> None:
    similarity = np.array([[0.9, 0.8], [0.8, 0.0]])
    pairs = {m.truth: m.pred for m in assign("x", ["a", "b"], ["p", "q"], similarity).pairs}
    assert pairs == {("a",): ("q",), ("b",): ("p",)}


def test_an_unsure_prediction_never_takes_a_truth_from_a_sure_one() -> None:
    matching = assign("x", ["a"], ["sure", "unsure"], np.array([[0.6, 0.9]]), [True, False])
    assert [m.pred for m in matching.pairs] == [("sure",)]


@given(
    st.integers(0, 5).flatmap(
        lambda n: st.integers(0, 5).flatmap(
            lambda m: st.lists(st.lists(st.floats(0, 1), min_size=m, max_size=m), min_size=n, max_size=n).map(
                lambda rows: np.array(rows, dtype=float).reshape(n, m)
            )
        )
    )
)
def test_everything_occurs_exactly_once(similarity: np.ndarray) -> None:
    truth = [f"t{k}" for k in range(similarity.shape[0])]
    pred = [f"p{k}" for k in range(similarity.shape[1])]
    matching = assign("x", truth, pred, similarity)
    assert sorted(t for m in matching.matches for t in m.truth) == truth
    assert sorted(p for m in matching.matches for p in m.pred) == pred


def test_content_finds_the_table_without_boxes() -> None:
    matching = match_one_to_one("content", [table("t1", ROWS_A), table("t2", ROWS_B)], [table("p", ROWS_B)])
    assert {m.truth: m.pred for m in matching.pairs} == {("t2",): ("p",)}
    assert matching.pairs[0].overlap == 1


def test_a_split_table_is_put_together_without_its_repeated_header() -> None:
    upper, lower = ROWS_A[:2], [ROWS_A[0], *ROWS_A[2:]]
    result = match_by_ngrams([table("t", ROWS_A)], [table("p1", upper), table("p2", lower)])
    (match,) = result.matching.matches
    assert (match.kind, match.pred) == ("split", ("p1", "p2"))
    assert result.answers["t"].text_rows() == ROWS_A
    assert match.overlap == 1


def test_a_merged_table_is_one_detection_of_the_rows_it_holds_best() -> None:
    truth = [table("t1", ROWS_A), table("t2", ROWS_B)]
    result = match_by_ngrams(truth, [table("p", ROWS_A + ROWS_B)])
    assert [(m.truth, m.pred, m.overlap) for m in result.matching.matches] == [
        (("t1", "t2"), ("p",), 1.0),
        (("t2",), (), None),
    ]
    assert [m.kind for m in result.matching.matches] == ["merge", "miss"]
    assert result.answers["t1"].text_rows() == ROWS_A


def test_merged_tables_are_cut_in_whatever_order_they_come() -> None:
    truth = [table("t1", ROWS_A), table("t2", ROWS_B)]
    result = match_by_ngrams(truth, [table("p", ROWS_B + ROWS_A)])
    assert result.answers["t1"].text_rows() == ROWS_A
    assert [m.kind for m in result.matching.matches] == ["merge", "miss"]


def test_equal_tables_reported_once_count_once() -> None:
    truth = [table("t1", ROWS_A), table("t2", ROWS_A)]
    once = match_by_ngrams(truth, [table("p", ROWS_A)]).matching
    assert [m.kind for m in once.matches] == ["pair", "miss"]
    both = match_by_ngrams(truth, [table("p", ROWS_A + ROWS_A)]).matching
    assert sorted(m.kind for m in both.matches) == ["merge", "miss"]


def test_tables_of_symbols_can_match() -> None:
    for rows in ([["✓", "✗"], ["✗", "✗"]], [["–", "…"], ["+", "–"]]):
        (match,) = match_by_ngrams([table("t", rows)], [table("p", rows)]).matching.matches
        assert (match.kind, match.overlap) == ("pair", 1)


def test_columns_that_were_split_are_put_side_by_side() -> None:
    rows = [[f"{name} {k}" for name in ("alpha", "beta", "gamma", "delta")] for k in range(6)]
    left, right = [row[:2] for row in rows], [row[2:] for row in rows]
    for pieces in (
        [table("p1", left), table("p2", right)],
        [table("p1", right, Box(300, 0, 400, 90)), table("p2", left, Box(0, 0, 100, 90))],
    ):
        result = match_by_ngrams([table("t", rows)], pieces)
        assert [m.kind for m in result.matching.matches] == ["split"]
        assert result.answers["t"].text_rows() == rows


def test_as_many_as_possible_are_found_before_they_are_found_well() -> None:
    # The largest sum, 1 + .45, finds one table; .51 + .51 finds two.
    similarity = np.array([[1.0, 0.51], [0.51, 0.45]])
    pairs = {m.truth: m.pred for m in assign("x", ["a", "b"], ["p", "q"], similarity).pairs}
    assert pairs == {("a",): ("q",), ("b",): ("p",)}


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 4))
def test_the_assignment_equals_the_best_of_all(seed: int, n: int, m: int) -> None:
    similarity = np.random.default_rng(seed).random((n, m))
    found = [o.overlap for o in assign("x", list(range(n)), list(range(m)), similarity).pairs]

    def worth(values: list[float]) -> tuple[int, float]:
        return sum(v > 0.5 for v in values), sum(values)

    size = min(n, m)
    everything = [
        worth([similarity[r, c] for r, c in zip(rows, cols, strict=True)])
        for rows in combinations(range(n), size)
        for cols in permutations(range(m), size)
    ]
    best = max(everything)
    assert worth(found)[0] == best[0]
    assert worth(found)[1] >= best[1] - 1e-9


def test_a_weak_duplicate_takes_no_truth_from_a_strong_prediction() -> None:
    similarity = np.array([[0.6, 0.9]])
    ranked = assign_by_confidence("x", ["t"], ["strong", "weak"], similarity, [0.9, 0.3])
    assert [m.pred for m in ranked.pairs] == [("strong",)]
    too_little = assign_by_confidence("x", ["t"], ["strong", "weak"], np.array([[0.4, 0.9]]), [0.9, 0.3])
    assert [m.pred for m in too_little.pairs] == [("weak",)]


def test_an_unrelated_table_is_an_extra() -> None:
    result = match_by_ngrams([table("t", ROWS_A)], [table("p", [["qqq", "www"], ["zzz", "vvv"]])])
    assert [m.kind for m in result.matching.matches] == ["miss", "extra"]


def test_noise_does_not_confuse_the_assignment() -> None:
    rng = np.random.default_rng(0)
    tables = [[[f"{rng.integers(1e6)}" for _ in range(4)] for _ in range(6)] for _ in range(5)]
    noisy = [
        [["".join(c if rng.random() > 0.15 else "x" for c in text) for text in row] for row in rows]
        for rows in reversed(tables)
    ]
    truth = [table(f"t{k}", rows) for k, rows in enumerate(tables)]
    pred = [table(f"p{4 - k}", rows) for k, rows in enumerate(noisy)]
    matching = match_by_ngrams(truth, pred).matching
    assert {m.truth[0][1:]: m.pred[0][1:] for m in matching.pairs} == {str(k): str(k) for k in range(5)}


def test_spans_are_shortened_at_a_cut() -> None:
    tall = Table(3, 1, (Cell(0, 0, "a", rowspan=3),))
    assert slice_rows(tall, 1, 3).cells == (Cell(0, 0, "a", rowspan=2),)


def test_stacking_keeps_everything_when_nothing_repeats() -> None:
    stacked = stack_tables([Table.from_rows(ROWS_A), Table.from_rows(ROWS_B)])
    assert stacked.text_rows() == ROWS_A + ROWS_B


def test_the_solver_is_scipys_and_its_twin_gives_the_same_pairs() -> None:
    """Loaded by itself, it is the same function; without scipy, equal costs are broken in the same way."""
    import numpy as np
    from scipy.optimize import linear_sum_assignment as reference

    from parsemark.kernels.assignment import linear_sum_assignment, shortest_paths

    rng = np.random.default_rng(4)
    for turn in range(400):
        costs = rng.integers(0, 1 + turn % 5, (rng.integers(0, 9), rng.integers(0, 9))).astype(float)
        costs += rng.random(costs.shape) if turn % 3 == 0 else 0
        for solver in (linear_sum_assignment(), shortest_paths):
            found, expected = solver(costs, maximize=turn % 2 == 1), reference(costs, maximize=turn % 2 == 1)
            assert all((a == b).all() for a, b in zip(found, expected, strict=True))
