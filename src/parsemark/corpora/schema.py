"""The corpus format on disk: `corpus.json`, and one JSON file per page.

A page file follows OmniDocBench (`layout_dets`, `page_info`, `extra.relation`), extended by `table` (the grid
with a box for each cell), with these choices made: coordinates are points from the top left, `page_no`
counts from 1, and attribute values have one spelling.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA_VERSION = 1

Scalar = str | bool | int | float | None
Poly = Annotated[list[float], Field(min_length=8, max_length=8)]
BoxList = Annotated[list[float], Field(min_length=4, max_length=4)]


class Strict(BaseModel):
    """No unknown keys, so that a misspelt one is found."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class CorpusFile(Strict):
    """`corpus.json`: name, version, licence and hashes of a corpus."""

    schema_version: int = SCHEMA_VERSION
    name: str = Field(min_length=1)
    version: str = "1"
    licence: str = "unknown"
    description: str = ""
    issues: str | None = Field(default=None, pattern=r"^https://[^\s\"'<>]+$", max_length=500)
    """Address of the page where errors of the truth are reported."""
    generator: str | None = None  # what made it, with its version (`parsemark 0.1.0 synthetic 1`)
    seed: int | None = None
    settings: dict[str, Any] = Field(default_factory=dict)  # the options it was made with
    hash: str  # SHA-256 over the names and hashes in `files`
    files: dict[str, str]  # SHA-256 of each file, by its path in the folder


class CellFile(Strict):
    """A cell of a table."""

    row: int = Field(ge=0)
    col: int = Field(ge=0)
    rowspan: int = Field(default=1, ge=1)
    colspan: int = Field(default=1, ge=1)
    text: str = ""
    header: bool | None = None
    box: BoxList | None = None


class TableFile(Strict):
    """A table's grid."""

    n_rows: int = Field(ge=0)
    n_cols: int = Field(ge=0)
    cells: list[CellFile]


class ElementFile(Strict):
    """One element of `layout_dets`."""

    category_type: str
    poly: Poly | None = None
    ignore: bool = False
    order: int | None = None
    anno_id: int | str
    text: str | None = None
    latex: str | None = None
    html: str | None = None
    table: TableFile | None = None
    attribute: dict[str, Scalar] = Field(default_factory=dict)
    derivation: str | None = None  # how its truth was found, where that is known
    line_with_spans: list[dict[str, Any]] | None = None
    merge_list: list[dict[str, Any]] | None = None


class PageInfo(Strict):
    """Where the page lies, and what it is like."""

    page_no: int = Field(ge=1)
    width: float = Field(gt=0)
    height: float = Field(gt=0)
    document: str | None = None  # what its pages have in common; a page without one is a document of its own
    pdf: str | None = None  # path in the corpus folder
    pdf_sha256: str | None = None  # of the PDF that this is the truth of; with another one it is refused
    image_path: str | None = None
    page_attribute: dict[str, Scalar | list[str]] = Field(default_factory=dict)
    only_tables: bool = False
    """Whether `layout_dets` has the tables of the page and says nothing about the rest."""
    only_facts: bool = False  # whether `facts` are all that is known of the page
    covered: list[str] | None = None
    """The categories of which `layout_dets` has every element; all, where it is not said."""


class FactFile(Strict):
    """One fact of a page (`parsemark.model.Fact`)."""

    id: str = Field(min_length=1)
    kind: str = Field(min_length=1)
    rules: str = Field(min_length=1)
    arguments: dict[str, Any] = Field(default_factory=dict)
    page: int = Field(default=1, ge=1)
    derivation: str = "unknown"
    group: str = ""
    tags: list[str] = Field(default_factory=list)
    box: BoxList | None = None


class RelationFile(Strict):
    """A tie between two elements of the page."""

    relation_type: str
    source_anno_id: int | str
    target_anno_id: int | str


class Extra(Strict):
    """What is not an element."""

    relation: list[RelationFile] = Field(default_factory=list)


class PageFile(Strict):
    """One page with its truth."""

    schema_version: Literal[1] = 1
    layout_dets: list[ElementFile]
    page_info: PageInfo
    facts: list[FactFile] = Field(default_factory=list)
    annotation: dict[str, Any] | None = None
    """Truth in the forms of single protocols, by the keys that they read."""
    extra: Extra = Field(default_factory=Extra)


def json_schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON schemas of both kinds of file, by file name."""
    return {
        "corpus.schema.json": CorpusFile.model_json_schema(),
        "page.schema.json": PageFile.model_json_schema(),
    }
