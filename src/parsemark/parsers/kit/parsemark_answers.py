"""What vision-language models answer, read: clean-up, lists of layout elements, grounding tags, OTSL tables.

Models write in forms of their own, and break off or err in the middle of them. What is broken costs itself:
a box that cannot be one is left out, a list that ends too soon keeps what came before, a tag that is never
closed is dropped and its text stays. It needs only Python itself.
"""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

from parsemark_layout import category_of, layout_element, plain_text
from parsemark_worker import Json, elements_output, text_output

Corners = tuple[float, float, float, float]

MAX_BLOCKS = 500  # over this a layout is a model that repeats itself, not a page
NOT_IN_THE_TEXT = frozenset(("header", "footer", "page_number", "figure"))
"""The authors leave these out of the Markdown that they score."""


class Block(NamedTuple):
    """One element of a page as a model writes it."""

    label: str
    content: str  # Markdown, HTML, LaTeX or OTSL, by what it is
    box: Corners | None = None  # in points on the page
    angle: int = 0  # by how much its picture is turned counter-clockwise to be upright


# --- Clean-up of whole answers --------------------------------------------------------------------------


def cleaned(text: str, steps: Iterable[str]) -> str:
    """The answer after the steps that a preset names."""
    for step in steps:
        text = _CLEANERS[step](text)
    return text


_OPENING = re.compile(r"\s*```[ \t]*(markdown|md|html|json)[ \t]*", re.I)
"""A fence around an answer, or a part of it. A listing in another language is part of the page."""


def _without_fence(text: str) -> str:
    """The inside of a code fence, where the whole answer is one, and of those around parts of it."""
    lines = text.strip().split("\n")
    fences = [number for number, line in enumerate(lines) if line.lstrip().startswith("```")]
    if not fences or len(lines) < 2:
        return text
    whole, closed = fences[0] == 0, lines[-1].strip() == "```"
    if whole and len(fences) == 1:  # it breaks off
        return "\n".join(lines[1:])
    nested = _OPENING.fullmatch(lines[0]) and not _in_turns(lines, fences)
    if whole and closed and (len(fences) == 2 or nested):
        return "\n".join(lines[1:-1])
    dropped = {
        number
        for opening, closing in pairwise(fences)
        if _OPENING.fullmatch(lines[opening]) and lines[closing].strip() == "```"
        for number in (opening, closing)
    }
    if not dropped:
        return text
    return "\n".join(line for number, line in enumerate(lines) if number not in dropped)


def _in_turns(lines: Sequence[str], fences: Sequence[int]) -> bool:
    """Whether fences open and close in turns, none inside of another."""
    return all((lines[f].strip() == "```") == bool(turn % 2) for turn, f in enumerate(fences))


def _without_thoughts(text: str) -> str:
    """What follows the thoughts; nothing where they never end."""
    if "</think>" in text:
        return text.rsplit("</think>", 1)[1]
    return "" if text.lstrip().startswith("<think>") else text


def _without_front_matter(text: str) -> str:
    """The answer without the YAML before it: `---`, lines `key: value`, `---`."""
    lines = text.lstrip().split("\n")
    if lines[0].strip() != "---":
        return text
    for number, line in enumerate(lines[1:], start=1):
        if line.strip() == "---":
            return "\n".join(lines[number + 1 :])
        if not re.match(r"\s*[A-Za-z_]\w*\s*:", line):
            return text if number == 1 else "\n".join(lines[number:])
    return ""


_MARK = re.compile(r"<(page_number|watermark|img)>")
_CAPTION = re.compile(r"\s*(fig(ure|\.)?|tab(le|\.)?|abb(ildung|\.)?|chart|scheme|图|表)\s*[\dIVX]", re.I)
_LOOSE_TAG = re.compile(r"</?(?:page_number|watermark|signature|img)>")


def _without_marks(text: str) -> str:
    """Nanonets' answer without page numbers, watermarks and descriptions of pictures.

    A caption that stands on the page is asked for in the same tag as a description that the model makes up;
    one that has a number is taken for what it says. Signatures stay, and so does what is never closed.
    """
    kept: list[str] = []
    end = 0
    closing: dict[str, int] = {}
    for mark, after in pairwise([*_MARK.finditer(text), None]):
        assert mark is not None
        if mark.start() < end:
            continue
        name = mark[1]
        if 0 <= closing.get(name, 0) < mark.end():
            closing[name] = text.find(f"</{name}>", mark.end())
        close = closing[name]
        if close < 0 or (after is not None and after[1] == name and after.start() < close):
            continue
        said = text[mark.end() : close]
        kept.append(text[end : mark.start()])
        if name == "img" and _CAPTION.match(said):
            kept.append(said)
        end = close + len(name) + 3
    return _LOOSE_TAG.sub("", "".join(kept) + text[end:])


def _without_boxes(text: str) -> str:
    return text.replace("<|begin_of_box|>", "").replace("<|end_of_box|>", "")


def _with_otsl_as_html(text: str) -> str:
    return "".join(otsl_html(part) if is_table else part for is_table, part in _otsl_parts(text))


_CLEANERS: dict[str, Callable[[str], str]] = {
    "fence": _without_fence,
    "think": _without_thoughts,
    "front_matter": _without_front_matter,
    "nanonets": _without_marks,
    "glm": _without_boxes,
    "otsl": _with_otsl_as_html,
}


def _stretches(tags: Iterable[re.Match[str]], text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Each tag with what stands between it and the next one."""
    for tag, after in pairwise([*tags, None]):
        assert tag is not None
        yield tag, text[tag.end() : after.start() if after is not None else len(text)]


# --- OTSL -----------------------------------------------------------------------------------------------

_OTSL = re.compile(r"<(fcel|ecel|lcel|ucel|xcel|ched|rhed|srow|nl)>")


def _otsl_parts(text: str) -> Iterator[tuple[bool, str]]:
    """The text in turns of (is it a table, part): a table ends where words follow the end of a row."""
    start = end = 0
    for tag in _OTSL.finditer(text):
        if start == end:  # not in a table
            if tag[1] == "nl":
                continue
            yield False, text[end : tag.start()]
            start = end = tag.start()
        elif text[end - 4 : end] == "<nl>" and text[end : tag.start()].strip():
            yield True, text[start:end]
            yield False, text[end : tag.start()]
            start = tag.start()
        end = tag.end()
    if start == end:
        yield False, text[end:]
    elif text[end - 4 : end] == "<nl>":
        yield True, text[start:end]
        yield False, text[end:]
    else:
        yield True, text[start:]


def otsl_html(text: str) -> str:
    """A table in OTSL as HTML.

    `<fcel>` is a cell with text, `<ecel>` an empty one; `<lcel>`, `<ucel>` and `<xcel>` belong to the cell to
    the left, above, and both. One of these that has nothing to belong to, or text of its own, is a cell.
    """
    rows: list[list[tuple[str, str]]] = [[]]
    for tag, content in _stretches(_OTSL.finditer(text), text):
        said = content.strip()
        if tag[1] == "nl":
            rows.append([])
        else:
            rows[-1].append((tag[1] if not said or tag[1] in ("ched", "rhed", "srow") else "fcel", said))
    return _html_of_grid([row for row in rows if row])


def _html_of_grid(rows: Sequence[Sequence[tuple[str, str]]]) -> str:
    taken: set[tuple[int, int]] = set()
    lines = []
    for r, row in enumerate(rows):
        cells = []
        for c, (kind, said) in enumerate(row):
            if (r, c) in taken:
                continue
            across, down = 1, 1
            while c + across < len(row) and row[c + across][0] == "lcel" and (r, c + across) not in taken:
                across += 1
            while r + down < len(rows) and _belongs(rows[r + down], c, across):
                down += 1
            taken |= {(r + i, c + j) for i in range(down) for j in range(across)}
            spans = f' rowspan="{down}"' if down > 1 else ""
            spans += f' colspan="{across}"' if across > 1 else ""
            tag = "th" if kind in ("ched", "rhed", "srow") else "td"
            cells.append(f"<{tag}{spans}>{html.escape(said, quote=False)}</{tag}>")
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>{''.join(lines)}</table>"


def _belongs(row: Sequence[tuple[str, str]], col: int, across: int) -> bool:
    """Whether the places of a row below a cell are marked as part of it."""
    part = [kind for kind, _ in row[col : col + across]]
    return len(part) == across and part[0] == "ucel" and all(kind in ("xcel", "ucel") for kind in part[1:])


# --- Layouts --------------------------------------------------------------------------------------------


def place(numbers: object, unit: tuple[float, float], page: tuple[float, float]) -> Corners | None:
    """A model's box (x0, y0, x1, y1) in points, cut at the page's edges; None for what is no box on the page.
    `unit`: how many points one of its steps is, across and down.
    """
    if not isinstance(numbers, Sequence) or isinstance(numbers, str) or len(numbers) != 4:
        return None
    if not all(isinstance(v, int | float) and math.isfinite(v) for v in numbers):
        return None
    across = sorted(min(max(v * unit[0], 0.0), page[0]) for v in (numbers[0], numbers[2]))
    down = sorted(min(max(v * unit[1], 0.0), page[1]) for v in (numbers[1], numbers[3]))
    if across[0] >= across[1] or down[0] >= down[1]:
        return None
    return across[0], down[0], across[1], down[1]


def _numbers(text: str) -> list[float]:
    return [float(v) for v in re.findall(r"-?\d{1,9}(?:\.\d{1,9})?", text)]


def layout_output(blocks: Sequence[Block]) -> Json:
    """Elements in reading order, and the page as Markdown."""
    elements, texts = [], []
    for order, block in enumerate(blocks):
        element, text = _element(block, order)
        elements.append(element)
        if text and element["category"] not in NOT_IN_THE_TEXT:
            texts.append(text)
    return elements_output(elements, markdown="\n\n".join(texts))


def _element(block: Block, order: int) -> tuple[Json, str]:
    content = block.content.strip()
    said = plain_text(content) if _IS_HTML.search(content) else content
    category = category_of(block.label, said)
    made = partial(layout_element, box=block.box, order=order)
    if category != "figure" and _TABLE.search(content):
        html_table = _with_otsl_as_html(content)
        return made("Table", html=html_table), html_table
    if category == "table":
        return made("Table", markdown=content), content
    if category == "equation_isolated":
        latex = bare_formula(said)
        return made(block.label, latex=latex), f"$$\n{latex}\n$$" if latex else ""
    if category == "title":
        level = re.match(r"#{1,6}(?=\s)", content) or re.match(r"<h([1-6])\b", content, re.I)
        marks = "#" if level is None else level[0] if level[0][0] == "#" else "#" * int(level[1])
        said = said.lstrip("#").strip()
        return made(block.label, text=said), f"{marks} {said}" if said else ""
    return (made(block.label), "") if category == "figure" else (made(block.label, text=said), said)


_IS_HTML = re.compile(r"<(?:p|div|h[1-6]|ul|ol|li|br|b|i|math|img|span|pre|code|input)\b[^<>]{0,500}>", re.I)
_TABLE = re.compile(r"<table\b|<(?:fcel|ecel|ched)>", re.I)
_DELIMITERS = (("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"), ("$", "$"))


def bare_formula(text: str) -> str:
    """A formula without what stands around it."""
    text = text.strip()
    for left, right in _DELIMITERS:
        if len(text) >= len(left) + len(right) and text.startswith(left) and text.endswith(right):
            return text[len(left) : -len(right)].strip()
    return text


# --- dots.ocr: a JSON list ------------------------------------------------------------------------------


def dots_output(text: str, picture: tuple[int, int], page: tuple[float, float]) -> Json:
    """dots.ocr's list of elements, with boxes in the picture's pixels; the page's Markdown if it has none."""
    unit = (page[0] / picture[0], page[1] / picture[1])
    blocks = []
    for item in _json_objects(text):
        label, said = item.get("category"), item.get("text")
        if not isinstance(label, str) and not isinstance(said, str):
            continue
        box, label = place(item.get("bbox"), unit, page), label if isinstance(label, str) else "Text"
        blocks.append(Block(label, said if isinstance(said, str) else "", box))
    return layout_output(blocks) if blocks else text_output("markdown", text)


_BEGINNING = re.compile(r'\{\s*"(?:bbox|category|text)"\s*:')


def _json_objects(text: str) -> list[Json]:
    """The objects of a JSON list, as many as can be read of one that is broken."""
    decoder = json.JSONDecoder(strict=False)  # line breaks inside of strings are common
    try:
        data = decoder.decode(text.strip())
    except (ValueError, RecursionError):
        data = None
    if isinstance(data, dict) and not {"bbox", "category"} & data.keys():
        data = next((v for v in data.values() if isinstance(v, list)), None)
    if data is not None:
        return [item for item in (data if isinstance(data, list) else [data]) if isinstance(item, dict)]
    found: list[Json] = []
    starts = [m.start() for m in _BEGINNING.finditer(text)]
    for start, end in pairwise([*starts, len(text)]):
        try:
            item, _ = decoder.raw_decode(text[start:end])
        except (ValueError, RecursionError):
            item = _broken_object(text[start:end])
        found.append(item)
    return found


def _broken_object(text: str) -> Json:
    """What can be told of an element whose JSON breaks off, or has quotes that are not escaped."""
    item: Json = {}
    if box := re.search(r'"bbox"\s*:\s*\[([^\]]{0,200})\]', text):
        item["bbox"] = _numbers(box[1])
    if label := re.search(r'"category"\s*:\s*"([^"]{0,40})"', text):
        item["category"] = label[1]
    if said := re.search(r'"text"\s*:\s*"', text):
        rest = text[said.end() :]
        before = rest.rstrip(" \t\r\n,]")
        if before.endswith("}") and before[:-1].rstrip().endswith('"'):
            rest = before[:-1].rstrip()[:-1]
        item["text"] = _ESCAPE.sub(_unescaped, rest)
    return item


_ESCAPE = re.compile(r'\\(u[0-9a-fA-F]{4}|[nrtbf"\\/])(?!(?<=[rtbf])[A-Za-z])')
"""Escapes of JSON; `\\theta` and `\\frac` are LaTeX whose backslash was not doubled."""


def _unescaped(match: re.Match[str]) -> str:
    escape = match[1]
    if escape[0] == "u":
        return chr(int(escape[1:], 16)) if not 0xD800 <= int(escape[1:], 16) < 0xE000 else "\ufffd"
    return {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}.get(escape, escape)


# --- DeepSeek-OCR: grounding tags -----------------------------------------------------------------------

_GROUNDED = re.compile(
    r"<\|ref\|>([^<\n]{0,100})<\|/ref\|>\s{0,5}<\|det\|>([\[\]\d\s,.\-]{0,2000})(?:<\|/det\|>|(?=\n|$))"
)
_UNTAGGED = re.compile(r"^([a-z_]{3,30})(\[\[\d+,\s*\d+,\s*\d+,\s*\d+\][\[\]\d\s,]{0,2000}\])[ \t]*$", re.M)
"""The same, where the server left the special tokens out."""
_LOOSE_GROUNDING = re.compile(r"<\|det\|>[\[\]\d\s,.\-]{0,2000}|<\|/?(?:ref|det|grounding)\|>")
_END = "<｜end▁of▁sentence｜>"


def deepseek_output(text: str, page: tuple[float, float]) -> Json:
    """DeepSeek-OCR's blocks: `<|ref|>label<|/ref|><|det|>[[x0, y0, x1, y1]]<|/det|>`, then the text.

    Places are counted from 0 to 999. An answer without any such tag is the page's Markdown.
    """
    text = text.replace(_END, "").replace("\\coloneqq", ":=").replace("\\eqqcolon", "=:")
    tags = list(_GROUNDED.finditer(text)) or list(_UNTAGGED.finditer(text))
    if not tags:
        return text_output("markdown", _LOOSE_GROUNDING.sub("", text))
    unit = (page[0] / 999, page[1] / 999)
    blocks = []
    before = _LOOSE_GROUNDING.sub("", text[: tags[0].start()]).strip()
    if before:
        blocks.append(Block("text", before))
    for tag, content in _stretches(tags, text):
        numbers = _numbers(tag[2])
        box = None
        if numbers and len(numbers) % 4 == 0:  # several boxes: the hull
            quads = [numbers[i : i + 4] for i in range(0, len(numbers), 4)]
            hull = [f(q[k] for q in quads) for f, k in ((min, 0), (min, 1), (max, 2), (max, 3))]
            box = place(hull, unit, page)
        blocks.append(Block(tag[1].strip() or "text", _LOOSE_GROUNDING.sub("", content), box))
    return layout_output(blocks)


# --- Chandra: HTML blocks -------------------------------------------------------------------------------

_DIV = re.compile(r"<div\b([^<>]{0,500}\bdata-(?:bbox|label)\s*=[^<>]{0,500})>", re.I)
_MATH = re.compile(r"<math\b([^<>]{0,200})>([^<]{0,5000})</math>", re.I)
_DISPLAY = re.compile(r"""display\s*=\s*["']?block|^\s*display\b(?!\s*=)""", re.I)


def chandra_output(text: str, scale: float, page: tuple[float, float]) -> Json:
    """Chandra's blocks: `<div data-bbox="x0 y0 x1 y1" data-label="Text">…</div>`, one after the other.

    An answer without any such block is the page's HTML. `scale`: where the page ends in the model's own
    steps.
    """
    text = _MATH.sub(_dollars, text)
    tags = list(_DIV.finditer(text))
    if not tags:
        return text_output("html", text)
    unit = (page[0] / scale, page[1] / scale)
    blocks = []
    for tag, inside in _stretches(tags, text):
        content = _without_ends(inside)
        box, label = (_attribute(tag[1], name) for name in ("bbox", "label"))
        corners = None if box is None else place(_numbers(box), unit, page)
        blocks.append(Block(label or "Text", content, corners))
    return layout_output(blocks)


def _attribute(tag: str, name: str) -> str | None:
    found = re.search(rf"""data-{name}\s*=\s*(?:"([^"]*)"|'([^']*)')""", tag, re.I)
    return (found[1] or found[2] or "") if found else None


def _without_ends(text: str) -> str:
    """A block without the tags that close it."""
    end = len(text)
    while True:
        while end and text[end - 1].isspace():
            end -= 1
        if not text.endswith("</div>", 0, end):
            return text[:end]
        end -= len("</div>")


def _dollars(match: re.Match[str]) -> str:
    """`<math>` holds LaTeX here; where it holds MathML it has tags and is left as it is."""
    around = "$$" if _DISPLAY.search(match[1]) else "$"
    return f"{around}{match[2].strip()}{around}"


# --- MinerU2.5: a layout, then its blocks ---------------------------------------------------------------

_MINERU = re.compile(
    r"<\|box_start\|>\s*(-?\d{1,6})\s+(-?\d{1,6})\s+(-?\d{1,6})\s+(-?\d{1,6})\s*<\|box_end\|>"
    r"<\|ref_start\|>(\w{1,40})<\|ref_end\|>(?:<\|rotate_(up|right|down|left)\|>)?"
)
_TURNED = {"up": 0, "right": 90, "down": 180, "left": 270}
CONTAINERS = frozenset(("list", "equation_block"))  # what MinerU2.5 sees around blocks that it sees too


def mineru_layout(text: str, page: tuple[float, float]) -> list[Block]:
    """The blocks of MinerU2.5's first answer, still without content, places counted from 0 to 1000."""
    unit = (page[0] / 1000, page[1] / 1000)
    blocks = []
    for found in dict.fromkeys(m.groups() for m in _MINERU.finditer(text)):  # it may repeat itself
        box = place([int(v) for v in found[:4]], unit, page)
        if box is not None and found[4] not in CONTAINERS:
            blocks.append(Block(found[4], "", box, _TURNED[found[5] or "up"]))
    if len(blocks) > MAX_BLOCKS:
        raise ValueError(f"the layout has {len(blocks)} blocks, over {MAX_BLOCKS}")
    return blocks


def text_of(message: Any) -> str | None:
    """The text of a chat message: a string, or parts of which some are text; None if there is none."""
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        parts = [p.get("text") for p in content if isinstance(p, dict)]
        content = "".join(p for p in parts if isinstance(p, str)) or None
    return content if isinstance(content, str) else None
