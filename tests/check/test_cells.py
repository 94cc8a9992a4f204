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
