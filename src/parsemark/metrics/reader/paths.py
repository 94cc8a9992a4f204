"""Column headers as paths: the texts above a column, from the widest group to its own name."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from parsemark.metrics.reader.likeness import likeness, tight
from parsemark.metrics.reader.parameters import Parameters
from parsemark.metrics.reader.sheet import Sheet

Path = tuple[str, ...]


class Fill(Enum):
    """How an empty cell in a header row is read."""

    NOT = "not"
    """As empty."""
    PADDED = "padded"
    """As covered by the name to its left, as in Markdown, which has no spans."""
    RAGGED = "ragged"
    """The same, also where the row has ended and there is no cell at all."""


def column_paths(sheet: Sheet, header_rows: Iterable[int], fill: Fill) -> list[Path]:
    """The header path of each column, given which rows are headers."""
    rows = [sheet.texts[r] if fill is Fill.NOT else _filled(sheet, r, fill) for r in header_rows]
    paths: list[Path] = []
    for col in range(sheet.n_cols):
        levels: list[str] = []
        for row in rows:
            if row[col] and row[col] not in levels[-1:]:
                levels.append(row[col])
        paths.append(tuple(levels))
    return paths


def _filled(sheet: Sheet, row: int, fill: Fill) -> list[str]:
    texts = list(sheet.texts[row])
    for col in range(1, len(texts)):
        empty = not sheet.present[row][col]
        if empty and (fill is Fill.RAGGED or not sheet.holes[row][col]):
            texts[col] = texts[col - 1]
    return texts


def ordered_paths(sheet: Sheet, header_rows: Iterable[int], columns: list[int]) -> list[Path]:
    """The header paths if names are given to the columns in turn, wherever their cells stand.

    So a reader does where a header row has as many names as there are columns, or one less because the
    label column has none, but its cells have slipped.
    """
    levels: list[list[str]] = [[] for _ in range(sheet.n_cols)]
    for row in header_rows:
        names = [t for t, start in zip(sheet.texts[row], sheet.starts[row], strict=True) if t and start]
        if 0 <= len(columns) - len(names) <= 1:
            placed = list(zip(columns[len(columns) - len(names) :], names, strict=True))
        else:
            placed = [(c, t) for c, t in enumerate(sheet.texts[row]) if t]
        for col, name in placed:
            if name not in levels[col][-1:]:
                levels[col].append(name)
    return [tuple(found) for found in levels]


def path_likeness(truth: Path, pred: Path, parameters: Parameters, outside: str = "") -> float:
    """How much of a column's header a reader finds above the column that answers it."""
    if truth == pred:
        return 1.0
    if not truth:
        return 1.0
    if not pred:
        return parameters.inferred if outside and all(_contains(outside, level) for level in truth) else 0.0
    whole = likeness(" ".join(truth), " ".join(pred), parameters)
    if whole == 1.0:
        return 1.0
    found = [max(_level_likeness(level, p, parameters) for p in pred) for level in truth]
    if outside:
        found = [
            max(f, parameters.inferred * _contains(outside, t)) for f, t in zip(found, truth, strict=True)
        ]
    groups = found[:-1]
    recall = found[-1]
    if groups:
        recall = (recall + parameters.group * sum(groups) / len(groups)) / (1 + parameters.group)
    explained = sum(_explained(p, truth, parameters) for p in pred) / len(pred)
    return max(whole, recall * (0.5 + 0.5 * explained))


def _level_likeness(level: str, text: str, parameters: Parameters) -> float:
    if _contains(text, level):
        return 1.0
    return likeness(level, text, parameters)


def _contains(text: str, part: str) -> bool:
    """Whether a text holds a part between word ends."""
    if len(part) >= len(text):
        return False
    return f" {part} " in f" {text} "


def _explained(text: str, truth: Path, parameters: Parameters) -> float:
    """Share of a predicted level that the truth's levels account for."""
    if any(likeness(level, text, parameters) > 0.5 for level in truth):
        return 1.0
    covered = sum(len(tight(level)) for level in truth if _contains(text, level))
    return min(1.0, covered / max(1, len(tight(text))))
