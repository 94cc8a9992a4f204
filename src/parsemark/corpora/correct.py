"""Applies corrections of cells to a corpus: a copy with the truth that people have accepted.

The file is what `corpus check --run` writes, less the entries that a person has deleted:

    [{"sample": "report-p3", "element": "t1",
      "changes": [{"cell": [2, 1], "was": "1.O", "set": {"text": "1.0"}}]}]

The corpus itself is never touched. `was` guards against corrections of another state of the truth. Loaders
apply such files too, to truths that are known to be wrong; there, `reason` says why.
"""

import shutil
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from parsemark.corpora.base import Corpus
from parsemark.corpora.files import write_page
from parsemark.corpora.loaders.files import read_model
from parsemark.corpora.making import Progress, silent, write_copy_manifest
from parsemark.corpora.schema import CorpusFile
from parsemark.errors import CorpusError
from parsemark.model import Cell, Element, Page
from parsemark.system import file_sha256, make_folder
from parsemark.system.scratch import made_whole


class _LenientModel(BaseModel):
    model_config = ConfigDict(extra="ignore")  # the audit also writes what speaks for a correction


class NewCell(_LenientModel):
    """What a cell is to hold."""

    text: str


class CellChange(_LenientModel):
    """One cell."""

    cell: Annotated[list[int], Field(min_length=2, max_length=2)]  # row and column of its first place, from 0
    was: str
    set: NewCell


class TruthCorrection(_LenientModel):
    """The changes of one table."""

    sample: str
    element: str
    changes: list[CellChange]
    reason: str = ""  # kept as the element's attribute `corrections`


@dataclass(frozen=True, slots=True)
class Corrected:
    """What was written."""

    manifest: CorpusFile
    n_cells: int
    n_tables: int
    without_truth: int  # pages that are not in the copy, since there is nothing to write of them


def read_corrections(path: Path) -> list[TruthCorrection]:
    """Return the corrections of a file, checked."""
    return read_model(path, list[TruthCorrection])


@made_whole
def correct_corpus(corpus: Corpus, file: Path, out: Path, progress: Progress = silent) -> Corrected:
    """Write a copy of a corpus, with the corrections of a file, into a folder that is new or empty.

    CorpusError if a correction names a page, table or cell that is not there, or that holds another text.
    """
    corrections = read_corrections(file)
    by_sample: dict[str, list[TruthCorrection]] = defaultdict(list)
    for correction in corrections:
        by_sample[correction.sample].append(correction)
    if unknown := by_sample.keys() - set(corpus.keys):
        raise CorpusError(f"{file}: {corpus.name} has no page {sorted(unknown)[0]!r}.")
    corrected: dict[str, Page] = {}
    for key, changes in by_sample.items():
        page = corpus.read(key).truth
        if page is None:
            raise CorpusError(f"{file}: page {key} has no truth to correct.")
        corrected[key] = corrected_page(page, changes, file)
    names: dict[Path, str] = {}
    without = 0
    for key in corpus.keys:
        sample = corpus.read(key)
        truth = corrected.get(key, sample.truth)
        if truth is None:
            without += 1
        else:
            write_page(out, replace(sample, truth=truth), _copied(sample.pdf, out, names))
        progress(1)
    settings = {"corrections": file_sha256(file)}
    about = {"generator": "parsemark correct 1"}
    manifest = write_copy_manifest(out, corpus, "corrected", "with corrected cells", settings, **about)
    n_cells = sum(len(correction.changes) for correction in corrections)
    return Corrected(manifest, n_cells, len(corrections), without)


def corrected_page(page: Page, corrections: Sequence[TruthCorrection], file: Path) -> Page:
    """Return the truth of a page with its corrections; `file` is where these are from, for errors."""
    elements = {element.id: element for element in page.elements}
    for correction in corrections:
        element = elements.get(correction.element)
        if element is None or element.table is None:
            raise CorpusError(f"{file}: page {page.id} has no table {correction.element!r}.")
        where = f"{file}: page {page.id}, table {correction.element}"
        elements[correction.element] = _corrected_table(element, correction, where)
    return replace(page, elements=tuple(elements[element.id] for element in page.elements), annotation=None)


def _corrected_table(element: Element, correction: TruthCorrection, where: str) -> Element:
    assert element.table is not None
    cells: dict[tuple[int, int], Cell] = {(c.row, c.col): c for c in element.table.cells}
    for change in correction.changes:
        row, col = change.cell
        cell = cells.get((row, col))
        if cell is None:
            raise CorpusError(f"{where} has no cell in row {row}, column {col}.")
        if cell.text != change.was:
            said = f"{where}, row {row}, column {col} holds {cell.text!r}, not {change.was!r}"
            hint = "the corpus has changed since it was checked. Repeat corpus check --run."
            raise CorpusError(f"{said}: {hint}")
        cells[row, col] = replace(cell, text=change.set.text)
    table = replace(element.table, cells=tuple(cells[c.row, c.col] for c in element.table.cells))
    why = {"corrections": correction.reason} if correction.reason else {}
    # The source as it was written would contradict the corrected cells.
    return replace(element, table=table, html=None, latex=None, attributes={**element.attributes, **why})


def _copied(pdf: Path | None, out: Path, names: dict[Path, str]) -> str | None:
    """Return where a PDF is in the copy, each once under a name of its own; None for a page without a PDF."""
    if pdf is None:
        return None
    if pdf not in names:
        others = (f"{pdf.stem}-{k}{pdf.suffix}" for k in count(2))
        name = next(name for name in chain([pdf.name], others) if name not in names.values())
        shutil.copyfile(pdf, make_folder(out, "pdfs") / name)
        names[pdf] = name
    return f"pdfs/{names[pdf]}"
