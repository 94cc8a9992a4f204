"""The recipe: what a page is worth by docling-eval's evaluators, and its evaluations as files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from parsemark.model import Page, Prediction
from parsemark.protocols.boards.docling_eval.items import (
    Doc,
    complete,
    document_of,
    markdown,
    table_html,
    walk,
)
from parsemark.protocols.boards.docling_eval.measures import (
    TEXT,
    common_labels,
    layout_evaluation,
    pixel_matrix,
    pixel_pages,
    pixel_scores,
    statistics_of,
    structure_distance,
    table_teds,
    text_scores,
)
from parsemark.protocols.boards.measured_protocol import MeasuredProtocol, Measures
from parsemark.protocols.page_elements import in_order, predicted_elements
from parsemark.protocols.result_files import BoardRun, Files, as_json

_TABLES = "tables of documents with as many tables"
_NOTHING = dict.fromkeys(TEXT, 0.0) | {"edit_distance": 1.0}


@dataclass(frozen=True)
class DoclingEvalProtocol(MeasuredProtocol):
    """Text, tables, pixels and structure of pages, as docling-eval computes them.

    Args:
        mismatch_left_out: A page with another number of tables than the truth has no TEDS, as upstream has
            it; else tables are paired as they come, and those without a partner are worth nothing.
        empty_left_out: A page without text is in no mean of text, as upstream has it; else worth nothing.
        struct_with_content: TEDS of structure is the mean of the structure's and the content's values, as
            upstream has it; else of the structure's alone.
    """

    name: ClassVar[str] = "docling-eval"
    title: ClassVar[str] = "docling-eval: text, tables, layout and structure"
    comparability: ClassVar[int] = 1
    needs_only_pages: ClassVar[bool] = True
    figures_by_kind: ClassVar[Mapping[str, str]] = {"text": "f1_score", "tables": "teds"}
    table_matching: ClassVar[str] = "order"

    mismatch_left_out: bool = True
    empty_left_out: bool = True
    struct_with_content: bool = True

    def preload(self) -> None:
        """Find the data of words and synonyms, or say that they are missing, before anything is scored."""
        text_scores("one word", "no words")

    def measure(self, truth: Page, prediction: Prediction) -> Measures | None:
        """The numbers of a page."""
        wanted, found = _documents(truth, prediction)
        a, b = markdown(wanted["items"]), markdown(found["items"])
        try:
            text = text_scores(a, b) if a and b else {}
        except ZeroDivisionError:
            text = {}
        if not text and a and not self.empty_left_out:
            text = _NOTHING
        teds = self._teds(_tables(wanted), _tables(found))
        first = 0 if self.struct_with_content else 1
        pixels = [pixel_scores(pixel_matrix(wanted, found, page)) for page in pixel_pages(wanted)]
        return {
            **text,
            "teds": None if teds is None else [content for content, _ in teds],
            "teds_struct": None if teds is None else [v for pair in teds for v in pair[first:]],
            "pixel_f1": pixels[0]["f1_mean"] if pixels else None,
            "pixel_f1_collapsed": pixels[0]["collapsed_f1_mean"] if pixels else None,
            "structure": structure_distance(wanted["items"], found["items"]),
        }

    def _teds(self, truth: Sequence[str], pred: Sequence[str]) -> list[tuple[float, float]] | None:
        if not truth or (len(truth) != len(pred) and self.mismatch_left_out):
            return None
        both = [
            (table_teds(a, b), table_teds(a, b, structure_only=True))
            for a, b in zip(truth, [*pred, *[""] * len(truth)], strict=False)
        ]
        if self.mismatch_left_out:
            return [(round(a, 3), round(b, 3)) for a, b in both if a is not None and b is not None] or None
        return [(round(a or 0.0, 3), round(b or 0.0, 3)) for a, b in both]

    def result_files(self, board: BoardRun) -> Files:
        """`PARSER/evaluations/MODALITY/…` for text, tables and layout, the last over the run as a whole."""
        for parser in board.parsers:
            docs = []
            for sample, *_ in board.pages():
                truth = board.run.truth(sample)
                if truth is not None:
                    docs.append((sample, *_documents(truth, board.prediction(sample, parser))))
            labels = common_labels([truth for _, truth, _ in docs], [pred for *_, pred in docs])
            try:
                layout: dict[str, Any] = layout_evaluation(docs, labels)
            except TypeError as error:
                layout = {"error": str(error)}
            values = board.scores.filter(board.scores["parser"] == parser)

            def listed(name: str, values: Any = values) -> dict[str, Any]:
                own = values.filter(values["metric"] == name)["value"].drop_nulls()
                return statistics_of(own.to_list())

            parts = {
                "layout": layout,
                "markdown_text": {f"{name}_stats": listed(name) for name in TEXT},
                "table_structure": {"TEDS": listed("teds"), "TEDS_struct": listed("teds_struct")},
                "document_structure": {"edit_distance_stats": listed("structure")},
            }
            for modality, part in parts.items():
                path = f"{parser}/evaluations/{modality}/evaluation_parsemark_{modality}.json"
                yield path, as_json(part)


def _documents(truth: Page, prediction: Prediction) -> tuple[Doc, Doc]:
    return document_of(truth, in_order(truth)), document_of(truth, predicted_elements(prediction))


def _tables(doc: Doc) -> list[str]:
    """The tables as HTML; the board's own of an element that is given as HTML alone is that."""
    tables = (item for item in walk(complete(doc["items"])) if item["label"] == "table")
    return [table_html(i["table"]) if "table" in i else str(i.get("html") or "") for i in tables]
