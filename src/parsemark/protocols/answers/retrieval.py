"""Would a retrieval system find the answer: chunks of an output, ranked by BM25 for each question."""

from __future__ import annotations

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
FOUND = "found_"
"""Metric of the row of a fact that is searched for, before how the output was cut."""
SIZE, TOP = 512, 5
ASKED = frozenset({"cell number", "cell text", "number", "name"})
"""Kinds of facts that have an answer to look for."""


def chunks_of(text: str, chunking: Chunking) -> list[str]:
    """An output in pieces: of at most `SIZE` words, between lines where it can be, or at each heading."""
    pieces: list[list[str]] = [[]]
    size = 0
    for whole in text.split("\n"):
        line, words = whole, whole.split()
        is_heading = chunking == "headings" and line.startswith("#")
        if is_heading or (chunking == "tokens" and pieces[-1] and size + len(words) > SIZE):
            pieces.append([])
            size = 0
        # A table may be one line, and longer than a chunk.
        while chunking == "tokens" and len(words) > SIZE:
            pieces[-1].append(" ".join(words[:SIZE]))
            pieces.append([])
            words = words[SIZE:]
            line = " ".join(words)
        pieces[-1].append(line)
        size += len(words)
    joined = ("\n".join(piece) for piece in pieces)
    return [piece for piece in joined if piece.strip()]


class Retriever:
    """The chunks of one output, ranked for questions."""

    def __init__(self, text: str, chunking: Chunking) -> None:
        with needed_for("answers(scope=document)"):
            import bm25s

        self._chunks = chunks_of(text, chunking)
        self._outputs: dict[int, AskedOutput] = {}
        tokens = [[word.casefold() for word in words_of(chunk)] for chunk in self._chunks]
        self._index = bm25s.BM25() if any(tokens) else None
        if self._index is not None:
            self._index.index(tokens, show_progress=False)

    def lost(self, fact: Fact) -> Lost:
        """Where a fact that the whole output answers is lost: nowhere, as no chunk answers it, or as one does
        but is not among the first.
        """
        answering = [k for k in range(len(self._chunks)) if self._answers(fact, k)]
        if not answering:
            return "chunk"
        return "" if set(answering) & set(self._first(fact)) else "retrieval"

    def _first(self, fact: Fact) -> Sequence[int]:
        asked = [word.casefold() for word in words_of(question(fact))]
        if self._index is None:
            return []
        scores = self._index.get_scores(asked)
        return sorted(range(len(self._chunks)), key=lambda k: (-float(scores[k]), k))[:TOP]

    def _answers(self, fact: Fact, chunk: int) -> bool:
        if chunk not in self._outputs:
            try:
                elements = read_output(self._chunks[chunk], "markdown").elements
            except FormatError:
                elements = ()
            self._outputs[chunk] = AskedOutput(elements)
        return ask(fact, self._outputs[chunk]).state == "right"
