"""Releases of a local package, pages that it reads, and a worker around it."""

from collections.abc import Collection
from pathlib import Path

import pytest
from tests.corpora.writing import write_corpus
from tests.engine.fakes import make_corpus
from tests.packages import index_of_wheels, write_wheel

SCRIPT = """\
# /// script
# requires-python = ">=3.11"
# dependencies = ["tabler==1.1"]
#
# [tool.parsemark]
# licence = "MIT"
# gives = ["cells"]
# ///
from pathlib import Path

import tabler
from parsemark_worker import elements_output, serve, table

def parse(pdf, page, options):
    return elements_output([table(tabler.read(Path(pdf).read_text()), box=(10, 10, 200, 100))])

serve(parse)
"""


def make_releases(
    folder: Path, patch: pytest.MonkeyPatch, n: int, lost_from: int, broken: Collection[int] = ()
) -> None:
    """Releases 1.1 to 1.n of `tabler`, which lose the second row from one on; some cannot be imported."""
    wheels = index_of_wheels(folder, patch)
    for number in range(1, n + 1):
        rows = "[[text.split()[1], 'page 1'], ['1', '2']]" + ("[:1]" if number >= lost_from else "")
        source = f"def read(text):\n    return {rows}\n"
        write_wheel(
            wheels, "tabler", f"1.{number}", "raise ImportError('gone')\n" if number in broken else source
        )


def write_pages(folder: Path, n: int) -> None:
    """A corpus of n pages, two of each document, each with one table."""
    samples = list(make_corpus(folder / "pdfs", ["fine"] * n).samples())
    write_corpus(folder, samples, name="tiny", licence="CC0-1.0")


def write_worker_script(folder: Path) -> Path:
    """The worker of `tabler`."""
    script = folder / "mine.py"
    script.write_text(SCRIPT)
    return script
