"""olmOCR-bench's rules on texts: its normal form, its similarity, and what it finds with them."""

import re
import unicodedata
from functools import lru_cache

from rapidfuzz.fuzz import partial_ratio, ratio

from parsemark_boards.near_search import between

_SAME = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a", "'"),
        **dict.fromkeys("\u201c\u201d\u201e", '"'),
        **dict.fromkeys("\u2013\u2014\u2011\u2012\u2212", "-"),
        "\uff3f": "_",
        "\u00b5": "\u03bc",
    }
)
_MARKUP = (
    (re.compile(r"<br/?>"), " "),
    (re.compile(r"\*\*(.*?)\*\*"), r"\1"),
    (re.compile(r"__(.*?)__"), r"\1"),
    (re.compile(r"</?b>"), ""),
    (re.compile(r"</?i>"), ""),
    (re.compile(r"(\*\*|__)(.*?)\1"), r"\2"),
    (re.compile(r"(\*|_)(.*?)\1"), r"\2"),
    (re.compile(r"\s+"), " "),
)


@lru_cache(maxsize=4096)
def normalise(text: str) -> str:
    r"""Return the text as it is compared: without some marks of Markdown and HTML, quotes and dashes folded.

    >>> normalise("**Total**  net—gain of snake_case_name")
    'Total net-gain of snakecasename'
    """
    for pattern, by in _MARKUP:
        text = pattern.sub(by, text)
    return unicodedata.normalize("NFC", text).translate(_SAME)


def limit(query: str, max_diffs: int) -> float:
    """Return the least similarity that a query with so many allowed differences needs."""
    return 1.0 - min(max_diffs, 2**53) / (len(query) or 1)


def is_like(query: str, text: str, least: float) -> bool:
    """Return whether some window of the longer one is like the shorter one.

    The roles are exchanged where the text is shorter than the query: a defect that is kept.
    """
    if least <= 1.0 and query and query in text:
        return True  # The best window is the query itself; no need to look at the others.
    return bool(partial_ratio(query, text) / 100.0 >= least)


def is_equal(query: str, text: str, least: float) -> bool:
    """Return whether two whole texts are alike."""
    return bool(ratio(query, text) / 100.0 >= least)


def _tag(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    return re.compile(f"<{name}[^>]*>", re.I), re.compile(f"</{name}>", re.I)


def _pair(mark: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    return re.compile(mark), re.compile(mark)


_HEADING = re.compile(r"^#{1,6}\s+(.+?)$", re.M)
_ENCLOSED = {
    "heading": (_tag("h[1-6]"),),
    "bold": (_pair(r"\*\*"), _pair("__"), _tag("b"), _tag("strong")),
    "italic": (_pair(r"(?<!\*)\*(?!\*)"), _pair("(?<!_)_(?!_)"), _tag("i"), _tag("em")),
}


@lru_cache(maxsize=64)
def formatted_pieces(text: str, kind: str) -> tuple[str, ...]:
    """Return the headings, the bold or the italic pieces of a page, in normal form."""
    pieces = _HEADING.findall(text) if kind == "heading" else []
    for opening, closing in _ENCLOSED[kind]:
        pieces += [text[a:b] for _, a, b, _ in between(text, opening, closing)]
    return tuple(normalise(piece) for piece in pieces)


_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_SUP = re.compile(r"<sup[^>]*>", re.I)
_AROUND = 200  # characters before and behind a footnote's marker in which its texts are looked for


def marker_places(text: str, marker: str) -> list[tuple[int, int]]:
    """Return where a footnote's marker stands: `[^1]`, `<sup>1</sup>`, and in superscript digits."""
    found = [m.span() for m in re.finditer(rf"\[\^{re.escape(marker)}\](?!:)", text)]
    rest = re.compile(re.escape(marker) + "</sup>", re.I)
    for opened in _SUP.finditer(text, 0, text.rfind(">") + 1):
        if (closed := rest.match(text, opened.end())) is not None:
            found.append((opened.start(), closed.end()))
    if marker.isascii() and marker.isdigit():
        found += [m.span() for m in re.finditer(marker.translate(_SUPERSCRIPTS), text)]
    return found


def _letters(text: str) -> str:
    return "".join(c for c in normalise(text) if c.isalnum()).lower()


def stands_at_marker(
    text: str, places: list[tuple[int, int]], wanted: str, max_diffs: int, side: int
) -> bool:
    """Return whether a text stands before (`side` −1) or behind (1) some place of a marker."""
    target, least = _letters(wanted), limit(wanted, max_diffs)
    for start, end in places:
        near = _letters(text[max(0, start - _AROUND) : start] if side < 0 else text[end : end + _AROUND])
        length = min(len(near), 2 * len(target))
        if near and is_like(target, near[-length:] if side < 0 else near[:length], least):
            return True
    return False


_FOREIGN = re.compile(
    "[\u4e00-\u9fff\u3040-\u30ff\U0001f600-\U0001f64f\U0001f300-\U0001f5ff\U0001f680-\U0001f6ff\U0001f1e0-\U0001f1ff]"
)


def has_foreign_characters(text: str) -> bool:
    """Return whether a page has Chinese or Japanese letters or emoji, which the benchmark's pages have
    not.
    """
    return _FOREIGN.search(text) is not None


def trailing_repeats(text: str, longest: int = 5) -> list[int]:
    """Return how often the last 1, 2, … characters stand at the end of a text without a gap."""
    text = re.sub(r"\s+", " ", text)
    counts = []
    for size in range(1, longest + 1):
        last, count = text[-size:], 0
        if len(text) >= size:
            while text.endswith(last, 0, len(text) - count * size):
                count += 1
        counts.append(count)
    return counts


def alphanumerics(text: str, *, without_images: bool = False) -> int:
    """Return how many letters and digits a page has."""
    if without_images:
        text = "\n".join(map(_without_images, text.split("\n")))
    return sum(map(str.isalnum, text))


def _without_images(line: str) -> str:
    r"""Return a line without what `!\[.*?\]\(.*?\)` finds, in linear time."""
    kept, at = [], 0
    while (start := line.find("![", at)) >= 0:
        middle = line.find("](", start + 2)
        end = -1 if middle < 0 else line.find(")", middle + 2)
        if end < 0:
            break
        kept.append(line[at:start])
        at = end + 1
    return "".join([*kept, line[at:]])
