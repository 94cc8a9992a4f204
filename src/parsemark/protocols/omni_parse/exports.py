"""Omni Parse Bench's files: predictions that `opb grade` reads, a line for each test, and the summary."""

from __future__ import annotations

from parsemark.protocols.omni_parse.outputs import blocks_of_output, html_of_output
from parsemark.protocols.result_files import BoardRun, Files, as_json, as_lines

_RESULTS = {1.0: "pass", 0.0: "fail"}
_OTHERS = {"no_truth": "unsupported", "metric_failed": "error"}


def result_files(board: BoardRun) -> Files:
    """`PARSER/predictions/PAGE.json`, `scores.jsonl` and `summary.json`."""
    for parser in board.parsers:
        for sample, *_ in board.pages():
            truth, prediction = board.run.truth(sample), board.prediction(sample, parser)
            blocks = blocks_of_output(prediction, truth) if truth else None
            listed = [{"label": b.label, "bbox": list(b.box), "text": b.text} for b in blocks or ()]
            outputs = {"html": html_of_output(prediction), **({"blocks": listed} if blocks else {})}
            yield f"{parser}/predictions/{sample}.json", as_json({"outputs": outputs})
        rows = (
            {
                "id": row["element"],
                "page_id": row["sample"],
                "result": _RESULTS.get(row["value"], _OTHERS.get(row["status"], "fail")),
                "why": row["message"] or "",
            }
            for row in board.facts(parser)
        )
        yield f"{parser}/scores.jsonl", as_lines(rows)
        yield f"{parser}/summary.json", as_json(board.figures(parser))
