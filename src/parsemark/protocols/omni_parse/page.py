"""The facts of one page by Omni Parse Bench's rules; its formulas are rendered together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from parsemark.errors import CorpusError
from parsemark.kernels.search import TooHardError
from parsemark.metrics.katex import Render, render_all
from parsemark.model import Fact, Page, Prediction, Status
from parsemark.protocols.facts.grid import TableTooLargeError
from parsemark.protocols.facts.scoring import Outcome, fact_rows
from parsemark.protocols.omni_parse.equations import math_spans
from parsemark.protocols.omni_parse.outputs import blocks_of_output, html_of_output
from parsemark.protocols.omni_parse.rules import FAMILIES, check, check_test
from parsemark.protocols.rows import PageScores

Style = Literal["block", "inline"]


def score_facts(
    facts: Sequence[Fact], truth: Page, prediction: Prediction, *, unsupported_left_out: bool
) -> PageScores:
    """Decide the facts of a page."""
    html = None if prediction.status is Status.METRIC_FAILED else html_of_output(prediction)
    blocks = blocks_of_output(prediction, truth)
    render = _renderer(facts, html or "")

    def decide(fact: Fact) -> Outcome:
        try:
            check_test(fact.kind, fact.arguments.get("args"), fact.arguments.get("settings", {}))
            outcome = check(fact.kind, fact.arguments, html, blocks, render)
        except CorpusError as error:
            return Outcome(None, f"the fact cannot be read: {error}")
        except IndexError as error:
            return Outcome(None, f"upstream's code fails here: {error}")
        except (TooHardError, TableTooLargeError) as error:
            return Outcome(None, str(error))
        is_unsupported = fact.kind == "layout_kind" and outcome.passed is None
        if not is_unsupported:
            return outcome
        return (
            Outcome(None, outcome.why, counts=False) if unsupported_left_out else Outcome(False, outcome.why)
        )

    return fact_rows(prediction, facts, lambda fact: FAMILIES[fact.kind], decide)


class _Renders:
    """What formulas render to, by their style."""

    def __init__(self, wanted: dict[Style, dict[str, None]]) -> None:
        self._found = {style: render_all(style, formulas) for style, formulas in wanted.items()}

    def __call__(self, style: Style, tex: str) -> Render | None:
        return self._found[style].get(tex)


def _renderer(facts: Sequence[Fact], html: str) -> _Renders:
    contents = [fact.arguments.get("args", {}).get("content", {}) for fact in facts if fact.kind == "present"]
    truths = [c["latex"] for c in contents if isinstance(c, dict) and isinstance(c.get("latex"), str)]
    wanted: dict[Style, dict[str, None]] = {"block": dict.fromkeys(truths), "inline": {}}
    for tex, is_display in math_spans(html) if truths else ():
        if not tex.startswith("<math>"):
            wanted["block" if is_display else "inline"][tex] = None
    return _Renders(wanted)
