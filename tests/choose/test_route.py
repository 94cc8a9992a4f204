import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.engine.fakes import make_corpus

from parsemark import api
from parsemark.choosing.route import Routing, RoutingRule, learn_routing, learn_rule, read_route, write_route
from parsemark.errors import UsageError
from parsemark.model import Status
from parsemark.pdf import Kinds
from parsemark.store import Run

ECHO = Path(__file__).parents[1] / "cli" / "echo_parser.py"
N = 40
KINDS: list[Kinds] = [{"layer": "text" if k % 2 else "scan", "lines": "x"} for k in range(N)]
DOCUMENTS = [f"d{k // 2}" for k in range(N)]


def scores(text: tuple[float, float], scan: tuple[float, float]) -> np.ndarray:
    noise = np.random.default_rng(0).normal(0, 0.05, (2, N))
    base = [text if k % 2 else scan for k in range(N)]
    return np.clip(np.array(base).T + noise, 0, 1)


def test_a_parser_that_is_better_on_a_kind_gets_its_pages() -> None:
    routing = learn_routing(scores((0.9, 0.4), (0.1, 0.7)), ["layered", "ocr"], KINDS, DOCUMENTS)
    assert routing.worth_it and routing.rule.trait == "layer"
    assert routing.rule.parser_for({"layer": "scan"}) != routing.rule.parser_for({"layer": "text"})
    assert 0 < routing.low < routing.gain and routing.score > routing.single_score + 0.15
    assert "Route by text layer" in routing.in_words()[0]


def test_where_one_parser_is_as_good_that_is_said() -> None:
    routing = learn_routing(scores((0.9, 0.6), (0.7, 0.3)), ["good", "bad"], KINDS, DOCUMENTS)
    assert not routing.worth_it and routing.single == "good"
    assert routing.in_words()[0].startswith("One parser is as good as routing: use good for every page")


def test_a_kind_of_few_pages_gets_no_parser_of_its_own() -> None:
    kinds = [{"layer": "scan" if k < 2 else "text"} for k in range(N)]
    values = np.array([[0.0] * 2 + [1.0] * (N - 2), [1.0] * 2 + [0.5] * (N - 2)])
    assert learn_rule(values, ["a", "b"], kinds, DOCUMENTS) == RoutingRule("a")


def test_one_document_is_not_enough() -> None:
    with pytest.raises(UsageError, match="at least two"):
        learn_routing(np.ones((2, 3)), ["a", "b"], KINDS[:3], ["d"] * 3)


def test_a_rule_is_a_file(tmp_path: Path) -> None:
    path = tmp_path / "rule.json"
    rule = RoutingRule("a", "layer", {"none (scan)": "b"})
    known = (0.9, 0.7, 0.2, 0.1, 12, 6)
    write_route(Routing(rule, "a", *known), path)
    assert read_route(path) == rule
    write_route(Routing(rule, "a", 0.7, 0.7, 0.0, -0.1, 12, 6), path)  # not known to be better
    assert read_route(path) == RoutingRule("a")
    for wrong in (
        "{}",
        "[",
        json.dumps({"default": "a", "trait": "colour"}),
        json.dumps({"default": "a", "x": 1}),
    ):
        path.write_text(wrong)
        with pytest.raises(UsageError, match=r"rule\.json"):
            read_route(path)


def test_a_corpus_is_parsed_by_a_rule(tmp_path: Path) -> None:
    rule = tmp_path / "rule.json"
    routes = {"default": str(ECHO), "trait": "shape", "parsers": {"landscape": "camelot"}}
    rule.write_text(json.dumps(routes))
    # No page of this corpus can be opened as a PDF: it is of no kind, and gets the default.
    corpus = make_corpus(tmp_path / "corpus", ["fine", "fine", "fine"])
    options = api.parse_options(workers=1, cache=False, pages="2")
    run = api.parse_routed(corpus, rule, options, out=tmp_path / "run")
    records = Run.open(run.path).records()
    assert sorted(r.parser for r in records) == ["echo_parser"] * 2 + ["routed"] * 2
    assert {r.status for r in records} == {Status.OK}
    by = {(r.sample, r.parser): r.blob for r in records}
    assert all(by[sample, "routed"] == by[sample, "echo_parser"] for sample, _ in by)
    assert "routed" in [p.name for p in Run.open(run.path).manifest.parsers]


def test_a_rule_is_held_against_the_parser_that_was_chosen() -> None:
    routing = learn_routing(
        scores((0.9, 0.6), (0.7, 0.65)), ["good", "chosen"], KINDS, DOCUMENTS, single="chosen"
    )
    assert routing.single == routing.rule.default == "chosen"
    assert routing.single_score == pytest.approx(0.625, abs=0.05)


def test_choose_and_its_rule_name_one_parser(tmp_path: Path) -> None:
    from tests.engine.fakes import FakeParser

    from parsemark.choosing import choose, route_run
    from parsemark.engine.parsing.parse import ParseOptions, parse_corpus
    from parsemark.engine.scoring.score import score_run

    corpus = make_corpus(tmp_path / "corpus", ["fine", "wrong", "fine", "wrong", "fine", "fine"])
    parsers = [FakeParser("one"), FakeParser("two")]
    run = parse_corpus(tmp_path / "run", corpus, parsers, ParseOptions(n_workers=1))
    score_run(run, n_workers=1)
    choice = choose(run, corpus=corpus, budget=3)
    for chosen in (choice, replace(choice, candidates=choice.candidates[::-1])):
        routing = route_run(run, chosen)
        assert routing.single == chosen.best.parser
        assert f"use {chosen.best.parser} for every page" in routing.in_words()[0]
