"""The one vocabulary: counts, figures, verdicts, problems and the texts of others as people read them."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import ValidationError


def counted(n: int, word: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "page"), counted(0, "page"), counted(1200, "page"), counted(2, "entry")
    ('1 page', '0 pages', '1,200 pages', '2 entries')
    """
    return f"{n:,} {plural(word, n)}"


def plural(word: str, n: float) -> str:
    """Return the word for so many of a thing.

    >>> plural("page", 1), plural("page", 0), plural("box", 2), plural("query", 2), plural("key", 2)
    ('page', 'pages', 'boxes', 'queries', 'keys')
    """
    if n == 1:
        return word
    if word.endswith("y") and word[-2] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word}s"


def counted_name(n: int, name: str) -> str:
    """Return a number with a name of several words, of which the first is a plural noun.

    >>> counted_name(1, "pages without tables"), counted_name(1, "text blocks"), counted_name(2, "tables")
    ('1 page without tables', '1 text block', '2 tables')
    """
    return f"{n:,} {name_for(n, name)}"


def name_for(n: int, name: str) -> str:
    """Return a name that is given as of many, for so many.

    >>> name_for(1, "failed parses"), name_for(1, "entries"), name_for(1, "boxes"), name_for(1, "corpus")
    ('failed parse', 'entry', 'box', 'corpus')
    """
    words = name.split(" ")
    for place, word in enumerate(words) if n == 1 else ():
        for ending, single in (("ies", "y"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("sses", "ss")):
            if word.endswith(ending):
                return " ".join([*words[:place], word.removesuffix(ending) + single, *words[place + 1 :]])
        if word.endswith("s") and not word.endswith(("ss", "us", "is")):
            return " ".join([*words[:place], word[:-1], *words[place + 1 :]])
    return name


_MOST_DIGITS = 6
UNDEFINED = "–"  # stands for a figure that a run does not define: it is neither 0 nor left blank


def rounded(value: float | None, digits: int = 3) -> str:
    """Return a figure in so many digits; a dash for one that is not defined.

    >>> rounded(0.98765), rounded(-0.0001), rounded(12, 1), rounded(None), rounded(float("nan"))
    ('0.988', '0.000', '12.0', '–', '–')
    """
    return UNDEFINED if value is None or not math.isfinite(value) else f"{value:z.{digits}f}"


def percent(share: float | None, digits: int = 0) -> str:
    """Return a share in per cent; a dash for one that is not defined.

    >>> percent(0.256), percent(0.256, 1), percent(None)
    ('26 %', '25.6 %', '–')
    """
    return UNDEFINED if share is None or not math.isfinite(share) else f"{100 * share:z.{digits}f} %"


def signed(value: float | None, digits: int = 3) -> str:
    """Return a difference with its sign; what is 0 in so many digits has none, what is not defined is a dash.

    >>> signed(0.12345), signed(-0.5, 1), signed(-0.0001), signed(-0.0), signed(0.04, 1), signed(None)
    ('+0.123', '−0.5', '0.000', '0.000', '0.0', '–')
    """
    if value is None or not math.isfinite(value):
        return UNDEFINED
    text = f"{abs(value):.{digits}f}"
    return text if float(text) == 0 else ("−" if value < 0 else "+") + text


def signed_end(value: float | None, digits: int = 3) -> str:
    """Return an end of an interval of a difference: on which side of 0 it lies is what it is there for, so
    one next to 0 has as many digits as its sign needs.

    >>> signed_end(-0.0004), signed_end(0.0044, 2), signed_end(0.0), signed_end(0.25, 2), signed_end(1e-9)
    ('−0.0004', '+0.004', '0.000', '+0.25', '+0.000001')
    """
    if value is None or not math.isfinite(value) or value == 0:
        return signed(value, digits)
    for more in range(digits, _MOST_DIGITS + 1):
        if (text := signed(value, more))[0] in "+−":
            return text
    return signed(math.copysign(10**-_MOST_DIGITS, value), _MOST_DIGITS)


def signed_interval(low: float | None, high: float | None, digits: int = 3) -> str:
    """Return both ends of an interval of a difference; a dash where there is none.

    >>> signed_interval(-0.43, -0.0004, 2), signed_interval(None, None)
    ('−0.43 to −0.0004', '–')
    """
    if low is None or high is None:
        return UNDEFINED
    return f"{signed_end(low, digits)} to {signed_end(high, digits)}"


def needed_to_separate(number: str, other: str, best: str, difference: float) -> str:
    """Return how many more documents would separate two parsers, at today's difference.

    >>> needed_to_separate("9 pages", "b", "a", -0.1)  # doctest: +NORMALIZE_WHITESPACE
    'If the difference between a and b stays 0.10, 9 pages would give an even chance that it becomes
    significant.'
    """
    gap = signed_end(abs(difference), 2).lstrip("+")
    chance = "would give an even chance that it becomes significant"
    return f"If the difference between {best} and {other} stays {gap}, {number} {chance}."


def size_in_words(n_bytes: int) -> str:
    """Return the size of a file.

    >>> size_in_words(900), size_in_words(26_000), size_in_words(3_400_000)
    ('900 bytes', '26 kB', '3.4 MB')
    """
    if n_bytes < 1_000:
        return counted(n_bytes, "byte")
    return f"{n_bytes / 1_000:.0f} kB" if n_bytes < 999_500 else f"{n_bytes / 1_000_000:,.1f} MB"


DIGITS: Mapping[str, int] = {"count": 0, "megabytes": 0, "rate": 2, "score": 3, "seconds": 3, "dollars": 4}
"""Of differences, and of values where the style has no form of its own."""


def format_value(value: float | None, style: str) -> str:
    """Return a number as it is printed everywhere; an en dash for what does not exist.

    >>> format_value(0.98765, "score"), format_value(None, "score"), format_value(3.0, "count")
    ('0.988', '–', '3')
    >>> format_value(0.0123, "dollars"), format_value(0.0000251, "dollars"), format_value(0.0, "dollars")
    ('$0.0123', '$0.000025', '$0.0000')
    """
    if value is None or not math.isfinite(value):
        return UNDEFINED
    if style == "seconds":
        return f"{value:.3f}" if value < 1 else f"{value:.2f}"
    if style == "dollars":
        if value >= 1:
            return f"${value:,.2f}"
        # What costs anything does not cost $0.0000: two digits that count, however small it is.
        return f"${value:.{max(4, 1 - math.floor(math.log10(value))) if value > 0 else 4}f}"
    return f"{value:,.{DIGITS[style]}f}"


INTERVAL = "95 % CI for documents like these"
"""The question that intervals of scores answer: other documents of these types, in this mix."""


def figure_note(interval: tuple[float, float] | None, n: float, style: str, denominator: str) -> str:
    """Return interval and denominator of a figure in words.

    >>> figure_note((0.5, 0.75), 62, "score", "true tables")
    '95 % CI for documents like these: 0.500 to 0.750, n = 62 (true tables)'
    """
    parts = []
    if interval:
        low, high = (format_value(end, style) for end in interval)
        parts.append(f"{INTERVAL}: {low} to {high}")
    parts.append(f"n = {n:,.0f} ({denominator})")
    return ", ".join(parts)


MAX_NAME = 300  # characters of the name of a parser
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Controls but tab and line feed, zero-width characters, those that change the writing direction, halves of
surrogate pairs, and tags; `assets/js/dom.js` has the same."""


def why_no_name(name: str) -> str | None:
    r"""Return why this cannot be a name, since names stand in tables, terminals and logs; None if it can.

    >>> why_no_name("a\x1b[2J")
    'it has signs that cannot be seen: a⟨U+001B⟩[2J'
    """
    if not name.strip():
        return "it is blank"
    if len(name) > MAX_NAME:
        return f"it is longer than {MAX_NAME} characters"
    shown = visible(name)
    is_hiding = shown != name or any(map(is_control, name))
    return f"it has signs that cannot be seen: {unbroken(name)}" if is_hiding else None


def is_control(character: str) -> bool:
    """Return whether a character speaks to a terminal instead of being shown: C0, C1, line feeds and tabs."""
    return unicodedata.category(character) == "Cc"


def unbroken(text: str) -> str:
    """Return foreign text as one line in which nothing is hidden."""
    return visible(" ".join(text.split()))


def visible(text: str) -> str:
    """Return the text with characters that hide or move text as their code: what others say is shown as it
    is.

    >>> visible("gnp.\u202efdp")
    'gnp.⟨U+202E⟩fdp'
    """
    return _INVISIBLE.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)


def visible_value(value: Any) -> Any:
    """Return a value for a template: text made visible, all else (also markup of our own) unchanged."""
    return visible(value) if type(value) is str else value


def format_p(p: float | None) -> str:
    """Return a p-value in words; one below 5 % looks so.

    >>> format_p(0.2), format_p(0.0001), format_p(0.04996), format_p(0.05), format_p(None)
    ('0.200', '< 0.001', '0.0499', '0.050', '–')
    """
    if p is not None and 0.0495 < p < 0.05:
        return f"{math.floor(p * 1e4) / 1e4:.4f}"
    return "< 0.001" if p is not None and p < 0.001 else rounded(p)


def state_words(state: str) -> str:
    """Return the verdict on a pair in one or two words.

    >>> state_words("not_significant")
    'not significant'
    """
    return state.replace("_", " ")


def listed(names: Sequence[str], most: int = 3) -> str:
    """Return some names in words; of many the first ones.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c", "d", "e"])
    ('a', 'a and b', 'a, b, c and 2 more')
    """
    n_more = len(names) - most
    shown = [*names[:most], *([f"{n_more} more"] if n_more > 0 else [])]
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]])) if shown else ""


_TYPE_NAMES = {"maker": "program", "producer": "PDF producer"}


def type_name(attribute: str) -> str:
    """Return the attribute that divides documents into types in words that a user knows.

    >>> type_name("maker"), type_name("template")
    ('program', 'template')
    """
    return _TYPE_NAMES.get(attribute, attribute_name(attribute))


def attribute_name(attribute: str) -> str:
    """Return the key of an attribute in words.

    >>> attribute_name("document_class")
    'document class'
    """
    return attribute.replace("_", " ")


def attribute_words(attribute: str, value: str) -> str:
    """Return an attribute with its value inside a sentence.

    >>> attribute_words("document_class", "article")
    'document class “article”'
    """
    return f"{attribute_name(attribute)} “{value}”"


def one_line(text: str, limit: int = 120) -> str:
    """Return the text of others in one line of printable characters, cut where it is long."""
    joined = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return joined if len(joined) <= limit else joined[: limit - 1] + "…"


def markdown_cell(text: str) -> str:
    """Return text that cannot break out of a Markdown table, nor bring markup along."""
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;").replace("`", "'")


FILTERS: dict[str, Callable[..., str]] = {
    "attribute_name": attribute_name,
    "counted": counted,
    "percent": percent,
    "p_value": format_p,
    "plural": plural,
    "rounded": rounded,
    "signed": signed,
    "signed_interval": lambda of, digits=3: signed_interval(of.low, of.high, digits),
}
"""How templates write what is not text. Any figure may be undefined, so none is formatted in another way."""


def nearest_name(name: str, known: Iterable[str], least: float = 0.75) -> str | None:
    """Return the known name that was probably meant, or None. Case and signs do not matter.

    >>> nearest_name("marker-block", ["marker_blocks", "questions"])
    'marker_blocks'
    """
    folded = {re.sub(r"[\W_]", "", other).lower(): other for other in known}
    near = get_close_matches(re.sub(r"[\W_]", "", name).lower(), folded, 1, least)
    return folded[near[0]] if near else None


def first_problem(error: ValidationError, whole: str = "the file") -> str:
    """Return what pydantic found wrong in data from outside, and where, in plain words: `bench.bogus: there
    is no such key`. `whole`: what to name where the data as a whole are wrong.
    """
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or whole
    others = error.error_count() - 1
    more = f" (and {others} more {plural('problem', others)})" if others else ""
    return f"{place}: {problem_in_words(first)}{more}"


def problem_in_words(problem: Mapping[str, Any]) -> str:
    """Return one problem that pydantic found, without the words of a library; what was given is not
    repeated.
    """
    kind, limits = problem["type"], {k: str(v) for k, v in problem.get("ctx", {}).items()}
    if kind in _PROBLEMS:
        return _PROBLEMS[kind].format(**limits)
    if kind in ("value_error", "assertion_error"):
        return str(problem["msg"]).partition(", ")[2]
    for start, wanted in _WANTED.items():
        if kind.startswith(start):
            given = _kind_of(problem.get("input"))
            return f"must be {wanted}" + ("" if given in ("", wanted) else f", not {given}")
    message = str(problem["msg"])
    return message[:1].lower() + message[1:]


_PROBLEMS = {
    "missing": "is missing",
    "extra_forbidden": "unknown key",
    "json_invalid": "is not valid JSON ({error})",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "finite_number": "must be a finite number",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "must be of the form {pattern}",
    "too_short": "must have at least {min_length} entries",
    "too_long": "must have at most {max_length} entries",
}
_WANTED = {
    "string": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    **dict.fromkeys(("list", "tuple", "set", "frozen_set"), "a list"),
    **dict.fromkeys(("dict", "mapping", "model", "dataclass"), "an object"),
    "path": "a path",
}


def _kind_of(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return "text"
    if isinstance(value, list | tuple):
        return "a list"
    return "an object" if isinstance(value, dict) else ""


def mended(value: Any) -> Any:
    """Return the same without halves of surrogate pairs, which no file and no database can hold."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [mended(item) for item in value]
    if isinstance(value, dict):
        return {mended(key): mended(item) for key, item in value.items()}
    return value
