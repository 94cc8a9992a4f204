"""Tables that run over pages, as whole tables: the pages of a document made into one.

The truth says which parts belong together: a part has its number in the attribute `part` (pages that we made)
or `region` (ICDAR-2013), or a relation `continued` leads to it from the part before. Parts are put below each
other, and the head that each page repeats is there once, so the whole is the same wherever the page breaks.

Where a true table goes on over a page break, a parser's last table before it and its first one after it are
one table if the second repeats the head of the first. All other predictions are laid before the matching by
n-grams as they are: it puts together those that answer one true table, in the order of the pages, and cuts
apart one that answers several. A parser that gives whole tables needs none of this.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

import polars as pl

from parsemark.formats.model_json import page_from_json, page_to_json
from parsemark.matching.combine import repeated_rows, stack_tables
from parsemark.model import Element, Page, Prediction, Status
from parsemark.protocols.base import RunTables

NUMBERS = ("part", "region")
CONTINUED = "continued"


Chain = list[tuple[int, Element]]
"""The parts of a table, each with the number of its page."""


def whole_document(
    pages: Sequence[tuple[Page | None, Prediction]],
) -> tuple[Page | None, Prediction]:
    """A document as one page: its truth, and what a parser made of it, given both page by page in order."""
    truths = [truth for truth, _ in pages]
    chains = _chains(truths)
    breaks = {
        before for chain in chains for (before, _), (after, _) in pairwise(chain) if after == before + 1
    }
    return _whole_truth(truths, chains), whole_prediction([p for _, p in pages], breaks)


def whole_page(truths: Sequence[Page | None]) -> Page | None:
    """The truth of a document, given its pages in order: one page that has every table whole.

    Boxes are dropped, since places on different pages do not compare. None where no page has a truth.
    """
    return _whole_truth(truths, _chains(truths))


def _whole_truth(truths: Sequence[Page | None], chains: Sequence[Chain]) -> Page | None:
    first = next((truth for truth in truths if truth is not None), None)
    if first is None:
        return None
    elements = tuple(_whole(chain) for chain in chains)
    return replace(first, elements=elements, relations=(), annotation=None, only_tables=True)


def _chains(truths: Sequence[Page | None]) -> list[Chain]:
    chains: list[Chain] = []
    for number, page in enumerate(truths, start=1):
        if page is None:
            continue
        continues = {r.target: r.source for r in page.relations if r.kind == CONTINUED}
        for element in page.tables:
            chain = _continued(chains, element, number, continues.get(element.id))
            if chain is None:
                chains.append([(number, element)])
            else:
                chain.append((number, element))
    return chains


def _continued(chains: list[Chain], element: Element, page: int, source: str | None) -> Chain | None:
    """The table that an element goes on with: the latest that fits; None if it begins one."""
    for chain in reversed(chains):
        last_page, last = chain[-1]
        if source is not None:
            if last_page == page and last.id == source:
                return chain
            continue
        for key in NUMBERS:
            number, before = element.attributes.get(key), last.attributes.get(key)
            if isinstance(number, int) and isinstance(before, int) and number > 1 and before == number - 1:
                return chain
    return None


def _whole(chain: Chain) -> Element:
    number, first = chain[0]
    tables = [element.table for _, element in chain if element.table is not None]
    whole = stack_tables(tables) if len(tables) == len(chain) else first.table
    pages = {page for page, _ in chain}
    attributes = {k: v for k, v in first.attributes.items() if k not in (*NUMBERS, "regions")}
    if len(pages) > 1:
        attributes["pages"] = len(pages)
    html = first.html if len(chain) == 1 else None
    return replace(
        first,
        id=_named(number, first.id),
        box=None,
        table=whole,
        html=html,
        latex=None,
        attributes=attributes,
    )


def whole_prediction(predictions: Sequence[Prediction], breaks: Collection[int] = ()) -> Prediction:
    """What a parser made of a document, given its pages in order. A page that failed has no tables.

    The whole has failed only where every page has.

    Args:
        predictions: Page by page.
        breaks: Numbers of the pages, from 1, at whose end a true table goes on.
    """
    first = next((p for p in predictions if p.status is Status.OK), predictions[0])
    elements: list[Element] = []
    for number, prediction in enumerate(predictions, start=1):
        own = [replace(e, id=_named(number, e.id), box=None) for e in prediction.tables]
        if own and elements and number - 1 in breaks and predictions[number - 2].tables:
            joined = _joined(elements[-1], own[0])
            if joined is not None:
                elements[-1] = joined
                own = own[1:]
        elements += own
    texts = [p.text for p in predictions if p.text is not None]
    return replace(
        first,
        sample=predictions[0].sample,
        elements=tuple(elements),
        text="\n\n".join(texts) if texts else None,
    )


def _joined(before: Element, after: Element) -> Element | None:
    """One table of two, if the second repeats the head of the first."""
    if before.table is None or after.table is None or not repeated_rows(before.table, after.table):
        return None
    known = [c for c in (before.confidence, after.confidence) if c is not None]
    return replace(
        before,
        table=stack_tables([before.table, after.table]),
        html=None,
        confidence=max(known) if known else None,
    )


def whole_text(texts: Iterable[str | None]) -> str | None:
    """The text layer of a document; None where no page has one."""
    known = [text for text in texts if text is not None]
    return "\n".join(known) if known else None


def _named(page: int, identifier: str) -> str:
    return f"p{page}-{identifier}"


def whole_samples(tables: RunTables) -> RunTables:
    """The tables of a run with every document's truth at its first page, where its scores are too."""
    rows = []
    ordered = tables.samples.sort("document", "page_number", "sample")
    for document in ordered.partition_by("document", maintain_order=True):
        pages = list(document.iter_rows(named=True))
        whole = whole_page(
            [None if r["truth"] is None else page_from_json(json.loads(r["truth"])) for r in pages]
        )
        rows.append(
            {
                **pages[0],
                "n_tables": None if whole is None else len(whole.tables),
                "truth": None if whole is None else json.dumps(page_to_json(whole), ensure_ascii=False),
            }
        )
        # The other pages have nothing of their own to find; their times and failures stay.
        rows += [{**row, "n_tables": None, "truth": None} for row in pages[1:]]
    samples = pl.DataFrame(rows, schema=tables.samples.schema).sort("sample")
    return tables.changed(samples=samples)
