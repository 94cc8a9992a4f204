import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsemark.errors import FormatError
from parsemark.formats.model_json import (
    page_from_json,
    page_to_json,
    prediction_from_json,
    prediction_to_json,
)
from parsemark.model import Box, Cell, Element, Page, Prediction, Relation, Status, Table

coordinate = st.floats(0, 1000, allow_nan=False)
boxes = st.tuples(coordinate, coordinate, coordinate, coordinate).map(
    lambda v: Box(min(v[0], v[2]), min(v[1], v[3]), max(v[0], v[2]), max(v[1], v[3]))
)
text = st.text(max_size=10)
tables = st.lists(st.lists(text, max_size=3), max_size=3).map(Table.from_rows)
spanning = st.just(
    Table(2, 2, (Cell(0, 0, "a", rowspan=2, header=True, box=Box(0, 0, 1, 1)), Cell(0, 1, "b")))
)
elements = st.builds(
    Element,
    id=st.text(min_size=1, max_size=5),
    category=st.sampled_from(["table", "title"]),
    box=st.none() | boxes,
    order=st.none() | st.integers(0, 9),
    text=st.none() | text,
    latex=st.none() | text,
    html=st.none() | text,
    table=st.none() | tables | spanning,
    confidence=st.none() | st.floats(0, 1),
    ignore=st.booleans(),
    attributes=st.dictionaries(text, text | st.booleans() | st.none(), max_size=2),
)


@given(st.lists(elements, max_size=3))
def test_pages_survive_json(found: list[Element]) -> None:
    page = Page("p", 10.0, 20.0, tuple(found), (Relation("truncated", "a", "b"),), {"layout": "one"})
    assert page_from_json(json.loads(json.dumps(page_to_json(page)))) == page


@given(st.lists(elements, max_size=3), st.sampled_from(Status), st.none() | text)
def test_predictions_survive_json(found: list[Element], status: Status, message: str | None) -> None:
    prediction = Prediction("s", "p", status, tuple(found), text=message, message=message)
    assert prediction_from_json(json.loads(json.dumps(prediction_to_json(prediction)))) == prediction


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"id": "p", "width": "wide", "height": 1, "elements": []},
        {"id": "p", "width": 1, "height": 1, "elements": [{"id": "e"}]},
        {"id": "p", "width": 1, "height": 1, "elements": [{"id": "e", "category": "t", "box": [1, 2]}]},
        {"id": "p", "width": 1, "height": 1, "elements": [{"id": "e", "category": "t", "box": [5, 0, 1, 1]}]},
        {"id": "p", "width": 1, "height": 1, "elements": 3},
    ],
)
def test_damaged_data_is_a_format_error(data: dict[str, object]) -> None:
    with pytest.raises(FormatError):
        page_from_json(data)


@pytest.mark.parametrize("field", ['"width": {}, "height": 1', '"width": 1, "height": 1, "box": {}'])
def test_a_number_that_no_page_has_is_refused(field: str) -> None:
    numbers, _, box = field.partition(', "box"')
    huge = "1" + "0" * 400
    element = f'{{"id": "e", "category": "table", "box": [0, 0, {huge if box else 1}, 1]}}'
    with pytest.raises(FormatError, match="is not valid"):
        page_from_json(json.loads(f'{{"id": "p", {numbers.format(huge)}, "elements": [{element}]}}'))
