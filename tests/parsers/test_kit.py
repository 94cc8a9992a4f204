"""What the worker kit makes of boxes."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parsers.raws import as_raw

from parsemark.parsers import read_raw
from parsemark.parsers.kit.parsemark_http import asked_seconds
from parsemark.parsers.kit.parsemark_worker import (
    cell,
    cells_apart,
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


def test_cells_that_lie_on_each_other_are_set_apart() -> None:
    given = [
        cell(0, 0, "wide", colspan=2, rowspan=2),
        cell(1, 1, "under"),
        cell(2, 0, "long", colspan=3),
        cell(1, 2, "down", rowspan=2),
        cell(0, 2, "none", rowspan=0, colspan=-1),
    ]
    assert [(c["row"], c["col"], c["rowspan"], c["colspan"], c["text"]) for c in cells_apart(given)] == [
        (0, 0, 2, 2, "wide under"),
        (2, 0, 1, 3, "long"),
        (1, 2, 1, 1, "down"),
        (0, 2, 1, 1, "none"),
    ]


_SMALL = st.integers(0, 6)


@given(st.lists(st.tuples(_SMALL, _SMALL, st.integers(-1, 5), st.integers(-1, 5)), max_size=15))
def test_any_cells_are_set_apart(places) -> None:
    cells = cells_apart(cell(r, c, f"t{i}", rowspan=h, colspan=w) for i, (r, c, h, w) in enumerate(places))
    prediction = read_raw(as_raw(elements_output([table(cells=cells)])), "s", "p")
    assert prediction.status == "ok"
    said = " ".join(c["text"] for c in cells).split()
    assert sorted(said) == sorted(f"t{i}" for i in range(len(places))), "no text is lost"


def test_how_long_a_service_asks_to_wait() -> None:
    assert asked_seconds("7") == 7 and asked_seconds("1.5") == 1.5 and asked_seconds("-3") == 0
    then = datetime.now(UTC) + timedelta(seconds=90)
    assert asked_seconds(format_datetime(then, usegmt=True)) == pytest.approx(90, abs=60)
    assert asked_seconds("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert asked_seconds(None) is None and asked_seconds("soon") is None and asked_seconds("") is None


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
