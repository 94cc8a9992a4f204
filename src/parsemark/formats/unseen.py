r"""What no reader of an output sees: comments, scripts, hidden elements of HTML, `\iffalse` … `\fi` of LaTeX.

It answers nothing, so every reader blanks it first. What follows a `%` is LaTeX's own business, since a per
cent sign is one everywhere else (`latex/environments.py`, `latex/scanner.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from parsemark.formats.html.markup import Tag, read_comments, read_tags
from parsemark.formats.markdown.fences import blanked, spaces

Span = tuple[int, int]

_RAW = frozenset({"script", "style", "title", "noscript", "noframes", "iframe"})
"""Elements that no page shows, and in which no tag counts but their own end."""
UNSEEN_ELEMENTS = _RAW | {"template", "datalist"}
_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
)
_ENDED_BY = {"td": ("td", "th", "tr"), "th": ("td", "th", "tr"), "tr": ("tr",), "p": ("p",)}
"""Elements whose end tag may be left out, with the tags that end them."""
_MAY_HIDE = re.compile(
    rf"<(?:{'|'.join(sorted(UNSEEN_ELEMENTS))})\b|\bhidden\b|(?:display|visibility|opacity|font-size)\s*+:",
    re.IGNORECASE,
)
_GONE = re.compile(r"(?:^|;)\s*+display\s*+:\s*+none\b", re.IGNORECASE)
_CLEAR = re.compile(
    r"(?:^|;)\s*+(?:visibility\s*+:\s*+(?:hidden|collapse)\b"
    r"|(?:opacity|font-size)\s*+:\s*+0*+(?:\.0*+)?(?:px|pt|r?em|%)?\s*+(?:;|!|$))",
    re.IGNORECASE,
)
"""What is there, but clear: a cell keeps its place."""
_CONDITION = re.compile(
    r"\\(?P<word>fi|else|if(?!f(?![A-Za-z@])|thenelse)[A-Za-z@]*+"
    r"|(?:begin|end)\s?\{comment\}|end\s?\{document\})(?![A-Za-z@])"
)
_OPEN = re.compile(r"<!--|<(?:script|style|template)\b", re.IGNORECASE)
_BEGIN = "\\begin{document}"
_MAX_STRAY = 20
"""Hiding tags without an end that a text about HTML may speak of; with more, all behind them is hidden."""


def unseen(text: str, format: str | None = None) -> list[Span]:
    """Where a text of a format (None: of any) says what its reader would not see, in order."""
    spans = list[Span]()
    if format not in ("latex", "csv", "tsv") and "<" in text:
        spans += ((c.start, c.end) for c in read_comments(text))
        spans += _unseen_html(blanked(text, spans))
    if format not in ("html", "csv", "tsv") and ("\\iffalse" in text or "\\end" in text):
        spans += _unseen_latex(text, open_ended=format == "latex")
    return sorted(spans)


def begins_line(text: str, place: int) -> bool:
    """Whether nothing but blanks stands before a place in its line (which is looked at so far only)."""
    return not text[text.rfind("\n", max(0, place - 1_000), place) + 1 : place].strip()


def seen(text: str, format: str | None = None) -> str:
    """The text with what no reader sees as spaces, or inside a line of HTML as an empty comment: `a<!-- -->b`
    is one word. All offsets stay.

    >>> seen("a<b hidden>no</b>")
    'a<!--         -->'
    """
    spans = unseen(text, format)
    inside = [(a, b) for a, b in spans if text[a] == "<" and b - a > 6 and not begins_line(text, a)]
    return blanked(blanked(text, inside, _comment), sorted(set(spans) - set(inside)))


def _comment(part: str) -> str:
    return f"<!--{spaces(part[4:-3])}-->"


def without_unseen(text: str) -> str:
    """The text without what no reader sees; what hides and is never closed hides all that follows it."""
    return _OPEN.split(blanked(text, unseen(text), lambda _: ""), maxsplit=1)[0]


def _unseen_html(text: str) -> Iterator[Span]:
    position = n_stray = 0
    open_ends = set[str]()
    while _MAY_HIDE.search(text, position) is not None:
        tags = (tag for tag in read_tags(text, position) if tag.name not in open_ends)
        tag = next((tag for tag in tags if _hides(text, tag)), None)
        if tag is None:
            return
        stop, position = _end(text, tag)
        if not position:
            behind = text[tag.end : tag.end + 50]
            is_alone = begins_line(text, tag.start) and not behind.partition("\n")[0].strip()
            is_meant = is_alone or behind.lstrip()[:1] in ("<", "|", "\\")  # else a sentence speaks of it
            n_stray += tag.name not in _RAW
            hides_rest = n_stray > _MAX_STRAY or (is_meant and tag.name not in _RAW)
            stop, position = (len(text), len(text)) if hides_rest else (0, tag.end)
            open_ends |= {tag.name} & _RAW
            if not stop:
                yield tag.start, tag.end  # the tag alone, or a reader of HTML would drop what follows it
        if stop:
            keeps_place = tag.name in ("td", "th") and not _is_gone(tag)
            yield (tag.end, stop) if keeps_place else (tag.start, position)


def _hides(text: str, tag: Tag) -> bool:
    """Whether a tag opens what is not shown; right behind a backtick it is only spoken of."""
    if tag.closes or text[max(0, tag.start - 1) : tag.start] == "`":
        return False
    return tag.name in UNSEEN_ELEMENTS or (
        _MAY_HIDE.search(tag.inside) is not None
        and (_is_gone(tag) or _CLEAR.search(tag.attributes().get("style", "")) is not None)
    )


def _is_gone(tag: Tag) -> bool:
    said = tag.attributes()
    return "hidden" in said or _GONE.search(said.get("style", "")) is not None


def _end(text: str, tag: Tag) -> Span:
    """Where what a tag opens ends, without and with its end tag; zeros where it is never closed."""
    if tag.name in _VOID or tag.inside.endswith("/"):
        return tag.end, tag.end
    if tag.name in _RAW:
        found = re.compile(rf"</{tag.name}\s*+>", re.IGNORECASE).search(text, tag.end)
        return (found.start(), found.end()) if found else (0, 0)
    ended_by, depth, n_tables = _ENDED_BY.get(tag.name, ()), 1, 0
    for other in read_tags(text, tag.end):
        if ended_by and other.name == "table":
            n_tables += -1 if other.closes else 1
            if n_tables < 0:
                return other.start, other.start
        elif other.name == tag.name and not n_tables:
            depth += -1 if other.closes else 1
            if not depth:
                return other.start, other.end
        if other.name in ended_by and not n_tables:
            return other.start, other.start
    return 0, 0


def _unseen_latex(text: str, *, open_ended: bool) -> Iterator[Span]:
    """Where conditions, comments and what is behind the document stand, open ends too if wanted."""
    start, depth, behind = 0, 0, 0
    for found in _CONDITION.finditer(text):
        word = found["word"]
        spoken_of = text[max(0, found.start() - 1) : found.start()] == "`"
        if found.start() < behind or spoken_of or (not depth and word in ("fi", "else")):
            continue
        if depth:
            depth += {"fi": -1, "else": -(depth == 1)}.get(word, word.startswith("if"))
            if not depth:
                yield start, found.end()
        elif word == "iffalse":
            start, depth = found.start(), 1
        elif word.endswith("{document}"):
            behind = text.find(_BEGIN, found.end())
            behind = len(text) if behind < 0 else behind
            yield found.start(), behind
        elif word.startswith("begin"):
            closing = text.find("\\end{comment}", found.end())
            if closing >= 0:
                behind = closing + len("\\end{comment}")
                yield found.start(), behind
    if depth and open_ended:
        yield start, len(text)
