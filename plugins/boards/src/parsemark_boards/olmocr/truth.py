"""olmOCR-bench's tests: what a valid one of each kind has; the benchmark refuses others."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from parsemark.errors import CorpusError
from parsemark_boards.olmocr.text import normalise
from parsemark_boards.truth_model import not_blank, read_truth

RULES = "olmocr-bench"
BASELINE = "baseline"


def _normal_unless_blank(text: str) -> str:
    """Return a text in normal form; raise ValueError if that leaves nothing of it."""
    if text and not normalise(text).strip():
        raise ValueError("must not be blank in normal form")
    return normalise(text)


def _as_number(value: Any) -> Any:
    """Return a flag as the number that upstream takes it for."""
    return int(value) if isinstance(value, bool) else value


Text = Annotated[str, AfterValidator(normalise)]
MarkerText = Annotated[str, AfterValidator(_normal_unless_blank)]
SaidText = Annotated[str, AfterValidator(normalise), AfterValidator(not_blank)]
Flag = bool | None


class AnyTest(BaseModel):
    """What tests of all kinds have."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    pdf: Any
    page: Any
    id: Any
    type: str
    max_diffs: Annotated[int, BeforeValidator(_as_number)] = Field(0, ge=0)
    checked: Any = None
    url: Any = None

    @model_validator(mode="after")
    def _has_name(self) -> Self:
        if not self.id or not self.pdf:
            raise ValueError(f"{'pdf' if self.id else 'id'} must not be blank")
        return self


class TextTest(AnyTest):
    """A text stands on the page, or does not."""

    type: Literal["present", "absent"]
    text: SaidText
    case_sensitive: Flag = True
    first_n: Any = None
    last_n: Any = None


class OrderTest(AnyTest):
    """One text comes before another."""

    type: Literal["order"]
    before: SaidText
    after: SaidText

    @model_validator(mode="after")
    def _differs_little(self) -> Self:
        if self.max_diffs > min(len(self.before), len(self.after)) // 2:
            raise ValueError("max_diffs exceeds half of a text's length")
        return self


class TableTest(AnyTest):
    """A table has a cell in certain surroundings."""

    type: Literal["table"]
    cell: Text
    up: Text | None = ""
    down: Text | None = ""
    left: Text | None = ""
    right: Text | None = ""
    top_heading: Text | None = ""
    left_heading: Text | None = ""
    ignore_markdown_tables: Flag = False


class MathTest(AnyTest):
    """The page has a formula."""

    type: Literal["math"]
    math: Annotated[str, AfterValidator(not_blank)]
    ignore_dollar_delimited: Flag = False


class BaselineTest(AnyTest):
    """The output is neither empty nor endless."""

    type: Literal["baseline"]
    max_length: int | None = None
    max_repeats: int = 30
    max_length_skips_image_alt_tags: Flag = False
    check_disallowed_characters: Flag = True


class FormatTest(AnyTest):
    """A text is a heading, bold or italic."""

    type: Literal["format"]
    text: SaidText
    format: Literal["heading", "bold", "italic"]
    case_sensitive: Flag = True


class FootnoteTest(AnyTest):
    """There is a footnote, with certain text at its marker."""

    type: Literal["footnote"]
    marker: str = Field(pattern="^[^ ]+$")
    appears_before_marker: MarkerText | None = None
    appears_after_marker: MarkerText | None = None


_MODELS: Mapping[str, type[AnyTest]] = {
    "present": TextTest,
    "absent": TextTest,
    "order": OrderTest,
    "table": TableTest,
    "math": MathTest,
    "baseline": BaselineTest,
    "format": FormatTest,
    "footnote": FootnoteTest,
}
KINDS = tuple(_MODELS)


def baseline_of(pdf: str) -> dict[str, Any]:
    """Return the test that every PDF gets which lists none of its kind."""
    return {"pdf": pdf, "page": 1, "id": f"{pdf}_baseline", "type": BASELINE}


def read_test(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a test with its defaults, its texts in normal form; raise CorpusError if olmOCR-bench refuses
    it.
    """
    kind = str(data.get("type"))
    if kind not in _MODELS:
        raise CorpusError(f"the type must be one of {', '.join(KINDS)}; got {kind!r}")
    return read_truth(dict(data), _MODELS[kind]).model_dump()
