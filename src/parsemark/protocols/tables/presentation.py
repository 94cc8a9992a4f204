"""What a report shows of the `tables` protocol beside its figures: types of errors, Soric et al.'s tables.

Missed, invented, split and merged tables follow from the matches. What went wrong inside a table is what the
metric `reader` says happened to it: its events, put together under the names by which people ask for them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from parsemark.errors import PdfError
from parsemark.matching.ngrams import put_together
from parsemark.matching.one_to_one import NGRAM_RULE
from parsemark.metrics import get_metric
from parsemark.metrics.table_input import TableInput
from parsemark.model import Element, Table
from parsemark.pdf import made_with
from parsemark.protocols.charts import DataTable, TableColumn, TableRow, captioned, table_needs
from parsemark.protocols.figures.figure import Figure, read_toml
from parsemark.protocols.presentation import (
    ErrorKind,
    Explanation,
    Finding,
    Presentation,
    RunView,
    ScoredTables,
)
from parsemark.protocols.tables.figure_definitions import metric_words, short_name
from parsemark.protocols.tables.matched_tables import CONFIDENCE_THRESHOLD, THETA
from parsemark.protocols.tables.page import truth_input
from parsemark.protocols.tables.soric_charts import charts_of_parser, sections

METRIC = "reader"
MAX_CELLS = 1_000
MAX_CHARACTERS = 100_000  # larger tables get no explanation: a parser must not decide how long a report takes

_ERRORS = read_toml(__package__, "errors.toml")["kind"]
ERROR_KINDS = tuple(ErrorKind(kind["name"], kind["label"], kind["definition"]) for kind in _ERRORS)
OF_EVENT = {event: str(kind["name"]) for kind in _ERRORS for event in kind["events"]} | {"padded": ""}
"""An event of `reader` to the type of error it is; padding harms nobody who reads the table."""


RULE_WORDS = {
    "bbox": "an optimal one-to-one assignment by the overlap of boxes (IoU)",
    "content": "an optimal one-to-one assignment by the overlap of contents (content-Jaccard)",
    "ngrams": "character 3-grams, with pieces of a split table put together and merged tables cut apart",
}


def present(metrics: tuple[str, ...]) -> Presentation:
    """Show a run that was scored by these metrics, that of the ranking first."""
    return Presentation(
        charts=sections,
        parser_charts=charts_of_parser,
        paper_tables=soric_tables,
        paper_table_needs=table_needs(__package__),
        error_kinds=ERROR_KINDS,
        element_errors=errors_of_matches,
        explain=explain_pair,
        join_pieces=_join_pieces,
        rules=tuple(RULE_WORDS),  # matching in order of confidence is for curves alone
        rule_words=RULE_WORDS,
        metrics=metrics,
        metric_words=metric_words,
        # Pages by F1; a table has no precision of its own, so tables by recall.
        slice_figure=lambda summary, scope: (
            summary.primary if scope == "page" else summary.primary.replace("te_f1_", "te_recall_")
        ),
        sure_above=CONFIDENCE_THRESHOLD,
    )


def _join_pieces(truth: Element, pieces: Sequence[Element]) -> Element | None:
    """Put pieces below or beside each other, as they are scored."""
    table = put_together(truth, pieces)
    return None if table is None else replace(pieces[0], table=table, html=None, latex=None)


def errors_of_matches(run: ScoredTables) -> pl.DataFrame:
    """Missed, partly found, invented, split and merged tables: `sample`, `parser`, `element`, `error`.

    Splits and merges are those that matching by characters sees, since the others pair one with one. A table
    that was merged is not counted as missed once more.
    """
    by_characters = run.matches
    if run.rule != NGRAM_RULE:
        pieces = (pl.col("rule") == NGRAM_RULE) & pl.col("kind").is_in(["split", "merge"])
        by_characters = run.scan("matches").filter(pieces).drop("rule").collect()
    split = _elements(by_characters.filter(pl.col("kind") == "split"), "truth", "split")
    merged = _elements(by_characters.filter(pl.col("kind") == "merge"), "truth", "merged")
    missed = _elements(run.matches.filter(pl.col("kind") == "miss"), "truth", "missed")
    sure = pl.col("confidence").is_null() | (pl.col("confidence") > CONFIDENCE_THRESHOLD)
    invented = _elements(run.matches.filter((pl.col("kind") == "extra") & sure), "pred", "invented")
    answered = (pl.col("truth").list.len() > 0) & (pl.col("pred").list.len() > 0)
    weak = run.matches.filter(answered & (pl.col("overlap") <= THETA))
    partly = _elements(weak.with_columns(pl.col("truth").list.head(1)), "truth", "partly_found")
    place = ["sample", "parser", "element"]
    return pl.concat([missed.join(merged, on=place, how="anti"), partly, invented, split, merged])


def _elements(matches: pl.DataFrame, side: str, error: str) -> pl.DataFrame:
    """Each element of one side of some matches, with the type of its error."""
    return matches.explode(side).select("sample", "parser", element=side, error=pl.lit(error))


def explain_pair(truth: Element, pred: Element) -> Explanation | None:
    """What `reader` says about a pair of tables; None for tables that are too large."""
    left, right = _content(truth), _content(pred)
    if left is None or right is None:
        return None
    score = get_metric(METRIC).score(truth_input(left), TableInput(right))
    if score.value is None:
        return None
    told = [(OF_EVENT.get(e["kind"], ""), e["message"]) for e in score.details.get("errors", ())]
    counts: Counter[str] = Counter()
    for event, n in score.details.get("counts", {}).items():
        if kind := OF_EVENT.get(event, ""):
            counts[kind] += n
    return Explanation(
        title=f"{METRIC} {score.value:.1f} of 10",
        findings=tuple(Finding(kind, message) for kind, message in told),
        counts=dict(counts),
        n_findings=int(score.details.get("n_errors", len(told))),
    )


def _content(element: Element) -> Table | str | None:
    content = element.table if element.table is not None else element.html
    if content is None or isinstance(content, str):
        return None if content is None or len(content) > MAX_CHARACTERS else content
    small = content.n_cells <= MAX_CELLS and sum(len(c.text) for c in content.cells) <= MAX_CHARACTERS
    return content if small else None


# --- Soric et al.'s tables, from a run of any parsers on any corpus -----------------------------------------
# Their Table 1 (what the corpus is made of), 3 and 4 (average precision, F1; tables matched by place), 5
# (content as a stand-in for place), 6 and 7 (as 3 and 4, matched by content) and 8 (time). Theirs put the
# corpora beside each other; so does `parsemark export RUN RUN …`. As in the paper, parsers with a confidence
# are in 3 and 6, the others in 4 and 7; `docs/protocol-tables.md` says where ours cannot stand beside theirs.

_captioned = partial(captioned, __package__)
_SCORES = {
    "soric-3": ("ap", "bbox"), "soric-4": ("f1", "bbox"), "soric-6": ("ap", "content"),
    "soric-7": ("f1", "content"), "ap-ngrams": ("ap", "ngrams"), "f1-ngrams": ("f1", "ngrams"),
}  # fmt: skip
"""Key of a table to its figure, and the rule by which tables are matched."""
_KINDS = ("LaTeX", "word processor", "publishing", "other")


def soric_tables(run: RunView) -> list[DataTable]:
    """All of them that the run has numbers for."""
    scores = [_scores(run, key, *of) for key, of in _SCORES.items()]
    found = (_corpus(run), *scores, _agreement(run), _time(run))
    return [table for table in found if table is not None and table.rows]


def _corpus(run: RunView) -> DataTable:
    """Table 1: the shares of programs that its documents were made with, and its counts."""
    samples, kinds = run.samples, Counter[str]()
    for pdf in samples.group_by("document", maintain_order=True).agg(pl.col("pdf").first())["pdf"]:
        with suppress(PdfError, OSError, TypeError):
            kinds[made_with(Path(pdf))] += 1
    total = kinds.total()
    counts = {
        "PDFs": samples["document"].n_unique(),
        "Pages": samples.height,
        "Positives": int((samples["n_tables"] > 0).sum()),
        "Tables": int(samples["n_tables"].fill_null(0).sum()),
    }
    columns = [TableColumn(kind, "score", None, "share of documents made with") for kind in _KINDS]
    columns += [TableColumn(label, "count", None, "count") for label in counts]
    cells = [Figure(value=kinds[kind] / total) if total else None for kind in _KINDS]
    cells += [Figure(value=float(n)) for n in counts.values()]
    row = TableRow(run.corpus, tuple(cells))
    return DataTable(*_captioned("soric-1"), tuple(columns), (row,), head="Corpus")


def _scores(run: RunView, key: str, what: str, rule: str) -> DataTable | None:
    """Tables 3, 4, 6, 7, and the same by characters: detection, and end to end by each structure metric."""
    detection = {"ap": "ap", "f1": "td_f1"}[what]
    keys = [detection, *(f"{'ap' if what == 'ap' else 'te_f1'}_{short_name(m)}" for m in run.metrics)]
    rows = []
    for parser in run.parsers:
        figures: Mapping[str, Any] = run.details("by_rule", parser.name).get(rule) or {}
        has_confidence = (figures.get("ap") or {}).get("value") is not None
        if figures and has_confidence == (what == "ap"):
            cells = tuple(Figure.model_validate(figures[k]) if k in figures else None for k in keys)
            rows.append(TableRow(parser.name, cells))
    if not rows:
        return None
    label = what.upper()
    of_metrics = [TableColumn(f"{label} {metric_words(m, short=True)}", group="TE") for m in run.metrics]
    return DataTable(*_captioned(key), (TableColumn(label, group="TD"), *of_metrics), tuple(rows))


def _agreement(run: RunView) -> DataTable | None:
    """Table 5: content-Jaccard as a classifier of what IoU calls found, parser by parser and pooled."""
    names = ("content_for_bbox_precision", "content_for_bbox_recall")
    rows, known = [], []
    for parser in run.parsers:
        own = [run.summary.figure(parser.name, name) for name in names]
        if len(there := [f for f in own if f is not None and f.value is not None]) == len(names):
            known.append(there)
            rows.append(TableRow(parser.name, tuple(there)))
    if not rows:
        return None
    pooled = []
    for figures in zip(*known, strict=True):  # a share over the predictions of several parsers together
        total = sum(f.n for f in figures)
        value = sum((f.value or 0.0) * f.n for f in figures) / total if total else None
        pooled.append(Figure(value=value, n=total))
    columns = (TableColumn("P", higher_is_better=None), TableColumn("R", higher_is_better=None))
    return DataTable(*_captioned("soric-5"), columns, (*rows, TableRow("all parsers", tuple(pooled))))


def _time(run: RunView) -> DataTable | None:
    """Table 8: CPU time, one parser a column there, one a row here."""
    known = [(p.name, run.summary.figure(p.name, "cpu_s_per_page")) for p in run.parsers]
    rows = tuple(TableRow(name, (figure,)) for name, figure in known if figure and figure.value is not None)
    column = TableColumn("CPU s/page", "seconds", higher_is_better=False)
    return DataTable(*_captioned("soric-8"), (column,), rows) if rows else None
