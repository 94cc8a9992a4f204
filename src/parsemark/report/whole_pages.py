"""Whole pages to look at: matches drawn on the page, reading order as a path, and each text's difference.

Written for a protocol that views pages: one page of HTML for each page and parser, without scripts. What a
parser wrote is only ever text; formulas become MathML made of a short list of harmless tags.
"""

import difflib
import re
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from parsemark.model import Box, Page
from parsemark.plain_words import rounded
from parsemark.protocols.presentation import PageMatch
from parsemark.report.mathml import mathml
from parsemark.report.names import page_file, safe_name
from parsemark.report.site import ReportPage, Site
from parsemark.store.run_tables import RunTables

MAX_PAGES = 400  # pages times parsers of a report; larger runs are looked at with fewer pages or parsers
_A4 = (595.0, 842.0)  # of a page that nobody knows the size of: there is nothing to draw on it
_COLUMNS = ("sample", "parser", "element", "category", "metric", "value", "message")
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")


def _drawn(match: PageMatch) -> dict[str, Any]:
    """Return one match as it is drawn: with formulas set, and texts compared word by word."""
    sides = {"truth_formula": match.truth, "pred_formula": match.pred}
    formulas = {key: mathml(text) if match.is_formula and text else None for key, text in sides.items()}
    return {"match": match, "diff": list(_diff(*sides.values())) if match.is_compared else [], **formulas}


def _write(site: Site) -> None:
    """Write `document.html` and a page for each page and parser, if a protocol of the run views pages."""
    source = site.page_viewer
    views = source.shown.pages if source else None
    if source is None or views is None:
        return
    tables, samples = source.run.run_tables(source.protocol), source.samples
    samples = _worst_first(samples, tables, views.worst) if views.of_rows else samples
    links: list[dict[str, Any]] = []
    parsers = [p for p in source.parsers if p.name in source.summary.parsers]
    n_pages = max(1, MAX_PAGES // max(1, len(parsers)))
    for row in samples.head(n_pages).iter_rows(named=True):
        truth = source.run.truth(row["sample"])
        if truth is None and views.of_rows is None:
            continue
        size = (row["width"], row["height"]) if row["width"] and row["height"] else _A4
        entry: dict[str, Any] = {"sample": row["sample"], "parsers": []}
        for parser in parsers:
            prediction = source.run.prediction(row["sample"], parser.name)
            name = f"document-{page_file(row['page']).replace('/', '-')}-{safe_name(parser.name)}"
            if views.of_rows:
                own = (pl.col("sample") == row["sample"]) & (pl.col("parser") == parser.name)
                view = views.of_rows(tables.read("scores", *_COLUMNS, where=own).to_dicts(), prediction)
            else:
                assert views.view is not None and truth is not None
                view = views.view(truth, prediction)
            values = view.values
            site.page(
                name,
                template="document_page.html",
                view=view,
                rows=list(map(_drawn, view.matches)),
                true_path=_points(view.true_path),
                pred_path=_points(view.pred_path),
                figures=[(i.label, values[i.name]) for i in source.summary.figures if i.name in values],
                image=f"images/{page_file(row['page'])}.jpg" if row["page"] in site.images else None,
                sample=row["sample"],
                of_truth=views.of_rows is None,
                status=str(prediction.status),
                parser=parser,
                page=truth or Page(row["sample"], *(view.size or size)),
            )
            text = rounded(values.get(views.figure))
            entry["parsers"].append({"name": parser.name, "href": f"{name}.html", "text": text})
        links.append(entry)
    n_left = max(0, len(samples) - n_pages)
    site.page("document", links=links, parsers=parsers, figure_words=views.figure_words, n_left=n_left)


def _worst_first(samples: pl.DataFrame, tables: RunTables, measure: str) -> pl.DataFrame:
    of_pages = tables.read("scores", "sample", "value", where=pl.col("metric") == measure)
    known = samples.join(of_pages.group_by("sample").agg(pl.col("value").max()), on="sample", how="left")
    return known.sort(["value", "page"], descending=[True, False], nulls_last=True)


def _diff(a: str, b: str) -> Iterator[tuple[str, str]]:
    """Yield runs of words that are equal, only in the truth, or only in the prediction."""
    left, right = _WORDS.findall(a), _WORDS.findall(b)
    for tag, i0, i1, j0, j1 in difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag == "equal":
            yield "same", "".join(left[i0:i1])
            continue
        if i1 > i0:
            yield "lost", "".join(left[i0:i1])
        if j1 > j0:
            yield "new", "".join(right[j0:j1])


def _points(boxes: Sequence[Box]) -> str:
    return " ".join(f"{(b.x0 + b.x1) / 2:.1f},{(b.y0 + b.y1) / 2:.1f}" for b in boxes)


PAGE = ReportPage(
    "document",
    _write,
    "Whole pages",
    under="viewer",
    also=("document-*",),
    is_there=lambda site: site.page_viewer is not None,
)
