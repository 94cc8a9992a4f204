"""Edits of a table: what they do, that they keep a table a table, and what they refuse."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsemark.consensus.starting_page import SURE, Start, consensus, start_page
from parsemark.model import Box, Cell, Element, Page, Prediction, Relation, Status, Table
from parsemark.report.mathml import mathml
from parsemark.web.annotate.edits import EditError, apply
from parsemark.web.annotate.page_state import differences, unchanged_cells

ROWS = [["a", "b", "c"], ["d", "e", "f"], ["g", "h", "i"]]


def page_of(table: Table) -> Page:
    return Page(
        "p",
        600,
        800,
        (Element("t1", "table", order=1, table=table), Element("b1", "text_block", order=2, text="x")),
    )


def edited(page: Page, *edits: dict[str, Any]) -> Table:
    for edit in edits:
        page = apply(page, {"element": "t1", **edit})
    table = page.elements[0].table
    assert table is not None
    return table


START = page_of(Table.from_rows(ROWS, 1))


def test_each_edit_does_what_it_says() -> None:
    assert edited(START, {"do": "text", "row": 1, "col": 2, "text": "F"}).cell_at(1, 2) == Cell(
        1, 2, "F", header=False
    )
    merged = edited(START, {"do": "merge", "row": 0, "col": 0, "to_row": 0, "to_col": 1})
    assert merged.cell_at(0, 1) == Cell(0, 0, "a b", 1, 2, True)
    assert edited(page_of(merged), {"do": "split", "row": 0, "col": 1}).text_rows()[0] == ["a b", "", "c"]
    assert edited(START, {"do": "insert_row", "at": 1}).text_rows()[:2] == [["a", "b", "c"], ["", "", ""]]
    assert edited(START, {"do": "delete_row", "at": 0}).text_rows() == ROWS[1:]
    assert edited(START, {"do": "insert_col", "at": 3}).text_rows()[0] == ["a", "b", "c", ""]
    assert edited(START, {"do": "delete_col", "at": 1}).text_rows()[1] == ["d", "f"]
    assert edited(START, {"do": "header", "row": 1, "col": 0}).cell_at(1, 0).header is True  # type: ignore[union-attr]
    headers = edited(START, {"do": "header_rows", "count": 2})
    assert [c.header for c in headers.cells] == [True] * 6 + [False] * 3


def test_pasted_texts_split_the_merged_cells_that_they_fall_on() -> None:
    cells = (Cell(0, 0, "a", rowspan=2), Cell(0, 1, "b", colspan=2), Cell(1, 1, "c"), Cell(1, 2, "d"))
    page = page_of(Table(2, 3, cells))
    texts = [["A1", "B1", "C1"], ["A2", "B2", "C2"]]
    assert edited(page, {"do": "paste", "row": 0, "col": 0, "texts": texts}).text_rows() == texts
    holes = [["x", "y", ""], ["", "z", "w"]]  # as a copy of the table itself gives them
    table = edited(page, {"do": "paste", "row": 0, "col": 0, "texts": holes})
    assert [(c.text, c.rowspan, c.colspan) for c in table.cells[:2]] == [("x", 2, 1), ("y", 1, 2)]


def test_cells_that_nobody_touched_are_found_after_rows_came_and_went() -> None:
    table = START.elements[0].table
    assert table is not None
    grown = edited(START, {"do": "insert_row", "at": 1}, {"do": "text", "row": 2, "col": 1, "text": "E"})
    found = unchanged_cells(table, grown)
    assert found[0, 2] == (0, 2) and found[1, 0] == (2, 0) and found[2, 1] == (3, 1) and (1, 1) not in found
    assert unchanged_cells(table, edited(START, {"do": "delete_row", "at": 0}))[2, 2] == (1, 2)


def test_transposing_twice_keeps_a_second_header_row() -> None:
    page = page_of(Table.from_rows([["a", "b", "c"], ["d", "e", "f"], ["1", "2", "3"]], 2))
    once = edited(page, {"do": "transpose"})
    assert {c.row for c in once.cells if c.header} == {0, 1}
    twice = edited(page, {"do": "transpose"}, {"do": "transpose"})
    assert {c.row for c in twice.cells if c.header} == {0, 1}


def test_rows_inside_of_a_merged_cell_stretch_and_shrink_it() -> None:
    tall = edited(START, {"do": "merge", "row": 0, "col": 0, "to_row": 1, "to_col": 0})
    grown = edited(page_of(tall), {"do": "insert_row", "at": 1})
    assert grown.cell_at(2, 0) == grown.cell_at(0, 0)
    assert grown.cell_at(0, 0).rowspan == 3  # type: ignore[union-attr]
    assert edited(page_of(grown), {"do": "delete_row", "at": 1}).cell_at(0, 0).rowspan == 2  # type: ignore[union-attr]


_place = st.integers(-1, 4)
_edits = st.one_of(
    st.fixed_dictionaries({"do": st.just("text"), "row": _place, "col": _place, "text": st.text(max_size=5)}),
    st.fixed_dictionaries(
        {"do": st.just("merge"), "row": _place, "col": _place, "to_row": _place, "to_col": _place}
    ),
    st.fixed_dictionaries({"do": st.sampled_from(["split", "header"]), "row": _place, "col": _place}),
    st.fixed_dictionaries(
        {"do": st.sampled_from(["insert_row", "delete_row", "insert_col", "delete_col"]), "at": _place}
    ),
    st.fixed_dictionaries({"do": st.just("header_rows"), "count": _place}),
)


@given(st.lists(_edits, max_size=25))
def test_any_sequence_of_edits_leaves_a_table(edits: list[dict[str, Any]]) -> None:
    page = START
    for edit in edits:
        try:
            page = apply(page, {"element": "t1", **edit})
        except EditError:
            continue
        table = page.elements[0].table
        assert table is not None and table.n_rows >= 1 and table.n_cols >= 1  # a Table checks itself


@pytest.mark.parametrize(
    "edit",
    [
        {}, {"do": "fly"}, {"do": ["text"]}, {"do": "text", "element": "gone"},
        {"do": "text", "element": "b1"},
        {"do": "text", "row": 0, "col": 0, "text": 5}, {"do": "text", "row": 9, "col": 0, "text": ""},
        {"do": "text", "row": True, "col": 0, "text": ""}, {"do": "insert_row", "at": 10**9},
        {"do": "box", "box": [1, 2, 3]}, {"do": "box", "box": [-402, 20, -184, 90]},
        {"do": "box", "box": [10, 20, 601, 90]}, {"do": "box", "box": [10, 20, 10, 90]},
        {"do": "add", "box": [10, 700, 20, 900]},
        {"do": "box", "box": [0, 0, 1e300, 1]},
        {"do": "category", "category": "poem"}, {"do": "category", "category": "text_block"},
        {"do": "content", "text": "x"}, {"do": "add", "category": "x"},
        {"do": "move", "by": 7}, {"do": "text", "row": 0, "col": 0, "text": "x" * 200_000},
    ],
)  # fmt: skip
def test_impossible_edits_are_refused(edit: dict[str, Any]) -> None:
    with pytest.raises(EditError):
        apply(START, {"element": "t1", **edit})


def test_elements_are_added_moved_and_removed() -> None:
    page = apply(START, {"do": "add", "category": "equation_isolated", "box": [9, 9, 1, 1]})
    added = page.elements[-1]
    assert (added.id, added.latex, added.box and added.box.as_tuple()) == ("b2", "", (1, 1, 9, 9))
    page = apply(page, {"do": "content", "element": "b2", "text": "x^2"})
    assert page.elements[-1].latex == "x^2"
    page = apply(page, {"do": "move", "element": "b2", "by": -1})
    assert [e.id for e in sorted(page.elements, key=lambda e: e.order or 0)] == ["t1", "b2", "b1"]
    assert apply(page, {"do": "no_table"}).tables == ()
    assert len(apply(page, {"do": "remove", "element": "b1"}).elements) == 2


def test_differences_are_named() -> None:
    other = apply(START, {"do": "text", "element": "t1", "row": 1, "col": 1, "text": "E"})
    other = apply(other, {"do": "remove", "element": "b1"})
    found = [(d.element, d.what, d.before, d.after) for d in differences(START, other)]
    assert found == [("t1", "row 2, column 2: text", "e", "E"), ("b1", "removed", "x", "")]
    assert differences(START, START) == []


@given(st.lists(_edits, max_size=6))
def test_applied_to_the_first_version_differences_tell_all(edits: list[dict[str, Any]]) -> None:
    page = START
    for edit in edits:
        try:
            page = apply(page, {"element": "t1", **edit})
        except EditError:
            continue
    before, after = (replace(p, elements=p.elements[:1]) for p in (START, page))
    same = [_content(p) for p in (before, after)]
    assert bool(differences(before, after)) == (same[0] != same[1])


def _content(page: Page) -> object:
    (element,) = page.elements
    assert element.table is not None
    cells = {(c.row, c.col, c.text, c.rowspan, c.colspan, bool(c.header)) for c in element.table.cells}
    return element.table.n_rows, element.table.n_cols, cells


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        (
            [{"do": "insert_col", "at": 1}, {"do": "text", "row": 2, "col": 0, "text": "G"}],
            [("column 2 added", "", " |  | "), ("row 3, column 1: text", "g", "G")],
        ),
        (
            [{"do": "delete_row", "at": 1}, {"do": "text", "row": 1, "col": 2, "text": "I"}],
            [("row 2 removed", "d | e | f", ""), ("row 2, column 3: text", "i", "I")],
        ),
        (  # the shape is as before, but not the rows
            [{"do": "insert_row", "at": 0}, {"do": "delete_row", "at": 3}],
            [("row 3 removed", "g | h | i", ""), ("row 1 added", "", " |  | ")],
        ),
    ],
)
def test_changed_cells_are_named_where_the_shape_has_changed(
    edits: list[dict[str, Any]], expected: list[tuple[str, str, str]]
) -> None:
    after = page_of(edited(START, *edits))
    assert [(d.what, d.before, d.after) for d in differences(START, after)] == expected


def test_a_merged_cell_that_a_new_row_stretches_is_the_same_cell() -> None:
    tall = page_of(edited(START, {"do": "merge", "row": 1, "col": 0, "to_row": 2, "to_col": 0}))
    grown = page_of(edited(tall, {"do": "insert_row", "at": 2}))
    assert [d.what for d in differences(tall, grown)] == ["row 3 added"]


def test_very_long_tables_are_compared_in_place() -> None:
    rows = [[str(k)] for k in range(2000)]
    old, new = (page_of(Table.from_rows(r)) for r in (rows, [[f"{r[0]}!"] for r in rows] + [["end"]]))
    found = differences(old, new)
    assert len(found) == 2001 and found[0].what == "row 2001 added"


def test_what_parsers_place_beyond_the_page_ends_at_its_edge() -> None:
    boxes = [Box(-5, 10, 100, 900), Box(700, 10, 800, 20), None]
    elements = tuple(Element(f"b{k}", "text_block", box=box, text="x") for k, box in enumerate(boxes))
    page = start_page(Page("p", 600, 800), Start(elements, {}, {}))
    assert [e.box for e in page.elements] == [Box(0, 10, 100, 800), None, None]


def predicted(parser: str, rows: list[list[str]], status: Status = Status.OK) -> Prediction:
    return Prediction("p", parser, status, (Element("x", "table", table=Table.from_rows(rows)),))


def agreed(predictions: list[Prediction], **engines: str) -> Start:
    return consensus({p.parser: p for p in predictions}, engines)


def uncertain_cells(start: Start, element: str) -> list[tuple[int, int]]:
    return sorted(place for place, share in start.agreement[element].items() if share < SURE)


def test_the_consensus_is_what_most_say() -> None:
    wrong = [["a", "b", "c"], ["d", "e", "F"], ["g", "h", "i"]]
    start = agreed(
        [predicted("1", ROWS), predicted("2", wrong), predicted("3", ROWS), predicted("4", ROWS[:2])]
    )
    (element,) = start.elements
    assert element.table is not None and element.table.text_rows() == ROWS
    assert start.support[element.id] == 1
    assert uncertain_cells(start, element.id) == [(1, 2)]
    assert agreed([]).elements == ()
    assert agreed([predicted("1", ROWS, Status.PARSER_FAILED)]).elements == ()


def test_a_part_of_a_table_is_no_second_table() -> None:
    whole = Element("x", "table", box=Box(0, 0, 100, 100), table=Table.from_rows(ROWS))
    part = Element("y", "table", box=Box(40, 10, 90, 90), table=Table.from_rows([["7", "8"], ["9", "0"]]))
    aside = replace(part, box=Box(0, 200, 50, 260))
    found = agreed(
        [Prediction("p", "1", Status.OK, (whole,)), Prediction("p", "2", Status.OK, (part, aside))]
    )
    assert [element.box for element in found.elements] == [whole.box, aside.box]


def test_a_table_of_one_among_many_is_left_out() -> None:
    other = [["quite", "another"], ["table", "here"]]
    start = agreed([predicted("1", ROWS), predicted("2", ROWS), predicted("3", ROWS), predicted("4", other)])
    assert len(start.elements) == 1


def test_silence_is_heard() -> None:
    """One parser of four is no third of them, whether the others see another table or none."""
    silent = [Prediction("p", name, Status.OK) for name in "234"]
    assert agreed([predicted("1", ROWS), *silent]).elements == ()
    assert agreed([predicted("1", ROWS), *silent[:2]]).support == {"t1": 1 / 3}


def test_nothing_is_certain_of_a_table_that_one_sees_alone() -> None:
    alone = agreed([predicted("1", ROWS), Prediction("p", "2", Status.OK)])
    assert len(uncertain_cells(alone, "t1")) == 9
    assert uncertain_cells(agreed([predicted("1", ROWS)]), "t1") == [], "there is nobody else to ask"


def test_clones_have_one_vote() -> None:
    wrong = [["a", "b", "c"], ["d", "e", "F"], ["g", "h", "i"]]
    clones = [predicted(name, wrong) for name in ("k1", "k2", "k3")]
    others = [predicted("x", ROWS), predicted("y", ROWS)]
    (apart,) = agreed([*clones, *others]).elements
    assert apart.table is not None and apart.table.text_rows() == wrong
    start = agreed([*clones, *others], k1="k", k2="k", k3="k")
    assert start.elements[0].table is not None and start.elements[0].table.text_rows() == ROWS
    assert start.agreement["t1"][1, 2] == pytest.approx(2 / 3) and start.agreement["t1"][0, 0] == 1
    lone = [Prediction("p", name, Status.OK) for name in "zvw"]
    assert agreed([*clones, *lone], k1="k", k2="k", k3="k").elements == ()


@pytest.mark.parametrize(
    "latex", ["x^2", "$\\frac{a}{b}$", "\\[\\sum_{i=1}^n x_i\\]", "\\alpha + \\mathrm{d}x"]
)
def test_formulas_become_mathml(latex: str) -> None:
    found = mathml(latex)
    assert found is not None and found.startswith("<math")


@given(st.text(max_size=200) | st.text(alphabet='\\{}<>&;^_$abfrc/script=" ', max_size=120))
def test_mathml_holds_nothing_but_mathematics(latex: str) -> None:
    found = mathml(latex)
    if found is not None:
        assert "<script" not in found and "href" not in found and "style=" not in found and " on" not in found


def test_attributes_and_affiliations_are_edits_like_others() -> None:
    lines = "with_span: true\nlanguage: en: us\nrows: 3\nshare: -0.5\nyear: nan\n\nempty:"
    page = apply(START, {"do": "attributes", "element": "t1", "text": lines})
    assert page.elements[0].attributes == {
        "with_span": True, "language": "en: us", "rows": 3, "share": -0.5, "year": "nan", "empty": "",
    }  # fmt: skip
    page = apply(page, {"do": "attributes", "element": None, "text": "layout: single_column"})
    assert page.attributes == {"layout": "single_column"}
    page = apply(page, {"do": "belongs", "element": "b1", "to": "t1"})
    assert apply(page, {"do": "belongs", "element": "b1", "to": "t1"}) == page
    assert page.relations == (Relation("parent_son", "t1", "b1"),)
    assert {(d.element, d.what) for d in differences(START, page)} == {
        ("t1", "attributes"), ("page", "attributes"), ("", "affiliation"),
    }  # fmt: skip
    assert apply(page, {"do": "remove", "element": "t1"}).relations == ()
    assert apply(page, {"do": "belongs", "element": "b1", "to": None}).relations == ()
    for wrong in (
        {"do": "attributes", "element": "t1", "text": "no colon"},
        {"do": "attributes", "element": "t1", "text": "a: " + "x" * 300},
        {"do": "attributes", "element": "t1", "text": "\n".join(f"a{k}: 1" for k in range(101))},
        {"do": "attributes", "element": "gone", "text": "a: 1"},
        {"do": "attributes", "element": "t1", "text": 7},
        {"do": "belongs", "element": "b1", "to": "b1"},
        {"do": "belongs", "element": "b1", "to": ["t1"]},
    ):
        with pytest.raises(EditError):
            apply(page, wrong)
