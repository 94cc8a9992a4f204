"""The pairs on which a metric and people disagree most, as a page with both tables rendered."""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from parsemark.errors import FormatError
from parsemark.formats import read_tables
from parsemark.metrics import get_metric, score
from parsemark.model import Cell
from parsemark.plain_words import FILTERS
from parsemark.study.columns import MEANS, StudyColumn
from parsemark.study.ratings import RatedPair
from parsemark.study.run import StudyResult
from parsemark.system import write_text

N_SHOWN = 20
_MOST_CELLS = 3000
CSP = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True)
class RatedDisagreement:
    """One pair, for the page."""

    pair: RatedPair
    ours: float  # the metric on people's scale, 0 to 10
    truth: list[list[Cell]]  # cells by rows
    pred: list[list[list[Cell]]]  # the same of each table
    errors: list[dict[str, object]]


def worst_disagreements(result: StudyResult, column: StudyColumn) -> list[RatedDisagreement]:
    """Return the pairs with the largest distance between a column, scaled to 0–10, and people's mean
    rating.
    """
    high = 10.0 if any(value is not None and value > 1 for value in column.values) else 1.0
    if column.source == "metric" and column.name not in MEANS:
        high = get_metric(column.name).metadata.range[1]
    rated = [(pair, 10 * value / high) for pair, value in result.ratings.scored(column.values)]
    rated.sort(key=lambda row: (-abs(row[1] - row[0].mean_rating), row[0].id))
    return [_as_disagreement(pair, ours, column, result.ratings.kind) for pair, ours in rated[:N_SHOWN]]


def write_page(result: StudyResult, columns: list[StudyColumn], path: Path) -> None:
    """Write the page for several columns. All text is escaped; nothing on it can run."""
    from jinja2 import Environment

    source = files("parsemark.study").joinpath("disagreements.html.j2").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= FILTERS
    template = environment.from_string(source)
    shown = [(c.name, result.correlations[c.name], worst_disagreements(result, c)) for c in columns]
    text = template.render(csp=CSP, columns=shown, kind=result.ratings.kind, n_shown=N_SHOWN)
    write_text(path, text)


def _as_disagreement(pair: RatedPair, ours: float, column: StudyColumn, kind: str) -> RatedDisagreement:
    errors: list[dict[str, object]] = []
    if column.source == "metric" and column.name in ("reader", "formula_reader"):
        found = score(pair.truth, pair.pred, metrics=[column.name])[column.name]
        errors = list(found.details.get("errors", ()))[:8]
    truth = pred = []
    if kind == "table":
        truth, pred = _tables(pair.truth) or _tables(pair.truth_html or ""), _tables(pair.pred)
    return RatedDisagreement(pair, ours, truth[0] if truth else [], pred, errors)


def _tables(text: str) -> list[list[list[Cell]]]:
    """Return the first tables of a text, each as the cells that begin in its rows."""
    try:
        tables = [found.table for found in read_tables(text)[:8]]
    except FormatError:
        return []
    shown = [[list[Cell]() for _ in range(table.n_rows)] for table in tables]
    for rows, table in zip(shown, tables, strict=True):
        for cell in table.cells[:_MOST_CELLS]:
            rows[cell.row].append(cell)
    return shown
