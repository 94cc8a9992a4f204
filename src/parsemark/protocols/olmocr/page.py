"""The facts of one page by olmOCR-bench's rules; its formulas are rendered together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from parsemark.errors import CorpusError
from parsemark.kernels.search import TooHardError
from parsemark.metrics.katex import Render, render_all
from parsemark.model import Fact, Prediction
from parsemark.protocols.facts.grid import TableTooLargeError
from parsemark.protocols.facts.scoring import Outcome, fact_rows
from parsemark.protocols.olmocr.formulas import formulas_of
from parsemark.protocols.olmocr.rules import Quirks, check, read_test
from parsemark.protocols.rows import PageScores


def score_facts(facts: Sequence[Fact], prediction: Prediction, md: str, quirks: Quirks) -> PageScores:
    """Decide the facts of a page."""
    renders = _renders(facts, md)

    def decide(fact: Fact) -> Outcome:
        try:
            return check(_test(fact), md, renders.get, quirks)
        except CorpusError as error:
            return Outcome(None, f"the fact cannot be read: {error}")
        except IndexError as error:
            return Outcome(False, f"upstream's code fails here: {error}")
        except (TooHardError, TableTooLargeError) as error:
            return Outcome(None, str(error))

    return fact_rows(prediction, facts, lambda fact: fact.group or "facts", decide)


def _test(fact: Fact) -> dict[str, Any]:
    return read_test({**fact.arguments, "pdf": "page", "page": fact.page, "id": fact.id, "type": fact.kind})


def _renders(facts: Sequence[Fact], md: str) -> dict[str, Render | None]:
    """What formulas look like that can decide something: not where one is written exactly as it should be."""
    wanted = [fact for fact in facts if fact.kind == "math"]
    needed: dict[str, None] = {}
    for fact in wanted:
        candidates = formulas_of(md, dollars=not fact.arguments.get("ignore_dollar_delimited"))
        math = fact.arguments.get("math")
        if isinstance(math, str) and candidates and math not in candidates:
            needed |= dict.fromkeys([math, *candidates])
    return render_all("drawn", needed)
