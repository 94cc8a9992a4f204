"""What passes between the steps: truths, predicted items, and the records of what answers what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

INLINE = "equation_inline"
FORMULA = "equation_isolated"
TEXT = "text_all"
RESCUE = "formula_rescue"

IGNORED_IN_ORDER = (
    "equation_caption",
    "figure_caption",
    "figure_footnote",
    "table_caption",
    "table_footnote",
    "code_algorithm",
    "code_algorithm_caption",
    "header",
    "footer",
    "page_footnote",
    "page_number",
)
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
    latex: str | None = None
    """Of a table, where the annotation has it."""

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
        """The finer category where there is one."""
        return self.fine or self.cat

    @property
    def is_inline(self) -> bool:
        """Whether it is a formula inside of a text."""
        return self.fine == INLINE

    def identity(self) -> Source:
        """All that tells one item from another."""
        return (self.start, self.end, self.content, self.fine, self.cat)


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
        """Whether it answers a truth."""
        return self.gt_idx != [""]

    def to_json(self) -> dict[str, Any]:
        """As the result files have it, without what metrics add."""
        names = (
            "gt_idx", "pred_idx", "gt", "pred", "norm_gt", "norm_pred", "edit", "gt_position",
            "pred_position", "gt_category_type", "pred_category_type", "gt_attribute", "img_id",
        )  # fmt: skip
        return {name: getattr(self, name) for name in names} | {
            name: value for name in ("gt_cdm", "pred_cdm_alt") if (value := getattr(self, name)) is not None
        }
