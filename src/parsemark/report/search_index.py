"""The index of words by which the page viewer searches truths and outputs without a server.

One file for each first letter: word to the numbers of the pages that have it, in the truth or in an output.
"""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from parsemark.report.chunks import write_chunk

MOST_WORDS = 5_000  # different words of one page; the rest are not found
LONGEST_WORD = 40
OTHER = "other"  # words that begin with none of a–z and 0–9
_WORD = re.compile(r"[^\W_]+")
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


class SearchIndex:
    """Collects the words of the pages of a report, and writes them once all pages are known."""

    def __init__(self) -> None:
        self._pages: dict[str, dict[str, list[int]]] = {letter: {} for letter in (*_LETTERS, OTHER)}

    def add(self, page: int, stored: Iterable[str]) -> None:
        """Add a page by its number: the JSON of its truth and of all outputs. Pages come in order."""
        texts = [text for data in stored for text in _strings(json.loads(data))]
        for word in sorted(words_of(texts))[:MOST_WORDS]:
            own = self._pages[word[0] if word[0] in _LETTERS else OTHER]
            own.setdefault(word, []).append(page)

    def write(self, root: Path) -> None:
        """Write `data/search/LETTER.js`: words with the pages that have them, as steps from page to page."""
        for letter, own in self._pages.items():
            steps = {
                word: [pages[0], *(b - a for a, b in pairwise(pages))] for word, pages in sorted(own.items())
            }
            write_chunk(root, f"search/{letter}", steps)


def words_of(texts: list[str]) -> set[str]:
    """Return the words of some texts, as the search writes them.

    >>> sorted(words_of(["Total_sum: 1.12 €", "total"]))
    ['1', '12', 'sum', 'total']
    """
    return {word[:LONGEST_WORD] for word in set(_WORD.findall("\n".join(texts).lower()))}


def _strings(page: dict[str, Any]) -> Iterator[str]:
    for element in page.get("elements", ()):
        cells = (element.get("table") or {}).get("cells", ())
        yield from (cell["text"] for cell in cells if cell.get("text"))
        yield from (element[key] for key in ("text", "latex") if element.get(key))
    if page.get("text"):
        yield page["text"]
