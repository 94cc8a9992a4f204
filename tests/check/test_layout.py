"""Layout that an output loses: mixed columns, and tables and tagged headings that are plain text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import jsonschema
import pikepdf
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pikepdf import Array, Dictionary, Name
from tests.check.test_check import SCHEMA, checked
from tests.corpora.tagging import write_tagged
from tests.pdf.test_visible import written

from parsemark.matching.page_evidence import compare
from parsemark.matching.page_findings.columns import mixed_columns
from parsemark.matching.page_findings.flattened import flattened_tables, marks_structure
from parsemark.model import Box, Prediction
from parsemark.pdf import SeenPage, SeenWord
from parsemark.pdf.outline import read_outline, read_tagged_headings
from parsemark.verdicts.check import read_limits

WORD = 30.0  # points from the begin of a word to that of the next one


def word(number: int) -> str:
    """A word of letters that no other number has."""
    return "w" + "".join(chr(ord("a") + int(digit)) for digit in f"{number:04}")


def line_of(first: int, n: int) -> list[str]:
    return [word(first + k) for k in range(n)]


def page_of(columns: Sequence[Sequence[Sequence[str]]], step: float = 0.0) -> SeenPage:
    """A page with lines of words in columns, in the order of the columns; each has wider lines by a step."""
    words, line = list[SeenWord](), 0
    for c, lines in enumerate(columns):
        for r, own in enumerate(lines):
            for k, text in enumerate(own):
                x, y = 40.0 + 250 * c + WORD * k, 50.0 + (12 + step * c) * r
                words.append(SeenWord(text, Box(x, y, x + WORD - 4, y + 9), line, font="Times"))
            line += 1
    return SeenPage(600, 800, tuple(words), "layer")


def found_in(page: SeenPage, lines: Sequence[Sequence[str]]) -> list[str]:
    text = "\n".join(map(" ".join, lines))
    return [found.detail for found in mixed_columns(compare(page, Prediction("s", "p", text=text)))]


@given(st.integers(4, 15), st.integers(4, 15), st.integers(4, 7), st.integers(4, 7))
def test_columns_that_are_mixed_or_exchanged_are_told_and_no_others(a: int, b: int, m: int, n: int) -> None:
    left = [line_of(100 * k, m) for k in range(a)]
    right = [line_of(5000 + 100 * k, n) for k in range(b)]
    page = page_of([left, right])
    assert found_in(page, [*left, *right]) == []
    assert found_in(page, [*left[: a // 2], *right]) == []  # half of a column is lost
    across = list(chain(*zip(left, right, strict=False)))
    rest = [*left[min(a, b) :], *right[min(a, b) :]]
    assert found_in(page, [*across, *rest]) == ["columns mixed"]
    assert found_in(page, [*right, *left]) == ["columns in another order"]


@pytest.mark.parametrize("step", [0.0, 1.7, 5.0, 11.0])
def test_columns_in_another_order_are_told_wherever_their_lines_stand(step: float) -> None:
    left = [line_of(100 * k, 5) for k in range(12)]
    right = [line_of(5000 + 100 * k, 5) for k in range(9)]
    page = page_of([left, right], step)
    assert found_in(page, [*right, *left]) == ["columns in another order"]
    assert found_in(page, [*right, *left[:6], *left[8:]]) == ["columns in another order"]
    assert found_in(page, [*left, *right]) == found_in(page, left) == []
    assert found_in(page, [*right[:5], *left, *right[5:]]) == []  # a block that has moved


def test_one_place_at_which_an_output_leaves_a_column_is_none() -> None:
    left = [line_of(100 * k, 5) for k in range(9)]
    right = [line_of(5000 + 100 * k, 5) for k in range(9)]
    page = page_of([left, right])
    assert found_in(page, [*left[:4], *right, *left[4:]]) == []
    assert found_in(page, [*left[:3], *left[6:], *left[3:6], *right]) == []  # a block that has moved


def test_short_cells_that_are_read_by_rows_are_no_columns_of_text() -> None:
    left = [line_of(100 * k, 6 if k == 4 else 3) for k in range(9)]
    right = [line_of(5000 + 100 * k, 4) for k in range(9)]
    page = page_of([left, right])
    assert found_in(page, list(chain(*zip(left, right, strict=True)))) == []


ROWS = [["Name", "Height", "Born", "Place"]] + [
    [f"{name} {name}son", str(150 + 7 * k), str(1900 + 13 * k), place]
    for k, (name, place) in enumerate(
        (("Anna", "Bergen"), ("Bruno", "Lund"), ("Clara", "Turku"), ("Dora", "Visby"), ("Emil", "Oslo"))
    )
]
PROSE = [["These", "people", "were", "asked", "twice."]]


def table_page(rows: Sequence[Sequence[str]], font: str = "Times") -> SeenPage:
    words = []
    for r, row in enumerate([*PROSE, *rows]):
        for c, cell in enumerate(row):
            step = 40.0 if r == 0 else 120.0
            for k, text in enumerate(cell.split()):
                x, y = 40.0 + step * c + 38 * k, 50.0 + 14 * r
                words.append(SeenWord(text, Box(x, y, x + 35, y + 9), r, font=font))
    return SeenPage(600, 800, tuple(words), "layer")


def flattened_in(page: SeenPage, text: str) -> list[tuple[int, int]]:
    if not marks_structure([text]):
        return []
    evidence = compare(page, Prediction("s", "p", text=text))
    return [(found.n_rows, found.n_columns) for found in flattened_tables(page, evidence, text)]


def markdown(rows: Sequence[Sequence[str]]) -> str:
    head, *body = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([head, "|---" * len(rows[0]) + "|", *body])


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("# People\n\n{prose}\n\n{plain}", [(6, 4)]),
        ("# People\n\n{prose}\n\n{by_column}", [(6, 4)]),
        ("# People\n\n{prose}\n\n{table}", []),
        ("# People\n\n{prose}\n\n<table>{html}</table>", []),
        ("# People\n\n{prose}\n\n```\n{plain}\n```", []),
        ("{prose}\n\n{plain}", []),  # a format without marks
        ("# People\n\n{prose}", []),  # lost, and not only its form
    ],
)
def test_a_table_that_is_plain_text_is_told_where_other_text_is_marked(
    shape: str, expected: list[tuple[int, int]]
) -> None:
    text = shape.format(
        prose=" ".join(PROSE[0]),
        plain="\n\n".join(" ".join(row) for row in ROWS),
        by_column="\n\n".join(" ".join(column) for column in zip(*ROWS, strict=True)),
        table=markdown(ROWS),
        html="".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in ROWS),
    )
    assert flattened_in(table_page(ROWS), text) == expected


@pytest.mark.parametrize(
    "rows",
    [
        ROWS[:3],  # too few rows
        [row[:2] for row in ROWS],  # too few columns
        [[f"{k}.1", f"Chapter about {word(k)}", str(3 * k)] for k in range(1, 8)],  # contents
        [[word(k), "....", str(3 * k)] for k in range(1, 8)],  # leaders
        [[f"{word(9 * k)} of the people who came there {word(9 * k + 1)}", word(k), "x"] for k in range(4)],
    ],
)
def test_what_is_no_table_is_not_missed_as_one(rows: list[list[str]]) -> None:
    text = "# People\n\n" + "\n\n".join(" ".join(row) for row in [*PROSE, *rows])
    assert flattened_in(table_page(rows), text) == []


@pytest.mark.parametrize("font", ["DejaVuSansMono", "NimbusMonL-Regu", "txtt"])
def test_aligned_code_is_no_table(font: str) -> None:
    text = "# People\n\n" + "\n\n".join(" ".join(row) for row in [*PROSE, *ROWS])
    assert flattened_in(table_page(ROWS, font=font), text) == []
    assert flattened_in(table_page(ROWS, font="Times"), text) == [(6, 4)]


def _at(x: int, y: int, text: str) -> bytes:
    return b"BT /F 9 Tf 0 g 1 0 0 1 %d %d Tm (%s) Tj ET\n" % (x, y, text.encode())


def test_a_check_reports_lost_layout_with_its_limits(tmp_path: Path) -> None:
    cells = [_at(20 + 90 * c, 350 - 14 * r, cell) for r, row in enumerate(ROWS) for c, cell in enumerate(row)]
    pdf = written(tmp_path / "people.pdf", _at(20, 370, " ".join(PROSE[0])) + b"".join(cells))
    plain = "\n\n".join(" ".join(row) for row in ROWS)
    found = checked(pdf, f"# People\n\n{' '.join(PROSE[0])}\n\n{plain}")
    (table,) = [f for f in found.findings if f.kind == "table"]
    assert (table.page, table.detail, table.line) == (1, "6 rows, 4 columns", 5)
    assert "1 table as plain text" in found.verdict and found.over(read_limits(["tables=0"]))
    jsonschema.validate(found.to_json(), SCHEMA)
    left = [" ".join(line_of(100 * k, 4)) for k in range(6)]
    right = [" ".join(line_of(5000 + 100 * k, 4)) for k in range(6)]
    placed = [
        _at(x, 380 - 12 * k, text) for x, own in ((20, left), (220, right)) for k, text in enumerate(own)
    ]
    pdf = written(tmp_path / "columns.pdf", b"".join(placed))
    found = checked(pdf, "\n".join(chain(*zip(left, right, strict=True))))
    assert [(f.kind, f.detail, f.line) for f in found.findings] == [("order", "columns mixed", 2)]
    assert found.verdict == "Columns out of order on 1 page."
    assert found.over(read_limits(["order=0"]))
    found = checked(pdf, "\n".join([*right, *left]))
    assert [(f.kind, f.detail) for f in found.findings] == [("order", "columns in another order")]
    jsonschema.validate(found.to_json(), SCHEMA)


# --- headings that are tagged -------------------------------------------------------------------------------


def _with_parents(pdf: pikepdf.Pdf, root: Any) -> None:
    """Add what readers need to find the elements of a page."""
    pages = [page.obj.objgen for page in pdf.pages]
    owners: list[dict[int, Any]] = [{} for _ in pages]

    def walk(element: Any) -> None:
        for kid in element.K:
            if isinstance(kid, int):
                owners[pages.index(element.Pg.objgen)][kid] = element
            else:
                kid.P = element
                walk(kid)

    walk(root)
    numbers: list[Any] = []
    for k, (page, own) in enumerate(zip(pdf.pages, owners, strict=True)):
        page.obj.StructParents = k
        numbers += [k, pdf.make_indirect(Array([own[n] for n in sorted(own)]))]
    root.ParentTree = Dictionary(Nums=Array(numbers))


TAGGED = [
    [(0, 20, 40, "1 The harbour"), (1, 20, 60, "In the spring of 1923 the engineer Tomas moved.")],
    [
        *((0, 20, 40, "2 The"), (1, 60, 40, "winter")),
        (2, 20, 60, "Nobody answered before the winter ended."),
    ],
]


def _tagged(path: Path) -> Path:
    second = {"page": 1}
    tree = (
        *("Document", ("Chapter", 0), ("P", 1)),
        *(("H2", 0, ("Span", 1, second), second), ("P", 2, second)),
    )
    return write_tagged(path, TAGGED, [tree], change=_with_parents, RoleMap=Dictionary(Chapter=Name.H1))


def test_tagged_headings_are_read_with_their_levels(tmp_path: Path) -> None:
    pdf = _tagged(tmp_path / "a.pdf")
    assert read_tagged_headings(pdf) == [(1, 1, "1 The harbour"), (2, 2, "2 The winter")]
    assert read_outline(pdf) == []


def test_a_tagged_heading_that_is_a_plain_line_is_reported(tmp_path: Path) -> None:
    pdf = _tagged(tmp_path / "a.pdf")
    first, second = TAGGED[0][1][3], TAGGED[1][2][3]
    found = checked(pdf, f"# 1 The harbour\n\n{first}\n\n2 The winter\n\n{second}\n")
    assert [(f.kind, f.page, f.text, f.line) for f in found.findings] == [("heading", 2, "2 the winter", 5)]
    assert checked(pdf, f"# 1 The harbour\n\n{first}\n\n## 2 The winter\n\n{second}\n").findings == ()


def test_a_structure_tree_that_names_itself_ends(tmp_path: Path) -> None:
    def loop(pdf: pikepdf.Pdf, root: Any) -> None:
        _with_parents(pdf, root)
        root.K[0].K.append(root.K[0])

    pdf = write_tagged(tmp_path / "a.pdf", TAGGED[:1], [("Document", ("H1", 0), ("P", 1))], change=loop)
    assert len(read_tagged_headings(pdf)) <= 20_000
