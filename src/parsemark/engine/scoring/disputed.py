"""Scores of a run without the elements whose truth is disputed, beside the scores that it has."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from parsemark.corpora.disputes import Dispute
from parsemark.engine.scoring.score import score_run
from parsemark.errors import CorpusError
from parsemark.formats.model_json import page_to_json
from parsemark.model import Category, Page
from parsemark.plain_words import INTERVAL, counted, format_value
from parsemark.protocols import Figure, Summary, get_protocol
from parsemark.protocols.run_data.broken_pages import complete_summary
from parsemark.store import Run, RunFolder
from parsemark.store.summary import Style
from parsemark.store.tables import PROTOCOL_TABLES
from parsemark.system.scratch import ScratchFolder

if TYPE_CHECKING:
    from parsemark.store.run_tables import RunTables

_OWN_KIND = frozenset({Category.TABLE, Category.EQUATION_ISOLATED, Category.FIGURE})
_NAMED_PAGES = 3  # in an error


@dataclass(frozen=True, slots=True)
class ParserWithout:
    """The primary score of one parser, with and without the disputed elements."""

    parser: str
    with_disputed: Figure
    without_disputed: Figure


@dataclass(frozen=True, slots=True)
class ProtocolWithout:
    """The scores of one protocol, the best parser with all elements first."""

    protocol: str
    label: str  # of the primary score
    style: Style
    direction: str  # `higher is better` or `lower is better`
    parsers: tuple[ParserWithout, ...]

    def text_of(self, figure: Figure) -> str:
        """Return a score with its interval."""
        value = format_value(figure.value, self.style)
        if figure.interval is None:
            return value
        low, high = (format_value(end, self.style) for end in figure.interval)
        return f"{value} ({low} to {high})"


@dataclass(frozen=True, slots=True)
class WithoutDisputed:
    """What the scores of a run are without its disputed truths."""

    n_elements: int  # excluded, on pages that stay
    n_pages: int  # left out, because the truth of the whole page is disputed
    protocols: tuple[ProtocolWithout, ...]
    not_scored: tuple[str, ...]  # protocols that score a whole run at once, or ask a model for every score

    @property
    def excluded(self) -> str:
        """What was excluded, in words."""
        elements, pages = counted(self.n_elements, "disputed element"), counted(self.n_pages, "disputed page")
        text = f"{elements} excluded from the scores, {pages} left out."
        if self.not_scored:
            text += f" Not scored without them: {', '.join(self.not_scored)}."
        return text

    def lines(self) -> list[str]:
        """Return both scores of each parser side by side, for a terminal."""
        lines = [self.excluded]
        for part in self.protocols:
            lines.append(f"{part.protocol}: {part.label}, {INTERVAL}; {part.direction}")
            rows = [("parser", "with", "without")]
            for row in part.parsers:
                before, after = map(part.text_of, (row.with_disputed, row.without_disputed))
                rows.append((row.parser, before, after))
            first, second = (max(len(row[k]) for row in rows) for k in (0, 1))
            lines += [f"  {a.ljust(first)}  {b.ljust(second)}  {c}" for a, b, c in rows]
        return lines


def without_elements(page: Page, ids: Iterable[str]) -> Page:
    """Return a page on which some elements cost and earn nothing.

    The elements are ignored, and of their kind the page may have more than the truth names. So a parser that
    returns a disputed table has not invented it.
    """
    disputed = set(ids)
    if unknown := sorted(disputed - {element.id for element in page.elements}):
        raise CorpusError(
            f"Page {page.id!r} has no element {unknown[0]!r}. The disputes file belongs to another truth."
        )
    kinds = {Category(e.category) for e in page.elements if e.id in disputed and e.category in set(Category)}
    kinds |= {Category.TEXT_BLOCK} if kinds - _OWN_KIND else set()
    elements = tuple(replace(e, ignore=e.ignore or e.id in disputed) for e in page.elements)
    covered = (frozenset(Category) if page.covered is None else page.covered) - kinds
    annotation = page.annotation
    if annotation is not None and isinstance(dets := annotation.get("layout_dets"), list):
        marked = [{**d, "ignore": True} if str(d.get("anno_id")) in disputed else d for d in dets]
        annotation = {**annotation, "layout_dets": marked}
    return replace(page, elements=elements, covered=covered, annotation=annotation)


def score_without(run: Run, disputes: Sequence[Dispute], n_workers: int | None = None) -> WithoutDisputed:
    """Score the stored outputs of a run without the disputed elements. The run itself is not changed.

    Only the pages with disputes are scored again. A page that is disputed as a whole is left out.

    Raises:
        CorpusError: The run has none of the pages, or a page lacks a disputed element.
    """
    known = set(run.table("samples")["sample"])
    own = [dispute for dispute in disputes if dispute.sample in known]
    if disputes and not own:
        pages = ", ".join(sorted({d.sample for d in disputes})[:_NAMED_PAGES])
        raise CorpusError(f"{run.path} has none of the disputed pages ({pages} …).")
    gone = {dispute.sample for dispute in own if not dispute.element}
    elements: dict[str, set[str]] = defaultdict(set)
    for dispute in own:
        if dispute.element and dispute.sample not in gone:
            elements[dispute.sample].add(dispute.element)
    specs: list[str] = []
    skipped: list[str] = []
    for spec in run.protocols:
        protocol = get_protocol(spec)
        (skipped if protocol.asks or protocol.needs_whole_run else specs).append(spec)
    found: dict[str, Summary] = {}
    with ScratchFolder("parsemark-disputes-") as folder:
        parts = _scored_again(run, elements, gone, specs, folder, n_workers) if specs else []
        for spec in specs:
            first, *others = (_exchanged(old, new, spec, gone) for old, new in parts)
            first.__dict__["repeats"] = others
            found[spec] = complete_summary(get_protocol(spec), first)
    n_elements = sum(map(len, elements.values()))
    rows = tuple(_side_by_side(run.summary(spec), found[spec]) for spec in specs)
    return WithoutDisputed(n_elements, len(gone), rows, tuple(skipped))


def _side_by_side(before: Summary, after: Summary) -> ProtocolWithout:
    info = next(info for info in before.figures if info.name == before.primary)
    nothing = Figure(value=None)
    values: Mapping[str, tuple[Figure, Figure]] = {
        parser: (own.get(info.name, nothing), after.parsers.get(parser, {}).get(info.name, nothing))
        for parser, own in before.parsers.items()
    }

    def place(parser: str) -> tuple[bool, float, str]:
        value = values[parser][0].value
        return value is None, (value or 0.0) * (-1 if info.higher_is_better else 1), parser

    parsers = tuple(ParserWithout(parser, *values[parser]) for parser in sorted(values, key=place))
    return ProtocolWithout(before.protocol, info.label, info.style, info.direction, parsers)


def _scored_again(
    run: Run,
    elements: Mapping[str, set[str]],
    gone: set[str],
    specs: Sequence[str],
    folder: Path,
    n_workers: int | None,
) -> list[tuple[Run, Run]]:
    """The run and its repeats, each with a run of the pages that are scored anew with another truth."""
    parts = []
    for number, old in enumerate([run, *run.repeats]):
        samples = old.table("samples")
        documents = samples.filter(pl.col("sample").is_in([*elements, *gone]))["document"].unique()
        # Whole documents, for protocols that score them as one.
        own = pl.col("document").is_in(documents.to_list()) & ~pl.col("sample").is_in(list(gone))
        rows = []
        for row in samples.filter(own).iter_rows(named=True):
            truth = old.truth(row["sample"]) if row["sample"] in elements else None
            if truth is not None:
                changed = without_elements(truth, elements[row["sample"]])
                text = json.dumps(page_to_json(changed), ensure_ascii=False)
                row |= {"truth": text, "n_tables": changed.n_tables}
            rows.append(row)
        new = Run.create(folder / str(number), old.manifest.model_copy(update={"protocols": list(specs)}))
        inside, outside = RunFolder.of(new), RunFolder.of(old)
        inside.add_samples(rows)
        parses = old.table("parses").filter(pl.col("sample").is_in([row["sample"] for row in rows]))
        inside.write_table("parses", parses)
        for blob in parses["blob"].drop_nulls().unique():
            inside.blobs.adopt(blob, outside.blobs)
        if rows:
            score_run(new, protocols=specs, n_workers=n_workers)
        parts.append((old, new))
    return parts


def _exchanged(old: Run, new: Run, spec: str, gone: set[str]) -> RunTables:
    """The tables of a run, with the rows of the pages that were scored anew, and without those left out."""
    tables = old.run_tables(spec)
    again = new.table("samples")
    stale = [*again["sample"], *gone]
    frames = {"samples": _replaced(tables.samples, again, stale)}
    frames["parses"] = tables.parses.filter(~pl.col("sample").is_in(list(gone)))
    for name in PROTOCOL_TABLES:
        frames[name] = _replaced(tables.frame(name), new.table(name, spec), stale)
    return tables.changed(**frames)


def _replaced(frame: pl.DataFrame, rows: pl.DataFrame, stale: Sequence[str]) -> pl.DataFrame:
    kept = frame.filter(~pl.col("sample").is_in(list(stale)))
    return pl.concat([kept, rows.select(kept.columns)]).sort("sample", maintain_order=True)
