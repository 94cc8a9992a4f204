"""Tables that run over pages, as whole tables: the pages of a document made into one.

The truth says which parts belong together: a part has its number in the attribute `part` (pages that we made)
or `region` (ICDAR-2013), a relation `continued` leads to it from the part before, or both are `long` and it
repeats the head of the last table of the page before. Parts are put below each
other; the head that each page repeats is there once, and what a page says of the break alone ("continued",
"more on the next page") is not there, so the whole is the same wherever the page breaks.

Where a true table goes on over a page break, a parser's last table before it and its first one after it are
one table if the second repeats the head of the first, or if each has the words of its true part. All other
predictions are laid before the matching by n-grams as they are: it puts together those that answer one true
table, in the order of the pages, and cuts apart one that answers several. A parser that gives whole tables
needs none of this.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count, pairwise

import polars as pl

from parsemark.formats import markdown_of
from parsemark.formats.model_json import page_from_json, page_to_json
from parsemark.matching.combine import repeated_rows, slice_rows, stack_tables
from parsemark.model import TRUTH_ERROR, Element, Fact, Page, Prediction, Status, Table
from parsemark.protocols.page_elements import in_order
from parsemark.store.run_tables import RunTables

NUMBERS = ("part", "region")
CONTINUED = "continued"
SAME_PART = 0.5
"""A prediction with this share of its own words and of a true part's in common is a reading of that part."""
MAX_NOTES = 2  # a page says no more lines than these of the break, above the repeated head or at its end
_OF_THE_BREAK = re.compile(
    r"\bcont(?:inu|['’.]|d\b)|(?:next|previous|preceding|following) page|\bover\s?leaf"
    r"|\bsuite\b|suivante|précédente|fortsetzung|fortgesetzt|(?:nächste|folgende|vorige|vorherige)\w* seite"
    r"|\bsigue\b|\bsegue\b|siguiente|seguente|seguinte|anterior\b|vervolg|volgende pagina|продолж|следующ"
    r"|续表|续前|接上|接下|下页|上页|次のページ|次ページ|続き|つづ|다음 페이지|계속|續表",
    re.IGNORECASE,
)
"""What pages say where a table breaks off or goes on, in the languages of papers."""

Chain = list[tuple[int, Element]]  # the parts of a table, each with the number of its page


def joined_document(pages: Sequence[tuple[Page | None, Prediction]]) -> tuple[Page | None, Prediction]:
    """Return a document as one page: its truth, and what a parser made of it, given both page by page in
    order.
    """
    truths = [truth for truth, _ in pages]
    chains = _chains(truths)
    breaks: dict[int, list[tuple[Table | None, Table | None]]] = defaultdict(list)
    for chain in chains:
        for (before, upper), (after, lower) in pairwise(chain):
            if after == before + 1:
                breaks[before].append((upper.table, lower.table))
    return joined_page(truths, chains), joined_prediction([p for _, p in pages], breaks)


def joined_page(truths: Sequence[Page | None], chains: Sequence[Chain] | None = None) -> Page | None:
    """Return the truth of a document, given its pages in order: one page that has every table whole.

    Boxes are dropped, since places on different pages do not compare. None where no page has a truth.
    """
    known = [truth for truth in truths if truth is not None]
    if not known:
        return None
    chains = _chains(truths) if chains is None else chains
    whole = {(chain[0][0], chain[0][1].id): _joined_chain(chain) for chain in chains}
    parts = {(number, element.id) for chain in chains for number, element in chain}
    elements: list[Element] = []
    for number, page in enumerate(truths, start=1):
        for element in () if page is None else in_order(page):
            if (table := whole.get((number, element.id))) is not None:
                elements.append(table)
            elif (number, element.id) not in parts:
                elements.append(replace(element, id=_named(number, element.id), box=None))
    numbered = (e if e.order is None else replace(e, order=k) for k, e in enumerate(elements))
    covered = [truth.covered for truth in known if truth.covered is not None]
    return replace(
        known[0],
        elements=tuple(numbered),
        relations=(),
        annotation=None,
        facts=joined_facts([truth.facts if truth else () for truth in truths]),
        only_tables=any(truth.only_tables for truth in known),
        covered=frozenset.intersection(*covered) if covered else None,  # what every page covers
    )


def joined_facts(pages: Sequence[Sequence[Fact]]) -> tuple[Fact, ...]:
    """Return the facts of all pages; that something is absent from one of several says nothing of the
    others.
    """
    if len(pages) == 1:
        return tuple(pages[0])
    return tuple(
        replace(fact, id=_named(number, fact.id))
        for number, facts in enumerate(pages, start=1)
        for fact in facts
        if fact.kind != "absent"
    )


def _chains(truths: Sequence[Page | None]) -> list[Chain]:
    chains: list[Chain] = []
    for number, page in enumerate(truths, start=1):
        if page is None:
            continue
        continues = {r.target: r.source for r in page.relations if r.kind == CONTINUED}
        for index, element in enumerate(page.tables):
            chain = _continued(chains, element, number, continues.get(element.id))
            if chain is None and index == 0 and chains and _goes_on(chains[-1], element, number):
                chain = chains[-1]
            if chain is None:
                chains.append([(number, element)])
            else:
                chain.append((number, element))
    return chains


def _continued(chains: list[Chain], element: Element, page: int, source: str | None) -> Chain | None:
    """Return the table that an element goes on with: the latest that fits; None if it begins one."""
    for chain in reversed(chains):
        last_page, last = chain[-1]
        if source is not None:
            if last_page == page and last.id == source:
                return chain
            continue
        numbers = [(last.attributes.get(key), element.attributes.get(key)) for key in NUMBERS]
        if any(isinstance(a, int) and isinstance(b, int) and 1 <= a == b - 1 for a, b in numbers):
            return chain
    return None


def _goes_on(chain: Chain, element: Element, page: int) -> bool:
    """Return whether the first table of a page repeats the head of the last one before, both called long."""
    last_page, last = chain[-1]
    known = (last.attributes, element.attributes)
    if last_page != page - 1 or not all(a.get("long") is True and not a.keys() & {*NUMBERS} for a in known):
        return False
    tables = last.table, element.table
    return tables[0] is not None and tables[1] is not None and repeated_rows(tables[0], tables[1]) > 0


def _joined_chain(chain: Chain) -> Element:
    number, first = chain[0]
    tables = [element.table for _, element in chain if element.table is not None]
    joined = _stacked(tables) if len(tables) == len(chain) else first.table
    pages = {page for page, _ in chain}
    said = {k: v for k, v in first.attributes.items() if k not in (*NUMBERS, "regions")}
    if len(pages) > 1:
        said["pages"] = len(pages)
    if any(element.is_unread for _, element in chain):
        said.setdefault(TRUTH_ERROR, "A part of the table cannot be read.")
    html, name = first.html if len(chain) == 1 else None, _named(number, first.id)
    return replace(first, id=name, box=None, table=joined, html=html, latex=None, attributes=said)


def _stacked(parts: Sequence[Table]) -> Table:
    """Return the parts of a table below each other, without what their pages say of the break alone."""
    cut = []
    for number, part in enumerate(parts):
        notes = _notes(part)
        start, stop = 0, part.n_rows
        if number > 0:
            start = _first_row(parts[0], part, notes)
        if number < len(parts) - 1:
            while stop - 1 > start and part.n_rows - stop < MAX_NOTES and _says_break(notes.get(stop - 1)):
                stop -= 1
        cut.append(part if (start, stop) == (0, part.n_rows) else slice_rows(part, start, stop))
    return stack_tables(cut)


def _first_row(first: Table, part: Table, notes: Mapping[int, str]) -> int:
    """Return where a part begins that goes on with a table, up to the head that it may repeat.

    Lines above a repeated head are of the page, whatever they say; without one, those that name the break.
    """
    n_titles = _n_leading(_notes(first))
    untitled = slice_rows(first, n_titles, first.n_rows) if 0 < n_titles < first.n_rows else None
    for above in range(min(_n_leading(notes), MAX_NOTES) + 1):
        rest = slice_rows(part, above, part.n_rows) if above else part
        if repeated_rows(first, rest):
            return above
        if untitled is not None and (repeated := repeated_rows(untitled, rest)):
            return above + repeated
    start = 0
    while start < MAX_NOTES and start < part.n_rows - 1 and _says_break(notes.get(start)):
        start += 1
    return start


def _notes(table: Table) -> dict[int, str]:
    """Return the rows of a table in which one cell alone says something, with what it says."""
    said: dict[int, list[str]] = defaultdict(list)
    for cell in table.cells:
        if cell.text.strip() and cell.rowspan == 1:
            said[cell.row].append(cell.text)
        elif cell.text.strip():
            for row in range(cell.row, cell.row + cell.rowspan):
                said[row] += ["", ""]
    return {row: texts[0] for row, texts in said.items() if len(texts) == 1 and table.n_cols > 1}


def _n_leading(notes: Mapping[int, str]) -> int:
    return next(row for row in count() if row not in notes)


def _says_break(note: str | None) -> bool:
    return note is not None and _OF_THE_BREAK.search(note) is not None


def joined_prediction(
    predictions: Sequence[Prediction],
    breaks: Mapping[int, Sequence[tuple[Table | None, Table | None]]] | None = None,
) -> Prediction:
    """Join a parser's predictions for the pages of a document, in order. A page that failed has no tables.

    It has failed only where every page has. `breaks` has, for each page (from 1) at whose end true tables go
    on, their parts before and after it.
    """
    breaks = breaks or {}
    first = next((p for p in predictions if p.status is Status.OK), predictions[0])
    elements: list[Element] = []
    parts: list[Table] = []  # of the last element
    for number, prediction in enumerate(predictions, start=1):
        own = [replace(e, id=_named(number, e.id), box=None) for e in prediction.tables]
        goes_on = number - 1 in breaks and predictions[number - 2].tables and parts
        part = own[0].table if own and goes_on else None
        # It goes on with the last one by its head, or as a reading of the part after the break.
        if part is not None and (
            repeated_rows(parts[0], part) > 0
            or any(_is_reading(parts[-1], a) and _is_reading(part, b) for a, b in breaks[number - 1])
        ):
            parts.append(part)
            known = [c for c in (elements[-1].confidence, own[0].confidence) if c is not None]
            confidence = max(known, default=None)
            elements[-1] = replace(elements[-1], table=_stacked(parts), html=None, confidence=confidence)
            own = own[1:]
        if own:
            parts = [] if own[-1].table is None else [own[-1].table]
        elements += own
    texts = [markdown_of(p) for p in predictions if p.text is not None or len(p.elements) > len(p.tables)]
    pages = tuple(prediction.sample for prediction in predictions)
    text = "\n\n".join(texts) if texts else None
    return replace(first, sample=pages[0], pages=pages, elements=tuple(elements), text=text)


def _is_reading(found: Table, part: Table | None) -> bool:
    if part is None:
        return False
    own, true = (Counter(word for c in t.cells for word in c.text.split()) for t in (found, part))
    return (own & true).total() > SAME_PART * max(own.total(), true.total())


def joined_text(texts: Iterable[str | None]) -> str | None:
    """Return the text layer of a document; None where no page has one."""
    known = [text for text in texts if text is not None]
    return "\n".join(known) if known else None


def _named(page: int, identifier: str) -> str:
    return f"p{page}-{identifier}"


def joined_samples(tables: RunTables) -> RunTables:
    """Return the tables of a run with every document's truth at its first page, where its scores are too."""
    rows = []
    ordered = tables.samples.sort("document", "page_number", "sample")
    for document in ordered.partition_by("document", maintain_order=True):
        pages = list(document.iter_rows(named=True))
        joined = joined_page(
            [None if r["truth"] is None else page_from_json(json.loads(r["truth"])) for r in pages]
        )
        # The other pages have nothing of their own to find; their times and failures stay.
        own = [{**row, "n_tables": None, "truth": None} for row in pages]
        if joined is not None:
            text = json.dumps(page_to_json(joined), ensure_ascii=False)
            own[0] |= {"n_tables": joined.n_tables, "truth": text}
        rows += own
    samples = pl.DataFrame(rows, schema=tables.samples.schema).sort("sample")
    return tables.changed(samples=samples)
