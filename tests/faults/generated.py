"""Texts made of the tokens that our scanners know, and everything public that reads texts of others.

A text is given by a seed and a number alone, so that a failure can be had again:
`python -m tests.faults.generated SEED NUMBER` prints it.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import random
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

from tests.formats.test_growth import READERS
from tests.growth import HTML, LATEX, MARKDOWN, NUMBERS, TEXT

from parsemark.formats import latex, read_document
from parsemark.metrics import METRICS, TableInput, get_metric
from parsemark.model import Page
from parsemark.parsers.raw import read_raw
from parsemark.protocols import get_protocol

Read = Callable[[str], object]
HOSTILE = ["\ud800", "\u202e", "\ufeff", "\u2028", "𝑎", "\x1b[2J", "９", "²", "İ", "\u0378", "\n\n", "\0"]
PROTOCOLS = (
    *("tables", "document", "document(profile=v1.0,cdm=false)", "document(profile=v1.5,cdm=false)"),
    "document(profile=v1.6,cdm=false)",
)
TRUTH = "# A\n\ntext $x_1$\n\n| a | b |\n|---|---|\n| 1,111 | $x$ |\n\n$$\\frac{a}{b}$$"
_NAME = re.compile(r"[A-Za-z]{2,24}\*?")


class TooSlowError(BaseException):
    """Not an `Exception`: nothing that is attacked may catch it."""


@cache
def tokens() -> tuple[str, ...]:
    """Pieces of the grammars, and every name that stands in a table of the LaTeX scanner."""
    names: set[str] = set()
    for module in pkgutil.iter_modules(latex.__path__):
        for value in vars(importlib.import_module(f"{latex.__name__}.{module.name}")).values():
            if isinstance(value, dict | frozenset | set):
                names |= {key for key in value if isinstance(key, str) and _NAME.fullmatch(key)}
    commands = [piece for name in sorted(names) for piece in (f"\\{name}", f"\\{name}{{")]
    environments = [f"\\begin{{{name}}}" for name in ("tabular", "array", "itemize", "matrix", "align")]
    return (*TEXT, *MARKDOWN, *HTML, *LATEX, *NUMBERS, *HOSTILE, *environments, *commands)


@cache
def readers() -> dict[str, Read]:
    """All readers of formats, all metrics of tables, all protocols of pages."""
    found: dict[str, Read] = {name: read for name, (read, _) in READERS.items()}
    for name in METRICS.builtin:
        if get_metric(name).metadata.kind == "table" and name != "reader":
            found[name] = _metric(name)
    page = Page("p", 600, 800, read_document(TRUTH, "markdown").elements)
    return found | {spec: _protocol(spec, page) for spec in PROTOCOLS}


def _metric(name: str) -> Read:
    truth = TableInput("<table><tr><td>a</td><td>1,111</td></tr><tr><td>b</td><td>$x_1$</td></tr></table>")
    metric = get_metric(name)
    return lambda text: metric.score(truth, TableInput(f"<table><tr><td>{text}</td></tr></table>"))


def _protocol(spec: str, truth: Page) -> Read:
    protocol = get_protocol(spec)

    def read(text: str) -> object:
        raw = json.dumps({"format": "markdown", "content": text}).encode()
        return protocol.score_page(truth, read_raw(raw, "p", "generated"), None)

    return read


def shape(seed: int, number: int) -> tuple[str, Callable[[int], str]]:
    """The name of a reader, and one to three tokens repeated to any size, perhaps within others."""
    chosen = random.Random(f"{seed}:{number}")
    name = chosen.choice(sorted(readers()))
    piece = "".join(chosen.choice(tokens()) for _ in range(chosen.choice((1, 2, 2, 3))))
    before = chosen.choice(("", "", chosen.choice(tokens())))
    after = chosen.choice(("", "", chosen.choice(tokens()), " !x", "}" * 50))

    def make(size: int) -> str:
        room = max(0, size - len(before) - len(after))
        return before + (piece * (room // len(piece) + 1))[:room] + after

    return name, make


def text(seed: int, number: int) -> tuple[str, str]:
    """The name of a reader, and some tokens one after the other."""
    chosen = random.Random(f"{seed}:{number}")
    name = chosen.choice(sorted(readers()))
    return name, "".join(chosen.choice(tokens()) for _ in range(chosen.choice((1, 3, 8, 20))))


@contextmanager
def at_most(cpu_s: float) -> Iterator[None]:
    """Raise `TooSlowError` after so much CPU time."""

    def stop(*_: object) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, cpu_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


if __name__ == "__main__":
    name, made = text(int(sys.argv[1]), int(sys.argv[2]))
    sys.stdout.write(f"{name}: {made!r}\n")
