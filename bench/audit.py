"""How many errors of a truth the audit finds, and how often it is wrong.

    python -m bench audit

Injected: one character of one cell in twenty is replaced (a digit by a digit, anything else by a letter),
five times, on the demo corpus and, with PARSEMARK_DATA, on ICDAR-2013; once more with the boxes of the cells
taken away, so that parsers alone are witnesses. Known: the errors of ICDAR-2013 that the overlay corrects.
"""

import os
import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from bench.choose import made
from parsemark.choosing.audit import Suspicion, audit_page, audit_run, families_of, printed_on
from parsemark.corpora import Corpus, load_corpus
from parsemark.model import Cell, Page
from parsemark.store import Run
from parsemark.system.files import cache_folder

TIMES, SHARE = 5, 0.05
LEAST_FOUND, MOST_FALSE = 0.9, 0.02
Place = tuple[str, str, int, int]


def main() -> bool:
    home = cache_folder("bench")
    good = injected("demo", Run.open(made("demo", home / "choose-demo")))
    data = os.environ.get("PARSEMARK_DATA")
    if data is None:
        print("PARSEMARK_DATA is not set: ICDAR-2013 is left out.")
        return good
    run = Run.open(made(f"icdar2013:{data}/icdar2013", home / "choose-icdar2013"))
    good &= injected(f"icdar2013:{data}/icdar2013", run)
    published = load_corpus(f"icdar2013-uncorrected:{data}/icdar2013")
    wrong = differences(published, load_corpus(f"icdar2013:{data}/icdar2013"))
    found = places(audit_run(published, run).suspicions)
    print(f"ICDAR-2013 as published: {len(wrong & found)} of {len(wrong)} known errors", end="")
    print(f", {len(found - wrong)} others")
    return good and wrong <= found


def injected(spec: str, run: Run) -> bool:
    """Return whether enough injected errors are found, with and without boxes."""
    corpus = load_corpus(spec)
    counts = {boxes: Counter[str]() for boxes in (True, False)}
    parsers = sorted({record.parser for record in run.records()})
    families = families_of(run, parsers, list(corpus.keys))
    rngs = [random.Random(seed) for seed in range(TIMES)]
    for sample in corpus.samples():
        if sample.truth is None:
            continue
        predictions = {parser: run.prediction(sample.id, parser) for parser in parsers}
        text, glyphs = printed_on(sample)
        for rng in rngs:
            page, wrong = spoilt(sample.truth, rng)
            n_cells = sum(len(e.table.cells) for e in page.tables if e.table is not None)
            for boxes, count in counts.items():
                shown = page if boxes else without_boxes(page)
                found = places(audit_page(shown, predictions, families, text, glyphs))
                count.update(hits=len(found & wrong), wrong=len(wrong))
                count.update(false=len(found - wrong), right=n_cells - len(wrong))
    good = True
    for boxes, count in counts.items():
        print(
            f"{spec.partition(':')[0]}, boxes of cells {'known' if boxes else 'not known'}: "
            f"{count['hits'] / count['wrong']:.1%} of {count['wrong']} injected errors found, "
            f"false alarms in {count['false'] / count['right']:.2%} of {count['right']} cells"
        )
        good &= count["hits"] >= LEAST_FOUND * count["wrong"]
        good &= count["false"] <= MOST_FALSE * count["right"]
    return good


def places(suspicions: Iterable[Suspicion]) -> set[Place]:
    """Return the suspicious cells."""
    return {(s.sample, s.element, s.row, s.col) for s in suspicions}


def differences(one: Corpus, other: Corpus) -> set[Place]:
    """Return cells that two truths have with different texts."""
    return {
        (key, a.id, x.row, x.col)
        for key in one.keys
        for a, b in zip(one.read(key).truth.tables, other.read(key).truth.tables, strict=True)  # type: ignore[union-attr]  # all have truth
        for x in a.table.cells  # type: ignore[union-attr]  # and its tables cells
        if x.text != {(y.row, y.col): y.text for y in b.table.cells}.get((x.row, x.col))  # type: ignore[union-attr]
    }


def spoilt(page: Page, rng: random.Random) -> tuple[Page, set[Place]]:
    """Return the page with errors in its truth, and where they are."""
    spoilt = with_cells(page, lambda cell: replace(cell, text=_slip(cell.text, rng)))
    wrong = {
        (page.id, a.id, x.row, x.col)
        for a, b in zip(page.elements, spoilt.elements, strict=True)
        if a.table is not None and b.table is not None
        for x, y in zip(a.table.cells, b.table.cells, strict=True)
        if x.text != y.text
    }
    return spoilt, wrong


def without_boxes(page: Page) -> Page:
    """Return the page without the places of its cells, so that parsers alone are witnesses."""
    return with_cells(page, lambda cell: replace(cell, box=None))


def with_cells(page: Page, change: Callable[[Cell], Cell]) -> Page:
    """Return the page with each cell of its tables changed."""
    elements = tuple(
        element
        if (table := element.table) is None
        else replace(element, table=replace(table, cells=tuple(map(change, table.cells))))
        for element in page.elements
    )
    return replace(page, elements=elements)


def _slip(text: str, rng: random.Random) -> str:
    """Return the text, in one of twenty cases with another character somewhere."""
    if len(text.strip()) < 2 or rng.random() >= SHARE:
        return text
    at = rng.choice([k for k, c in enumerate(text) if not c.isspace()])
    new = rng.choice("0123456789" if text[at].isdigit() else "abcdefghijklmnopqrstuvwxyz")
    return text if new == text[at].lower() else text[:at] + new + text[at + 1 :]
