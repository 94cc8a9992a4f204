"""Looking at a corpus: its figures as in Soric et al.'s Table 1, its attributes, its truth drawn over a page.

Also what a detector that runs elsewhere needs of it: pictures, words with boxes, a list of images.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image, ImageDraw

from parsemark.corpora.base import Corpus, Remark
from parsemark.corpora.render import page_image, page_words
from parsemark.errors import CorpusError, PdfError
from parsemark.model import Box, Category, Sample
from parsemark.pdf import producer
from parsemark.system import make_folder, replacing, write_text


@dataclass
class CorpusInfo:
    """Counts over a corpus."""

    name: str
    version: str
    licence: str
    documents: int = 0
    pages: int = 0
    positive_pages: int = 0  # pages with at least one table
    tables: int = 0
    cells: int = 0
    without_truth: int = 0
    left_out: list[Remark] = field(default_factory=list)  # what could not be read
    languages: Counter[str] = field(default_factory=Counter)  # pages by language
    producers: Counter[str] = field(default_factory=Counter)  # documents by the producer that their PDF names
    categories: Counter[str] = field(default_factory=Counter)
    page_attributes: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    table_attributes: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))


def corpus_info(corpus: Corpus) -> CorpusInfo:
    """Read all samples once and count."""
    info = CorpusInfo(corpus.name, corpus.version, corpus.licence, left_out=list(corpus.left_out))
    documents: dict[str, Path | None] = {}
    for sample in map(corpus.try_read, corpus.keys):
        if isinstance(sample, Remark):
            info.left_out.append(sample)
        else:
            documents.setdefault(sample.document, sample.pdf)
            _count(info, sample)
    info.documents = len(documents)
    info.producers = Counter(map(_producer, documents.values()))
    return info


def _producer(pdf: Path | None) -> str:
    if pdf is None:
        return "image"
    try:
        return producer(pdf) or "not named"
    except PdfError:
        return "unreadable"


def _count(info: CorpusInfo, sample: Sample) -> None:
    info.pages += 1
    page = sample.truth
    if page is None:
        info.without_truth += 1
        return
    info.positive_pages += bool(page.tables)
    info.tables += len(page.tables)
    info.cells += sum(t.table.n_cells for t in page.tables if t.table is not None)
    info.languages[str(page.attributes.get("language", "unknown"))] += 1
    info.categories.update(str(e.category) for e in page.elements)
    for key, value in page.attributes.items():
        info.page_attributes[key][str(value)] += 1
    for key, value in (trait for table in page.tables for trait in table.traits.items()):
        info.table_attributes[key][str(value)] += 1


COLOURS = {
    Category.TABLE: "#d62728",
    Category.TABLE_CAPTION: "#ff7f0e",
    Category.TABLE_FOOTNOTE: "#ff7f0e",
    Category.TITLE: "#9467bd",
    Category.FIGURE: "#2ca02c",
    Category.FIGURE_CAPTION: "#98df8a",
    Category.EQUATION_ISOLATED: "#e377c2",
    Category.EQUATION_CAPTION: "#e377c2",
    Category.LIST_GROUP: "#17becf",
}
OTHER, CELL, HEADER_CELL = "#1f77b4", "#7f7f7f", "#8c564b"


def draw_truth(sample: Sample, dpi: int = 110) -> Image.Image:
    """Return the page with a box, category and reading order for each element, and all cells."""
    if sample.truth is None:
        raise CorpusError(f"Sample {sample.id} has no truth to draw.")
    picture = page_image(sample, dpi).convert("RGB")
    pen = ImageDraw.Draw(picture)
    scale = picture.width / sample.truth.width
    for element in sample.truth.elements:
        for cell in element.table.cells if element.table is not None else ():
            if cell.box is not None:
                pen.rectangle(_scaled(cell.box, scale), outline=HEADER_CELL if cell.header else CELL)
        if element.box is not None:
            colour = COLOURS.get(Category(element.category), OTHER)
            corners = _scaled(element.box.expanded(1.0), scale)
            pen.rectangle(corners, outline=colour, width=2)
            order = "" if element.order is None else f"{element.order} "
            pen.text((corners[0], max(0, corners[1] - 11)), f"{order}{element.category}", fill=colour)
    return picture


def _scaled(box: Box, scale: float) -> tuple[float, float, float, float]:
    return (box.x0 * scale, box.y0 * scale, box.x1 * scale, box.y1 * scale)


DPI = 72


def write_detector_input(samples: Iterable[Sample], out: Path, dpi: int = DPI) -> int:
    """Write `images/STEM-pPAGE.png`, `words/STEM-pPAGE.json` and `images.json` (COCO without annotations).

    At 72 dpi a pixel is a point. A words file is a list of {"text", "bbox": [x0, y0, x1, y1]} in pixels: the
    token grid that VGT is given. Returns the number of pages.
    """
    images = []
    for number, sample in enumerate(samples, start=1):
        stem = sample.pdf.stem if sample.pdf is not None else sample.id
        name = f"{stem}-p{sample.page_number}"
        if Path(name).name != name:
            raise CorpusError(f"The id of sample {sample.id} cannot be used as a file name: {name!r}.")
        picture = page_image(sample, dpi)
        found = ((word.text, _scaled(word.box, dpi / 72)) for word in page_words(sample))
        words = [{"text": text, "bbox": [round(value, 2) for value in box]} for text, box in found]
        with replacing(make_folder(out, "images") / f"{name}.png") as unfinished:
            picture.save(unfinished, format="PNG")
        write_text(make_folder(out, "words") / f"{name}.json", json.dumps(words, ensure_ascii=False))
        size = {"width": picture.width, "height": picture.height}
        images.append({"id": number, "file_name": f"{name}.png", **size})
    content = {"images": images, "categories": [{"id": 1, "name": "table"}], "annotations": []}
    write_text(out / "images.json", json.dumps(content, indent=1))
    return len(images)
