"""A true table that cannot be read counts against nobody, save where its place alone is asked for."""

from dataclasses import replace

import pytest

from parsemark.formats.model_json import page_to_json
from parsemark.model import TRUTH_ERROR, Box, Element, Page, Prediction
from parsemark.protocols import get_protocol
from parsemark.protocols.whole_documents import joined_page

from .tables_bench import LEFT, RIGHT, ROWS_A, ROWS_B, Bench, table, value

UNREAD = Element("t2", "table", box=RIGHT, attributes={TRUTH_ERROR: "There is no html table in the truth."})
EXTRA = Box(0, 300, 100, 400)


def page(*elements: Element) -> Page:
    return Page("p1", 500, 500, elements)


def bench(*truths: Element, boxes: bool = True) -> Bench:
    """A perfect parser, one that misses the table that cannot be read, and one that finds a third one."""
    made = Bench({"p1": page(*truths), "none": Page("none", 500, 500)})
    left, right, extra = (box if boxes else None for box in (LEFT, RIGHT, EXTRA))
    first = table("a", ROWS_A, left)
    made.add("perfect", "p1", first, table("b", ROWS_B, right))
    made.add("misses", "p1", first)
    made.add("extra", "p1", first, table("b", ROWS_B, right), table("c", ROWS_B, extra))
    for parser in ("perfect", "misses", "extra"):
        made.add(parser, "none")
    return made


@pytest.mark.parametrize("unread", [UNREAD, replace(UNREAD, attributes={}), replace(UNREAD, text="x y")])
def test_by_place_it_is_found_or_missed_and_its_content_counts_for_nobody(unread: Element) -> None:
    summary = bench(table("t1", ROWS_A, LEFT), unread).summary()
    assert summary.settings["match"] == "bbox"
    found = {p: [value(summary, p, f) for f in ("td_f1", "te_f1_con", "tsr_con")] for p in summary.parsers}
    assert found["perfect"] == [1, 1, 1]
    assert found["misses"] == [pytest.approx(2 / 3), 1, 1]
    assert found["extra"] == [pytest.approx(4 / 5), pytest.approx(2 / 3), 1], "by place the third is false"
    assert any("1 of 2 true tables cannot be read" in note for note in summary.notes)
    assert summary.counts["tables"] == 2 and summary.counts["pages without tables"] == 1


def test_by_text_it_is_left_out_with_what_may_answer_it() -> None:
    summary = bench(table("t1", ROWS_A, None), replace(UNREAD, box=None), boxes=False).summary()
    assert summary.settings["match"] == "ngrams"
    for parser in summary.parsers:
        assert [value(summary, parser, f) for f in ("td_f1", "te_f1_con", "tsr_con")] == [1, 1, 1]
        assert value(summary, parser, "false_tables_per_negative_page") == 0
        assert summary.parsers[parser]["false_tables_per_negative_page"].n == 1
    assert any(
        "1 of 2 true tables cannot be read: it counts in no score of any parser" in note
        for note in summary.notes
    )


def test_a_page_with_nothing_else_is_no_page_without_tables() -> None:
    summary = bench(replace(UNREAD, box=None), boxes=False).summary()
    for parser in summary.parsers:
        assert summary.parsers[parser]["te_f1_con"].value is None
        assert summary.parsers[parser]["false_tables_per_negative_page"].n == 1, "the page without tables"


def test_slices_ask_for_the_structure_of_what_can_be_read() -> None:
    true = replace(table("t1", ROWS_A, LEFT), attributes={"line": "full"})
    unread = replace(UNREAD, attributes={"line": "full", **UNREAD.attributes})
    slices = bench(true, unread).summary().slices
    assert {s.attribute for s in slices if s.scope == "table"} == {"line"}, (
        "what is wrong is no kind of table"
    )
    (found,) = (s for s in slices if s.attribute == "line")
    assert found.figures["misses"]["td_recall"].value == 0.5
    assert found.figures["misses"]["te_recall_con"].value == 1


def test_average_precision_weighs_only_what_can_be_read() -> None:
    made = Bench({"p1": page(table("t1", ROWS_A, LEFT), UNREAD)})
    made.add("sure", "p1", table("a", ROWS_A, LEFT, 0.9), table("b", ROWS_B, RIGHT, 0.95))
    summary = made.summary()
    assert value(summary, "sure", "ap") == value(summary, "sure", "ap_con") == 1


def test_a_long_table_with_a_part_that_cannot_be_read_cannot_be_read() -> None:
    parts = [
        replace(table("t1", ROWS_A, LEFT), attributes={"part": 1}),
        replace(UNREAD, id="t1", attributes={"part": 2, **UNREAD.attributes}),
    ]
    joined = joined_page([replace(page(part), id=f"p{n}") for n, part in enumerate(parts, start=1)])
    assert joined is not None and [t.is_unread for t in joined.tables] == [True]
    assert TRUTH_ERROR in page_to_json(joined)["elements"][0]["attributes"]


def test_where_a_table_stands_in_its_file_is_no_kind_of_table() -> None:
    true = replace(
        table("t1", ROWS_A, LEFT), attributes={"start": 0, "end": 70, "within": "e1", "long": True}
    )
    slices = bench(true).summary().slices
    assert {s.attribute for s in slices if s.scope == "table"} == {"long"}


def measured(spec: str, *tables: Element) -> dict[tuple[str, str], float | None]:
    """What a page with one table that can be read and one that cannot gives, by element and metric."""
    truth = page(table("t1", ROWS_A, None), replace(UNREAD, box=None))
    scores = get_protocol(spec).score_page(truth, Prediction("p1", "x", elements=tables), None).scores
    return {(row.element, row.metric): row.value for row in scores}


def test_a_whole_page_has_no_invented_table_where_one_may_be_the_table_that_cannot_be_read() -> None:
    found = measured("document", table("a", ROWS_A, None), table("b", ROWS_B, None))
    assert (found["", "teds_f1"], found["", "false_tables"], found["", "lost_text"]) == (1, 0, 0)
    assert ("", "invented_text") not in found, "some of it may be in the table that cannot be read"


def test_nobody_is_judged_by_what_cannot_be_read() -> None:
    found = measured("semantic", table("a", ROWS_A, None), table("b", ROWS_B, None))
    assert found["t1", "semantic"] == 10
    assert not any(element == "t2" for element, _ in found) and ("", "extra_tables") not in found
