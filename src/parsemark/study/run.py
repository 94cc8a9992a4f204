"""Runs a study: columns, correlations, agreement, and where our values differ from the stored ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from parsemark.study.agreement import Correlation, RaterAgreement, correlate, rater_agreement
from parsemark.study.columns import SAME_METRIC, StudyColumn, judge_columns, metric_columns, stored_columns
from parsemark.study.fitted_on import in_sample
from parsemark.study.judging import StudyVerdicts
from parsemark.study.ratings import DEFAULT_PROMPT, RatedPair, Ratings
from parsemark.system import make_folder, write_text

STORED = "stored:"  # prefix of columns that came with the file, where one of ours has the same name
DIFFERS = 0.005  # our value and the stored one differ if they are further apart than rounding explains


@dataclass(frozen=True)
class StudyResult:
    """Everything a study found."""

    ratings: Ratings
    columns: tuple[StudyColumn, ...]
    correlations: dict[str, Correlation]
    agreement: RaterAgreement
    n_empty: int
    differences: tuple[dict[str, object], ...]  # pairs where our value of a metric is not the stored one
    judged: StudyVerdicts | None = None  # what judges said that were asked now
    in_sample: dict[str, InSample] = field(default_factory=dict)
    """Of each of our metrics that was fitted to ratings of some of these truths."""


@dataclass(frozen=True)
class InSample:
    """How many of the pairs that a correlation is taken over a metric was fitted to."""

    n: int
    n_pairs: int
    unseen: Correlation  # of the other pairs


def run_study(
    ratings: Ratings,
    metrics: Sequence[str],
    preparation: str = "auto",
    advance: Callable[[], None] = lambda: None,
    judged: StudyVerdicts | None = None,
) -> StudyResult:
    """Compute everything; see `metric_columns` for the arguments.

    The preparation `auto` is `study` where pairs bring the study's stored values, and `none` elsewhere.
    Judges that were asked (`judge_ratings`) are columns too; one of the file that has the same name is
    renamed.
    """
    if preparation == "auto":
        is_published = any(pair.truth_html and pair.metrics for pair in ratings.pairs)
        preparation = "study" if is_published else "none"
    ours = metric_columns(ratings, metrics, preparation, advance)
    asked = judged.columns if judged is not None else ()
    taken = {column.name for column in (*ours, *asked)}
    came_with_it = (*stored_columns(ratings), *judge_columns(ratings))
    stored = [replace(c, name=f"{STORED}{c.name}") if c.name in taken else c for c in came_with_it]
    columns = (*ours, *asked, *stored)
    known_to_metric: dict[str, InSample] = {}
    for column in ours:
        rows = ratings.scored(column.values)
        unseen = [row for row in rows if not in_sample(column.name, row[0].truth)]
        if n_seen := len(rows) - len(unseen):
            known_to_metric[column.name] = InSample(n_seen, len(rows), _correlation(unseen))
    return StudyResult(
        ratings=ratings,
        columns=columns,
        correlations={column.name: _correlation(ratings.scored(column.values)) for column in columns},
        agreement=rater_agreement([p.ratings for p in ratings.pairs], [p.raters for p in ratings.pairs]),
        n_empty=sum(pair.is_empty for pair in ratings.pairs),
        differences=tuple(_differences(ratings, ours)),
        judged=judged,
        in_sample=known_to_metric,
    )


def _correlation(rows: Sequence[tuple[RatedPair, float]]) -> Correlation:
    people, clusters = [pair.mean_rating for pair, _ in rows], [pair.cluster for pair, _ in rows]
    return correlate([value for _, value in rows], people, clusters)


def _differences(ratings: Ratings, ours: Sequence[StudyColumn]) -> Iterator[dict[str, object]]:
    for column in ours:
        stored = SAME_METRIC.get(column.name, "")
        for pair, value in zip(ratings.pairs, column.values, strict=True):
            theirs = pair.metrics.get(stored)
            if theirs is None or pair.is_empty or (value is not None and abs(value - theirs) <= DIFFERS):
                continue
            values = {"ours": value, "stored": theirs, "why": _why(pair.pred)}
            yield {"pair": pair.id, "metric": column.name, **values}


def _why(pred: str) -> str:
    if "\\begin{tab" in pred or "\\begin{array" in pred:
        return "the extraction is LaTeX: the study turned it into HTML with another converter"
    if "<" in pred:
        return "the HTML is not well formed: another parser repaired it"
    return "the extraction is Markdown or text: the study read its rows in another way"


def prompt_table(result: StudyResult) -> dict[str, dict[str, float | None]]:
    """Judge to prompt to Pearson's r; empty if the file has a single prompt."""
    judged = [column for column in result.columns if column.source == "judge"]
    if len({column.prompt for column in judged}) < 2:
        return {}
    table: dict[str, dict[str, float | None]] = {}
    for column in judged:
        row = table.setdefault(column.name.removesuffix(f" ({column.prompt})"), {})
        row[column.prompt or DEFAULT_PROMPT] = result.correlations[column.name].pearson
    return table


def cost_table(result: StudyResult) -> dict[str, dict[str, float]]:
    """Judge to what its judgements cost; empty if the file has no costs."""
    return {
        column.name: {
            "n": len(column.costs),
            "total_usd": sum(column.costs),
            "usd_per_1000": 1000 * sum(column.costs) / len(column.costs),
        }
        for column in result.columns
        if column.costs
    }


def as_json(result: StudyResult) -> dict[str, Any]:
    """Return `study.json`: all but the correlations."""
    return {
        "schema_version": 1,
        "kind": result.ratings.kind,
        "n_pairs": len(result.ratings.pairs),
        "n_empty": result.n_empty,
        "n_broken": len(result.ratings.problems),
        "broken": list(result.ratings.problems),
        "agreement": asdict(result.agreement),
        "columns": {c.name: {"source": c.source, "failures": list(c.failures)} for c in result.columns},
        "in_sample": {
            name: {"pairs": found.n, "of": found.n_pairs, "unseen": found.unseen.as_json()}
            for name, found in result.in_sample.items()
        },
        "prompts": prompt_table(result),
        "costs": cost_table(result),
        "differences": list(result.differences),
        "judges": result.judged.as_json() if result.judged is not None else None,
    }


def write_results(result: StudyResult, out: Path) -> list[Path]:
    """Write `correlations.json`, `study.json` and `scores.jsonl`."""
    make_folder(out)
    correlations = {name: c.as_json() for name, c in result.correlations.items()}
    for name, found in result.in_sample.items():
        correlations[name] |= {"in_sample": found.n, "unseen": found.unseen.as_json()}
    _write(out / "correlations.json", correlations)
    _write(out / "study.json", as_json(result))
    rows = [
        {
            "id": pair.id,
            "group": pair.cluster,
            "people": list(pair.ratings),
            "empty": pair.is_empty,
            "scores": {column.name: column.values[k] for column in result.columns},
            "in_sample": [name for name in result.in_sample if in_sample(name, pair.truth)],
        }
        for k, pair in enumerate(result.ratings.pairs)
    ]
    write_text(out / "scores.jsonl", "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return [out / "correlations.json", out / "study.json", out / "scores.jsonl"]


def _write(path: Path, data: object) -> None:
    write_text(path, json.dumps(data, indent=2, ensure_ascii=False) + "\n")
