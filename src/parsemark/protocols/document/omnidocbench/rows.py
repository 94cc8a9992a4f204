"""Formulas of several rows, one formula per row (section 5.10)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from parsemark.protocols.document.omnidocbench.normalise import unwrap_formula, without_tags
from parsemark.protocols.document.omnidocbench.profile import Profile
from parsemark.protocols.document.omnidocbench.records import FORMULA, MarkdownItem, Truth
from parsemark.protocols.document.omnidocbench.scan import brace_ends

ENVIRONMENTS = frozenset({
    "array", "aligned", "align", "align*", "alignedat", "alignedat*", "split", "gather", "gather*",
    "gathered", "multline", "multline*", "flalign", "flalign*", "eqnarray", "eqnarray*", "cases",
})  # fmt: skip
_ALIGNED = frozenset({"aligned", "align", "align*", "alignedat", "alignedat*"})
_OLD_ARRAY = re.compile(r"\\begin\{array\}\{([^}]*)\}(.*?)\\end\{array\}", re.DOTALL)
_SPEC_NOISE = re.compile(r"\s|\||[@!]\{[^{}]*\}")
_NESTED = re.compile(
    r"\\begin\{(array|aligned|align\*?|alignedat\*?|split|gathered?|multline\*?|flalign\*?|eqnarray\*?|cases)\}"
)
_WORDS = re.compile(r"\\(text|mathrm|operatorname)\s*\{")
_CASE_START = re.compile(r"\(?\d+\)?")
_CASE_COMMANDS = (
    "\\Rightarrow", "\\Leftrightarrow", "\\Longrightarrow", "\\Longleftrightarrow", "\\implies",
    "\\therefore", "\\uparrow", "\\downarrow", "\\Updownarrow", "\\leftarrow", "\\rightarrow",
)  # fmt: skip
LOGIC = re.compile(
    r"单调|否定|\\(?:Rightarrow|Leftrightarrow|Longrightarrow|Longleftrightarrow|longrightarrow|"
    r"longleftrightarrow|implies|therefore|because|uparrow|downarrow|Updownarrow|forall|exists)\b"
)
_PLAIN_GROUP = re.compile(r"\s*\{([^{}]*)\}")
_BEGIN = re.compile(r"\\begin\s*\{([^{}]*)\}")
_ENVIRONMENT = re.compile(r"\\(begin|end)\s*\{([^{}]*)\}")
_LABEL = re.compile(r"\\label\{[^{}]*\}")
_SPACING = re.compile(r"\\qquad|\\quad|\\,|\\;|\\!|\\>|\\:|~")
_SPACING_END = re.compile(r"(?:\\qquad|\\quad|\\,|\\;|\\!|\\>|\\:|~)$")
_FINAL_TAG = re.compile(r"\\tag\*?\s*$")
_LABEL_BODY = re.compile(r"[A-Za-z0-9.\-#]+|(?:\\[A-Za-z#]+)+")
_SHORT_LETTERS = re.compile(r"[a-z]{1,3}")


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a formula and where their text was found."""

    body: str
    rows: list[str]
    suffix: str = ""


def split_truths(truths: list[Truth], profile: Profile) -> list[Truth]:
    """Return truths with formulas of several rows one by one; a row's order follows its formula's."""
    result: list[Truth] = []
    for truth in truths:
        found = split_rows(truth.raw, profile) if truth.category == FORMULA else None
        if found is None:
            result.append(truth)
            continue
        for k, row in enumerate(found.rows, 1):
            order = truth.order or 0
            place = round(order + k / 10, 1) if profile.splits_rows == "array" else order + k / 1000
            result.append(replace(truth, raw=f"\\[{row}\\]", order=place))
    return result


def split_items(items: list[MarkdownItem], profile: Profile) -> list[MarkdownItem]:
    """Return predicted formulas of several rows one by one, each with its place in the text."""
    return [row for item in items for row in (item_rows(item, profile) or [item])]


def item_rows(item: MarkdownItem, profile: Profile) -> list[MarkdownItem] | None:
    """Return the rows of one predicted formula; None where it is not split."""
    found = split_rows(item.content, profile) if item.cat == FORMULA else None
    if found is None:
        return None
    offset = max(0, item.content.find(found.body))
    rows: list[MarkdownItem] = []
    cursor = 0
    for k, row in enumerate(found.rows, 1):
        suffix = found.suffix if k == len(found.rows) else ""
        text = row.removesuffix(suffix).rstrip() if suffix else row
        at = max(cursor, found.body.find(text, cursor))
        cursor = at + len(text)
        start = item.start + offset + at
        end = start + len(text) - 1
        place = item.content.find(suffix, offset + cursor) if suffix else -1
        end = item.start + place + len(suffix) - 1 if place >= 0 else end
        rows.append(replace(item, content=f"\\[{row}\\]", start=start, end=end))
    return rows


def split_rows(formula: str, profile: Profile) -> Rows | None:
    """Return the rows of a formula; None where it has one, or must stay whole."""
    if profile.splits_rows == "all":
        return _new_rows(formula) if "\\\\" in formula else None
    if profile.splits_rows == "no" or "\\begin{array" not in formula or "\\end{array}" not in formula:
        return None
    match = _OLD_ARRAY.search(formula)
    if match is None or _SPEC_NOISE.sub("", match[1]) not in ("l", "c", "r"):
        return None
    rows = [row.strip() for row in match[2].split("\\\\") if row.strip()]
    return Rows(match[2], rows) if rows else None


def _new_rows(formula: str) -> Rows | None:
    text = unwrap_formula(formula)
    found = _environment_rows(text) or Rows(text, top_rows(text))
    rows = [row for row in (without_tags(row).strip() for row in found.rows) if row]
    if len(rows) < 2:
        return None
    suffix = without_tags(found.suffix).strip()
    if suffix:
        rows[-1] = f"{rows[-1]} {suffix}"
    return Rows(found.body, rows, suffix)


def _environment_rows(text: str) -> Rows | None:
    opening = next((mark for mark in ("\\left\\{", "\\left.") if text.startswith(mark)), "")
    text = text[len(opening) :].lstrip() if opening else text
    closing = next((mark for mark in ("\\right.", "\\right\\}") if text.endswith(mark)), "")
    text = text[: -len(closing)].rstrip() if closing else text
    wrapped = bool(opening or closing)
    environment = leading_environment(text)
    if environment is None:
        return None
    suffix = _without_end_labels(_LABEL.sub("", text[environment.end :]).strip())
    rows = top_rows(environment.body)
    if len(top_rows(suffix)) > 1 or _is_refused(environment, rows, wrapped):
        return None
    return Rows(environment.body, rows, suffix)


@dataclass(frozen=True, slots=True)
class TableEnvironment:
    """An environment at the start of a text."""

    name: str
    spec: str | None  # the first brace group behind the name
    body: str
    body_start: int
    end: int


def leading_environment(text: str, start: int = 0) -> TableEnvironment | None:
    """Return the environment that starts here, if it is one of rows and is closed."""
    match = _BEGIN.match(text, start)
    if match is None or match[1] not in ENVIRONMENTS:
        return None
    position = match.end()
    spec: str | None = None
    while (group := _PLAIN_GROUP.match(text, position)) is not None:
        spec = group[1] if spec is None else spec
        position = group.end()
    depth = 1
    for other in _ENVIRONMENT.finditer(text, position):
        if other[2] != match[1]:
            continue
        depth += 1 if other[1] == "begin" else -1
        if depth == 0:
            return TableEnvironment(match[1], spec, text[position : other.start()], position, other.end())
    return None


def top_rows(text: str) -> list[str]:
    r"""Return the parts between `\\` outside of braces and environments, stripped; empty ones go."""
    rows: list[str] = []
    start = 0
    for at, token in _top_level(text):
        if token == "&" or at < start:
            continue
        rows.append(text[start:at])
        tail = _BREAK_TAIL.match(text, at + 2)
        start = tail.end() if tail else at + 2
    rows.append(text[start:])
    return [row.strip() for row in rows if row.strip()]


_BREAK_TAIL = re.compile(r"\s*(?:\*\s*)?(?:\[[^\]]*\])?")
"""What belongs to a row break: a star, and a distance in brackets."""
_PIECES = re.compile(r"\\begin\s*\{[^{}]*\}|\\end\s*\{[^{}]*\}|\\\\|\\.|[{}&]", re.DOTALL)


def _top_level(text: str) -> Iterator[tuple[int, str]]:
    """Yield the row breaks outside of braces and environments, and the ampersands outside of environments."""
    braces = environments = 0
    for match in _PIECES.finditer(text):
        token = match.group()
        if token in "{}":
            braces = max(0, braces + (1 if token == "{" else -1))
        elif token.startswith(("\\begin", "\\end")):
            environments = max(0, environments + (1 if token.startswith("\\begin") else -1))
        elif not environments and (token == "&" or (token == "\\\\" and not braces)):
            yield match.start(), token


def has_top_cells(row: str) -> bool:
    """Return whether an unescaped ampersand stands outside of environments."""
    return any(token == "&" for _, token in _top_level(row))


def _is_case(row: str) -> bool:
    row = without_tags(row.strip().lstrip("&").strip()).strip()
    return _CASE_START.match(row) is not None or row.startswith(_CASE_COMMANDS)


def _is_refused(environment: TableEnvironment, rows: list[str], wrapped: bool) -> bool:
    name, body, later = environment.name, environment.body, rows[1:]
    if name == "cases":
        return len(rows) < 2 or any(has_top_cells(row) for row in rows) or LOGIC.search(body) is None
    nested = _NESTED.search(body) is not None
    later_case = any(_is_case(row) for row in later)
    first_cells = (next((row[:at] for at, token in _top_level(row) if token == "&"), "") for row in rows)
    if name in _ALIGNED:
        return (nested and later_case) or (
            wrapped
            and (
                nested
                or sum(cell.strip() != "" for cell in first_cells) >= 2
                or any(_WORDS.search(row) for row in later)
                or later_case
            )
        )
    if name == "array":
        spec = _SPEC_NOISE.sub("", environment.spec or "")
        return (
            not spec
            or any(c not in "lcr" for c in spec)
            or len(spec) > 2
            or spec == "cc"
            or (nested and later_case)
            or (wrapped and set(spec) == {"l"} and len(rows) > 1)
        )
    return False


def _without_end_labels(text: str) -> str:
    while True:
        text = text.rstrip()
        shorter = _without_one_label(text)
        if shorter is None:
            return text
        text = shorter.rstrip()
        while (spacing := _SPACING_END.search(text[-8:])) is not None:
            text = text[: len(text) - len(spacing.group())].rstrip()


def _without_one_label(text: str) -> str | None:
    if text.endswith("}"):
        start = text.rfind("\\tag")
        brace = text.find("{", start) if start >= 0 else -1
        if brace >= 0 and _FINAL_TAG.match(text, start, brace) and brace_ends(text).get(brace) == len(text):
            return text[:start]
        return None
    for left, right in (("(", ")"), ("[", "]")):
        if not text.endswith(right):
            continue
        start = text.rfind(left)
        if start < 0:
            return None
        body, before = text[start + 1 : -1], text[:start]
        if _SHORT_LETTERS.fullmatch(body) or _LABEL_BODY.fullmatch(body) is None:
            return None
        if before == "" or before[-1].isspace() or _SPACING.search(before[-10:]) is not None:
            return before
    return None
