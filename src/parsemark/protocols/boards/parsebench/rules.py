"""Running rules: which function decides which, what a document scores, and the groups of its scores."""

import re
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

from parsemark.protocols.boards.parsebench import charts, content, forms, styling
from parsemark.protocols.boards.parsebench.content import AskedMarkdown, Rule, WrongRuleError
from parsemark.protocols.boards.parsebench.text import check_markdown

Decided = bool | tuple[bool, float]


def _counts_equal(rule: Rule, _: str) -> bool:
    rows = rule["type"].removeprefix("tables_num_")
    expected, found = rule.get(f"expected_num_{rows}"), rule.get(f"actual_num_{rows}")
    return expected is not None and found is not None and bool(expected == found)


def decide(rule: Rule, asked: AskedMarkdown) -> Decided:
    """Decide one rule.

    Raises:
        WrongRuleError: The rule cannot be decided.
        KeyError: There is no such kind of rule.
    """
    kind, md = str(rule["type"]), asked.markdown
    if kind.startswith(("is_", "mark_")):
        styling.check_marks(md)
    if found := re.fullmatch(f"is_(not_)?({'|'.join(styling.STYLES)})", kind):
        return styling.has_style(found[2], rule, md) == (not found[1])
    if re.fullmatch(
        "table_(?:colspan|rowspan|same_.*|header_chain|adjacent_.*|top_header|left_header|no_.*)", kind
    ):
        return charts.decide_cells(rule, md)
    if kind in BESIDE_MARKDOWN:
        raise WrongRuleError("no figure needs what it asks for")
    if kind in _OF_MARKDOWN:
        return _OF_MARKDOWN[kind](rule, md)
    is_bag = re.fullmatch(r"(missing|unexpected|too_many)_(word|sentence)(_occurence)?(_percent)?", kind)
    decide_content = content.decide_bag if is_bag else _OF_CONTENT[kind]
    check_markdown(md)
    return decide_content(rule, asked)


BESIDE_MARKDOWN = ("rotate_check",)  # kinds that ask for what an output does not have: angles
_OF_CONTENT: Mapping[str, Callable[[Rule, AskedMarkdown], Decided]] = {
    "extra_content": content.decide_extra,
    "missing_specific_word": content.decide_specific,
    "missing_specific_sentence": content.decide_specific,
    "bag_of_digit_percent": content.decide_digits,
    "order": content.decide_order,
    "present": content.decide_present,
    "absent": content.decide_present,
    "baseline": content.decide_baseline,
}
_OF_MARKDOWN: Mapping[str, Callable[[Rule, str], Decided]] = {
    "mark_color": styling.has_color,
    "is_latex": styling.has_formula,
    "is_code_block": styling.has_code,
    "is_title": styling.is_title,
    "title_hierarchy_percent": styling.title_tree_share,
    "is_header": styling.in_running_head,
    "is_footer": styling.in_running_head,
    "form_field": forms.decide_field,
    "chart_data_point": charts.decide_point,
    "chart_data_array_labels": charts.decide_array,
    "chart_data_array_data": charts.decide_array,
    "table": charts.decide_table,
    "tables_values": charts.decide_values,
    "tables_num_rows": _counts_equal,
    "tables_num_cols": _counts_equal,
}


KINDS = (
    *_OF_CONTENT,
    *BESIDE_MARKDOWN,
    *_OF_MARKDOWN,
    *(f"is_{style}, is_not_{style}" for style in styling.STYLES),
    *("missing_…, unexpected_…, too_many_word…, …_sentence…", "table_…"),
)
"""In words, for messages."""


def is_known(kind: str) -> bool:
    """Whether there is such a kind of rule."""
    try:
        decide({"type": kind}, AskedMarkdown("x"))
    except KeyError as error:
        return error.args != (kind,)
    except (WrongRuleError, ValueError, TypeError):
        return True
    return True


def run_rule(rule: Rule, asked: AskedMarkdown) -> dict[str, Any]:
    """What came of a rule; an error of the rule, or on the output, fails it.

    Raises:
        TablesValuesError: As upstream has it, the whole document then fails.
    """
    if not asked.markdown:
        return {"passed": False, "score": 0.0}
    try:
        found = decide(rule, asked)
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


def document_scores(rules: Sequence[Rule], asked: AskedMarkdown) -> dict[str, float]:
    """The share of a document's rules that pass, and the scores of their groups."""
    scores = [(str(rule["type"]), run_rule(rule, asked)["score"]) for rule in rules]
    return {"rule_pass_rate": fmean(score for _, score in scores), **group_scores(scores)}
