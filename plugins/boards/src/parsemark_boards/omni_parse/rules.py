"""Omni Parse Bench's tests: whether an output passes one.

The rules are those of omni-parse-bench (Datalab, Apache-2.0), which the tests compare with.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rapidfuzz.fuzz import partial_ratio, ratio

from parsemark.model import Box
from parsemark.protocols.facts import Outcome, TooHardError
from parsemark_boards.near_search import near
from parsemark_boards.omni_parse.equations import NotRenderedError, Renderer, equation_appears
from parsemark_boards.omni_parse.tables import cell_stands
from parsemark_boards.omni_parse.text import fold, seen_text, squeeze
from parsemark_boards.omni_parse.truth import ReadNumber, read_number

_AS_TEXT = frozenset(("text", "list", "form"))
_ROUNDING = 1e-9
_LEAST_COVER = 0.5
MAX_MARKS = 500_000_000  # opening marks times characters of an output; each may be looked for to the end
_MARKS = ("<math", "$$", "\\[", "\\(", "<!--", "<script", "<style", "<head", "<title", "<input", "![", "[^")


class PlacedBlock(NamedTuple):
    """A block of an output: its label, and its box in fractions of the page."""

    label: str
    box: Box
    text: str = ""


# --- deciding -----------------------------------------------------------------------------------------------


def check(
    kind: str,
    arguments: Mapping[str, Any],
    page: str,
    blocks: Sequence[PlacedBlock] | None,
    render: Renderer,
    *,
    by_slots: bool = True,
) -> Outcome:
    """Return whether an output passes a test; None where it cannot be decided, or raise TooHardError where it
    takes too long.

    `page` is the output as HTML; `blocks` is None where the parser gives no places. `by_slots`: where a later
    cell of a table cuts a span short, its neighbours are those of what is left (since 1.0.0).
    """
    args, settings = arguments["args"], arguments.get("settings", {})
    if kind == "layout_kind":
        return _layout(args["content"]["place"], settings["kind"], blocks)
    if sum(page.count(mark) for mark in _MARKS) * len(page) > MAX_MARKS:
        raise TooHardError("the output has too many unclosed marks")
    if kind == "present":
        return _present(args["content"], page, render)
    if kind == "order":
        return _order(args["before"], args["after"], page)
    if kind == "repeat":
        return _repeat(args["content"]["text"], settings["expected_count"], page)
    texts: dict[str, Any] = {
        role: [a["text"] for a in value] if isinstance(value, list) else value["text"]
        for role, value in args.items()
    }
    return Outcome(*cell_stands({**texts, "max_diffs": args["cell"]["max_diffs"]}, page, by_slots=by_slots))


def _present(content: Mapping[str, Any], page: str, render: Renderer) -> Outcome:
    if "number" in content:
        return _number(content["number"], page)
    if "latex" in content:
        return _formula(content["latex"], page, render)
    passed = _contains(content["text"], seen_text(page), content["max_diffs"])
    return Outcome(passed, "" if passed else f"{content['text'][:60]!r} is not found")


def _contains(needle: str, text: str, max_diffs: int) -> bool:
    return any(_is_in(form(needle), form(text), max_diffs) for form in (fold, squeeze))


def _is_in(needle: str, text: str, max_diffs: int) -> bool:
    if not needle:
        return False
    if needle in text:
        return True
    likeness = partial_ratio(needle, text) if len(text) >= len(needle) else ratio(needle, text)
    return bool(likeness / 100.0 >= 1.0 - max_diffs / len(needle) - _ROUNDING)


def _order(before: Mapping[str, Any], after: Mapping[str, Any], page: str) -> Outcome:
    for form in (fold, squeeze):
        text = form(seen_text(page))
        a, b = (near(form(side["text"]), text, side["max_diffs"]) for side in (before, after))
        if a and b:
            break
    if not a or not b:
        return Outcome(False, f"{(before if not a else after)['text'][:60]!r} is not found")
    passed = min(start for start, *_ in a) < max(start for start, *_ in b)
    return Outcome(passed, "" if passed else "they are in the opposite order")


def _repeat(text: str, expected: int, page: str) -> Outcome:
    characters = [c for c in fold(text) if not c.isspace()]
    pattern = r"(?<![^\W_])" + r"\s*".join(map(re.escape, characters)) + r"(?![^\W_])"
    n = len(re.findall(pattern, fold(seen_text(page, alt=False))))
    return Outcome(n == expected, f"it appears {n} times")


def _layout(place: Sequence[Sequence[float]], kind: str, blocks: Sequence[PlacedBlock] | None) -> Outcome:
    if blocks is None:
        return Outcome(None, "the parser gives no blocks with places")
    boxes = [Box(*corners) for corners in place]
    total = sum(box.area for box in boxes)
    covered = [(sum(box.intersection_area(own.box) for box in boxes), own) for own in blocks]
    held = [own for area, own in covered if area / total >= _LEAST_COVER]
    if not held:
        return Outcome(False, "no block covers half of its place")
    block = min(held, key=lambda own: own.box.area)
    passed = block.label in _AS_TEXT if kind == "text" else block.label == kind
    return Outcome(passed, f"its block is a {block.label}")


# --- formulas -----------------------------------------------------------------------------------------------

_PLAIN_NAMES = """
alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi pi varpi
rho varrho sigma varsigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma
Upsilon Phi Psi Omega
pm mp times cdot div ast star circ bullet le leq ge geq neq ne approx sim simeq equiv propto ll gg
in notin subset subseteq supset supseteq cup cap infty partial nabla prime degree ldots cdots dots
to rightarrow leftarrow leftrightarrow Rightarrow Leftarrow mid
left right big Big bigl bigr Bigl Bigr quad qquad mathrm text textrm operatorname
"""
_PLAIN_COMMANDS = frozenset(_PLAIN_NAMES.split())


def _formula(latex: str, page: str, render: Renderer) -> Outcome:
    passed: bool | None = None
    try:
        passed, why = equation_appears(latex, page, render)
    except NotRenderedError as error:
        why = str(error)
    if not passed and _is_plain(latex) and _contains(f"${latex}$", seen_text(page), 0):
        return Outcome(True)
    return Outcome(passed, why)


def _is_plain(latex: str) -> bool:
    """Return whether plain text can write an equation without loss."""
    if any(command not in _PLAIN_COMMANDS for command in re.findall(r"\\([A-Za-z]+)", latex)):
        return False
    if re.search(r"[\^_]\{[^{}]*[\\{^_]", latex):
        return False
    return bool(re.search(r"[\\^_=<>+±×·−]", latex)) and len(squeeze(f"${latex}$")) >= 2


# --- numbers ------------------------------------------------------------------------------------------------

_DASHES = str.maketrans({"\u00a0": " ", "\u202f": " ", "−": "-", "–": "-", "—": "-"})


def _number(text: str, page: str) -> Outcome:
    wanted = read_number(text)
    if wanted is None:
        return Outcome(None, f"{text!r} is not one number")
    found = list(_number_pattern(wanted).finditer(fold(seen_text(page)).translate(_DASHES)))
    signs = [((own["pre"] or "").strip() == "-", own["pct"]) for own in found]
    if any(minus == wanted.negative and (percent or not wanted.percent) for minus, percent in signs):
        return Outcome(True)
    return Outcome(False, "its sign or percent differs" if found else "it is not found digit for digit")


def _number_pattern(number: ReadNumber) -> re.Pattern[str]:
    whole, _, decimals = number.digits.partition(".")
    groups = [whole[max(0, i - 3) : i] for i in range(len(whole), 0, -3)][::-1]
    digits = r"[,\.\u202f ]?".join(map(re.escape, groups))
    if number.written != number.digits:
        digits = f"(?:{digits}|{re.escape(number.written)})"
    tail = "[.,]" + re.escape(decimals) if decimals else r"(?![.,]\d)"
    return re.compile(
        r"(?<!\d)(?<!\d[.,])(?P<pre>(?<!\w)-(?=[\d$€£¥])|\(\s?)?(?:[$€£¥]\s?)?"
        + digits
        + tail
        + r"(?P<pct>\s?%)?\)?(?![\d])"
    )
