"""An output as Omni Parse Bench reads it: HTML, by its own converter of Markdown, and placed blocks."""

from __future__ import annotations

import functools
import re
import textwrap
from typing import Any

from parsemark.formats import markdown_of
from parsemark.model import Box, Category, Page, Prediction
from parsemark.protocols.boards.elements import board_label
from parsemark.protocols.boards.omni_parse.rules import PlacedBlock
from parsemark.protocols.boards.omni_parse.text import hold, release

_FENCE = re.compile(r"[ \t]*```([A-Za-z]*)[ \t]*")
_WRAPPERS = ("", "markdown", "md", "html")
_FRONT_MATTER = re.compile(r"^\s*---[ \t]*\n(?:[ \t]*[A-Za-z_][\w-]*:.*\n)+---[ \t]*(?:\n|$)")
_CODE = re.compile(r"(?ms)^[ \t]*```[^\n]*\n.*?^[ \t]*```[ \t]*$|`[^`\n]+`")
_ADDRESS = re.compile(r"<(?=[^<>\s@]+@[^<>\s@]+>)")
_NUMBERED = re.compile(r"(?m)^([ \t]{0,3}\d{1,9})([.)])(?=[ \t]|$)")
_BULLET = re.compile(r"(?m)^([ \t]{0,3})([-+*])(?=[ \t])")
_TABLE = re.compile(r"<table\b.*?</table>", re.S | re.I)
_ELEMENT = re.compile(
    r"<(figure|table|div|details|section|aside|p|pre|blockquote|ul|ol|li|dl|center|form|header|footer|"
    r"article|main|nav|fieldset|figcaption)\b.*?</\1\s*>",
    re.S | re.I,
)
_DISPLAY = re.compile(r"\$\$.+?\$\$|\\\[.+?\\\]", re.S)
_INLINE = re.compile(r"(?<!\\)\$(?!\s)[^$\n]+?(?<![\s\\])\$|\\\(.+?\\\)", re.S)
_IN_ROW = re.compile(
    r"(?<!\\)\$(?!\s)(?:(?=[^$\n]*[\\^_{])[^$\n]+?|[^$\n|]+?)(?<![\s\\])\$|\\\(.+?\\\)", re.S
)
_ROWS = re.compile(r"(?m)((?:^[ \t]*\|.*(?:\n|$))+)")


def html_of_output(prediction: Prediction) -> str:
    """The output as HTML."""
    text = markdown_of(prediction)
    return text if prediction.format == "html" and prediction.text is not None else html_of_markdown(text)


def html_of_markdown(md: str) -> str:
    """Markdown as HTML; list markers stay text, and formulas and HTML tables stay as they are."""
    md = textwrap.dedent(_FRONT_MATTER.sub("", _unwrapped(md), count=1))
    raw: list[str] = []
    md = hold(hold(md, _ELEMENT, raw), _CODE, raw)
    md = _BULLET.sub(r"\1\\\2", _NUMBERED.sub(r"\1\\\2", md))
    md = release(_ADDRESS.sub("&lt;", md), raw)
    held: list[str] = []
    md = hold(hold(md, _TABLE, held), _DISPLAY, held)
    parts = _ROWS.split(md)
    for i, part in enumerate(parts):
        parts[i] = hold(part, _IN_ROW if i % 2 else _INLINE, held)
    return release(str(_renderer().render("".join(parts))), held)


def _unwrapped(md: str) -> str:
    """Without a fence around the whole page."""
    lines = md.strip().split("\n")
    opened = _FENCE.fullmatch(lines[0])
    if opened is None or opened[1].lower() not in _WRAPPERS:
        return md
    fences = [i for i, line in enumerate(lines) if _FENCE.fullmatch(line)]
    if len(fences) % 2:
        return "\n".join(lines[1:])
    return "\n".join(lines[1 : fences[-1]]) if opened[1] or fences[-1] == len(lines) - 1 else md


@functools.cache
def _renderer() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).disable("reference")


def blocks_of_output(prediction: Prediction, page: Page) -> list[PlacedBlock] | None:
    """The blocks of an output with their places; None where the parser gives no places of texts."""
    if not any(e.box is not None and e.category != Category.TABLE for e in prediction.elements):
        return None
    blocks = []
    for element in prediction.elements:
        if element.box is not None:
            x0, y0, x1, y1 = element.box.as_tuple()
            box = Box(x0 / page.width, y0 / page.height, x1 / page.width, y1 / page.height)
            blocks.append(PlacedBlock(board_label("omni-parse", element), box, element.text or ""))
    return blocks
