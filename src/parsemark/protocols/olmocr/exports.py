"""olmOCR-bench's files: a candidate's folder that its own program scores, failed tests, and the numbers."""

from __future__ import annotations

from parsemark.formats import markdown_of
from parsemark.protocols.result_files import BoardRun, Files, as_json, as_lines


def result_files(board: BoardRun) -> Files:
    """Candidates' pages, `failed-PARSER.jsonl` and `results.json`."""
    for parser in board.parsers:
        tests = {}
        for sample, document, number in board.pages():
            yield f"{parser}/{document}_pg{number}_repeat1.md", markdown_of(board.prediction(sample, parser))
            truth = board.run.truth(sample)
            for fact in truth.facts if truth else ():
                place = {"pdf": f"{document}.pdf", "page": fact.page, "id": fact.id.partition("/")[2]}
                tests[sample, fact.id] = {**place, "type": fact.kind, **fact.arguments}
        failed = (tests[row["sample"], row["element"]] for row in board.facts(parser) if row["value"] != 1)
        yield f"failed-{parser}.jsonl", as_lines(failed)
    intervals = board.summary.details.get("board_interval", {})
    numbers = {p: {**board.figures(p), "board_interval": intervals.get(p)} for p in board.parsers}
    yield "results.json", as_json(numbers)
