"""A truth that does not have everything: what it has not is neither missed nor invented."""

from __future__ import annotations

from dataclasses import replace

import pytest

from parsemark.formats.model_json import page_from_json, page_to_json
from parsemark.model import Box, Element, Match, Page, Prediction, Table
from parsemark.protocols import get_protocol
from parsemark.protocols.answers.ask import ask
from parsemark.protocols.answers.derive import facts_of_page
from parsemark.protocols.answers.output import AskedOutput
from parsemark.protocols.tables.page import known_matches
from parsemark.protocols.whole_documents import joined_page

KNOWN = Table.from_rows([["Country", "Output"], ["France", "1200"], ["Spain", "3400"]], header_rows=1)
OTHER = Table.from_rows([["Colour", "Weight"], ["red", "57"], ["green", "61"]], header_rows=1)
TEXT = "The survey of all harbours was made in the summer of 1987 by two ships of the navy."
UNKNOWN = "Quite another paragraph, about the weather in the mountains and the price of bread."
PAGE = Page(
    "p",
    600,
    800,
    (
        Element("h", "title", order=0, text="Harbours", derivation="outline"),
        Element("x", "text_block", order=1, text=TEXT, derivation="structure tree"),
        Element("t", "table", Box(10, 10, 90, 90), order=2, table=KNOWN, derivation="structure tree"),
    ),
    covered=frozenset(),
)
RIGHT = f"# Harbours\n\n{TEXT}\n\n| Country | Output |\n|---|---|\n| France | 1200 |\n| Spain | 3400 |\n"
MORE = f"{RIGHT}\n{UNKNOWN}\n\n## Weather\n\n| Colour | Weight |\n|---|---|\n| red | 57 |\n| green | 61 |\n"


def measures(page: Page, output: str, spec: str = "document") -> dict[str, float | None]:
    rows = get_protocol(spec).score_page(page, Prediction("p", "parser", text=output), None).scores
    return {row.metric: row.value for row in rows if row.element == ""}


def tables_of(page: Page, *tables: Table) -> list[tuple[str, str, str]]:
    elements = tuple(Element(f"p{k}", "table", table=table) for k, table in enumerate(tables))
    rows = get_protocol("tables").score_page(page, Prediction("p", "parser", elements=elements), None).matches
    return [(row.rule, "+".join(row.truth), "+".join(row.pred)) for row in rows]


def test_it_is_written_and_read_again() -> None:
    assert page_from_json(page_to_json(PAGE)) == PAGE
    whole = replace(PAGE, covered=None)
    assert "covered" not in page_to_json(whole) and page_from_json(page_to_json(whole)) == whole


def test_what_a_page_covers() -> None:
    assert not PAGE.covers("table") and PAGE.n_tables == 1
    assert replace(PAGE, elements=()).n_tables is None, "it says nothing of tables"
    assert replace(PAGE, elements=(), covered=frozenset({"table"})).n_tables == 0
    assert Page("p", 1, 1, only_tables=True).covers("table")
    assert not Page("p", 1, 1, only_tables=True).covers("text_block")
    assert not Page("p", 1, 1, only_facts=True).covers("table")


class TestDocument:
    def test_what_is_not_covered_is_not_invented(self) -> None:
        alone, more = measures(PAGE, RIGHT), measures(PAGE, MORE)
        assert alone["text_edit"] == more["text_edit"] == 0
        assert more["teds_f1"] == 1 and more["false_tables"] == 0
        assert more["lost_text"] == 0 and "invented_text" not in more
        assert more["heading_tree"] == alone["heading_tree"]

    def test_what_is_covered_is_invented(self) -> None:
        more = measures(replace(PAGE, covered=None), MORE)
        assert more["text_edit"] not in (0, None) and more["false_tables"] == 1 and "invented_text" in more

    def test_what_is_there_is_missed(self) -> None:
        found = measures(PAGE, "0")
        assert found["teds_f1"] == 0 and found["lost_text"] == found["text_edit"] == 1

    def test_text_around_a_known_one_in_the_same_block_is_not_counted(self) -> None:
        joined = RIGHT.replace(TEXT, f"{UNKNOWN} {TEXT} {UNKNOWN}")
        assert measures(PAGE, joined)["text_edit"] == pytest.approx(0, abs=0.03)
        assert (measures(replace(PAGE, covered=None), joined)["text_edit"] or 0) > 0.3

    def test_tables_alone_are_covered(self) -> None:
        page = replace(PAGE, elements=PAGE.elements[2:], covered=frozenset({"table"}))
        found = measures(page, MORE)
        assert found["text_edit"] is None and found["false_tables"] == 1

    def test_published_profiles_score_only_what_is_covered(self) -> None:
        found = measures(replace(PAGE, covered=frozenset({"table"})), MORE, "document(profile=v1.6)")
        assert found["text_edit"] is None and found["order_edit"] is None and found["teds"] == 1
        assert measures(PAGE, MORE, "document(profile=v1.6)")["table_edit"] is None


class TestTables:
    def test_another_table_is_no_extra(self) -> None:
        found = tables_of(PAGE, OTHER, KNOWN)
        assert found == [("bbox", "t", ""), ("content", "t", "p1"), ("ngrams", "t", "p1")]
        assert ("content", "", "p0") in tables_of(replace(PAGE, covered=None), OTHER, KNOWN)

    def test_what_is_only_a_little_alike_is_no_answer(self) -> None:
        matches = [
            Match(("a",), ("p",), 0.3),
            Match(("b", "c"), ("q",), 0.4),
            Match((), ("r",)),
            Match(("d",), ("s",), 0.9),
        ]
        assert list(known_matches(matches)) == [Match(("a",), ()), Match(("b",), ()), matches[3]]

    def test_a_document_covers_what_all_its_pages_cover(self) -> None:
        pages = [
            replace(PAGE, id=name, covered=covered)
            for name, covered in (
                ("1", frozenset({"table", "title"})),
                ("2", None),
                ("3", frozenset({"table"})),
            )
        ]
        joined = joined_page(pages)
        assert joined is not None and joined.covered == {"table"}


class TestAnswers:
    @pytest.mark.parametrize("covered", [None, frozenset[str]()])
    def test_another_table_with_the_same_names(self, covered: frozenset[str] | None) -> None:
        page = replace(PAGE, covered=covered)
        twin = Table.from_rows([["Country", "Output"], ["France", "9"]], header_rows=1)
        output = AskedOutput((*page.elements, Element("twin", "table", table=twin)))
        (fact,) = (f for f in facts_of_page(page) if f.arguments.get("answer") == "1200")
        assert fact.derivation == "structure tree"
        assert ask(fact, output).state == ("wrong" if covered is None else "right")
        wrong = AskedOutput((Element("twin", "table", table=twin),))
        assert ask(fact, wrong).state == "wrong", "a value that nobody gives is not right"
