"""Voting among parsers: which tables, which size, which text."""

from parsemark.model import Box, Element, Prediction, Table
from parsemark.parsers.ensemble import vote


def _prediction(parser: str, *tables: tuple[list[list[str]], Box | None]) -> Prediction:
    elements = tuple(
        Element(f"p{i}", "table", box=box, table=Table.from_rows(rows))
        for i, (rows, box) in enumerate(tables)
    )
    return Prediction("s", parser, elements=elements)


PLACE = Box(0, 0, 100, 50)
GOOD = [["a", "b"], ["1", "2"]]


def test_each_cell_takes_the_text_of_most_votes() -> None:
    said = [
        _prediction("x", ([["a", "b"], ["1", "9"]], PLACE)),
        _prediction("y", ([["a", "b"], ["7", "2"]], Box(1, 1, 99, 51))),
        _prediction("z", ([["a", "B"], ["1", "2"]], PLACE)),
    ]
    (found,) = vote(said)
    assert found.table is not None and found.table.text_rows() == GOOD
    assert found.confidence == 1.0 and found.box is not None and found.box.iou(PLACE) > 0.9


def test_a_table_that_few_see_is_no_table_and_the_share_is_the_confidence() -> None:
    elsewhere = Box(300, 300, 400, 400)
    said = [
        _prediction("x", (GOOD, PLACE), (GOOD, elsewhere)),
        _prediction("y", (GOOD, PLACE)),
        _prediction("z"),
    ]
    (found,) = vote(said)
    assert found.confidence == 2 / 3 and found.box is not None and found.box.iou(PLACE) > 0.9
    assert len(vote(said, min_share=0.0)) == 2


def test_tables_without_boxes_are_told_by_their_text() -> None:
    said = [
        _prediction("x", (GOOD, None)),
        _prediction("y", (GOOD, PLACE)),
        _prediction("z", ([["q"]], None)),
    ]
    (found,) = vote(said)
    assert found.table is not None and found.table.text_rows() == GOOD


def test_the_size_of_most_votes_wins() -> None:
    merged = [["a b"], ["1 2"]]
    said = [
        _prediction("x", (merged, PLACE)),
        _prediction("y", (GOOD, PLACE)),
        _prediction("z", (GOOD, PLACE)),
    ]
    (found,) = vote(said)
    assert found.table is not None and found.table.text_rows() == GOOD


def test_nobody_sees_anything() -> None:
    assert vote([_prediction("x"), _prediction("y")]) == []
