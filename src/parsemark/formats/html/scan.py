"""Where the tables of an HTML text begin and end: one linear pass over the tags, before any tree is built."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from parsemark.errors import FormatError
from parsemark.formats.limits import MAX_GRID, MAX_SPAN, check_tables

_PARTS = "table|thead|tbody|tfoot|caption|colgroup|col|tr|td|th|row|cell|entry"
_COMMENT_OR_TAG = re.compile(rf"<!--|<(?P<close>/?)(?P<name>{_PARTS})(?=[\s/>])", re.IGNORECASE)
_SPAN = re.compile(r"(?:row|col)span\s*+=\s*+[\"']?\s*+(\d++)", re.IGNORECASE)
_CUT_TAG = re.compile(r"</?(?:[a-zA-Z]*|t[rdh]\s[^<>]*)\Z")
MAX_PARTS = 2 * MAX_GRID  # tags of one table; each cell has two
_CELLS = ("td", "th", "caption", "cell", "entry")
_BEGIN_ROWS = ("tr", "thead", "tbody", "tfoot")
_ATTRIBUTES = 10_000
"""How far the end of a tag is searched: a tag with more than that in it is no tag of a table."""


@dataclass(slots=True)
class _Open:
    """A table whose end was not seen yet."""

    start: int
    in_cell: bool = False
    implied: bool = False  # whether rows began without a `<table>` around them


def html_table_spans(text: str, *, check_spans: bool = True) -> list[tuple[int, int]]:
    """Start and end of each outermost table.

    A table that is never closed ends with the line of its last tag, or where the next table begins. Rows
    without a `<table>` around them make one of their own. With `check_spans` a cell that spans too much is
    refused here already, before any tree is built.
    """
    if (plain := _plain_span(text)) is not None:
        return [plain]
    scan = _Scan()
    for name, closes, start, end in _tags(text, check_spans):
        if name != "table":
            scan.see_part(name, start, closes=closes)
        elif closes:
            scan.close(end)
        else:
            scan.open(start)
        scan.last_end = end
    if scan.stack:
        line_end = text.find("\n", scan.last_end)
        end = len(text) if line_end < 0 else line_end
        cut = _CUT_TAG.search(text, scan.last_end, end)
        scan.spans.append((scan.stack[0].start, end if cut is None else cut.start()))
    return scan.spans


def _plain_span(text: str) -> tuple[int, int] | None:
    """The span of the only table of a text whose tags are as they should be, without looking at each tag.

    None where anything is unusual: then the tags are read one by one, with the same result.
    """
    first = _COMMENT_OR_TAG.search(text)
    folded = text.lower()
    if first is None or len(folded) != len(text):
        return None
    start, close = first.start(), folded.rfind("</table")
    opened = text.find(">", first.end(), first.end() + _ATTRIBUTES)
    end = close + len("</table>")
    is_plain = (
        folded.startswith("<table", start)
        and folded.count("<table") == folded.count("</table") == 1
        and "<!--" not in text
        and first.end() <= opened < close
        and text.startswith(">", end - 1)
        and text.rfind("<", 0, close) < text.rfind(">", 0, close)  # the end stands inside no other tag
        and folded.count("<", start, end) <= MAX_PARTS
        and _COMMENT_OR_TAG.search(text, end) is None
        and not ("span" in folded and any(len(found[1]) > 3 for found in _SPAN.finditer(text, start, end)))
    )
    return (start, end) if is_plain else None


@dataclass(slots=True)
class _Scan:
    """The tables that are open, and the spans of the outermost ones that are closed."""

    spans: list[tuple[int, int]] = field(default_factory=list)
    stack: list[_Open] = field(default_factory=list)
    last_end: int = 0
    n_parts: int = 0

    def open(self, start: int) -> None:
        """A `<table>`: inside a cell it is nested; elsewhere the table before it was never closed."""
        check_tables(len(self.spans) + 1, start)
        if self.stack and (self.stack[-1].implied or not self.stack[-1].in_cell):
            self.close(self.last_end)
        self.stack.append(_Open(start))

    def close(self, end: int) -> None:
        """A `</table>`; one that closes nothing is passed over."""
        if self.stack:
            closed = self.stack.pop()
            if not self.stack:
                self.spans.append((closed.start, end))
                self.n_parts = 0

    def see_part(self, name: str, start: int, *, closes: bool) -> None:
        """A row, a cell or another part of a table."""
        self.n_parts += 1
        if self.n_parts > MAX_PARTS:
            raise FormatError(f"A table has more than {MAX_PARTS:,} tags of rows and cells", position=start)
        if self.stack:
            self.stack[-1].in_cell = name in _CELLS and not closes
        elif name in _BEGIN_ROWS and not closes:
            self.stack.append(_Open(start, implied=True))


def _tags(text: str, check_spans: bool) -> Iterator[tuple[str, bool, int, int]]:
    """The tags that make tables: name, whether it closes, start, end. Comments are skipped."""
    position = 0
    while (match := _COMMENT_OR_TAG.search(text, position)) is not None:
        if match.group("name") is None:
            comment_end = text.find("-->", match.end())
            if comment_end < 0:
                return
            position = comment_end + 3
            continue
        end = text.find(">", match.end(), match.end() + _ATTRIBUTES)
        position = match.end() if end < 0 else end + 1
        if check_spans and position > match.end() + 1:
            _check_spans(text, match.end(), position)
        yield match.group("name").lower(), bool(match.group("close")), match.start(), position


def _check_spans(text: str, start: int, end: int) -> None:
    for span in _SPAN.finditer(text, start, end):
        digits = span.group(1).lstrip("0")
        if len(digits) > 4 or int(digits or 0) > MAX_SPAN:
            shown = digits if len(digits) <= 12 else f"{digits[:12]}…"
            why = f"A cell spans {shown} rows or columns; at most {MAX_SPAN:,} are read"
            raise FormatError(why, position=span.start())
