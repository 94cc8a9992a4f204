"""The recipe: its options and figures, and the board's files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from parsemark.metrics.katex import render_all
from parsemark.model import Fact, Page, Prediction
from parsemark.protocols.boards.omni_parse.equations import MathStyle, Renderer, math_spans
from parsemark.protocols.boards.omni_parse.outputs import blocks_of_output, html_of_output
from parsemark.protocols.boards.omni_parse.rules import FAMILIES, RULES, check, check_test
from parsemark.protocols.facts.protocol import Decide, FactsProtocol, Outcome
from parsemark.protocols.result_files import BoardRun, Files, as_json, as_lines

_RESULTS = {1.0: "pass", 0.0: "fail"}
_OTHERS = {"no_truth": "unsupported", "metric_failed": "error"}


@dataclass(frozen=True)
class OmniParseProtocol(FactsProtocol):
    """Every test of Omni Parse Bench is passed or not; the headline is the mean of the families' shares.

    Args:
        unsupported_left_out: Tests of layout do not count for a parser that gives no places of blocks, and it
            has no headline then, as upstream has it; else they are not passed.
    """

    name: ClassVar[str] = "omni-parse"
    title: ClassVar[str] = "Omni Parse Bench: yes/no tests on pages"
    comparability: ClassVar[int] = 1
    rules: ClassVar[str] = RULES
    is_complete: ClassVar[bool] = True
    group_word: ClassVar[str] = "family"
    crashed: ClassVar[bool | None] = None

    unsupported_left_out: bool = True

    def group_of(self, fact: Fact) -> str:
        """The family of its kind."""
        return FAMILIES[fact.kind]

    def deciding(self, facts: Sequence[Fact], truth: Page, prediction: Prediction) -> Decide:
        """Read the output as HTML and render its formulas together, then decide the facts one by one."""
        html, blocks = html_of_output(prediction), blocks_of_output(prediction, truth)
        render = _renderer(facts, html)

        def decide(fact: Fact) -> Outcome:
            check_test(fact.kind, fact.arguments.get("args"), fact.arguments.get("settings", {}))
            outcome = check(fact.kind, fact.arguments, html, blocks, render)
            if fact.kind != "layout_kind" or outcome.passed is not None:
                return outcome
            is_left_out = self.unsupported_left_out
            return Outcome(None if is_left_out else False, outcome.why, counts=not is_left_out)

        return decide

    def result_files(self, board: BoardRun) -> Files:
        """`PARSER/predictions/PAGE.json`, which `opb grade` reads, `scores.jsonl` and `summary.json`."""
        for parser in board.parsers:
            for sample, *_ in board.pages():
                truth, prediction = board.run.truth(sample), board.prediction(sample, parser)
                blocks = blocks_of_output(prediction, truth) if truth else None
                listed = [
                    {"label": b.label, "bbox": list(b.box.as_tuple()), "text": b.text} for b in blocks or ()
                ]
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


def _renderer(facts: Sequence[Fact], html: str) -> Renderer:
    contents = [fact.arguments.get("args", {}).get("content", {}) for fact in facts if fact.kind == "present"]
    truths = [c["latex"] for c in contents if isinstance(c, dict) and isinstance(c.get("latex"), str)]
    wanted: dict[MathStyle, dict[str, None]] = {"block": dict.fromkeys(truths), "inline": {}}
    for tex, is_display in math_spans(html) if truths else ():
        if not tex.startswith("<math>"):
            wanted["block" if is_display else "inline"][tex] = None
    found = {style: render_all(style, formulas) for style, formulas in wanted.items()}
    return lambda style, tex: found[style].get(tex)
