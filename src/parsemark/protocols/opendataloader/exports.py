"""opendataloader-bench's files: `prediction/ENGINE/` with Markdown, `evaluation.json` and `.csv`."""

from __future__ import annotations

from parsemark.formats import markdown_of
from parsemark.model import Status
from parsemark.protocols.opendataloader.rules import MEASURES, OVERALL
from parsemark.protocols.result_files import BoardRun, Files, as_csv, as_json

_KEYS = ("document_id", "scores", "prediction_available")
_NAMES = ("overall", *MEASURES)


def result_files(board: BoardRun) -> Files:
    """The files of each engine; pages that upstream drops are not in its evaluation."""
    for parser in board.parsers:
        folder, values = f"prediction/{parser}", board.values(parser)
        documents: list[tuple[str, dict[str, float | None], bool]] = []
        missing = 0
        for sample, document, _ in board.pages():
            prediction = board.prediction(sample, parser)
            is_there = prediction.status is not Status.NO_PREDICTION
            missing += not is_there
            if is_there:
                yield f"{folder}/markdown/{document}.md", markdown_of(prediction)
            scores = {name: values.get(sample, {}).get(name) for name in _NAMES}
            if any(value is not None for value in scores.values()):
                documents.append((document, scores, is_there))
        figures = board.figures(parser)
        counts = {
            f"{name}_count": sum(scores[name] is not None for _, scores, _ in documents) for name in OVERALL
        }
        means = {f"{name}_mean": figures.get(name) for name in _NAMES}
        metrics = {"score": means, **counts, "missing_predictions": missing}
        summary = {"engine_name": parser, "document_count": len(documents)}
        listed = [dict(zip(_KEYS, document, strict=True)) for document in documents]
        evaluation = {"summary": summary, "metrics": metrics, "documents": listed}
        yield f"{folder}/evaluation.json", as_json(evaluation)
        rows = [[f"'{document}", *scores.values()] for document, scores, _ in documents]
        yield f"{folder}/evaluation.csv", as_csv([["document_id", *_NAMES], *rows])
