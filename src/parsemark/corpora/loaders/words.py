"""Words with boxes, as table corpora ship them: `[{"bbox": [x0, y0, x1, y1], "text": "…"}, …]`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from parsemark.corpora.loaders.files import read_json
from parsemark.errors import CorpusError
from parsemark.model import Box


class PlacedWord(NamedTuple):
    """A word, and where it comes in reading order."""

    order: tuple[float, ...]
    text: str
    box: Box


def read_words(path: Path) -> list[PlacedWord]:
    """The words of a file, in reading order."""
    data = read_json(path)
    listed = data.get("words", data.get("tokens")) if isinstance(data, Mapping) else data
    if not isinstance(listed, list):
        raise CorpusError(f"{path} is not a list of words.")
    return sorted(_word(item, index, path) for index, item in enumerate(listed))


def joined(words: Iterable[PlacedWord]) -> str:
    """The texts of words in reading order, parted by spaces."""
    return " ".join(word.text for word in sorted(words))


def _word(item: Any, index: int, path: Path) -> PlacedWord:
    try:
        x0, y0, x1, y1 = (float(v) for v in item["bbox"])
        box = Box(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
        order = tuple(float(item.get(key, index)) for key in ("block_num", "line_num", "span_num"))
        return PlacedWord((*order, index), str(item["text"]), box)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CorpusError(f"{path}, word {index}: it needs a text and a bbox of four numbers.") from error
