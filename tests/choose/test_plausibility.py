"""Signals that need no other parser."""

import numpy as np
import pytest

from parsemark.choosing.plausibility import measure_plausibility
from parsemark.model import Box, Cell, Element, Prediction, Status, Table
from parsemark.pdf.visible import SeenPage, SeenWord


def answer(rows: list[list[str]], confidence: float | None = None) -> Prediction:
    cells = tuple(Cell(r, c, text) for r, row in enumerate(rows) for c, text in enumerate(row))
    table = Table(len(rows), len(rows[0]), cells)
    return Prediction("s", "p", elements=(Element("t", "table", table=table, confidence=confidence),))


def test_what_the_page_contradicts() -> None:
    predictions = {
        ("s", "right"): answer([["Lead", "11.34"], ["Gold", "19.30"]]),
        ("s", "liar"): answer([["Lead", "11.34"], ["Gold", "98.76"]]),
        ("s", "torn"): answer([["Lead", "11.34"], ["Gold", ""]]),
        ("s", "unsure"): answer([["made", "up"]], confidence=0.1),
        ("s", "failed"): Prediction("s", "failed", Status.PARSER_FAILED),
    }
    names = [parser for _, parser in predictions]
    found = measure_plausibility(predictions, names, ["s"], {"s": "Density: Lead 11.34 Gold 19.30"})
    assert found.invented[:3] == pytest.approx([0, 0.25, 0])
    assert found.ragged[:3] == pytest.approx([0, 0, 0.5])
    assert np.isnan(found.invented[3:]).all()
    assert found.trust() == pytest.approx([1, 0.75, 0.75, 1, 1])


def test_without_a_text_layer_nothing_is_invented() -> None:
    found = measure_plausibility({("s", "p"): answer([["a", "b"]])}, ["p"], ["s"], {})
    assert np.isnan(found.invented).all()
    assert found.trust() == pytest.approx([1])


def test_who_loses_what_the_page_shows_is_trusted_less() -> None:
    words = tuple(
        SeenWord(w, Box(10 * k, 0, 10 * k + 8, 9), 0) for k, w in enumerate(["Lead", "is", "11.34", "heavy"])
    )
    page = SeenPage(100, 100, words, "layer")
    predictions = {
        ("s", name): Prediction("s", name, text=text)
        for name, text in {"all": "Lead is 11.34 heavy", "half": "Lead is"}.items()
    }
    found = measure_plausibility(predictions, ["all", "half"], ["s"], {}, {"s": page})
    assert found.lost == pytest.approx([0, 0.5])
    assert found.trust(text=True) == pytest.approx([1, 0.5])
    assert found.trust() == pytest.approx([1, 0.75])


def test_a_parser_of_tables_loses_nothing_where_it_finds_none() -> None:
    page = SeenPage(100, 100, (SeenWord("Lead", Box(0, 0, 8, 9), 0),), "layer")
    predictions = {
        ("s", "tables"): answer([["Lead"]]),
        ("plain", "tables"): Prediction("plain", "tables"),
        ("s", "texts"): Prediction("s", "texts", text="Lead"),
        ("plain", "texts"): Prediction("plain", "texts", text=""),
    }
    found = measure_plausibility(
        predictions, ["tables", "texts"], ["s", "plain"], {}, {"s": page, "plain": page}
    )
    assert found.lost[1] == pytest.approx(0.5) and found.lost[0] != pytest.approx(0.5)
