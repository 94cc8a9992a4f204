"""A pool of LaTeX tables that stand alone: one JSON object per line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from parsemark.corpora.schema import Strict
from parsemark.errors import CorpusError
from parsemark.plain_words import first_problem
from parsemark.system import make_folder, write_text

_PACKAGES = """amsmath amssymb textcomp array booktabs multirow makecell graphicx tabularx hhline pifont
siunitx bm adjustbox diagbox arydshln rotating threeparttable xspace"""
POOL_PACKAGES = _PACKAGES.split()
"""What pool tables are compiled with (besides `xcolor` with the option `table`)."""
PACKAGES = r"""
\usepackage[T1]{fontenc}\usepackage[utf8]{inputenc}\usepackage{textcomp}
\usepackage{amsmath,amssymb,array,booktabs,multirow,longtable,graphicx,etoolbox,pict2e,geometry}
\input{glyphtounicode}\pdfgentounicode=1
"""


def table_preamble(document_class: str, *, harvested: bool) -> str:
    """What is precompiled: few formats serve all documents; tables that were harvested need more packages."""
    more = rf"\usepackage[table]{{xcolor}}\usepackage{{{','.join(POOL_PACKAGES)}}}" if harvested else ""
    return f"\\documentclass{{{document_class}}}{PACKAGES}{more}"


class PoolEntry(Strict):
    """One table."""

    sha: str
    """SHA-256 of `latex`; no two entries of a pool have the same."""
    source: str
    """Document and file that it is from."""
    licence: str
    environment: Literal["tabular", "tabular*", "tabularx", "longtable"]
    """What it was in its source. A longtable is kept as a tabular with its first head and last foot."""
    latex: str
    """The table alone: own macros expanded; citations, references, captions, labels and comments gone."""
    preamble: tuple[str, ...] = ()
    r"""Declarations that it needs (`\newcolumntype`)."""
    packages: tuple[str, ...] = ()
    """Packages that its commands come from."""
    width_pt: float
    height_pt: float
    """Size at 10 pt Latin Modern in a line of 345 pt."""
    n_rows: int
    n_cols: int
    complexity: Literal["simple", "moderate", "complex"]
    """See `parsemark.model.table`."""


class Rejected(Strict):
    """A table that did not get into the pool."""

    source: str
    reason: str
    latex: str


def read_pool(path: Path) -> list[PoolEntry]:
    """All entries of a pool."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise CorpusError(f"The pool {path} cannot be read: {error}") from error
    entries: list[PoolEntry] = []
    for number, line in enumerate(lines, start=1):
        try:
            entries.append(PoolEntry.model_validate_json(line))
        except ValidationError as error:
            raise CorpusError(f"{path}, line {number}: {first_problem(error, 'the entry')}.") from error
    return entries


def write_lines(path: Path, entries: Iterable[Strict]) -> None:
    """Write entries, one per line."""
    make_folder(path.parent)
    write_text(path, "".join(f"{entry.model_dump_json()}\n" for entry in entries))
