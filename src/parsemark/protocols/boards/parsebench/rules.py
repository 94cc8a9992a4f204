"""Running rules: which function decides which, what a document scores, and the groups of its scores."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean
from typing import Any

from parsemark.protocols.boards.parsebench import charts, content, forms, styling
from parsemark.protocols.boards.parsebench.content import AskedMarkdown, Rule, WrongRuleError


@dataclass(frozen=True)
class RuledOutput:
    """What a parser gives: its Markdown, and what its pages are where it says so."""

    markdown: str
    parsed: Mapping[str, Any] = field(default_factory=dict)
    raw: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def asked(self) -> AskedMarkdown:
        """The Markdown as the rules of content look at it."""
        return AskedMarkdown(self.markdown)

    @property
    def layout_pages(self) -> list[Mapping[str, Any]]:
        """What the parser says of its pages."""
        return list(self.parsed.get("layout_pages") or ())


Decided = bool | float | tuple[bool, float]


def _rotated(rule: Rule, output: RuledOutput) -> bool:
    if rule.get("value") is None:
        raise WrongRuleError("there is no angle")
    pages = output.layout_pages or list(output.raw.get("pages") or ())
    return bool(pages) and bool(pages[0].get("original_orientation_angle") == rule.get("value"))


def _counts_equal(rule: Rule) -> bool:
    rows = rule["type"].removeprefix("tables_num_")
    expected, found = rule.get(f"expected_num_{rows}"), rule.get(f"actual_num_{rows}")
    return expected is not None and found is not None and bool(expected == found)


def _share(value: float) -> tuple[bool, float]:
    return value >= 0.999, value


def decide(rule: Rule, output: RuledOutput) -> Decided:
    """Decide one rule.

    Raises:
        WrongRuleError: The rule cannot be decided.
        KeyError: There is no such kind of rule.
    """
    kind, md = str(rule["type"]), output.markdown
    if kind.startswith(("is_", "mark_")):
        styling.check_marks(md)
    if found := re.fullmatch(f"is_(not_)?({'|'.join(styling.STYLES)})", kind):
        return styling.has_style(found[2], rule, md) == (not found[1])
    if re.fullmatch(r"(missing|unexpected|too_many)_(word|sentence)(_occurence)?(_percent)?", kind):
        return content.decide_bag(rule, output.asked)
    if re.fullmatch(
        "table_(?:colspan|rowspan|same_.*|header_chain|adjacent_.*|top_header|left_header|no_.*)", kind
    ):
        return charts.decide_cells(rule, md)
    return _DECIDERS[kind](rule, output)


_DECIDERS: dict[str, Callable[[Rule, RuledOutput], Decided]] = {
    "extra_content": lambda rule, out: content.decide_extra(rule, out.asked),
    "missing_specific_word": lambda rule, out: content.decide_specific(rule, out.asked),
    "missing_specific_sentence": lambda rule, out: content.decide_specific(rule, out.asked),
    "bag_of_digit_percent": lambda rule, out: _share(content.decide_digits(rule, out.asked)),
    "order": lambda rule, out: content.decide_order(rule, out.asked),
    "present": lambda rule, out: content.decide_present(rule, out.asked),
    "absent": lambda rule, out: content.decide_present(rule, out.asked),
    "baseline": lambda rule, out: content.decide_baseline(rule, out.asked),
    "mark_color": lambda rule, out: styling.has_color(rule, out.markdown),
    "is_latex": lambda rule, out: styling.has_formula(rule, out.markdown),
    "is_code_block": lambda rule, out: styling.has_code(rule, out.markdown),
    "is_title": lambda rule, out: styling.is_title(rule, out.markdown),
    "title_hierarchy_percent": lambda rule, out: _share(styling.title_tree_share(rule, out.markdown)),
    "is_header": lambda rule, out: styling.in_running_head(rule, out.markdown, out.layout_pages),
    "is_footer": lambda rule, out: styling.in_running_head(rule, out.markdown, out.layout_pages),
    "rotate_check": _rotated,
    "form_field": lambda rule, out: forms.decide_field(rule, forms.form_text(rule, out.markdown, out.parsed)),
    "chart_data_point": lambda rule, out: charts.decide_point(rule, out.markdown),
    "chart_data_array_labels": lambda rule, out: charts.decide_array(rule, out.markdown),
    "chart_data_array_data": lambda rule, out: charts.decide_array(rule, out.markdown),
    "table": lambda rule, out: charts.decide_table(rule, out.markdown),
    "tables_values": lambda rule, out: charts.decide_values(rule, out.markdown),
    "tables_num_rows": lambda rule, _: _counts_equal(rule),
    "tables_num_cols": lambda rule, _: _counts_equal(rule),
}


KINDS = (
    *_DECIDERS,
    *(f"is_{style}, is_not_{style}" for style in styling.STYLES),
    *("missing_…, unexpected_…, too_many_word…, …_sentence…", "table_…"),
)
"""In words, for messages."""


def is_known(kind: str) -> bool:
    """Whether there is such a kind of rule."""
    try:
        decide({"type": kind}, RuledOutput("x"))
    except KeyError as error:
        return error.args != (kind,)
    except (WrongRuleError, ValueError, TypeError):
        return True
    return True


def run_rule(rule: Rule, output: RuledOutput) -> dict[str, Any]:
    """What came of a rule; an error of the rule, or on the output, fails it.

    Raises:
        TablesValuesError: As upstream has it, the whole document then fails.
    """
    if not output.markdown:
        return {"passed": False, "score": 0.0}
    try:
        found = decide(rule, output)
    except charts.TablesValuesError:
        raise
    except (WrongRuleError, ValueError, TypeError, KeyError, AttributeError) as error:
        return {"passed": False, "score": 0.0, "error": True, "why": str(error)}
    passed, score = found if isinstance(found, tuple) else (bool(found), float(found))
    return {"passed": passed, "score": score}


# --- documents ----------------------------------------------------------------------------------------------

_CORRECTNESS = (
    "missing_word_percent", "unexpected_word_percent", "too_many_word_occurence_percent",
    "missing_sentence_percent",
    "unexpected_sentence_percent", "too_many_sentence_occurence_percent", "extra_content",
    "bag_of_digit_percent",
)  # fmt: skip
_STYLED = ("bold", "strikeout", "sup", "sub")


def group_scores(scores: Sequence[tuple[str, float]]) -> dict[str, float]:
    """The scores of a document from those of its rules (kind, score), each only where it has such rules."""
    by_kind: dict[str, list[float]] = {}
    for kind, score in scores:
        by_kind.setdefault(kind, []).append(score)
    means = {kind: fmean(own) for kind, own in by_kind.items()}
    found: dict[str, float] = {}

    def of(name: str, kinds: Sequence[str]) -> None:
        if own := [means[kind] for kind in kinds if kind in means]:
            found[name] = fmean(own)

    of("text_correctness", _CORRECTNESS)
    of("order", ("order",))
    of("title_accuracy", ("is_title", "title_hierarchy_percent"))
    of("code_block", ("is_code_block",))
    of("latex", ("is_latex",))
    right, wrong = (
        [score for kind, score in scores if kind in {f"{start}{style}" for style in _STYLED}]
        for start in ("is_", "is_not_")
    )
    if right or wrong:
        p, n = fmean(right) if right else 1.0, fmean(wrong) if wrong else 1.0
        found["text_styling"] = 1.25 * p * n / (0.25 * p + n) if p + n else 0.0
    weights = {
        "content_faithfulness": {"text_correctness": 1.0, "order": 0.5},
        "semantic_formatting": {"text_styling": 1.0, "title_accuracy": 1.0, "latex": 0.2, "code_block": 0.2},
        "text_score": {
            "text_correctness": 1.0, "order": 1.0, "text_styling": 1.0, "title_accuracy": 1.0, "latex": 0.2,
            "code_block": 0.2,
        },
    }  # fmt: skip
    groups = dict(found)
    for name, parts in weights.items():
        present = {part: weight for part, weight in parts.items() if part in groups}
        if present:
            total = sum(weight * groups[part] for part, weight in present.items())
            found[name] = total / sum(present.values())
    return found


def document_metrics(rules: Sequence[Rule], output: RuledOutput) -> dict[str, Any]:
    """All metrics of a document's rules, under the names of the board's files."""
    results = [run_rule(rule, output) for rule in rules]
    scores = [(str(rule["type"]), own["score"]) for rule, own in zip(rules, results, strict=True)]
    metrics = {"rule_pass_rate": fmean(score for _, score in scores)}
    for kind in dict.fromkeys(kind for kind, _ in scores):
        metrics[f"rule_{kind}_pass_rate"] = fmean(score for own, score in scores if own == kind)
    for name, value in group_scores(scores).items():
        bare = name in ("content_faithfulness", "semantic_formatting")
        metrics[name if bare else f"normalized_{name}"] = value
    angles: dict[Any, list[float]] = {}
    for rule, own in zip(rules, results, strict=True):
        if rule["type"] == "rotate_check":
            angles.setdefault(rule.get("value"), []).append(own["score"])
    if angles:
        shares = {angle: fmean(own) for angle, own in angles.items()}
        metrics |= {f"rotate_check_{angle}_pass_rate": share for angle, share in shares.items()}
        weighted = 10 * shares.get(0, 0.0) + sum(shares.get(angle, 0.0) for angle in (90, 180, 270))
        metrics["normalized_rotate_check"] = weighted / 13
    return {"metrics": metrics, "results": results}
