"""The columns of a study: our metrics, the stored ones, and the judges, one value per rated pair."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from parsemark.errors import StudyError
from parsemark.metrics import TableInput, get_metric, score
from parsemark.study.preparation import for_metric, study_html
from parsemark.study.ratings import DEFAULT_PROMPT, RatedPair, Ratings

MEANS = {"grits_avg": ("grits_top", "grits_con"), "score_avg": ("score_index", "score_content")}
"""Means over several metrics, by name."""

_SAME_NAME = ("teds", "grits_top", "grits_con", "score_index", "score_content", "score_content_shifted")
SAME_METRIC = {"teds(structure_only=true)": "teds_structure"} | {name: name for name in _SAME_NAME}
"""Our metric and the name under which the published study stored it."""
_AS_PREPARED = {
    "teds": "teds(normalize=none)",
    "teds(structure_only=true)": "teds(normalize=none,structure_only=true)",
}
"""The study's preparation takes the place of TEDS' own; what it leaves is compared as it is."""


@dataclass(frozen=True)
class StudyColumn:
    """One value, or None, for each pair."""

    name: str
    source: str  # `metric` (computed here), `stored` (came with the file) or `judge`
    values: tuple[float | None, ...]
    failures: tuple[str, ...] = ()  # why values are missing, by pair
    prompt: str | None = None
    costs: tuple[float, ...] = field(default=())


def metric_columns(
    ratings: Ratings, metrics: Sequence[str], preparation: str, advance: Callable[[], None]
) -> list[StudyColumn]:
    """Compute metrics, given by specs or names of `MEANS`, for all pairs.

    As preparation, `none` gives the metrics the truth and the extraction as they are; `study` gives the
    structural metrics the HTML that the published study used. `reader` always reads the originals.
    """
    wanted = list(dict.fromkeys(part for name in metrics for part in MEANS.get(name, (name,))))
    chosen = [get_metric(spec) for spec in wanted]
    for metric in chosen:
        if metric.metadata.kind != ratings.kind:
            raise StudyError(
                f"{metric} is a metric of a {metric.metadata.kind}, and the file has ratings of a "
                f"{ratings.kind}"
            )
    values: dict[str, list[float | None]] = {name: [] for name in wanted}
    failures: dict[str, list[str]] = {name: [] for name in wanted}
    for pair in ratings.pairs:
        for name, metric in zip(wanted, chosen, strict=True):
            value = None
            if not pair.is_empty:
                spec = _AS_PREPARED.get(name, name) if preparation == "study" else name
                (result,) = score(*_inputs(pair, metric.name, preparation), metrics=[spec]).values()
                value = result.value
                failures[name] += [f"{pair.id}: {result.message}"] if value is None else []
            values[name].append(value)
        advance()
    columns = {n: StudyColumn(n, "metric", tuple(values[n]), tuple(failures[n])) for n in wanted}
    return [_mean(name, columns) if name in MEANS else columns[name] for name in dict.fromkeys(metrics)]


def _inputs(pair: RatedPair, metric: str, preparation: str) -> tuple[TableInput, TableInput]:
    truth, pred = pair.truth_html or pair.truth, pair.pred
    if metric in ("reader", "formula_reader"):
        truth = pair.truth
    elif preparation == "study":
        truth, pred = (for_metric(study_html(text), metric) for text in (truth, pred))
    return TableInput(truth), TableInput(pred)


def _mean(name: str, columns: dict[str, StudyColumn]) -> StudyColumn:
    parts = [columns[part].values for part in MEANS[name]]
    means = tuple(complete_mean(row) for row in zip(*parts, strict=True))
    return StudyColumn(name, columns[MEANS[name][0]].source, means)


def complete_mean(values: Sequence[float | None]) -> float | None:
    """Return the mean; None if one of them is missing, since a mean over the lucky ones would hide it."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def stored_columns(ratings: Ratings) -> list[StudyColumn]:
    """Return the metric values that came with the file, and the means over them."""
    names = dict.fromkeys(name for pair in ratings.pairs for name in pair.metrics)
    columns = {n: StudyColumn(n, "stored", tuple(p.metrics.get(n) for p in ratings.pairs)) for n in names}
    for mean, parts in MEANS.items():
        if all(part in columns for part in parts):
            columns[mean] = _mean(mean, columns)
    return list(columns.values())


def judge_columns(ratings: Ratings) -> list[StudyColumn]:
    """Return one column for each judge and prompt. The main prompt's bears the judge's name alone."""
    found: list[StudyColumn] = []
    for judge, prompt in dict.fromkeys((j.judge, j.prompt) for pair in ratings.pairs for j in pair.judges):
        said = [[j for j in p.judges if (j.judge, j.prompt) == (judge, prompt)] for p in ratings.pairs]
        values = tuple(own[0].score if own else None for own in said)
        costs = tuple(j.cost_usd for own in said for j in own if j.cost_usd is not None)
        name = judge if prompt == DEFAULT_PROMPT else f"{judge} ({prompt})"
        found.append(StudyColumn(name, "judge", values, prompt=prompt, costs=costs))
    return found
