"""What passes between the steps: truths (section 2), predicted items, and records of what answers what."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from parsemark.protocols.document.omnidocbench.profile import Profile

INLINE = "equation_inline"
FORMULA = "equation_isolated"
TEXT = "text_all"
RESCUE = "formula_rescue"

IGNORED_IN_ORDER = (
    "equation_caption", "figure_caption", "figure_footnote", "table_caption", "table_footnote",
    "code_algorithm", "code_algorithm_caption", "header", "footer", "page_footnote", "page_number",
)  # fmt: skip
"""Categories that are matched but not counted, in the order in which the reference lists them."""
IGNORED = frozenset(IGNORED_IN_ORDER)

Source = tuple[int, int, str, str | None, str]
Place = int | float | str
"""A place in reading order or in the text; the empty string where there is none, as in the result files."""


@dataclass(slots=True)
class Truth:
    """A truth element, or several that a page break or column break had cut."""

    category: str
    raw: str
    order: float | int | None
    attribute: Mapping[str, Any] = field(default_factory=dict)
    ids: tuple[str, ...] = ()
    latex: str | None = None  # of a table, where the annotation has it

    @property
    def position(self) -> Place:
        """Place in reading order; nothing where the order is missing or 0."""
        return self.order if self.order else ""


@dataclass(slots=True)
class MarkdownItem:
    """A piece of a Markdown prediction."""

    cat: str
    content: str
    start: int
    end: int
    fine: str | None = None
    source: Source | None = None

    @property
    def type(self) -> str:
        """Return the finer category where there is one."""
        return self.fine or self.cat

    @property
    def is_inline(self) -> bool:
        """Return whether it is a formula inside of a text."""
        return self.fine == INLINE


Truths = Sequence[Truth]
Items = Sequence[MarkdownItem]


@dataclass(slots=True)
class Record:
    """One match, as the result files of the published programs have it."""

    gt_idx: list[int | str]
    pred_idx: list[int | str]
    gt: str = ""
    pred: str = ""
    norm_gt: str = ""
    norm_pred: str = ""
    edit: float = 1
    gt_position: list[Place] = field(default_factory=lambda: [""])
    pred_position: Place = ""
    gt_category_type: str = ""
    pred_category_type: str = ""
    gt_attribute: list[Mapping[str, Any]] = field(default_factory=lambda: [{}])
    truth_ids: tuple[str, ...] = ()
    img_id: str = ""
    gt_cdm: str | None = None
    pred_cdm_alt: str | None = None

    @property
    def has_truth(self) -> bool:
        """Return whether it answers a truth."""
        return self.gt_idx != [""]

    def to_json(self) -> dict[str, Any]:
        """Return the form of the result files, without what metrics add."""
        names = (own.name for own in fields(self) if own.name != "truth_ids")
        return {name: value for name in names if (value := getattr(self, name)) is not None}


# --- the truth elements of an annotated page, in the lists in which they are matched ------------------------

TEXT_CATEGORIES = ("text_block", "title", "code_txt", "code_txt_caption", "reference", *IGNORED_IN_ORDER)

Det = Mapping[str, Any]


@dataclass(slots=True)
class PageTruth:
    """The lists of one page, each in reading order."""

    text: list[Truth]  # text, and with `mixes_formulas` the formulas too
    formulas: list[Truth]
    tables: list[Truth]


def page_truth(page: Mapping[str, Any], profile: Profile) -> PageTruth:
    """Read the truth lists from a page of the annotation."""
    lists = _category_lists(page, profile)
    categories = (*TEXT_CATEGORIES, FORMULA) if profile.mixes_formulas else TEXT_CATEGORIES
    text = [truth for category in categories for truth in lists.get(category, ())]
    listed = (text, lists.get(FORMULA, []), lists.get("table", []))
    return PageTruth(*(sorted(truths, key=lambda t: t.order or 0) for truths in listed))


def _category_lists(page: Mapping[str, Any], profile: Profile) -> dict[str, list[Truth]]:
    dets = [d for d in page.get("layout_dets") or () if isinstance(d, Mapping)]
    extra = page.get("extra")
    relations = [
        (r.get("source_anno_id"), r.get("target_anno_id"))
        for r in (extra.get("relation") if isinstance(extra, Mapping) else None) or ()
        if isinstance(r, Mapping) and r.get("relation_type", r.get("relation")) == "truncated"
    ]
    groups = _groups(relations, unites=profile.unites_truncated)
    grouped = {member for group in groups for member in group}
    lists: dict[str, list[Truth]] = {}
    for det in dets:
        if det.get("anno_id") in grouped or (profile.reads_ignore and det.get("ignore")):
            continue
        lists.setdefault(str(det.get("category_type")), []).append(_single(det))
    by_id = {det.get("anno_id"): det for det in reversed(dets)}
    for group in groups:
        members = [by_id[member] for member in group if member in by_id]
        if not members or (profile.reads_ignore and any(m.get("ignore") for m in members)):
            continue
        merged = _merged(members)
        lists.setdefault(merged.category, []).append(merged)
    return lists


def _groups(relations: Sequence[tuple[Any, Any]], *, unites: bool) -> list[list[Any]]:
    """Return ids that belong together; v1.0 and v1.5 append each relation to all lists that it touches."""
    groups: list[list[Any]] = []
    for pair in relations:
        touched = [group for group in groups if pair[0] in group or pair[1] in group]
        if not touched:
            groups.append(list(dict.fromkeys(pair)) if unites else list(pair))
        elif unites:
            first, *others = touched
            first += [m for group in (*others, list(pair)) for m in group if m not in first]
            groups = [g for g in groups if not any(g is other for other in others)]
        else:
            for group in touched:
                group.extend(pair)
    return groups


def _single(det: Det) -> Truth:
    category = str(det.get("category_type"))
    key = {FORMULA: "latex", "table": "html"}.get(category, "text")
    attribute = det.get("attribute")
    return Truth(
        category,
        str(det.get("content") or det.get(key) or ""),
        det.get("order"),
        attribute if isinstance(attribute, Mapping) else {},
        (str(det.get("anno_id")),),
        det.get("latex") if category == "table" else None,
    )


def _merged(members: list[Det]) -> Truth:
    """Return one truth of parts in reading order. Where the published code would crash, a part counts as
    empty.
    """
    ordered = sorted(members, key=lambda m: m.get("order") or 0)
    first = ordered[0]
    text = "".join(str(m.get("text") or "") for m in ordered)
    ids = tuple(dict.fromkeys(str(m.get("anno_id")) for m in ordered))
    return Truth(str(first.get("category_type")), text, first.get("order"), {}, ids)
