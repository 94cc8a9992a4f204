"""Fields of forms: a label and its value, however an output writes them. Its own group, not in the five."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rapidfuzz.distance import Levenshtein

from parsemark_boards.parsebench.grids import HeadedGrid, html_grids, pipe_grids, soup_of
from parsemark_boards.parsebench.text import is_september, norm, number, partial, ratio

_TAG = re.compile(r"<\s*/?\s*[a-zA-Z][a-zA-Z0-9]*(?:\s[^<>]*)?\s*/?\s*>")
_PREFIX = re.compile(r"^\s*\[[^\]\n]+\]\s+")
_COLUMN = re.compile(r"\s+\|\s+")
_PAIR = r"^[ \t]*([^:\n*][^:\n]{0,200}?)[ \t]*:[ \t]*(.+?)[ \t]*$"
_REST = r"[ \t]*:?[ \t]*([^\n*]*?)(?=[ \t]*\*\*|$)"
_BOLD = re.compile(rf"\*\*[ \t]*([^*\n]+?)[ \t]*\*\*{_REST}", re.MULTILINE)
_JOINED = re.compile(rf"[ \t]*\*\*[ \t]*(to|and|or|&|thru|through|until)[ \t]*\*\*{_REST}", re.I | re.M)
_BULLET = re.compile(r"^\\?[-*+]\s+")
_ITEM = re.compile(r"^\\?[-*+]\s+(?!\\?\[)")
_CHECKED, _UNCHECKED = "☑☒▣✓✔◉●⦿⊠⊗", "☐□○◯⊙"
_MARKER = re.compile(rf"[{_CHECKED}{_UNCHECKED}]|\\?\[[ xX]\\?\]")
_BLANK_LINE = re.compile(r"^\s*([^_\n]+?)\s+_{3,}\s*$", re.MULTILINE)
_ROW = re.compile(r"\s*\(row\s+(\d+)\)\s*$", re.IGNORECASE)
_ITALIC = re.compile(r"^\s*([*_])\s*(\S.*?\S)\s*\1[\s)\\]*$")
_STATES = (
    (4, re.compile(r"^\s*\\?(?:[-*+]|\d+\.)\s*\\?\[([ xX])\\?\]\s*(.+?)\s*$", re.M), 1, 2),
    (3, re.compile(r"^\s*\\?(?:[-*+]|\d+\.)\s+(.+?)\s+\\?\[([ xX])\\?\]\s*$", re.M), 2, 1),
    (2, re.compile(r"^\s*\\?\[([ xX])\\?\]\s*([^\[\n]+?)\s*$", re.M), 1, 2),
)
_BLANKS = re.compile(r"\s{1000}")  # more take the patterns too long
_YES = frozenset(["yes", "y", "true", "t", "1", "checked", "x", "selected", "on"])
_NO = frozenset(["", *["no", "n", "false", "f", "0", "unchecked", "unselected", "off"]])


class Field(NamedTuple):
    """A label with what stands beside it."""

    label: str
    value: str
    priority: int = 0


def decide_field(rule: Mapping[str, Any], text: str) -> bool:
    """Return whether a field has its value; raise ValueError where the rule has no label."""
    label, value, kind = rule.get("label") or "", rule.get("value"), rule.get("value_type", "text")
    if isinstance(label, list) and is_september():
        labels = [str(own) for own in label if str(own).strip()]
        if len(labels) > 1:
            return _decide_labels(rule, labels, text)
        label = labels[0] if labels else ""
    if isinstance(label, list):
        raise ValueError("lists of labels are not read")
    label, most = str(label), _allowed(rule, "label_max_diffs")
    if not label.strip():
        raise ValueError("a field needs a label")
    if _BLANKS.search(text):
        raise ValueError("the output has too many blanks in a row")
    wanted = list(value) if isinstance(value, list) else [value]
    if kind == "checkbox":
        expected = None if isinstance(value, list) else _as_bool(value)
        return expected is not None and _state(label, text, most) is expected
    if kind == "signature":
        found = field_value(label, text, most=most)
        signed = [own if isinstance(own, bool) else bool(str(own or "").strip()) for own in wanted]
        return found is not None and bool(found.strip()) in signed
    expected_texts = ["" if own is None else str(own) for own in wanted]
    far = _allowed(rule, "value_max_diffs")
    found = field_value(label, text, expected_texts, most=most, far=far)
    return found is not None and any(_matches(found, own, far) for own in expected_texts)


def _decide_labels(rule: Mapping[str, Any], labels: Sequence[str], text: str) -> bool:
    """Whether the field that several labels name together has its value."""
    if _BLANKS.search(text):
        raise ValueError("the output has too many blanks in a row")
    most = [_allowed(rule, "label_max_diffs", number) for number in range(len(labels))]
    value = rule.get("value")
    wanted = list(value) if isinstance(value, list) else [value]
    if rule.get("value_type") == "checkbox":
        expected = None if isinstance(value, list) else _as_bool(value)
        return expected is not None and _state_of_labels(labels, most, text) is expected
    far, expected_texts = (
        _allowed(rule, "value_max_diffs"),
        ["" if own is None else str(own) for own in wanted],
    )
    cells = list(_cells_of_labels(labels, most, text))
    if rule.get("value_type") == "signature":
        signed = [own if isinstance(own, bool) else bool(str(own or "").strip()) for own in wanted]
        return bool(cells) and any(cell.strip() for cell in cells) in signed
    right = [cell for cell in cells if any(_matches(cell, own, far) for own in expected_texts)]
    found = (right or [cell for cell in cells if cell.strip()] or [""])[0] if cells else None
    return found is not None and any(_matches(found, own, far) for own in expected_texts)


def _cells_of_labels(labels: Sequence[str], most: Sequence[int], text: str) -> Iterator[str]:
    """The cells of grids whose headers, or cells to the left, answer every label."""
    for grid, _ in _grids(text):
        for r, row in enumerate(grid.data):
            for c, cell in enumerate(row):
                is_head = r in grid.header_rows or (r, c) in grid.header_cells
                if is_head or (c == 0 and (grid.width > 1 or not grid.header_cells)):
                    continue
                above = [
                    grid.data[y][c] for y in range(r) if y in grid.header_rows or (y, c) in grid.header_cells
                ]
                beside = [own for _, own in grid.row_headers.get(r, ())] + list(row[:c])
                anchors = [_untagged(own) for own in (_head(grid, c), *above, *beside)]
                pairs = zip(labels, most, strict=True)
                if all(any(_answers(own, label, far) for own in anchors) for label, far in pairs):
                    yield _untagged(cell)


def _answers(anchor: str, label: str, most: int) -> bool:
    """Whether a header or cell stands for a label."""
    a, b = norm(anchor), norm(label)
    if not a.strip() or not b.strip():
        return False
    if a in b or b in a or re.sub("[.:,]", "", a).split() == re.sub("[.:,]", "", b).split():
        return True
    near, wanted = _bare(a), _bare(b)
    if not near or not wanted:
        return False
    if near == wanted or (min(len(near), len(wanted)) >= 4 and (near in wanted or wanted in near)):
        return True
    width = len(wanted)
    parts = [near, *(near[at : at + width] for at in range(max(0, len(near) - width) + 1))]
    return most > 0 and any(_distance(part, wanted, most) <= most for part in parts)


def _state_of_labels(labels: Sequence[str], most: Sequence[int], text: str) -> bool | None:
    """The state of the box that stands behind a context and an option, as in `Resident Yes ☑ No ☐`."""
    found: list[tuple[float, bool]] = []
    for line in text.split("\n"):
        marks, pieces = _MARKER.findall(line), _MARKER.split(line)
        if not marks or not pieces[0].strip():
            continue
        context = ""
        for mark, piece in zip(marks, pieces, strict=False):
            words = _name(piece).strip("*_ :-,;|")
            before, _, option = words.rpartition(" ")
            if option.lower() not in ("yes", "no"):
                before, option = "", words
            context = before.strip() or context
            names, scores = [own for own in (context, option) if own], []
            for label, far in zip(labels, most, strict=True):
                best = max(((label_score(own, label, far), own) for own in names), default=(0.0, ""))
                scores.append(best[0])
                names = [own for own in names if own != best[1]]
            if all(score > 0 for score in scores):
                found.append((sum(scores) / len(scores), mark in _CHECKED or "x" in mark.lower()))
    return max(found, key=lambda own: own[0])[1] if found else None


def _allowed(rule: Mapping[str, Any], key: str, number: int = 0) -> int:
    """Return how many characters may differ, of the n-th label; 0 before September 2026."""
    given = rule.get(key) or 0
    if isinstance(given, list):
        given = given[number] if number < len(given) else 0
    return int(given) if is_september() and isinstance(given, int | float) and given > 0 else 0


def _matches(found: str, expected: str, far: int = 0) -> bool:
    a, b = norm(re.sub(r"~~[^~\n]+~~", "", found)).strip(), norm(expected).strip()
    if a == b or (a and b and number(a) is not None and number(a) == number(b)):
        return True
    close = _bare(a), _bare(b)
    return bool(is_september() and all(close)) and _distance(*close, far) <= far


def _bare(text: str) -> str:
    return re.sub("[^0-9a-z]+", "", text)


def _distance(a: str, b: str, most: int) -> int:
    return Levenshtein.distance(a, b, score_cutoff=most)


def _as_bool(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    word = str("" if value is None else value).strip().lower()
    if is_september() and len(word) == 1 and word in _CHECKED + _UNCHECKED:
        return word in _CHECKED
    return word in _YES if word in _YES | _NO else None


def label_score(candidate: str, label: str, most: int = 0) -> float:
    """Return how alike two labels are, which may differ in some characters; 0 where they are not."""
    a, b = norm(candidate), norm(label)
    if not a or not b:
        return 0.0
    whole, part = ratio(a, b), partial(a, b) if min(len(a), len(b)) >= 6 else 0.0
    bare = [re.sub("[.:,]", "", side).split() for side in (a, b)]
    is_same = bool(bare[0]) and bare[0] == bare[1]
    scores = [whole if whole >= 0.8 else 0.0, part - 0.05 if part >= 0.9 else 0.0, float(is_same)]
    close = _bare(a), _bare(b)
    if most and all(close) and (distance := _distance(*close, most)) <= most:
        scores.append(max(0.01, 1 - distance / max(map(len, close))))
    return max(scores)


def _untagged(text: str) -> str:
    return _TAG.sub("", text).strip()


def _name(text: str) -> str:
    return _PREFIX.sub("", _untagged(text)).strip()


def _cut(value: str) -> str:
    parts = _COLUMN.split(value, maxsplit=1)
    return (parts[0] if len(parts) == 2 and ":" in parts[1] else value).strip()


def _more(value: str, priority: int) -> Iterator[Field]:
    for part in _COLUMN.split(value) if " | " in value else ():
        if pair := re.match(_PAIR, part):
            yield Field(_name(pair[1]), _untagged(pair[2]), priority)


def _bold_fields(text: str) -> Iterator[Field]:
    for found in _BOLD.finditer(text):
        value, end = found[2].strip().rstrip("\\"), found.end()
        while value and (joined := _JOINED.match(text, end)):
            value, end = f"{value} {joined[1]} {joined[2]}".strip(), joined.end()
        yield Field(_name(found[1].strip(": ")), _cut(_untagged(value)) or _bullets(text, found.end()), 4)
        yield from _more(value, 4)


def _bullets(text: str, end: int) -> str:
    """Return the items of a list below a label."""
    items = []
    for line in text[end:].split("\n")[1:9]:
        own = line.strip()
        if not own or own.startswith(("#", ">", "|", "<")) or ("**" in own and ":" in own):
            break
        if not _ITEM.match(own) or _MARKER.search(own):
            return ""
        items.append(_untagged(_ITEM.sub("", own)))
    return ", ".join(items) if len(items) >= 2 else ""


def _plain_fields(text: str) -> Iterator[Field]:
    for found in re.finditer(_PAIR, text, re.MULTILINE):
        label = found[1].strip()
        if len(re.findall(r"<t[hd]\b", found[0])) > 1 or label.startswith(("#", "`", ">")) or "**" in label:
            continue
        if label.startswith(("\\-", "-", "*", "+")):
            label = _BULLET.sub("", label)
            if not label or label.startswith(("[", "\\[")):
                continue
        yield Field(_name(label), _cut(_untagged(found[2])), 3)
        yield from _more(found[2], 3)


def _cell_fields(text: str) -> Iterator[Field]:
    """Yield cells of HTML tables whose first line is a label."""
    for cell in soup_of(text).find_all(["td", "th"]) if "<t" in text else ():
        if cell.find_parent("table") is None:
            continue
        for line_end in cell.find_all("br"):
            line_end.replace_with("\n")
        first, parted, rest = cell.get_text().strip().partition("\n")
        if parted:
            yield Field(first.strip("*_ \t"), rest.strip().strip("*_ \t"), 1)


def _grid_fields(grid: HeadedGrid, priority: int) -> Iterator[Field]:
    if grid.width == 2:
        yield from (Field(_untagged(row[0]), _untagged(row[1]), priority) for row in grid.data)
        return
    for column in range(grid.width):
        head = _head(grid, column)
        for row in grid.data[_first_row(grid, 1) :]:
            yield Field(_untagged(head), _untagged(row[column]), priority)


def _head(grid: HeadedGrid, column: int) -> str:
    texts = dict.fromkeys(text for _, text in grid.col_headers.get(column, ()) if text.strip())
    return " ".join(texts) or grid.data[0][column]


def _first_row(grid: HeadedGrid, otherwise: int) -> int:
    return max(grid.header_rows) + 1 if grid.header_rows else otherwise


def _grids(text: str) -> Iterator[tuple[HeadedGrid, int]]:
    for grids, priority in ((html_grids(text), 1), (pipe_grids(text), 2)):
        yield from ((grid, priority) for grid in grids if grid.data and grid.width)


def _fields(text: str) -> Iterator[Field]:
    yield from _bold_fields(text)
    yield from _plain_fields(text)
    yield from _cell_fields(text)
    for grid, priority in _grids(text):
        yield from _grid_fields(grid, priority)
    if is_september():
        yield from _fields_before_bold(text)
    for found in _BLANK_LINE.finditer(text):
        if not found[1].startswith(tuple("#-*`>|")) and "**" not in found[1] and ":" not in found[1]:
            yield Field(_name(found[1]), "")


_BOLD_VALUE = re.compile(r"\*\*([^*\n]+)\*\*")
_NOT_BOLD_LINE = re.compile(
    r"^(?:[#>|]|\[Figure|\\?[-*+]\s|\d+\.\s)|\binstructions?\b|\*\*[^*\n]*:[ \t]*\*\*", re.I
)
_NO_LABEL_START = ("i,", "i ", "if you answered", "subscribed ", "being ")
_NO_LABEL_END = re.compile(r"\b(?:and|at|by|for|from|in|of|on|or|to)$", re.I)
_CAPTIONS = sorted(
    (
        "Name of Field in which well is located", "Date well was plugged", "Name of Company or Operator",
        "Name of Farm or Lease", "Name of Party Plugging Well", "Name of Lease", "No. of Acres", "Well No.",
        "Sec. No.", "Blk No.", "Company", "Address", "Survey", "County",
        "Has this well ever produced oil or gas?", "Located", "Oil", "Gas", "Dry", "Total Depth",
        "Top of each producing sand", "Name", "Title",
    ),
    key=len,
    reverse=True,
)  # fmt: skip
"""Captions that upstream cuts out of a longer text before a value."""


def _fields_before_bold(text: str) -> Iterator[Field]:
    """Values in bold behind their labels: `County **Erie**`."""
    for line in text.split("\n"):
        if "**" not in line or _NOT_BOLD_LINE.search(line.strip()):
            continue
        fields: list[Field] = []
        end = 0
        for found in _BOLD_VALUE.finditer(line):
            before, value = line[end : found.start()], found[1].strip()
            end = found.end()
            if before.strip() == "19" and fields and re.fullmatch(r"\d\d", value):
                fields[-1] = fields[-1]._replace(value=f"{fields[-1].value} 19{value}")
            elif label := _label_before(before):
                fields.append(Field(label, _untagged(value), 0))
        yield from fields


def _label_before(text: str) -> str:
    """The label at the end of what stands before a value; empty where that is none."""
    own = re.sub(r"<br\s*/?>", " ", re.split("_{3,}", text)[-1])
    own = _name(re.sub(r"^[\s\\*_#>\-]+", "", own)).strip("*_ :-,;")
    own = own.rpartition(":")[2].strip("*_ :-,;")
    caption = next((c for c in _CAPTIONS if own.lower().endswith(c.lower())), None)
    own = own if caption is None else own[-len(caption) :]
    first = next((sign for sign in own if sign.isalpha()), "")
    is_label = (
        3 <= len(own) <= 100
        and first != ""
        and not first.islower()
        and not own.lower().startswith(_NO_LABEL_START)
        and not _NO_LABEL_END.search(own)
        and not (")" in own and "(" not in own)
        and not re.fullmatch(r"(?:19|20)\d{0,2}", own)
    )
    return own if is_label else ""


def _fill_ins(text: str) -> Iterator[Field]:
    for found in re.finditer(r"<u>([^<\n]+)</u>", text):
        before = re.split(r"[.,;:()\n>]", text[max(0, found.start() - 100) : found.start()])[-1]
        label = _untagged(_PREFIX.sub("", re.sub(r"^[\s\\*_#>\-]+", "", before))).strip("*_").strip()
        yield Field(" ".join(label.split()[-6:]), found[1].strip(), 0)
    for grid, _ in _grids(text):
        if grid.width > 2:
            yield from _neighbours(grid)


def _neighbours(grid: HeadedGrid) -> Iterator[Field]:
    data, counts = grid.data, Counter[str]()
    for r, row in enumerate(data):
        for c, cell in enumerate(row):
            beside = (row[c - 1] if c else None, data[r - 1][c] if r else None)
            counts[cell] += cell not in beside
    for r, row in enumerate(data):
        for c, cell in ((c, own) for c, own in enumerate(row) if own.strip()):
            right = next((own for own in row[c + 1 :] if own.strip() and own != cell), "")
            below = next((own[c] for own in data[r + 1 :] if own[c].strip() and own[c] != cell), "")
            value = next((own for own in (right, below) if _is_usable(own, counts)), "")
            yield Field(_untagged(cell), _untagged(value), -1)


def _is_usable(cell: str, counts: Counter[str]) -> bool:
    if len(cell) < 2 or (len(cell) <= 2 and _MARKER.search(cell)) or cell.endswith(":"):
        return False
    if len(cell) > 30:
        return True
    is_upper = not re.search(r"[\d#@/_,()$%]", cell) and cell == cell.upper() and re.search("[A-Z]", cell)
    return not is_upper and counts[cell] < 2


def field_value(
    label: str, text: str, expected: Sequence[str] = (), *, most: int = 0, far: int = 0
) -> str | None:
    """Return the value beside a label: "" where the label has no value, None where it is missing."""
    if row := _ROW.search(label):
        return _row_value(label[: row.start()], int(row[1]), text, most)
    is_seen = False
    for source in (_fields, _fill_ins):
        scored = [(label_score(f.label, label, most), f) for f in source(text) if f.label]
        is_seen = is_seen or any(score > 0 for score, _ in scored)
        valued = [(score, own) for score, own in scored if score > 0 and own.value]
        if valued:
            top = max(score for score, _ in valued)
            best = [own for score, own in valued if score == top]
            right = [own for own in best if any(_matches(own.value, e, far) for e in expected)]
            return (right or sorted(best, key=lambda own: -own.priority))[0].value
    return "" if is_seen else _beside_line(label, text)


def _row_value(label: str, number_of_row: int, text: str, most: int) -> str | None:
    found = None
    for grid, _ in _grids(text):
        row = _first_row(grid, 0) + number_of_row - 1
        for column in range(grid.width):
            if label_score(_head(grid, column), label, most) > 0:
                found = _untagged(grid.data[row][column]) if 0 <= row < len(grid.data) else ""
                if found:
                    return found
    interval = _interval_value(label, number_of_row, text, most) if is_september() else None
    return found if interval is None else interval


_INTERVAL = re.compile(r"^FROM\s*(.*?)\s+TO\s*(.*?)\s*$", re.IGNORECASE)


def _interval_value(label: str, number_of_row: int, text: str, most: int) -> str | None:
    """Return one end of the n-th line `FROM … TO …`."""
    sides = [side for side, name in enumerate(("FROM", "TO")) if label_score(name, label, most) > 0]
    rows = []
    for line in text.splitlines() if sides else ():
        own = re.sub(r"[*_`\\]+", "", _untagged(line))
        own = re.sub(r"\s+", " ", re.sub(r"^\s*(?:[-+]\s+|\d+\.\s+)", "", own)).strip()
        if "|" not in line and (found := _INTERVAL.match(own)):
            rows.append([re.sub(r"[_\s]{3,}", " ", end).strip(" :;-_") for end in found.groups()])
    if not rows:
        return None
    return rows[number_of_row - 1][sides[0]] if 1 <= number_of_row <= len(rows) else ""


def _beside_line(label: str, text: str) -> str | None:
    """Return the line below or above one that is nothing but the label."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        own = line.strip()
        if len(own) > 100 or own.startswith(("#", ">", "|", "<", "`")) or "**" in own or ":" in own:
            continue
        italic = _ITALIC.match(own)
        bare = italic[2] if italic else _bare_line(own)
        if not 1 <= len(bare) <= 80 or ratio(norm(bare), norm(label)) < 0.8:
            continue
        below, above = lines[at + 1 : at + 4], lines[max(0, at - 3) : at][::-1]
        for side in (above, below) if italic else (below, above):
            for beside in side:
                if beside.strip().startswith(("#", "|", ">")) or ("**" in beside and ":" in beside):
                    break
                if found := _bare_line(beside):
                    return found
        return ""
    return None


def _bare_line(line: str) -> str:
    return _BULLET.sub("", re.sub(r"\s*[)\\]+\s*$", "", line.strip())).strip("*_").strip()


def _states(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield priority, text and state of each box to be checked."""
    for priority, pattern, state, words in _STATES:
        for found in pattern.finditer(text):
            yield priority, found[words], found[state] in "xX"
    for line in text.split("\n"):
        marks = _MARKER.findall(line)
        if not marks:
            continue
        pieces = _MARKER.split(line)
        first = 0 if pieces[0].strip() else 1  # marks stand before what they mark, or behind it
        for mark, piece in zip(marks, pieces[first:], strict=False):
            yield 1, piece.strip(), mark in _CHECKED or "x" in mark.lower()


def _state(label: str, text: str, most: int) -> bool | None:
    found = [(label_score(words, label, most), priority, state) for priority, words, state in _states(text)]
    score, _, state = max(found, key=lambda own: own[:2], default=(0.0, 0, False))
    if score > 0:
        return state
    value = field_value(label, text, most=most)
    return _as_bool(value) if value else None
