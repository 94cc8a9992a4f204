"""What v1.6 alone does while it reads Markdown: splitting and rescuing formulas (3.5, 3.13 to 3.17)."""

import re
from dataclasses import replace
from functools import lru_cache

from parsemark.protocols.document.omnidocbench.normalise import safe_text
from parsemark.protocols.document.omnidocbench.records import FORMULA, RESCUE, TEXT, MarkdownItem
from parsemark.protocols.document.omnidocbench.scan import ENVELOPES, collapse, envelope, replace_spans, spans
from parsemark.protocols.document.omnidocbench.table_html import parse_html

_DISPLAY, _INLINE = ENVELOPES[:2], ENVELOPES[2:]
_BLANK_LINES = re.compile(r"(\n\s*\n)")
_DESCRIPTIONS = ("the image ", "the figure ", "the diagram ", "diagram:", "[diagram:", "[image:", "qr code ")


def plain_descriptions(text: str) -> str:
    """Return descriptions of images lose the delimiters of their formulas (3.5)."""
    parts = _BLANK_LINES.split(text)
    for index in range(0, len(parts), 2):
        head = collapse(parts[index][:4000]).lower()
        if head.startswith(_DESCRIPTIONS) and len(collapse(parts[index])) >= 24:
            for pair in _INLINE:
                parts[index] = replace_spans(parts[index], (pair,), lambda s: s.inner, dotall=True)
    return "".join(parts)


# --- formulas: margin text and compounds (3.13) ----------------------------------------------------------

_SPACING = r"(?:\\qquad|\\quad|\\enspace|\\,|\\;|\\:)"
_SPACINGS = re.compile(rf"(?:\s*{_SPACING})+\s*")
_NUMBER = re.compile(r"(?:\\left\s*\(\s*[0-9IVXivx]+\s*\\right\s*\)|\(\s*[0-9IVXivx]+\s*\))")
_SPACING_END = re.compile(rf"{_SPACING}$")
_TEXT_COMMAND_END = re.compile(r"\\text\s{0,20}$")
_TRAILING_SPACINGS = re.compile(rf"(?:\s*{_SPACING})+\s*$")
_ROMAN = re.compile(r"[0-9IVXivx]+")
_LETTER = re.compile(r"[A-Za-z]")
_WORD2 = re.compile(r"[A-Za-z]{2,}")
_MATH = re.compile(r"\\[A-Za-z]+|[=<>≤≥÷×±∑∫√_^{}]")
_QUAD = re.compile(r"\\qquad|\\quad")
_NOT_ARITHMETIC = re.compile(
    r"\\(mathbf|left|right|cdot|lambda|Gamma|varGamma|text|matrix|pmatrix|bmatrix)|\\begin\{|\\end\{"
)
_RELATIONS = ("=", "\\approx", "≈", "\\neq", "≠", "\\leq", "≤", "\\geq", "≥")
_DIGIT = re.compile(r"\d")
_FRACTION = re.compile(r"\d+\s*/\s*\d+")


def plain(text: str) -> str:
    """Return LaTeX as one line of text."""
    return collapse(safe_text(text, text).replace("\u00a0", " "))


def _is_caption(text: str) -> bool:
    p = plain(text)
    bare = p[1:-1] if p.startswith("(") and p.endswith(")") else p
    if _ROMAN.fullmatch(bare.replace(" ", "")):
        return False
    letters = len(_LETTER.findall(p))
    math = len(_MATH.findall(text))
    if letters >= 10 and len(_WORD2.findall(p)) >= 2 and math <= 6:
        return True
    return letters >= 14 and not any(c.isdigit() for c in p) and math <= 3


def _ending(text: str) -> tuple[str, str] | None:
    r"""Return a formula's rest and its margin text: a final `\text{…}` or `(…)` behind spacing."""
    for left, right in (("{", "}"), ("(", ")")):
        end = text.rstrip()
        body = end.removesuffix(".").rstrip()
        start = body.rfind(left)
        if start < 0 or not body.endswith(right) or right in body[start:-1]:
            continue
        if left == "{":
            command = _TEXT_COMMAND_END.search(body, max(0, start - 30), start)
            if command is None:
                continue
            start = command.start()
        elif _LETTER.search(body, start) is None:
            continue
        before = body[:start].rstrip()
        spacing = _SPACING_END.search(before, max(0, len(before) - 10))
        if spacing is not None and _is_caption(end[start:]):
            return before[: spacing.start()], end[start:]
    return None


def split_formula(item: MarkdownItem) -> list[MarkdownItem]:
    """Return a formula without the text in its margin, and a row of calculations one by one."""
    line = collapse(item.content)
    if (pair := envelope(line)) is None:
        return [item]
    left, right = pair
    inner = line[len(left) : len(line) - len(right)].strip()
    captions: list[MarkdownItem] = []
    number = _NUMBER.match(inner)
    if number is not None or _ending(inner) is not None:
        rest, captions = _cut_margins(inner, number, item)
        if rest:
            inner, item = rest, replace(item, content=f"{left} {rest} {right}")
        else:
            captions, item = [], replace(item, content=line)
    return [*_compound(item, inner, left, right), *captions]


def _cut_margins(
    inner: str, number: re.Match[str] | None, item: MarkdownItem
) -> tuple[str, list[MarkdownItem]]:
    s, e = item.start, item.end
    captions: list[MarkdownItem] = []
    if number is not None:
        found = number.group()
        captions.append(MarkdownItem(TEXT, plain(found), s, min(e, s + len(found)), "equation_caption"))
        inner = inner[number.end() :]
        spacing = _SPACINGS.match(inner)
        inner = inner[spacing.end() :] if spacing is not None else inner.strip()
    while (ending := _ending(inner)) is not None:
        inner, found = ending
        captions.append(MarkdownItem(TEXT, plain(found), max(s, e - len(found)), e, "equation_caption"))
    spacing = _TRAILING_SPACINGS.search(inner)
    return (inner[: spacing.start()] if spacing is not None else inner).strip(), captions


def _compound(item: MarkdownItem, inner: str, left: str, right: str) -> list[MarkdownItem]:
    if "\\quad" not in inner and "\\qquad" not in inner:
        return [item]
    segments = [part.strip() for part in _QUAD.split(inner) if part.strip()]
    if len(segments) < 2 or not all(_is_arithmetic(part) for part in segments):
        return [item]
    n, s, e = len(segments), item.start, item.end
    width = max(e - s, n) // n
    ends = [*(min(e, s + k * width) for k in range(1, n)), e]
    return [
        replace(item, content=f"{left} {segment} {right}", start=s + k * width, end=end)
        for k, (segment, end) in enumerate(zip(segments, ends, strict=True))
    ]


def _is_arithmetic(text: str) -> bool:
    return (
        len(text) <= 160
        and _NOT_ARITHMETIC.search(text) is None
        and any(mark in text for mark in _RELATIONS)
        and (len(_DIGIT.findall(text)) >= 2 or _has_fraction(text))
    )


def _has_fraction(text: str) -> bool:
    return "\\frac" in text or _FRACTION.search(text) is not None


# --- rescue (3.14, 3.15) ---------------------------------------------------------------------------------

_OPERATOR = re.compile(
    r"\\(?:frac|sqrt|sum|int|prod|times|div|square|cdots|left|right|approx|xrightarrow|rightarrow|longrightarrow)"
    r"|[=<>≤≥≈÷×±∑∫√→^_□△…%/+-]"
)
_CJK = re.compile("[\u4e00-\u9fff]")
_LONG_WORD = re.compile(r"[A-Za-z]{4,}")
_NOT_REST = re.compile(r"\\[A-Za-z]+|[=<>≤≥÷×±∑∫√^_□△…%/()+-]|\d|\s")
_SIGNS = (
    ("……", " \\cdots \\cdots "), ("…", " \\cdots "), ("×", " \\times "), ("÷", " \\div "), ("≤", " \\leq "),
    ("≥", " \\geq "), ("≠", " \\neq "), ("≈", " \\approx "), ("□", " \\square "), ("△", " \\triangle "),
    ("（", "("), ("）", ")"), ("［", "["), ("］", "]"), ("｛", "{"), ("｝", "}"),
)  # fmt: skip
_ARROW = re.compile(r"(.*?)\\xrightarrow\s*\{([^{}]+)\}(.*)")
_PERCENT = re.compile(r"(?<!\\)%")
_AMPERSAND = re.compile(r"(?<!\\)&")
_REDOX = "氧化还原反应"
_CALCULATION = ("=", "+", "-", "×", "÷", "/", "≈", "\\times", "\\div", "\\approx")


@lru_cache(maxsize=4096)
def unwrap(text: str) -> str:
    """Remove all delimiters of formulas."""
    for pair in ENVELOPES:
        text = replace_spans(text, (pair,), lambda s: f" {s.inner} ", dotall=True)
    return text


def is_formula_like(text: str) -> bool:
    """Return whether a short text may be meant as a formula."""
    text = collapse(text)
    if not 1 <= len(text) <= 220:
        return False
    body = unwrap(text)
    packed = "".join(body.split())
    operators = len(_OPERATOR.findall(body))
    if not operators:
        return False
    digits = len(_DIGIT.findall(body))
    has_formula = any(spans(text, _INLINE, dotall=False)) or any(spans(text, _DISPLAY, dotall=True))
    cjk = len(_CJK.findall(body))
    words = len(_LONG_WORD.findall(body))
    arrow = any(mark in body for mark in ("\\xrightarrow", "\\longrightarrow", "→"))
    square = "□" in body or "\\square" in body
    return (
        (has_formula and len(_NOT_REST.sub("", body)) <= 18)
        or (square and words <= 1 and len(packed) <= 80)
        or (arrow and cjk <= 24 and len(packed) <= 120)
        or (operators >= 2 and digits >= 1 and words <= 2 and cjk <= 12 and len(packed) <= 100)
        or (operators >= 3 and words == 0 and cjk <= 18 and len(packed) <= 80)
    )


def sanitise(text: str) -> str:
    """Return a text as a formula."""
    text = unwrap(collapse(text.replace("\u3000", " ")))
    for old, new in _SIGNS:
        text = text.replace(old, new)
    arrow = _ARROW.search(text)
    if arrow is not None:
        before, label, after = (part.strip() for part in arrow.groups())
        if "\\" not in label:
            label = f"\\text{{{label}}}"
        if after.endswith(_REDOX):
            after = after.removesuffix(_REDOX).strip()
            text = f"{before} \\underset{{{_REDOX}}}{{\\xrightarrow{{{label}}}}} {after}"
        else:
            text = f"{before} \\xrightarrow{{{label}}} {after}"
    text = collapse(_AMPERSAND.sub(r"\\&", _PERCENT.sub(r"\\%", text)))
    return text if text.startswith(("\\begin{", "$$", "\\[")) else f"\\[ {text} \\]"


def rescued(text: str, start: int, end: int, fine: str) -> list[MarkdownItem]:
    """Return the formula that a text may be, as an item, or none."""
    if not is_formula_like(text):
        return []
    content = sanitise(text)
    is_reaction = "\\xrightarrow" in content or "\\longrightarrow" in content
    return [MarkdownItem(FORMULA if is_reaction else RESCUE, content, start, end, fine)]


def rescued_from_table(source: str, start: int) -> list[MarkdownItem]:
    """Return the calculations in the cells of a table (3.15)."""
    items: list[MarkdownItem] = []
    cursor = start
    has_any = any(mark in source for mark in _CALCULATION)
    for cell in parse_html(source).find_all(["td", "th"]) if has_any else ():
        text = collapse(cell.get_text(" "))
        if (
            len(text) <= 120
            and any(mark in text for mark in _CALCULATION)
            and (len(_DIGIT.findall(text)) >= 2 or _has_fraction(text))
            and is_formula_like(text)
        ):
            items.append(
                MarkdownItem(FORMULA, sanitise(text), cursor, cursor + len(text), "table_formula_rescue")
            )
            cursor += len(text) + 1
    return items


# --- HTML fragments and trivial formulas (3.16, 3.17) ------------------------------------------------------

_FRAGMENT = re.compile(r"<(?:div|dir)\b")
_UNWRAPPED = ("span", "font", "b", "strong", "i", "em", "u", "a", "sup", "sub")
_BLOCKS = ("div", "dir", "p", "li")


def html_fragment_text(text: str) -> str:
    """Return the text of a `div`; other texts as they are."""
    if _FRAGMENT.match(text) is None or "<table" in text.lower():
        return text
    soup = parse_html(text)
    for tag in soup(["style", "script"]):
        tag.decompose()
    for tag in soup.find_all(_UNWRAPPED):
        tag.unwrap()
    for tag in soup.find_all("br"):
        tag.replace_with("\n")
    for tag in soup.find_all(_BLOCKS):
        if not tag.contents or str(tag.contents[-1]) != "\n":
            tag.append("\n")
    lines = (line.strip() for line in soup.get_text().replace("\u00a0", " ").split("\n"))
    return "\n".join(line for line in lines if line) or text


_TRIVIAL = re.compile(
    r"[A-Za-z0-9._,-]+|[A-Za-z][A-Za-z0-9_.,-]*|[A-Za-z0-9]+Oy|[ΓγλμνxyzuvwMNOabcABC0-9._,-]+"
)
_NOT_TRIVIAL = re.compile(r"[=<>≤≥≈≠^+/-]|\\(?:cdot|frac|sqrt|sum|int|times|div|approx|neq|leq|geq)")


def is_trivial_inline(item: MarkdownItem) -> bool:
    """Return whether an inline formula is no more than a name or a number."""
    if not item.is_inline:
        return False
    body = unwrap(item.content)
    packed = "".join(body.split())
    if packed.startswith(("\\xrightarrow", "\\longrightarrow")):
        return True
    return (
        1 <= len(packed) <= 24
        and _NOT_TRIVIAL.search(body) is None
        and _TRIVIAL.fullmatch(packed) is not None
    )
