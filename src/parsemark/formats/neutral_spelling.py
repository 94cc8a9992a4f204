r"""One spelling for what outputs spell differently: line ends, tables, lists, formulas, escapes, entities.

Two outputs that say the same and differ in whether one or two newlines part their blocks, in whether tables
are HTML or Markdown, in `$…$` against `$ … $` and `\(…\)`, `*` against `-`, `&amp;` against `&`, `\_`
against `_`, or `__` against `**`, have the same neutral form. What the spelling alone could say is lost for
all alike: which cells a table calls its header (the first row is, as Markdown has it), and whether lines are
one paragraph (they are where a line breaks off within a sentence).
"""

import html
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain, pairwise

from parsemark.errors import FormatError
from parsemark.formats.cell_text import without_mark
from parsemark.formats.document import output_format, read_document, write_document
from parsemark.formats.document.elements import caption_category
from parsemark.formats.document.html import is_html_source
from parsemark.formats.markdown.inline import PUNCTUATION, protected_spans
from parsemark.formats.write import write_table
from parsemark.model import Category, Element, Prediction, Table

_LONG_LINE = 60  # characters from which on a line without a full stop is taken for one that goes on
_SENTENCE_END = (".", "!", "?", ":", "。", "！", "？", "：")
_ITEM = re.compile(r"(?:([-*+•●◦▪‣])|(\d{1,9})[.)])\s+(?=\S)")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]\w{1,31});")
_TAG_START = re.compile(r"<(?=[a-zA-Z/!?])")
_LOOSE_MATH = re.compile(r"\$(?P<left> ?)(?P<inner>[^$\n]*[^$\s])(?P<right> ?)\$(?!\d)")
"""A formula with blanks inside of its dollars, which Markdown itself does not take for one."""
_FORMULA_START = re.compile(r"\$[^$\n]+\$(?!\d)|\\\(")
_MATH_SIGN = re.compile(r"[\\^_=<>+{}]")
_BOLD = re.compile(r"(?<![\w_\\])__(?=[^\s_])([^\n_]+?)(?<=[^\s\\])__(?![\w_])")
_ITALIC = re.compile(r"(?<![\w_\\])_(?=[^\s_])([^\n_]+?)(?<=[^\s\\])_(?![\w_])")
_STYLE_TAG = re.compile(r"<(b|strong|i|em)>([^<\s](?:[^<\n]*[^<\s])?)</\1>", re.IGNORECASE)
_BREAK_TAG = re.compile(r"<br\s*/?>", re.IGNORECASE)
_MARKUP = re.compile(
    r"\A\s*(?:#{1,6}\s|[-+*]\s|>|\d{1,9}[.)]\s|~~~|```|=+$|-+$)"
    r"|(\*{1,3})(?=\S)[^*]+(?<=\S)\1|(?<!\w)(_{1,3})(?=\S)[^_]+(?<=\S)\2(?!\w)"
    r"|\[[^\[\]\n]*\]|<[a-zA-Z/!?]|~~|&(?:#|\w{1,32};)"
)
"""What a sign without its backslash might become."""
_LABEL = re.compile(r"<!--\s*(\w+)\s*-->")
_CATEGORIES = frozenset(Category)
_CODE = (Category.CODE_TXT, Category.CODE_ALGORITHM)


def neutral(prediction: Prediction) -> Prediction:
    """Return the prediction in the neutral spelling; one that cannot be read stays as it is."""
    elements = tuple(map(_neutral_element, prediction.elements))
    if prediction.text is None:
        return replace(prediction, elements=elements)
    try:
        blocks, tables = _read(prediction.text, prediction.format)
    except FormatError:
        return prediction
    if not any(e.box for e in elements) and all(e.category == Category.TABLE for e in elements):
        elements = tuple(
            Element(f"p{number}", Category.TABLE, order=number, table=table, html=write_table(table, "html"))
            for number, table in enumerate(tables, start=1)
        )
    # Blank lines part blocks, and line ends the items of one list.
    ends = ["\n" if _ITEM.match(a) and _ITEM.match(b) else "\n\n" for a, b in pairwise(blocks)]
    text = "".join(chain(*zip(blocks, [*ends, "\n"], strict=True))) if blocks else ""
    return replace(prediction, elements=elements, text=text, format="markdown")


def _neutral_element(element: Element) -> Element:
    table = None if element.table is None else _neutral_table(element.table)
    if table is not None:
        return replace(element, table=table, html=write_table(table, "html"), latex=None)
    text = element.text
    if text is not None and element.category not in (*_CODE, Category.LIST_GROUP):
        text = one_line(text)
    latex = element.latex
    if latex is not None:
        latex = latex.strip() if "%" in latex else " ".join(latex.split())
    return replace(element, text=text, latex=latex)


def _neutral_table(table: Table) -> Table:
    cells = [replace(cell, text=_with_dollars(cell.text), header=cell.row == 0) for cell in table.cells]
    return replace(table, cells=tuple(cells))


def one_line(text: str) -> str:
    """Return a text in one line, with its formulas between single dollars."""
    return _with_dollars(" ".join(text.split()))


def _with_dollars(text: str, between: Callable[[str], str] = lambda part: part) -> str:
    """Return the text with its formulas in one spelling, and what stands between formulas and code in
    another.
    """
    out, at = [], 0
    for span in protected_spans(text):
        if span.kind == "escape":
            continue
        whole = text[span.start : span.end]
        if span.kind == "math":
            inner = whole.strip("$").removeprefix("\\(").removesuffix("\\)").strip()
            whole = f"${html.unescape(inner)}$"
        out += [between(_LOOSE_MATH.sub(_tight, text[at : span.start])), whole]
        at = span.end
    return "".join([*out, between(_LOOSE_MATH.sub(_tight, text[at:]))])


def _tight(found: re.Match[str]) -> str:
    inner, both = found["inner"].strip(), bool(found["left"]) and bool(found["right"])
    is_math = inner and (" " not in inner or (both and _MATH_SIGN.search(inner)))
    return f"${html.unescape(inner)}$" if is_math and not found[0].startswith("$$") else found[0]


def _spelled(markdown: str) -> str:
    """Return a block of Markdown in one line: one spelling of entities, escapes, emphasis and formulas."""
    text = _with_dollars(" ".join(markdown.split()), _rewritten)
    escaped = {text[s.start + 1] for s in protected_spans(text) if s.kind == "escape"}
    for sign in sorted(escaped - {"\\"}):
        bare = _without_escapes(text, sign)
        if _n_marks(bare) == _n_marks(text) and _with_dollars(bare, _rewritten) == bare:
            text = bare
    return text


def _rewritten(text: str) -> str:
    """Return the text between formulas, without entities and with one spelling of emphasis."""
    mark = {"b": "**", "strong": "**", "i": "*", "em": "*"}
    text = _STYLE_TAG.sub(lambda m: f"{mark[m[1].lower()]}{m[2]}{mark[m[1].lower()]}", _decoded(text))
    text = _ITALIC.sub(r"*\1*", _BOLD.sub(r"**\1**", text))
    return re.sub(r"\s+", " ", _BREAK_TAG.sub("<br>", text))


def _decoded(text: str) -> str:
    """Return a text without entities, but where they keep signs from being markup."""

    def sign(found: re.Match[str]) -> str:
        character = html.unescape(found[0])
        if character in ("<", "&"):
            alone = character + text[found.end() : found.end() + 40]
            return found[0] if _TAG_START.match(alone) or _ENTITY.match(alone) else character
        return f"\\{character}" if len(character) == 1 and character in "*_`$[]\\#|~" else character

    return _ENTITY.sub(sign, text)


def _without_escapes(text: str, sign: str) -> str:
    places = [s.start for s in protected_spans(text) if s.kind == "escape" and text[s.start + 1] == sign]
    kept = [text[a:b] for a, b in pairwise([0, *(end for p in places for end in (p, p + 1)), len(text)])]
    return "".join(kept[::2])


def _n_marks(text: str) -> int:
    """Return how many formulas, pieces of code and marks a line of Markdown has."""
    spans = protected_spans(text)
    plain = re.sub(rf"\\[{PUNCTUATION}]", "\0", text)
    return sum(span.kind != "escape" for span in spans) + sum(1 for _ in _MARKUP.finditer(plain))


def _literal(text: str) -> str:
    """Return a plain text as Markdown that has no tag and no entity by accident."""
    text = re.sub(rf"&(?={_ENTITY.pattern[1:]})", "&amp;", text)
    return _TAG_START.sub("&lt;", text)


def _read(text: str, format: str) -> tuple[list[str], list[Table]]:
    """Return the blocks of an output, and its tables."""
    text = without_mark(text)
    format = output_format(text, format)
    blocks, tables, paragraph, at = list[str](), list[Table](), list[str](), 0
    spelled = _spelled if format == "markdown" else one_line

    def close() -> None:
        blocks.extend(spelled(" ".join(own)) for own in _paragraphs(paragraph))
        paragraph.clear()

    for element in read_document(text, format).elements:
        start, end = int(element.attributes["start"] or 0), int(element.attributes["end"] or 0)
        label = next((m for m in _LABEL.findall(text[at:start]) if m in _CATEGORIES), None)
        at = max(at, end)
        source = text[start:end] if format == "markdown" else None
        lines = list(_lines(element, source))
        if lines and label is None:
            paragraph += lines
            continue
        close()
        if element.table is not None:
            tables.append(_neutral_table(element.table))
        written = " ".join(map(spelled, lines)) if lines else _block(element, source)
        blocks += [f"<!-- {label} -->"] * (label is not None) + [written]
    close()
    return [block for block in blocks if block], tables


def _lines(element: Element, source: str | None) -> Iterator[str]:
    """Yield the lines of a running text; none of anything else."""
    if element.text is None or element.category in (Category.TITLE, *_CODE) or element.table is not None:
        return
    is_markdown = source is not None and not is_html_source(source)
    if source is not None and is_markdown:
        lines = (line.strip().removesuffix("\\").strip() for line in source.split("\n"))
    else:
        lines = (_literal(line.strip()) for line in element.text.split("\n"))
    marks = element.category == Category.LIST_GROUP and not is_markdown
    for line in filter(None, lines):
        item = _ITEM.match(line)
        if item is not None:
            yield (f"{item[2]}. " if item[2] else "- ") + line[item.end() :]
        else:
            yield f"- {line}" if marks else line


def _block(element: Element, source: str | None) -> str:
    if element.category == Category.FIGURE and source is not None:
        return one_line(source)
    if element.category == Category.TITLE and element.text is not None and source is not None:
        words = _spelled(source.strip("#").strip()) if source.startswith("#") else _literal(element.text)
        return f"{'#' * int(element.attributes.get('level') or 1)} {one_line(words)}"
    return write_document([_neutral_element(element)], literal=True).strip()


def _paragraphs(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yield lines that belong together."""
    own: list[str] = []
    for line in lines:
        if own and not _goes_on(own[-1], line):
            yield own
            own = []
        own.append(line)
    if own:
        yield own


def _goes_on(before: str, line: str) -> bool:
    """Return whether a line goes on with the sentence of the one before it."""
    if before.endswith(_SENTENCE_END) or _ITEM.match(line) or caption_category(line) is not None:
        return False
    bare = line.lstrip("*_")  # emphasis and formulas stand within sentences, wherever lines break
    return bare[:1].islower() or _FORMULA_START.match(bare) is not None or len(_spelled(before)) >= _LONG_LINE
