"""Would a retrieval system find the answer: chunks of an output, ranked by BM25 for each question."""

from collections.abc import Sequence
from typing import Literal

from parsemark.errors import FormatError
from parsemark.extras import needed_for
from parsemark.formats import read_output
from parsemark.model import Fact
from parsemark.protocols.answers.ask import ask
from parsemark.protocols.answers.derive import question
from parsemark.protocols.answers.output import AskedOutput, words_of

Chunking = Literal["tokens", "headings"]
CHUNKINGS: tuple[Chunking, ...] = ("tokens", "headings")
Lost = Literal["", "chunk", "retrieval"]
FOUND = "found_"  # metric of the row of a fact that is searched for, before how the output was cut
SIZE, TOP = 512, 5
ASKED = frozenset({"cell number", "cell text", "number", "name"})
"""Kinds of facts that have an answer to look for."""


def chunks_of(text: str, chunking: Chunking, most: int = SIZE) -> list[str]:
    """Return an output in pieces: of at most `most` words, between lines where it can be, or at each
    heading.
    """
    pieces: list[list[str]] = [[]]
    size = 0
    for whole in text.split("\n"):
        line, words = whole, whole.split()
        is_heading = chunking == "headings" and line.startswith("#")
        if is_heading or (chunking == "tokens" and pieces[-1] and size + len(words) > most):
            pieces.append([])
            size = 0
        # A table may be one line, and longer than a chunk.
        while chunking == "tokens" and len(words) > most:
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
    """The chunks of one output, searched for what answers facts."""

    def __init__(self, text: str, chunking: Chunking) -> None:
        self._chunks = chunks_of(text, chunking)
        self._outputs: dict[int, AskedOutput] = {}
        self._index = ChunkIndex(self._chunks)

    def lost(self, fact: Fact) -> Lost:
        """Return where a fact that the whole output answers is lost: nowhere, as no chunk answers it, or as
        one does but is not among the first.
        """
        answering = [k for k in range(len(self._chunks)) if self._answers(fact, k)]
        if not answering:
            return "chunk"
        return "" if set(answering) & set(self._index.first(question(fact), TOP)) else "retrieval"

    def _answers(self, fact: Fact, chunk: int) -> bool:
        if chunk not in self._outputs:
            try:
                elements = read_output(self._chunks[chunk], "markdown").elements
            except FormatError:
                elements = ()
            self._outputs[chunk] = AskedOutput(elements)
        return ask(fact, self._outputs[chunk]).state == "right"
