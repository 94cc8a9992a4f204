"""Voting among parsers: which tables, which size, which text."""

import random

import pytest

from parsemark.consensus.ensemble import EngineRates, elect, estimate_rates
from parsemark.consensus.table_votes import find_candidates, most_typical
from parsemark.model import Box, Element, Prediction, Table
from parsemark.parsers.catalogue import engine_of, parser_names


def _prediction(parser: str, *tables: tuple[list[list[str]], Box | None]) -> Prediction:
    elements = tuple(
        Element(f"p{i}", "table", box=box, table=Table.from_rows(rows))
        for i, (rows, box) in enumerate(tables)
    )
    return Prediction("s", parser, elements=elements)


def vote(said: list[Prediction], least: float = 0.5) -> list[Element]:
    """What equal parsers elect that have seen many tables that all see and some that one invents."""
    parsers = [p.parser for p in said]
    engine_rates = EngineRates(
        dict.fromkeys(parsers, 0.8), dict.fromkeys(parsers, 0.2), 0.5, dict.fromkeys(parsers, 1.0)
    )
    return elect(find_candidates({p.parser: p for p in said}), engine_rates, least)


PLACE = Box(0, 0, 100, 50)
GOOD = [["a", "b"], ["1", "2"]]


def test_each_cell_takes_the_text_of_most_votes() -> None:
    said = [
        _prediction("x", ([["a", "b"], ["1", "9"]], PLACE)),
        _prediction("y", ([["a", "b"], ["7", "2"]], Box(1, 1, 99, 51))),
        _prediction("z", ([["a", "B"], ["1", "2"]], PLACE)),
    ]
    (found,) = vote(said)
    assert found.table is not None and found.table.text_rows() == GOOD
    assert (found.confidence or 0) > 0.98 and found.box is not None and found.box.iou(PLACE) > 0.9


def test_a_table_that_few_see_is_no_table_and_who_sees_it_is_its_confidence() -> None:
    elsewhere = Box(300, 300, 400, 400)
    said = [
        _prediction("x", (GOOD, PLACE), (GOOD, elsewhere)),
        _prediction("y", (GOOD, PLACE)),
        _prediction("z"),
    ]
    (found,) = vote(said)
    assert found.confidence == pytest.approx(0.8)  # 4 · 4 / 4 to 1
    assert found.box is not None and found.box.iou(PLACE) > 0.9
    assert len(vote(said, 0.0)) == 2


def test_tables_without_boxes_are_told_by_their_text() -> None:
    said = [
        _prediction("x", (GOOD, None)),
        _prediction("y", (GOOD, PLACE)),
        _prediction("z", ([["q"]], None)),
    ]
    (found,) = vote(said)
    assert found.table is not None and found.table.text_rows() == GOOD


def test_the_size_of_most_votes_wins() -> None:
    merged = [["a b"], ["1 2"]]
    said = [
        _prediction("x", (merged, PLACE)),
        _prediction("y", (GOOD, PLACE)),
        _prediction("z", (GOOD, PLACE)),
    ]
    (found,) = vote(said)
    assert found.table is not None and found.table.text_rows() == GOOD


def test_blank_rows_make_a_grid_less_like_the_others() -> None:
    rows = [["Name", "Born"], ["Zoë", "1901"], ["Ada", "1815"]]
    blank = [["Name", "Born"], ["", ""], ["Zoë", "1901"], ["", ""], ["Ada", "1815"]]
    said = {"a": rows, "z(text=1)": blank, "b": [*rows[:2], ["Add", "1815"]]}
    tables = {parser: Table.from_rows(own) for parser, own in said.items()}
    assert tables[most_typical(tables, {"a": 0.5, "z(text=1)": 0.5, "b": 1.0})].n_rows == 3


def test_nobody_sees_anything() -> None:
    assert vote([_prediction("x"), _prediction("y")]) == []


def test_the_jury_learns_who_sees_and_who_invents() -> None:
    dice = random.Random(0)
    rates = {"keen": (0.95, 0.6), "careful": (0.5, 0.02), "good": (0.9, 0.1), "fair": (0.8, 0.15)}
    pages = []
    for _ in range(400):
        real = dice.random() < 0.5
        sees = [p for p, (hit, false) in rates.items() if dice.random() < (hit if real else false)]
        if sees:
            pages.append((real, find_candidates({p: _prediction(p, (GOOD, PLACE)) for p in sees})))
    engine_rates = estimate_rates([c for _, found in pages for c in found], list(rates), {})
    assert engine_rates.invents["keen"] > 2 * engine_rates.invents["good"] > engine_rates.invents["careful"]
    assert engine_rates.sees["careful"] < engine_rates.sees["fair"] < engine_rates.sees["keen"]
    right = sum((engine_rates.probability(found[0]) > 0.5) == real for real, found in pages)
    assert right > 0.85 * len(pages)


def test_settings_of_one_tool_and_tools_of_one_engine_have_one_vote() -> None:
    assert engine_of("camelot(flavor=stream)") == engine_of("camelot")
    assert engine_of("pymupdf4llm") == engine_of("pymupdf")
    assert engine_of("estimated(parser=camelot(flavor=stream))") == "camelot" == engine_of("camelot@1.0.9")
    assert engine_of("my-own") == "my-own" and engine_of("../x.py(a=1)") == "../x.py"
    assert {engine_of(name) for name in parser_names()} >= {"mupdf", "pdfminer", "rapidocr", "surya"}
    clones = ["x(a=1)", "x(a=2)", "x(a=3)", "y", "z"]
    engine_rates = estimate_rates([], clones, {clone: engine_of(clone) for clone in clones})
    assert set(engine_rates.sees) == {"x", "y", "z"}


def test_who_agrees_with_the_others_outvotes_who_does_not() -> None:
    odd = [["a", "q"], ["7", "8"]]
    others = [_prediction(p, (GOOD, PLACE)) for p in "xyz"]
    history = [find_candidates({p.parser: p for p in [*others, _prediction("o", (odd, PLACE))]})[0]] * 5
    engine_rates = estimate_rates(history, ["x", "y", "z", "o"], {})
    assert engine_rates.weight["x"] > 5 * engine_rates.weight["o"]
    said = {"x": _prediction("x", (GOOD, PLACE)), "o": _prediction("o", (odd, PLACE))}
    (found,) = elect(find_candidates(said), engine_rates, 0.0)
    assert found.table is not None and found.table.text_rows() == GOOD


def test_settings_of_one_engine_do_not_outvote_two_others() -> None:
    clones = [_prediction(f"k(n={n})", ([["a", "b"], ["1", "9"]], PLACE)) for n in range(3)]
    others = [_prediction("x", (GOOD, PLACE)), _prediction("y", (GOOD, PLACE))]
    said = {p.parser: p for p in [*clones, *others]}
    engines = {parser: engine_of(parser) for parser in said}
    weight = dict.fromkeys(said, 1.0)
    parsers = ("k", "x", "y")
    engine_rates = EngineRates(dict.fromkeys(parsers, 0.8), dict.fromkeys(parsers, 0.2), 0.5, weight, engines)
    (found,) = elect(find_candidates(said), engine_rates, 0.0)
    assert found.table is not None and found.table.text_rows() == GOOD


def test_boxes_that_touch_are_one_table_if_they_say_the_same() -> None:
    """A box with the caption and one without overlap by less than half; their text says it."""
    rows = [["city", "2019", "2020"], ["Lisbon", "545", "546"], ["Porto", "214", "215"]]
    near, apart = Box(0, 40, 100, 140), Box(0, 300, 100, 350)
    for box, n_candidates in ((near, 1), (apart, 2)):
        said = {"x": _prediction("x", (rows, PLACE)), "y": _prediction("y", (rows, box))}
        assert len(find_candidates(said)) == n_candidates
    other = [["quite", "another"], ["table", "here"]]
    said = {"x": _prediction("x", (rows, PLACE)), "y": _prediction("y", (other, near))}
    assert len(find_candidates(said)) == 2
