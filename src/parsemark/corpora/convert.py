"""Between page files and the model."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from parsemark.corpora import schema
from parsemark.corpora.loaders.truth_tables import table_element
from parsemark.corpora.schema import ElementFile, FactFile, PageFile, RelationFile, TableFile
from parsemark.errors import CorpusError, FormatError
from parsemark.formats.model_json import fact_from_json, fact_to_json, table_from_json, table_to_json
from parsemark.model import AttributeValue, Box, Category, Element, Page, Relation, Sample
from parsemark.protocols.board_truth import check_board_keys

SPECIAL_ISSUES = ("fuzzy_scan", "watermark", "colorful_background")
"""Page attributes that OmniDocBench keeps in the list `special_issue`."""


def page_from_file(data: PageFile, sample_id: str) -> Page:
    """The model's page of a page file. Raises CorpusError naming the element that is wrong."""
    info = data.page_info
    elements = tuple(_element(e, f"page {sample_id}, element {e.anno_id}") for e in data.layout_dets)
    ids = [e.id for e in elements]
    _require_distinct(ids, f"page {sample_id}: the anno_id")
    facts = tuple(fact_from_json(fact.model_dump()) for fact in data.facts)
    _require_distinct([fact.id for fact in facts], f"page {sample_id}: the fact")
    check_board_keys(data.annotation or (), f"page {sample_id}")
    return Page(
        sample_id,
        info.width,
        info.height,
        elements,
        tuple(_relation(r, set(ids), sample_id) for r in data.extra.relation),
        _page_attributes(info.page_attribute),
        only_tables=info.only_tables,
        facts=facts,
        only_facts=info.only_facts,
        covered=None if info.covered is None else frozenset(info.covered),
        annotation=data.annotation,
    )


def _require_distinct(ids: Sequence[str], what: str) -> None:
    repeated = sorted(key for key, n in Counter(ids).items() if n > 1)
    if repeated:
        raise CorpusError(f"{what} {', '.join(repeated)} occurs more than once.")


def page_to_file(sample: Sample, pdf: str | None) -> PageFile:
    """The page file of a sample; `pdf` is the document's path in the corpus folder."""
    page = sample.truth
    if page is None:
        raise CorpusError(f"Sample {sample.id} has no truth to write.")
    issues = [name for name in SPECIAL_ISSUES if page.attributes.get(name) is True]
    # OmniDocBench's whole pages are elements as well; what other boards keep of their own stays
    own = None if page.annotation is None or "layout_dets" in page.annotation else dict(page.annotation)
    return PageFile(
        layout_dets=[_element_file(e) for e in page.elements],
        page_info=schema.PageInfo(
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
        extra=schema.Extra(relation=[_relation_file(relation) for relation in page.relations]),
    )


def _relation_file(relation: Relation) -> RelationFile:
    source, target = _anno_id(relation.source), _anno_id(relation.target)
    return RelationFile(relation_type=relation.kind, source_anno_id=source, target_anno_id=target)


def _page_attributes(data: Mapping[str, schema.Scalar | list[str]]) -> dict[str, AttributeValue]:
    attributes: dict[str, AttributeValue] = {}
    for key, value in data.items():
        if isinstance(value, list):
            attributes |= {item: True for item in value if item not in data}
        else:
            attributes[key] = value
    return attributes


def _element(data: ElementFile, where: str) -> Element:
    """An element; the grid of a table that has none is read from its HTML or LaTeX, as OmniDocBench's is."""
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


def _relation(data: RelationFile, ids: set[str], sample_id: str) -> Relation:
    source, target = str(data.source_anno_id), str(data.target_anno_id)
    for end in (source, target):
        if end not in ids:
            raise CorpusError(f"page {sample_id}: a relation {data.relation_type} names no element: {end}.")
    return Relation(data.relation_type, source, target)


def _element_file(element: Element) -> ElementFile:
    return ElementFile(
        category_type=element.category,
        poly=None if element.box is None else poly_of_box(element.box),
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


def poly_of_box(box: Box) -> list[float]:
    """The four corners, clockwise from the top left."""
    return [box.x0, box.y0, box.x1, box.y0, box.x1, box.y1, box.x0, box.y1]
