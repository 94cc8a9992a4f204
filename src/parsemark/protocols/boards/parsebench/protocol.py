"""The recipe: the five dimensions of a document and their mean, and the board's files."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from parsemark.errors import FormatError
from parsemark.formats import markdown_of
from parsemark.model import Category, Fact, Page, Prediction
from parsemark.protocols.board_truth import own_truth
from parsemark.protocols.boards.elements import board_label, text_of
from parsemark.protocols.boards.measured_protocol import MeasuredProtocol, Measures
from parsemark.protocols.boards.parsebench.charts import TablesValuesError
from parsemark.protocols.boards.parsebench.content import AskedMarkdown
from parsemark.protocols.boards.parsebench.layout import layout_metrics
from parsemark.protocols.boards.parsebench.rules import document_scores
from parsemark.protocols.boards.parsebench.tables import table_metrics
from parsemark.protocols.figures.figure import FigureSums
from parsemark.protocols.page_elements import html_of
from parsemark.protocols.result_files import BoardRun, Files, as_json
from parsemark.protocols.run_data.tables import RunTables

RULES = "parsebench"
CASES = "parsebench_cases"
"""Where a page keeps what its rows say beside rules: category to expected Markdown and flags."""
FLAGS = ("allow_splitting_ambiguous_merged_tables", "trm_unsupported", "max_top_title_rows")
_FORM = {"*": {"expected_markdown": None, "flags": dict.fromkeys(FLAGS)}}
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
"""Our figures of grounding and the board's names of them; the first is a dimension."""


@dataclass(frozen=True)
class ParsebenchProtocol(MeasuredProtocol):
    """Tables, charts, content, formatting and grounding of documents, as ParseBench computes them.

    Args:
        crashes_left_out: A document on which upstream's code fails (a colspan that is no number) leaves the
            mean of its dimension, as upstream has it; else it is worth nothing.
        no_boxes_left_out: A page without predicted boxes leaves the mean of grounding, as upstream has it;
            else it is worth nothing.
    """

    name: ClassVar[str] = "parsebench"
    title: ClassVar[str] = "ParseBench: tables, charts, content, formatting, grounding"
    comparability: ClassVar[int] = 2
    figures_by_kind: ClassVar[Mapping[str, str]] = {"text": "content_faithfulness", "tables": "tables"}
    table_matching: ClassVar[str] = "content"
    truth_keys: ClassVar[tuple[str, ...]] = (CASES,)
    reads_facts: ClassVar[bool] = True
    rules: ClassVar[str] = RULES

    crashes_left_out: bool = True
    no_boxes_left_out: bool = True

    def measure(self, truth: Page, prediction: Prediction) -> Measures | None:
        """The dimensions that a document has rules of."""
        by_category: dict[str, list[Fact]] = {}
        for fact in truth.facts:
            if fact.rules == self.rules:
                by_category.setdefault(fact.group, []).append(fact)
        cases: Mapping[str, Any] = own_truth(truth, CASES, dict, _FORM) or {}
        markdown = markdown_of(prediction)
        asked = AskedMarkdown(markdown)
        values: dict[str, float | None] = {}
        crashed = None if self.crashes_left_out else 0.0
        for category, (name, metric) in _METRICS.items():
            if category in by_category:
                rules = [{"type": fact.kind, **fact.arguments} for fact in by_category[category]]
                try:
                    values[name] = document_scores(rules, asked).get(metric)
                except TablesValuesError:
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
        if "layout" in by_category:
            values |= self._grounding(by_category["layout"], truth, prediction)
        return values or None

    def _grounding(self, facts: list[Fact], truth: Page, prediction: Prediction) -> dict[str, float | None]:
        boxes = predicted_layout(prediction)
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
        """The mean of the dimensions that a run has, and each."""
        own = super().figure_sums(tables)
        return [self.mean_of_means(own[: sum(info.main for info in self.infos)]), *own]

    def result_files(self, board: BoardRun) -> Files:
        """`PARSER/DOCUMENT.result.json`, which the board's program evaluates, and the numbers."""
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


def predicted_layout(prediction: Prediction) -> list[dict[str, Any]]:
    """The elements of an output that have boxes, in the board's form."""
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
                "label": board_label(RULES, element),
                "page": 1,
                "content": content,
                "score": element.confidence if element.confidence is not None else 1.0,
                "provider_metadata": {"order_index": number},
            }
        )
    return found
