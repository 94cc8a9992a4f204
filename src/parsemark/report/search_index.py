"""The index of words by which the page viewer searches truths and outputs without a server.

One file for each first letter: word to the numbers of the pages that have it, in the truth or in an output.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl

from parsemark.report.chunks import write_chunk
from parsemark.report.source import RunSource

BATCH = 200
MOST_WORDS = 5_000  # different words of one page; the rest are not found
LONGEST_WORD = 40
OTHER = "other"  # words that begin with none of a–z and 0–9
_WORD = re.compile(r"[^\W_]+")
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


def write_search_index(root: Path, source: RunSource) -> None:
    """Write `data/search/LETTER.js`: words with the pages that have them, as steps from page to page."""
    found: dict[str, dict[str, list[int]]] = {letter: {} for letter in (*_LETTERS, OTHER)}
    for first, ids in source.batches(BATCH):
        texts = _texts(source, ids)
        for offset, sample in enumerate(ids):
            for word in sorted(words_of(texts[sample]))[:MOST_WORDS]:
                own = found[word[0] if word[0] in _LETTERS else OTHER]
                own.setdefault(word, []).append(first + offset)
    for letter, own in found.items():
        steps = {
            word: [pages[0], *(b - a for a, b in pairwise(pages))] for word, pages in sorted(own.items())
        }
        write_chunk(root, f"search/{letter}", steps)


def words_of(texts: list[str]) -> set[str]:
    """Return the words of some texts, as the search writes them.

    >>> sorted(words_of(["Total_sum: 1.12 €", "total"]))
    ['1', '12', 'sum', 'total']
    """
    return {word[:LONGEST_WORD] for text in texts for word in _WORD.findall(text.lower())}


def _texts(source: RunSource, ids: pl.Series) -> dict[str, list[str]]:
    """Return the texts of some pages: of the truth and of all outputs."""
    texts: dict[str, list[str]] = defaultdict(list)
    for name, column in (("samples", "truth"), ("predictions", "prediction")):
        for sample, stored in source.rows_of(name, ids).select("sample", column).iter_rows():
            if stored:
                texts[sample] += _strings(json.loads(stored))
    return texts


def _strings(page: dict[str, Any]) -> Iterator[str]:
    for element in page.get("elements", ()):
        cells = (element.get("table") or {}).get("cells", ())
        yield from (cell["text"] for cell in cells if cell.get("text"))
        yield from (element[key] for key in ("text", "latex") if element.get(key))
    if page.get("text"):
        yield page["text"]
