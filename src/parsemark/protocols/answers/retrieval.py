"""Would a retrieval system find the answer: chunks of an output, ranked by BM25 for each question."""

from collections.abc import Container, Iterator, Sequence
from typing import Literal

from parsemark.errors import FormatError
from parsemark.extras import needed_for
from parsemark.formats import read_output
from parsemark.model import Category, Fact, Page
from parsemark.protocols.answers.ask import ask
from parsemark.protocols.answers.derive import question
from parsemark.protocols.answers.output import AskedOutput, Words, said_words, words_of

Chunking = Literal["tokens", "headings"]
CHUNKINGS: tuple[Chunking, ...] = ("tokens", "headings")
Lost = Literal["", "chunk", "retrieval"]
FOUND = "found_"  # metric of the row of a fact that is searched for, before how the output was cut
SIZE = 512
BUDGET = 5 * SIZE
"""Words that are read for one question: so many in large chunks or in small ones."""
ASKED = frozenset({"cell number", "cell text", "number", "name"})
"""Kinds of facts that have an answer to look for."""


def chunks_of(
    text: str, chunking: Chunking, most: int = SIZE, headings: Container[Words] | None = None
) -> list[str]:
    """Return an output in pieces of at most `most` words, divided between lines where that is possible.

    With `headings`, a piece ends at each heading as well: at those given, or at all where None are.
    """
    pieces: list[list[str]] = [[]]
    size = 0
    for whole in text.split("\n"):
        line, words = whole, whole.split()
        is_heading = chunking == "headings" and line.startswith("#")
        is_heading = is_heading and (headings is None or said_words(line.lstrip("#")) in headings)
        if is_heading or (pieces[-1] and size + len(words) > most):
            pieces.append([])
            size = 0
        # A table may be one line, and longer than a chunk.
        while len(words) > most:
            pieces[-1].append(" ".join(words[:most]))
            pieces.append([])
            words = words[most:]
            line = " ".join(words)
        pieces[-1].append(line)
        size += len(words)
    joined = ("\n".join(piece) for piece in pieces)
    return [piece for piece in joined if piece.strip()]


class ChunkIndex:
    """Chunks that BM25 ranks for questions."""

    def __init__(self, chunks: Sequence[str]) -> None:
        with needed_for("Searching outputs"):
            import bm25s

        self._n = len(chunks)
        tokens = [[word.casefold() for word in words_of(chunk)] for chunk in chunks]
        self._index = bm25s.BM25() if any(tokens) else None
        if self._index is not None:
            self._index.index(tokens, show_progress=False)

    def first(self, asked: str, top: int) -> Sequence[int]:
        """Return the numbers of the chunks that fit best."""
        if self._index is None:
            return []
        scores = self._index.get_scores([word.casefold() for word in words_of(asked)])
        return sorted(range(self._n), key=lambda k: (-float(scores[k]), k))[:top]


class Retriever:
    """The chunks of one output, searched for what answers facts.

    Chunks end at the headings of `truth`, so that headings that an output drops or adds make no chunk better.
    """

    def __init__(self, text: str, chunking: Chunking, truth: Page | None = None) -> None:
        headings = None
        if truth is not None and truth.covers(Category.TITLE):
            headings = {words for words, _ in AskedOutput(tuple(truth.elements)).headings}
        self._chunks = chunks_of(text, chunking, headings=headings)
        self._outputs: dict[int, AskedOutput] = {}
        self._index = ChunkIndex(self._chunks)

    def lost(self, fact: Fact) -> Lost:
        """Return where a fact that the whole output answers is lost: nowhere, as no chunk answers it, or as
        one does but is not among the first.
        """
        answering = [k for k in range(len(self._chunks)) if self._answers(fact, k)]
        if not answering:
            return "chunk"
        return "" if set(answering) & set(self._read(question(fact))) else "retrieval"

    def _read(self, asked: str) -> Iterator[int]:
        """Yield the chunks that fit best, as long as they have no more words than may be read."""
        left = BUDGET
        for k in self._index.first(asked, len(self._chunks)):
            left -= len(self._chunks[k].split())
            if left < 0:
                return
            yield k

    def _answers(self, fact: Fact, chunk: int) -> bool:
        if chunk not in self._outputs:
            try:
                elements = read_output(self._chunks[chunk], "markdown").elements
            except FormatError:
                elements = ()
            self._outputs[chunk] = AskedOutput(elements)
        return ask(fact, self._outputs[chunk]).state == "right"
