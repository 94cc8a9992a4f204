"""The recipe: what a page is worth by docling-eval's evaluators, and its evaluations as files."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

from parsemark.model import Page, Prediction
from parsemark.protocols import BoardRun, Files, as_json, in_order, predicted_elements
from parsemark_boards.docling_eval import items, measures
from parsemark_boards.measured_protocol import MeasuredProtocol, Measures

_NOTHING = dict.fromkeys(measures.TEXT, 0.0) | {"edit_distance": 1.0}


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
    upstream: ClassVar[str] = "docling-eval 193df3b (May 2026)"
    comparability: ClassVar[int] = 1
    figures_by_kind: ClassVar[Mapping[str, str]] = {"text": "f1_score", "tables": "teds"}
    table_matching: ClassVar[str] = "order"

    mismatch_left_out: bool = True
    empty_left_out: bool = True
    struct_with_content: bool = True

    def preload(self) -> None:
        """Find the data of words and synonyms, or say that they are missing, before anything is scored."""
        measures.text_scores("one word", "no words")

    def measure(self, truth: Page, prediction: Prediction) -> Measures | None:
        """Return the numbers of a page."""
        wanted, found = _documents(truth, prediction)
        a, b = items.markdown(wanted["items"]), items.markdown(found["items"])
        text = _NOTHING if a and not self.empty_left_out else {}
        with suppress(ZeroDivisionError):
            text = measures.text_scores(a, b) if a and b else text
        teds = self._teds(_tables(wanted), _tables(found))
        first = 0 if self.struct_with_content else 1
        matrices = (measures.pixel_matrix(wanted, found, page) for page in measures.pixel_pages(wanted))
        pixels = next(map(measures.pixel_scores, matrices), {})
        return {
            **text,
            "teds": None if teds is None else [content for content, _ in teds],
            "teds_struct": None if teds is None else [v for pair in teds for v in pair[first:]],
            "pixel_f1": pixels.get("f1_mean"),
            "pixel_f1_collapsed": pixels.get("collapsed_f1_mean"),
            "structure": measures.structure_distance(wanted["items"], found["items"]),
        }

    def _teds(self, truth: Sequence[str], pred: Sequence[str]) -> list[tuple[float, float]] | None:
        if not truth or (len(truth) != len(pred) and self.mismatch_left_out):
            return None
        both = [
            [measures.table_teds(a, b, structure_only=only) for only in (False, True)]
            for a, b in zip(truth, [*pred, *[""] * len(truth)], strict=False)
        ]
        if self.mismatch_left_out:
            both = [pair for pair in both if None not in pair]
        return [(round(a or 0.0, 3), round(b or 0.0, 3)) for a, b in both] or None

    def result_files(self, board: BoardRun) -> Files:
        """Return `PARSER/evaluations/MODALITY/…` for text, tables and layout, the last over the run as a
        whole.
        """
        for parser in board.parsers:
            docs = [
                (sample, *_documents(truth, board.prediction(sample, parser)))
                for sample, *_ in board.pages()
                if (truth := board.run.truth(sample)) is not None
            ]
            labels = measures.common_labels([truth for _, truth, _ in docs], [pred for *_, pred in docs])
            try:
                layout: dict[str, Any] = measures.layout_evaluation(docs, labels)
            except TypeError as error:
                layout = {"error": str(error)}

            def listed(name: str, parser: str = parser) -> dict[str, Any]:
                own = board.scores.filter(parser=parser, metric=name)["value"].drop_nulls()
                return measures.statistics_of(own.to_list())

            parts = {
                "layout": layout,
                "markdown_text": {f"{name}_stats": listed(name) for name in measures.TEXT},
                "table_structure": {"TEDS": listed("teds"), "TEDS_struct": listed("teds_struct")},
                "document_structure": {"edit_distance_stats": listed("structure")},
            }
            for modality, part in parts.items():
                path = f"{parser}/evaluations/{modality}/evaluation_parsemark_{modality}.json"
                yield path, as_json(part)


def _documents(truth: Page, prediction: Prediction) -> tuple[items.Doc, items.Doc]:
    return items.document_of(truth, in_order(truth)), items.document_of(truth, predicted_elements(prediction))


def _tables(doc: items.Doc) -> list[str]:
    """Return the tables as HTML; the benchmark's own of an element that is given as HTML alone is that."""
    tables = (item for item in items.walk(items.complete(doc["items"])) if item["label"] == "table")
    return [items.table_html(i["table"]) if "table" in i else str(i.get("html") or "") for i in tables]
