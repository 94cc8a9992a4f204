"""Tables over several pages: the whole is the same wherever the page breaks; splits and merges are told."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.store.fabricate import fabricate_manifest

from parsemark.engine.scoring.score import score_run
from parsemark.errors import UsageError
from parsemark.model import Box, Element, Fact, Page, Prediction, Relation, Sample, Status, Table
from parsemark.protocols import get_protocol
from parsemark.protocols.tables import TablesProtocol
from parsemark.protocols.whole_documents import joined_document, joined_page, joined_prediction
from parsemark.report import build_report
from parsemark.store import ParseRecord, ParserEntry, Run, RunFolder, sample_to_row, work_key

HEAD = ["metal", "density", "melts at"]
BODY = [[f"metal {n}", f"{n}.{n}", f"{100 + 7 * n} °C"] for n in range(12)]
WHOLE = Table.from_rows([HEAD, *BODY])
RECIPE = TablesProtocol(metrics=("grits_con", "teds"), scope="document")


def pages_broken_at(*breaks: int) -> list[Page]:
    """The table over pages, its head on each, with a small table of its own on the first and last page."""
    cuts = [0, *breaks, len(BODY)]
    pages = []
    for number, (start, stop) in enumerate(pairwise(cuts), start=1):
        table = Table.from_rows([HEAD, *BODY[start:stop]])
        attributes = {"part": number} if breaks else {}
        elements = [Element("t1", "table", Box(50, 50, 500, 700), table=table, attributes=attributes)]
        pages.append(Page(f"s{number}", 600, 800, tuple(elements)))
    small = Element(
        "t2", "table", Box(50, 720, 500, 780), table=Table.from_rows([["sum", "12"], ["all", "13"]])
    )
    pages[-1] = replace(pages[-1], elements=(*pages[-1].elements, small))
    return pages


def given_as(*tables: Table | None) -> list[Prediction]:
    """A parser's tables, one page each; None for a page without."""
    return [
        Prediction(
            f"s{number}",
            "p",
            elements=() if t is None else (Element("e0", "table", Box(50, 50, 500, 700), table=t),),
        )
        for number, t in enumerate(tables, start=1)
    ]


def both(pages: list[Page], *tables: Table | None) -> tuple[Page, Prediction]:
    """Truth and prediction of the document."""
    given = [*given_as(*tables), *given_as(*[None] * (len(pages) - len(tables)))]
    truth, prediction = joined_document(list(zip(pages, given, strict=True)))
    assert truth is not None
    return truth, prediction


def credit(truth: Page, prediction: Prediction, metric: str = "grits_con") -> dict[str, float | None]:
    rows = RECIPE.score_page(truth, prediction, None).scores
    return {r.element: r.value for r in rows if r.rule == "ngrams" and r.metric == metric and r.category}


@given(st.sets(st.integers(1, len(BODY) - 1), max_size=4))
def test_the_truth_is_the_same_wherever_the_page_breaks(breaks: set[int]) -> None:
    whole = joined_page(pages_broken_at(*sorted(breaks)))
    assert [e.table for e in whole.tables] == [WHOLE, Table.from_rows([["sum", "12"], ["all", "13"]])]
    assert all(e.box is None for e in whole.elements)
    assert whole.tables[0].attributes.get("pages", 1) == len(breaks) + 1


@given(st.sets(st.integers(1, len(BODY) - 1), max_size=5))
def test_the_score_is_the_same_wherever_the_page_breaks(breaks: set[int]) -> None:
    """A parser that reads each page rightly earns everything, a single row at the end of a page included."""
    pages = pages_broken_at(*sorted(breaks))
    cuts = [0, *sorted(breaks), len(BODY)]
    parts = [Table.from_rows([HEAD, *BODY[a:b]]) for a, b in pairwise(cuts)]
    truth, prediction = both(pages, *parts)
    assert credit(truth, prediction)["p1-t1"] == pytest.approx(1.0)
    assert len(prediction.elements) == 1


def test_tables_with_the_same_head_that_do_not_go_on_stay_apart() -> None:
    """A statement for each month has the same head on each page, and is not one table."""
    pages = [replace(page, elements=page.elements[:1]) for page in pages_broken_at(6)]
    pages = [replace(p, elements=(replace(p.elements[0], attributes={}),)) for p in pages]
    parts = [Table.from_rows([HEAD, *BODY[a:b]]) for a, b in ((0, 6), (6, 12))]
    truth, prediction = both(pages, *parts)
    assert len(truth.tables) == len(prediction.elements) == 2
    assert credit(truth, prediction) == {"p1-t1": pytest.approx(1.0), "p2-t1": pytest.approx(1.0)}


def test_worked_by_hand() -> None:
    pages = pages_broken_at(6)
    first, second = (Table.from_rows([HEAD, *BODY[a:b]]) for a, b in ((0, 6), (6, 12)))
    whole = credit(*both(pages, WHOLE))  # one table for both pages, as parsers of whole documents give it
    split = credit(*both(pages, first, second))  # one on each page, the head twice
    headless = credit(*both(pages, first, Table.from_rows(BODY[6:])))  # the second part without its head
    half = credit(*both(pages, first, None))  # the second page was missed
    assert whole["p1-t1"] == split["p1-t1"] == headless["p1-t1"] == pytest.approx(1.0)
    # 7 of 13 rows are there and right: precision 1, recall 7/13, so F1 is 14/20.
    assert half["p1-t1"] == pytest.approx(0.7)
    assert split["p2-t2"] is None, "the small table was missed, and stays in the denominator"


def test_what_a_page_says_of_the_break_is_not_of_the_table() -> None:
    """A title on the first page, another line above the repeated head, a line at the end of the page."""
    n = len(HEAD)
    upper = Table.from_rows(
        [["Metals", *[""] * (n - 1)], HEAD, *BODY[:6], ["Table continues", *[""] * (n - 1)]]
    )
    lower = Table.from_rows([["Metals again", *[""] * (n - 1)], HEAD, *BODY[6:]])
    pages = [
        Page(f"s{k}", 1, 1, (Element("t1", "table", table=table, attributes={"part": k}),))
        for k, table in enumerate((upper, lower), start=1)
    ]
    (whole,) = joined_page(pages).tables
    assert whole.table == Table.from_rows([["Metals", *[""] * (n - 1)], HEAD, *BODY])
    assert credit(*both(pages, upper, lower)) == {"p1-t1": pytest.approx(1.0)}
    assert credit(*both(pages, whole.table)) == {"p1-t1": pytest.approx(1.0)}


def test_a_group_at_the_end_of_a_page_stays() -> None:
    group = ["Light metals", "", ""]
    parts = [Table.from_rows([HEAD, *BODY[:6], group]), Table.from_rows([HEAD, *BODY[6:]])]
    pages = [
        Page(f"s{k}", 1, 1, (Element("t1", "table", table=table, attributes={"part": k}),))
        for k, table in enumerate(parts, start=1)
    ]
    assert joined_page(pages).tables[0].table == Table.from_rows([HEAD, *BODY[:6], group, *BODY[6:]])


@pytest.mark.parametrize("cuts", [(0, 6, 12), (0, 3, 4, 12)])
def test_pages_read_rightly_earn_everything_without_a_repeated_head(cuts: tuple[int, ...]) -> None:
    parts = [Table.from_rows(BODY[a:b] if a else [HEAD, *BODY[a:b]]) for a, b in pairwise(cuts)]
    pages = [
        Page(f"s{k}", 1, 1, (Element("t1", "table", table=table, attributes={"part": k}),))
        for k, table in enumerate(parts, start=1)
    ]
    truth, prediction = both(pages, *parts)
    assert [e.table for e in truth.tables] == [WHOLE]
    assert len(prediction.tables) == 1
    assert credit(truth, prediction) == {"p1-t1": pytest.approx(1.0)}


def test_a_table_that_is_no_part_is_not_joined() -> None:
    """Where a parser missed the end of the page, what it found above is another table."""
    other = Table.from_rows([["city", "people", "area"], ["Rome", "2,800,000", "1,285"]])
    pages = [
        Page(f"s{k}", 1, 1, (Element("t1", "table", table=table, attributes={"part": k}),))
        for k, table in enumerate((Table.from_rows([HEAD, *BODY[:6]]), Table.from_rows(BODY[6:])), start=1)
    ]
    assert len(both(pages, other, Table.from_rows(BODY[6:]))[1].tables) == 2


def test_long_tables_without_numbers_go_on_where_they_repeat_their_head() -> None:
    pages = pages_broken_at(6)
    unnumbered = [
        replace(p, elements=tuple(replace(e, attributes={"long": True}) for e in p.elements)) for p in pages
    ]
    assert joined_page(unnumbered).tables[0].table == WHOLE
    assert len(joined_page(unnumbered).tables) == 2


def test_two_tables_that_a_parser_merged_are_cut_apart() -> None:
    other = Table.from_rows([["city", "people"], *[[f"city {n}", f"{n * 31}"] for n in range(6)]])
    pages = pages_broken_at(6)
    pages[1] = replace(pages[1], elements=(pages[1].elements[0], Element("t3", "table", table=other)))
    rows = [*WHOLE.text_rows(), *[[*row, ""] for row in other.text_rows()]]
    matches = RECIPE.score_page(*both(pages, Table.from_rows(rows)), None).matches
    merged = [m for m in matches if m.rule == "ngrams" and m.kind == "merge"]
    assert [set(m.truth) for m in merged] == [{"p1-t1", "p2-t3"}]


def test_parts_by_region_and_by_relation() -> None:
    table = [Table.from_rows([["a", "b"], [str(n), "x"]]) for n in range(3)]
    by_region = [
        Page("s1", 1, 1, (Element("t1", "table", table=table[0], attributes={"region": 1, "regions": 2}),)),
        Page("s2", 1, 1, (Element("t1r2", "table", table=table[1], attributes={"region": 2, "regions": 2}),
                          Element("t2", "table", table=table[2])), ()),
    ]  # fmt: skip
    assert [e.table.n_rows for e in joined_page(by_region).tables if e.table] == [3, 2]
    beside = Page("s1", 1, 1, (Element("a", "table", table=table[0]), Element("b", "table", table=table[1])),
                  (Relation("continued", "a", "b"),))  # fmt: skip
    assert [e.table.n_rows for e in joined_page([beside]).tables if e.table] == [3]
    unrelated = replace(beside, relations=())
    assert [e.table.n_rows for e in joined_page([unrelated]).tables if e.table] == [2, 2]


def test_a_document_has_failed_only_where_every_page_has() -> None:
    bad = Prediction("s1", "p", Status.PARSER_FAILED, message="crash")
    good = Prediction("s2", "p", elements=(Element("e", "table", table=WHOLE),))
    assert joined_prediction([bad, good]).status is Status.OK
    assert joined_prediction([bad, good]).sample == "s1"
    assert joined_prediction([bad, replace(bad, sample="s2")]).status is Status.PARSER_FAILED


def test_places_and_one_to_one_rules_are_refused() -> None:
    assert str(get_protocol("tables(scope=document)")) == "tables(scope=document)"
    for rule in ("bbox", "content"):
        with pytest.raises(UsageError, match="ngrams"):
            get_protocol(f"tables(scope=document, match={rule})")


def stored(path: Path, documents: int) -> Run:
    """Documents of two pages with one long table, read rightly page by page; `lazy` misses page two."""
    run = Run.create(path, fabricate_manifest(2 * documents))
    rows, n = [], 0
    for d in range(documents):
        for number, page in enumerate(pages_broken_at(6), start=1):
            sample = Sample(f"d{d}-p{number}", f"d{d}", number, replace(page, id=f"d{d}-p{number}"))
            rows.append(sample_to_row(sample, None))
    RunFolder.of(run).add_samples(rows)
    with RunFolder.of(run).parses.journal() as journal:
        for row in rows:
            for parser in ("reads", "lazy"):
                n += 1
                part = BODY[:6] if row["page_number"] == 1 else BODY[6:]
                gives = not (parser == "lazy" and row["page_number"] == 2)
                cells = [
                    {"row": r, "col": c, "text": text}
                    for r, texts in enumerate([HEAD, *part])
                    for c, text in enumerate(texts)
                ]
                elements = [{"category": "table", "cells": cells}] if gives else []
                raw = json.dumps({"format": "elements", "elements": elements}).encode()
                blob = RunFolder.of(run).blobs.put(raw)
                journal.append(
                    ParseRecord(
                        row["sample"],
                        parser,
                        Status.OK,
                        work_key(blob, 1, parser),
                        blob=blob,
                        n_bytes=len(raw),
                        cpu_s=0.1,
                        finished=float(n),
                    ).to_json()
                )
    RunFolder.of(run).parses.fold()
    for parser in ("reads", "lazy"):
        entry = ParserEntry(name=parser, fingerprint=parser)
        RunFolder.of(run).update_manifest(lambda manifest, entry=entry: manifest.with_parser(entry))
    return run


def test_a_run_is_scored_by_whole_tables(tmp_path: Path) -> None:
    run = stored(tmp_path / "run", 4)
    by_page, whole = score_run(run, protocols=["tables", "tables(scope=document)"], n_workers=1)
    assert by_page.counts["tables"] == 12 and whole.counts["tables"] == 8
    assert whole.settings["match"] == "ngrams"
    assert whole.counts["documents with truth"] == 4 and "pages with truth" not in whole.counts
    assert whole.counts["pages"] == by_page.counts["pages with truth"]
    reads, lazy = (whole.figure(parser, whole.primary) for parser in ("reads", "lazy"))
    # Of two true tables one is answered: fully by one parser, with 0.7 by the other.
    assert reads is not None and reads.value == pytest.approx(2 * 1.0 / (1 + 2))
    assert lazy is not None and lazy.value == pytest.approx(2 * 0.7 / (1 + 2))
    scores = run.table("scores", "tables(scope=document)")
    assert set(scores["sample"]) == {f"d{d}-p1" for d in range(4)}
    again = score_run(run, protocols=["tables(scope=document)"], n_workers=2)
    assert again == [whole]
    build_report(run.path, tmp_path / "report")
    assert (tmp_path / "report" / "index.html").is_file()


def test_facts_of_all_pages_are_asked_of_a_whole_document() -> None:
    def page(number: int, *kinds: str) -> Page:
        facts = tuple(Fact(f"f{k}", kind, "parsemark") for k, kind in enumerate(kinds))
        return Page(f"s{number}", 600, 800, facts=facts, only_facts=True)

    whole = joined_page([page(1, "heading", "absent"), None, page(3, "link")])
    assert whole and [(f.id, f.kind) for f in whole.facts] == [("p1-f0", "heading"), ("p3-f0", "link")]
    alone = page(1, "heading", "absent")
    joined = joined_page([alone])
    assert joined and joined.facts == alone.facts, "of one page all is said"
