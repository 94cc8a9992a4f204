"""Tricks by which a parser might raise its score without getting better: none of them pays.

Each trick changes what an honest parser said. Under every rule, detection F1, end-to-end F1 and AP must not
rise. `python -m tests.protocols.test_tricks` prints the order of harm for the docs.
"""

import random
from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest
from tests.protocols.tables_bench import Bench

from parsemark.matching.combine import stack_tables
from parsemark.model import Box, Element, Page, Table
from parsemark.protocols import Summary
from parsemark.protocols.tables import TablesProtocol

RULES = ("bbox", "content", "ngrams")
FIGURES = ("td_f1", "te_f1_con", "te_f1_teds", "te_f1_top", "ap", "ap_con")
Tables = tuple[Element, ...]
Trick = Callable[[str, Tables, dict[str, Tables]], Iterable[Element]]


def make_pages(seed: int = 0, n: int = 8) -> dict[str, Page]:
    """Pages with no, one, two or three tables of random words and numbers."""
    rng = random.Random(seed)
    pages = {}
    for k in range(n):
        tables = []
        for t in range(k % 4):
            n_rows, n_cols = rng.randint(3, 7), rng.randint(2, 5)
            rows = [[_word(rng) for _ in range(n_cols)] for _ in range(n_rows)]
            box = Box(50, 60 + 240 * t, 550, 280 + 240 * t)
            tables.append(Element(f"t{t}", "table", box=box, table=Table.from_rows(rows)))
        pages[f"s{k}"] = Page(f"s{k}", 600, 800, tuple(tables))
    return pages


def _word(rng: random.Random) -> str:
    if rng.random() < 0.5:
        return f"{rng.uniform(0, 1000):.2f}"
    return "".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(rng.randint(3, 9)))


def honest(pages: dict[str, Page], seed: int = 1) -> dict[str, Tables]:
    """What a fair parser says: most tables, most cells, boxes a little off, some junk."""
    rng = random.Random(seed)
    said = {}
    for sample, page in pages.items():
        found = []
        for element in page.tables:
            if rng.random() < 0.15:
                continue
            cells = tuple(
                replace(c, text=_word(rng)) if rng.random() < 0.1 else c for c in element.table.cells
            )
            box = element.box.expanded(rng.uniform(0, 12))
            table = Table(element.table.n_rows, element.table.n_cols, cells)
            found.append(replace(element, id=f"p{element.id}", box=box, table=table, confidence=0.9))
        if rng.random() < 0.3:
            junk = Table.from_rows([[_word(rng) for _ in range(3)] for _ in range(3)])
            found.append(Element("x", "table", box=Box(5, 5, 40, 40), table=junk, confidence=0.6))
        said[sample] = tuple(found)
    return said


def _named(tables: Iterable[Element]) -> list[Element]:
    return [replace(e, id=f"n{k}") for k, e in enumerate(tables)]


def twice(_: str, own: Tables, __: dict[str, Tables]) -> Iterable[Element]:
    return [*own, *own]


def twice_weakly(_: str, own: Tables, __: dict[str, Tables]) -> Iterable[Element]:
    return [*own, *(replace(e, confidence=0.3) for e in own)]


def merged(_: str, own: Tables, __: dict[str, Tables]) -> Iterable[Element]:
    if len(own) < 2:
        return own
    boxes = [e.box for e in own]
    hull = Box(
        min(b.x0 for b in boxes), min(b.y0 for b in boxes), max(b.x1 for b in boxes), max(b.y1 for b in boxes)
    )
    return [replace(own[0], box=hull, table=stack_tables([e.table for e in own]))]


def split_by_rows(_: str, own: Tables, __: dict[str, Tables]) -> Iterable[Element]:
    for e in own:
        rows, middle = e.table.text_rows(), (e.box.y0 + e.box.y1) / 2
        half = len(rows) // 2
        yield replace(e, box=replace(e.box, y1=middle), table=Table.from_rows(rows[:half]))
        yield replace(e, box=replace(e.box, y0=middle), table=Table.from_rows(rows[half:]))


def split_by_columns(_: str, own: Tables, __: dict[str, Tables]) -> Iterable[Element]:
    for e in own:
        rows, middle = e.table.text_rows(), (e.box.x0 + e.box.x1) / 2
        half = e.table.n_cols // 2
        yield replace(e, box=replace(e.box, x1=middle), table=Table.from_rows(r[:half] for r in rows))
        yield replace(e, box=replace(e.box, x0=middle), table=Table.from_rows(r[half:] for r in rows))


def one_cell(_: str, own: Tables, __: dict[str, Tables]) -> Iterable[Element]:
    return [replace(e, table=Table.from_rows([[" ".join(c.text for c in e.table.cells)]])) for e in own]


def one_column(_: str, own: Tables, __: dict[str, Tables]) -> Iterable[Element]:
    return [replace(e, table=Table.from_rows([[c.text] for c in e.table.cells])) for e in own]


def whole_page(_: str, own: Tables, __: dict[str, Tables]) -> Iterable[Element]:
    if not own:
        return own
    table = stack_tables([e.table for e in own])
    return [Element("p", "table", box=Box(0, 0, 600, 800), table=table, confidence=0.9)]


def union_of_pages(_: str, own: Tables, everything: dict[str, Tables]) -> Iterable[Element]:
    return [*own, *(e for other in everything.values() for e in other if e not in own)]


def invented_on_negatives(_: str, own: Tables, __: dict[str, Tables]) -> Iterable[Element]:
    return own or [
        Element("p", "table", box=Box(50, 60, 550, 280), table=Table.from_rows([["a", "b"]]), confidence=0.9)
    ]


def constant_confidence(_: str, own: Tables, __: dict[str, Tables]) -> Iterable[Element]:
    return [replace(e, confidence=0.99) for e in own]


def junk_at_the_bottom(_: str, own: Tables, __: dict[str, Tables]) -> Iterable[Element]:
    junk = [Table.from_rows([[f"junk {k}", "1"], ["2", "3"]]) for k in range(20)]
    return [
        *own,
        *(
            Element("j", "table", box=Box(k, k, 590, 790), table=t, confidence=0.06)
            for k, t in enumerate(junk)
        ),
    ]


def some_boxes_withheld(_: str, own: Tables, __: dict[str, Tables]) -> Iterable[Element]:
    return [replace(e, box=None) if k % 3 == 2 else e for k, e in enumerate(own)]


def all_boxes_withheld(_: str, own: Tables, __: dict[str, Tables]) -> Iterable[Element]:
    return [replace(e, box=None) for e in own]


TRICKS: dict[str, Trick] = {
    "each table twice": twice,
    "each table again at .3": twice_weakly,
    "tables of a page merged": merged,
    "split by rows": split_by_rows,
    "split by columns": split_by_columns,
    "one cell": one_cell,
    "one column": one_column,
    "whole page as a table": whole_page,
    "tables of all pages on each": union_of_pages,
    "invented on pages without tables": invented_on_negatives,
    "constant confidence": constant_confidence,
    "junk at .06": junk_at_the_bottom,
    "some boxes withheld": some_boxes_withheld,
    "all boxes withheld": all_boxes_withheld,
}


def summaries(said: dict[str, Tables], pages: dict[str, Page]) -> dict[str, Summary]:
    bench = Bench(pages)
    for sample, tables in said.items():
        bench.add("x", sample, *_named(tables))
    tables = bench.tables()
    return {rule: TablesProtocol(match=rule).summarise(tables) for rule in RULES}


def tricked(trick: Trick, said: dict[str, Tables]) -> dict[str, Tables]:
    return {sample: tuple(trick(sample, own, said)) for sample, own in said.items()}


@pytest.fixture(scope="module", params=[1, 2, 3])
def base(request: pytest.FixtureRequest) -> tuple[dict[str, Page], dict[str, Tables], dict[str, Summary]]:
    pages = make_pages(request.param)
    said = honest(pages, request.param)
    return pages, said, summaries(said, pages)


@pytest.mark.parametrize("name", TRICKS)
def test_no_trick_beats_its_honest_base(name: str, base: tuple) -> None:
    pages, said, before = base
    after = summaries(tricked(TRICKS[name], said), pages)
    for rule in RULES:
        for figure in FIGURES:
            old, new = (s[rule].parsers["x"][figure].value for s in (before, after))
            assert new is None or old is None or new <= old + 1e-9, (rule, figure)


def test_junk_of_low_confidence_flatters_the_calibration_of_all_but_not_that_of_what_counts(
    base: tuple,
) -> None:
    """Tables that nobody would use, at a confidence that says so, are well calibrated."""
    pages, said, before = base
    after = summaries(tricked(junk_at_the_bottom, said), pages)
    values = {
        name: [found["bbox"].parsers["x"][name].value for found in (before, after)]
        for name in ("d_ece", "d_ece_positive")
    }
    assert values["d_ece"][1] < values["d_ece"][0]
    assert values["d_ece_positive"][1] == pytest.approx(values["d_ece_positive"][0])


def test_a_perfect_copy_is_perfect_and_no_trick_keeps_it_so() -> None:
    pages = make_pages(5)
    perfect = {s: tuple(replace(e, confidence=0.9) for e in p.tables) for s, p in pages.items()}
    for rule, summary in summaries(perfect, pages).items():
        assert all(summary.parsers["x"][f].value == 1 for f in FIGURES), rule
    for name in (
        "each table twice",
        "tables of a page merged",
        "split by rows",
        "split by columns",
        "one cell",
    ):
        for rule, summary in summaries(tricked(TRICKS[name], perfect), pages).items():
            assert summary.parsers["x"]["te_f1_con"].value < 1, (name, rule)


def main() -> None:
    """Print the order of harm as it stands in bench/RESULTS.md."""
    found: dict[str, list[float]] = {}
    for seed in (1, 2, 3):
        pages = make_pages(seed)
        said = honest(pages, seed)
        for name, trick in {"honest": lambda _, own, __: own, **TRICKS}.items():
            s = summaries(tricked(trick, said), pages)
            numbers = [s[r].parsers["x"]["te_f1_con"].value for r in RULES]
            ap = s["bbox"].parsers["x"]["ap"].value
            found.setdefault(name, []).append([*numbers, ap])
    means = {n: [sum(v) / 3 for v in zip(*rows, strict=True)] for n, rows in found.items()}
    for name, values in sorted(means.items(), key=lambda item: -item[1][2]):
        print(f"| {name} | " + " | ".join(f"{v:.3f}" for v in values) + " |")  # noqa: T201 # for the docs


if __name__ == "__main__":
    main()
