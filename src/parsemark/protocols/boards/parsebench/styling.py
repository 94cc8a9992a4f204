"""Rules of formatting: styles, colours, formulas, code, titles and their tree, running heads, rotation."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from parsemark.errors import FormatError
from parsemark.protocols.boards.parsebench.content import Rule, WrongRuleError
from parsemark.protocols.boards.parsebench.text import norm, subbed, unescaped

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
    for own, needle in (
        (content, _flexible(text)),
        (_stripped(content, style), re.escape(text).replace(r"\ ", r"\s+")),
    ):
        for pattern, flags in _PATTERNS[style]:
            if re.search(pattern.replace("X", needle), own, flags | re.I):
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
    for content in (markdown, _stripped(markdown, "mark")):
        for found in re.finditer(r"<mark\b([^>]*)>([\s\S]+?)</mark>", content, re.I):
            if needle.search(found[2]) and color in found[1].lower():
                return True
    return False


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
    for text in variants(markdown):
        blocks = re.findall(r"^[ \t]*```([^\n`]*)\n(.*?)[ \t]*\n[ \t]*```[ \t]*$", text, re.M | re.S)
        for name, body in blocks:
            if name.strip().lower() == language and (
                code in body.strip() or re.sub(r"\s+", " ", code) in re.sub(r"\s+", " ", body.strip())
            ):
                return True
    return False


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
    if any(
        re.search(pattern, content, re.M | re.I) for content in variants(markdown) for pattern in patterns
    ):
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
        if isinstance(node, Mapping):
            own = [(str(key), value) for key, value in node.items()]
        elif isinstance(node, list):
            for entry in node:
                own += [(str(k), v) for k, v in entry.items()] if isinstance(entry, Mapping) else []
                own += [(entry, None)] if isinstance(entry, str) else []
        elif isinstance(node, str):
            own = [(node, None)]
        named = [(norm(title).strip(), below) for title, below in own]
        named = [(title, below) for title, below in named if title]
        for number, (title, below) in enumerate(named):
            titles[title] = None
            if parent is not None:
                edges.append((parent, title))
                if number:
                    orders.append((named[number - 1][0], title))
            visit(below, title)

    visit(rule.get("title_hierarchy"), None)
    if not titles:
        return False, 0.0
    first: dict[str, tuple[int, int]] = {}
    for line, level, title in title_events(markdown):
        first.setdefault(title, (line, level))
    right = sum(title in first for title in titles)
    for parent, child in edges:
        if parent in first and child in first:
            (line, level), (line_below, level_below) = first[parent], first[child]
            right += line < line_below and level < level_below
    right += sum(a in first and b in first and first[a][0] < first[b][0] for a, b in orders)
    share = right / (len(titles) + len(edges) + len(orders))
    return share >= 0.999, share


def in_running_head(rule: Rule, markdown: str) -> bool:
    """Whether a text stands in a page's head or foot."""
    part = rule["type"].removeprefix("is_")
    text = _needle(rule)
    own = "".join("[-‐‑‒–—―−]" if c in "-‐‑‒–—―−" else r"\s+" if c == " " else re.escape(c) for c in text)
    return bool(re.search(rf"<page_{part}>[^<]*?{own}[^<]*?</page_{part}>", markdown, re.I))
