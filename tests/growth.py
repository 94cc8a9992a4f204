"""A grammar of adversarial inputs, and how the cost of reading them grows.

Each format has pieces: what opens, closes, parts or escapes in it. An input is a piece repeated, a piece and
then one character without end, or pieces with blanks between, each also with a tail that matches nothing.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from parsemark.errors import FormatError

SIZES = (10_000, 30_000, 100_000)
MAX_CPU_S = 1.0
"""For 100 kB, on a machine that runs `_reference_loop` in `_REFERENCE_S`: what `bench growth` measures."""
CEILING = 4
"""Times `MAX_CPU_S`: what a test refuses. Tests hold the exponent, which every machine has alike; a limit in
seconds is a figure for a quiet one.
"""
MAX_EXPONENT = 1.4
"""Linear is 1; what is under `_SMALL_S` at 100 kB is not told from noise."""
TRIES = 4
_SMALL_S = 0.25
_REFERENCE_S = 0.02

TEXT = [
    " ", "a", "1", "_", "-", "=", ".", ". ", "-- ", "a  b", "a,", "a;", "a\t", "\"", "\x00", "\n", "\r",
    "+-", "│", "===  ===\na  b\n",
]  # fmt: skip
MARKDOWN = [
    "|", "| ", "|-", "*a ", "**a ", " __a", " _a", "~~", "`", "``` ", "```\n", "$", "$x ", "\\(", "\\[",
    "[a](", "![a](", "# ", "> ", "- ", "1. ", "<br", "<!--", "&", "&#1",
]  # fmt: skip
HTML = [
    "<", "<table>", "<tr>", "<td>", "<td ", "<td colspan=", "<td colspan=\"", "<br ", "<b>", "</b>",
    "<math>", "<math/>", "<colgroup>", "<!--", "<![<", "<!", "<?", "<script>", "<sup>", "&lt;",
    "<a b='", "a<img>", "<p hidden>", "a <td hidden>",
]  # fmt: skip
LATEX = [
    "\\", "\\\\", "\\\\[", "{", "}", "[", "$", "&", "^", "_", "^{", "\\begin{a}", "\\begin{tabular}{l}",
    "%", "\\end{tabular}", "\\cite{", "\\cite[", "\\frac", "\\frac{", "\\sqrt[", "\\over ", "\\left",
    "\\not", "\\ce{", "\\hat", "\\def\\a", "\\newcommand{\\a}", "\\verb|", "\\cmidrule(",
    "\\multirow{2}{*}{", "\\SI{", "\\hskip", "\\item", "\\(", "\\alpha", "'", "~", "\\iffalse ",
]  # fmt: skip
NUMBERS = ["1,111", "1,", "1\u202f111", "1 x ", "½", "²", "^1", "¹/₂", "\u0301", "--", "''"]


@dataclass(frozen=True)
class Growth:
    """CPU seconds at each of `SIZES`."""

    seconds: tuple[float, ...]

    @property
    def exponent(self) -> float:
        """Of the power of the size that the cost grows with, over a factor of ten."""
        return math.log(self.seconds[-1] / max(self.seconds[0], 1e-6)) / math.log(SIZES[-1] / SIZES[0])

    def is_bounded(self, slowness: float, max_cpu_s: float = MAX_CPU_S) -> bool:
        """Whether 100 kB cost at most so much and nothing grows faster than linearly."""
        last = self.seconds[-1] / slowness
        return last <= max_cpu_s and (last <= _SMALL_S or self.exponent <= MAX_EXPONENT)

    def least(self, other: Growth) -> Growth:
        """What neither measurement was under: another process can only make one slower."""
        return Growth(tuple(map(min, self.seconds, other.seconds)))


N_SHAPES = 6
"""Inputs that are made of each piece."""


def inputs(pieces: list[str]) -> Iterator[tuple[str, Callable[[int], str]]]:
    """Each input with its name, as a function of its size."""
    for piece in pieces:
        yield f"{piece!r} repeated", lambda n, p=piece: (p * (n // len(p) + 1))[:n]
        yield f"{piece!r} repeated, then a tail", lambda n, p=piece: (p * (n // len(p) + 1))[: n - 3] + " !x"
        for fill in " a_":
            yield f"{piece!r}, then {fill!r}", lambda n, p=piece, f=fill: p + f * (n - len(p))
        yield f"{piece!r}, blanks, a tail", lambda n, p=piece: p + " " * (n - len(p) - 1) + "!"


@contextmanager
def uncollected() -> Iterator[None]:
    """Without the collector of cycles, where CPU time is measured.

    A large input sets off more of its rounds, and each walks through all that the tests before have left in
    memory, which is not the cost of what is measured.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def measure(read: Callable[[str], object], make: Callable[[int], str]) -> Growth:
    """The growth of the cost of reading; a refusal is an answer."""
    seconds = []
    with uncollected():
        for size in SIZES:
            text = make(size)
            start = time.process_time()
            try:
                read(text)
            except FormatError as error:
                assert len(str(error)) < 1_000
            seconds.append(time.process_time() - start)
            if seconds[-1] > 10 * MAX_CPU_S:
                break
    return Growth(tuple(seconds))


def excess(read: Callable[[str], object], make: Callable[[int], str]) -> Growth | None:
    """None, or the growth of the cost that is not bounded in the least of some tries."""
    growth = measure(read, make)
    for _ in range(TRIES):
        if growth.is_bounded(slowness(), CEILING * MAX_CPU_S):
            return None
        growth = growth.least(measure(read, make))
    return growth


def slowness() -> float:
    """How much slower than a quiet desktop this machine is now, at least 1."""
    return max(1.0, min(_reference_loop() for _ in range(3)) / _REFERENCE_S)


def _reference_loop() -> float:
    start = time.process_time()
    total = 0
    for number in range(300_000):
        total += number & 7
    return time.process_time() - start
