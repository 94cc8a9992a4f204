"""What the worker kit makes of boxes."""

from hypothesis import given
from hypothesis import strategies as st
from tests.parsers.raws import as_raw

from parsemark.parsers import read_raw
from parsemark.parsers.kit.parsemark_worker import (
    cells_from_boxes,
    crop_offset,
    elements_output,
    shifted,
    table,
)

COORDINATES = st.floats(0, 500, allow_nan=False)


def places(boxes):
    return {(c["row"], c["col"], c["rowspan"], c["colspan"], c["text"]) for c in cells_from_boxes(boxes)}


def test_boxes_become_a_grid_with_spans() -> None:
    boxes = [
        ((0, 0, 100, 10), "both"),
        ((0, 10, 50, 20), "left"),
        ((50, 10.4, 100, 30), "tall"),
        ((0, 20, 50, 30), "below"),
    ]
    assert places(boxes) == {
        (0, 0, 1, 2, "both"),
        (1, 0, 1, 1, "left"),
        (1, 1, 2, 1, "tall"),
        (2, 0, 1, 1, "below"),
    }


@given(st.lists(st.tuples(COORDINATES, COORDINATES, COORDINATES, COORDINATES), max_size=25))
def test_any_boxes_become_a_valid_table(corners) -> None:
    boxes = [((min(a, c), min(b, d), max(a, c), max(b, d)), "x") for a, b, c, d in corners]
    prediction = read_raw(as_raw(elements_output([table(cells=cells_from_boxes(boxes))])), "s", "p")
    assert prediction.status == "ok"


def test_offset_of_the_shown_page_for_each_rotation() -> None:
    media, crop = (0, 0, 600, 800), (10, 20, 570, 760)
    assert crop_offset(media, crop, 0) == (10, 40)
    assert crop_offset(media, crop, 90) == (20, 10)
    assert crop_offset(media, crop, 180) == (30, 20)
    assert crop_offset(media, crop, 270) == (40, 30)
    assert crop_offset(media, crop, -90) == (40, 30)
    assert shifted((50, 60, 70, 80), (10, 40)) == (40, 20, 60, 40)


def test_rows_leave_holes_where_there_is_no_cell() -> None:
    raw = as_raw(elements_output([table([["a", None], [None, "d"]])]))
    (element,) = read_raw(raw, "s", "p").tables
    assert element.table is not None
    assert element.table.holes == ((0, 1), (1, 0))
