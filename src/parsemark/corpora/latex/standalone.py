r"""Turns a table of a document into one that stands alone."""

from __future__ import annotations

import re
from dataclasses import dataclass

from parsemark.errors import FormatError
from parsemark.formats.latex import read_definitions
from parsemark.formats.latex.commands import NUMBERS_FROM_ELSEWHERE, SIGNATURES
from parsemark.formats.latex.definitions import Definitions, expand
from parsemark.formats.latex.environments import column_specification, find_environments
from parsemark.formats.latex.rows import LONGTABLE_MARKS, by_name, skip_arguments
from parsemark.formats.latex.scanner import ALONE, LatexSource, Range, TokenKind

HARVESTED = ("tabular", "tabular*", "tabularx", "longtable")

_STRIPPED = frozenset(
    (*by_name(NUMBERS_FROM_ELSEWHERE), "caption", "captionof", "footnotemark", "hypertarget", "tnote")
)
_COLUMN_TYPE = re.compile(r"\\newcolumntype\s*\{([A-Za-z])\}")
_PACKAGE_COMMANDS = {
    "booktabs": r"\\(?:top|mid|bottom|cmid)rule|\\addlinespace|\\specialrule",
    "multirow": r"\\multirow",
    "makecell": r"\\(?:makecell|thead|Xhline|rothead|diaghead)",
    "graphicx": r"\\(?:rotatebox|scalebox|resizebox|reflectbox)",
    "xcolor": r"\\(?:color|textcolor|cellcolor|rowcolor|columncolor|rowcolors)\b",
    "tabularx": r"\\begin\{tabularx\}",
    "hhline": r"\\hhline",
    "pifont": r"\\ding",
    "siunitx": r"\\(?:SI|si|num|qty|unit|ang)\b|\bS\[",
    "amsmath": r"\\(?:text|dfrac|tfrac|boldsymbol|operatorname)\b",
    "amssymb": r"\\(?:checkmark|mathbb|bigstar|blacksquare|square|leqslant|geqslant)\b",
    "bm": r"\\bm\b",
    "diagbox": r"\\(?:diagbox|backslashbox|slashbox)",
    "arydshln": r"\\(?:hdashline|cdashline)",
    "adjustbox": r"\\adjustbox|\{adjustbox\}",
    "array": r">\s*\{|<\s*\{|m\{|b\{|\\arraybackslash",
}


@dataclass(frozen=True, slots=True)
class StandaloneTable:
    """A table without its document."""

    environment: str
    latex: str
    preamble: tuple[str, ...]
    packages: tuple[str, ...]


def tables_of(text: str, definitions: Definitions) -> list[StandaloneTable | FormatError]:
    """Every table of a LaTeX file that can be harvested, or why one cannot."""
    found: list[StandaloneTable | FormatError] = []
    declarations = column_types(text)
    for environment in find_environments(text):
        if environment.name in HARVESTED:
            source = text[environment.start : environment.end]
            try:
                found.append(_standalone(environment.name, source, definitions, declarations))
            except FormatError as error:
                found.append(error)
    return found


def document_definitions(files: dict[str, str]) -> Definitions:
    """The macros of all files of a document; one that cannot be read adds none."""
    merged = {}
    for text in files.values():
        try:
            merged.update(read_definitions(text))
        except FormatError:
            continue
    return merged


def column_types(text: str) -> dict[str, str]:
    r"""Each `\newcolumntype` of a document, by its letter."""
    declarations: dict[str, str] = {}
    for match in _COLUMN_TYPE.finditer(text):
        source = LatexSource(text[match.end() : match.end() + 500])
        index, end = source.whole
        _, index = source.optional(index, end)
        if source.skip_space(index, end) < end:
            _, index = source.argument(index, end)
            behind = source.tokens[index - 1].end
            declarations[match[1]] = text[match.start() : match.end() + behind]
    return declarations


def _standalone(
    name: str, source: str, definitions: Definitions, declarations: dict[str, str]
) -> StandaloneTable:
    expanded = _tidy(_without_stripped(expand(source, definitions)))
    latex = _as_tabular(expanded) if name == "longtable" else expanded
    specification = _specification(latex)
    preamble = tuple(text for letter, text in sorted(declarations.items()) if letter in specification)
    packages = tuple(p for p, pattern in _PACKAGE_COMMANDS.items() if re.search(pattern, latex))
    return StandaloneTable(name, latex, preamble, packages)


def _without_stripped(text: str) -> str:
    """The source without comments, citations, references, captions and notes."""
    source = LatexSource(text)
    index, end = source.whole
    pieces: list[str] = []
    while index < end:
        token = source.tokens[index]
        if token.kind is TokenKind.COMMAND and token.text in _STRIPPED:
            while pieces and pieces[-1] in ("~", " "):
                pieces.pop()
            index = skip_arguments(source, SIGNATURES.get(token.text, "om").lower(), index + 1, end)
        else:
            piece = text[token.start : token.end]
            pieces.append("\n" if token.kind is TokenKind.SPACE and "\n" in piece else piece)
            index += 1
    return "".join(pieces)


def _tidy(text: str) -> str:
    """Blank lines would be paragraphs, which a tabular does not allow everywhere."""
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())


def _as_tabular(text: str) -> str:
    """A longtable as the tabular that its first page and its end would make together."""
    source = LatexSource(text)
    start, closes = 0, source.partner[0]
    if closes == ALONE:
        raise FormatError("The longtable has no end")
    specification, body = column_specification(source, "longtable", start + 1, closes)
    parts = _parts(source, (body, closes))
    head = parts.get("endfirsthead", parts.get("endhead", ""))
    foot = parts.get("endlastfoot", parts.get("endfoot", ""))
    rows = _LEADING_ROW_END.sub("", head.strip()) + "\n" + parts[""].strip() + "\n" + foot.strip()
    columns = source.raw(specification)
    return f"\\begin{{tabular}}{{{columns}}}\n{_LEADING_ROW_END.sub('', rows.strip())}\n\\end{{tabular}}"


_LEADING_ROW_END = re.compile(r"\A\s*(?:\\\\|\\tabularnewline)(?:\[[^\]]*\])?\s*")


def _parts(source: LatexSource, span: Range) -> dict[str, str]:
    r"""The pieces of a longtable's body, by the command that ends each; the rows themselves have no name."""
    parts: dict[str, str] = {}
    start, end = span
    for index in source.commands(span, *LONGTABLE_MARKS):
        parts[source.tokens[index].text] = source.raw((start, index))
        start = index + 1
    parts[""] = source.raw((start, end))
    return parts


def _specification(latex: str) -> str:
    source = LatexSource(latex)
    name = source.tokens[0].text
    closes = source.partner[0]
    specification, _ = column_specification(
        source, name, 1, len(source.tokens) if closes == ALONE else closes
    )
    return source.raw(specification)
