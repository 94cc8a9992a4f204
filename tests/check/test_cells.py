"""`check`: cells in another row or column than on the page, and what must not be taken for that."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsemark.matching.page_evidence import OutputTable, compare
from parsemark.matching.page_findings.cells import MisplacedCells, misplaced_cells
from parsemark.model import Box, Prediction, Table
from parsemark.pdf.layer_samples import SeenPage, SeenWord

WORDS = [
    "alder",
    "birch",
    "cedar",
    "maple",
    "willow",
    "poplar",
    "linden",
    "spruce",
    "larch",
    "hazel",
    "rowan",
    "cherry",
    "walnut",
    "olive",
    "almond",
    "laurel",
    "myrtle",
    "acacia",
    "baobab",
    "ginkgo",
    "cypress",
    "juniper",
    "hemlock",
    "redwood",
    "sequoia",
    "mahogany",
    "teak",
    "ebony",
    "rosewood",
    "balsa",
]
GRID = [["Tree", "Height", "Girth", "Origin", "Use"]] + [WORDS[k : k + 5] for k in range(0, 30, 5)]


def page_of(rows: Sequence[Sequence[str]], width: float = 90, height: float = 20) -> SeenPage:
    """Return a page on which each cell begins at the left edge of its column."""
    words = []
    for r, row in enumerate(rows):
        for c, cell in enumerate(row):
            x = 50 + width * c
            for text in cell.split():
                box = Box(x, 50 + height * r, x + 5 * len(text), 60 + height * r)
                words.append(SeenWord(text, box, r, True, False, ""))
                x += 5 * len(text) + 3
    return SeenPage(600, 800, tuple(words), "layer")


def markdown(rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|---" * len(rows[0]) + "|", *lines[1:]])


def found_in(page: SeenPage, text: str) -> list[MisplacedCells]:
    return list(misplaced_cells(compare(page, Prediction("", "", text=text))))


def details(rows: Sequence[Sequence[str]], page: SeenPage | None = None) -> list[str]:
    return [found.detail for found in found_in(page or page_of(GRID), markdown(rows))]


def changed(*cells: tuple[int, int, str], rows: Sequence[Sequence[str]] = GRID) -> list[list[str]]:
    copy = [list(row) for row in rows]
    for r, c, text in cells:
        copy[r][c] = text
    return copy


def test_an_untouched_table_has_no_findings() -> None:
    assert details(GRID) == []


def test_exchanged_cells_are_found_in_rows_and_columns() -> None:
    in_row = changed((2, 1, GRID[2][3]), (2, 3, GRID[2][1]))
    assert details(in_row) == ["exchanged with " + GRID[2][1]]
    in_column = changed((2, 1, GRID[4][1]), (4, 1, GRID[2][1]))
    assert details(in_column) == ["exchanged with " + GRID[2][1]]


def test_what_follows_a_dropped_empty_cell_is_one_finding() -> None:
    page = page_of(changed((3, 1, "")))
    row = [GRID[3][0], *GRID[3][2:], ""]
    found = found_in(page, markdown([*GRID[:3], row, *GRID[4:]]))
    assert [one.detail for one in found] == ["in columns 2 to 4, the PDF has them 1 column later"]
    assert len(found[0].cells) == 3


def test_a_column_that_is_a_row_too_low_is_one_finding() -> None:
    rows = changed((1, 2, ""), *((r + 1, 2, GRID[r][2]) for r in range(1, 6)))
    assert details(rows) == ["in rows 3 to 7, the PDF has them 1 row earlier"]


REPEATED = [["Day", "First", "Second", "Third"]] + [
    [day, *(WORDS[(r * k) % 5] for k in (1, 2, 3))]
    for r, day in enumerate(("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"))
]


def test_exchanged_cells_are_found_whose_words_stand_at_many_places() -> None:
    assert details(REPEATED, page_of(REPEATED)) == []
    first, second = REPEATED[2][1], REPEATED[2][3]
    in_row = changed((2, 1, second), (2, 3, first), rows=REPEATED)
    assert details(in_row, page_of(REPEATED)) == [f"exchanged with {first}"]
    first, second = REPEATED[2][2], REPEATED[5][2]
    in_column = changed((2, 2, second), (5, 2, first), rows=REPEATED)
    assert details(in_column, page_of(REPEATED)) == [f"exchanged with {first}"]


@pytest.mark.parametrize("rows", [[row[:2] for row in GRID], GRID[:2]], ids=["two columns", "two rows"])
def test_exchanged_cells_are_found_in_tables_of_two_rows_or_columns(rows: list[list[str]]) -> None:
    r, c = len(rows) - 1, len(rows[0]) - 1
    other = (1, c) if c == 1 else (r, 1)
    exchanged = changed((r, c, rows[other[0]][other[1]]), (*other, rows[r][c]), rows=rows)
    assert details(rows, page_of(rows)) == []
    (detail,) = details(exchanged, page_of(rows))
    assert detail.startswith("exchanged with")


def test_exchanged_cells_are_found_where_the_text_is_turned() -> None:
    rows = [[f"{cell} {WORDS[-1 - c]}" for c, cell in enumerate(row)] for row in GRID[1:]]
    words = []
    for r, row in enumerate(rows):
        for c, cell in enumerate(row):
            first, second = cell.split()
            x, y = 50 + 20 * c, 700 - 110 * r
            for text, y1 in ((first, y), (second, y - 5 * len(first) - 3)):
                box = Box(x, y1 - 5 * len(text), x + 10, y1)
                words.append(SeenWord(text, box, 10 * r + c, True, False, ""))
    page = SeenPage(600, 800, tuple(words), "layer")
    assert details(rows[::-1], page) == []
    exchanged = changed((2, 1, rows[2][3]), (2, 3, rows[2][1]), rows=rows)
    assert details(exchanged[::-1], page) == [f"exchanged with {rows[2][1]}"]


def test_one_cell_that_is_a_place_before_its_own_is_found_at_the_end_of_a_row_alone() -> None:
    page = page_of(changed((3, 3, "")))
    assert details(changed((3, 3, GRID[3][4]), (3, 4, "")), page) == [
        "in column 4, the PDF has it in column 5"
    ]
    page = page_of(changed((3, 1, ""), (3, 2, "subtotal")))  # at the end of two merged cells
    assert details(changed((3, 1, "subtotal"), (3, 2, "")), page) == []


def test_one_cell_that_is_a_row_too_low_is_found_and_one_too_high_is_not() -> None:
    page = page_of(changed((4, 2, "")))
    assert details(changed((3, 2, ""), (4, 2, GRID[3][2])), page) == ["in row 5, the PDF has it in row 4"]
    page = page_of(changed((3, 2, "")))  # perhaps at the end of two merged cells
    assert details(changed((3, 2, GRID[4][2]), (4, 2, "")), page) == []


TITLE = changed((0, 1, "Measures"), (0, 2, ""))
MERGED = changed((3, 1, "subtotal"), (3, 2, ""), (3, 3, ""))
EXCHANGED = changed((2, 1, GRID[2][3]), (2, 3, GRID[2][1]))


@pytest.mark.parametrize(
    ("page", "output"),
    [
        pytest.param(page_of(changed((0, 1, ""), (0, 2, "Measures"))), TITLE, id="title above columns"),
        pytest.param(page_of(changed((3, 1, ""), (3, 2, "subtotal"), (3, 3, ""))), MERGED, id="merged cell"),
        pytest.param(page_of(GRID), [list(column) for column in zip(*GRID, strict=True)], id="turned table"),
        pytest.param(page_of(GRID, width=32), EXCHANGED, id="columns overlap"),
        pytest.param(page_of([*GRID, ["the", "price", "of", "timber", "rose"]], 18), GRID, id="other text"),
        pytest.param(page_of(GRID[:2]), [GRID[0], GRID[1][::-1]], id="few rows"),
        pytest.param(
            page_of(changed((0, 1, ""), (0, 2, "Left"), (0, 3, ""), (0, 4, "Right"))),
            changed((0, 1, "Left"), (0, 2, ""), (0, 3, "Right"), (0, 4, "")),
            id="several titles",
        ),
        pytest.param(
            page_of(REPEATED), [list(c) for c in zip(*REPEATED, strict=True)], id="turned, repeated"
        ),
    ],
)
def test_where_a_place_is_in_doubt_nothing_is_found(page: SeenPage, output: list[list[str]]) -> None:
    assert details(output, page) == []


def test_cells_with_spans_neither_tell_places_nor_are_misplaced() -> None:
    rows = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in GRID[1:])
    head = "<tr><td colspan=3>Measures</td><td>Origin</td><td>Use</td></tr>"
    page = page_of([["", "", "Measures", "Origin", "Use"], *GRID[1:]])
    assert found_in(page, f"<table>{head}{rows}</table>") == []


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_two_exchanged_cells_of_a_clean_grid_are_found_and_none_of_an_untouched_one(
    data: st.DataObject,
) -> None:
    n_rows, n_cols = data.draw(st.integers(5, 9)), data.draw(st.integers(4, 6))
    texts = [f"{a} {b}" for a in WORDS[:9] for b in WORDS[9:15]]
    random.Random(data.draw(st.integers(0, 99))).shuffle(texts)
    rows = [texts[r * n_cols : (r + 1) * n_cols] for r in range(n_rows)]
    page = page_of(rows, data.draw(st.integers(90, 120)), data.draw(st.integers(12, 40)))
    assert details(rows, page) == []
    r, c = data.draw(st.integers(0, n_rows - 1)), data.draw(st.integers(0, n_cols - 1))
    if data.draw(st.booleans()):
        other = r, data.draw(st.integers(0, n_cols - 1).filter(lambda k: k != c))
    else:
        other = data.draw(st.integers(0, n_rows - 1).filter(lambda k: k != r)), c
    first, second = rows[r][c], rows[other[0]][other[1]]
    found = found_in(page, markdown(changed((r, c, second), (*other, first), rows=rows)))
    assert len(found) == 1
    assert found[0].detail in (f"exchanged with {first}", f"exchanged with {second}")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_grid_of_few_words_has_no_findings_and_its_exchanged_cells_are_named_by_their_own_places(
    data: st.DataObject,
) -> None:
    n_rows, n_cols, n_words = (data.draw(st.integers(a, b)) for a, b in ((3, 8), (2, 5), (2, 30)))
    drawn = random.Random(data.draw(st.integers(0, 999)))
    body = [[drawn.choice(WORDS[:n_words]) for _ in range(n_cols)] for _ in range(n_rows)]
    rows = [
        [f"head{'abcdefghi'[c]}" for c in range(n_cols + 1)],
        *([f"row{'abcdefghi'[r]}", *own] for r, own in enumerate(body)),
    ]
    page = page_of(rows)
    assert details(rows, page) == []
    r, c = drawn.randint(1, n_rows), drawn.randint(1, n_cols)
    other = (r, drawn.randint(1, n_cols)) if drawn.random() < 0.5 else (drawn.randint(1, n_rows), c)
    first, second = rows[r][c], rows[other[0]][other[1]]
    if first != second:
        told = found_in(page, markdown(changed((r, c, second), (*other, first), rows=rows)))
        at = {SLOTS[page.words[i].box.x0, page.words[i].box.y0] for one in told for w in one.cells for i in w}
        assert at == {(r, c), other}


SLOTS = {(50.0 + 90 * c, 50.0 + 20 * r): (r, c) for r in range(10) for c in range(10)}


def test_huge_tables_and_overlapping_spans_are_passed_over() -> None:
    page = page_of([["7"] * 100 for _ in range(20)], width=5, height=3)
    spans = "<tr><td rowspan=9 colspan=9>7</td><td colspan=50 rowspan=2>8</td></tr>"
    for text in (
        markdown([["7"] * 100 for _ in range(300)]),
        markdown([[f"{r} {c}" for c in range(100)] for r in range(300)]),
        f"<table>{300 * spans}</table>",
    ):
        assert found_in(page, text) == []
    huge = OutputTable(Table.from_rows([["7"] * 100] * 10_000), range(1_000_001))
    evidence = compare(page, Prediction("", "", text=markdown(GRID)))
    assert list(misplaced_cells(replace(evidence, tables=[huge]))) == []
