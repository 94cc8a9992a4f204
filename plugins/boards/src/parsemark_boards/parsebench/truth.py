"""ParseBench's own forms: lines of its files, rules of layout, and what lines say beside their rules."""

import json
from typing import Any

from pydantic import BaseModel, ConfigDict, field_validator

from parsemark.model import Box
from parsemark_boards.truth_model import TruthModel

RULES = "parsebench"
LAYOUT = "layout"  # the kind of rules that say where an element stands
CASES = "parsebench_cases"
"""Where a page keeps what its rows say beside rules: category to expected Markdown and flags."""


class CaseFlags(TruthModel):
    """How the tables of a document are compared."""

    model_config = ConfigDict(extra="forbid")

    allow_splitting_ambiguous_merged_tables: bool | None = None
    trm_unsupported: bool | None = None
    max_top_title_rows: int = 1


class TrueCase(TruthModel):
    """What the rows of one category say beside their rules."""

    expected_markdown: str | None = None
    flags: CaseFlags = CaseFlags()


class LayoutRule(BaseModel, strict=True):
    """An element that must be found where it stands."""

    canonical_class: Any
    bbox: tuple[float, float, float, float]  # left, top, width and height, as shares of the page
    ro_index: int | None = None
    page: int | None = None
    attributes: dict[str, Any] | None = None
    content: dict[str, Any] | None = None

    @field_validator("bbox", mode="before")
    @classmethod
    def _takes_lists(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    @field_validator("bbox")
    @classmethod
    def _is_box(cls, value: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
        x, y, w, h = value
        Box(x, y, x + w, y + h)  # ValueError for what is not a box
        return value


class RuleLine(BaseModel, strict=True):
    """A line of a file: a rule on a document, or its expected Markdown."""

    pdf: str
    type: str
    rule: dict[str, Any] = {}
    category: str | None = None
    page: int | None = None
    expected_markdown: str | None = None
    tags: list[Any] | None = None

    @field_validator("rule", mode="before")
    @classmethod
    def _takes_json(cls, value: Any) -> Any:
        if not isinstance(value, str) or not value:
            return value or {}
        try:
            return json.loads(value)
        except (ValueError, RecursionError) as error:
            raise ValueError("is not JSON, or nested too deeply") from error
