"""Rules of formatting: styles, colours, formulas, code, titles and their tree, running heads."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from parsemark.errors import FormatError
from parsemark.metrics import MAX_CHARACTER_PAIRS, check_pairs
from parsemark_boards.parsebench.content import NotApplicableError, Rule, WrongRuleError
from parsemark_boards.parsebench.emphasis import emphasis_spans
from parsemark_boards.parsebench.text import is_september, norm, norm_quotes, subbed, unescaped

_MARKS = r"(?:\*|~~|_|</?\w+(?:\s[^>]*)?>)*"
_BLANKS = r"(?:(?!\r?\n[ \t]*\r?\n)\s)+"  # white space between words, but no blank line
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
_SEPTEMBER: Mapping[str, tuple[tuple[str, int], ...]] = {
    "bold": (
        (_tagged("b"), re.S),
        (_tagged("strong"), re.S),
        (r"^[ \t]*#{1,6}[ \t]+[^\n]*?X[^\n]*?[ \t]*(?:#+[ \t]*)?$", re.M),
    ),
    "italic": ((_tagged("i"), re.S), (_tagged("em"), re.S)),
    "underline": tuple((rf"<{t}>(?:(?!</{t}>).)*?X(?:(?!</{t}>).)*?</{t}>", re.S) for t in ("u", "ins")),
    "strikeout": (
        (r"<(s|del|strike)\b[^>]*>(?:(?!</\1>).)*?X(?:(?!</\1>).)*?</\1>", re.S),
        (
            r"<(\w+)\b(?=[^>]*text-decoration\s*:\s*[^>]*line-through)[^>]*>"
            r"(?:(?!</\1>).)*?X(?:(?!</\1>).)*?</\1>",
            re.S,
        ),
    ),
    "mark": ((r"<mark(?:\s+[^>]*)?>X</mark>", 0),),
    "sup": (("<sup[^>]*>X</sup>", 0),),
    "sub": (("<sub[^>]*>X</sub>", 0),),
}
"""Patterns beside Markdown's emphasis, which is found by pairs of marks."""
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


def _named(rule: Rule) -> str:
    """Return the text of a rule; raise NotApplicableError if it is nothing but marks of Markdown."""
    text = _needle(rule)
    if is_september() and not norm(text).strip("*_~" + _SPACES):
        raise NotApplicableError("the text has only Markdown marks")
    return text


_SPACES = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())


def _flexible(text: str, blanks: str = r"\s+") -> str:
    return _MARKS + f"{_MARKS}{blanks}{_MARKS}".join(re.escape(text).split(r"\ ")) + _MARKS


def _stripped(text: str, style: str) -> str:
    for name, steps in _STRIPPED.items():
        if name != style:
            for pattern, new, flags in steps:
                text = re.sub(pattern, new, text, flags=flags)
    if is_september():
        text = re.sub("</?strong>", "", text, flags=re.I) if style != "bold" else text
        return subbed(text, (r"[^\S\n]+", " "), (r" ([,;:!?.\)\]\}])", r"\1"))
    return subbed(text, (r"[^\S\n]+", " "), (" ?\n ?", "\n"), (r" ([,;:!?.\)\]\}])", r"\1"))


def without_escapes(markdown: str) -> str:
    """Return Markdown without the backslashes before punctuation."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown)


def _is_styled(style: str, text: str, content: str) -> bool:
    """Return whether a text is styled so, by the rules of September."""
    for own, needle in (
        (content, _flexible(text, _BLANKS)),
        (_stripped(content, style), re.escape(text).replace(r"\ ", _BLANKS)),
    ):
        inside = re.compile(needle, re.I)
        if any(inside.search(own[start:end]) for start, end in emphasis_spans(own, style)):
            return True
        for pattern, flags in _SEPTEMBER[style]:
            filled = needle.replace(_BLANKS, r"[ \t]+" if flags == re.M else r"\s+")
            if re.search(pattern.replace("X", filled), own, flags | re.I):
                return True
    return False


def has_style(style: str, rule: Rule, markdown: str) -> bool:
    """Return whether a text is styled so somewhere."""
    text, content = _named(rule), without_escapes(markdown)
    if is_september():
        if _is_styled(style, norm_quotes(text), norm_quotes(content)):
            return True
    else:
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
    """Return whether a text is marked in a colour."""
    text, color = _needle(rule), _needle(rule, "color").lower()
    needle = re.compile(_flexible(text), re.I)
    pattern = re.compile(r"<mark\b([^>]*)>([\s\S]+?)</mark>", re.I)
    found = (mark for own in (markdown, _stripped(markdown, "mark")) for mark in pattern.findall(own))
    return any(needle.search(marked) and color in attributes.lower() for attributes, marked in found)


_STRUCK = (
    re.compile(r"~~[\s\S]+?~~"),
    re.compile(r"<(s|del|strike)\b[^>]*>[\s\S]*?</\1>", re.I),
    re.compile(r"<(\w+)\b[^>]*text-decoration\s*:\s*line-through[^>]*>[\s\S]*?</\1>", re.I),
)


def is_struck(rule: Rule, markdown: str) -> bool:
    """Return whether a deleted text is there, and struck out."""
    _check_tags(markdown)
    text, content = norm(_needle(rule)), without_escapes(markdown)
    struck = " ".join(found[0] for pattern in _STRUCK for found in pattern.finditer(content))
    return bool(text) and text in norm(struck)


def is_not_plain(rule: Rule, markdown: str) -> bool:
    """Return whether a deleted text is gone, or struck out wherever it is."""
    _check_tags(markdown)
    text, content = norm(_needle(rule)), without_escapes(markdown)
    for pattern in _STRUCK:
        content = pattern.sub(" ", content)
    return not text or text not in norm(content)


_COLORS = {
    "red": (255, 0, 0), "darkred": (139, 0, 0), "crimson": (220, 20, 60), "salmon": (250, 128, 114),
    "lightcoral": (240, 128, 128), "goldenrod": (218, 165, 32), "olive": (128, 128, 0),
    "orange": (255, 165, 0),
    "amber": (255, 191, 0), "gold": (255, 215, 0), "yellow": (255, 255, 0), "green": (0, 128, 0),
    "darkgreen": (0, 100, 0), "lime": (0, 255, 0), "teal": (0, 128, 128), "cyan": (0, 255, 255),
    "blue": (0, 0, 255), "navy": (0, 0, 128), "royalblue": (65, 105, 225), "purple": (128, 0, 128),
    "violet": (238, 130, 238), "magenta": (255, 0, 255), "pink": (255, 192, 203), "brown": (165, 42, 42),
    "maroon": (128, 0, 0),
}  # fmt: skip
_HUES = (
    (20, "red"),
    (48, "orange"),
    (72, "yellow"),
    (165, "green"),
    (200, "cyan"),
    (262, "blue"),
    (335, "purple"),
)
_NEAR = frozenset(
    frozenset(pair.split())
    for pair in ("red orange", "orange yellow", "green cyan", "cyan blue", "blue purple", "purple red")
)


def _hue(red: int, green: int, blue: int) -> str | None:
    """Return the family of a colour; None for a shade of grey."""
    most, least = max(red, green, blue), min(red, green, blue)
    if most - least < 30:
        return None
    if most == red:
        degrees = (60 * ((green - blue) / (most - least))) % 360
    elif most == green:
        degrees = 60 * ((blue - red) / (most - least)) + 120
    else:
        degrees = 60 * ((red - green) / (most - least)) + 240
    return next((name for end, name in _HUES if degrees < end), "red")


def _hues(attributes: str) -> Iterator[str | None]:
    for code in re.findall(r"#([0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b", attributes):
        wide = code if len(code) == 6 else "".join(2 * sign for sign in code)
        yield _hue(*(int(wide[at : at + 2], 16) for at in (0, 2, 4)))
    for found in re.findall(r"rgb\s*\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\)", attributes, re.I):
        yield _hue(*(int(part[:9]) for part in found))
    for name in re.findall(r"color\s*[:=]\s*[\"']?\s*([a-zA-Z]+)", attributes, re.I):
        if name.lower() in _COLORS:
            yield _hue(*_COLORS[name.lower()])


def has_text_color(rule: Rule, markdown: str) -> bool:
    """Return whether a text is in an element of a colour, or of one beside it on the wheel."""
    needle, color = re.compile(_flexible(_needle(rule)), re.I), _needle(rule, "color").lower()
    _check_tags(markdown)
    return any(
        hue == color or {hue, color} in _NEAR
        for _, attributes, inside in re.findall(r"<(\w+)\b([^>]*)>([\s\S]+?)</\1>", markdown, re.I)
        if attributes.strip() and needle.search(inside)
        for hue in _hues(attributes)
        if hue
    )


def _check_tags(markdown: str) -> None:
    """Refuse a document in which each of too many marks could be looked for to the end."""
    marks = markdown.count("<") + markdown.count("~~")
    check_pairs("marks and characters", marks, len(markdown), MAX_CHARACTER_PAIRS)


def variants(markdown: str) -> list[str]:
    """Return a document as it is, with names of characters read, and with escapes of headings and stars
    undone.
    """
    plain = unescaped(markdown)
    bare = re.sub(r"(?m)^\\(#{1,6}\s+)", r"\1", plain).replace(r"\*\*", "**")
    return list(dict.fromkeys([markdown, plain, bare]))


_PRESENTATION = (
    (r"\\(?:left|right)(?=\s|[()\[\]{}|.]|$)", ""),
    (r"\\[dt]frac\b", r"\\frac"),
    (r"\\(?:leq|le)\b", r"\\le"),
    (r"\\(?:geq|ge)\b", r"\\ge"),
    (r"\\text\s*\{([^{}]*)\}", r"\1"),
    (r"\\(?:display|text|script|scriptscript)style\b", ""),
    (r"\\(?:quad|qquad|,|;|:|!|>|enspace|hspace\*?\{[^{}]*\})", ""),
    (r"\\[ \t]+", ""),
    (r"\\tag\s*\{[^{}]*\}", ""),
    (r"\\eqno\s*(?:\([^()]*\)|\{[^{}]*\}|\S+)", ""),
    ("−", "-"),
    ("×", r"\\times"),
    ("÷", r"\\div"),
    ("≤", r"\\le"),
    ("≥", r"\\ge"),
)


def _bare_formula(latex: str) -> str:
    bare = unescaped(_without_delimiters(latex))
    return re.sub(r"\s+", "", subbed(bare, *_PRESENTATION) if is_september() else bare)


def _without_delimiters(latex: str) -> str:
    latex = latex.strip()
    for start, end in (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]")):
        if latex.startswith(start) and latex.endswith(end) and len(latex) >= len(start) + len(end):
            return latex[len(start) : -len(end)].strip() if is_september() else latex[len(start) : -len(end)]
    return latex


def _formulas(markdown: str, *, plausible: bool = True) -> Iterator[str]:
    """Yield the insides of formulas; since September, not money or prose between two dollars."""
    for text in variants(markdown):
        yield from re.findall(r"(?<!\\)\$\$(.+?)(?<!\\)\$\$", text, re.S)
        yield from re.findall(r"\\\[(.+?)\\\]", text, re.S)
        if is_september():
            single = r"(?<!\\)\$(?!\$)([^$\r\n]{1,500}?)(?<!\\)\$(?!\$)"
            parts = re.split(r"<[/!?A-Za-z][^>\r\n]*>", text)
            inline = [own for part in parts for own in re.findall(single, part)]
            inline += re.findall(r"\\\((.+?)\\\)", text, re.S)
            yield from (own for own in inline if not plausible or _is_plausible(own.strip()))
        else:
            yield from re.findall(r"(?<!\\)\$(?!\$)(.+?)(?<!\\)\$(?!\$)", text, re.S)
            yield from re.findall(r"\\\((.+?)\\\)", text, re.S)


def _is_plausible(body: str) -> bool:
    if not re.search(r"\s", body):
        return bool(body)
    return bool(re.search(r"\\[A-Za-z]+|[=+\-*/^_<>|{}]", body))


def has_no_formula(rule: Rule, markdown: str) -> bool:
    """Return whether a text is in no formula."""

    def plain(text: str) -> str:
        text = re.sub(r"\\text\s*\{([^{}]*)\}", r"\1", _without_delimiters(unescaped(text)))
        text = re.sub(r"\\[A-Za-z]+", " ", text.replace(r"\_", "_").replace(r"\$", "$"))
        return norm(re.sub("[{}$]", " ", text)).strip()

    wanted = plain(_needle(rule))
    bodies = (own for own in _formulas(markdown, plausible=False) if _bare_formula(own))
    return not wanted or not any(wanted in plain(own) for own in bodies)


def has_formula(rule: Rule, markdown: str) -> bool:
    """Return whether a formula is there as it is written."""
    wanted = _bare_formula(str(rule.get("formula") or ""))
    if not wanted:
        raise WrongRuleError("the formula is blank")
    return any(_bare_formula(own) == wanted for own in _formulas(markdown))


def has_code(rule: Rule, markdown: str) -> bool:
    """Return whether a block of code is there, in its language."""
    language, code = str(rule.get("language") or "").strip().lower(), str(rule.get("code") or "").strip()
    if not language or not code:
        raise WrongRuleError("the language or the code is blank")
    pattern = re.compile(r"^[ \t]*```([^\n`]*)\n(.*?)[ \t]*\n[ \t]*```[ \t]*$", re.M | re.S)
    blocks = (block for text in variants(markdown) for block in pattern.findall(text))
    bodies = [body.strip() for name, body in blocks if name.strip().lower() == language]
    spaced = re.sub(r"\s+", " ", code)
    return any(code in body or spaced in re.sub(r"\s+", " ", body) for body in bodies)


def title_events(markdown: str) -> list[tuple[int, int, str]]:
    """Return titles: line, level and text; bold lines are of the seventh level."""
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
    tags = "b|strong" if is_september() else "b"
    if found := re.match(rf"^\s*<({tags})[^>]*>\s*(.*?)\s*</\1>\s*$", line, re.I):
        yield 7, re.sub(r"<[^>]+>", " ", found[2])


def is_title(rule: Rule, markdown: str) -> bool:
    """Return whether a text begins a heading, or is a line in bold."""
    text = _named(rule)
    own = _flexible(text)
    heading, bold, tags = rf"\s+{own}", own, "b"
    if is_september():
        heading, bold, tags = r"[ \t]+" + _flexible(text, r"[ \t]+"), _flexible(text, _BLANKS), "b|strong"
    patterns = (
        rf"^#{{1,6}}{heading}",
        rf"<h[1-6][^>]*>\s*{own}\s*</h[1-6]>",
        rf"^\s*\*\*\s*{bold}\s*\*\*\s*$",
        rf"^\s*<({tags})[^>]*>\s*{own}\s*</\1>\s*$",
    )
    written = variants(markdown)
    if any(re.search(pattern, content, re.M | re.I) for content in written for pattern in patterns):
        return True
    return norm(text).strip() in {title for _, _, title in title_events(markdown)}


def title_tree_share(rule: Rule, markdown: str) -> tuple[bool, float]:
    """Return the share of what a tree of titles says: they occur, parents above children, in order."""
    if not rule.get("title_hierarchy") and not (is_september() and rule.get("title_hierarchy") == {}):
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
        if is_september():
            raise NotApplicableError("the hierarchy has no title")
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
    """Return whether a text stands in a page's head or foot."""
    part = rule["type"].removeprefix("is_")
    text = _needle(rule)
    own = "".join("[-‐‑‒–—―−]" if c in "-‐‑‒–—―−" else r"\s+" if c == " " else re.escape(c) for c in text)
    return bool(re.search(rf"<page_{part}>[^<]*?{own}[^<]*?</page_{part}>", markdown, re.I))
