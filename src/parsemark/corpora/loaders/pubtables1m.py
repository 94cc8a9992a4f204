"""`pubtables1m:DIR`: PubTables-1M (Smock et al.), detection and structure, as published.

    DIR/test/PMC1064074_1.xml          PASCAL VOC: the tables of a page (detection), or the rows, columns,
    DIR/test/PMC1064076_table_0.xml    headers and spanning cells of a table that was cut out (structure)
    DIR/images/PMC1064074_1.jpg
    DIR/words/PMC1064076_table_0_words.json

DIR may also be the folder above both parts, or the folder of one split; pictures and words are looked for
beside it. A structure file gives a page that is the table's picture, with a table whose HTML is built from
the boxes and the words. There are no PDFs; a pixel counts as a point. Samples are read when asked for.
"""

import re
from functools import partial
from pathlib import Path

from parsemark.corpora.base import Corpus, Remark
from parsemark.corpora.loaders.files import SampleIds, files_inside, listing_hash, require_inside
from parsemark.corpora.loaders.table_structure import ROW, VocFile, read_voc, read_words, table_from_structure
from parsemark.errors import CorpusError
from parsemark.formats import write_table
from parsemark.model import TRUTH_ERROR, AttributeValue, Category, Element, Page, Sample

_DOCUMENT = re.compile(r"PMC\d+")
_TABLES = ("table", "table rotated")
_PICTURES = (".jpg", ".png", ".jpeg")


def load(root: Path) -> Corpus:
    """Load all annotation files below the folder."""
    remarks: list[Remark] = []
    files = files_inside(root, "*.xml", remarks, of="a folder of PubTables-1M")
    ids = SampleIds()
    by_id = {ids.make(path.stem): path for path in files}
    version = "1", listing_hash(root, files)
    samples = tuple(by_id), partial(read_sample, by_id)
    return Corpus("pubtables1m", *version, root, *samples, "CDLA-Permissive-2.0", remarks=tuple(remarks))


def read_sample(files: dict[str, Path], identifier: str) -> Sample:
    """One page, or one table that was cut out."""
    path = files[identifier]
    voc = read_voc(path)
    is_structure = any(item.label == ROW for item in voc.objects)
    elements = (_structure(voc, path),) if is_structure else _detections(voc)
    attributes = {"split": path.parent.name, "part": "structure" if is_structure else "detection"}
    page = Page(identifier, voc.width, voc.height, elements, attributes=attributes, only_tables=True)
    document = _DOCUMENT.match(path.stem)
    return Sample(identifier, document[0] if document else path.stem, 1, page, image=_picture(path, voc))


def _detections(voc: VocFile) -> tuple[Element, ...]:
    tables = [item for item in voc.objects if item.label in _TABLES]
    return tuple(
        Element(f"t{i}", Category.TABLE, box=item.box, attributes={"rotated": item.label == "table rotated"})
        for i, item in enumerate(tables, start=1)
    )


def _structure(voc: VocFile, path: Path) -> Element:
    words_file = _beside(path, "words", f"{path.stem}_words.json")
    words = [] if words_file is None else read_words(words_file)
    try:
        table = table_from_structure(voc.objects, words)
    except CorpusError as error:
        raise CorpusError(f"{path}: {error}") from error
    box = next((item.box for item in voc.objects if item.label in _TABLES), None)
    rotated = any(item.label == "table rotated" for item in voc.objects)
    attributes: dict[str, AttributeValue] = {"rotated": rotated}
    if words_file is None:
        why = f"There is no {path.stem}_words.json, so the text of the cells is not known."
        attributes |= {"without_words": True, TRUTH_ERROR: why}
    html = write_table(table, "html")
    return Element("t1", Category.TABLE, box=box, html=html, table=table, attributes=attributes)


def _picture(path: Path, voc: VocFile) -> Path | None:
    names = [f"{path.stem}{suffix}" for suffix in _PICTURES]
    if voc.picture is not None:
        names.insert(0, Path(voc.picture).name)
    return next((found for name in names if (found := _beside(path, "images", name)) is not None), None)


def _beside(path: Path, folder: str, name: str) -> Path | None:
    """A file in `folder` beside the split, by split or not."""
    base = path.parent.parent
    candidates = (base / folder / name, base / folder / path.parent.name / name, path.parent / folder / name)
    found = next((candidate for candidate in candidates if candidate.is_file()), None)
    return None if found is None else require_inside(base, found)
