"""The recipe: its options and figures."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from parsemark.model import Page, Prediction
from parsemark.protocols.figures import FigureInfo
from parsemark.protocols.measured import MeasuredProtocol, own_truth, score_info
from parsemark.protocols.presentation import Presentation
from parsemark.protocols.result_files import BoardRun, Files, as_json

MARKDOWN, JSON = "trueMarkdownOutput", "trueJsonOutput"
"""Where a page keeps its truth, named as in the board's files."""


@dataclass(frozen=True)
class GetomniProtocol(MeasuredProtocol):
    """Text similarity, and accuracy of JSON where a page has true JSON and an output is JSON.

    Args:
        ignore_cases: Compare values of objects in upper case; not so in the published runs.
        empty_left_out: An empty answer is left out of the mean of JSON accuracy, as upstream has it.
    """

    name: ClassVar[str] = "getomni"
    title: ClassVar[str] = "getomni's benchmark: text similarity and JSON accuracy"
    comparability: ClassVar[int] = 1
    infos: ClassVar[tuple[FigureInfo, ...]] = (
        score_info("text_similarity", "Text", "1 − Levenshtein distance over the longer length.", main=True),
        score_info("json_accuracy", "JSON", "Changed fields over true ones.", "pages with JSON", main=True),
    )

    ignore_cases: bool = False
    empty_left_out: bool = True

    def presentation(self) -> Presentation:
        """Write the board's file."""
        return Presentation(result_files=result_files)

    def measure(self, truth: Page, prediction: Prediction) -> Mapping[str, float | None] | None:
        """The two numbers of a page; where upstream has NaN its dashboard counts 0."""
        from parsemark.formats import markdown_of, write_document
        from parsemark.protocols.getomni.rules import json_accuracy, text_similarity

        text = markdown_of(prediction)
        wanted = own_truth(truth, MARKDOWN)
        similarity = text_similarity(write_document(truth) if wanted is None else str(wanted), text)
        values: dict[str, float | None] = {"text_similarity": 0.0 if math.isnan(similarity) else similarity}
        if truth.annotation is not None and JSON in truth.annotation:
            try:
                answer = json.loads(text)
            except (ValueError, RecursionError):
                values["json_accuracy"] = None if self.empty_left_out and not text.strip() else 0.0
            else:
                score = json_accuracy(truth.annotation[JSON], answer, ignore_cases=self.ignore_cases).score
                values["json_accuracy"] = 0.0 if math.isnan(score) else score
        return values


def result_files(board: BoardRun) -> Files:
    """`results.json`: an entry for each document and model."""
    from parsemark.formats import markdown_of

    entries = []
    for parser in board.parsers:
        values = board.values(parser)
        for sample, document, _ in board.pages():
            own = values.get(sample, {})
            entries.append(
                {
                    "fileUrl": document,
                    "ocrModel": parser,
                    "predictedMarkdown": markdown_of(board.prediction(sample, parser)),
                    "levenshteinDistance": own.get("text_similarity"),
                    "jsonAccuracy": own.get("json_accuracy"),
                }
            )
    yield "results.json", as_json(entries)
