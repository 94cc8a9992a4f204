"""The semantic protocol: reader or judge, rule or model, and what a failure counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.judges.chat_server import ChatServer, completion, error, fenced_blocks, honest
from tests.judges.test_locate import pointing
from tests.protocols.tables_bench import PAGES, ROWS_A, ROWS_B, table

from parsemark.errors import UsageError
from parsemark.formats.model_json import page_to_json
from parsemark.judges import Asker
from parsemark.model import Cell, Element, Page, Prediction, Status, Table
from parsemark.protocols import get_protocol
from parsemark.protocols.semantic.page import NOT_JUDGED
from parsemark.store.run_tables import RunTables
from parsemark.store.summary import Summary

WRONG_B = [["metal", "density"], ["copper", "8.69"], ["lead", "1.34"]]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from parsemark.protocols.semantic import page

    monkeypatch.setenv("PARSEMARK_CACHE", str(tmp_path / "cache"))
    page._asker.cache_clear()


def rows(scores: Any, metric: str = "semantic") -> dict[str, tuple[float | None, str]]:
    return {r.element: (r.value, str(r.status)) for r in scores if r.metric == metric}


def run_of(spec: str, outputs: dict[str, dict[str, Prediction]], pages: dict[str, Page]) -> Summary:
    protocol = get_protocol(spec)
    scored = [
        protocol.score_page(pages[sample], prediction, None)
        for parser in outputs.values()
        for sample, prediction in parser.items()
    ]
    samples = pl.DataFrame(
        [
            {"sample": n, "document": n, "n_tables": len(p.tables), "attributes": "{}",
             "truth": json.dumps(page_to_json(p))}
            for n, p in pages.items()
        ]
    )  # fmt: skip
    parses = pl.DataFrame(
        [
            {"sample": p.sample, "parser": p.parser, "status": str(p.status), "cpu_s": 1.0, "wall_s": 1.0,
             "peak_memory_mb": 1.0, "cost_usd": None}
            for own in outputs.values()
            for p in own.values()
        ],
        schema_overrides={"cost_usd": pl.Float64},
    )  # fmt: skip

    def frame(found: list[Any]) -> pl.DataFrame:
        if not found:
            return pl.DataFrame()
        fields = found[0].__dataclass_fields__
        return pl.DataFrame(
            [{f: getattr(r, f) for f in fields} for r in found],
            infer_schema_length=None,
            schema_overrides={"message": pl.String} if "message" in fields else None,
        )

    matches, scores = ([r for s in scored for r in getattr(s, part)] for part in ("matches", "scores"))
    return protocol.summarise(RunTables(samples, parses, frame(matches), frame(scores)))


def prediction(parser: str, sample: str, *tables: Element, **more: Any) -> Prediction:
    return Prediction(sample, parser, elements=tables, **more)


def test_by_reader_a_miss_is_zero_and_a_failure_too() -> None:
    spanned = Table(
        3, 2, (Cell(0, 0, "x", colspan=2), *(Cell(r, c, f"{r}{c}") for r in (1, 2) for c in (0, 1)))
    )
    pages = {**PAGES, "p3": Page("p3", 500, 500, (Element("t1", "table", table=spanned),))}
    good = {
        "p1": prediction("good", "p1", table("a", ROWS_A, None), table("b", ROWS_B, None)),
        "p2": prediction("good", "p2", table("a", ROWS_B, None)),
        "empty": prediction("good", "empty", table("a", ROWS_A, None)),
        "p3": prediction("good", "p3", Element("a", "table", table=spanned)),
    }
    bad = {
        "p1": prediction("bad", "p1", table("a", ROWS_A, None)),
        "p2": prediction("bad", "p2", table("a", WRONG_B, None)),
        "empty": prediction("bad", "empty"),
        "p3": Prediction("p3", "bad", Status.PARSER_TIMEOUT),
    }
    summary = run_of("semantic", {"good": good, "bad": bad}, pages)
    best, worst = summary.parsers["good"], summary.parsers["bad"]
    assert best["semantic"].value == pytest.approx(10)
    assert best["semantic"].n == worst["semantic"].n == 4
    assert best["semantic_moderate"].n == 1 and best["semantic_simple"].n == 3
    assert best["extra_tables_per_page"].value == pytest.approx(0.25)
    value = worst["semantic"].value
    assert value is not None and 10 / 4 <= value < 20 / 4
    assert worst["found"].value == 0.5
    assert worst["teds"].value is not None and worst["teds"].n == 4
    assert summary.ordered() == ["good", "bad"]
    assert summary.details["histogram"]["good"]["scores"][10] == 4
    assert summary.details["histogram"]["bad"]["without_value"] == 2
    assert summary.counts["simple tables"] == 3


def test_every_interval_holds_its_value() -> None:
    pages = dict.fromkeys(("one", "two", "three", "four", "five", "six"), PAGES["p1"])
    given = {
        "good": {n: prediction("good", n, *page.tables) for n, page in pages.items()},
        "poor": {n: prediction("poor", n, *(page.tables if n == "one" else ())) for n, page in pages.items()},
    }
    summary = run_of("semantic", given, pages)
    assert summary.parsers["good"]["semantic"].value == 10.0
    for figures in summary.parsers.values():
        for name, figure in figures.items():
            if figure.interval and figure.value is not None:
                assert figure.interval[0] <= figure.value <= figure.interval[1], (name, figure)
    verdict = summary.ranking.verdicts[0]
    assert verdict.low is not None and verdict.high is not None
    assert verdict.low <= verdict.difference <= verdict.high


def test_by_judge_scores_cost_and_failures() -> None:
    page = {"p1": PAGES["p1"]}
    answer = prediction("one", "p1", table("a", ROWS_A, None), table("b", WRONG_B, None))
    with ChatServer(honest) as server:
        judge = server.spec(input_usd=1000, output_usd=1000)
        summary = run_of(f"semantic(judge={judge})", {"one": {"p1": answer}}, page)
        assert len(server.requests) == 2
        again = run_of(f"semantic(judge={judge})", {"one": {"p1": answer}}, page)
        assert len(server.requests) == 2, "a second scoring costs nothing"
    assert summary.parsers == again.parsers
    figures = summary.parsers["one"]
    assert figures["semantic"].n == 2 and 5 < (figures["semantic"].value or 0) <= 10
    assert figures["judge_usd_per_page"].value == pytest.approx(2 * 0.12)
    assert summary.settings["judge"].startswith("openai(")


def test_an_unreadable_verdict_is_zero_and_a_missing_one_is_not_judged() -> None:
    page = {"p2": PAGES["p2"]}
    answer = prediction("one", "p2", table("a", ROWS_B, None))
    with ChatServer(lambda r, c: completion("no idea")) as server:
        summary = run_of(f"semantic(judge={server.spec()})", {"one": {"p2": answer}}, page)
    assert summary.parsers["one"]["semantic"].value == 0
    assert summary.parsers["one"]["not_judged"].value == 0
    with ChatServer() as server:
        spec = server.spec(input_usd=1000, output_usd=1000)
        summary = run_of(f"semantic(judge={spec},max_cost=0.0001)", {"one": {"p2": answer}}, page)
        assert not server.requests
    assert summary.parsers["one"]["semantic"].value is None
    assert summary.parsers["one"]["not_judged"].value == 1
    assert any(NOT_JUDGED in note for note in summary.notes)


def test_by_located_spans() -> None:
    text = "Words.\n\n| city | people |\n|---|---|\n| Lisbon | 545796 |\n| Porto | 231800 |\n\nMore words."
    page = {"p1": PAGES["p1"]}
    truths = [Element(t.id, "table", latex=f"\\textbf{{{t.table.text_rows()[0][0]}}}", table=t.table)  # type: ignore[union-attr]
              for t in page["p1"].tables]  # fmt: skip
    page = {"p1": Page("p1", 500, 500, tuple(truths))}

    def by_name(request: Any, count: int) -> Any:
        request = json.loads(json.dumps(request).replace("\\\\textbf{", ""))
        return pointing(request, count)

    with ChatServer(by_name) as server:
        found = get_protocol(f"semantic(match={server.spec()})").score_page(
            page["p1"], prediction("one", "p1", text=text), None
        )
    scores = rows(found.scores)
    assert scores["t1"][1] == "ok"
    assert scores["t2"] == (None, "no_prediction")
    assert {m.truth: m.kind for m in found.matches} == {("t1",): "pair", ("t2",): "miss"}
    assert {m.rule for m in found.matches} == {"located"}


@pytest.mark.parametrize("cause", ["never asked", "no chat endpoint"])
def test_tables_without_an_answer_of_the_matcher_are_in_no_score(cause: str) -> None:
    text = "| city | people |\n|---|---|\n| Lisbon | 545796 |\n| Porto | 231800 |"
    pages = dict.fromkeys(("p1", "p9"), PAGES["p1"])
    given = {
        "p1": Prediction("p1", "one", text=text),
        "p9": Prediction("p9", "one", Status.PARSER_TIMEOUT),
    }
    replies: dict[str, Any] = {
        "never asked": honest,
        "no chat endpoint": lambda r, c: error(401),
    }
    with ChatServer(replies[cause]) as server:
        limit = ",max_cost=0.00001" if cause == "never asked" else ""
        spec = f"semantic(match={server.spec(input_usd=1, output_usd=1)}{limit})"
        summary = run_of(spec, {"one": given}, pages)
        found = get_protocol(spec).score_page(pages["p1"], given["p1"], None)
        assert bool(server.requests) == (cause != "never asked")
    figures = summary.parsers["one"]
    n_failed = len(PAGES["p1"].tables)
    # The page on which the parser failed was matched with nothing, and counts as ever.
    for name in ("semantic", "teds", "found", "perfect"):
        assert (figures[name].value, figures[name].n) == (0.0, n_failed), name
    assert figures["not_judged"].value == 0.5
    assert figures["extra_tables_per_page"].value is None
    assert summary.details["histogram"]["one"]["not_judged"] == n_failed
    assert found.matches == [], "what nobody looked for is not missed"
    assert any(NOT_JUDGED in note for note in summary.notes)


def test_a_judge_that_is_not_asked_takes_nothing_from_what_needs_no_judge() -> None:
    answer = prediction("one", "p2", table("a", ROWS_B, None))
    with ChatServer() as server:
        spec = server.spec(input_usd=1000, output_usd=1000)
        summary = run_of(
            f"semantic(judge={spec},max_cost=0.0001)", {"one": {"p2": answer}}, {"p2": PAGES["p2"]}
        )
    figures = summary.parsers["one"]
    assert figures["semantic"].value is None and figures["semantic_found"].value is None
    assert figures["teds"].value == pytest.approx(1) and figures["found"].value == 1


def test_a_page_without_truth_says_nothing() -> None:
    assert get_protocol("semantic").score_page(None, prediction("one", "x"), None).scores == []


def test_specs_parse_back_and_wrong_ones_are_refused() -> None:
    spec = "semantic(judge=openai(base_url=http://127.0.0.1:8/v1,model=a/b),max_cost=2.5)"
    assert str(get_protocol(spec)) == spec
    for wrong in ("semantic(judge=openai)", "semantic(judge=nobody(x=1))", "semantic(max_cost=-1)"):
        with pytest.raises(UsageError):
            get_protocol(wrong)


def test_what_the_endpoint_does_not_take_counts_zero_and_is_not_left_out() -> None:
    """An attribute of 70 kB made the endpoint refuse the bad table, and the mean rose."""
    page = {"p1": PAGES["p1"]}
    answer = prediction("one", "p1", table("a", ROWS_A, None), table("b", WRONG_B, None))

    def picky(request: Any, count: int) -> Any:
        return error(400, "too long") if "8.69" in json.dumps(request) else honest(request, count)

    with ChatServer(picky) as server:
        spec = f"semantic(judge={server.spec()})"
        summary = run_of(spec, {"one": {"p1": answer}}, page)
        found = get_protocol(spec).score_page(page["p1"], answer, None)
    assert summary.parsers["one"]["semantic"].n == 2 and summary.parsers["one"]["not_judged"].value == 0
    assert rows(found.scores)["t2"] == (None, "metric_failed")
    assert any("unfit" in note for note in summary.notes)


def test_a_truth_that_the_endpoint_does_not_take_counts_for_nobody() -> None:
    page = {"p1": PAGES["p1"]}
    answer = prediction("one", "p1", table("a", ROWS_A, None), table("b", ROWS_B, None))

    def picky(request: Any, count: int) -> Any:
        blocks = fenced_blocks(request)
        return error(413) if ROWS_B[1][0] in blocks["ORIGINAL TABLE"] else honest(request, count)

    with ChatServer(picky) as server:
        summary = run_of(f"semantic(judge={server.spec()})", {"one": {"p1": answer}}, page)
    assert summary.parsers["one"]["not_judged"].value == 0.5


def test_padding_is_cut_before_anybody_is_asked() -> None:
    from parsemark.protocols.semantic.page import visible

    row = "<tr><td>1</td><td>2</td></tr>"
    for padding in (
        " " * 70_000,
        "<b></b>" * 10_000,
        "<tr><td> </td><td></td></tr>\n" * 3_000,
        "\n" * 70_000,
    ):
        assert len(visible(f"<table>{row}{padding}{row}</table>")) < 250, padding[:20]
    assert len(visible("| a | b |\n|---|---|\n" + "|   |   |\n" * 9_000 + "| 1 | 2 |")) < 100
    for kept in (
        "a" + " " * 60 + "b",
        "<td></td><td>1</td>",
        "| a |  |\n|---|---|\n|  | 1 |",
        f"<tr></tr>{row}",
    ):
        assert visible(kept) == kept


def test_a_service_that_fails_for_some_leaves_the_verdict_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """HTTP 500 for the bad table of one made its mean the best."""
    monkeypatch.setattr(Asker, "_wait_s", lambda *_: 0.0)
    page = {f"p{k}": PAGES["p1"] for k in range(6)}
    outputs = {
        name: {p: prediction(name, p, table("a", ROWS_A, None), table("b", second, None)) for p in page}
        for name, second in (("one", WRONG_B), ("two", ROWS_B))
    }

    def slow(request: Any, count: int) -> Any:
        return error(500) if "8.69" in json.dumps(request) else honest(request, count)

    with ChatServer(slow) as server:
        summary = run_of(f"semantic(judge={server.spec()})", outputs, page)
    assert summary.ranking.is_incomplete
    assert summary.ranking.best is None and not summary.ranking.leaders
    assert {verdict.state for verdict in summary.ranking.verdicts} == {"not_significant"}
    assert any("incomplete" in note for note in summary.notes)


@pytest.mark.parametrize(
    "reply",
    [completion("??"), completion('{"spans": [', finish="length"), error(400, "too long"), error(413)],
    ids=["nonsense", "cut off", "too long", "too large"],
)
def test_an_output_that_silences_the_matcher_counts_zero(reply: Any) -> None:
    """A cell that confuses the matcher made its page count for nobody, or be matched by characters."""
    page = {"p1": PAGES["p1"]}
    text = "| city | people |\n|---|---|\n| Lisbon | 545796 |\n| Porto | 231800 |"
    outputs = {
        "honest": {"p1": prediction("honest", "p1", text=text)},
        "hostile": {"p1": prediction("hostile", "p1", text=f"{text}\n| XYZZY | 1 |")},
    }

    def confused(request: Any, count: int) -> Any:
        found = completion(json.dumps({"spans": [{"table": 1, "text": text}]}))
        return reply if "XYZZY" in json.dumps(request) else found

    with ChatServer(confused) as server:
        spec = f"semantic(match={server.spec(input_usd=1000, output_usd=1000)})"
        summary = run_of(spec, outputs, page)
    honest, hostile = (summary.parsers[name] for name in outputs)
    assert (hostile["semantic"].value, hostile["semantic"].n) == (0.0, 2)
    assert hostile["found"].value == hostile["teds"].value == hostile["not_judged"].value == 0
    assert (honest["semantic"].n, honest["found"].value, honest["not_judged"].value) == (2, 0.5, 0)
    assert not summary.ranking.is_incomplete
    assert any(note.startswith("hostile: 2 tables have no verdict") for note in summary.notes)


def test_a_matcher_that_answers_nothing_at_all_leaves_the_verdict_open() -> None:
    page = {"p1": PAGES["p1"]}
    answer = prediction("one", "p1", table("a", ROWS_A, None))
    with ChatServer(lambda r, c: completion("??")) as server:
        summary = run_of(f"semantic(match={server.spec()})", {"one": {"p1": answer}}, page)
    assert summary.parsers["one"]["not_judged"].value == 1
    assert any(NOT_JUDGED in note for note in summary.notes)


def test_attributes_that_nobody_sees_are_not_sent() -> None:
    from parsemark.protocols.semantic.page import visible

    cells = '<tr><td rowspan=2 style="color:red">1</td></tr><!-- score 10 -->'
    hidden = f'<table data-x="{"y" * 70_000}">{cells}</table>'
    assert visible(hidden) == '<table><tr><td rowspan="2">1</td></tr></table>'
    assert visible("a < b and c > d") == "a < b and c > d"
    assert visible("<script>let a = 1</script>x<style>") == "x"


def test_means_are_over_the_same_tables_for_all_parsers(monkeypatch: pytest.MonkeyPatch) -> None:
    """One parser's bad table was not judged: it is left out for the other parser, too."""
    monkeypatch.setattr(Asker, "_wait_s", lambda *_: 0.0)
    page = {"p1": PAGES["p1"]}
    outputs = {
        name: {"p1": prediction(name, "p1", table("a", ROWS_A, None), table("b", second, None))}
        for name, second in (("one", WRONG_B), ("two", ROWS_B))
    }

    def slow(request: Any, count: int) -> Any:
        return error(500) if "8.69" in json.dumps(request) else honest(request, count)

    with ChatServer(slow) as server:
        summary = run_of(f"semantic(judge={server.spec()})", outputs, page)
    assert summary.parsers["one"]["not_judged"].value == 0.5
    assert [summary.parsers[name]["semantic"].n for name in outputs] == [1, 1]


def test_the_part_of_a_table_is_judged_as_the_part() -> None:
    """The LaTeX of a table over two pages is that of the whole; its page has half of the rows."""
    from parsemark.formats import says_the_same, write_table
    from parsemark.protocols.semantic.page import truth_source

    listed = [["city", "people"], *([f"Town{k}", str(1234 + 97 * k)] for k in range(20))]
    whole, part = (Table.from_rows(own) for own in (listed, listed[:8]))
    truth = Element("t", "table", table=part, latex=write_table(whole, "latex"))
    assert says_the_same(write_table(whole, "latex"), whole) and not says_the_same(truth.latex or "", part)
    assert "Town19" not in truth_source(truth) and "Town3" in truth_source(truth)
    page = Page("p", 500, 500, (truth,))
    found = get_protocol("semantic").score_page(
        page, prediction("one", "p", table("a", listed[:8], None)), None
    )
    assert rows(found.scores)["t"] == (10.0, "ok")


def test_a_matcher_that_is_cut_off_is_asked_in_pieces() -> None:
    text = "| city | people |\n|---|---|\n| Lisbon | 545796 |\n| Porto | 231800 |"
    page = PAGES["p1"]

    def short(request: Any, count: int) -> Any:
        if "TABLE 2" in json.dumps(request):
            return completion('{"spans": [', finish="length")
        found = [{"table": 1, "text": text}] if "Lisbon" in json.dumps(request["messages"]) else []
        return completion(json.dumps({"spans": found}))

    with ChatServer(short) as server:
        spec = f"semantic(match={server.spec()})"
        found = get_protocol(spec).score_page(page, prediction("one", "p1", text=text), None)
    assert next(m.kind for m in found.matches if m.truth == ("t1",)) in ("pair", "merge")
    assert rows(found.scores)["t1"][1] == "ok"


def test_a_second_table_that_says_something_else_of_the_same_truth_is_not_free() -> None:
    words = [["Region", "Sales"], *([f"Region number {k}", f"{k}7{k}"] for k in range(8))]
    other = [["Region", "Sales"], *([f"Region number {k}", "9051"] for k in range(8))]
    foreign = [["Weather", "Wind"], ["Rain", "North"]]
    page = {"p1": Page("p1", 500, 500, (table("t1", words, None),))}

    def scored(*tables: list[list[str]]) -> dict[str, Any]:
        elements = [table(f"p{k}", rows, None) for k, rows in enumerate(tables)]
        return run_of("semantic", {"one": {"p1": prediction("one", "p1", *elements)}}, page).parsers["one"]

    right, both = scored(words), scored(words, other)
    assert right["semantic"].value == 10
    assert scored(words, foreign)["semantic"].value == 10
    assert scored(words, words)["semantic"].value == 10
    for figures in (both, scored(other, words)):
        assert figures["semantic"].value < 8 and figures["teds"].value < 1
    assert scored(other)["semantic"].value < both["semantic"].value
