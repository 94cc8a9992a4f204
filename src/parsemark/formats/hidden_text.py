r"""What no reader of an output sees: comments, scripts and hidden elements of HTML, by attributes or by style
sheets; `[//]: # (…)` of Markdown; `\iffalse` … `\fi`, `\phantom{…}` and white text of LaTeX.

It answers nothing, so every reader blanks it first. What follows a `%` is LaTeX's own business, since a per
cent sign is one everywhere else (`latex/environments.py`, `latex/scanner.py`).
"""

import re
from collections.abc import Iterator, Mapping

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
    rf"<(?:{'|'.join(sorted(UNSEEN_ELEMENTS))}|dialog)\b|\b(?:hidden|popover)\b"
    r"|(?:display|visibility|opacity|font-size|color)\s*+:|\bstyle\s*+=[^>]{0,300}?(?:[&\\]|/\*)",
    re.IGNORECASE,
)
_GONE = re.compile(r"(?:^|;)\s*+display\s*+:\s*+none\b", re.IGNORECASE)
_CLEAR = re.compile(
    r"(?:^|;)\s*+(?:visibility\s*+:\s*+(?:hidden|collapse)\b"
    r"|(?:opacity|font-size)\s*+:\s*+0*+(?:\.0*+)?(?:px|pt|r?em|%)?\s*+(?:;|!|$))",
    re.IGNORECASE,
)
"""What is there, but clear: a cell keeps its place."""
_WHITE = re.compile(
    r"(?:^|;)\s*+color\s*+:\s*+(?:white|transparent|#f{3}(?:f{3})?|rgba?\(255[, ]{1,3}255[, ]{1,3}255\b)",
    re.IGNORECASE,
)
_GROUND = re.compile(r"background|bgcolor|\\(?:row|cell|column|page)color|\\f?colorbox", re.IGNORECASE)
"""Where a text has anything of it, white may stand on a dark ground."""
_STYLE_NOISE = re.compile(
    r"/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/|\\(?P<code>[0-9a-f]{1,6})\s?|\\(?=\S)", re.IGNORECASE
)
_ON_PAPER = re.compile(r"@media\s++print\b[^{}]*+\{[^{}]*+(?:\{[^{}]*+\}[^{}]*+)*+\}", re.IGNORECASE)
_SELECTOR = re.compile(r"([a-z][a-z0-9]*+|\*)?+((?:[.#][\w-]++)*+)", re.IGNORECASE)
_NOTE = re.compile(
    r"^ {0,3}\[[^\[\]\n]{1,99}\]:[ \t]*+(?:#|<>)[ \t]*+(?:\n[ \t]*+)?"
    r"(?:\((?:[^)\n]|\n(?![ \t]*\n)){0,2000}\)|\"[^\"\n]{0,2000}\"|'[^'\n]{0,2000}')[ \t]*+$",
    re.MULTILINE,
)
"""A comment of Markdown: a link that leads nowhere, and that nothing refers to."""
_WHITE_COLOUR = r"\{(?:white|1(?:\.0*+)?(?:, ?1(?:\.0*+)?)*+|F{6})\}"
_GROUP = re.compile(
    rf"\\[hv]?phantom\s?(?=\{{)|\\textcolor\s?(?:\[[^\]\n]{{0,20}}\])?{_WHITE_COLOUR}\s?(?=\{{)"
    rf"|(?=\{{\s*+\\color\s?{_WHITE_COLOUR})"
)
_SAYS = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{3}|\d\d")
"""What a phantom must hold to hide anything: a formula makes room with others."""
_FALSE = re.compile(r"\s*+0\s*+(?!0)")
_CONDITION = re.compile(
    r"\\(?P<word>fi|else|if(?!f(?![A-Za-z@])|thenelse)[A-Za-z@]*+"
    r"|(?:begin|end)\s?\{comment\}|end\s?\{document\}"
    r"|begin\s?\{(?P<code>verbatim|Verbatim|lstlisting|minted|alltt)\*?\})(?![A-Za-z@])"
)
_OPEN = re.compile(r"<!--|<(?:script|style|template)\b", re.IGNORECASE)
_BEGIN = "\\begin{document}"
_LATEX = re.compile(r"(?:\s|%[^\n]*\n|```\w*\n)*+\\(?:documentclass\b|begin\s?\{document\})")
"""How an output begins that is LaTeX, whatever it is called; another one that has such lines quotes them."""
_MAX_STRAY = 20
"""Hiding tags without an end that a text about HTML may speak of; with more, all behind them is hidden."""


def unseen(text: str, format: str | None = None) -> list[Span]:
    """Return where a text of a format (None: of any) says what its reader would not see, in order."""
    spans = list[Span]()
    if format not in ("latex", "csv", "tsv") and "<" in text:
        spans += ((c.start, c.end) for c in read_comments(text))
        spans += _unseen_html(blanked(text, spans))
    if format not in ("html", "csv", "tsv"):
        if "\\if" in text or "\\end" in text:
            is_latex = format == "latex" or _LATEX.match(text) is not None
            spans += _unseen_latex(text, open_ended=format == "latex", is_document=is_latex)
        if "phantom" in text or "color" in text:
            spans += _unseen_groups(text)
        if format != "latex" and "]:" in text:
            spans += ((found.start(), found.end()) for found in _NOTE.finditer(text))
    return sorted(spans)


def begins_line(text: str, place: int) -> bool:
    """Return whether nothing but blanks stands before a place in its line (which is looked at so far
    only).
    """
    return not text[text.rfind("\n", max(0, place - 1_000), place) + 1 : place].strip()


def seen(text: str, format: str | None = None) -> str:
    """Return the text with what no reader sees as spaces, or inside a line of HTML as an empty comment:
    `a<!-- -->b` is one word. All offsets stay.

    >>> seen("a<b hidden>no</b>")
    'a<!--         -->'
    """
    spans = unseen(text, format)
    inside = [(a, b) for a, b in spans if text[a] == "<" and b - a > 6 and not begins_line(text, a)]
    parted = blanked(text, inside, lambda part: f"<!--{spaces(part[4:-3])}-->")
    return blanked(parted, sorted(set(spans) - set(inside)))


def without_unseen(text: str) -> str:
    """Return the text without what no reader sees; what hides and is never closed hides all that follows
    it.
    """
    return _OPEN.split(blanked(text, unseen(text), lambda _: ""), maxsplit=1)[0]


def _unseen_html(text: str) -> Iterator[Span]:
    position = n_stray = 0
    open_ends = set[str]()
    is_hiding = _Hiding(text)
    while is_hiding.sheets or _MAY_HIDE.search(text, position) is not None:
        tags = (tag for tag in read_tags(text, position) if tag.name not in open_ends)
        tag = next((tag for tag in tags if is_hiding(tag)), None)
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
            keeps_place = tag.name in ("td", "th") and not is_hiding.gone(tag)
            yield (tag.end, stop) if keeps_place else (tag.start, position)


class _Hiding:
    """Which tags of a text open what is not shown: by themselves, by their style, or by a style sheet."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._white = _GROUND.search(text) is None
        self.sheets = list(self._rules(text)) if "<style" in text.lower() else []
        """Whether what it selects is gone, and a name, classes and ids that a tag must have."""

    def __call__(self, tag: Tag) -> bool:
        """Return whether a tag hides what it opens; right behind a backtick it is only spoken of."""
        if tag.closes or self._text[max(0, tag.start - 1) : tag.start] == "`":
            return False
        if tag.name in UNSEEN_ELEMENTS:
            return True
        if not self.sheets and tag.name != "dialog" and _MAY_HIDE.search(tag.inside) is None:
            return False
        said = tag.attributes()
        return (
            (tag.name == "dialog" and "open" not in said)
            or self.gone(tag)
            or self._is_clear(_style(said.get("style", "")))
            or any(_selects(rule, tag.name, said) for _, rule in self.sheets)
        )

    def gone(self, tag: Tag) -> bool:
        """Return whether it takes no place either."""
        said = tag.attributes()
        return (
            bool({"hidden", "popover"} & said.keys())
            or _GONE.search(_style(said.get("style", ""))) is not None
            or any(is_gone and _selects(rule, tag.name, said) for is_gone, rule in self.sheets)
        )

    def _is_clear(self, style: str) -> bool:
        return _CLEAR.search(style) is not None or (self._white and _WHITE.search(style) is not None)

    def _rules(self, text: str) -> Iterator[tuple[bool, tuple[str, str]]]:
        """Yield the rules of style sheets that hide one element."""
        for tag in read_tags(text):
            if tag.name != "style" or tag.closes:
                continue
            sheet = _ON_PAPER.sub("", _style(text[tag.end : _end(text, tag)[0]]))
            for part in sheet.split("}"):
                head, _, body = part.rpartition("{")
                if not (_GONE.search(body) or self._is_clear(body)):
                    continue
                for selector in head.rpartition("{")[2].split(","):
                    found = _SELECTOR.fullmatch(selector.strip())
                    if found is not None and found[0]:
                        yield _GONE.search(body) is not None, ((found[1] or "").lower(), found[2])


def _selects(rule: tuple[str, str], name: str, said: Mapping[str, str]) -> bool:
    element, marks = rule
    own = {f".{word}" for word in said.get("class", "").split()} | {f"#{said.get('id', '')}"}
    return element in ("", "*", name) and own.issuperset(re.findall(r"[.#][\w-]+", marks))


def _style(text: str) -> str:
    """Return a style without comments and escapes."""
    return _STYLE_NOISE.sub(lambda m: chr(min(int(m["code"], 16), 0x10FFFF)) if m["code"] else "", text)


def _end(text: str, tag: Tag) -> Span:
    """Return where what a tag opens ends, without and with its end tag; zeros where it is never closed."""
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


def _unseen_latex(text: str, *, open_ended: bool, is_document: bool) -> Iterator[Span]:
    """Yield where conditions, comments and what is behind a document stand, open ends too if wanted."""
    start, depth, behind = 0, 0, 0
    unclosed: set[str] = set()
    for found in _CONDITION.finditer(text):
        word = found["word"]
        spoken_of = text[max(0, found.start() - 1) : found.start()] == "`"
        if found.start() < behind or spoken_of or (not depth and word in ("fi", "else")):
            continue
        if depth:
            depth += {"fi": -1, "else": -(depth == 1)}.get(word, word.startswith("if"))
            if not depth:
                yield start, found.end()
        elif found["code"]:  # shows what is in it
            closing = -1 if found["code"] in unclosed else text.find(f"\\end{{{found['code']}", found.end())
            behind = max(behind, closing)
            unclosed |= {found["code"]} if closing < 0 else set()
        elif word == "iffalse" or (word == "if" and _FALSE.match(text, found.end())):
            start, depth = found.start(), 1
        elif word.endswith("{document}"):
            if not is_document:
                continue
            begun = text.find(_BEGIN, found.end())
            behind = len(text) if begun < 0 else begun
            yield found.start(), behind
        elif word.startswith("begin"):
            closing = text.find("\\end{comment}", found.end())
            if closing >= 0:
                behind = closing + len("\\end{comment}")
                yield found.start(), behind
    if depth and open_ended:
        yield start, len(text)


def _unseen_groups(text: str) -> Iterator[Span]:
    """Yield phantoms with text, and white text where no ground has a colour."""
    closing, opened = dict[int, int](), list[int]()
    for brace in re.finditer(r"\\[\\{}]|[{}]", text):
        if brace[0] == "{":
            opened.append(brace.start())
        elif brace[0] == "}" and opened:
            closing[opened.pop()] = brace.end()
    may_be_white = _GROUND.search(text) is None
    for found in _GROUP.finditer(text):
        end = closing.get(found.end())
        is_phantom = "phantom" in found[0]
        if end is not None and (_SAYS.search(text, found.end(), end) if is_phantom else may_be_white):
            yield found.start(), end
