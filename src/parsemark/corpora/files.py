"""Reads and writes corpus folders: `corpus.json`, `pdfs/`, `truth/`."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from parsemark.corpora.base import Corpus, Remark
from parsemark.corpora.loaders.files import read_model
from parsemark.corpora.loaders.truth_tables import table_element
from parsemark.corpora.protocol_truth import check_protocol_truth
from parsemark.corpora.schema import (
    SCHEMA_VERSION,
    CorpusFile,
    ElementFile,
    Extra,
    FactFile,
    PageFile,
    PageInfo,
    RelationFile,
    TableFile,
)
from parsemark.errors import CorpusError, FormatError
from parsemark.formats import says_the_same, write_table
from parsemark.formats.model_json import fact_from_json, fact_to_json, table_from_json, table_to_json
from parsemark.model import AttributeValue, Box, Category, Element, Page, Relation, Sample
from parsemark.plain_words import counted, listed
from parsemark.system import file_sha256, make_folder, write_text

MAX_PAGE_FILE_BYTES = 64 * 2**20
SPECIAL_ISSUES = ("fuzzy_scan", "watermark", "colorful_background")
"""Page attributes that OmniDocBench keeps in the list `special_issue`."""


def load_demo() -> Corpus:
    """Load the demo corpus of the package: 60 pages with exact truth in seven languages."""
    return load_folder(Path(__file__).parent / "demo")


def load_folder(root: Path) -> Corpus:
    """Load a corpus in parsemark's own format, as `corpus make` and `corpus import` write it.

    Pages are validated when they are read.

    Where truths are not those of its manifest its hash is that of what is there, and a remark names them.
    """
    manifest = read_manifest(root)
    keys = tuple(sorted(PurePosixPath(name).stem for name in manifest.files if name.startswith("truth/")))
    changed = {}  # truths that are there with another content than the manifest says, each with its hash
    for name, digest in sorted(manifest.files.items()):
        path = root / "truth" / PurePosixPath(name).name
        is_there = name == f"truth/{path.name}" and path.is_file()
        if is_there and path.stat().st_size <= MAX_PAGE_FILE_BYTES and (now := file_sha256(path)) != digest:
            changed[name] = now
    remarks, hash_now = [], manifest.hash
    if changed:
        hash_now = hash_of_files({**manifest.files, **changed})
        names = listed([PurePosixPath(name).stem for name in changed])
        why = (
            f"the truth of {counted(len(changed), 'page')} was edited since corpus.json was written ({names})"
        )
        said = f"{why}. The hash of the corpus is now {hash_now[:12]}, not {manifest.hash[:12]}."
        remarks.append(Remark("truth", said, left_out=False))
    named, read = (manifest.name, manifest.version, hash_now, root), partial(read_sample, root)
    corpus = Corpus(*named, keys, read, manifest.licence, remarks=tuple(remarks))
    return replace(corpus, issues=manifest.issues)


def read_manifest(root: Path) -> CorpusFile:
    """Return the folder's `corpus.json`, checked."""
    path = root / "corpus.json"
    manifest = read_model(path, CorpusFile)
    if manifest.schema_version != SCHEMA_VERSION:
        raise CorpusError(
            f"{path} has schema version {manifest.schema_version}; this parsemark reads {SCHEMA_VERSION}. "
            "Update parsemark, or make the corpus again."
        )
    return manifest


def read_page(path: Path) -> PageFile:
    """Return the truth of one page from its file."""
    return read_model(path, PageFile, MAX_PAGE_FILE_BYTES)


def read_sample(root: Path, key: str) -> Sample:
    """Return one sample of a corpus folder."""
    data = read_page(root / "truth" / f"{key}.json")
    info = data.page_info
    pdf = None if info.pdf is None else (root / info.pdf).resolve()
    if pdf is not None and not pdf.is_relative_to(root.resolve()):
        raise CorpusError(f"page {key}: the file {info.pdf!r} lies outside the corpus folder.")
    page = page_from_file(data, key)
    elements = tuple(_with_own_latex(element) for element in page.elements)
    return Sample(key, info.document or key, info.page_no, replace(page, elements=elements), pdf)


def _with_own_latex(element: Element) -> Element:
    """Return a part of a table over several pages with its own LaTeX, where it has that of the whole."""
    if "part" not in element.attributes or not element.latex or element.table is None:
        return element
    if says_the_same(element.latex, element.table):
        return element
    return replace(element, latex=write_table(element.table, "latex"))


def write_page(root: Path, sample: Sample, pdf: str | None) -> None:
    """Write the truth of one sample; equal truths give equal bytes."""
    path = root / "truth" / f"{sample.id}.json"
    make_folder(path.parent)
    write_text(path, page_file_text(sample, pdf))


def page_file_text(sample: Sample, pdf: str | None, pdf_sha256: str | None = None) -> str:
    """Return the page file of a sample as text; with the hash of its PDF it is refused for another one."""
    data = page_to_file(sample, pdf).model_dump(mode="json", exclude_none=False)
    data["page_info"]["pdf_sha256"] = pdf_sha256
    cells = [cell for e in data["layout_dets"] if e["table"] for cell in e["table"]["cells"]]
    for part in (*cells, *data["layout_dets"], *data["facts"], data["page_info"]):
        for key in [k for k, value in part.items() if value is None and k != "order"]:
            del part[key]
    for part, keys in ((data["page_info"], ("only_tables", "only_facts")), (data, ("facts", "annotation"))):
        for key in keys:
            if not part[key]:
                del part[key]
    return _lines(data)


def write_manifest(root: Path, **fields: Any) -> CorpusFile:
    """Hash all files of `truth/` and `pdfs/` and write `corpus.json`."""
    paths = sorted(p for folder in ("truth", "pdfs") for p in (root / folder).rglob("*") if p.is_file())
    files = {p.relative_to(root).as_posix(): file_sha256(p) for p in paths}
    manifest = CorpusFile(**fields, files=files, hash=hash_of_files(files))
    write_text(make_folder(root) / "corpus.json", _lines(manifest.model_dump(mode="json", exclude_none=True)))
    return manifest


def hash_of_files(files: Mapping[str, str]) -> str:
    """Return one hash for all files of a corpus."""
    lines = "".join(f"{name} {digest}\n" for name, digest in sorted(files.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def _lines(data: Mapping[str, Any]) -> str:
    """Return one line per entry and per element: readable in a diff, and a third of the size of indented
    JSON.
    """
    compact = partial(json.dumps, ensure_ascii=False, sort_keys=True)
    entries = []
    for key, value in sorted(data.items()):
        is_listed = isinstance(value, list) and value
        entry = "[\n" + ",\n".join(map(compact, value)) + "\n]" if is_listed else compact(value)
        entries.append(f"{json.dumps(key)}: {entry}")
    return "{\n" + ",\n".join(entries) + "\n}\n"


def page_from_file(data: PageFile, sample_id: str) -> Page:
    """Return the model's page of a page file. Raises CorpusError naming the element that is wrong."""
    info = data.page_info
    elements = tuple(_element(e, f"page {sample_id}, element {e.anno_id}") for e in data.layout_dets)
    ids = {element.id for element in elements}
    facts = tuple(fact_from_json(fact.model_dump()) for fact in data.facts)
    for what, found in (("anno_id", elements), ("fact", facts)):
        if repeated := sorted(key for key, n in Counter(one.id for one in found).items() if n > 1):
            raise CorpusError(f"page {sample_id}: the {what} {', '.join(repeated)} occurs more than once.")
    relations = tuple(
        Relation(r.relation_type, str(r.source_anno_id), str(r.target_anno_id)) for r in data.extra.relation
    )
    for kind, end in ((r.kind, end) for r in relations for end in (r.source, r.target)):
        if end not in ids:
            raise CorpusError(f"page {sample_id}: the relation {kind} refers to a missing element: {end}.")
    attributes: dict[str, AttributeValue] = {}
    for key, value in info.page_attribute.items():
        if isinstance(value, list):  # of names, such as OmniDocBench's `special_issue`
            attributes |= {name: True for name in value if name not in info.page_attribute}
        else:
            attributes[key] = value
    page = Page(
        sample_id,
        info.width,
        info.height,
        elements,
        relations,
        attributes,
        only_tables=info.only_tables,
        facts=facts,
        only_facts=info.only_facts,
        covered=None if info.covered is None else frozenset(info.covered),
        annotation=data.annotation,
    )
    check_protocol_truth(page, f"page {sample_id}")
    return page


def page_to_file(sample: Sample, pdf: str | None) -> PageFile:
    """Return the page file of a sample; `pdf` is the document's path in the corpus folder."""
    page = sample.truth
    if page is None:
        raise CorpusError(f"Sample {sample.id} has no truth to write.")
    issues = [name for name in SPECIAL_ISSUES if page.attributes.get(name) is True]
    # OmniDocBench's whole pages are elements as well; what protocols keep of their own stays
    own = None if page.annotation is None or "layout_dets" in page.annotation else dict(page.annotation)
    relations = [
        RelationFile(
            relation_type=r.kind, source_anno_id=_anno_id(r.source), target_anno_id=_anno_id(r.target)
        )
        for r in page.relations
    ]
    return PageFile(
        layout_dets=[_element_file(e) for e in page.elements],
        page_info=PageInfo(
            page_no=sample.page_number,
            width=page.width,
            height=page.height,
            document=sample.document,
            pdf=pdf,
            page_attribute={**page.attributes, "special_issue": issues},
            only_tables=page.only_tables,
            only_facts=page.only_facts,
            covered=None if page.covered is None else sorted(page.covered),
        ),
        facts=[FactFile.model_validate(fact_to_json(fact)) for fact in page.facts],
        annotation=own,
        extra=Extra(relation=relations),
    )


def _element(data: ElementFile, where: str) -> Element:
    """Return an element; the grid of a table that has none is read from its HTML or LaTeX, as OmniDocBench's
    is.
    """
    rest: dict[str, Any] = data.model_dump(include={"order", "text", "latex", "html", "ignore", "derivation"})
    rest["attributes"] = dict(data.attribute)
    try:
        rest["box"] = None if data.poly is None else Box.of_points(data.poly[0::2], data.poly[1::2])
        if data.category_type == Category.TABLE and data.table is None and (data.html or data.latex):
            derivation = rest.pop("derivation")
            return replace(table_element(str(data.anno_id), **rest), derivation=derivation)
        table = None if data.table is None else table_from_json(data.table.model_dump())
        return Element(str(data.anno_id), data.category_type, table=table, **rest)
    except (ValueError, FormatError) as error:
        raise CorpusError(f"{where}: {error}.") from error


def _element_file(element: Element) -> ElementFile:
    x0, y0, x1, y1 = (0.0,) * 4 if element.box is None else element.box.as_tuple()
    return ElementFile(
        category_type=element.category,
        poly=None if element.box is None else [x0, y0, x1, y0, x1, y1, x0, y1],
        ignore=element.ignore,
        order=element.order,
        anno_id=_anno_id(element.id),
        text=element.text,
        latex=element.latex,
        html=element.html,
        table=None if element.table is None else TableFile.model_validate(table_to_json(element.table)),
        attribute=dict(element.attributes),
        derivation=element.derivation,
    )


def _anno_id(identifier: str) -> int | str:
    return int(identifier) if identifier.isdecimal() and identifier == str(int(identifier)) else identifier
