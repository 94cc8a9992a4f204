"""`sources:DIR`: the documents of a corpus in the format that they were written in, DOCX or HTML.

`corpus make docx` and `corpus make html` keep them in DIR/sources, beside the PDFs that were printed from
them. Such a document has no pages: a sample is a whole document, its truth are the tables of all its pages,
without boxes, and the parts of a table that runs over pages are one table again.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from parsemark.corpora.base import Corpus, Remark
from parsemark.corpora.files import load_folder
from parsemark.corpora.loaders.files import SampleIds, files_inside, read_each, require_inside
from parsemark.errors import CorpusError
from parsemark.formats.write import write_table
from parsemark.model import Element, Page, Sample, Table
from parsemark.pdf import count_pages

FORMATS = ("docx", "html")
FOLDER = "sources"
_OF_A_PAGE = frozenset({"layout", "rotated", "fuzzy_scan", "watermark", "colorful_background"})
"""Attributes that a document without pages does not have."""


def load(root: Path) -> Corpus:
    """Load the source documents (DOCX, HTML) of a generated corpus, for parsers that read them."""
    pages = load_folder(root)
    by_document: dict[str, list[Sample]] = defaultdict(list)
    for sample in pages.samples():
        by_document[sample.document].append(sample)
    remarks: list[Remark] = []
    folder = require_inside(root, root / FOLDER)
    found = [path for suffix in FORMATS for path in files_inside(folder, f"*.{suffix}", remarks)]
    if not found:
        keep = "`parsemark corpus make docx` and `make html` keep them."
        raise CorpusError(f"{root} has no documents in {FOLDER}/. {keep}")

    def read(path: Path, _: SampleIds) -> list[Sample]:
        own = sorted(by_document.get(path.stem, ()), key=lambda sample: sample.page_number)
        return [_sample(path, own)]

    samples = read_each(root, sorted(found), read, remarks)
    name, version, licence = f"{pages.name} (sources)", pages.version, pages.licence
    return Corpus.of(name, samples, root=root, version=version, licence=licence, remarks=remarks)


def _sample(source: Path, pages: Sequence[Sample]) -> Sample:
    pdf = next((sample.pdf for sample in pages if sample.pdf is not None), None)
    if pdf is None:
        raise CorpusError(f"{source.name} has no page in the corpus.")
    if count_pages(pdf) != len(pages):
        raise CorpusError(f"{source.name} has pages whose truth is not in the corpus.")
    truths = [sample.truth for sample in pages if sample.truth is not None]
    attributes = {name: value for name, value in truths[0].attributes.items() if name not in _OF_A_PAGE}
    tables = tuple(replace(e, id=f"t{number + 1}", order=number) for number, e in enumerate(_tables(truths)))
    attributes["input"] = source.suffix[1:]
    size = truths[0].width, truths[0].height
    page = Page(source.stem, *size, tables, attributes=attributes, only_tables=True)
    return Sample(source.stem, source.stem, 1, page, source)


def _tables(pages: Iterable[Page]) -> list[Element]:
    """Return the tables of a document, whole and without boxes."""
    tables: list[Element] = []
    goes_on = False
    for page in pages:
        own = [element for element in page.tables if element.table is not None]
        for number, element in enumerate(own):
            is_long = bool(element.attributes.get("long"))
            before = tables[-1].table if tables and goes_on and is_long and number == 0 else None
            assert element.table is not None
            if before is not None and before.n_cols == element.table.n_cols:
                tables[-1] = _whole(tables[-1], _below(before, element.table))
            else:
                tables.append(_whole(element, element.table))
        goes_on = bool(own and own[-1].attributes.get("long"))
    return tables


def _whole(element: Element, table: Table) -> Element:
    bare = replace(table, cells=tuple(replace(cell, box=None) for cell in table.cells))
    return replace(element, box=None, table=bare, html=write_table(bare, "html"), latex=None)


def _below(above: Table, part: Table) -> Table:
    """Return a table with its next part below it; a header that is said again is left out."""
    head = above.header_rows
    repeated = head if part.text_rows()[:head] == above.text_rows()[:head] else 0
    kept = [cell for cell in part.cells if cell.row >= repeated]
    moved = (replace(cell, row=cell.row - repeated + above.n_rows) for cell in kept)
    return Table(above.n_rows + part.n_rows - repeated, above.n_cols, (*above.cells, *moved))
