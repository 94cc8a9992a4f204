"""Rules of what stands around a page's text since September 2026: watermarks, running heads, page numbers."""

import re
from collections.abc import Iterable, Mapping, Sequence

from rapidfuzz import fuzz

from parsemark.metrics import MAX_LINE_PAIRS, check_pairs
from parsemark_boards.parsebench.content import Rule, WrongRuleError
from parsemark_boards.parsebench.text import norm, partial

_TAGS = {
    slot: re.compile(rf"<{tag}>(.*?)</{tag}>", re.S | re.I)
    for slot, tag in (("header", "page_header"), ("footer", "page_footer"), ("page_number", "page_number"))
}
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
_PREFIX = re.compile(r"^(page|p\.?|pg\.?|seite|página|pagina)\s*")
_SUFFIX = re.compile(r"\s*(of|/|sur|de|von)\s*\d+\s*$")
Axis = tuple[bool, float]  # passed, score


# --- watermarks ---------------------------------------------------------------------------------------------


def decide_watermark(rule: Rule, markdown: str) -> tuple[bool, float]:
    """Return whether watermarks are gone while the text of the page is still there."""
    marks, kept = _texts(rule, "watermark_texts"), _texts(rule, "preserve_texts")
    allowed = rule.get("allowed_occurrences")
    if allowed is not None and (len(allowed) != len(marks) or min(allowed) < 0):
        raise WrongRuleError("allowed_occurrences needs one number ≥ 0 for each of watermark_texts")
    text = norm(markdown).casefold().strip()

    def likeness(query: str) -> float:
        query = norm(query).casefold().strip()
        return partial(query, text) if query and text else 0.0

    def count(query: str) -> int:
        query = norm(query).casefold().strip()
        return len(re.findall(re.escape(query).replace(r"\ ", r"\s+"), text)) if query and text else 0

    if allowed is None:
        gone = [likeness(mark) < rule.get("watermark_match_threshold", 0.8) for mark in marks]
    else:
        gone = [count(mark) <= most for mark, most in zip(marks, allowed or [0] * len(marks), strict=True)]
    there = [likeness(own) >= rule.get("preserve_match_threshold", 0.85) for own in kept]
    removed, preserved = sum(gone) / len(gone), sum(there) / len(there)
    passed = removed >= rule.get("removal_pass_threshold", 1.0)
    return passed and preserved >= rule.get("preservation_pass_threshold", 0.8), min(removed, preserved)


def _texts(rule: Rule, key: str) -> Sequence[str]:
    texts = rule.get(key)
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise WrongRuleError(f"{key} must be a list of texts")
    return texts


# --- running heads and page numbers -------------------------------------------------------------------------


def bare_furniture(text: str | None) -> str:
    """Return a running head as it is compared: without marks, in lower case."""
    plain = re.sub(r"[|•·–—\-_/\\,:;.()\[\]{}\"'`*#>]+", " ", norm(text or "").lower())
    return re.sub(r"\s+", " ", plain).strip()


def page_number(text: str | None) -> str | None:
    """Return the number of a page as it is compared; None for none."""
    if text is None:
        return None
    own = _SUFFIX.sub("", _PREFIX.sub("", norm(str(text)).strip().lower())).strip(" -–—|.·•")
    if not own:
        return None
    if found := re.fullmatch(r"0*(\d+)", own):
        return str(int(found[1][:1000]))
    if not re.match("^[ivxlcdm]+$", own) and (found := re.fullmatch(r"([a-z]{1,3})[\s\-–.]?0*(\d+)", own)):
        return f"{found[1]}-{int(found[2][:1000])}"
    return own


def _roman(text: str) -> int | None:
    if not re.match("^[ivxlcdm]+$", text):
        return None
    total = last = 0
    for sign in reversed(text.strip()):
        value = _ROMAN[sign]
        total += -value if value < last else value
        last = max(last, value)
    return total


def _same_number(a: str | None, b: str | None) -> bool:
    if a is None or b is None or a == b:
        return a == b
    return str(_roman(a)) == b or str(_roman(b)) == a


def tagged_slots(page: str) -> dict[str, str | None]:
    """Return what a page's Markdown tags as its head, foot and number."""
    found = {}
    for slot, tag in _TAGS.items():
        parts = map(str.strip, tag.findall(page))
        found[slot] = " | ".join(filter(None, parts)) or None
    return found


def decide_decoration(
    rule: Rule, markdown: str, slots: Mapping[str, str | None] | None = None
) -> tuple[bool, float]:
    """Return whether head, foot and number of a page are right, and no part of the text.

    Args:
        rule: The rule.
        markdown: The document; pages end with a form feed.
        slots: The page's `header`, `footer` and `page_number`; by default those that its Markdown tags.
    """
    page, number = markdown, rule.get("page")
    if isinstance(number, int) and "\f" in markdown and 1 <= number <= markdown.count("\f") + 1:
        page = markdown.split("\f")[number - 1]
    found = tagged_slots(page) if slots is None else slots
    numbers = [page_number(side) for side in (rule.get("page_number"), found["page_number"])]
    axes = [
        _text_axis(rule.get(slot), found[slot], rule.get("text_threshold", 85), {n for n in numbers if n})
        for slot in ("header", "footer")
    ]
    has_number = _same_number(*numbers)
    if not has_number and rule.get("page_number") and not found["page_number"] and numbers[0]:
        around = bare_furniture(" ".join(filter(None, (found["header"], found["footer"]))))
        has_number = re.search(rf"(?<!\w){re.escape(numbers[0])}(?!\w)", around) is not None
    axes.append((has_number, float(has_number)))
    if leaks := list(_leaks(rule, page)):
        axes.append((not any(leaks), round(1 - sum(leaks) / len(leaks), 4)))
    return all(passed for passed, _ in axes), round(sum(score for _, score in axes) / len(axes), 4)


def _text_axis(wanted: str | None, found: str | None, threshold: float, ignored: set[str]) -> Axis:
    words, others = (
        [w for w in bare_furniture(side).split() if w not in ignored] for side in (wanted, found)
    )
    if not words or not others:
        return not words and not others, float(not words and not others)
    check_pairs("words", len(words), len(others), MAX_LINE_PAIRS)
    free, hits = list(others), 0
    for word in words:
        best, at = max(((fuzz.ratio(word, own), -n) for n, own in enumerate(free)), default=(0.0, 0))
        if best >= 85:
            del free[-at]
            hits += 1
    recall, precision = hits / len(words), hits / len(others)
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    return recall * 100 >= threshold and precision * 100 >= threshold, round(f1, 4)


def _leaks(rule: Rule, page: str) -> Iterable[bool]:
    """Yield for each part of head, foot and number: is it in the text of the page."""
    for tag in _TAGS.values():
        page = tag.sub(" ", page)
    body = f" {bare_furniture(re.sub(r'</?page_(?:header|footer|number)>', ' ', page, flags=re.I))} "
    for slot in ("header", "footer"):
        for piece in re.split(r"\s*\|\s*", rule.get(slot) or ""):
            own = bare_furniture(piece)
            if rule.get(slot) and len(own) >= rule.get("leak_min_chars", 4):
                yield own in body
    if number := bare_furniture(rule.get("page_number_raw") or rule.get("page_number")):
        yield re.search(rf"(?<!\S){re.escape(number)}(?!\S)", body) is not None
