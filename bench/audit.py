"""How many errors of a truth the audit finds, and how often it is wrong.

    python -m bench audit

Injected: one character of one cell in twenty is replaced (a digit by a digit, anything else by a letter),
five times, on the demo corpus and, with PARSEMARK_DATA, on ICDAR-2013; once more with the boxes of the cells
taken away, so that parsers alone are witnesses. Known: the errors of ICDAR-2013 that the overlay corrects.
"""

import os
import random
from dataclasses import replace

from bench.choose import made
from parsemark.choose.audit import Audit, audit_run
from parsemark.corpora import Corpus, load_corpus
from parsemark.model import Page, Sample, Table
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
    found = places(audit_run(published, run))
    print(f"ICDAR-2013 as published: {len(wrong & found)} of {len(wrong)} known errors", end="")
    print(f", {len(found - wrong)} others")
    return good and wrong <= found


def injected(spec: str, run: Run) -> bool:
    """Whether enough injected errors are found, with and without boxes."""
    good = True
    for boxes in (True, False):
        hits = n_wrong = false = n_right = 0
        for seed in range(TIMES):
            corpus, wrong = spoilt(load_corpus(spec), seed, boxes=boxes)
            audit = audit_run(corpus, run)
            found = places(audit)
            hits, n_wrong = hits + len(found & wrong), n_wrong + len(wrong)
            false, n_right = false + len(found - wrong), n_right + audit.n_cells - len(wrong)
        print(
            f"{spec.partition(':')[0]}, boxes of cells {'known' if boxes else 'not known'}: "
            f"{hits / n_wrong:.1%} of {n_wrong} injected errors found, false alarms in "
            f"{false / n_right:.2%} of {n_right} cells"
        )
        good &= hits >= LEAST_FOUND * n_wrong and false <= MOST_FALSE * n_right
    return good


def places(audit: Audit) -> set[Place]:
    """The suspicious cells."""
    return {(s.sample, s.element, s.row, s.col) for s in audit.suspicions}


def differences(one: Corpus, other: Corpus) -> set[Place]:
    """Cells that two truths have with different texts."""
    return {
        (key, a.id, x.row, x.col)
        for key in one.keys
        for a, b in zip(one.read(key).truth.tables, other.read(key).truth.tables, strict=True)  # type: ignore[union-attr]  # all have truth
        for x in a.table.cells  # type: ignore[union-attr]  # and its tables cells
        if x.text != {(y.row, y.col): y.text for y in b.table.cells}.get((x.row, x.col))  # type: ignore[union-attr]
    }


def spoilt(corpus: Corpus, seed: int, *, boxes: bool) -> tuple[Corpus, set[Place]]:
    """The corpus with errors in its truth, and where they are."""
    rng = random.Random(seed)
    wrong: set[Place] = set()
    samples: list[Sample] = []
    for sample in corpus.samples():
        elements = []
        for element in sample.truth.elements if sample.truth else ():
            table = element.table
            if table is not None:
                cells = [
                    replace(cell, text=_slip(cell.text, rng), box=cell.box if boxes else None)
                    for cell in table.cells
                ]
                wrong |= {
                    (sample.id, element.id, a.row, a.col)
                    for a, b in zip(table.cells, cells, strict=True)
                    if a.text != b.text
                }
                elements.append(replace(element, table=Table(table.n_rows, table.n_cols, tuple(cells))))
            else:
                elements.append(element)
        truth: Page | None = replace(sample.truth, elements=tuple(elements)) if sample.truth else None
        samples.append(replace(sample, truth=truth))
    return Corpus.of(
        corpus.name, samples, root=corpus.root, version=corpus.version, licence=corpus.licence
    ), wrong


def _slip(text: str, rng: random.Random) -> str:
    """The text, in one of twenty cases with another character somewhere."""
    if len(text.strip()) < 2 or rng.random() >= SHARE:
        return text
    at = rng.choice([k for k, c in enumerate(text) if not c.isspace()])
    new = rng.choice("0123456789" if text[at].isdigit() else "abcdefghijklmnopqrstuvwxyz")
    return text if new == text[at].lower() else text[:at] + new + text[at + 1 :]
