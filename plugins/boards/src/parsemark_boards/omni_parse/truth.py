"""Omni Parse Bench's tests: what a valid one of each kind has; the benchmark refuses others."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from parsemark.errors import CorpusError
from parsemark_boards.omni_parse.text import fold
from parsemark_boards.truth_model import not_blank, read_truth

RULES = "omni-parse-bench"
FAMILIES = dict.fromkeys(("present", "order", "repeat"), "text")
FAMILIES |= {"table_cell": "tables", "layout_kind": "layout"}
KINDS = tuple(FAMILIES)
Derivation = Literal[
    "text_layer", "upstream_olmocr", "authored", "publisher_markup", "model_panel", "extractor_agreement",
    "human_review", "model_review", "upstream_frbench", "source_transcription",
]  # fmt: skip
Label = Literal[
    "text", "heading", "page_furniture", "list", "caption", "footnote", "equation", "code", "table", "form",
    "figure",
]  # fmt: skip


# --- numbers ------------------------------------------------------------------------------------------------


class ReadNumber(NamedTuple):
    """A number as its digits say it."""

    digits: str  # with a point before the decimals
    negative: bool
    percent: bool
    written: str


_NUMBER = re.compile(
    r"^(?P<open>\()?(?P<sign>[-−–])?(?P<cur>[$€£¥])?"
    r"(?P<body>\d{1,3}(?:[,.\u202f ]\d{3})*(?:[.,]\d+)?|\d+(?:[.,]\d+)?)"
    r"(?P<pct>%)?(?P<close>\))?[.,;:]?$"
)


def read_number(text: str) -> ReadNumber | None:
    """Return the number that a text writes; None where it is none, or its separators say two things."""
    found = _NUMBER.match(text.strip())
    if found is None:
        return None
    digits = found["body"].replace(" ", "").replace("\u202f", "")
    marks = [i for i, c in enumerate(digits) if c in ".,"]
    if len(marks) == 1:
        whole, mark, decimals = digits[: marks[0]], digits[marks[0]], digits[marks[0] + 1 :]
        is_thousand = len(decimals) == 3 and whole != "0"
        if (mark == ".") if is_thousand else (mark == "," and len(decimals) <= 2):
            return None
        digits = whole + decimals if is_thousand else f"{whole}.{decimals}"
    elif marks:
        last = marks[-1]
        decimals, others = digits[last + 1 :], {digits[i] for i in marks[:-1]}
        is_decimal = digits[last] not in others or len(decimals) in (1, 2)
        bare = re.sub("[.,]", "", digits[:last])
        digits = f"{bare}.{decimals}" if is_decimal else bare + decimals
    return ReadNumber(digits, bool(found["sign"]), bool(found["pct"]), found["body"])


# --- tests --------------------------------------------------------------------------------------------------


def _check_place(place: list[list[float]]) -> list[list[float]]:
    if any(box[0] >= box[2] or box[1] >= box[3] for box in place):
        raise ValueError("a place must be a list of boxes with coordinates from 0 to 1")
    return place


def _check_number(text: str) -> str:
    if read_number(text) is None:
        raise ValueError(f"{text!r} must be a single number")
    return text


Share = Annotated[float, Field(ge=0, le=1)]
PlaceBox = Annotated[list[Share], Field(min_length=4, max_length=4)]
PageBoxes = Annotated[list[PlaceBox], AfterValidator(_check_place)]


class OmniData(BaseModel):
    """Part of a test, with nothing but its own keys."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class TextArgument(OmniData):
    """A text that may differ a little."""

    text: str
    max_diffs: int = Field(ge=0)
    place: PageBoxes = []

    @model_validator(mode="after")
    def _differs_little(self) -> Self:
        if self.max_diffs >= (len(fold(self.text)) if self.text.strip() else 0):
            raise ValueError("max_diffs must be less than the length of its text")
        return self


class ExactText(TextArgument):
    """A text that may not differ."""

    max_diffs: Literal[0]


class PlacedText(TextArgument):
    """A text with its place."""

    place: Annotated[PageBoxes, Field(min_length=1)]


class NumberArgument(OmniData):
    """A number."""

    number: Annotated[str, AfterValidator(_check_number)]


class LatexArgument(OmniData):
    """A formula."""

    latex: Annotated[str, AfterValidator(not_blank)]


def _kind_of_content(data: Any) -> str:
    keys = data if isinstance(data, dict) else ()
    return next((key for key in ("number", "latex") if key in keys), "text")


class PresentArgs(OmniData):
    """What stands on the page."""

    content: Annotated[
        Annotated[TextArgument, Tag("text")]
        | Annotated[NumberArgument, Tag("number")]
        | Annotated[LatexArgument, Tag("latex")],
        Discriminator(_kind_of_content),
    ]


class RepeatArgs(OmniData):
    """What is repeated."""

    content: ExactText


class LayoutArgs(OmniData):
    """What stands in a block."""

    content: PlacedText


class SharedDiffs(OmniData):
    """Texts that may all differ as much."""

    @model_validator(mode="after")
    def _has_one_limit(self) -> Self:
        values = (getattr(self, name) for name in self.model_fields_set)
        texts = [text for value in values for text in (value if isinstance(value, list) else [value])]
        if None in texts or len({text.max_diffs for text in texts}) != 1:
            raise ValueError("its args must share max_diffs, and none may be null")
        return self


class OrderArgs(SharedDiffs):
    """Which text comes first."""

    before: TextArgument
    after: TextArgument


class CellArgs(SharedDiffs):
    """A cell and its surroundings, those that are given."""

    cell: TextArgument
    up: TextArgument | None = None
    down: TextArgument | None = None
    left: TextArgument | None = None
    right: TextArgument | None = None
    top_heading: TextArgument | None = None
    left_heading: TextArgument | None = None
    section: TextArgument | None = None
    headings: list[TextArgument] = []
    row_groups: list[TextArgument] = []


class RepeatSettings(OmniData):
    """How often a text is repeated."""

    expected_count: int = Field(ge=1)


class LayoutSettings(OmniData):
    """What kind of block a text stands in."""

    kind: Label


_MODELS: Mapping[str, tuple[type[OmniData], type[OmniData]]] = {
    "present": (PresentArgs, OmniData),
    "order": (OrderArgs, OmniData),
    "repeat": (RepeatArgs, RepeatSettings),
    "table_cell": (CellArgs, OmniData),
    "layout_kind": (LayoutArgs, LayoutSettings),
}
"""Args and settings of each kind."""


class GoldTest(BaseModel, strict=True):
    """A test of a gold file, whose args and settings are those of its kind."""

    id: str
    test_type: str
    derivation: Derivation
    args: dict[str, Any]
    settings: dict[str, Any]
    tags: list[Any]

    @model_validator(mode="after")
    def _is_valid(self) -> Self:
        try:
            check_test(self.test_type, self.args, self.settings)
        except CorpusError as error:
            raise ValueError(str(error)) from error
        return self


def check_test(kind: str, args: Any, settings: Any) -> None:
    """Raise CorpusError for a test that the benchmark refuses."""
    if kind not in _MODELS:
        raise CorpusError(f"the kind {kind[:40]!r} is none of {', '.join(KINDS)}")
    for data, model in zip((args, settings), _MODELS[kind], strict=True):
        read_truth(data, model)
