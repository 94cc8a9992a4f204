"""Tricks that pay in other benchmarks, as their rule books list them, do not pay with our protocols."""

from pathlib import Path

import pytest
from tests.corpora.writing import write_corpus

from parsemark.corpora import load_corpus
from parsemark.engine.import_outputs import import_predictions
from parsemark.engine.scoring.score import score_run
from parsemark.metrics import teds
from parsemark.model import Element, Page, Sample, Table
from parsemark.protocols import Summary

ROWS = [[f"{name} {k}" for name in ("Port", "Depth", "Berths", "Light")] for k in range(5)]
TEXT = "Slack water lasts nine minutes at the narrows, and the stream runs at five knots on springs."
SECOND = [["Buoy", "Colour"], ["Cardinal", "yellow"], ["Lateral", "red"], ["Safe water", "white"]]
OWN = ("tables", "semantic", "document", "answers")
"""`semantic` with the reader, `document` strictly, which are their defaults."""


def html(rows: list[list[str]], filler: str = "", attributes: str = "") -> str:
    body = "".join(
        "<tr>" + "".join(f"<td{attributes}>{c}{filler}</td>" for c in row) + "</tr>" for row in rows
    )
    return f"<table>{body}</table>"


BOTH = f"{html(ROWS)}\n\n{html(SECOND)}"
HONEST = f"{TEXT}\n\n{BOTH}"
TRICKS = {
    "blank": "\n",
    "letter": "s",
    "unlike-words": "unlike words",
    "first-row": f"{TEXT}\n\n{html(ROWS[:1])}\n\n{html(SECOND[:1])}",
    "headers-alone": f"{TEXT}\n\n{html(ROWS[:1])}",
    "first-table": f"{TEXT}\n\n{html(ROWS)}",
    "garbage-of-the-right-shape": f"{TEXT}\n\n{html([['zz'] * 4] * 5)}\n\n{html([['zz'] * 2] * 4)}",
    "letters": f"{TEXT}\n\n{html([[letter] for letter in 'abcdefghijklmnopqrstuvwxyz'])}",
    "filler": f"{TEXT}\n\n{html([['x']], filler='<i></i>' * 1000)}",
    "odd-span": f"{TEXT}\n\n{html([['x']], attributes=' colspan=two')}",
    "giant-span": HONEST.replace("<td>", "<td colspan=100000 rowspan=100000>", 1),
    "one-cell": f"{TEXT}\n\n{html([[' '.join(c for row in ROWS + SECOND for c in row)]])}",
    "no-table": TEXT,
    "hidden": f"{TEXT}\n\n<!-- {BOTH} -->",
}
"""What takes something away, or says something else."""
OWN_ROWS = [[c if k % 3 else "wrong" for k, c in enumerate(row)] for row in ROWS]
FLAWED = f"{TEXT[:50]}\n\n{html(OWN_ROWS)}"
MORE = {
    "twice": f"{FLAWED}\n\n{FLAWED}",
    "rows-twice": f"{TEXT[:50]}\n\n{html([row for row in OWN_ROWS for _ in range(2)])}",
    "hedged": f"{TEXT[:50]}\n\n{html([[f'{c} / {c[:-1]}7' for c in row] for row in OWN_ROWS])}",
    "junk-cell": f"{TEXT[:50]}\n\n{html([[' junk' * 5000, *OWN_ROWS[0][1:]], *OWN_ROWS[1:]])}",
    "its-words-again": f"{FLAWED}\n\n{' '.join(c for row in ROWS + SECOND for c in row)}",
    "extra-tables": f"{FLAWED}\n\n{html([['a', 'b'], ['c', 'd']])}\n\n{html([['1', '2'], ['3', '4']])}",
    "page-of-numbers": f"{FLAWED}\n\n{' '.join(map(str, range(300)))}",
    "unclosed-table": f"{FLAWED}\n\n<table><tr><td>{' '.join(c for row in OWN_ROWS for c in row)}",
}
"""What adds to an output with errors."""
UNREADABLE = FLAWED.replace("<td>", "<td colspan=100000 rowspan=100000>", 1)
OTHER_ROWS = [[c if k % 3 != 1 else "other" for k, c in enumerate(row)] for row in ROWS]
OTHER = f"{TEXT[:50]}\n\n{html(OTHER_ROWS)}"
BOTH_ROWS = [row for rows in zip(OWN_ROWS, OTHER_ROWS, strict=True) for row in rows]
BOTH_CELLS = [
    [a if a == b else f"{a} / {b}" for a, b in zip(*rows, strict=True)]
    for rows in zip(OWN_ROWS, OTHER_ROWS, strict=True)
]
READINGS = {
    "two-readings-below": f"{FLAWED}\n\n{html(OTHER_ROWS)}",
    "two-readings-in-one-table": f"{TEXT[:50]}\n\n{html([*OWN_ROWS, *OTHER_ROWS])}",
    "two-readings-by-rows": f"{TEXT[:50]}\n\n{html(BOTH_ROWS)}",
    "two-readings-by-cells": f"{TEXT[:50]}\n\n{html(BOTH_CELLS)}",
}
"""Two readings of one table, with errors in other cells."""


@pytest.fixture(scope="module")
def summaries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Summary]:
    root = tmp_path_factory.mktemp("tricks")
    elements = (
        Element("1", "text_block", order=0, text=TEXT),
        Element("2", "table", order=1, html=html(ROWS), table=Table.from_rows(ROWS)),
        Element("3", "table", order=2, html=html(SECOND), table=Table.from_rows(SECOND)),
    )
    samples = [Sample(f"p-{k}", f"d-{k}", 1, Page(f"p-{k}", 600, 800, elements)) for k in range(2)]
    write_corpus(root / "corpus", samples, name="tricks")
    corpus = load_corpus(str(root / "corpus"))
    for name, text in {
        "honest": HONEST,
        "flawed": FLAWED,
        "other": OTHER,
        "no-flawed-table": TEXT[:50],
        "unreadable": UNREADABLE,
        **TRICKS,
        **MORE,
        **READINGS,
    }.items():
        folder = root / name
        folder.mkdir()
        # The trick on one page of two, as who plays it would choose the hard one.
        (folder / "p-0.md").write_text(HONEST)
        (folder / "p-1.md").write_text(text)
        run = import_predictions(root / "run", corpus, Path(folder), name=name, protocols=OWN)
    return {summary.protocol: summary for summary in score_run(run, n_workers=1)}


def both_values(summary: Summary, base: str, trick: str) -> tuple[float, float]:
    """Of an output, and of the trick that it is changed by; the denominator must be the same."""
    found = [summary.figure(name, summary.primary) for name in (base, trick)]
    assert found[0] is not None and found[1] is not None and found[0].n == found[1].n
    assert found[0].value is not None and found[1].value is not None
    return found[0].value, found[1].value


@pytest.mark.parametrize("trick", TRICKS)
@pytest.mark.parametrize("protocol", OWN)
def test_they_do_not_pay_with_our_protocols(summaries: dict[str, Summary], protocol: str, trick: str) -> None:
    summary = summaries[protocol]
    honest, tricked = both_values(summary, "honest", trick)
    assert honest >= 0.98 * (summary.info(summary.primary).top or 1.0)
    # Of two pages one is lost, or a table of it: never less than a twentieth.
    assert tricked < 0.9 * honest


@pytest.mark.parametrize("trick", MORE)
@pytest.mark.parametrize("protocol", OWN)
def test_adding_does_not_pay_with_our_protocols(
    summaries: dict[str, Summary], protocol: str, trick: str
) -> None:
    flawed, tricked = both_values(summaries[protocol], "flawed", trick)
    assert tricked <= flawed + 1e-9 and flawed < 0.98 * (summaries[protocol].figures[0].top or 1.0)


@pytest.mark.parametrize("protocol", OWN)
def test_a_table_that_cannot_be_read_is_worth_no_more_than_none(
    summaries: dict[str, Summary], protocol: str
) -> None:
    without, unreadable = both_values(summaries[protocol], "no-flawed-table", "unreadable")
    assert unreadable <= without + 1e-9


@pytest.mark.parametrize("trick", READINGS)
@pytest.mark.parametrize("protocol", OWN)
def test_two_readings_pay_in_no_protocol_but_a_little_with_the_reader(
    summaries: dict[str, Summary], protocol: str, trick: str
) -> None:
    summary = summaries[protocol]
    (first, both), (second, _) = (both_values(summary, name, trick) for name in ("flawed", "other"))
    gain = (both - max(first, second)) / (summary.info(summary.primary).top or 1.0)
    assert gain <= (0.05 if protocol == "semantic" else 1e-9)


def test_filler_and_first_rows_do_not_help_our_teds() -> None:
    assert teds(html(ROWS), html([["x"]], filler="<i></i>" * 1000)) < 0.2
    assert teds(html(ROWS), html(ROWS[:1])) < 0.3
