"""What a report draws of the `tables` protocol: Soric et al.'s charts and tables."""

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from parsemark.errors import PdfError
from parsemark.pdf import made_with
from parsemark.protocols.tables.figure_definitions import metric_words, short_name
from parsemark.report.drawing import DataTable, TableColumn, TableRow, captioned, table_needs
from parsemark.report.presentations.tables.charts import charts_of_parser, sections
from parsemark.report.source import Drawing, RunSource
from parsemark.store.summary import Figure

# --- Soric et al.'s tables, from a run of any parsers on any corpus -----------------------------------------
# Their Table 1 (what the corpus is made of), 3 and 4 (average precision, F1; tables matched by place), 5
# (content as a stand-in for place), 6 and 7 (as 3 and 4, matched by content) and 8 (time). Theirs put the
# corpora beside each other; so does `parsemark export RUN RUN …`. As in the paper, parsers with a confidence
# are in 3 and 6, the others in 4 and 7; `docs/reference/protocol-tables.md` lists what cannot be compared.

_captioned = partial(captioned, __package__)
_SCORES = {
    "soric-3": ("ap", "bbox"), "soric-4": ("f1", "bbox"), "soric-6": ("ap", "content"),
    "soric-7": ("f1", "content"), "ap-ngrams": ("ap", "ngrams"), "f1-ngrams": ("f1", "ngrams"),
}  # fmt: skip
"""Key of a table to its figure, and the rule by which tables are matched."""
_KINDS = ("LaTeX", "word processor", "publishing", "other")


def soric_tables(run: RunSource) -> list[DataTable]:
    """Return all of them that the run has numbers for."""
    scores = [_scores(run, key, *of) for key, of in _SCORES.items()]
    found = (_corpus(run), *scores, _agreement(run), _time(run))
    return [table for table in found if table is not None and table.rows]


def _corpus(run: RunSource) -> DataTable:
    """Return table 1: the shares of programs that its documents were made with, and its counts."""
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


def _scores(run: RunSource, key: str, what: str, rule: str) -> DataTable | None:
    """Return tables 3, 4, 6, 7, and the same by characters: detection, and end to end by each structure
    metric.
    """
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


def _agreement(run: RunSource) -> DataTable | None:
    """Return table 5: content-Jaccard as a classifier of what IoU calls found, parser by parser and
    pooled.
    """
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


def _time(run: RunSource) -> DataTable | None:
    """Return table 8: CPU time, one parser a column there, one a row here."""
    known = [(p.name, run.summary.figure(p.name, "cpu_s_per_page")) for p in run.parsers]
    rows = tuple(TableRow(name, (figure,)) for name, figure in known if figure and figure.value is not None)
    column = TableColumn("CPU s/page", "seconds", higher_is_better=False)
    return DataTable(*_captioned("soric-8"), (column,), rows) if rows else None


DRAWING = Drawing(sections, charts_of_parser, soric_tables, table_needs(__package__))
