"""Rules of formatting: styles, colours, formulas, code, titles and their tree, running heads, rotation."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from parsemark.errors import FormatError
from parsemark_boards.parsebench.content import Rule, WrongRuleError
from parsemark_boards.parsebench.text import norm, subbed, unescaped

_MARKS = r"(?:\*|~~|_|</?\w+(?:\s[^>]*)?>)*"
MAX_RUN = 40  # marks in a row; patterns go through all ways to read them
STYLES = ("bold", "italic", "underline", "strikeout", "mark", "sup", "sub")
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱᵃᵇᶜᵈᵉᶠᵍʰʲᵏˡᵐᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ"
_LOWERED = "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ"
MAX_NEEDLE = 5000


def _tagged(tag: str) -> str:
    return rf"<{tag}>(?:(?!</{tag}>).)*?X(?:(?!</{tag}>).)*?</{tag}>"


_ONE = r"(?<!S)S(?!S)(?:(?!S(?!S)).)*?X(?:(?!S(?!S)).)*?S(?!S)"
_PATTERNS: Mapping[str, tuple[tuple[str, int], ...]] = {
    "bold": (
        (r"\*\*(?!\s)(?:(?!\*\*).)*?X(?:(?!\*\*).)*?(?<!\s)\*\*", re.S),
        (_tagged("b"), re.S),
        (r"^[ \t]*#{1,6}[ \t]+[^\n]*?X[^\n]*?[ \t]*(?:#+[ \t]*)?$", re.M),
    ),
    "italic": (
        (_ONE.replace("S", r"\*"), re.S),
        (_ONE.replace("S", "_"), re.S),
        (_tagged("i"), re.S),
        (_tagged("em"), re.S),
    ),
    "underline": (("<u>X</u>", 0), ("<ins>X</ins>", 0)),
    "strikeout": (("~~X~~", 0), ("<(?:s|del|strike)>X</(?:s|del|strike)>", 0)),
    "mark": (("<mark>X</mark>", 0),),
    "sup": (("<sup>X</sup>", 0),),
    "sub": (("<sub>X</sub>", 0),),
}
_STRIPPED: Mapping[str, tuple[tuple[str, str, int], ...]] = {
    "bold": ((r"\*\*\*(.+?)\*\*\*", r"\1", re.S), (r"\*\*(.+?)\*\*", r"\1", re.S), (r"</?b>", "", re.I)),
    "italic": (
        (r"(?<!\*)\*(?!\*)(.+?)(?<!\*)\*(?!\*)", r"\1", 0),
        (r"(?<!_)_(?!_)(.+?)(?<!_)_(?!_)", r"\1", 0),
        (r"</?(?:i|em)>", "", re.I),
    ),
    "underline": ((r"</?(?:u|ins)>", "", re.I),),
    "strikeout": (("~~", "", 0), (r"</?(?:s|del|strike)>", "", re.I)),
    "mark": ((r"</?mark\b[^>]*>", "", re.I),),
    "sup": ((r"</?sup>", "", re.I),),
    "sub": ((r"</?sub>", "", re.I),),
}


def check_marks(markdown: str) -> None:
    """Refuse a document with endless rows of marks, with FormatError."""
    if re.search(rf"(?:[*_~]|</?\w+>){{{MAX_RUN},}}", markdown):
        raise FormatError(f"The output has more than {MAX_RUN} marks of style in a row")


def _needle(rule: Rule, key: str = "text") -> str:
    text = str(rule.get(key) or "").strip()
    if not text or len(text) > MAX_NEEDLE:
        raise WrongRuleError(f"the {key} is blank or too long")
    return text


def _flexible(text: str) -> str:
    return _MARKS + rf"{_MARKS}\s+{_MARKS}".join(re.escape(text).split(r"\ ")) + _MARKS


def _stripped(text: str, style: str) -> str:
    for name, steps in _STRIPPED.items():
        if name != style:
            for pattern, new, flags in steps:
                text = re.sub(pattern, new, text, flags=flags)
    return subbed(text, (r"[^\S\n]+", " "), (" ?\n ?", "\n"), (r" ([,;:!?.\)\]\}])", r"\1"))


def has_style(style: str, rule: Rule, markdown: str) -> bool:
    """Whether a text is styled so somewhere."""
    text = _needle(rule)
    content = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown)
    plain = re.escape(text).replace(r"\ ", r"\s+")
    for own, needle in ((content, _flexible(text)), (_stripped(content, style), plain)):
        if any(re.search(p.replace("X", needle), own, flags | re.I) for p, flags in _PATTERNS[style]):
            return True
    signs = {"sup": _RAISED, "sub": _LOWERED}.get(style)
    if signs is None:
        return False
    runs = re.findall(f"[{signs}]+", markdown)
    return any(text.lower() in unicodedata.normalize("NFKD", run).lower() for run in runs)


def has_color(rule: Rule, markdown: str) -> bool:
    """Whether a text is marked in a colour."""
    text, color = _needle(rule), _needle(rule, "color").lower()
    needle = re.compile(_flexible(text), re.I)
    pattern = re.compile(r"<mark\b([^>]*)>([\s\S]+?)</mark>", re.I)
    found = (mark for own in (markdown, _stripped(markdown, "mark")) for mark in pattern.findall(own))
    return any(needle.search(marked) and color in attributes.lower() for attributes, marked in found)


def variants(markdown: str) -> list[str]:
    """A document as it is, with names of characters read, and with escapes of headings and stars undone."""
    plain = unescaped(markdown)
    bare = re.sub(r"(?m)^\\(#{1,6}\s+)", r"\1", plain).replace(r"\*\*", "**")
    return list(dict.fromkeys([markdown, plain, bare]))


def _bare_formula(latex: str) -> str:
    latex = latex.strip()
    for start, end in (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]")):
        if latex.startswith(start) and latex.endswith(end) and len(latex) >= len(start) + len(end):
            latex = latex[len(start) : -len(end)]
            break
    return re.sub(r"\s+", "", unescaped(latex))


def has_formula(rule: Rule, markdown: str) -> bool:
    """Whether a formula is there as it is written."""
    wanted = _bare_formula(str(rule.get("formula") or ""))
    if not wanted:
        raise WrongRuleError("the formula is blank")
    patterns = (
        r"(?<!\\)\$\$(.+?)(?<!\\)\$\$",
        r"(?<!\\)\$(?!\$)(.+?)(?<!\\)\$(?!\$)",
        r"\\\((.+?)\\\)",
        r"\\\[(.+?)\\\]",
    )
    found = (own for text in variants(markdown) for p in patterns for own in re.findall(p, text, re.S))
    return any(_bare_formula(own) == wanted for own in found)


def has_code(rule: Rule, markdown: str) -> bool:
    """Whether a block of code is there, in its language."""
    language, code = str(rule.get("language") or "").strip().lower(), str(rule.get("code") or "").strip()
    if not language or not code:
        raise WrongRuleError("the language or the code is blank")
    pattern = re.compile(r"^[ \t]*```([^\n`]*)\n(.*?)[ \t]*\n[ \t]*```[ \t]*$", re.M | re.S)
    blocks = (block for text in variants(markdown) for block in pattern.findall(text))
    bodies = [body.strip() for name, body in blocks if name.strip().lower() == language]
    spaced = re.sub(r"\s+", " ", code)
    return any(code in body or spaced in re.sub(r"\s+", " ", body) for body in bodies)


def title_events(markdown: str) -> list[tuple[int, int, str]]:
    """Titles: line, level and text; bold lines are of the seventh level."""
    events: set[tuple[int, int, str]] = set()
    for text in variants(markdown):
        for line_number, line in enumerate(text.splitlines()):
            for level, raw in _titles_of(line):
                if own := norm(raw).strip():
                    events.add((line_number, level, own))
    return sorted(events)


def _titles_of(line: str) -> Iterator[tuple[int, str]]:
    if found := re.match(r"^\s*(#{1,6})\s+(.+?)\s*$", line):
        yield len(found[1]), re.sub(r"\s+#+\s*$", "", found[2])
    for heading in re.finditer(r"<h([1-6])[^>]*>\s*(.*?)\s*</h\1>", line, re.I):
        yield int(heading[1]), re.sub(r"<[^>]+>", " ", heading[2])
    if found := re.match(r"^\s*\*\*\s*(.+?)\s*\*\*\s*$", line):
        yield 7, found[1]
    if found := re.match(r"^\s*<b[^>]*>\s*(.*?)\s*</b>\s*$", line, re.I):
        yield 7, re.sub(r"<[^>]+>", " ", found[1])


def is_title(rule: Rule, markdown: str) -> bool:
    """Whether a text begins a heading, or is a line in bold."""
    text = _needle(rule)
    own = _flexible(text)
    patterns = (
        rf"^#{{1,6}}\s+{own}",
        rf"<h[1-6][^>]*>\s*{own}\s*</h[1-6]>",
        rf"^\s*\*\*\s*{own}\s*\*\*\s*$",
        rf"^\s*<b[^>]*>\s*{own}\s*</b>\s*$",
    )
    written = variants(markdown)
    if any(re.search(pattern, content, re.M | re.I) for content in written for pattern in patterns):
        return True
    return norm(text).strip() in {title for _, _, title in title_events(markdown)}


def title_tree_share(rule: Rule, markdown: str) -> tuple[bool, float]:
    """The share of what a tree of titles says: they occur, parents above children, in order."""
    if not rule.get("title_hierarchy"):
        raise WrongRuleError("there are no titles")
    titles: dict[str, None] = {}
    edges: list[tuple[str, str]] = []
    orders: list[tuple[str, str]] = []

    def visit(node: Any, parent: str | None) -> None:
        own: list[tuple[str, Any]] = []
        for entry in node if isinstance(node, list) else [node]:
            if isinstance(entry, Mapping):
                own += [(str(title), below) for title, below in entry.items()]
            elif isinstance(entry, str):
                own.append((entry, None))
        before = None
        for title, below in ((norm(title).strip(), below) for title, below in own):
            if not title:
                continue
            titles[title] = None
            if parent is not None:
                edges.append((parent, title))
                if before is not None:
                    orders.append((before, title))
            before = title
            visit(below, title)

    visit(rule.get("title_hierarchy"), None)
    if not titles:
        return False, 0.0
    first: dict[str, tuple[int, int]] = {}
    for line, level, title in title_events(markdown):
        first.setdefault(title, (line, level))
    nested, ordered = (
        [(first[a], first[b]) for a, b in pairs if a in first and b in first] for pairs in (edges, orders)
    )
    right = sum(title in first for title in titles) + sum(a[0] < b[0] for a, b in ordered)
    right += sum(a[0] < b[0] and a[1] < b[1] for a, b in nested)
    share = right / (len(titles) + len(edges) + len(orders))
    return share >= 0.999, share


def in_running_head(rule: Rule, markdown: str) -> bool:
    """Whether a text stands in a page's head or foot."""
    part = rule["type"].removeprefix("is_")
    text = _needle(rule)
    own = "".join("[-‐‑‒–—―−]" if c in "-‐‑‒–—―−" else r"\s+" if c == " " else re.escape(c) for c in text)
    return bool(re.search(rf"<page_{part}>[^<]*?{own}[^<]*?</page_{part}>", markdown, re.I))
