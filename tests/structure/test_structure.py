"""From boxes and words to tables: perfect boxes give the perfect table, and each rule on its own."""

import unicodedata
from itertools import pairwise

import numpy as np
import pytest
from bench._ideal_parts import header_height, ideal_parts
from hypothesis import given
from hypothesis import strategies as st

from parsemark import load_corpus
from parsemark.model import Box, Cell, Table
from parsemark.pdf import page_glyphs
from parsemark.structure import Frame, Part, PartKind, Rules, Word, build_table, join_glyphs, join_words
from parsemark.structure.lines import Line, cut_depths, fitted


def _places(table: Table) -> list[tuple[int, int, int, int]]:
    return [(c.row, c.col, c.rowspan, c.colspan) for c in table.cells]


def _letters(text: str) -> str:
    """What a text layer can tell: no raised or lowered marks, one glyph for each look."""
    same = {"∗": "*", "Δ": "∆", "’": "'", "^": "", "{": "", "}": ""}
    return "".join(same.get(c, c) for c in unicodedata.normalize("NFKC", text) if not c.isspace())


def test_perfect_boxes_give_the_perfect_table_on_every_table_of_the_demo_corpus() -> None:
    n_tables = 0
    for sample in load_corpus("demo").samples():
        assert sample.truth is not None and sample.pdf is not None
        words = list(join_glyphs(page_glyphs(sample.pdf, sample.page_number)))
        for element in sample.truth.tables:
            assert element.table is not None and element.box is not None
            frame = Frame(element.box, int(element.attributes.get("rotated") or 0) % 360)
            built = build_table(ideal_parts(element.table, frame), words, frame)
            where = f"{sample.id} table {element.id}"
            assert _places(built) == _places(element.table), where
            for truth, cell in zip(element.table.cells, built.cells, strict=True):
                assert _letters(cell.text) == _letters(truth.text), f"{where} at {truth.row}, {truth.col}"
                assert cell.box is not None and truth.box is not None
                assert cell.box.iou(truth.box) > 0.9, f"{where} at {truth.row}, {truth.col}"
            headers = {c.row for c in built.cells if c.header and c.colspan < built.n_cols}
            assert headers <= set(range(header_height(element.table))), where
            n_tables += 1
    assert n_tables > 25


@st.composite
def _grids(draw: st.DrawFn) -> Table:
    """Tables with spans whose cells tile an area, each with a word of its own."""
    n_rows, n_cols = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    heights = draw(st.lists(st.integers(8, 40), min_size=n_rows, max_size=n_rows))
    widths = draw(st.lists(st.integers(15, 80), min_size=n_cols, max_size=n_cols))
    ys = [100.0 + sum(heights[:i]) for i in range(n_rows + 1)]
    xs = [50.0 + sum(widths[:i]) for i in range(n_cols + 1)]
    taken: set[tuple[int, int]] = set()
    cells = []
    for row in range(n_rows):
        for col in range(n_cols):
            if (row, col) in taken:
                continue
            down = draw(st.integers(1, min(2, n_rows - row))) if n_rows > 2 else 1
            across = draw(st.integers(1, min(2, n_cols - col))) if n_cols > 2 else 1
            block = {(r, c) for r in range(row, row + down) for c in range(col, col + across)}
            if block & taken:
                block, down, across = {(row, col)}, 1, 1
            taken |= block
            box = Box(xs[col], ys[row], xs[col + across], ys[row + down])
            cells.append(Cell(row, col, f"w{row}.{col}", down, across, False, box))
    table = Table(n_rows, n_cols, tuple(cells))
    # A row (column) all of whose cells reach into its neighbour has no text of its own: no model can see it.
    for row in range(n_rows):
        if not any(c.row == row and c.rowspan == 1 for c in cells):
            return Table(1, 1, (Cell(0, 0, "w", 1, 1, False, Box(50, 100, 90, 120)),))
    for col in range(n_cols):
        if not any(c.col == col and c.colspan == 1 for c in cells):
            return Table(1, 1, (Cell(0, 0, "w", 1, 1, False, Box(50, 100, 90, 120)),))
    return table


def _words(table: Table) -> list[Word]:
    """A word in the middle of each cell."""
    words = []
    for cell in table.cells:
        assert cell.box is not None
        x, y = (cell.box.x0 + cell.box.x1) / 2, (cell.box.y0 + cell.box.y1) / 2
        words.append(Word(cell.text, Box(x - 4, y - 3, x + 4, y + 3)))
    return words


@given(_grids(), st.sampled_from([0, 90, 180, 270]))
def test_perfect_boxes_of_any_grid_give_it_back_however_it_is_turned(table: Table, angle: int) -> None:
    boxes = [c.box for c in table.cells if c.box is not None]
    outline = Box.hull(boxes)
    upright = Frame(outline)
    turned = Frame(
        Box(
            20,
            30,
            20 + (outline.width if angle % 180 == 0 else outline.height),
            30 + (outline.height if angle % 180 == 0 else outline.width),
        ),
        angle,
    )
    parts = ideal_parts(table, upright)
    words = [Word(w.text, turned.to_page(upright.from_page(w.box))) for w in _words(table)]
    built = build_table(parts, words, turned)
    assert _places(built) == _places(table)
    assert [c.text for c in built.cells] == [c.text for c in table.cells]


@given(
    st.tuples(*[st.floats(-50, 500)] * 2),
    st.tuples(*[st.floats(0, 300)] * 2),
    st.sampled_from([0, 90, 180, 270]),
)
def test_a_frame_maps_there_and_back(
    corner: tuple[float, float], size: tuple[float, float], angle: int
) -> None:
    frame = Frame(Box(10, 20, 310, 120), angle)
    box = Box(corner[0], corner[1], corner[0] + size[0], corner[1] + size[1])
    back = frame.to_page(frame.from_page(box))
    assert back.as_tuple() == pytest.approx(box.as_tuple(), abs=1e-6)
    assert frame.upright.x0 == frame.upright.y0 == 0


@given(_grids(), st.randoms(use_true_random=False))
def test_no_word_inside_is_lost_whatever_the_boxes_are(table: Table, dice: object) -> None:
    import random

    assert isinstance(dice, random.Random)
    outline = Box.hull(c.box for c in table.cells if c.box is not None)
    parts = [p for p in ideal_parts(table, Frame(outline)) if p.kind is PartKind.TABLE or dice.random() < 0.7]
    built = build_table(parts, _shifted(_words(table), -outline.x0, -outline.y0))
    if built.n_rows:
        inside = " ".join(c.text for c in built.cells).split()
        assert len(inside) == len(set(inside)), "no word twice"
        covered = Box.hull(p.box for p in parts)
        words = _shifted(_words(table), -outline.x0, -outline.y0)
        assert set(inside) == {w.text for w in words if covered.contains(w.box)}


def _shifted(words: list[Word], dx: float, dy: float) -> list[Word]:
    return [Word(w.text, Box(w.box.x0 + dx, w.box.y0 + dy, w.box.x1 + dx, w.box.y1 + dy)) for w in words]


@given(_grids(), st.randoms(use_true_random=False))
def test_boxes_that_are_a_point_off_give_the_same_table(table: Table, dice: object) -> None:
    import random

    assert isinstance(dice, random.Random)
    frame = Frame(Box.hull(c.box for c in table.cells if c.box is not None))
    moved = [
        Part(p.kind, Box(*(v + dice.uniform(-1, 1) for v in p.box.as_tuple())), p.score)
        for p in ideal_parts(table, frame)
    ]
    built = build_table(moved, _words(table), frame)
    assert _places(built) == _places(table)
    assert [c.text for c in built.cells] == [c.text for c in table.cells]


@given(
    st.lists(st.tuples(st.floats(0, 100), st.floats(0.5, 30)), min_size=1, max_size=8),
    st.lists(st.tuples(st.floats(-10, 130), st.floats(0, 20)), max_size=20),
)
def test_fitted_lines_follow_each_other_and_cut_no_deeper(
    spans: list[tuple[float, float]], words: list[tuple[float, float]]
) -> None:
    lines = sorted(
        (Line(start, start + length) for start, length in spans), key=lambda line: line.start + line.end
    )
    extents = [(start, start + length) for start, length in words]
    near = fitted(lines, extents)
    assert len(near) == len(lines)
    assert all(line.start <= line.end for line in near)
    assert all(a.end == b.start for a, b in pairwise(near))
    for before, after, line in zip(lines, lines[1:], near, strict=False):
        seen = max(line.start, (before.end + after.start) / 2)
        wide = [(a, b) for a, b in extents if b > a]
        inside = [(a, b) for a, b in wide if b > min(seen, line.end) and a < max(seen, line.end)]
        assert cut_depth(line.end, inside) <= cut_depth(seen, inside) + 1e-5


def cut_depth(border: float, extents: list[tuple[float, float]]) -> float:
    """The slow and obvious way."""
    return sum(max(0.0, min(border - a, b - border)) / (b - a) for a, b in extents)


@given(
    st.lists(st.floats(-10, 130), max_size=20),
    st.lists(st.tuples(st.floats(-10, 130), st.floats(0.01, 20)), max_size=40),
)
def test_depths_of_cuts_are_the_sums_over_all_words(
    borders: list[float], words: list[tuple[float, float]]
) -> None:
    extents = [(start, start + length) for start, length in words]
    starts, ends = np.array(extents, dtype=np.float64).reshape(-1, 2).T
    expected = [cut_depth(border, extents) for border in borders]
    assert cut_depths(np.array(borders), starts, ends) == pytest.approx(expected, abs=1e-8)


def test_a_border_among_very_many_words_is_placed_as_one_among_few() -> None:
    # Some 10^10 steps, hours, if each place is tried against each word.
    few = [(a / 7, a / 7 + 3 + a % 5) for a in range(100)]
    lines = [Line(0, 10), Line(10, 20)]
    assert fitted(lines, few * 1000) == fitted(lines, few)


# --- Each rule by itself ---------------------------------------------------------------------------------

ROWS = [Part(PartKind.ROW, Box(0, y, 100, y + 10)) for y in (0, 10, 20)]
COLUMNS = [Part(PartKind.COLUMN, Box(x, 0, x + 50, 30)) for x in (0, 50)]
WORDS = [
    Word(f"{r}{c}", Box(50 * c + 5, 10 * r + 2, 50 * c + 25, 10 * r + 8)) for r in range(3) for c in range(2)
]


def _texts(table: Table) -> list[list[str]]:
    return table.text_rows()


def test_a_second_sight_of_a_row_changes_nothing() -> None:
    again = [Part(PartKind.ROW, Box(0, 11, 100, 21), 0.4), Part(PartKind.COLUMN, Box(2, 0, 49, 30), 0.3)]
    assert _texts(build_table([*ROWS, *COLUMNS, *again], WORDS)) == [["00", "01"], ["10", "11"], ["20", "21"]]


def test_a_box_between_two_lines_loses_against_those_that_hold_whole_words() -> None:
    between = Part(PartKind.ROW, Box(0, 5, 100, 15.2), 1.0)
    rows = [Part(p.kind, p.box, 0.8) for p in ROWS]
    assert len(_texts(build_table([between, *rows, *COLUMNS], WORDS))) == 3


def test_rows_without_text_are_dropped_and_without_any_word_all_stay() -> None:
    some = [w for w in WORDS if not w.text.startswith("1")]
    assert _texts(build_table([*ROWS, *COLUMNS], some)) == [["00", "01"], ["20", "21"]]
    assert build_table([*ROWS, *COLUMNS], []).n_rows == 3
    overlapping = Part(PartKind.ROW, Box(0, 4, 100, 14), 0.3)
    assert build_table([*ROWS, overlapping, *COLUMNS], []).n_rows == 3


def test_a_row_that_the_network_missed_is_made_of_its_words() -> None:
    known = [ROWS[0], ROWS[2], *COLUMNS]
    assert _texts(build_table(known, WORDS)) == [["00", "01"], ["10", "11"], ["20", "21"]]
    poured = build_table(known, WORDS, rules=Rules(fill_gaps=False))
    assert poured.n_rows == 2 and "10" in " ".join(c.text for c in poured.cells)


def test_rows_and_columns_at_the_ends_that_the_network_missed_are_made_of_their_words() -> None:
    outline = Part(PartKind.TABLE, Box(0, 0, 100, 30))
    for known in ([*ROWS[1:], *COLUMNS], [*ROWS[:2], *COLUMNS], [*ROWS, COLUMNS[0]], [*ROWS, COLUMNS[1]]):
        assert _texts(build_table([outline, *known], WORDS)) == [["00", "01"], ["10", "11"], ["20", "21"]]


def test_a_column_of_several_words_that_the_network_missed_is_one_column() -> None:
    """Its words do not stand below each other: each place in its lines is not a column of its own."""
    texts = (("Total", "pore", "vol-"), ("ume", "(cm3", "g-1)"), ("8.635",))
    words = [
        Word(text, Box(50 + at, 10 * r + 2, 50 + at + 3 * len(text), 10 * r + 8))
        for r, line in enumerate(texts)
        for text, at in zip(line, (2, 20 + r, 36 - r), strict=False)
    ]
    beside = [
        Word(f"{r}{c}", Box(x, 10 * r + 2, x + 20, 10 * r + 8))
        for r in range(3)
        for c, x in ((0, 5), (2, 125))
    ]
    parts = [*ROWS, COLUMNS[0], Part(PartKind.COLUMN, Box(120, 0, 160, 30))]
    assert _texts(build_table(parts, [*words, *beside])) == [
        ["00", "Total pore vol-", "02"],
        ["10", "ume (cm3 g-1)", "12"],
        ["20", "8.635", "22"],
    ]


def test_text_that_runs_over_the_edge_of_the_last_column_is_no_column() -> None:
    outline = Part(PartKind.TABLE, Box(0, 0, 100, 30))
    running = [
        Word(f"{r}{c}", Box(20 * c, 10 * r + 2, 20 * c + 17, 10 * r + 8)) for r in range(3) for c in range(5)
    ]
    short = Part(PartKind.COLUMN, Box(0, 0, 75, 30))
    built = build_table([outline, *ROWS, short], running)
    assert _texts(built) == [[" ".join(f"{r}{c}" for c in range(5))] for r in range(3)]


def _dense(n_rows: int, n_cols: int) -> list[Word]:
    return [
        Word(f"{r}.{c}", Box(30 * c + 2, 10 * r + 2, 30 * c + 20, 10 * r + 8))
        for r in range(n_rows)
        for c in range(n_cols)
    ]


def _boxes(rows: list[tuple[float, float]], n_cols: int) -> list[Part]:
    bottom = max(end for _, end in rows)
    return [Part(PartKind.ROW, Box(0, start, 30 * n_cols, end)) for start, end in rows] + [
        Part(PartKind.COLUMN, Box(30 * c, 0, 30 * c + 30, bottom)) for c in range(n_cols)
    ]


def test_two_rows_that_the_network_took_for_one_are_taken_apart() -> None:
    parts = _boxes([(0, 10), (10, 20), (20, 40), (40, 50), (50, 60)], 4)
    words = [w for w in _dense(6, 4) if w.text != "3.2"]  # a value may be missing
    assert [row[0] for row in _texts(build_table(parts, words))] == [f"{r}.0" for r in range(6)]
    together = build_table(parts, words, rules=Rules(split_rows=False))
    assert together.n_rows == 5 and _texts(together)[2][0] == "2.0 3.0"


def test_rows_half_a_line_off_take_whole_lines_of_text() -> None:
    # Each border cuts a line of text near its middle, and words of one line differ a little in height.
    parts = _boxes([(10 * r - 5.6, 10 * r + 4.5) for r in range(1, 7)], 4)
    words = [
        Word(w.text, Box(w.box.x0, w.box.y0 - 0.4 * (n % 3), w.box.x1, w.box.y1)) if n % 2 else w
        for n, w in enumerate(_dense(6, 4))
    ]
    outline = Part(PartKind.TABLE, Box(0, 0, 120, 66))
    assert _texts(build_table([outline, *parts], words)) == [[f"{r}.{c}" for c in range(4)] for r in range(6)]


def test_a_column_border_through_words_takes_them_whole() -> None:
    columns = [Part(PartKind.COLUMN, Box(x0, 0, x1, 30)) for x0, x1 in ((0, 52), (52, 100))]
    words = [Word(f"{r}", Box(5, 10 * r + 2, 20, 10 * r + 8)) for r in range(3)]
    words += [
        Word("#", Box(48, 2, 51, 8)),
        Word("of", Box(53, 2, 60, 8)),
        Word("points", Box(48, 12, 66, 18)),
    ]
    words += [Word("7", Box(48, 22, 51.5, 28))]
    assert _texts(build_table([*ROWS, *columns], words)) == [["0", "# of"], ["1", "points"], ["2", "7"]]


def test_a_span_that_reaches_into_the_next_row_does_not_take_it() -> None:
    reaching = Part(PartKind.SPANNING_CELL, Box(0, 10, 100, 25.5), 0.8)
    alone = Word("10", Box(5, 12, 25, 18))
    words = [w for w in WORDS if not w.text.startswith("1")]
    built = build_table([*ROWS, *COLUMNS, reaching], [*words, alone])
    assert (1, 0, 1, 2) in _places(built) and _texts(built)[2] == ["20", "21"]
    label = Word("both", Box(5, 17, 25, 23))  # no text of that row alone is cut: the span takes both
    narrow = Part(PartKind.SPANNING_CELL, Box(0, 10, 50, 25.5), 0.8)
    built = build_table([*ROWS, *COLUMNS, narrow], [*WORDS[:2], label, WORDS[3], WORDS[5]])
    assert (1, 0, 2, 1) in _places(built)


def test_the_last_line_of_a_span_stays_in_it_though_it_reaches_over_its_rows() -> None:
    columns = [Part(PartKind.COLUMN, Box(x, 0, x + 50, 40)) for x in (0, 50)]
    rows = [*ROWS[:2], Part(PartKind.ROW, Box(0, 20, 100, 40))]
    span = Part(PartKind.SPANNING_CELL, Box(50, 0, 100, 24.5))
    words = [w for w in WORDS if w.text.endswith("0")]
    words += [Word(t, Box(55, y, 80, y + 5)) for t, y in (("End", 3), ("of", 11), ("life", 19))]
    words += [Word("SVR", Box(55, 31, 80, 36))]
    built = build_table([*rows, *columns, span], words)
    assert [c.text for c in built.cells if c.col == 1] == ["End of life", "SVR"]


def test_a_row_that_gets_no_word_in_the_end_is_dropped() -> None:
    extra = [Part(PartKind.ROW, Box(0, y, 100, y + 7)) for y in (0, 6.5, 13, 20)]
    lines = [
        Word(f"{r}{c}", Box(50 * c + 5, y, 50 * c + 25, y + 6))
        for r, y in enumerate((1, 9.4, 20.5))
        for c in (0, 1)
    ]
    built = build_table([*extra, *COLUMNS], lines)
    assert _texts(built) == [["00", "01"], ["10", "11"], ["20", "21"]]


def test_wrapped_cells_and_wrapped_headers_are_not_taken_apart() -> None:
    wrapped = _boxes([(0, 10), (10, 20), (20, 40), (40, 50), (50, 60)], 4)
    only_some = [w for w in _dense(6, 4) if w.text not in ("3.1", "3.2", "3.3")]
    assert build_table(wrapped, only_some).n_rows == 5
    without_label = [w for w in _dense(6, 4) if w.text != "3.0"]  # estimates over their errors in brackets
    assert build_table(wrapped, without_label).n_rows == 5
    header = _boxes([(0, 20), (20, 30), (30, 40), (40, 50), (50, 60)], 4)
    assert build_table(header, _dense(6, 4)).n_rows == 5
    prose = _boxes([(0, 20), (20, 40), (40, 60)], 4)
    assert build_table(prose, _dense(6, 4)).n_rows == 3


def test_words_of_one_line_stay_in_one_row_though_their_ink_differs() -> None:
    words = [
        Word("fig", Box(0, 1, 9, 12)),
        Word("as", Box(11, 4, 18, 9)),
        Word("of", Box(0, 13, 9, 21)),
        Word("yes", Box(11, 15, 20, 23)),
    ]
    # The border is .5 too high for "fig" and cuts "yes": half a line off, as networks are.
    rows = [Part(PartKind.ROW, Box(0, 0, 40, 8)), Part(PartKind.ROW, Box(0, 8.5, 40, 23))]
    columns = [Part(PartKind.COLUMN, Box(0, 0, 40, 23))]
    assert _texts(build_table([*rows, *columns], words)) == [["fig as"], ["of yes"]]


def test_the_lower_scored_of_two_spans_shrinks() -> None:
    wide = Part(PartKind.SPANNING_CELL, Box(0, 0, 100, 10), 0.9)
    tall = Part(PartKind.SPANNING_CELL, Box(0, 0, 50, 30), 0.8)
    built = build_table([*ROWS, *COLUMNS, tall, wide], WORDS)
    assert _places(built) == [(0, 0, 1, 2), (1, 0, 2, 1), (1, 1, 1, 1), (2, 1, 1, 1)]
    assert [c.text for c in built.cells] == ["00 01", "10 20", "11", "21"]


@pytest.mark.parametrize(("score", "spans"), [(0.49, False), (0.5, True)])
def test_uncertain_spans_and_headers_do_not_count(score: float, spans: bool) -> None:
    span = Part(PartKind.SPANNING_CELL, Box(0, 0, 100, 10), score)
    header = Part(PartKind.COLUMN_HEADER, Box(0, 0, 100, 10), score)
    built = build_table([*ROWS, *COLUMNS, span, header], WORDS)
    assert built.has_spans is spans
    assert any(c.header for c in built.cells) is spans


def test_a_span_lies_in_the_header_or_in_the_body() -> None:
    header = Part(PartKind.COLUMN_HEADER, Box(0, 0, 100, 20))
    crossing = Part(PartKind.SPANNING_CELL, Box(0, 0, 50, 30))
    built = build_table([*ROWS, *COLUMNS, header, crossing], WORDS)
    assert _places(built)[0] == (0, 0, 2, 1)
    assert [c.header for c in built.cells] == [True, True, True, False, False]


def test_a_header_that_begins_below_the_first_row_reaches_up_to_it() -> None:
    header = Part(PartKind.COLUMN_HEADER, Box(0, 10, 100, 20))
    built = build_table([*ROWS, *COLUMNS, header], WORDS)
    assert [c.row for c in built.cells if c.header] == [0, 0, 1, 1]


def test_a_projected_row_header_takes_its_whole_row() -> None:
    projected = Part(PartKind.PROJECTED_ROW_HEADER, Box(0, 10, 60, 20))
    built = build_table([*ROWS, *COLUMNS, projected], WORDS)
    assert (1, 0, 1, 2) in _places(built)
    assert next(c for c in built.cells if c.row == 1).header


def test_the_caption_above_the_detected_table_stays_outside() -> None:
    rows = [Part(PartKind.ROW, Box(0, -9, 100, 10)), *ROWS[1:]]
    caption = Word("Table", Box(5, -8, 30, -2))
    built = build_table([*rows, *COLUMNS], [caption, *WORDS], Frame(Box(0, 0, 100, 30)))
    assert _texts(built)[0] == ["00", "01"]


def test_nothing_seen_is_an_empty_table() -> None:
    assert build_table([], WORDS) == Table(0, 0)
    assert build_table([Part(PartKind.TABLE, Box(0, 0, 10, 10))], WORDS) == Table(0, 0)


# --- Words -----------------------------------------------------------------------------------------------


class _Glyph:
    def __init__(self, text: str, x: float, y: float, generated: bool = False) -> None:
        self.text, self.box, self.generated = text, Box(x, y, x + 4, y + 6), generated


def test_a_word_ends_at_a_space_and_where_the_next_letter_is_far() -> None:
    glyphs = [
        _Glyph("a", 0, 0),
        _Glyph("b", 4, 0),
        _Glyph(" ", 8, 0, True),
        _Glyph("c", 12, 0),
        _Glyph("d", 60, 0),
    ]
    assert [(w.text, w.glued) for w in join_glyphs(glyphs)] == [("ab", False), ("c", True), ("d", False)]


def test_a_divided_word_is_made_whole_and_a_hyphen_of_its_own_stays() -> None:
    words = [
        Word("concen-", Box(0, 0, 30, 6), glued=True),
        Word("tration", Box(0, 10, 30, 16)),
        Word("X-", Box(40, 10, 50, 16)),
        Word("ray", Box(0, 20, 20, 26)),
    ]
    assert join_words(words) == "concentration X- ray"


def test_an_exponent_stays_with_its_base() -> None:
    words = [
        Word("first", Box(0, 0, 20, 8)),
        Word("10", Box(0, 10, 10, 18)),
        Word("3", Box(10.5, 7, 13, 11)),
        Word("m", Box(16, 12, 20, 18)),
    ]
    assert join_words(words) == "first 10 3 m"


def test_text_that_runs_up_or_down_the_page_is_read_along_its_lines() -> None:
    first = [Word("Running", Box(195, 373, 203, 404))]
    up = [*first, Word("time", Box(207, 390, 213, 406)), Word("[ms]", Box(206, 372, 214, 387))]
    assert join_words(up) == "Running time [ms]"
    down = [Word("Running", Box(207, 373, 215, 404)), Word("time", Box(196, 373, 203, 389))]
    down.append(Word("[ms]", Box(195, 392, 204, 407)))
    assert join_words(down) == "Running time [ms]"
    assert join_words([Word("I", Box(0, 0, 2, 8)), Word("am", Box(4, 0, 12, 8))]) == "I am"
