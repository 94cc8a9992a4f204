from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.matching.cut_tables import CutPage, cut_page

from parsemark.matching import match_by_ngrams
from parsemark.matching.fragments import PieceClaims, assign_pieces
from parsemark.model import Box, Element, Table

HEADER = [["Region", "Revenue", "Cost", "Margin"]]
BODIES = [
    [["North", "12.1", "3.4", "8.7"], ["South", "22.9", "7.0", "15.9"]],
    [["Glass", "1044", "900", "144"], ["Steel", "2310", "1999", "311"], ["Wood", "77", "70", "7"]],
]


def worth(pieces: PieceClaims, assigned: list[int | None]) -> float:
    """Of a whole assignment: for each prediction the truth that it is a piece of, or None."""
    total = 0.0
    left = list(pieces.wholes)
    for p, t in enumerate(assigned):
        if t is None:
            continue
        total += float(pieces.gains(t, left[t])[p])
        left[t] = np.maximum(left[t] - pieces.claims[t][p], 0.0)
        total -= pieces.disorder(p, t, [(q, u) for q, u in enumerate(assigned[:p]) if u is not None])
    return total


def table(name: str, rows: list[list[str]], box: Box | None = None) -> Element:
    return Element(name, "table", box=box, table=Table.from_rows(rows))


TRUTHS = [table(f"t{k}", HEADER + body) for k, body in enumerate(BODIES)]


def answers(truth: list[Element], pred: list[Element]) -> dict[str, tuple[str, ...]]:
    return {m.truth[0]: m.pred for m in match_by_ngrams(truth, pred).matching.matches if m.truth}


def found(page: CutPage) -> list[int | None]:
    given = answers(page.truth, page.pred)
    place = {name: k for k, t in enumerate(page.truth) for name in given[t.id]}
    return [place.get(p.id) for p in page.pred]


def test_equal_headers_go_to_the_table_that_they_stand_above() -> None:
    pred = [table("h1", HEADER), table("b1", BODIES[0]), table("h2", HEADER), table("b2", BODIES[1])]
    assert answers(TRUTHS, pred) == {"t0": ("h1", "b1"), "t1": ("h2", "b2")}
    result = match_by_ngrams(TRUTHS, pred)
    assert all(m.kind == "split" and m.overlap == 1 for m in result.matching.matches)


def test_one_header_goes_to_the_nearest_table_in_reading_order() -> None:
    assert answers(TRUTHS, [table("h1", HEADER), table("b1", BODIES[0]), table("b2", BODIES[1])]) == {
        "t0": ("h1", "b1"),
        "t1": ("b2",),
    }
    assert answers(TRUTHS, [table("b1", BODIES[0]), table("b2", BODIES[1]), table("h2", HEADER)]) == {
        "t0": ("b1",),
        "t1": ("b2", "h2"),
    }


def test_boxes_decide_where_the_order_would_mislead() -> None:
    truth = [
        table("t0", HEADER + BODIES[0], Box(0, 0, 100, 100)),
        table("t1", HEADER + BODIES[1], Box(200, 0, 300, 100)),
    ]
    pred = [
        table("h2", HEADER, Box(200, 0, 300, 20)),
        table("h1", HEADER, Box(0, 0, 100, 20)),
        table("b1", BODIES[0], Box(0, 20, 100, 100)),
        table("b2", BODIES[1], Box(200, 20, 300, 100)),
    ]
    assert answers(truth, pred) == {"t0": ("h1", "b1"), "t1": ("h2", "b2")}


def test_the_same_table_twice_is_no_piece() -> None:
    kinds = [
        m.kind for m in match_by_ngrams(TRUTHS[:1], [table("a", HEADER + BODIES[0])] * 2).matching.matches
    ]
    assert kinds == ["pair", "extra"]


def test_a_small_row_of_a_large_table_is_a_piece() -> None:
    rows = [[f"item {k}", f"{k * 7919 % 10007}", f"{k * 104729 % 99991}"] for k in range(80)]
    pred = [table("p0", rows[:79]), table("p1", rows[79:])]
    assert answers([table("t", rows)], pred) == {"t": ("p0", "p1")}


def test_made_pages_with_tables_cut_in_every_way_get_the_known_assignment() -> None:
    wrong = [seed for seed in range(500) if found(page := cut_page(seed)) != page.known]
    assert len(wrong) <= 5, wrong


@st.composite
def claims(draw: st.DrawFn) -> PieceClaims:
    n_truths, n_preds = draw(st.integers(1, 3)), draw(st.integers(0, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    wholes = tuple(rng.integers(1, 4, 6).astype(float) for _ in range(n_truths))
    parts = tuple(
        np.minimum(rng.integers(0, 3, (n_preds, 6)), whole) * (rng.random((n_preds, 1)) < 0.8)
        for whole in wholes
    )
    shape = n_truths, n_preds
    foreign, inside, heights = rng.integers(0, 4, shape).astype(float), rng.random(shape), rng.random(shape)
    return PieceClaims(wholes, parts, foreign, inside, heights)


@settings(max_examples=150, deadline=None)
@given(claims())
def test_the_search_finds_the_best_of_all_assignments(pieces: PieceClaims) -> None:
    n_truths, n_preds = pieces.inside.shape
    every = product([None, *range(n_truths)], repeat=n_preds)
    best = max(worth(pieces, list(assigned)) for assigned in every)
    assert abs(worth(pieces, assign_pieces(pieces)) - best) < 1e-6


@settings(max_examples=60, deadline=None)
@given(st.integers(1000, 100_000))
def test_every_prediction_answers_one_truth_at_most_and_none_is_lost(seed: int) -> None:
    page = cut_page(seed)
    matches = match_by_ngrams(page.truth, page.pred).matching.matches
    assert sorted(p for m in matches for p in m.pred) == sorted(p.id for p in page.pred)
    assert {t for m in matches for t in m.truth} == {t.id for t in page.truth}
