"""Parsers and corpora for tests of the engine."""

import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from parsemark.corpora import Corpus
from parsemark.errors import ParserError
from parsemark.model import Box, Element, Page, Sample, Table
from parsemark.parsers import Info, State, WorkerCommand

WORKER = Path(__file__).with_name("fake_worker.py")


@dataclass(frozen=True)
class FakeParser:
    """What the engine uses of a parser, around `fake_worker.py`."""

    name: str = "fake"
    arguments: tuple[str, ...] = ()
    fingerprint: str = "f1"
    broken: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    script: Path = WORKER
    installed_mb: float | None = None
    builtin: bool = True
    weights: None = None
    info: Info = field(default_factory=lambda: Info(licence="MIT", gives=("markdown",)))

    def state(self) -> State:
        return State("installable" if self.broken else "ready")

    def install(self, progress: Callable[[str], None] | None = None) -> None:
        raise ParserError(self.broken or "")

    def command(self, hidden: Collection[Path] = ()) -> WorkerCommand:
        return WorkerCommand((sys.executable, "-u", str(WORKER), *self.arguments), {}, str(WORKER.parent))

    @property
    def spec(self) -> str:
        return self.name


def truth(name: str) -> Page:
    table = Table.from_rows([[name, "page 1"], ["1", "2"]])
    return Page(name, 600, 800, (Element("t0", "table", Box(10, 10, 200, 100), table=table),))


def make_corpus(folder: Path, behaviours: Sequence[str]) -> Corpus:
    """A corpus of one "PDF" for each behaviour of the fake worker."""
    folder.mkdir(parents=True, exist_ok=True)
    samples = []
    for index, behaviour in enumerate(behaviours):
        name = f"s{index:03d}"
        pdf = folder / f"{name}.pdf"
        pdf.write_text(f"{behaviour} {name}")
        samples.append(Sample(name, f"d{index // 2}", 1, truth(name), pdf))
    return Corpus.of("fakes", samples, root=folder, version="1", licence="CC0")


def times_asked(corpus: Corpus) -> dict[str, int]:
    """How often a worker was asked for each page."""
    logs = {key: corpus.root / f"{key}.log" for key in corpus.keys}
    return {key: len(log.read_text().split()) if log.exists() else 0 for key, log in logs.items()}
