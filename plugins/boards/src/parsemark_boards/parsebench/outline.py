"""Rules of a page's outline since September 2026: headings with their levels, items of nested lists."""

import html
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from parsemark.metrics import MAX_LINE_PAIRS, check_pairs
from parsemark_boards.parsebench.content import NotApplicableError, Rule, WrongRuleError
from parsemark_boards.parsebench.text import check_markdown, norm, ratio

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?^ {0,3}\1[ \t]*$", re.M | re.S)
_TABLE = re.compile(r"<table\b.*?(?:</table\s*>|\Z)", re.I | re.S)
_PIPE_LINE = re.compile(r"^\s{0,3}\|.*\|\s*$", re.M)
_ATX = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]+(.*?)|[ \t]*)$", re.M)
_HTML = re.compile(r"<h([1-6])\b[^>]*>(.*?)</h\1\s*>", re.I | re.S)
_GLYPH = re.compile(r"^([ \t]*)[•◦▪▸‣∙·–—]([ \t])", re.M)
_LIST_TAG = re.compile(r"<\s*(/?)\s*(ul|ol|li)\b[^>]*>", re.I)
_ALIKE = 0.82  # ratio from which two headings may be one


class PageHeading(NamedTuple):
    """A heading as it is compared, and its level."""

    text: str
    level: int


def _visible(text: str) -> str:
    text = re.sub(r"\*\*|__|~~|`", "", re.sub("<[^>]+>", " ", html.unescape(text)))
    return re.sub(r"\s+", " ", re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", text)).strip()


def _bare(text: str) -> str:
    text = unicodedata.normalize("NFKC", _visible(text)).casefold()
    return re.sub(r"[^\w]+", " ", text).strip()


def headings(markdown: str) -> list[PageHeading]:
    """Return the headings of a document that stand in no code and no table."""
    for pattern in (_FENCE, _TABLE, _PIPE_LINE):
        markdown = pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), markdown)
    places = []
    for found in _ATX.finditer(markdown):
        text = re.sub(r"[ \t]+#+[ \t]*$", "", (found[2] or "").strip()).strip()
        places.append((found.start(), PageHeading(_bare(_visible(text)), len(found[1]))))
    places += [
        (found.start(), PageHeading(_bare(_visible(found[2])), int(found[1])))
        for found in _HTML.finditer(markdown)
    ]
    return [heading for _, heading in sorted(places, key=lambda own: own[0]) if heading.text]


def heading_score(rule: Rule, markdown: str) -> tuple[bool, float]:
    """Return how well all headings of a page, in order and with their levels, are those of the rule."""
    wanted = [PageHeading(_bare(str(own["text"])), own["level"]) for own in rule["headings"]]
    if not all(isinstance(own.level, int) and 1 <= own.level <= 6 for own in wanted):
        raise WrongRuleError("the level of a heading must be 1 to 6")
    found = headings(check_markdown(markdown))
    if not wanted or not found:
        score = float(not wanted and not found)
    else:
        quality = sum(
            likeness / (1 + abs(wanted[i].level - found[j].level))
            for i, j, likeness in _aligned(wanted, found)
        )
        recall, precision = quality / len(wanted), quality / len(found)
        score = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return score == 1.0, score


def _aligned(wanted: Sequence[PageHeading], found: Sequence[PageHeading]) -> Iterator[tuple[int, int, float]]:
    """Yield pairs in order with the largest sum of likenesses, from the last one on."""
    check_pairs("headings", len(wanted), len(found), MAX_LINE_PAIRS // 10)
    likeness = [[ratio(a.text, b.text) if a.text and b.text else 0.0 for b in found] for a in wanted]
    sums = [[0.0] * (len(found) + 1) for _ in range(len(wanted) + 1)]
    steps = [[""] * (len(found) + 1) for _ in range(len(wanted) + 1)]
    for i in range(1, len(wanted) + 1):
        for j in range(1, len(found) + 1):
            choices = [(sums[i - 1][j], False, "wanted"), (sums[i][j - 1], False, "found")]
            if likeness[i - 1][j - 1] >= _ALIKE:
                choices.append((sums[i - 1][j - 1] + likeness[i - 1][j - 1], True, "both"))
            sums[i][j], _, steps[i][j] = max(choices, key=lambda own: own[:2])
    i, j = len(wanted), len(found)
    while i and j:
        step = steps[i][j]
        if step == "both":
            yield i - 1, j - 1, likeness[i - 1][j - 1]
        i, j = i - (step != "found"), j - (step != "wanted")


def has_list_level(rule: Rule, markdown: str) -> bool:
    """Return whether a text is an item of a list at a level."""
    text, level = str(rule.get("text") or "").strip(), rule.get("level")
    if not text or not isinstance(level, int) or level < 1:
        raise WrongRuleError("the text is blank, or the level is not a positive number")
    query = norm(text).strip()
    if not re.sub(r"[*_~\s]", "", query):
        raise NotApplicableError("the text has only Markdown marks")
    close = re.sub(r"\s+", "", query)
    items = _list_items(check_markdown(markdown))
    return any(at == level and (query in own or close in re.sub(r"\s+", "", own)) for own, at in items)


@lru_cache(maxsize=4)
def _list_items(markdown: str) -> tuple[tuple[str, int], ...]:
    """Return the texts of all items of lists, without those of lists in them, and their levels."""
    markdown = _TABLE.sub(lambda found: "\n" * found[0].count("\n"), markdown)
    lines = ["" if re.match(r"^\s{0,3}\|.*\|\s*$", line) else line for line in markdown.split("\n")]
    markdown = _GLYPH.sub(r"\1-\2", "\n".join(lines))
    return (*_markdown_items(markdown), *_html_items(markdown))


def _markdown_items(markdown: str) -> Iterator[tuple[str, int]]:
    from markdown_it import MarkdownIt

    depth, items = 0, list[tuple[int, list[str]]]()
    for token in MarkdownIt("commonmark").parse(markdown):
        if token.type in ("bullet_list_open", "ordered_list_open"):
            depth += 1
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            depth -= 1
        elif token.type == "list_item_open":
            items.append((depth, []))
        elif token.type == "list_item_close":
            level, parts = items.pop()
            yield norm(" ".join(parts)).strip(), level
        elif token.type == "inline" and items and depth == items[-1][0]:
            items[-1][1].append(token.content)


def _html_items(markdown: str) -> Iterator[tuple[str, int]]:
    depth, end, items = 0, 0, list[tuple[int, list[str]]]()

    def closed() -> tuple[str, int]:
        level, parts = items.pop()
        return norm(html.unescape(re.sub("<[^>]+>", " ", " ".join(parts)))).strip(), level

    for tag in _LIST_TAG.finditer(markdown):
        is_here = bool(items) and items[-1][0] == depth
        if is_here:
            items[-1][1].append(markdown[end : tag.start()])
        end, is_item = tag.end(), tag[2].lower() == "li"
        if is_item and is_here and (tag[1] or depth):
            yield closed()
        if is_item and not tag[1] and depth:
            items.append((depth, []))
        elif not is_item and not tag[1]:
            depth += 1
        elif not is_item:
            while items and items[-1][0] >= depth:
                yield closed()
            depth = max(0, depth - 1)
    while items:
        yield closed()
