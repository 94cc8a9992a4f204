"""Is truth from tags and sources true? Documents of our own makers, whose truth is known exactly.

Each route makes documents, has them exported with tags, or lays sources beside their PDFs, and compares what
`tagged:` and `source-pairs:` read with the maker's truth: cells, spans, order and boxes of tables and texts.
`PARSEMARK_EMBEDDED_PAGES` and `PARSEMARK_EMBEDDED_SEED` set the pages of each maker (40) and the seed (1),
`PARSEMARK_EMBEDDED_ROUTES` names the routes (all), `PARSEMARK_EMBEDDED_SHOW=1` shows what differs,
`PARSEMARK_EMBEDDED_DIR` keeps the documents.
LaTeX's own tagging (`\\DocumentMetadata`) knows tables from TeX Live 2024 on; older ones are left out.
"""

import os
import re
import shutil
import tempfile
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import parsemark as pm
from bench._embedded_sources import by_pandoc, write_latex, write_sheets
from parsemark import load_corpus
from parsemark.corpora.source_pairs.lay import read_pair
from parsemark.corpora.tagged.read import TaggedDocument, TaggedPage, read_tagged
from parsemark.errors import MakingError
from parsemark.model import Box, Category, Element, Page, Table
from parsemark_makers.synthetic.language import LANGUAGES
from parsemark_makers.synthetic.renderers import docx, html

PAGES = int(os.environ.get("PARSEMARK_EMBEDDED_PAGES", "40"))
SEED = int(os.environ.get("PARSEMARK_EMBEDDED_SEED", "1"))
SHOW = os.environ.get("PARSEMARK_EMBEDDED_SHOW") == "1"
AIM, MOST_REFUSED = 0.995, 0.1
NEAR = 2.0
"""Points by which an edge may be off."""
TAGGED = 'pdf:writer_pdf_Export:{"UseTaggedPDF":{"type":"boolean","value":"true"}}'
TEXTS = frozenset(
    {Category.TITLE, Category.TEXT_BLOCK, Category.LIST_GROUP, Category.TABLE_CAPTION}
    | {Category.FIGURE_CAPTION, Category.TABLE_FOOTNOTE, Category.PAGE_FOOTNOTE}
)

Pages = dict[str, dict[int, Page]]
"""The truth by document and page."""
Documents = Iterator[tuple[str, dict[int, Page], TaggedDocument]]
"""Name, truth, and what was read."""


@dataclass
class Figures:
    """What agrees, and of how many."""

    right: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    total: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)

    def add(self, what: str, is_right: bool | float, said: str = "") -> None:
        self.right[what] += is_right
        self.total[what] += 1
        if SHOW and said and is_right < (0.9 if what == "table boxes (IoU)" else 1):
            print(f"    {what}: {said}"[:400])

    def share(self, what: str) -> float:
        return self.right[what] / self.total[what] if self.total[what] else 1.0


def corpus(renderer: str, folder: Path, languages: Sequence[str] = ("english", "french")) -> Path:
    """Return documents of a maker, made once."""
    out = folder / renderer
    if not out.exists():
        spec = f"{renderer}(languages={'+'.join(languages)})"
        pm.corpus_make(spec, out, pages=PAGES, seed=SEED)
    return out


def truth(root: Path) -> Pages:
    """Return the pages of documents that are whole."""
    found: Pages = {}
    for sample in load_corpus(str(root)).samples():
        if sample.truth is not None:
            found.setdefault(sample.document, {})[sample.page_number] = sample.truth
    return found


def tags_of(root: Path, pdfs: Path) -> Documents:
    for name, pages in truth(root).items():
        read = read_tagged(pdfs / f"{name}.pdf")
        assert read is not None, f"{name} has no tags"
        yield name, pages, read


def pairs_of(root: Path, sources: Path, suffix: str) -> Documents:
    for name, pages in truth(root).items():
        yield name, pages, read_pair(root / "pdfs" / f"{name}.pdf", sources / f"{name}.{suffix}")


def by_office(folder: Path, of: Path, suffix: str, to: str) -> Path:
    """Return files that LibreOffice makes of others."""
    out = folder / f"{of.parent.name}-{to.partition(':')[0]}"
    if not out.exists():
        shutil.copytree(of, out)
        with tempfile.TemporaryDirectory() as profile:
            docx.convert(out, sorted(p.stem for p in of.iterdir()), Path(profile), of=suffix, to=to)
    return out


def office_tags(folder: Path) -> Documents:
    root = corpus("docx", folder)
    return tags_of(root, by_office(folder, root / "sources", "docx", TAGGED))


def typst_tags(folder: Path) -> Documents:
    root = corpus("typst", folder, LANGUAGES)
    return tags_of(root, root / "pdfs")


def chromium_tags(folder: Path) -> Documents:
    """Print the pages with tags, as the maker does."""
    plain = html.print_pages
    html.print_pages = lambda pages, place: plain([{**page, "tagged": True} for page in pages], place)
    try:
        root = corpus("html", folder / "tagged")
    finally:
        html.print_pages = plain
    return tags_of(root, root / "pdfs")


def docx_pairs(folder: Path) -> Documents:
    root = corpus("docx", folder)
    return pairs_of(root, root / "sources", "docx")


def html_pairs(folder: Path) -> Documents:
    root = corpus("html", folder)
    return pairs_of(root, root / "sources", "html")


def odt_pairs(folder: Path) -> Documents:
    root = corpus("docx", folder)
    return pairs_of(root, by_office(folder, root / "sources", "docx", "odt"), "odt")


def epub_pairs(folder: Path) -> Documents:
    """Make pairs with pandoc: the export of LibreOffice drops the heads of tables."""
    root = corpus("html", folder)
    return pairs_of(root, by_pandoc(root / "sources", folder / "epub", "epub", "epub"), "epub")


def office_epub_pairs(folder: Path) -> Documents:
    root = corpus("docx", folder)
    return pairs_of(root, by_office(folder, root / "sources", "docx", "epub"), "epub")


def jats_pairs(folder: Path) -> Documents:
    root = corpus("html", folder)
    return pairs_of(root, by_pandoc(root / "sources", folder / "jats", "jats", "xml"), "xml")


def latex_pairs(folder: Path) -> Documents:
    root = corpus("latex", folder)
    return pairs_of(root, write_latex(truth(root), folder / "latex-sources"), "tex")


def xlsx_pairs(folder: Path) -> Documents:
    """Return sheets of the makers' tables, printed by LibreOffice, which reports no places: boxes are not
    compared.
    """
    root = corpus("docx", folder)
    place = folder / "xlsx"
    wanted = write_sheets(truth(root), place)
    with tempfile.TemporaryDirectory() as profile:
        docx.convert(place, list(wanted), Path(profile), of="xlsx")
    for name, tables in wanted.items():
        yield name, {1: sheet_page(name, tables)}, read_pair(place / f"{name}.pdf", place / f"{name}.xlsx")


def sheet_page(name: str, tables: Sequence[Table]) -> Page:
    elements = (Element(str(k), Category.TABLE, order=k, table=table) for k, table in enumerate(tables))
    return Page(name, 1, 1, tuple(elements))


ROUTES: dict[str, Callable[[Path], Documents]] = {
    "tags of LibreOffice": office_tags,
    "tags of Typst": typst_tags,
    "tags of Chromium": chromium_tags,
    "source pairs docx": docx_pairs,
    "source pairs html": html_pairs,
    "source pairs latex": latex_pairs,
    "source pairs odt": odt_pairs,
    "source pairs epub": epub_pairs,
    "source pairs epub by LibreOffice": office_epub_pairs,
    "source pairs jats": jats_pairs,
    "source pairs xlsx": xlsx_pairs,
}


def bare(text: str) -> str:
    """Return a text without blanks and the marks of scripts, which not all sources say; apostrophes plain."""
    plain = unicodedata.normalize("NFKC", text).replace("’", "'")
    return re.sub(r"[\s^_{}\\$\xad]", "", plain)


def compare_table(figures: Figures, where: str, wanted: Table, found: Table) -> None:
    slots = {(c.row, c.col): c for c in found.cells}
    for cell in wanted.cells:
        other = slots.get((cell.row, cell.col))
        said = None if other is None else other.text
        figures.add(
            "cells", said is not None and bare(said) == bare(cell.text), f"{where} {cell.text!r} {said!r}"
        )
        same = other is not None and (other.rowspan, other.colspan) == (cell.rowspan, cell.colspan)
        figures.add("spans", same, f"{where} {cell.row, cell.col, cell.rowspan, cell.colspan} {other}")


def compare_page(figures: Figures, where: str, wanted: Page, found: TaggedPage, refused: list[str]) -> None:
    """Compare texts and tables of a page, each with what stands in its place."""
    known = [e for e in found.elements if e.box is not None]
    places: list[tuple[Element, list[Element]]] = []
    for element in sorted((e for e in wanted.elements if e.order is not None), key=lambda e: e.order or 0):
        if element.box is None:
            continue
        area = element.box.expanded(3.0)
        if element.table is not None:
            tables = [e for e in known if e.table is not None and e.box and area.holds_centre(e.box)]
            if tables and tables[0].table is not None and tables[0].box is not None:
                figures.add("tables", True)
                compare_table(figures, where, element.table, tables[0].table)
                overlap = element.box.iou(tables[0].box)
                figures.add("table boxes (IoU)", overlap, f"{where} {element.box} {tables[0].box}")
                places.append((element, tables[:1]))
            elif refused:
                figures.refused[refused.pop(0)] += 1
            else:
                figures.add("tables", False, f"{where} {element.table.text_rows()[:2]}")
        elif element.category in TEXTS and element.text:
            own = [e for e in known if e.table is None and e.text and e.box and area.holds_centre(e.box)]
            said = "".join(bare(e.text or "") for e in own)
            figures.add(
                "texts", said == bare(element.text), f"{where} {element.text!r} {[e.text for e in own]}"
            )
            if own:
                hull = Box.hull(e.box for e in own if e.box)
                far = max(abs(a - b) for a, b in zip(hull.as_tuple(), element.box.as_tuple(), strict=True))
                figures.add("text boxes", far <= NEAR, f"{where} {element.box} {hull} {element.text!r}")
                places.append((element, own))
    for (one, above), (other, below) in pairwise(places):
        told = [[e.order for e in part if e.order is not None] for part in (above, below)]
        if all(told):
            figures.add("order", max(told[0]) < min(told[1]), f"{where} {one.text!r} {other.text!r}")


def compare_sheets(figures: Figures, name: str, wanted: Page, document: TaggedDocument) -> None:
    """Compare tables without places, in their order; the parts on several pages are one."""
    found = [table for table in document.tables if table.parts]
    refused = [table.refused for table in document.tables if table.refused]
    figures.refused.update(refused)
    for element in wanted.elements:
        table = element.table
        assert table is not None
        same = [t for t in found if bare(t.parts[0].table.text_rows()[0][0]) == bare(table.text_rows()[0][0])]
        if same:
            figures.add("tables", True)
            compare_table(figures, name, table, same[0].parts[0].table)
        elif not refused:
            figures.add("tables", False, f"{name} {table.text_rows()[:2]}")


def measure(documents: Documents) -> Figures:
    figures = Figures()
    for name, pages, document in documents:
        if document.missing and SHOW:
            print(f"    {name}: no place for {document.missing[:4]}")
        for number, wanted in pages.items():
            if all(e.box is None for e in wanted.elements):
                compare_sheets(figures, name, wanted, document)
                continue
            refused = [t.refused for t in document.tables if t.refused and number in t.pages]
            page = document.pages.get(number, TaggedPage(number))
            compare_page(figures, f"{name} p{number}", wanted, page, refused)
    return figures


def main() -> bool:
    given = os.environ.get("PARSEMARK_EMBEDDED_DIR")
    chosen = os.environ.get("PARSEMARK_EMBEDDED_ROUTES")
    met = True
    print(f"{PAGES} pages of each maker, seed {SEED}; no tags of LaTeX: the TeX here tags no tables")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(given or name)
        for route in chosen.split(",") if chosen else ROUTES:
            try:
                figures = measure(ROUTES[route](folder))
            except MakingError as error:
                print(f"{route}: not measured: {error}")
                continue
            n_refused = sum(figures.refused.values())
            share = n_refused / max(1, n_refused + figures.total["tables"])
            shown = [f"{what} {figures.share(what):.4f} of {n:,}" for what, n in figures.total.items()]
            print(f"{route}: {'; '.join(shown)}; refused {n_refused} ({share:.1%})")
            for why, n in figures.refused.most_common():
                print(f"    {n} refused: {why}")
            met &= share <= MOST_REFUSED and all(figures.share(what) >= AIM for what in figures.total)
    return met
