"""`folder:DIR`: your own documents, with truth for some of them or for none.

    DIR/report.pdf
    DIR/report.p3.t1.html        truth of the first table on page 3 (.html, .csv, .tsv, .md, .tex, .txt)
    DIR/report/page-3-table-2.csv    the same in a folder of the document's name

A document with at least one such file, or with a folder of its name, has truth: its other pages have no
tables. A document without has none (`Sample.truth` is None), and only what needs no truth is measured.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from parsemark.corpora.base import Corpus
from parsemark.corpora.loaders.files import files_inside, read_text
from parsemark.corpora.loaders.sample_ids import SampleIds
from parsemark.errors import CorpusError, FormatError
from parsemark.formats import read_tables
from parsemark.model import Category, Element, Page, Sample
from parsemark.pdf import page_shapes

FORMATS = {
    ".html": "html",
    ".htm": "html",
    ".csv": "csv",
    ".tsv": "tsv",
    ".md": None,
    ".tex": "latex",
    ".txt": None,
}
"""Suffix of a truth file to the format that it is read as; None where the format is found out."""

_BESIDE = re.compile(r"(.+)\.p(\d{1,6})\.t(\d{1,6})")
_WITHIN = re.compile(r"page-(\d{1,6})-table-(\d{1,6})")


class _Truth(NamedTuple):
    page: int
    table: int
    path: Path


def load(root: Path) -> Corpus:
    """Load all PDFs below the folder."""
    files = files_inside(root, "*")
    pdfs = [path for path in files if path.suffix.lower() == ".pdf"]
    if not pdfs:
        raise CorpusError(f"There is no PDF in {root}.")
    truths = _truths_by_document(files)
    ids = SampleIds()
    samples = [s for pdf in pdfs for s in _samples(root, pdf, truths[pdf.with_suffix("")], ids)]
    return Corpus.of(root.resolve().name, samples, root=root, version="1", licence="unknown")


def _samples(root: Path, pdf: Path, truths: list[_Truth], ids: SampleIds) -> Iterator[Sample]:
    document = pdf.relative_to(root).with_suffix("").as_posix()
    shapes = page_shapes(pdf)
    _check(truths, pdf, len(shapes))
    has_truth = bool(truths) or pdf.with_suffix("").is_dir()
    for number, shape in enumerate(shapes, start=1):
        identifier = ids.make(document, f"p{number}")
        elements = tuple(_element(t) for t in truths if t.page == number)
        page = Page(identifier, shape.width, shape.height, elements) if has_truth else None
        yield Sample(identifier, document, number, page, pdf)


def _truths_by_document(files: list[Path]) -> defaultdict[Path, list[_Truth]]:
    """The truth files, by the path of their document without its suffix."""
    truths: defaultdict[Path, list[_Truth]] = defaultdict(list)
    for path in files:
        if path.suffix.lower() not in FORMATS:
            continue
        if beside := _BESIDE.fullmatch(path.stem):
            document, page, table = path.with_name(beside[1]), beside[2], beside[3]
        elif within := _WITHIN.fullmatch(path.stem):
            document, page, table = path.parent, within[1], within[2]
        else:
            continue
        truths[document].append(_Truth(int(page), int(table), path))
    for found in truths.values():
        found.sort()
    return truths


def _check(truths: list[_Truth], pdf: Path, n_pages: int) -> None:
    for truth in truths:
        if not 1 <= truth.page <= n_pages:
            raise CorpusError(f"{truth.path} is for page {truth.page}, but {pdf} has {n_pages} pages.")
    for one, other in pairwise(truths):
        if one[:2] == other[:2]:
            raise CorpusError(f"{one.path} and {other.path} are for the same table.")


def _element(truth: _Truth) -> Element:
    try:
        found = read_tables(read_text(truth.path), FORMATS[truth.path.suffix.lower()])
    except FormatError as error:
        raise CorpusError(f"{truth.path}: {error}") from error
    if len(found) != 1:
        raise CorpusError(
            f"{truth.path} holds {len(found)} tables; a truth file holds one. For a page without tables make "
            "no file."
        )
    table = found[0]
    return Element(
        f"t{truth.table}",
        Category.TABLE,
        order=truth.table,
        html=table.source if table.format == "html" else None,
        latex=table.source if table.format == "latex" else None,
        table=table.table,
    )
