"""What a source says: its main file, all of it as one text, and its tables, to be found again among TeX's.

There are places whose text only TeX knows: numbers of citations, references and notes, acronyms.
A source keeps its own text around them, with its fractions, accents and underscores; what stands at such a
place is taken from the page. So a citation in a cell does not cost the cell its source.
"""

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath

from parsemark.errors import FormatError, LatexError
from parsemark.formats.glyphs import glyph_text
from parsemark.formats.latex import (
    COMMANDS,
    SIGNATURES,
    Definition,
    LatexSource,
    TexGrid,
    TokenKind,
    by_name,
    expand,
    find_environments,
    print_cells,
    read_definitions,
    read_grid,
)
from parsemark_makers.latex.sources import SourceDocument

MAX_INPUTS = 500  # files that one document may read, counted with repetition

_CLASS = re.compile(r"\\document(?:class|style)\s*(?:\[(?P<options>[^\]]*)\])?\s*\{(?P<name>[^}]*)\}")
_BEGIN = "\\begin{document}"
_INPUT = re.compile(
    r"\\(?:input|include|subfile|includestandalone)\s*(?:\[[^\]]{0,200}\])?\s*\{(?P<file>[^{}]{1,200})\}"
    r"|\\input\s+(?P<bare>[^\s{}\\]{1,200})"
    r"|\\(?:sub)?(?:import|inputfrom|includefrom)\*?\s*\{(?P<folder>[^{}]{0,200})\}\s*\{(?P<part>[^{}]{1,200})\}"
)
"""A command that reads a file; `import` has its folder apart."""
_LINE_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*")
_BESIDES = re.compile("cover|letter|response|reply|rebuttal|review|revision|diff|poster|slides")
"""Parts of the names of files that go with a paper."""
_USUAL_NAMES = ("main", "ms", "paper", "article", "manuscript")

_COMMENT = re.compile(r"\\begin\{comment\}.*?\\end\{comment\}", re.DOTALL)
_NEW_IF = re.compile(r"\\newif\s*\\(if[A-Za-z@]+)")
_CONDITIONAL = re.compile(r"(?P<new>\\newif\s*)?\\(?P<name>if[A-Za-z@]*|else|fi)(?![A-Za-z@])\s?")
_TEX_IFS = """if ifcat ifx ifcase ifnum ifdim ifodd ifvmode ifhmode ifmmode ifinner ifvoid ifhbox ifvbox ifeof
iftrue iffalse ifdefined ifcsname iffontchar"""
_IFS = frozenset(_TEX_IFS.split())  # conditionals of TeX's own; those that a document declares come with them
MIN_ROW, MIN_ROWS = 6, 2  # glyphs of a row by which it can be found on a page, and rows by which a table can

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


def main_files(source: SourceDocument) -> list[str]:
    r"""Return the files with `\documentclass` and its beginning, one or more, the most likely main one
    first.
    """
    texts = {name: without_comments(text) for name, text in source.tex_files().items()}
    classes = {name: document_class(text)[0] for name, text in texts.items()}
    candidates = [name for name, own in classes.items() if own not in ("", "standalone", "subfiles")]
    candidates = candidates or [name for name, own in classes.items() if own == "standalone"]
    if not candidates:
        raise LatexError("no file has a \\documentclass")
    whole = [name for name in candidates if _BEGIN in texts[name]] or candidates
    read = {_stem(_file_of(match)) for t in texts.values() for match in _INPUT.finditer(t)}

    def rank(name: str) -> tuple[bool, bool, int, bool, int]:
        stem = PurePosixPath(name).stem.lower()
        place = _USUAL_NAMES.index(stem) if stem in _USUAL_NAMES else len(_USUAL_NAMES)
        is_besides = _BESIDES.search(stem) is not None
        size = len(flattened(source, name)) if name.count("/") == 0 else len(texts[name])
        return "/" in name, is_besides, place, _stem(name) in read, -size

    return sorted(whole, key=rank)


def _file_of(match: re.Match[str]) -> str:
    """Return the file that a command reads."""
    name = match["file"] or match["bare"]
    name = name or (PurePosixPath(match["folder"].strip()) / match["part"]).as_posix()
    return name.strip().strip('"')


def _stem(name: str) -> str:
    return PurePosixPath(name.strip().strip('"')).name.removesuffix(".tex")


def document_class(text: str) -> tuple[str, tuple[str, ...]]:
    """Return name and options of the class."""
    match = _CLASS.search(without_comments(text))
    if match is None:
        return "", ()
    options = (part.strip() for part in (match["options"] or "").split(","))
    return match["name"].strip(), tuple(option for option in options if option)


def class_of_log(log: str) -> str | None:
    """Return the class that TeX says it used; one that the others are built on comes later."""
    match = re.search(r"^Document Class: (\S+)", log, re.MULTILINE)
    return match[1] if match else None


def without_comments(text: str) -> str:
    """Return the source without its comments; line ends stay."""
    return _LINE_COMMENT.sub(r"\1", text)


def flattened(source: SourceDocument, main: str) -> str:
    r"""Return the text of the document with each `\input` replaced by the file, as far as it is one of the
    document's.
    """
    files = {name: without_comments(text) for name, text in source.tex_files().items()}
    left = MAX_INPUTS

    def whole(name: str, above: frozenset[str]) -> str:
        inner = above | {name}

        def replaced(match: re.Match[str]) -> str:
            nonlocal left
            left -= 1
            folders = (PurePosixPath(main).parent, PurePosixPath(), PurePosixPath(name).parent)
            paths = (folder / f"{_file_of(match)}{end}" for folder in folders for end in ("", ".tex"))
            wanted = next((path.as_posix() for path in paths if path.as_posix() in files), None)
            if wanted is None or wanted in inner or left < 0:
                return match[0]
            return whole(wanted, inner)

        return _INPUT.sub(replaced, files[name].partition("\\end{document}")[0])

    return whole(main, frozenset())


@dataclass
class TabularCandidate:
    """A table of the source."""

    latex: str
    grid: TexGrid  # with all rows, also those that a longtable repeats
    row_glyphs: list[str]
    is_used: bool = False

    @cached_property
    def glyphs(self) -> str:
        """Return the glyphs of all rows."""
        return "".join(self.row_glyphs)

    def stands_on(self, page: str) -> bool:
        """Return whether the glyphs of a page hold most rows of the table."""
        rows = [row for row in self.row_glyphs if len(row) >= MIN_ROW]
        return len(rows) >= MIN_ROWS and sum(row in page for row in rows) > 0.5 * len(rows)


@dataclass
class Candidates:
    """All tables of a document's source, in its order."""

    tables: list[TabularCandidate] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)  # tables that cannot be read, with the reason
    passed_over: int = 0  # tables that TeX does not read


def read_candidates(source: SourceDocument, main: str) -> Candidates:
    """Return the tables of the source; `array` is a formula here."""
    whole = flattened(source, main)
    text = without_unset(whole)
    environments = find_environments(text)
    found = Candidates(passed_over=max(0, len(find_environments(whole)) - len(environments)))
    definitions: dict[str, Definition] = {}
    for file in source.tex_files().values():
        with contextlib.suppress(FormatError):  # one that cannot be read adds none
            definitions.update(read_definitions(file))
    for environment in environments:
        if environment.name in ("array", "NiceArray"):
            continue
        latex = text[environment.start : environment.end]
        try:
            expanded = expand(latex, {**definitions, **read_definitions(latex)})
            grid = read_grid(with_places(expanded), all_rows=True)
            found.tables.append(TabularCandidate(latex, grid, row_glyphs(grid)))
        except FormatError as error:
            found.problems.append(f"a table cannot be read: {error}")
    return found


def without_unset(text: str) -> str:
    r"""Return the text without what TeX passes over for certain: `\iffalse … \fi`, the other branch of
    `\iftrue`, and `comment` environments.

    >>> without_unset(r"a \iffalse b\ifx\p\q c\fi d\else e \fi f \iftrue g \else h \fi i")
    'a e f g i'
    """
    text = _COMMENT.sub("", text)
    conditionals = _IFS | set(_NEW_IF.findall(text))
    kept: list[str] = []
    taken: list[bool | None] = []
    """Whether TeX takes the branch of each open conditional; None if only TeX can tell."""
    copied = 0
    for match in _CONDITIONAL.finditer(text):
        name, is_seen = match["name"], False not in taken
        if match["new"] or (name not in conditionals if name.startswith("if") else not taken):
            continue
        if is_seen:
            kept.append(text[copied : match.start()])
        own = {"iffalse": False, "iftrue": True}.get(name) if name.startswith("if") else taken.pop()
        if name != "fi":
            taken.append(not own if name == "else" and own is not None else own)
        if own is None and is_seen:
            kept.append(match[0])
        copied = match.end()
    is_open = False in taken  # its end is made by a macro
    return text if is_open else "".join([*kept, text[copied:]])


def row_glyphs(grid: TexGrid) -> list[str]:
    """Return the glyphs of each row."""
    rows = [""] * grid.n_rows
    for cell in print_cells(grid):
        rows[cell.row] += glyph_text(cell.text.replace(PLACE, ""))
    return rows


def with_places(latex: str) -> str:
    r"""Return the source with `PLACE` for each command of which only TeX knows what it prints, and each
    `\ifmmode` decided.

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
    r"""Return the `\else` of a conditional, or else its `\fi`; and its `\fi`."""
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
    """Return the index behind a command that prints what only TeX knows; None for another one."""
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
    """Return the text of a source with its places filled from what the page shows; None if the two do not
    fit.

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
    """Return the text with a mark and what follows it; whether blanks stand around it is what the page
    says.
    """
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
    """Return the start and end of the glyphs of each part: the first begins the cell, and the last ends
    it.
    """
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
    """Return how many glyphs at the start or the end are those of a part, in any order."""
    for way in _ways(part):
        own = shown[: len(way)] if is_start else shown[len(shown) - len(way) :]
        if sorted(own) == sorted(way):
            return len(way)
    return None


def _ways(part: str) -> tuple[str, ...]:
    plain = part.translate(_WRITTEN)
    return (part,) if plain == part else (part, plain)
