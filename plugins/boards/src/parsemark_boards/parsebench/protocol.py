"""The recipe: what decides which rule, the five dimensions of a document, and the benchmark's files."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, ClassVar, Literal

from parsemark.errors import CorpusError, FormatError
from parsemark.formats import markdown_of
from parsemark.model import Category, Fact, Page, Prediction
from parsemark.protocols import BoardRun, FigureSums, Files, RunTables, as_json, html_of, text_of
from parsemark_boards.labels import label_of
from parsemark_boards.measured_protocol import MeasuredProtocol, Measures, own_truth
from parsemark_boards.parsebench import charts, content, diagrams, forms, furniture, outline, styling
from parsemark_boards.parsebench.content import AskedMarkdown, NotApplicableError, Rule, WrongRuleError
from parsemark_boards.parsebench.grids import with_table_lines
from parsemark_boards.parsebench.layout import layout_metrics
from parsemark_boards.parsebench.tables import table_metrics
from parsemark_boards.parsebench.text import SEPTEMBER, VERSIONS, check_markdown, is_september, rules_of
from parsemark_boards.parsebench.truth import CASES, LAYOUT, RULES, LayoutRule, TrueCase
from parsemark_boards.truth_model import read_truth

_METRICS = {
    "chart": ("charts", "rule_pass_rate"),
    "text_content": ("content_faithfulness", "content_faithfulness"),
    "text_formatting": ("semantic_formatting", "semantic_formatting"),
}
_GROUNDING = {
    "grounding": "layout_element_rule_pass_rate",
    "grounding_map": "mAP@[.50:.95]",
    "grounding_order": "layout_reading_order_pass_rate",
    "grounding_lap": "lap",
    "grounding_lar": "lar",
    "grounding_af1": "af1",
}
"""Our figures of grounding and the benchmark's names of them; the first is a dimension."""
Decided = bool | tuple[bool, float]


def _counts_equal(rule: Rule, _: str) -> bool:
    rows = rule["type"].removeprefix("tables_num_")
    expected = rule.get(f"expected_num_{rows}")
    return expected is not None and bool(expected == rule.get(f"actual_num_{rows}"))


_STYLE = re.compile(f"is_(not_)?({'|'.join(styling.STYLES)})")
_BAG = re.compile(r"(missing|unexpected|too_many)_(word|sentence)(_occurence)?(_percent)?")


def decide(rule: Rule, asked: AskedMarkdown) -> Decided:
    """Decide one rule; WrongRuleError where that cannot be, KeyError for an unknown kind."""
    kind, md = str(rule["type"]), asked.markdown
    if kind.startswith(("is_", "mark_", "text_color")):
        styling.check_marks(md)
    if style := _STYLE.fullmatch(kind):
        return styling.has_style(style[2], rule, md) == (not style[1])
    if is_september() and kind in _SEPTEMBER:
        return _SEPTEMBER[kind](rule, check_markdown(md))
    if decide_cells := _cell_rule(kind):
        return decide_cells(rule, kind.removeprefix("table_"), charts.asked_grids(rule, md))
    if kind in BESIDE_MARKDOWN:
        raise WrongRuleError("no figure needs what it asks for")
    if kind in _OF_MARKDOWN:
        return _OF_MARKDOWN[kind](rule, md)
    decide_content = content.decide_bag if _BAG.fullmatch(kind) else _OF_CONTENT[kind]
    check_markdown(md)
    return decide_content(rule, asked)


def _cell_rule(kind: str) -> Callable[..., bool] | None:
    rules = charts.CELL_RULES.items()
    return next((rule for pattern, rule in rules if re.fullmatch(f"table_(?:{pattern})", kind)), None)


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


_SEPTEMBER: Mapping[str, Callable[[Rule, str], Decided]] = {
    "text_color": styling.has_text_color,
    "present_as_strikeout": styling.is_struck,
    "absent_unless_strikeout": styling.is_not_plain,
    "is_not_latex": styling.has_no_formula,
    "heading_structure": outline.heading_score,
    "list_level": outline.has_list_level,
    "table_marker_cells": charts.decide_markers,
    "watermark_removal": furniture.decide_watermark,
    "page_decoration": furniture.decide_decoration,
    "diagram_graph": diagrams.decide_graph,
    "diagram_edge": diagrams.decide_edge,
    "diagram_count": diagrams.decide_count,
}
"""Kinds that there are since September 2026; the older rules fail them."""

KINDS = (
    *_OF_CONTENT,
    *_SEPTEMBER,
    *BESIDE_MARKDOWN,
    *_OF_MARKDOWN,
    *(f"is_{style}, is_not_{style}" for style in styling.STYLES),
    *("missing_…, unexpected_…, too_many_word…, …_sentence…", "table_…"),
)
"""In words, for messages."""


def is_known(kind: str) -> bool:
    """Return whether there is such a kind of rule."""
    named = any(kind in kinds for kinds in (_OF_CONTENT, BESIDE_MARKDOWN, _OF_MARKDOWN, _SEPTEMBER))
    return named or bool(_STYLE.fullmatch(kind) or _BAG.fullmatch(kind) or _cell_rule(kind))


def run_rule(rule: Rule, asked: AskedMarkdown) -> dict[str, Any]:
    """Return the result of a rule. Its errors fail the rule, but TablesValuesError fails the whole document,
    as upstream.

    A rule that asks for nothing has no score.
    """
    if not asked.markdown:
        return {"passed": False, "score": 0.0}
    try:
        found = decide(rule, asked)
    except charts.TablesValuesError:
        raise
    except NotApplicableError as error:
        return {"not_applicable": True, "why": str(error)}
    except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError) as error:
        return {"passed": False, "score": 0.0, "error": True, "why": str(error)}
    passed, score = found if isinstance(found, tuple) else (bool(found), float(found))
    return {"passed": passed, "score": score}


# --- documents ----------------------------------------------------------------------------------------------

_BAGS = [
    f"{kind}_percent"
    for unit in ("word", "sentence")
    for kind in (f"missing_{unit}", f"unexpected_{unit}", f"too_many_{unit}_occurence")
]
_GROUPS: Mapping[str, Sequence[str]] = {
    "text_correctness": (*_BAGS, "extra_content", "bag_of_digit_percent"),
    "order": ("order",),
    "title_accuracy": ("is_title", "title_hierarchy_percent", "heading_structure"),
    "code_block": ("is_code_block",),
    "latex": ("is_latex", "is_not_latex"),
}
_STYLED = ("bold", "strikeout", "sup", "sub")
_FORMATTING = {"text_styling": 1.0, "title_accuracy": 1.0, "latex": 0.2, "code_block": 0.2}
_WEIGHTS = {
    "content_faithfulness": {"text_correctness": 1.0, "order": 0.5},
    "semantic_formatting": _FORMATTING,
    "text_score": {"text_correctness": 1.0, "order": 1.0, **_FORMATTING},
}


def group_scores(scores: Sequence[tuple[str, float]]) -> dict[str, float]:
    """Return the scores of a document from those of its rules (kind, score), each only where it has such
    rules.
    """
    by_kind: dict[str, list[float]] = {}
    for kind, score in scores:
        by_kind.setdefault(kind, []).append(score)
    means = {kind: fmean(own) for kind, own in by_kind.items()}
    of_groups = {name: [means[kind] for kind in kinds if kind in means] for name, kinds in _GROUPS.items()}
    groups = {name: fmean(own) for name, own in of_groups.items() if own}
    right, wrong = (
        [score for kind, score in scores if kind in {f"{start}{style}" for style in _STYLED}]
        for start in ("is_", "is_not_")
    )
    if is_september():
        right += [score for kind, score in scores if kind == "present_as_strikeout"]
    if right or wrong:
        p, n = fmean(right) if right else 1.0, fmean(wrong) if wrong else 1.0
        weighed = 0.25 * n + p if is_september() else 0.25 * p + n
        groups["text_styling"] = 1.25 * p * n / weighed if p + n else 0.0
    found = dict(groups)
    for name, parts in _WEIGHTS.items():
        present = {part: weight for part, weight in parts.items() if part in groups}
        if present:
            total = sum(weight * groups[part] for part, weight in present.items())
            found[name] = total / sum(present.values())
    return found


def document_scores(rules: Sequence[Rule], asked: AskedMarkdown) -> dict[str, float]:
    """Return the share of a document's rules that pass, and the scores of their groups.

    Rules that do not apply leave both.
    """
    found = [(str(rule["type"]), run_rule(rule, asked)) for rule in rules]
    scores = [(kind, own["score"]) for kind, own in found if "score" in own]
    rate = fmean(score for _, score in scores) if scores else 1.0
    return {"rule_pass_rate": rate, **group_scores(scores)}


# --- the recipe ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ParsebenchProtocol(MeasuredProtocol):
    """Tables, charts, content, formatting and grounding of documents, as ParseBench computes them.

    Args:
        version: The rules of 2026-08 (commit facdaf0) or of 2026-09 (package parse-bench 1.0.4).
        crashes_left_out: A document on which upstream's code fails (a colspan that is no number) leaves the
            mean of its dimension, as upstream has it; else it is worth nothing.
        no_boxes_left_out: A page without predicted boxes leaves the mean of grounding, as upstream has it;
            else it is worth nothing.
    """

    name: ClassVar[str] = "parsebench"
    title: ClassVar[str] = "ParseBench: tables, charts, content, formatting, grounding"
    upstream: ClassVar[str] = VERSIONS[SEPTEMBER]
    comparability: ClassVar[int] = 3
    needs_only_pages: ClassVar[bool] = False
    figures_by_kind: ClassVar[Mapping[str, str]] = {"text": "content_faithfulness", "tables": "tables"}
    table_matching: ClassVar[str] = "content"
    truth_models: ClassVar[Mapping[str, Any]] = {CASES: dict[str, TrueCase]}
    reads_facts: ClassVar[bool] = True
    rules: ClassVar[str] = RULES

    version: Literal["2026-08", "2026-09"] = "2026-09"
    crashes_left_out: bool = True
    no_boxes_left_out: bool = True

    @property
    def rules_version(self) -> str:
        """Commit or package of the version."""
        return VERSIONS[self.version]

    @classmethod
    def check_fact(cls, fact: Fact) -> None:
        """Raise CorpusError for a rule of an unknown kind, or one of layout without its place.

        Other rules that cannot be decided fail, as upstream has it.
        """
        if fact.kind == LAYOUT:
            read_truth(dict(fact.arguments), LayoutRule)
        elif not is_known(fact.kind):
            raise CorpusError(f"the kind {fact.kind[:40]!r} is none of {', '.join(KINDS)}, {LAYOUT}")

    def measure(self, truth: Page, prediction: Prediction) -> Measures | None:
        """Return the dimensions that a document has rules of."""
        with rules_of(self.version):
            return self._measures(truth, prediction)

    def _measures(self, truth: Page, prediction: Prediction) -> Measures | None:
        by_category: dict[str, list[Fact]] = {}
        for fact in truth.facts:
            if fact.rules == self.rules:
                by_category.setdefault(fact.group, []).append(fact)
        cases: Mapping[str, Any] = own_truth(truth, CASES) or {}
        markdown = markdown_of(prediction)
        values: dict[str, float | None] = {}
        crashed = None if self.crashes_left_out else 0.0
        for category, (name, metric) in _METRICS.items():
            asked = AskedMarkdown(markdown)
            if category in by_category:
                rules = [{"type": fact.kind, **fact.arguments} for fact in by_category[category]]
                try:
                    if category == "text_content" and is_september():
                        asked = AskedMarkdown(with_table_lines(markdown))
                    values[name] = document_scores(rules, asked).get(metric)
                except charts.TablesValuesError:
                    values[name] = crashed
                except FormatError:
                    values[name] = 0.0
        for case in cases.values():
            if case.get("expected_markdown"):
                try:
                    found = table_metrics(case["expected_markdown"], markdown, **case.get("flags", {}))
                    values["tables"] = found.get("grits_trm_composite")
                except FormatError:
                    values["tables"] = 0.0
                except ValueError:
                    values["tables"] = crashed
        if LAYOUT in by_category:
            values |= self._grounding(by_category[LAYOUT], truth, prediction)
        return values or None

    def _grounding(self, facts: list[Fact], truth: Page, prediction: Prediction) -> dict[str, float | None]:
        boxes = predicted_layout(prediction, int(facts[0].arguments.get("page") or 1))
        if not boxes:
            return dict.fromkeys(_GROUNDING, None if self.no_boxes_left_out else 0.0)
        rules = [dict(fact.arguments) for fact in facts]
        if not self.crashes_left_out:  # upstream fails where elements do not say where they stand
            for number, rule in enumerate(rules):
                rule["ro_index"] = number if rule.get("ro_index") is None else rule["ro_index"]
        ontology = str(rules[0].get("ontology") or "basic")
        try:
            found = layout_metrics(rules, boxes, ontology, truth.width, truth.height)
        except FormatError:
            return dict.fromkeys(_GROUNDING, 0.0)
        except ValueError:
            return dict.fromkeys(_GROUNDING)
        return {name: found.get(metric) for name, metric in _GROUNDING.items()}

    def figure_sums(self, tables: RunTables) -> list[FigureSums]:
        """Return the mean of the dimensions that a run has, and each."""
        own = super().figure_sums(tables)
        return [self.mean_of_means(own[: sum(info.main for info in self.infos)]), *own]

    def result_files(self, board: BoardRun) -> Files:
        """Return `PARSER/DOCUMENT.result.json`, which the benchmark's program evaluates, and the numbers."""
        for parser in board.parsers:
            for sample, document, _ in board.pages():
                request = {"example_id": document, "source_file_path": "", "product_type": "parse"}
                data = {
                    "request": request,
                    "pipeline_name": parser,
                    "product_type": "parse",
                    "raw_output": {},
                }
                output = {"task_type": "parse", "example_id": document, "pipeline_name": parser}
                output["markdown"] = markdown_of(board.prediction(sample, parser))
                yield f"{parser}/{document}.result.json", as_json({**data, "output": output})
        yield from super().result_files(board)


def predicted_layout(prediction: Prediction, page: int = 1) -> list[dict[str, Any]]:
    """Return the elements of an output that have boxes, in the benchmark's form, on the page that rules
    name.
    """
    found = []
    for number, element in enumerate(prediction.elements):
        if element.box is None:
            continue
        is_table = element.category == Category.TABLE
        text = {"type": "text", "text": text_of(element)}
        content = {"type": "table", "html": html_of(element)} if is_table else text
        found.append(
            {
                "bbox": list(element.box.as_tuple()),
                "label": label_of(element, __package__),
                "page": page,
                "content": content,
                "score": element.confidence if element.confidence is not None else 1.0,
                "provider_metadata": {"order_index": number},
            }
        )
    return found
