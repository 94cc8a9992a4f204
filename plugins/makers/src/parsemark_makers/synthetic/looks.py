"""How documents and their tables look, drawn from `looks.toml`."""

import random
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

FULL, BOOKTABS, PARTIAL, NONE = "full", "booktabs", "partial", "none"
LINE_STYLES = (FULL, BOOKTABS, PARTIAL, NONE)
MANY_COLUMNS, NARROW_PAD = 9, 3.0  # from so many columns on, they stand closer
SMALLEST_SIZE = 6.0


@dataclass(frozen=True)
class Look:
    """The look of a document; lengths in points, colours as `#rrggbb`. A renderer follows what it can."""

    paper: str
    margin_x: float
    margin_y: float
    size: float
    serif: bool = True
    font: str = ""
    document_class: str = ""  # this and the font are LaTeX's
    accent: str = "#000000"  # of titles, rules and filled heads
    columns: int = 1
    column_gap: float = 18.0
    spread: float = 1.0  # line spacing; 1 is the font's own
    indent: float = 0.0  # of paragraphs; 0 sets them apart by a larger gap instead
    heading: str = "bold"  # `bold`, `caps` or `centred`
    head: str = "both"
    """Where the running head and the page number stand: `head`, `foot`, or one each (`both`)."""
    centred_title: bool = False
    justified: bool = True
    caption_below: bool = False  # captions of tables below them, where the table does not say
    figures: tuple[str, ...] = ("bars",)  # kinds of figures that the renderer can draw

    @property
    def page_size(self) -> tuple[float, float]:
        """Return width and height."""
        width, height = looks()["papers"][self.paper]
        return width, height

    @property
    def text_width(self) -> float:
        """Return the width between the margins."""
        return self.page_size[0] - 2 * self.margin_x

    @property
    def text_height(self) -> float:
        """Return the height between the margins."""
        return self.page_size[1] - 2 * self.margin_y

    @property
    def column_width(self) -> float:
        """Return the width of one column."""
        return (self.text_width - (self.columns - 1) * self.column_gap) / self.columns


@dataclass(frozen=True)
class TableLook:
    """Lines, colours and spacing of a table."""

    line: str
    size: float
    pad_x: float
    pad_y: float
    head_fill: str | None = None
    head_white: bool = False  # white letters on the filled head
    stripe: str | None = None
    full_width: bool = False


@lru_cache(maxsize=1)
def looks() -> dict[str, Any]:
    """Return the file of looks."""
    return tomllib.loads((files("parsemark_makers.synthetic") / "looks.toml").read_text(encoding="utf-8"))


def draw_look(rng: random.Random, family: str, columns: int = 1) -> Look:
    """Draw the look of a document; `family` is `latex` or `flow`."""
    choices = looks()["pages"][family]
    if columns > 1:
        choices = {**choices, **looks()["pages"][f"{family}_two_columns"]}
    return Look(columns=columns, **_drawn(rng, choices))


def draw_table_look(
    rng: random.Random, look: Look, family: str, *, n_cols: int, lines: dict[str, float] | None = None
) -> TableLook:
    """Draw the look of a table in a document; `lines` are weights of the line styles, where asked for."""
    drawn = _drawn(rng, looks()["tables"][family])
    if lines is not None:
        names, weights = zip(*sorted(lines.items()), strict=True)
        drawn["line"] = rng.choices(names, weights)[0]
    crowded = drawn.get("crowded", 0.0) * min(3, max(0, (n_cols - 3) // 3))
    filled = drawn.get("filled", False)
    dark = filled and drawn["dark"]
    return TableLook(
        line=drawn["line"],
        size=max(SMALLEST_SIZE, look.size - drawn["smaller"] - crowded),
        pad_x=drawn["pad_x"] if n_cols < MANY_COLUMNS else NARROW_PAD,
        pad_y=drawn["pad_y"],
        head_fill=(look.accent if dark else drawn["tint"]) if filled else None,
        head_white=dark,
        stripe=drawn["tint"] if drawn.get("striped") else None,
        full_width=drawn.get("full_width", False),
    )


def _drawn(rng: random.Random, choices: dict[str, Any]) -> dict[str, Any]:
    drawn = dict[str, Any]()
    for key, value in choices.items():
        if isinstance(value, list):
            chosen = rng.choice(value)
            drawn[key] = tuple(chosen) if isinstance(chosen, list) else chosen
        elif "chance" in value:
            drawn[key] = rng.random() < value["chance"]
        else:
            drawn[key] = round(rng.uniform(*value["between"]), 1)
    return drawn
