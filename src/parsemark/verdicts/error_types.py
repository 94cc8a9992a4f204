"""What went wrong, by type: counted for each parser, explained for each pair that people look at."""

import io
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from parsemark.errors import FormatError, StoreError
from parsemark.formats.model_json import element_from_json
from parsemark.model import Element
from parsemark.protocols import get_protocol
from parsemark.protocols.presentation import ErrorKind, Explanation, ScoredTables
from parsemark.store import Run, report_damage
from parsemark.system.files import write_bytes
from parsemark.verdicts.scored_run import ScoredRun

MAX_FINDINGS = 40
MAX_EXPLAINED_CELLS = 1_500_000
"""Cells, about a minute's work; what is left after it gets no explanation: a parser must not decide how long
a report takes. It is no time, so that the same run has the same report on every machine."""
_CHARACTERS_PER_CELL = 10  # of a table that is only there as text
SCHEMA = {"sample": pl.String, "parser": pl.String, "element": pl.String, "error": pl.String, "n": pl.Int64}

Key = tuple[str, str, str]  # sample, parser, and id of the truth
ParserRows = tuple[pl.DataFrame, str]  # errors as `SCHEMA` has them, and the parser whose are meant
STORED = "errors.parquet"  # in the folder of a protocol of a baseline, which has no outputs to look into


@dataclass(frozen=True, slots=True)
class ErrorChange:
    """How many elements had a type of error before and have it now: what the report counts."""

    label: str
    old: int
    new: int

    def __str__(self) -> str:
        return f"{self.label.lower()} {self.old:,} → {self.new:,}"


Changes = tuple[ErrorChange, ...] | None  # None where the protocol lists no errors by type


@dataclass(frozen=True)
class Errors:
    """The errors of a run under one protocol."""

    kinds: tuple[ErrorKind, ...] = ()
    rows: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=SCHEMA))
    """`sample`, `parser`, `element`, `error`, and how often it happened in that element."""
    explained: dict[Key, dict[str, Any]] = field(default_factory=dict)  # pairs with their explanations
    n_pairs: int = 0  # how many answered elements there are, explained or not
    looks_inside: bool = False  # whether the protocol tells errors inside of a pair

    def counts(self, parser: str) -> dict[str, tuple[int, int]]:
        """Return the type of error to the number of elements that have it, and of errors in them."""
        own = self.rows.filter(pl.col("parser") == parser).group_by("error", maintain_order=True)
        return {error: (n, total) for error, n, total in own.agg(pl.len(), pl.col("n").sum()).iter_rows()}


def find_errors(source: ScoredRun, limit: int | None, parsers: Sequence[str] | None = None) -> Errors:
    """Find the errors that matches show, and those inside matched pairs, for the `limit` worst of these.

    Asked here, and not where a run is scored: what went wrong is for people who look at pages, whatever the
    leaderboard is sorted by.
    """
    shown = source.shown
    of_matches = match_errors(source)
    explained: dict[Key, dict[str, Any]] = {}
    inside: list[tuple[str, str, str, str, int]] = []
    pairs = _answered(source)
    if parsers is not None:
        pairs = pairs.filter(pl.col("parser").is_in(list(parsers)))
    n_pairs = pairs.height
    pairs = pairs if limit is None else pairs.head(limit)
    for key, explanation in _explanations(source, pairs):
        explained[key] = {
            "title": explanation.title,
            "errors": [[f.kind, f.message] for f in explanation.findings[:MAX_FINDINGS]],
            "n_errors": explanation.n_findings,
        }
        inside += [(*key, kind, n) for kind, n in explanation.counts.items()]
    rows = pl.concat([of_matches, pl.DataFrame(inside, schema=SCHEMA, orient="row")])
    merged = source.matches.filter((pl.col("truth").list.len() > 1) & (pl.col("pred").list.len() > 0))
    return Errors(shown.error_kinds, rows, explained, n_pairs + merged.height, shown.explain is not None)


def _explanations(source: ScoredRun, pairs: pl.DataFrame) -> Iterator[tuple[Key, Explanation]]:
    """Yield what the scores of some pairs already say, and what can be found out about the others."""
    shown, place = source.shown, ["sample", "parser", "element"]
    if shown.explain_stored is not None:
        metric, read = shown.explain_stored
        stored = source.details_of(metric, pairs.with_columns(pred=pl.col("pieces").list.join("+")))
        found = [(tuple(key), read(value, text)) for *key, value, text in stored.iter_rows()]
        known = [(key, explanation) for key, explanation in found if explanation is not None]
        yield from known
        pairs = pairs.join(
            pl.DataFrame([key for key, _ in known], dict.fromkeys(place, pl.String), orient="row"),
            on=place,
            how="anti",
            maintain_order="left",
        )
    left = MAX_EXPLAINED_CELLS
    for key, truth, pieces in _elements(source, pairs):
        left -= sum(_size(element) for element in (truth, *pieces))
        if left < 0:
            break
        joined = shown.join_pieces(truth, pieces) if shown.join_pieces and len(pieces) > 1 else None
        pred = pieces[0] if len(pieces) == 1 else joined
        explanation = shown.explain(truth, pred) if shown.explain and pred else None
        if explanation is not None:
            yield key, explanation


def stored_errors(run: Run, protocol: str, parsers: Sequence[str]) -> pl.DataFrame | None:
    """Read the errors of a baseline, or find those of a run; None for a baseline that has none."""
    path = run.protocol_folder(protocol) / STORED
    if not path.is_file():
        return None if run.is_baseline else find_errors(ScoredRun(run, protocol), None, parsers).rows
    try:
        rows = pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise StoreError(f"{path} cannot be read. Save the baseline again.") from error
    if dict(rows.schema) != SCHEMA:
        raise StoreError(f"{path} has other columns than expected. Save the baseline again.")
    return rows


def match_errors(source: ScoredTables) -> pl.DataFrame:
    """Find the errors that matches show by themselves: what was missed, invented, split or merged."""
    found = source.shown.element_errors(source).with_columns(n=pl.lit(1, pl.Int64))
    return found.select(list(SCHEMA)).cast(pl.Schema(SCHEMA))


def write_errors(run: Run, protocol: str, folder: Path) -> None:
    """Keep the errors of a run in the folder of a protocol of its baseline."""
    rows = stored_errors(run, protocol, run.manifest.parser_names)
    if rows is not None:
        stream = io.BytesIO()
        rows.write_parquet(stream)
        write_bytes(folder / STORED, stream.getvalue())


def error_changes(old: ParserRows, new: ParserRows, kinds: Sequence[ErrorKind]) -> Changes:
    """Count each type of error of a parser before and now."""
    before, now = (sum(error_counts(*side).values(), Counter()) for side in (old, new))
    return changes_of(before, now, kinds)


def errors_between(old: Run, new: Run, protocol: str, parsers: Sequence[str]) -> dict[str, Changes]:
    """Count the errors of parsers in two runs; a baseline without stored errors has those of its matches."""
    shown = get_protocol(protocol).presentation()
    with report_damage(old), report_damage(new):
        before, now = (stored_errors(run, protocol, parsers) for run in (old, new))
        if before is None or now is None:
            before, now = (match_errors(ScoredRun(run, protocol)) for run in (old, new))
    return {p: error_changes((before, p), (now, p), shown.error_kinds) for p in parsers}


def errors_beside(run: Run, protocol: str, a: str, b: str) -> Changes:
    """Count the errors of two parsers of a run: those of B as `old`, those of A as `new`."""
    shown = get_protocol(protocol).presentation()
    with report_damage(run):
        rows = stored_errors(run, protocol, [a, b])
        if rows is None:
            rows = match_errors(ScoredRun(run, protocol))
    return error_changes((rows, b), (rows, a), shown.error_kinds)


def changes_of(before: Mapping[str, int], now: Mapping[str, int], kinds: Sequence[ErrorKind]) -> Changes:
    """Put counts of errors side by side, in the order of the protocol; what never happened is left out."""
    if not kinds:
        return None
    found = (ErrorChange(kind.label, before.get(kind.name, 0), now.get(kind.name, 0)) for kind in kinds)
    return tuple(change for change in found if change.old or change.new)


def error_counts(rows: pl.DataFrame | None, parser: str) -> dict[str, Counter[str]]:
    """Sample to how many of its elements have each type of error."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    if rows is not None:
        own = rows.filter(pl.col("parser") == parser).group_by("sample", "error").len()
        for sample, error, n in own.iter_rows():
            found[sample][error] = n
    return found


def _size(element: Element) -> int:
    """Return how much there is to explain, in cells."""
    if element.table is not None:
        return element.table.n_cells
    return len(element.html or element.latex or element.text or "") // _CHARACTERS_PER_CELL


def _answered(source: ScoredRun) -> pl.DataFrame:
    """Return one truth with what answers it: `sample`, `parser`, `element`, `pieces`, the worst first."""
    single = (pl.col("truth").list.len() == 1) & (pl.col("pred").list.len() > 0)
    pairs = source.matches.filter(single).select(
        "sample",
        "parser",
        pl.col("truth").list.first().alias("element"),
        pl.col("pred").list.join("+"),
        pl.col("pred").alias("pieces"),
    )
    main = source.scores_by(source.main_metric)
    scored = pairs.join(main, on=["sample", "parser", "element", "pred"], how="left")
    worst = scored.sort("value", "sample", "parser", "element", "pred", nulls_last=True)
    return worst.select("sample", "parser", "element", "pieces")


def _elements(source: ScoredRun, pairs: pl.DataFrame) -> Iterator[tuple[Key, Element, list[Element]]]:
    """Yield the truths, each with what answers it, as the run stores them."""
    samples = source.scan("samples").join(pairs.lazy().select("sample"), on="sample", how="semi")
    truths = _read(samples.select("sample", pl.lit("").alias("parser"), pl.col("truth").alias("json")))
    predictions = source.scan("predictions").join(
        pairs.lazy().select("sample", "parser"), on=["sample", "parser"], how="semi"
    )
    answers = _read(predictions.select("sample", "parser", pl.col("prediction").alias("json")))
    for sample, parser, truth_id, ids in pairs.iter_rows():
        truth = truths.get((sample, "", truth_id))
        pieces = [answers[key] for name in ids if (key := (sample, parser, name)) in answers]
        if truth is not None and len(pieces) == len(ids):
            yield (sample, parser, truth_id), truth, pieces


def _read(rows: pl.LazyFrame) -> dict[Key, Element]:
    """Return (sample, parser, id) to the element; what cannot be read has no explanation."""
    found: dict[Key, Element] = {}
    # Few rows of a table that may be large: only these are held.
    for sample, parser, text in rows.collect(engine="streaming").iter_rows():
        for data in json.loads(text)["elements"] if text else ():
            try:
                element = element_from_json(data)
            except FormatError:
                continue
            found[sample, parser, element.id] = element
    return found
