r"""Places in a source whose text only TeX knows: numbers of citations, references and notes, acronyms.

A source keeps its own text around them, with its fractions, accents and underscores; what stands at such a
place is taken from the page. So a citation in a cell does not cost the cell its source.
"""

import re
from collections.abc import Sequence

from parsemark.corpora.latex.glyphs import glyph_text
from parsemark.formats.latex.commands import COMMANDS, SIGNATURES, by_name
from parsemark.formats.latex.scanner import LatexSource, TokenKind

PLACE = "\ue000"
"""Stands where the source has such a command: a character for private use, which no source prints."""

_SIGNATURES = by_name(COMMANDS["numbers"])
_WITH_TEXT = frozenset({"footnote", "tablefootnote"})  # notes, whose text stands elsewhere
_CITES = re.compile(r"[A-Za-z]*[cC]ite[A-Za-z]*")
_CITES_NOTHING = frozenset({"nocite", "citestyle", "setcitestyle", "bibcite"})
_RUN = re.compile(rf"{PLACE}(?:[ \n]*{PLACE})*")
_WRITTEN = str.maketrans("", "", "/()")
"""Signs by which a line of text says how a formula is stacked; a page does not need them."""
_SCRIPT = re.compile(r"[_^]\{(.*)\}|[_^](.)", re.DOTALL)


def with_places(latex: str) -> str:
    r"""The source with `PLACE` for each command of which only TeX knows what it prints, and each `\ifmmode`
    decided.

    >>> with_places(r"Ours~\citep[p.~2]{a} & x\footnotemark[1]").replace(PLACE, "?")
    'Ours~? & x\\footnotemark[1]'
    """
    source = LatexSource(latex)
    index, end = source.whole
    pieces: list[str] = []
    copied = 0
    is_math = False
    branches: list[int] = []
    """Where the branch ends that each open `\\ifmmode` does not take."""
    while index < end:
        token = source.tokens[index]
        behind = index + 1
        text: str | None = None
        if token.kind is TokenKind.MATH or (token.kind is TokenKind.COMMAND and token.text in "()[]"):
            is_math = not is_math if token.kind is TokenKind.MATH else token.text in "(["
        elif token.kind is TokenKind.COMMAND and token.text == "ifmmode":
            otherwise, closes = _branches(source, index + 1, end)
            if closes is not None:
                branches.append(closes)
                text, behind = "", index + 1 if is_math else otherwise + 1
        elif token.kind is TokenKind.COMMAND and branches and token.text in ("else", "fi"):
            text, behind = "", branches.pop() + 1
        elif token.kind is TokenKind.COMMAND:
            after = _behind(source, token.text, index + 1, end)
            if after is not None:
                text, behind = PLACE, after
        if text is not None:
            pieces += [latex[copied : token.start], text]
            copied = source.tokens[behind].start if behind < end else len(latex)
        index = behind
    return "".join([*pieces, latex[copied:]])


def _branches(source: LatexSource, index: int, end: int) -> tuple[int, int | None]:
    r"""The `\else` of a conditional, or else its `\fi`; and its `\fi`."""
    otherwise: int | None = None
    depth = 0
    for here in range(index, end):
        token = source.tokens[here]
        name = token.text if token.kind is TokenKind.COMMAND else ""
        if name == "else" and not depth and otherwise is None:
            otherwise = here
        elif name == "fi" and not depth:
            return here if otherwise is None else otherwise, here
        depth += (name == "ifmmode") - (name == "fi")
    return end, None


def _behind(source: LatexSource, name: str, index: int, end: int) -> int | None:
    """The index behind a command that prints what only TeX knows; None for another one."""
    if name in _CITES_NOTHING:
        return None
    if name not in _SIGNATURES:
        is_cite = _CITES.fullmatch(name) is not None
        return source.skip_arguments(SIGNATURES.get(name, "*oom"), index, end) if is_cite else None
    if name in ("footnote", "footnotemark") and source.optional(index, end)[0] is not None:
        return None  # the source has the mark
    behind = source.skip_arguments(_SIGNATURES[name], index, end)
    return source.skip_arguments("m", behind, end) if name in _WITH_TEXT else behind


def filled(text: str, shown: str) -> str | None:
    """The text of a source with its places filled from what the page shows; None if the two do not fit.

    >>> filled(f"mini_imagenet {PLACE}, 1/2{PLACE}", "mini imagenet [1], 1 2^a")
    'mini_imagenet [1], 1/2^a'
    """
    parts = _RUN.split(text)
    places = [(place, glyph) for place, character in enumerate(shown) for glyph in glyph_text(character)]
    spans = _spans([glyph_text(part) for part in parts], "".join(glyph for _, glyph in places))
    if spans is None:
        return None
    ends = [-1, *(place for place, _ in places), len(shown)]
    written = parts[0]
    for (_, before), (behind, _), part in zip(spans, spans[1:], parts[1:], strict=False):
        start, stop = ends[before] + 1, ends[behind + 1]
        while start < len(shown) and shown[start] == "}":  # of what stands before
            start += 1
        while part[:1] in ("^", "_") and stop > start and shown[stop - 1] in "^_{":
            stop -= 1
        written = _put(written, shown[start:stop], part)
    return written if written.count("{") == written.count("}") else None


def _put(written: str, mark: str, part: str) -> str:
    """The text with a mark and what follows it; whether blanks stand around it is what the page says."""
    before, behind = mark[:1].isspace(), mark[-1:].isspace()
    mark = mark.strip()
    kept = written.rstrip()
    if kept[-1:] in ("^", "_"):
        inner = _SCRIPT.fullmatch(mark)
        mark = (inner[1] or inner[2]) if inner else mark
        mark = mark if len(mark) == 1 else f"{{{mark}}}"
    gap = written[len(kept) :] if "\n" in written[len(kept) :] else " " * before
    rest = part.lstrip()
    space = part[: len(part) - len(rest)]
    following = space if "\n" in space else " " * (behind or (not mark and before))
    return f"{kept}{gap if mark else ''}{mark}{following if rest else ''}{rest}"


def _spans(parts: Sequence[str], shown: str) -> list[tuple[int, int]] | None:
    """From where to where the glyphs of each part reach: the first begins the cell, and the last ends it."""
    first, last = _length_at(parts[0], shown, is_start=True), _length_at(parts[-1], shown, is_start=False)
    if first is None or last is None or first + last > len(shown):
        return None
    found = [(0, first)]
    for part in parts[1:-1]:
        starts = ((shown.find(way, found[-1][1]), len(way)) for way in _ways(part))
        start, length = next(((s, n) for s, n in starts if s >= 0), (-1, 0))
        if start < 0 or start + length > len(shown) - last:
            return None
        found.append((start, start + length))
    return [*found, (len(shown) - last, len(shown))]


def _length_at(part: str, shown: str, *, is_start: bool) -> int | None:
    """How many glyphs at the start or the end are those of a part, in any order."""
    for way in _ways(part):
        own = shown[: len(way)] if is_start else shown[len(shown) - len(way) :]
        if sorted(own) == sorted(way):
            return len(way)
    return None


def _ways(part: str) -> tuple[str, ...]:
    plain = part.translate(_WRITTEN)
    return (part,) if plain == part else (part, plain)
