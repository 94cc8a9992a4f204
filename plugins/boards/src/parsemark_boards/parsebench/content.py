"""Rules of faithful content: bags of sentences, words and digits, what is present, and what comes first."""

import re
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from parsemark.metrics import MAX_CHARACTER_PAIRS, check_pairs
from parsemark_boards.olmocr.text import alphanumerics, has_foreign_characters
from parsemark_boards.parsebench.grids import with_cells, without_tables
from parsemark_boards.parsebench.text import (
    check_markdown,
    is_september,
    norm,
    norm_light,
    partial,
    without_tags,
    word_class,
)

Rule = Mapping[str, Any]
_CJK = "\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af"
_SPLIT = re.compile(r"\n+|(?<!\d)\.(?!\d)|[!?]+|[。、，！？；…‥⋯]+")
_DESCRIPTION = re.compile(r"^`{3,}(?:mermaid|description)[^\S\n]*\n.*?^`{3,}[^\S\n]*$", re.M | re.S)
_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
LONG, MAX_ERRORS = 20, 15


class WrongRuleError(ValueError):
    """A rule that cannot be decided."""


class NotApplicableError(ValueError):
    """A rule that asks for nothing, which leaves numerator and denominator."""


def _simple_formula(latex: str) -> str:
    return re.sub(r"\\(?:[a-zA-Z]+|[^a-zA-Z])|[^0-9a-zA-Z+\-*/=<>().,]", "", latex) or "LATEX"


def _plain_formulas(text: str) -> str:
    """Return formulas as what letters and numbers they have."""
    text = re.sub(r"\$\$(?:[^$]|\$[^$])+\$\$", lambda found: f" {_simple_formula(found[0][2:-2])} ", text)
    return re.sub(r"\$(?!\d)(?:[^$\\\n]|\\.)+\$", lambda found: _simple_formula(found[0][1:-1]), text)


def _without_dots(text: str) -> str:
    """Return a text without leaders of dots."""
    return re.sub(r"\.(?:\s*\.)+", " ", text)


def _without_lead(text: str) -> str:
    """Return a text without leading marks of headings, quotes and lists."""
    return re.sub(r"^(?:\s*(?:#{1,6}\s+|>\s+|[*+-]\s+|\d+[.)]\s+))+", "", text).strip()


def fragment(text: str) -> str:
    """Return a sentence as it is counted; shorter ones than 7 characters are none."""
    text = without_tags(_without_dots(norm(text).strip().strip(".")))
    word = word_class()
    text = re.sub(rf"^[^{word}]+|[^{word}]+$", "", _without_lead(text)).strip()
    text = re.sub(r"\s+", " ", text)
    return text if len(text) >= 7 else ""


def tokens(text: str, least: int = 2) -> list[str]:
    """Return words; those of Chinese, Japanese and Korean are runs of their own."""
    runs = re.findall(rf"(?:(?=[{word_class()}])[{_CJK}])+|(?:(?![{_CJK}])[{word_class()}])+", text)
    return [run for run in runs if len(run) >= least or re.match(f"[{_CJK}]", run)]


def _words_of_key(key: str, least: int = 2) -> list[str]:
    return tokens(_without_lead(without_tags(norm(key))), least)


class AskedMarkdown:
    """A document as the rules of content look at it."""

    def __init__(self, markdown: str) -> None:
        self.markdown = markdown
        self._bags: dict[tuple[str, bool], Counter[str]] = {}

    @cached_property
    def _bare(self) -> str:
        return _plain_formulas(_DESCRIPTION.sub(" ", self.markdown))

    @cached_property
    def full_text(self) -> str:
        """Return all text, cells once more."""
        plain = norm(with_cells(_PICTURE.sub(" ", self._bare)))
        return re.sub(r"\s+", " ", without_tags(_without_dots(plain)))

    @cached_property
    def word_text(self) -> str:
        """Return the text that words are counted in, cells once more."""
        return without_tags(norm(with_cells(self._bare_of_words)))

    @cached_property
    def _bare_of_words(self) -> str:
        return _PICTURE.sub(" ", self._bare) if is_september() else self._bare

    def bag(self, unit: str, cells: bool) -> Counter[str]:
        """Return sentences or words with their numbers."""
        if (unit, cells) not in self._bags:
            found = self._sentences(cells) if unit == "sentence" else self._words(cells)
            self._bags[unit, cells] = Counter(found)
        return self._bags[unit, cells]

    def _words(self, cells: bool) -> list[str]:
        return tokens(self.word_text if cells else without_tags(norm(without_tables(self._bare_of_words))))

    def _sentences(self, cells: bool) -> list[str]:
        text = _PICTURE.sub(" ", self._bare)
        text = _without_dots(with_cells(text) if cells else without_tables(text))
        chunks: list[str] = []
        joined = ""
        for chunk in filter(None, map(str.strip, _SPLIT.split(text))):
            joined = f"{joined} {chunk}" if joined else chunk
            if fragment(joined):
                chunks.append(joined)
                joined = ""
        if joined:
            chunks = [*chunks[:-1], f"{chunks[-1]} {joined}"] if chunks else [joined]
        return list(filter(None, map(fragment, chunks)))

    def digits(self) -> Counter[str]:
        """Return digits with their numbers."""
        return Counter(re.findall("[0-9]", re.sub(r"<[^>]+>", " ", with_cells(self.markdown))))

    def count(self, unit: str, key: str, cells: bool, *, exact: bool = False) -> int:
        """Return how often a sentence or a word occurs, by the more generous of two ways, or in the text
        alone.
        """
        is_sentence = unit == "sentence"
        text = self.full_text if is_sentence else self.word_text
        found = count_in(key, text, whole=len(key) < LONG if is_sentence else not _has_cjk(key))
        return found if exact else max(self.bag(unit, cells)[key], found)


def _has_cjk(text: str) -> bool:
    return re.search(f"[{_CJK}]", text) is not None


def count_in(key: str, text: str, *, whole: bool) -> int:
    """Return occurrences in a text, of whole words or of characters."""
    if not whole:
        return text.count(key)
    word = word_class()
    return len(re.findall(rf"(?<![{word}]){re.escape(key)}(?![{word}])", text))


def bag_of(rule: Rule, unit: str) -> Counter[str]:
    """Return the keys of a rule as they are counted; WrongRuleError without any, or for a blank or negative
    one.
    """
    given = rule.get(f"bag_of_{unit}")
    if not isinstance(given, Mapping) or not given:
        raise WrongRuleError("the bag is empty")
    bag = Counter[str]()
    for key, count in given.items():
        if not str(key).strip() or not isinstance(count, int) or count < 0:
            raise WrongRuleError("a key is blank or its count negative")
        if own := fragment(key) if unit == "sentence" else next(iter(_words_of_key(key)), ""):
            bag[own] += count
    if unit == "word" and not bag:
        raise WrongRuleError("no key is a word")
    return bag


def decide_bag(rule: Rule, asked: AskedMarkdown) -> tuple[bool, float]:
    """Decide rules that compare a bag with a document: missing, unexpected, too many; in percent or not."""
    kind = rule["type"]
    unit = "sentence" if "sentence" in kind else "word"
    bag = bag_of(rule, unit)
    if kind.startswith("missing"):
        exact = kind == "missing_sentence_percent"
        found = {key: min(n, asked.count(unit, key, True, exact=exact)) for key, n in bag.items()}
        total, right = bag.total(), sum(found.values())
        passed, share = right == total, right / total if total else 1.0
    elif kind.startswith("too_many"):
        counts = {key: asked.count(unit, key, False) for key in bag}
        over = sum(max(0, counts[key] - n) for key, n in bag.items())
        total = sum(max(counts[key], n) for key, n in bag.items())
        passed, share = over == 0, 1 - over / total if total else 1.0
    else:
        given, around = asked.bag(unit, False), ["", ""]
        if unit == "sentence":
            original = rule.get("original_md") if kind.endswith("percent") else None
            full = AskedMarkdown(check_markdown(original)).full_text if original else ""
            around = [" ".join(bag), full]
        known = sum(n for key, n in given.items() if key in bag or any(key in text for text in around))
        total = given.total()
        passed, share = known == total, known / total if total else 1.0
    return passed, share if kind.endswith("_percent") else float(passed)


def decide_extra(rule: Rule, asked: AskedMarkdown) -> bool:
    """Return whether no sentence occurs more often than it should."""
    bag = bag_of(rule, "sentence")
    joined = " ".join(bag)
    return all(n <= (bag[key] or int(key in joined)) for key, n in asked.bag("sentence", False).items())


def decide_specific(rule: Rule, asked: AskedMarkdown) -> bool:
    """Return whether one sentence or word occurs."""
    if rule["type"] == "missing_specific_sentence":
        wanted = fragment(str(rule.get("sentence") or ""))
        if not wanted:
            raise WrongRuleError("the sentence is too short")
        return wanted in asked.full_text
    found = _words_of_key(str(rule.get("word") or ""), 1)
    if not found:
        raise WrongRuleError("there is no word")
    long = [word for word in found if len(word) >= 2]
    joined = "".join(found)
    word = max(long, key=len) if long else joined if len(joined) >= 2 else max(found, key=len)
    text = norm(asked.markdown).replace("'", "").replace("’", "")
    return word in asked.bag("word", True) or count_in(word, text, whole=not _has_cjk(word)) > 0


def decide_digits(rule: Rule, asked: AskedMarkdown) -> tuple[bool, float]:
    """Return the share of the digits that are found."""
    bag = rule.get("bag_of_digit") or {}
    if not bag or any(str(key) not in "0123456789" for key in bag):
        raise WrongRuleError("a key is not a digit")
    found, total = asked.digits(), sum(bag.values())
    share = sum(min(found[key], n) for key, n in bag.items()) / total if total else 1.0
    return share >= 0.999, share


def near_matches(query: str, text: str, errors: int) -> list[tuple[int, int]]:
    """Return where a text nearly says something, as fuzzysearch finds it: starts and ends."""
    check_pairs("characters", len(query) * (errors + 1), len(text), MAX_CHARACTER_PAIRS // 10)
    if errors == 0:
        starts = (found.start() for found in re.finditer(f"(?={re.escape(query)})", text))
        return [(start, start + len(query)) for start in starts]
    from fuzzysearch import find_near_matches

    return sorted((m.start, m.end) for m in find_near_matches(query, text, max_l_dist=errors))


def decide_order(rule: Rule, asked: AskedMarkdown) -> bool:
    """Return whether one text stands before another."""
    light = bool(rule.get("keep_formatting_text_normalisation"))
    own = norm_light if light else norm

    def prepared(text: str) -> str:
        text = re.sub(" +", " ", _without_dots(own(_plain_formulas(text))))
        if light or not is_september():
            return text
        return re.sub(" +", " ", re.sub(r"</?[^>]+>", " ", text)).strip()

    before, after = (prepared(str(rule.get(key) or "")) for key in ("before", "after"))
    for role, binding in (rule.get("layout_bindings") or {}).items():
        if role not in ("before", "after") or not isinstance(binding, str) or not binding.strip():
            raise WrongRuleError("layout_bindings must name one layout for before and one for after")
    most = int(rule.get("max_diffs") or 0)
    if not before.strip() or not after.strip() or most > len(before) // 2 or most > len(after) // 2:
        raise WrongRuleError("a text is blank, or its allowed differences exceed half of it")
    text, places = prepared(asked.markdown), []
    for query, exact, end in ((before, str.find, 0), (after, str.rfind, -1)):
        if (place := exact(text, query)) < 0:
            matches = near_matches(query, text, min(max(len(query) // 20, most), MAX_ERRORS))
            if not matches:
                return False
            place = matches[end][0]
        places.append(place)
    return places[0] < places[1]


def decide_present(rule: Rule, asked: AskedMarkdown) -> bool:
    """Return whether a text is there, or is not."""
    light = bool(rule.get("keep_formatting_text_normalisation"))
    query, text = (
        norm_light(t).lower() if light else norm(t) for t in (str(rule.get("text") or ""), asked.markdown)
    )
    count, most = rule.get("count"), int(rule.get("max_diffs") or 0)
    if not query.strip() or (count is not None and count < 0):
        raise WrongRuleError("the text is blank or its count negative")
    first, last = rule.get("first_n"), rule.get("last_n")
    if first and last:
        text = text[:first] + text[-last:]
    elif first or last:
        text = text[:first] if first else text[-int(last or 0) :]
    if rule["type"] == "present" and count is not None and count >= 1:
        if most == 0:
            return bool(text.count(query) == count)
        n, end = 0, -1
        for start, stop in near_matches(query, text, min(most, MAX_ERRORS)):
            if start >= end:
                n, end = n + 1, stop
        return bool(n == count)
    threshold = max(0.7, min(1.0, 1 - most / len(query)))
    return bool((partial(query, text) >= threshold) == (rule["type"] == "present"))


def decide_baseline(rule: Rule, asked: AskedMarkdown) -> bool:
    """Return whether an output is neither empty nor endless."""
    text, most = asked.markdown, rule.get("max_length")
    if most is not None:
        without_images = bool(rule.get("max_length_skips_image_alt_tags"))
        return bool(alphanumerics(text, without_images=without_images) <= most)
    if not any(map(str.isalnum, text)):
        return False
    if len(text) > 50:
        w = min(200, len(text))
        k = min(5, max(1, len(text) // w))
        step = (len(text) - w) // max(1, k - 1)
        dull = sum(len(set(text[n * step : n * step + w])) < 3 for n in range(k))
        if dull > k // 2:
            return False
    return not (rule.get("check_disallowed_characters", True) and has_foreign_characters(text))
