"""A Markdown prediction as items (sections 3.1 to 3.12)."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from parsemark.protocols.document.omnidocbench import rescue
from parsemark.protocols.document.omnidocbench.profile import Profile
from parsemark.protocols.document.omnidocbench.records import FORMULA, INLINE, TEXT, MarkdownItem
from parsemark.protocols.document.omnidocbench.scan import (
    ENVELOPES,
    blank_all,
    replace_spans,
    spans,
    sub_closed,
)

_FENCE_MARKDOWN, *_LATER_FENCES, _FENCE_END = (
    re.compile(fence, re.MULTILINE)
    for fence in (r"^```markdown\n?", r"^```html\n?", r"^```latex\n?", r"```\n?$")
)
_UNDERSCORES = re.compile("_{4,}")
_BLANKS = re.compile(" {4,}")
_RUN = re.compile(r"([^a-zA-Z0-9])\1{10,}")
_CODE = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
_LATEX_WORDS = [
    (re.compile(r"\\title\{([^}\n]*)\}"), True),
    (re.compile(r"\\title\s*\{([^}]*)\}"), False),
    (re.compile(r"\\text\s*\{([^}]*)\}"), False),
    (re.compile(r"\\section\*?\{([^}\n]*)\}"), True),
    (re.compile(r"\\section\*?\{([^}]*)\}"), False),
]
_INSIDE = (("$$", "$$"), ("$", "$"), ("\\(", "\\)"))
_HTML_TABLE = re.compile(r"<table[^>]*>|</table>"), "</table>", 8
_TABULAR = re.compile(r"\\(?:begin|end)\{tabular\}"), "\\end{tabular}", 14
"""The marks of tables, the closing one, and how far behind the start of any the next is looked for."""
MAX_RESTARTS = 64
"""How often the search for tables starts again behind one that is never closed; the published code never
gives up, and needs quadratic time."""


def extract(markdown: str, profile: Profile) -> list[MarkdownItem]:
    """Return all items of a page, in the order in which they are matched: grouped by category."""
    text, items = _images(markdown, profile)
    text = _without_frame(text, profile)
    for step in (_latex_tables, _html_tables, _formulas, _pipe_tables, _code):
        text, found = step(text, profile)
        items += found
    for pattern, by_line in _LATEX_WORDS:
        keep = (lambda m: m[1]) if by_line else (lambda m: m[1].strip())
        text = sub_closed(pattern, "}", keep, text, by_line=by_line)
    items += _items_of_text(text, profile)
    items.sort(key=lambda item: item.start)
    if profile.rescues_formulas:
        items = [item for item in items if not rescue.is_trivial_inline(item)]
    groups: dict[str, list[MarkdownItem]] = {}
    for item in items:
        groups.setdefault(item.cat, []).append(item)
    return [item for group in groups.values() for item in group]


def _images(text: str, profile: Profile) -> tuple[str, list[MarkdownItem]]:
    items: list[MarkdownItem] = []
    places = []
    for start, end, alt in _image_spans(text):
        places.append((start, end))
        if profile.rescues_formulas:
            items += rescue.rescued(alt.strip(), start, end, "image_formula")
    if profile.keeps_image_room:
        return blank_all(text, places), items
    starts, ends = [0, *(end for _, end in places)], [*(start for start, _ in places), len(text)]
    return "".join(text[start:end] for start, end in zip(starts, ends, strict=True)), items


def _image_spans(text: str) -> Iterator[tuple[int, int, str]]:
    r"""Yield the matches of `!\[.*?\]\(.*?\)`, in linear time."""
    position = 0
    while (start := text.find("![", position)) >= 0:
        line_end = text.find("\n", start)
        line_end = len(text) if line_end < 0 else line_end
        middle = text.find("](", start + 2, line_end)
        end = -1 if middle < 0 else text.find(")", middle + 2, line_end)
        if end < 0:
            position = line_end
            continue
        yield start, end + 1, text[start + 2 : middle]
        position = end + 1


def _without_frame(text: str, profile: Profile) -> str:
    """Remove fences and the tags of a whole page; shorten long runs of one sign."""
    unwraps = profile.unwraps_html_and_latex_fences
    for pattern in (_FENCE_MARKDOWN, *(_LATER_FENCES if unwraps else ()), _FENCE_END):
        text = pattern.sub("", text)
    text = _BLANKS.sub(" " * 4, _UNDERSCORES.sub("_" * 4, text))
    if profile.shortens_runs:
        text = _RUN.sub(lambda m: m[1] * 4, text)
    for tag in ("<html>", "</html>", "<body>", "</body>") if unwraps else ():
        text = text.replace(tag, "")
    return rescue.plain_descriptions(text) if profile.rescues_formulas else text


def _outermost(text: str, marks: re.Pattern[str], closing: str, step: int) -> list[tuple[int, int]]:
    """Return the outermost tables, as the published scan finds them."""
    found: list[tuple[int, int]] = []
    offset = 0
    for _ in range(MAX_RESTARTS):
        if closing not in text[offset:]:
            break
        position, opened = offset, list[int]()
        while (mark := marks.search(text, position)) is not None:
            position = mark.start() + step
            if mark[0] != closing:
                opened.append(mark.start())
            elif opened:
                start = opened.pop()
                found += [] if opened else [(start, position)]
        if not opened:
            break
        offset = opened[0] + 16
    return found


def _latex_tables(text: str, profile: Profile) -> tuple[str, list[MarkdownItem]]:
    whole = [(s.start, s.end) for s in spans(text, (("\\begin{table}", "\\end{table}"),), dotall=True)]
    rest = blank_all(text, whole)
    inner = _outermost(rest, *_TABULAR)
    fine = "latex_table" if profile.rescues_formulas else None
    contents = sorted([(s, text[s:e]) for s, e in whole] + [(s, rest[s:e]) for s, e in inner])
    items = [MarkdownItem("latex_table", own, start, start + len(own), fine) for start, own in contents]
    return blank_all(rest, inner), items


def _html_tables(
    text: str, profile: Profile, places: list[tuple[int, int]] | None = None, fine: str | None = None
) -> tuple[str, list[MarkdownItem]]:
    items: list[MarkdownItem] = []
    places = _outermost(text, *_HTML_TABLE) if places is None else places
    for start, end in places:
        content = text[start:end]
        items.append(MarkdownItem("html_table", content, start, start + len(content), fine))
        if profile.rescues_formulas:
            items += rescue.rescued_from_table(content, start)
    return blank_all(text, places), items


def _formulas(text: str, profile: Profile) -> tuple[str, list[MarkdownItem]]:
    items: list[MarkdownItem] = []
    places: list[tuple[int, int]] = []
    for span in spans(text, ENVELOPES, dotall=True):
        line, is_display = _formula_line(text[span.start : span.end], profile.formula_keeps_spaces)
        item = MarkdownItem(FORMULA, line, span.start, span.end, None if is_display else INLINE)
        items += rescue.split_formula(item) if profile.rescues_formulas else [item]
        if is_display:
            places.append((span.start, span.end))
    return blank_all(text, places), items


@lru_cache(maxsize=4096)
def _formula_line(whole: str, keeps_spaces: bool) -> tuple[str, bool]:
    """Return a formula in one line, and whether it is a display."""
    line = " ".join(whole.strip().split("\n")) if keeps_spaces else "".join(whole.split())
    first = next(spans(line, _INSIDE, dotall=True), None)
    is_display = first is None or (first.pair == 0 and first.inner != "")
    # Of formulas inside of one, those between `$$` stay in a display, else the others.
    line = replace_spans(
        line, _INSIDE, lambda s: f"\\[{s.inner if (s.pair == 0) == is_display else ''}\\]", dotall=True
    )
    return line, is_display


def _pipe_tables(text: str, profile: Profile) -> tuple[str, list[MarkdownItem]]:
    if len(list(islice(_segments(text + "\n"), 2))) < 2:
        return text, []
    text = _convert_pipe_tables(text)
    places = [(s.start, s.end) for s in spans(text, (("<table", "</table>"),), dotall=True)]
    return _html_tables(text, profile, places, "md2html_table")


def _code(text: str, profile: Profile) -> tuple[str, list[MarkdownItem]]:
    if text.count("```") < 2:
        return text, []
    cut = text.rfind("```") + 3
    found = list(_CODE.finditer(text, 0, cut))
    items = [MarkdownItem(TEXT, m[2].strip(), m.start(), m.end(), "code") for m in found]
    return blank_all(text, [m.span() for m in found]), items


def _items_of_text(text: str, profile: Profile) -> list[MarkdownItem]:
    pieces = text.split("\n\n")
    if len(pieces) == 1:
        pieces = text.split("\n")
    items: list[MarkdownItem] = []
    start = 0
    for piece in pieces:
        end = start + len(piece)
        lines = (line.strip() for line in piece.strip().split("\n"))
        content = "\n".join(line for line in lines if line)
        if content and profile.rescues_formulas:
            content = rescue.html_fragment_text(content)
        if content:
            items += _text_items(content, start, end, profile)
        start = end
    return items


def _text_items(content: str, start: int, end: int, profile: Profile) -> list[MarkdownItem]:
    paragraph = MarkdownItem(TEXT, content, start, end, "text_block")
    if profile.rescues_formulas:
        return [paragraph, *rescue.rescued(content, start, end, "text_formula")]
    if profile.lone_dollars_are_formula:
        if content.startswith("<table") and content.endswith("</table>"):
            return [MarkdownItem("html_table", content, start, end)]
        if content.startswith("$") and content.endswith("$"):
            has_content = content.replace("$", "").strip() != ""
            return [MarkdownItem(FORMULA, content, start, end)] if has_content else []
    return [paragraph]


# --- pipe tables as HTML, as the published code converts them, its losses included (section 3.9) ------------

_COMMENT = (("<!--", "-->"),)
_TABLE = (("<table>", "</table>"),)
_DROPPED = ("<table>", "<thead>", "<tbody>", "</table>", "</thead>", "</tbody>")


def _segments(text: str) -> Iterator[tuple[int, int]]:
    """Yield the stretches from a pipe to the first later one at the end of a line, the newline included."""
    position = 0
    while (start := text.find("|", position)) >= 0:
        end = text.find("|\n", start + 1)
        if end < 0:
            return
        yield start, end + 2
        position = end + 2


def _convert_pipe_tables(text: str) -> str:
    """Return the whole text with its pipe tables as HTML.

    The published code replaces the first occurrence of each segment in turn. `_as_table` writes no pipe,
    and a segment starts at the first pipe behind the one before, so that is the segment itself.
    """
    text = text.replace("\r", "") + "\n"
    parts: list[str] = []
    done = 0
    for start, end in _segments(text):
        parts += (text[done:start], _as_table(text[start:end]))
        done = end
    text = _join_rows("".join(parts) + text[done:])
    return text.replace("<table>", '<table border="1" >').replace("<td>", '<td colspan="1" rowspan="1">')


def _as_table(segment: str) -> str:
    def row(line: str, tag: str) -> str:
        cells = (f"      <{tag}>{part.strip()}</{tag}>\n" for part in line.strip().split("|")[1:-1])
        return f"    <tr>\n{''.join(cells)}    </tr>\n"

    head, *lines = segment.strip().split("\n")
    body = "".join(row(line, "td") for line in lines[1:])
    return f"<table>\n  <thead>\n{row(head, 'th')}  </thead>\n  <tbody>\n{body}  </tbody>\n</table>\n"


def _join_rows(text: str) -> str:
    """Return tables that follow each other as one."""
    out: list[str] = []
    buffer: list[str] = []
    inside = False
    last = ""
    for line in text.split("\n"):
        if "<table>" in line:
            inside = True
            buffer.append(last)
        elif inside:
            if not (":" in last or "---" in last or "</thead>" in last):
                buffer += ("\n", last)
            if "</table>" in last:
                inside = False
                out.append(_one_table("".join(buffer)))
                buffer = []
        else:
            out.append(last)
        last = line
    if last != "":
        if inside or "</table>" in last:
            out.append(_one_table("".join(buffer) + "\n" + last))
        else:
            out.append(last)
    return "\n".join(out)


def _one_table(text: str) -> str:
    text = replace_spans(text, _COMMENT, lambda _: "", dotall=True)
    kept: list[str] = []
    for table in spans(text, _TABLE, dotall=True):
        lines = [
            line.replace("<th>", "<td>").replace("</th>", "</td>") if "<th>" in line else line
            for line in text[table.start : table.end].split("\n")
            if not any(tag in line for tag in _DROPPED)
        ]
        if len(lines) > 2:
            kept += lines
    return "\n\n<table>\n" + "\n".join(kept) + "\n</table>\n\n"
