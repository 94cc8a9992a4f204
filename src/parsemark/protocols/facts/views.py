"""Facts to look at: each in words, where it stands, what the parser wrote there, passed or not."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

from parsemark.model import Fact, Page, Prediction, Status
from parsemark.protocols.exhibits import PageMatch, PageView, PageViews
from parsemark.protocols.rows import PageScores

ScorePage = Callable[[Page | None, Prediction, str | None], PageScores]
_MAX_WORDS = 600


def fact_views(
    score_page: ScorePage,
    figure: str,
    facts_of: Callable[[Page], tuple[Fact, ...]] = attrgetter("facts"),
    words: Callable[[Fact], str] | None = None,
) -> PageViews:
    """How a protocol of facts shows pages; they are decided again."""

    def view(truth: Page, prediction: Prediction) -> PageView:
        facts = {fact.id: fact for fact in facts_of(truth)}
        rows = [row for row in score_page(truth, prediction, None).scores if row.element in facts]
        matches = [
            PageMatch(
                "pair" if row.value else "miss",
                row.category,
                (words or in_words)(facts[row.element]),
                _answer(row.value, row.message),
                row.value,
                () if (box := facts[row.element].box) is None else (box,),
            )
            for row in rows
        ]
        passed = sum(row.value or 0.0 for row in rows)
        values = {figure: passed / len(rows)} if rows else {}
        message = prediction.message if prediction.status is not Status.OK else None
        return PageView(tuple(matches), (), (), (), 0, values, message)

    return PageViews(figure, "The share of a page's facts that passed.", view)


def _answer(value: float | None, why: str | None) -> str:
    verdict = "not tried" if value is None else "passed" if value else "not passed"
    return f"{verdict}: {why}" if why else verdict


_WORDS: Mapping[str, str] = {
    "present": "The page says {text!r}.",
    "absent": "The page does not say {text!r}.",
    "order": "{before!r} comes before {after!r}.",
    "math": "The page has the formula {math}.",
    "format": "{text!r} is {format}.",
    "footnote": "There is a footnote {marker!r}.",
    "baseline": "The output is neither empty nor endless.",
}


def in_words(fact: Fact) -> str:
    """A fact as a sentence; where its kind has none, its arguments."""
    try:
        said = _WORDS[fact.kind].format(**fact.arguments)
    except (KeyError, IndexError, ValueError, AttributeError):
        said = _table_words(fact) if fact.kind in ("table", "table_cell") else f"{fact.kind}: {_json(fact)}"
    differences = fact.arguments.get("max_diffs")
    return said[:_MAX_WORDS] + (f" It may differ in {differences}." if differences else "")


def _table_words(fact: Fact) -> str:
    arguments = {key: _text(value) for key, value in fact.arguments.items() if value}
    cell = arguments.pop("cell", "")
    around = [f"{key.replace('_', ' ')} {value!r}" for key, value in arguments.items() if key != "max_diffs"]
    return f"A table has the cell {cell!r}" + (f" with {', '.join(around)}." if around else ".")


def _text(value: Any) -> Any:
    return value["text"] if isinstance(value, Mapping) and "text" in value else value


def _json(fact: Fact) -> str:
    return json.dumps(dict(fact.arguments), ensure_ascii=False, default=str)
