"""Pages that a protocol did not score: they stay in the denominator of its figures, worth nothing.

A protocol of another package may fail on a page, and fail again when it is only asked to say so; or it may
leave out the pages on which a parser failed. Then the engine writes a row of its own (`BROKEN`). The figures
of the protocol are made by its own code, which knows nothing of such rows; so here each such page is added to
every score, and their number is a figure of its own. Everything that shows or compares figures takes them
from here.
"""

import dataclasses
import json
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from parsemark.formats.model_json import page_from_json
from parsemark.plain_words import counted, listed
from parsemark.protocols.contract import PageProtocol
from parsemark.protocols.run_data.rows import BROKEN
from parsemark.protocols.run_data.unread_pages import kind_notes, scored_counts
from parsemark.protocols.run_scores.aggregate import mean_statistic, parser_figures, total_statistic
from parsemark.protocols.run_scores.pair_verdicts import rank
from parsemark.protocols.run_scores.repeats import over_repeats
from parsemark.protocols.run_scores.slices import page_slices
from parsemark.protocols.run_scores.sums import FigureSums, Floats, Statistic, SumsOnDemand, read_figures
from parsemark.stats.detection import ratio
from parsemark.store.run_tables import RunTables
from parsemark.store.summary import Summary


def broken_pages(tables: RunTables) -> dict[str, dict[str, str]]:
    """Return parser to page to why the protocol did not score it."""
    rows = tables.read("scores", "parser", "sample", "message", where=pl.col("metric") == BROKEN)
    found: dict[str, dict[str, str]] = {}
    for parser, sample, message in rows.iter_rows():
        found.setdefault(parser, {})[sample] = message or ""
    return found


def complete_sums(
    protocol: PageProtocol, tables: RunTables, compared: RunTables | None = None
) -> list[FigureSums]:
    """Return what the figures of a protocol are made of, with the pages that it did not score; means where
    pages were parsed several times.

    With the tables of another run that it is compared with, both are made alike, whichever has such pages.
    """
    sums = sums_of_parse(protocol, tables, compared)
    if not tables.repeats:
        return sums
    again = [(sums_of_parse(protocol, o, compared or tables), repeated(tables, o)) for o in tables.repeats]
    return over_repeats(sums, again)


def repeated(tables: RunTables, other: RunTables) -> frozenset[str]:
    """Return the parsers that did in another run the same work, on all pages."""
    work = ("sample", "parser", "key")
    own, there = tables.read("parses", *work), other.read("parses", *work)
    missing = own.join(there, on=work, how="anti", nulls_equal=True)["parser"]
    return frozenset(own["parser"]) - frozenset(missing)


def sums_of_parse(
    protocol: PageProtocol, tables: RunTables, compared: RunTables | None = None
) -> list[FigureSums]:
    """Return the same of one parse alone."""
    sums = protocol.figure_sums(tables)
    broken = broken_pages(tables)
    if not broken and not (compared and broken_pages(compared)):
        return sums
    with_truth = set(tables.read("samples", "sample", where=pl.col("truth").is_not_null())["sample"])
    counted = [_with_broken(figure, broken, with_truth) for figure in sums]
    return [*counted, _count(broken, tables)]


def contradictions(tables: RunTables) -> list[str]:
    """Return the documents that are equal byte by byte and whose truths differ for one page."""
    place = ("pdf_sha256", "page_number")
    rows = tables.known("samples", "sample", *place).drop_nulls()
    if "pdf_sha256" not in rows.columns:
        return []
    twice = pl.col("sample").is_in(rows.filter(pl.struct(place).is_duplicated())["sample"].to_list())
    known = tables.read("samples", "document", *place, "truth", where=twice & pl.col("truth").is_not_null())
    notes = []
    for (_, number), own in known.sort("document").group_by(place, maintain_order=True):
        pages = [page_from_json(json.loads(text)) for text in own["truth"]]
        grids = {json.dumps([e.table.text_rows() for e in page.tables if e.table]) for page in pages}
        whole = [" ".join(e.text or "" for e in page.elements) for page in pages if not page.only_tables]
        if len(grids) > 1 or len({" ".join(text.split()) for text in whole}) > 1:
            same = f"{listed(own['document'].to_list())} are the same file"
            notes.append(
                f"{same}, but their truths of page {number} differ, so no parser can be right on both."
            )
    return notes


def complete_summary(protocol: PageProtocol, tables: RunTables) -> Summary:
    """Return the summary of a protocol, with the pages that it did not score."""
    summary = protocol.summarise(tables)
    notes = [*kind_notes(tables), *summary.notes]
    if n_copies := tables.places.n_copies:
        are = "document is" if n_copies == 1 else "documents are"
        note = (
            f"{n_copies} {are} the same as another (equal bytes, equal text, or pages taken from one PDF): "
            "every page counts in the score, but intervals and verdicts treat them as one document."
        )
        notes += [note, *contradictions(tables)]
    counts = scored_counts(tables, summary.counts)
    summary = summary.model_copy(update={"counts": counts, "notes": notes})
    broken = broken_pages(tables)
    if not broken and not tables.repeats:
        return summary
    sums = complete_sums(protocol, tables)
    primary = next((f for f in sums if f.info.name == summary.primary), None)
    known = {info.name for info in summary.figures}
    slices = [part for part in summary.slices if part.scope != "page"]
    if len(slices) < len(summary.slices):
        slices = [*page_slices(sums, tables), *slices]
    return summary.model_copy(
        update={
            "figures": [*summary.figures, *(f.info for f in sums if f.info.name not in known)],
            "parsers": {p: {**own, **parser_figures(sums, p)} for p, own in summary.parsers.items()},
            "slices": slices,
            "ranking": summary.ranking if primary is None else rank(primary),
            "notes": [*summary.notes, *_repeat_notes(tables), *_notes(summary, sums, broken)],
        }
    )


def _with_broken(
    figure: FigureSums, broken: Mapping[str, Mapping[str, str]], with_truth: set[str]
) -> FigureSums:
    """Return the figure with the worst value once for each page that the protocol did not score."""
    worst = figure.info.worst
    if not _counts_broken(figure) or worst is None:
        return figure
    place = {sample: k for k, sample in enumerate(figure.samples)}
    lost = {p: [place[s] for s in pages.keys() & place.keys() & with_truth] for p, pages in broken.items()}
    parsers = sorted({*figure.sums, *lost})
    is_mean = figure.statistic is mean_statistic

    def completed(parser: str) -> Floats:
        known = figure.sums.get(parser)
        own = np.zeros((len(place), _width(figure))) if known is None else np.array(known)
        gone = lost.get(parser, [])
        if is_mean:
            own[gone] = worst, 1.0
            return own
        # Three more sums: pages that were scored, those that were not, and what the figure is over.
        own[gone], is_lost = 0.0, np.isin(np.arange(len(own)), gone).astype(np.float64)
        is_scored = (own != 0).any(axis=1).astype(np.float64)
        return np.column_stack([own, is_scored, is_lost, own[:, figure.denominator] + is_lost])

    counted = dataclasses.replace(figure, sums=SumsOnDemand(parsers, completed))
    return counted if is_mean else _beside_statistic(counted, worst)


def _width(figure: FigureSums) -> int:
    """Return how many quantities its statistic takes."""
    return next((sums.shape[1] for sums in figure.sums.values()), figure.denominator + 1)


def _counts_broken(figure: FigureSums) -> bool:
    """Return whether it is known what a page that is worth nothing does to a figure; a total is not of its
    pages.
    """
    return figure.info.style == "score" and figure.statistic is not total_statistic


def _beside_statistic(figure: FigureSums, worst: float) -> FigureSums:
    """Return a figure with a statistic of its own: the mean of it, for its pages, and of the worst value for
    others.

    The sums of a page that the protocol did not score are unknown. It counts as much as a
    page that was scored does on average.
    """

    def mixed(statistic: Statistic) -> Statistic:
        def of(totals: Floats) -> Floats:
            value = np.asarray(statistic(totals[..., :-3]), dtype=np.float64)
            is_known = np.isfinite(value)
            n_scored, n_lost = np.where(is_known, totals[..., -3], 0.0), totals[..., -2]
            together = ratio(n_scored * np.where(is_known, value, 0.0) + n_lost * worst, n_scored + n_lost)
            return np.where(n_lost > 0, together, value)

        return of

    page = figure.page_statistic
    return dataclasses.replace(
        figure,
        statistic=mixed(figure.statistic),
        denominator=_width(figure) - 1,
        page_statistic=None if page is None else mixed(page),
    )


def _count(broken: Mapping[str, Mapping[str, str]], tables: RunTables) -> FigureSums:
    names, documents = tables.places.samples, tables.places.documents
    sums = {
        parser: np.array([[float(name in broken.get(parser, ())), 1.0] for name in names])
        for parser in tables.parsers
    }
    info = read_figures("parsemark.protocols.run_scores", "left_out")["broken_pages"]
    return FigureSums(info, names, documents, sums, total_statistic)


def _repeat_notes(tables: RunTables) -> list[str]:
    n = Counter(parser for other in tables.repeats for parser in repeated(tables, other))
    if not n:
        return []
    each = ", ".join(f"{parser} {n[parser] + 1}" for parser in sorted(n))
    return [
        f"Scores are means over several parses of each page ({each}). Intervals and verdicts include the "
        "variation between parses. AP, calibration, failures and times are those of the first parse."
    ]


def _notes(
    summary: Summary, sums: Sequence[FigureSums], broken: Mapping[str, Mapping[str, str]]
) -> list[str]:
    if not broken:
        return []
    parser = min(broken)
    sample = min(broken[parser])
    n = sum(len(pages) for pages in broken.values())
    counting = {figure.info.name for figure in sums if _counts_broken(figure)}
    scores = [info for info in summary.figures if info.style == "score"]
    left_out = [info.label for info in scores if info.name not in counting]
    they = ("it counts", "it is") if n == 1 else ("they count", "they are")
    how = f"{they[0]} as 0" if len(left_out) < len(scores) else f"{they[1]} in no score"
    except_for = f" (not in {', '.join(left_out)})" if left_out and len(left_out) < len(scores) else ""
    return [
        f"{summary.protocol} did not score {counted(n, 'output')}: {how}{except_for}. The first is "
        f"{sample} of {parser}: {broken[parser][sample]}"
    ]
