"""Formulas of Soric et al. that need several predictions at once, worked out by hand."""

import pytest
from tests.protocols.tables_bench import LEFT, RIGHT, ROWS_A, ROWS_B, Bench, table, value

from parsemark.model import Box, Element, Table
from parsemark.protocols import Figure

ONE_CELL_WRONG = [["metal", "density"], ["copper", "8.96"], ["lead", "zzzzz"]]
"""Against `ROWS_B`: GriTS-Con 5/6, TEDS 8/9 (nine nodes below the root, one renamed), GriTS-Top 1."""
NOWHERE = Box(400, 400, 450, 450)


def test_structure_weighted_precision_recall_and_average_precision() -> None:
    bench = Bench()
    # Three truths. By confidence: exact (.9), false (.8), one cell wrong (.7), unsure and exact (.4).
    bench.add("x", "p1", table("a", ROWS_A, LEFT, 0.9), table("b", ROWS_A, NOWHERE, 0.8))
    bench.add("x", "p2", table("a", ONE_CELL_WRONG, LEFT, 0.7))
    bench.add("x", "empty", table("a", ROWS_B, LEFT, 0.4))
    summary = bench.summary()
    # P+ = {.9, .8, .7}: the unsure one is not positive.
    for short, s in (("top", 1.0), ("con", 5 / 6), ("teds", 8 / 9)):
        assert value(summary, "x", f"te_precision_{short}") == pytest.approx((1 + s) / 3)
        assert value(summary, "x", f"te_recall_{short}") == pytest.approx((1 + s) / 3)
        # R^TSR rises by 1/3 at P^TSR = 1 and by s/3 at P^TSR = (1 + s)/3; false ones add no area.
        assert value(summary, "x", f"ap_{short}") == pytest.approx(1 / 3 * 1 + s / 3 * (1 + s) / 3)
        assert value(summary, "x", f"tsr_{short}") == pytest.approx((1 + s) / 2)
    assert summary.parsers["x"]["tsr_con"].n == 2
    points = summary.details["curves"]["x"]["bbox"]["con"]
    assert [p[2] for p in points] == [0.9, 0.8, 0.7, 0.4]
    assert [p[1] for p in points] == pytest.approx([1, 1 / 2, (1 + 5 / 6) / 3, (1 + 5 / 6) / 4])


def test_structure_given_detection_leaves_out_what_was_not_found() -> None:
    bench = Bench()
    # The right table with IoU 1/2 is not found (J > θ is strict), so its perfect structure does not count.
    bench.add("x", "p1", table("a", ROWS_A, Box(0, 0, 100, 50)))
    bench.add("x", "p2", table("a", ONE_CELL_WRONG, LEFT))
    summary = bench.summary()
    assert value(summary, "x", "tsr_con") == pytest.approx(5 / 6)
    assert value(summary, "x", "te_recall_con") == pytest.approx(5 / 6 / 3)
    assert value(summary, "x", "te_precision_con") == pytest.approx(5 / 6 / 2)


def test_agreement_of_content_with_boxes() -> None:
    bench = Bench()
    # Content and box agree; box alone (other text); content alone (other place); neither.
    bench.add("x", "p1", table("a", ROWS_A, LEFT), table("b", [["q", "w"], ["z", "v"]], RIGHT))
    bench.add("x", "p2", table("a", ROWS_B, NOWHERE))
    bench.add("x", "empty", table("a", ROWS_A, LEFT))
    figures = bench.summary().parsers["x"]
    # Content says yes twice, once rightly; boxes say yes twice, content sees one of them.
    assert figures["content_for_bbox_precision"] == Figure(value=0.5, n=2)
    assert figures["content_for_bbox_recall"] == Figure(value=0.5, n=2)


def test_agreement_of_content_with_boxes_leaves_out_what_is_under_the_threshold() -> None:
    bench = Bench()
    sure, unsure = table("a", ROWS_A, LEFT, 0.9), table("b", ROWS_B, NOWHERE, 0.3)
    bench.add("x", "p1", sure)
    bench.add("x", "p2", unsure)
    figures = bench.summary().parsers["x"]
    # The unsure one has the right text at a wrong place, but is no prediction of a table.
    assert figures["content_for_bbox_precision"] == Figure(value=1.0, n=1)
    assert figures["content_for_bbox_recall"] == Figure(value=1.0, n=1)


def without_box(name: str, rows: list[list[str]]) -> Element:
    return Element(name, "table", table=Table.from_rows(rows))


def test_pieces_of_a_split_table_earn_one_credit_together() -> None:
    bench = Bench()
    bench.add("x", "p1", without_box("a", ROWS_A[:2]), without_box("b", [ROWS_A[0], *ROWS_A[2:]]))
    summary = bench.summary()
    assert summary.settings["match"] == "ngrams"
    # Two predictions, one true table of three found: its two pieces earn 1 in recall and 1 of 2 in precision.
    assert value(summary, "x", "td_recall") == pytest.approx(1 / 3)
    assert value(summary, "x", "td_precision") == pytest.approx(1 / 2)
    assert value(summary, "x", "te_recall_con") == pytest.approx(1 / 3)
    assert value(summary, "x", "te_precision_con") == pytest.approx(1 / 2)
    assert value(summary, "x", "td_f1") == pytest.approx(2 * (1 / 3) * (1 / 2) / (1 / 3 + 1 / 2))


def test_merged_tables_are_one_detection_and_a_miss() -> None:
    bench = Bench()
    bench.add("x", "p1", without_box("a", ROWS_A + ROWS_B))
    bench.add("x", "empty", without_box("a", [["q", "w"], ["z", "v"]]))
    summary = bench.summary()
    # Of three truths one is found, one was merged with it; two predictions, of which the merged one is right.
    assert value(summary, "x", "td_recall") == pytest.approx(1 / 3)
    assert value(summary, "x", "merged_tables") == 1
    kinds = [m.kind for s in bench.scores for m in s.matches if m.rule == "ngrams" and m.sample == "p1"]
    assert kinds == ["merge", "miss"]
    assert value(summary, "x", "td_precision") == pytest.approx(1 / 2)
    assert value(summary, "x", "te_precision_teds") == pytest.approx(1 / 2)
    assert value(summary, "x", "false_tables_per_negative_page") == 1


def test_sensitivity_to_the_threshold() -> None:
    bench = Bench()
    # Overlaps 1, .85 and .65 with three truths: found at θ .5 and .6 are three, then two, two, one.
    bench.add("x", "p1", table("a", ROWS_A, LEFT), table("b", ROWS_B, Box(200, 0, 300, 85)))
    bench.add("x", "p2", table("a", ROWS_B, Box(0, 0, 100, 65)))
    summary = bench.summary()
    found = [value(summary, "x", f"td_f1_at_{theta}") for theta in (0.5, 0.6, 0.7, 0.8, 0.9)]
    assert found == pytest.approx([1, 1, 2 / 3, 2 / 3, 1 / 3])
    weighted = (0.6 * 1 + 0.7 * 2 / 3 + 0.8 * 2 / 3 + 0.9 * 1 / 3) / 3
    assert value(summary, "x", "wavg_f1") == pytest.approx(weighted)
