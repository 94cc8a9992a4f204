"""What HTML comments say in the outputs of parsers, which write them in Markdown and in HTML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

_FIGURES = frozenset({"image", "picture", "figure", "formula-not-decoded"})


class Comment(NamedTuple):
    """A comment `source[start:end]`, with what it says in lower case."""

    start: int
    end: int
    word: str

    @property
    def is_figure(self) -> bool:
        """Whether it stands for a picture (`<!-- image -->`)."""
        return self.word in _FIGURES


def read_comments(source: str) -> Iterator[Comment]:
    """The comments of a text; one that is not closed is none."""
    position = 0
    while (start := source.find("<!--", position)) >= 0 and (end := source.find("-->", start + 4)) >= 0:
        position = end + 3
        yield Comment(start, position, source[start + 4 : end].strip().lower())
