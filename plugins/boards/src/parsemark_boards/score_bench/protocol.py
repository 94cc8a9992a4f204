"""SCORE (Unstructured): text, tokens, kinds of elements, and tables.

Everything is as in `Unstructured-IO/unstructured-eval-metrics` at commit b148439;
`docs/score-bench.md` lists what is wrong with it and kept. Elements are as in its files:
`{"type", "text", "metadata": {…}}`.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import groupby, zip_longest
from operator import attrgetter
from statistics import fmean
from typing import Annotated, Any, ClassVar, NamedTuple

from pydantic import Discriminator, Tag
from rapidfuzz.distance import Levenshtein

from parsemark.errors import FormatError, MissingDependencyError
from parsemark.formats import MAX_CHARS, MAX_GRID, check_size
from parsemark.kernels import kernel
from parsemark.metrics import (
    MAX_CHARACTER_PAIRS,
    MAX_POSITION_PAIRS,
    RowCells,
    TableTree,
    check_pairs,
    edit_distance,
)
from parsemark.model import Element, Page, Prediction
from parsemark.protocols import (
    BoardRun,
    Files,
    as_csv,
    as_json,
    html_of,
    in_order,
    predicted_elements,
    text_of,
)
from parsemark_boards.labels import label_of
from parsemark_boards.measured_protocol import MeasuredProtocol, Measures, own_truth
from parsemark_boards.package_files import INSTALL_WORDS, find_package_file
from parsemark_boards.score_bench.table_metrics import ScoreCell, index_shares
from parsemark_boards.truth_model import TruthModel

ELEMENTS = "score_bench_elements"  # where a page keeps its true elements as the benchmark's files have them
BoardElement = Mapping[str, Any]
_BULLET = (
    "[\x95\u2022\u2023\u2043\u3164\u204c\u204d\u2219\u25cb\u25cf\u25d8\u25e6\u2619\u2765\u2767\u29be\u29bf\\-"
    "\uf0b7*\xb7]"
)
_GROUPS = {
    **dict.fromkeys(("Title", "SubTitle", "Sub-Title"), "TITLE"),
    **dict.fromkeys(("Figure", "Image", "Picture"), "FIGURE"),
    "Table": "TABLE",
}
_ALIGNED = {"Title": "1", "SubTitle": "1", "Figure": "2", "Image": "2", "Picture": "2", "Table": "3"}
NO_MATCH = "nomatch"
TABLES = (
    "overall", "detection_f", "cell_level_content_acc", "shifted_cell_content_acc", "cell_level_index_acc",
    "table_teds", "table_teds_corrected",
)  # fmt: skip
_CLOSE = 0.95


class TrueCell(TruthModel):
    """A cell of a true table."""

    x: int
    y: int
    w: int
    h: int
    content: Any


class ElementMetadata(TruthModel):
    """What is known beside the text."""

    text_as_html: str | None = None


class TrueElement(TruthModel):
    """An element of a true page."""

    type: str
    text: Annotated[
        Annotated[str, Tag("text")] | Annotated[list[TrueCell], Tag("cells")],
        Discriminator(lambda text: "cells" if isinstance(text, list) else "text"),
    ]
    metadata: ElementMetadata | None = None


@dataclass(frozen=True)
class ScoreBenchProtocol(MeasuredProtocol):
    """Text, tokens, element types and tables of pages, as SCORE-Bench computes them.

    Args:
        no_tables_left_out: A page whose tables were all missed counts for detection alone, as upstream has
            it; else all its measures of tables are worth nothing.
        errors_left_out: A page on which upstream's run would end (a special token of tiktoken) does not
            count; else it is worth nothing.
    """

    name: ClassVar[str] = "score-bench"
    title: ClassVar[str] = "SCORE: text, tokens, elements and tables"
    upstream: ClassVar[str] = "SCORE-Bench b148439 (December 2025)"
    comparability: ClassVar[int] = 1
    figures_by_kind: ClassVar[Mapping[str, str]] = {"text": "cct", "tables": "table_teds"}
    table_matching: ClassVar[str] = "content"
    truth_models: ClassVar[Mapping[str, Any]] = {ELEMENTS: list[TrueElement]}

    no_tables_left_out: bool = True
    errors_left_out: bool = True

    def preload(self) -> None:
        """Load the vocabulary, or say that it is missing, before anything is scored."""
        _encoding()

    def measure(self, truth: Page, prediction: Prediction) -> Measures | None:
        """Return the numbers of a page."""
        wanted = own_truth(truth, ELEMENTS)
        wanted = wanted or [board_element(element, truth=True) for element in in_order(truth)]
        found = [board_element(element) for element in predicted_elements(prediction)]
        values: dict[str, float | None] = {}
        for name, value in document_scores(found, wanted).items():
            values[name] = (None if self.errors_left_out else 0.0) if isinstance(value, Exception) else value
        tables = table_scores(found, wanted)
        missed = any(e["type"] == "Table" for e in wanted) and not self.no_tables_left_out
        return values | {name: tables[name] if not missed else tables[name] or 0.0 for name in TABLES}

    def result_files(self, board: BoardRun) -> Files:
        """Return `PARSER/PAGE.json` that the benchmark's program reads, its document report, and the
        numbers.
        """
        names = [info.name for info in self.infos]
        for parser in board.parsers:
            values, rows = board.values(parser), []
            for sample, *_ in board.pages():
                elements = map(board_element, predicted_elements(board.prediction(sample, parser)))
                yield f"{parser}/{sample}.json", as_json(list(elements))
                rows.append([sample, *(values.get(sample, {}).get(name) for name in names)])
            yield f"{parser}-documents.csv", as_csv([["filename", *names], *rows])
        yield from super().result_files(board)


def board_element(element: Element, *, truth: bool = False) -> dict[str, Any]:
    """Return an element in the form of the benchmark's files."""
    kind, text = label_of(element, __package__), text_of(element)
    if kind != "Table":
        return {"type": kind, "text": text}
    cells = () if element.table is None else element.table.cells
    if truth and cells:
        keys = ("x", "y", "w", "h", "content")
        listed = [dict(zip(keys, (c.col, c.row, c.colspan, c.rowspan, c.text), strict=True)) for c in cells]
        return {"type": kind, "text": listed}
    text = text or " ".join(cell.text for cell in cells)
    return {"type": kind, "text": text, "metadata": {"text_as_html": html_of(element)}}


# --- texts --------------------------------------------------------------------------------------------------


def joined_text(elements: Iterable[BoardElement]) -> str:
    """Return the text of a document; raise ValueError where an element has none."""
    return " ".join(map(_element_text, elements))


def _element_text(element: BoardElement) -> str:
    """Return the text of an element; for a picture, without its `alt`."""
    if not isinstance(element, Mapping) or "text" not in element:
        raise ValueError("an element has no text")
    text, page = _plain(element["text"]), (element.get("metadata") or {}).get("text_as_html")
    if element.get("type") == "Image" and text and page and (alt := re.search('alt="(.*?)"', page)):
        text = text.replace(alt[1], "", 1).strip()
    return text


def _plain(text: Any) -> str:
    return " ".join(str(cell.get("content", "")) for cell in text) if isinstance(text, list) else str(text)


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _closeness(truth: str, pred: str, size: int | None = None) -> float:
    """Return 1 − Levenshtein distance over the truth's length, at least 0; blanks are normalised."""
    truth, pred = _spaced(truth), _spaced(pred)
    check_pairs("characters", len(truth), len(pred), MAX_CHARACTER_PAIRS)
    return 1 - min(1.0, Levenshtein.distance(truth, pred) / max(1, len(truth) if size is None else size))


def cct(truth: str, pred: str) -> float:
    """Return the similarity of two texts, two decimals."""
    return round(_closeness(truth, pred), 2)


@cache
def _encoding() -> Any:
    import tiktoken

    copy = find_package_file("llama_index", "core/_static/tiktoken_cache")
    if copy is not None:
        os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(copy))
    try:
        return tiktoken.get_encoding("cl100k_base")
    except (OSError, ValueError) as error:  # without a network there is none, or a broken one
        raise MissingDependencyError(
            "tiktoken's file cl100k_base", "Tokens of SCORE", f"{INSTALL_WORDS}, which brings a copy"
        ) from error


def token_bag(text: str) -> Counter[str | bytes]:
    """Return the tokens of a cleaned text, bytes where they are no UTF-8; raise ValueError for a special
    token.
    """
    check_size(text, MAX_CHARS)
    text = re.sub(r"(\*{1,2})(.*?)\1", r"\2", text)
    text = re.sub(f"{_BULLET}(?!{_BULLET})", "", text).strip()
    encoding, bag = _encoding(), Counter[str | bytes]()
    for token in encoding.encode(re.sub("\n+", " ", text)):
        data: bytes = encoding.decode_single_token_bytes(token)
        word: str | bytes = data
        with suppress(UnicodeDecodeError):
            word = data.decode().strip()
        if word:
            bag[word] += 1
    return bag


def token_shares(truth: str, pred: str) -> tuple[float, float]:
    """Return the share of true tokens found, and of predicted tokens added."""
    wanted, found = token_bag(truth), token_bag(pred)
    missing, added = (wanted - found).total(), (found - wanted).total()
    share = 1 - round(missing / wanted.total(), 3) if wanted else 0.0
    return round(share, 2), round(round(added / found.total(), 3) if found else 0.0, 2)


def document_scores(pred: Sequence[BoardElement], truth: Sequence[BoardElement]) -> dict[str, Any]:
    """Return the six measures of a document, or the error with which upstream's run would end."""

    def both() -> tuple[str, str]:
        return joined_text(truth), joined_text(pred)

    measures: dict[str, Callable[[], Any]] = {
        "cct": lambda: cct(*both()),
        "percent_tokens_found": lambda: token_shares(*both())[0],
        "percent_tokens_added": lambda: token_shares(*both())[1],
        "adjusted_cct": lambda: adjusted_cct(pred, truth),
        "element_alignment": lambda: element_alignment(pred, truth),
        "element_consistency": lambda: round(consistency(type_matrix(pred, truth)), 2),
    }
    found: dict[str, Any] = {}
    for name, measure in measures.items():
        try:
            found[name] = measure()
        except ValueError as error:
            found[name] = error
    return found


def adjusted_cct(pred: Sequence[BoardElement], truth: Sequence[BoardElement]) -> float:
    """Return CCT; where the numbers of tables differ by more than one, at least the share of words in the
    truth.
    """
    whole = joined_text(truth)
    value = cct(whole, joined_text(pred))
    n_tables = [sum(str(e.get("type")).lower() == "table" for e in side) for side in (pred, truth)]
    if abs(n_tables[0] - n_tables[1]) <= 1:
        return value
    text, n_words, matched = _spaced(whole).lower(), 0, 0
    for piece, is_cell in _pieces(pred):
        n_own, likeness = len(piece.split()), _best_window(piece.lower(), text)
        n_words += n_own
        if likeness >= _CLOSE:
            matched += n_own if is_cell else int(n_own * likeness)
    return round(max(value, matched / n_words if n_words else 0.0), 2)


def _pieces(elements: Iterable[BoardElement]) -> Iterator[tuple[str, bool]]:
    """Yield the strings to find in the truth: texts of elements, and strings of cells."""
    for element in elements:
        if element.get("type") != "Table":
            if text := _spaced(_element_text(element).strip()):
                yield text, False
        elif page := (element.get("metadata") or {}).get("text_as_html"):
            for cell in _soup(page).find_all(["td", "th"]):
                if cell.find("table") is None:
                    yield from ((string.replace("\n", " "), True) for string in cell.stripped_strings)


def _best_window(piece: str, text: str) -> float:
    if piece in text:
        return 1.0
    n, most = len(piece), int(len(piece) * (1 - _CLOSE) + 1e-9)
    if not most:
        return 0.0
    check_pairs("characters", n, len(text), MAX_POSITION_PAIRS)
    windows = (text[at : at + n] for at in range(len(text) - n + 1))
    return 1 - min((Levenshtein.distance(piece, own, score_cutoff=most) for own in windows), default=n) / n


def type_matrix(pred: Sequence[BoardElement], truth: Sequence[BoardElement]) -> Counter[tuple[str, str]]:
    """Return predicted and true kinds of elements that are matched in order; what follows the last match is
    free.
    """
    check_pairs("elements", len(pred), len(truth), MAX_POSITION_PAIRS // 10)
    matrix, start = Counter[tuple[str, str]](), 0

    def kind(element: BoardElement) -> str:
        own = str(element.get("type", NO_MATCH))
        return _GROUPS.get(own, own)

    def alike(a: BoardElement, b: BoardElement) -> bool:
        return "text" in a and "text" in b and _closeness(_plain(a["text"]), _plain(b["text"])) > 0.8

    for element in pred:
        at = next((k for k in range(start, len(truth)) if alike(truth[k], element)), None)
        if at is None:
            matrix[kind(element), NO_MATCH] += 1
            continue
        matrix.update((NO_MATCH, kind(own)) for own in truth[start:at])
        matrix[kind(element), kind(truth[at])] += 1
        start = at + 1
    return matrix


def consistency(matrix: Mapping[tuple[str, str], int]) -> float:
    """Return F1 of a matrix of kinds."""
    right = sum(n for (a, b), n in matrix.items() if a == b != NO_MATCH)
    n_pred, n_truth = (sum(n for pair, n in matrix.items() if pair[side] != NO_MATCH) for side in (0, 1))
    return 2 * (right / n_pred) * (right / n_truth) / (right / n_pred + right / n_truth) if right else 0.0


def element_alignment(pred: Sequence[BoardElement], truth: Sequence[BoardElement]) -> float:
    """Return the similarity of the titles, figures and tables in order; raise ValueError for an element
    without type.
    """
    sides = []
    for side in (truth, pred):
        if any("type" not in element for element in side):
            raise ValueError("an element has no type")
        names = (str(e["type"]).title().replace("-", "").replace(" ", "") for e in side)
        sides.append(" ".join(_ALIGNED[name] for name in names if name in _ALIGNED))
    a, b = sides
    if not a and not b:
        return 1.0
    size = max(len(a), len(b)) + 1 if a and b and max(len(a), len(b)) <= 5 else max(1, len(a))
    return round(1 - min(1.0, Levenshtein.distance(a, b) / size), 2)


# --- tables -------------------------------------------------------------------------------------------------


class BoardCell(NamedTuple):
    """A cell at its place."""

    row: Any
    col: Any
    colspan: Any
    rowspan: Any
    text: str


def _soup(page: str) -> Any:
    from bs4 import BeautifulSoup

    check_size(page, MAX_CHARS)
    soup = BeautifulSoup(page, "html.parser")
    n_tables, n_cells = len(soup.find_all("table")), len(soup.find_all(["tr", "td", "th"]))
    check_pairs("tables and cells", n_tables, n_cells, MAX_GRID)
    return soup


def html_cells(page: str) -> list[BoardCell] | None:
    """Return the cells of the first table, moved aside for spans; None where it cannot be read."""
    table = _soup(page).find("table")
    if table is None:
        return None
    try:
        cells: list[list[Any]] = [
            [y, x, int(cell.get("colspan", 1)), int(cell.get("rowspan", 1)), cell.get_text()]
            for y, row in enumerate(table.find_all("tr"))
            for x, cell in enumerate(row.find_all(["td", "th"]))
        ]
    except ValueError:
        return None
    taken: set[tuple[int, int]] = set()
    for cell in cells:
        y, x, w, h, _ = cell
        if w > 1 or h > 1:
            if len(taken) + max(w, 1) * max(h, 1) > MAX_GRID:
                raise FormatError(f"The cells of the table span more than {MAX_GRID:,} positions")
            taken |= {(r, c) for r in range(y, y + h) for c in range(x, x + w)} - {(y, x)}
        while (y, cell[1]) in taken:
            taken.remove((y, cell[1]))
            for other in [own for own in cells if own[0] == y and own[1] >= cell[1]]:
                other[1] += 1
    return [BoardCell(*cell) for cell in sorted(cells, key=lambda cell: cell[:2])]


def table_cells(element: BoardElement) -> list[BoardCell] | None:
    """Return the cells of a table's text or HTML; raise TypeError where some have no places: upstream's run
    ends.
    """
    listed = element.get("text")
    if not isinstance(listed, list) or not listed:
        page = (element.get("metadata") or {}).get("text_as_html")
        return html_cells(page) if page else None
    keys = ("y", "x", "w", "h", "content")
    places = [[c[key] for key in keys] if all(key in c for key in keys) else [""] * 5 for c in listed]
    cells = [BoardCell(y, x, w, h, str(content)) for y, x, w, h, content in places]
    return sorted(cells, key=lambda cell: (cell.row, cell.col))


def _np2(value: float) -> float:
    return round(value * 100) / 100


def _lines(cells: Sequence[BoardCell], axis: str) -> dict[Any, str]:
    number_of = attrgetter(axis)
    lines = groupby(sorted(cells, key=number_of), number_of)
    return {number: " ".join(cell.text for cell in own) for number, own in lines}


def _content(truth: Mapping[int, str], pred: Mapping[int, str], shift: int = 0) -> float:
    pairs = ((text, _spaced(pred.get(number - shift, ""))) for number, text in truth.items())
    return fmean(_closeness(text, own, len(own)) for text, own in pairs)


def _printed(text: str, name: str) -> str:
    """Return one row of a series, as pandas prints it."""
    text = text.translate({9: r"\t", 10: r"\n", 13: r"\r"})
    text = text if len(text) < 50 else f"{text[:46]}..."
    return _spaced(f"0 {text} Name: full_content_df{name}, dtype: object")


def _shifted(truth: Mapping[int, str], pred: Mapping[int, str], *, as_text: bool) -> float:
    first = min(truth, key=str) if as_text else min(truth)
    wanted, found = _printed(truth[first], "1"), _printed(pred.get(first, ""), "2")
    if _closeness(wanted, found, len(found)) >= 0.8:
        return _np2(_content(truth, pred))
    return _np2(max(_content(truth, pred, shift) for shift in range(-3, 4)))


def _row_cells(cells: Sequence[BoardCell]) -> RowCells:
    ordered = sorted(cells, key=attrgetter("row"))
    lengths = [len(list(row)) for _, row in groupby(ordered, attrgetter("row"))]
    sizes = ((cell.rowspan, cell.colspan) for cell in ordered)
    spans = {index: size for index, size in enumerate(sizes) if size != (1, 1)}
    return RowCells(lengths, [cell.text for cell in ordered], spans)


def _teds(truth: Sequence[BoardCell], pred: Sequence[BoardCell]) -> tuple[float, float]:
    rows = [_row_cells(cells) for cells in (truth, pred)]
    trees = [TableTree(cells) for cells in rows]
    check_pairs("nodes", trees[0].n_nodes, trees[1].n_nodes, MAX_POSITION_PAIRS)
    check_pairs("characters", trees[0].n_characters, trees[1].n_characters, MAX_CHARACTER_PAIRS)
    distance = edit_distance(trees[0], trees[1], False)
    lengths = [cells.lengths for cells in rows]
    corrected = sum(map(max, zip_longest(*lengths, fillvalue=0))) + abs(len(lengths[0]) - len(lengths[1]))
    whole = max(tree.n_elements + 1 for tree in trees)
    return round(max(0.0, 1 - distance / whole), 2), round(1 - distance / corrected, 2)


def _pair(truth: Sequence[BoardCell], pred: Sequence[BoardCell]) -> list[float]:
    """Return the eight values of two tables."""
    check_pairs("cells", len(truth), len(pred), MAX_POSITION_PAIRS)
    lines = [[_lines(side, axis) for side in (truth, pred)] for axis in ("row", "col")]
    content = [_np2(_content(a, b)) for a, b in lines]
    shifted = [_shifted(a, b, as_text=axis == 1) for axis, (a, b) in enumerate(lines)]
    placed = [[ScoreCell(cell.row, cell.col, cell.text) for cell in side] for side in (truth, pred)]
    return [*content, *shifted, *index_shares(*placed), *_teds(truth, pred)]


def table_scores(pred: Sequence[BoardElement], truth: Sequence[BoardElement]) -> dict[str, float | None]:
    """Return the measures of all tables of a document; None for those that are not defined.

    TypeError where some true cells have no places, FormatError for tables that are too large.
    """
    found, wanted = (
        [cells for e in side if e.get("type") == "Table" and (cells := table_cells(e))]
        for side in (pred, truth)
    )
    values: dict[str, float | None] = dict.fromkeys(TABLES)
    if not wanted or not found:
        return values | {"detection_f": float(not wanted and not found)}
    texts = [[" ".join(cell.text for cell in cells) for cells in side] for side in (found, wanted)]
    check_pairs("characters", sum(map(len, texts[0])), sum(map(len, texts[1])), MAX_CHARACTER_PAIRS)
    taken = kernel.close_matches(texts[0], texts[1], 0.1)
    rows = [_pair(wanted[at], own) if at >= 0 else [0.0] * 8 for at, own in zip(taken, found, strict=True)]
    right = {at for at in taken if at >= 0}
    rows += [[0.0] * 8] * (len(wanted) - len(right))
    precision, recall = len(right) / len(found), len(right) / len(wanted)
    detection = round(2 * precision * recall / (precision + recall) if right else 0.0, 2)
    means = [_np2(fmean(column)) for column in zip(*rows, strict=True)]
    content, shifted, index = (_np2((means[k] + means[k + 1]) / 2) for k in (0, 2, 4))
    overall = _np2((detection + index + content) / 3)
    return dict(zip(TABLES, (overall, detection, content, shifted, index, *means[6:]), strict=True))
