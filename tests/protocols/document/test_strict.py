"""The strict profile: everything counts once, and a perfect answer is perfect."""

from dataclasses import asdict
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from parsemark.corpora import load_corpus
from parsemark.formats import write_document
from parsemark.model import Element, Page, Prediction, Status, Table
from parsemark.protocols import get_protocol
from parsemark.protocols.document.annotation import TABLES_ONLY, TRUTH_HAS_ONLY_TABLES
from parsemark.protocols.document.protocol import DocumentProtocol
from parsemark.protocols.document.strict.page import cut_at_borders
from parsemark.protocols.document.summary import DocumentFigures
from parsemark.protocols.run_data.rows import PAGE_LEVEL

FOX = "The quick brown fox jumps over the lazy dog near the river bank."
MARKETS = "A completely different sentence about economics and markets."
BEST = {
    "text_edit": 0, "formula_f1": 1, "teds_f1": 1, "teds_structure_f1": 1, "order_edit": 0, "heading_tree": 1,
    "heading_parents": 1, "lost_text": 0, "invented_text": 0, "duplicated_text": 0, "false_tables": 0,
}  # fmt: skip


def page(*elements: Element) -> Page:
    return Page("p", 600, 800, elements)


def text(name: str, content: str, order: int, category: str = "text_block", **more: Any) -> Element:
    return Element(name, category, order=order, text=content, **more)


TRUTH = page(text("a", FOX, 0), text("b", MARKETS, 1))


def measures(truth: Page, output: str | None, **more: Any) -> dict[str, float | None]:
    prediction = Prediction("p", "parser", text=output, **more)
    rows = get_protocol("document").score_page(truth, prediction, None).scores
    return {row.metric: row.value for row in rows if row.element == ""}


def test_the_truth_written_as_markdown_is_a_perfect_prediction() -> None:
    kinds = set()
    for sample in load_corpus("demo").samples():
        assert sample.truth is not None
        found = measures(sample.truth, write_document(sample.truth))
        kinds |= found.keys()
        assert {k: v for k, v in found.items() if k in BEST} == {k: BEST[k] for k in found if k in BEST}
    assert kinds >= BEST.keys() - {"false_tables"}


@pytest.mark.parametrize("separator", ["\n\n", "\n\n\n", "  \n\n"])
def test_blank_lines_do_not_matter(separator: str) -> None:
    assert measures(TRUTH, separator.join((FOX, MARKETS)))["text_edit"] == 0


@pytest.mark.parametrize("beginning", ["", "<!DOCTYPE html>\n<html><head><title>W</title></head><body>"])
def test_html_is_read_as_html(beginning: str) -> None:
    truth = page(text("t", "Rivers", 0, "title"), text("a", FOX, 1), text("b", "*Not* emphasis: 2 * 3", 2))
    body = f"<h1>Rivers</h1>\n<p>{FOX[:9]}\n\n{FOX[9:]}</p>\n<p>*Not* emphasis: 2 * 3</p>"
    found = measures(truth, beginning + body, format="html")
    assert {k: v for k, v in found.items() if k in BEST} == {k: BEST[k] for k in found if k in BEST}
    assert found["heading_tree"] == 1


def test_markdown_that_is_called_html_is_read_as_markdown() -> None:
    assert measures(TRUTH, f"{FOX}\n\n{MARKETS}", format="html")["order_edit"] == 0


def test_latex_is_read_as_latex() -> None:
    truth = page(
        text("t", "Rivers", 0, "title"),
        text("a", FOX, 1),
        text("l", "first\nsecond", 2, "list_group"),
        text("b", "Half # of it, 50 % & more", 3),
    )
    body = "\\section{Rivers} % a remark\n" + FOX.replace("brown", r"\emph{brown}")
    items = "\\begin{itemize}\\item first\\item second\\end{itemize}"
    output = f"{body}\n\n{items}\n\nHalf \\# of it, 50~\\% \\& more"
    found = measures(truth, output, format="latex")
    assert {k: v for k, v in found.items() if k in BEST} == {k: BEST[k] for k in found if k in BEST}
    assert found["heading_tree"] == 1
    assert measures(truth, output)["text_edit"] != 0, "as Markdown it says something else"


def test_in_plain_text_signs_of_markdown_mean_themselves() -> None:
    """A rule below a line is no heading, a star no emphasis, a number with a stop no list."""
    lines = ["Rivers and lakes", "----", "1986. A good year", "* see *below*, `x_1_` and <none>"]
    truth = page(text("a", "\n".join(lines), 0))
    assert measures(truth, "\n".join(lines), format="text")["text_edit"] == 0
    assert measures(truth, "\n".join(lines))["text_edit"] != 0


@pytest.mark.parametrize("called", ["text", "latex"])
@pytest.mark.parametrize(
    "line",
    ["# Rivers", "**Rivers**\n", "```markdown\n# Rivers\n```", "# Rivers\n\n| a | b |\n|---|---|\n| 1 | 2 |"],
)
def test_markdown_that_is_called_otherwise_is_read_as_markdown(line: str, called: str) -> None:
    output = f"{line}\n\n{FOX}\n\n{MARKETS}"
    assert measures(TRUTH, output, format=called) == measures(TRUTH, output)


@pytest.mark.parametrize("markup", ["$$a=b$$", r"\[a=b\]", "<p>a</p>", r"\section{A}"])
def test_a_text_with_markup_of_blocks_is_not_plain(markup: str) -> None:
    output = f"{markup}\n\n{FOX}\n\n{MARKETS}"
    assert measures(TRUTH, output, format="text") == measures(TRUTH, output)


def test_latex_may_quote_markdown() -> None:
    quoted = "\\begin{verbatim}\n# a comment\n\\end{verbatim}"
    output = f"\\section{{A}}\n{quoted}\n\n{FOX} % ~ \n\n{MARKETS.replace(' ', '~', 1)}"
    assert measures(TRUTH, output, format="latex")["lost_text"] == 0
    titles = measures(page(text("t", "A", 0, "title"), *TRUTH.elements), output, format="latex")
    assert titles["heading_tree"] == 1


def test_single_newlines_do_not_matter() -> None:
    """Two paragraphs run together are a merge, and cost nothing."""
    assert measures(TRUTH, f"{FOX}\n{MARKETS}")["text_edit"] == 0


def test_a_page_in_one_paragraph_costs_nothing() -> None:
    """However many paragraphs were run together."""
    sentences = [f"Sentence number {i} speaks about topic {i * 37} and nothing else." for i in range(25)]
    truth = page(*(text(f"t{i}", s, i) for i, s in enumerate(sentences)))
    assert measures(truth, "\n".join(sentences))["text_edit"] == 0


def test_extra_text_counts() -> None:
    found = measures(TRUTH, f"{FOX}\n\n{MARKETS}\n\nSomething that nobody wrote on this page at all.")
    assert found["text_edit"] is not None and 0.2 < found["text_edit"] < 0.4
    assert found["invented_text"] is not None and found["invented_text"] > 0.2
    assert found["lost_text"] == 0


def test_the_lost_text_that_is_shown_is_what_the_figure_counts() -> None:
    table = Table.from_rows([["density", "7.87"], ["hardness", "4.0"]])
    truth = page(
        text("a", FOX, 0),
        Element("t", "table", order=1, table=table),
        text("n", "Page 99999", 2, "page_number"),
    )
    output = f"{FOX.replace('quick', 'quikc')}\n\n| density | 7.81 |\n|---|---|\n| hardness | 4.0 |\n"
    pages = get_protocol("document").presentation().pages
    assert pages is not None
    view = pages.view(truth, Prediction("p", "parser", text=output))
    n_true = len("".join(FOX.split())) + len("density7.87hardness4.0")
    assert "7.87" in view.lost and not any("Page" in text for text in view.lost)
    assert view.n_lost == sum(map(len, view.lost))
    assert view.values["lost_text"] == pytest.approx(view.n_lost / n_true)


def test_missing_text_counts_once() -> None:
    found = measures(TRUTH, FOX)
    lengths = [len("".join(t.split())) for t in (FOX, MARKETS)]
    assert found["text_edit"] == pytest.approx(lengths[1] / sum(lengths))
    assert found["order_edit"] == 0.5


@pytest.mark.parametrize("status", [Status.PARSER_FAILED, Status.PARSER_TIMEOUT, Status.NO_PREDICTION])
def test_a_failed_page_counts(status: Status) -> None:
    found = measures(TRUTH, None, status=status, message="it crashed")
    assert found["text_edit"] == found["order_edit"] == found["lost_text"] == 1


def test_moved_text_costs_order_alone() -> None:
    found = measures(TRUTH, f"{MARKETS}\n\n{FOX}")
    assert found["text_edit"] == 0
    assert found["order_edit"] == 1.0


def test_repeated_text_is_duplicated() -> None:
    found = measures(TRUTH, f"{FOX}\n\n{MARKETS}\n\n{FOX}")
    assert found["lost_text"] == found["invented_text"] == 0
    assert found["duplicated_text"] is not None and found["duplicated_text"] > 0.3


@pytest.mark.parametrize("between", ["", "17\n\nJournal of Metals 7\n\n"])
def test_a_page_given_twice_is_found_once_and_in_order(between: str) -> None:
    """What is given a second time is extra, and no part of its neighbours."""
    formula = Element("f", "equation_isolated", order=3, latex="E = mc^2")
    table = Element("t", "table", order=5, table=Table.from_rows([["metal", "density"], ["lead", "11.34"]]))
    truth = page(
        text("h", "Journal of Metals 7", 0, "header"), text("1", "Metals", 1, "title"), text("2", FOX, 2),
        formula, text("3", MARKETS, 4), table,
    )  # fmt: skip
    pipes = "| metal | density |\n|---|---|\n| lead | 11.34 |"
    once = "\n\n".join(("Journal of Metals 7", "# Metals", FOX, "$$E = mc^2$$", MARKETS, pipes))
    found = measures(truth, f"{once}\n\n{between}{once}")
    assert found["order_edit"] == 0 and found["heading_parents"] == 1
    assert found["formula_f1"] == found["teds_f1"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("ways", [("x²", "$x^2$", "x<sup>2</sup>"), ("H₂", "H$_2$", "H<sub>2</sub>")])
@pytest.mark.parametrize("behind", [" and more", "and more", "与y之和", ""])
def test_scripts_are_the_same_whatever_follows(ways: tuple[str, ...], behind: str) -> None:
    for a in ways:
        for b in ways:
            assert measures(page(text("a", f"area {a}{behind}", 0)), f"area {b}{behind}")["text_edit"] == 0


def test_parts_of_a_table_count_each_and_merged_tables_once() -> None:
    rows = [[f"name {i}", f"{i * 37}", f"{i * 91}"] for i in range(8)]
    others = [[f"town {i}", f"{i * 53}", f"{i * 17}"] for i in range(8)]

    def pipe(cells: list[list[str]]) -> str:
        lines = ["| " + " | ".join(row) + " |" for row in cells]
        return "\n".join([lines[0], "|---|---|---|", *lines[1:]])

    one = page(Element("t", "table", order=0, table=Table.from_rows(rows)))
    halves = measures(one, pipe(rows[:4]) + "\n\n" + pipe(rows[4:]))
    assert halves["table_credit"] == pytest.approx(2, abs=0.3) and halves["teds_f1"] is not None
    assert halves["table_count"] == 3
    two = page(*one.elements, Element("u", "table", order=1, table=Table.from_rows(others)))
    merged = measures(two, pipe(rows + others))
    assert merged["table_count"] == 3 and merged["order_edit"] == 0


def test_false_tables_and_formulas_count() -> None:
    found = measures(TRUTH, f"{FOX}\n\n<table><tr><td>1</td></tr></table>\n\n$$x=1$$\n\n{MARKETS}")
    assert found["teds_f1"] == found["formula_f1"] == 0
    assert found["false_tables"] == 1


def test_running_heads_may_be_given_or_left_out() -> None:
    truth = page(text("h", "Journal of Tests, volume 12", 0, "header"), *TRUTH.elements)
    assert measures(truth, f"Journal of Tests, volume 12\n\n{FOX}\n\n{MARKETS}")["text_edit"] == 0
    assert measures(truth, f"{FOX}\n\n{MARKETS}")["text_edit"] == 0


def test_what_is_ignored_neither_helps_nor_hurts() -> None:
    truth = page(*TRUTH.elements, text("i", "Handwriting that cannot be read", 2, ignore=True))
    assert measures(truth, f"{FOX}\n\n{MARKETS}\n\nHandwriting that cannot be read")["text_edit"] == 0
    assert measures(truth, f"{FOX}\n\n{MARKETS}")["text_edit"] == 0


def test_levels_of_headings_count_only_against_each_other() -> None:
    truth = page(
        text("1", "1 Introduction", 0, "title", attributes={"level": 1}),
        text("2", "1.1 Methods", 1, "title", attributes={"level": 2}),
        text("3", "2 Results", 2, "title", attributes={"level": 1}),
    )
    shifted = measures(truth, "## 1 Introduction\n\n### 1.1 Methods\n\n## 2 Results")
    assert shifted["heading_tree"] == shifted["heading_parents"] == 1
    flat = measures(truth, "# 1 Introduction\n\n# 1.1 Methods\n\n# 2 Results")
    assert flat["heading_parents"] == pytest.approx(2 / 3)
    assert flat["heading_tree"] is not None and flat["heading_tree"] < 1


def test_a_page_without_text_counts_and_tells_of_a_parser_of_tables() -> None:
    """A parser of elements that gives nothing on a hard page must not lose that page from its means."""
    protocol = get_protocol("document")
    empty = protocol.score_page(TRUTH, Prediction("p", "parser", elements=()), None).scores
    failed = protocol.score_page(TRUTH, Prediction("p", "parser", text=""), None).scores
    of_page = [{r.metric: r.value for r in rows if r.element == PAGE_LEVEL} for rows in (empty, failed)]
    assert of_page[0] == of_page[1] and of_page[0]["text_edit"] == 1
    (marked,) = [row for row in empty if row.message == TABLES_ONLY]
    assert (marked.metric, marked.status) == ("text_edit", Status.NO_PREDICTION)


HOSTILE = {
    "two megabytes": "word and word " * 150_000,
    "paragraphs": "\n\n".join(f"paragraph number {i} of many" for i in range(5_000)),
    "nested tables": "<table><tr><td>" * 100 + "x" + "</td></tr></table>" * 100,
    "open formulas": "$$ a { b \\left( " * 2_000,
    "one line": "x" * 500_000,
    "garbage": "".join(chr(c) for c in range(1, 0xD000)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_are_scored_or_say_why_not(name: str) -> None:
    found = measures(TRUTH, HOSTILE[name])
    assert found["text_edit"] is not None and 0 <= found["text_edit"] <= 1


@pytest.mark.parametrize("spec", ["document", "document(profile=v1.0)", "document(profile=v1.6)"])
def test_a_truth_of_tables_alone_says_nothing_about_text(spec: str) -> None:
    """Right text around a right table is not invented: the truth does not know it."""
    table = Table.from_rows([["a", "b"], ["1", "2"]])
    truth = Page("p", 600, 800, (Element("t1", "table", order=1, table=table),), only_tables=True)
    output = f"{FOX}\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n{MARKETS}\n"
    rows = get_protocol(spec).score_page(truth, Prediction("p", "parser", text=output), None).scores
    values = {row.metric: row.value for row in rows if row.element == ""}
    assert values["text_edit"] is None
    assert values.keys().isdisjoint({"invented_text", "lost_text", "text_edits", "text_length"})
    assert values["teds_f1" if spec == "document" else "teds"] == 1
    assert next(r for r in rows if r.metric == "text_edit").message == TRUTH_HAS_ONLY_TABLES
    assert all(row.category in ("table", "") for row in rows)


@pytest.mark.parametrize("spec", ["document", "document(profile=v1.0)", "document(profile=v1.6)"])
def test_without_truth_failures_make_no_order(spec: str) -> None:
    protocol = get_protocol(spec)
    assert isinstance(protocol, DocumentProtocol)
    assert DocumentFigures(protocol.profile, cdm=False).primary([]) == "overall"


HEAT = Element(
    "f", "equation_isolated", order=1,
    latex=r"\frac{\partial u}{\partial t} + v \nabla u = \gamma \nabla^2 u",
)  # fmt: skip
CONSTANTS = "Its constants were measured in the laboratory, at twenty degrees, by three people. " * 3
FLAT = "∂u ∂t + v ∇u = γ∇2u"


@pytest.mark.parametrize("behind", [CONSTANTS, CONSTANTS[:83]])
@pytest.mark.parametrize("flat", [FLAT, "∂u ∂t + v ∇u = γ∇7w"])
def test_a_formula_that_was_run_into_text_is_compared_alone(flat: str, behind: str) -> None:
    """However long the paragraph is, and on whichever side of the formula it stands."""
    after = page(text("a", FOX, 0), HEAT, text("b", behind, 2))
    alone = measures(after, f"{FOX}\n\n{flat}\n\n{behind}")
    for output in (f"{FOX}\n\n{flat} {behind}", f"{FOX} {flat}\n\n{behind}", f"{FOX} {flat} {behind}"):
        glued = measures(after, output)
        assert glued["formula_f1"] == pytest.approx(alone["formula_f1"]), output
        assert glued["text_edit"] == 0
        assert glued["text_length"] == alone["text_length"]
        assert glued["formula_count"] == 2
    assert 0.5 < (alone["formula_f1"] or 0) < 0.9


@pytest.mark.parametrize("number", ["(2)", "(13)", "[2.1]"])
def test_errors_of_a_text_with_a_formula_in_its_block_count_as_text(number: str) -> None:
    truth = page(text("a", FOX, 0), HEAT, text("b", MARKETS, 2))
    wrong = MARKETS.replace("economics", "xconomxcs")
    apart = measures(truth, f"{FOX}\n\n{FLAT}\n\n{wrong}")
    for output in (f"{FOX}\n\n{FLAT} {number} {wrong}", f"{FOX} {number} {FLAT}\n\n{wrong}"):
        found = measures(truth, output)
        assert found["text_edits"] == 2 + len(number)
        assert found["formula_f1"] == pytest.approx(apart["formula_f1"])


def test_a_formula_that_is_left_out_of_a_merged_block_is_missed() -> None:
    short = Element("f", "equation_isolated", order=1, latex="z^9")
    truth = page(text("a", FOX, 0), short, text("b", MARKETS, 2))
    found = measures(truth, f"{FOX} {MARKETS}")
    assert (found["formula_f1"], found["formula_count"], found["text_edit"]) == (0, 1, 0)


def test_a_block_over_several_kinds_is_one_match_with_scores_of_each_kind() -> None:
    truth = page(text("a", FOX, 0), HEAT, text("b", MARKETS, 2), text("c", CONSTANTS, 3, ignore=True))
    prediction = Prediction("p", "parser", text=f"{FOX} {FLAT} {MARKETS} {CONSTANTS}")
    rows = get_protocol("document").score_page(truth, prediction, None)
    assert [(m.truth, m.kind) for m in rows.matches] == [(("a", "f", "b", "c"), "merge")]
    scored = [(s.category, s.element) for s in rows.scores if s.metric == "edit_distance"]
    assert sorted(scored) == [("formula", "f"), ("text", "a"), ("text", "b")]

    class View:
        matches = pl.DataFrame([asdict(m) | {"truth": [*m.truth], "pred": [*m.pred]} for m in rows.matches])

        def scores_by(self, metric: str) -> pl.DataFrame:
            wanted = [(s.sample, s.parser, s.element, s.pred) for s in rows.scores if s.metric == metric]
            columns = dict.fromkeys(("sample", "parser", "element", "pred"), pl.String)
            return pl.DataFrame(wanted, schema=columns, orient="row")

    errors = get_protocol("document").presentation().element_errors(View())  # type: ignore[arg-type] # all that is read of it
    assert errors.select("element", "error").rows() == [(e, "merged") for e in ("a", "f", "b", "c")]


@given(st.lists(st.tuples(st.text("ab=2", min_size=1), st.booleans()), min_size=1), st.text("ab=2"))
def test_parts_cost_together_what_the_whole_costs(texts: list[tuple[str, bool]], whole: str) -> None:
    expected = [t for t, _ in texts]
    parts = cut_at_borders(expected, whole, [right for _, right in texts[1:]])
    assert "".join(parts) == whole
    edits = sum(Levenshtein.distance(a, b) for a, b in zip(expected, parts, strict=True))
    assert edits == Levenshtein.distance("".join(expected), whole)


@pytest.mark.parametrize("mark", ["•", "–", "-", "▪ ", "◦", "*"])
@pytest.mark.parametrize(
    "output", ["- one item\n- another one", "* one item\n* another one", "• one item\n• another one"]
)
def test_printed_bullets_and_lists_of_markdown_are_the_same(mark: str, output: str) -> None:
    listed = page(text("a", f"{mark} one item\n{mark} another one", 0), text("b", FOX, 1))
    assert measures(listed, f"{output}\n\n{FOX}")["text_edit"] == 0


def test_dashes_inside_of_lines_count() -> None:
    listed = page(text("a", "one - two", 0))
    assert measures(listed, "one two")["text_edit"] > 0


def test_a_heading_in_capitals_is_charged_once() -> None:
    """Twelve letters, of which eleven differ: not eleven missed and as many invented beside them."""
    truth = page(text("a", "Introduction", 0, "title"), text("b", FOX, 1), text("c", MARKETS, 2))
    found = measures(truth, f"# INTRODUCTION\n\n{FOX}\n\n{MARKETS}")
    longer = sum(len("".join(part.split())) for part in ("Introduction", FOX, MARKETS))
    assert found["text_edit"] == pytest.approx(11 / longer)
    assert found["order_edit"] == 0
