"""Confidences of ours: signals, the model, and what they say of parsers that give none."""

import json
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from parsemark import load_corpus
from parsemark.cli.main import app
from parsemark.engine.derived.confidences import estimate_confidence
from parsemark.engine.derived.estimated import (
    FEATURES,
    ConfidenceModel,
    fit_model,
    models_by_document,
    signals,
)
from parsemark.engine.derived.parsers import judged_tables, read_signals, split_specs
from parsemark.engine.import_outputs import import_predictions
from parsemark.engine.scoring.score import score_run
from parsemark.errors import FormatError, UsageError
from parsemark.model import Box, Element, Prediction, Table
from parsemark.stats.detection import average_precision
from parsemark.stats.parser_confidence import d_ece, risk_coverage
from parsemark.store import Run

PLACE = Box(0, 0, 100, 50)
GOOD = [["a", "b"], ["1", "2"]]


def seen(parser: str, *tables: tuple[list[list[str]], Box | None]) -> Prediction:
    elements = tuple(
        Element(f"p{i}", "table", box=box, table=Table.from_rows(rows))
        for i, (rows, box) in enumerate(tables, start=1)
    )
    return Prediction("s", parser, elements=elements)


def named(predictions: list[Prediction], parser: str) -> list[dict[str, float]]:
    by_name = {p.parser: p for p in predictions}
    return [dict(zip(FEATURES, row, strict=True)) for _, row in signals(parser, by_name, {}, None)]


def test_settings_of_one_tool_share_one_vote() -> None:
    said = [
        seen("camelot", (GOOD, PLACE)),
        seen("camelot(flavor=stream)", (GOOD, PLACE)),
        seen("rapid", (GOOD, PLACE)),
        seen("pymupdf"),
        seen("pymupdf4llm"),
    ]
    (row,) = named(said, "camelot")
    assert row["seen"] == 0.5, "rapid sees it, mupdf does not, and camelot itself has no vote"
    assert row["same_cells"] == 0.5
    (other,) = named(said, "rapid")
    assert other["seen"] == 0.5


def test_signals_of_the_table_itself() -> None:
    ragged = [["a", "", ""], ["1", "2", "3"], ["4", "5", "6"]]
    said = [seen("x", (ragged, PLACE), ([["a"]], Box(10, 10, 20, 20)))]
    whole, part = named(said, "x")
    assert whole["empty"] == pytest.approx(2 / 9) and whole["ragged"] == pytest.approx(1 / 3)
    assert whole["one_line"] == 0 and part["one_line"] == 1
    assert whole["in_another"] < 0.1 and part["in_another"] == 1
    assert whole["seen"] == 0 and whole["no_text"] == 1


def test_a_page_without_tables_has_no_signals() -> None:
    assert signals("x", {"x": seen("x")}, {}, None) == []


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Three parsers without confidences; each invents tables where the others see none."""
    folder = tmp_path_factory.mktemp("estimated")
    corpus = load_corpus("demo")
    for number, name in enumerate(("one", "two", "three")):
        dice = random.Random(number)
        (folder / name).mkdir()
        for sample in corpus.samples():
            assert sample.truth is not None
            elements = []
            for element in sample.truth.tables:
                if dice.random() < 0.15:
                    continue
                assert element.box is not None and element.table is not None
                cells = [
                    {"row": c.row, "col": c.col, "rowspan": c.rowspan, "colspan": c.colspan, "text": c.text}
                    for c in element.table.cells
                ]
                elements.append({"category": "table", "box": list(element.box.as_tuple()), "cells": cells})
            for _ in range(dice.randrange(3)):
                x, y = dice.uniform(50, 300), dice.uniform(50, 600)
                cells = [{"row": r, "col": c, "text": "xx"} for r in range(3) for c in range(2)]
                elements.append({"category": "table", "box": [x, y, x + 150, y + 60], "cells": cells})
            content = {"format": "elements", "elements": elements}
            (folder / name / f"{sample.id}.json").write_text(json.dumps(content))
        opened = import_predictions(folder / "run", corpus, folder / name)
    score_run(opened, n_workers=1)
    return Run.open(folder / "run")


def test_the_command_estimates_and_says_how_good_it_is(run: Run, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["score", str(run.path), "--add", "estimated", "--workers", "1"])
    assert done.exit_code == 0, done.output
    assert "estimated(parser=one)" in done.output
    table = done.output[done.output.rindex("parser ") :]
    assert max(map(len, table.splitlines())) <= 80
    judged = judged_tables(Run.open(run.path), "estimated(parser=one)")
    curve = risk_coverage(judged.confidence, judged.correct)
    assert curve is not None and f"{curve.area:.3f} ({curve.best_area:.3f})" in table
    again = Run.open(run.path)
    judged = judged_tables(again, "estimated(parser=two)")
    assert len(judged.confidence) > 40
    error = d_ece(judged.confidence, judged.correct)
    assert error is not None and error < 0.15
    assert average_precision(judged.confidence, judged.correct, judged.n_truth) > 0.75
    entry = again.manifest.parser("estimated(parser=two)")
    assert entry is not None and entry.settings["confidence"] == "ours"
    model = estimate_confidence(again, ["one"], apply=False).model
    assert model.source == "run" and model.n_tables > 30
    weights = dict(zip(FEATURES, model.weights, strict=True))
    assert weights["seen"] > 0 and weights["invented"] < 0
    there = shutil.copytree(run.path, tmp_path / "there")
    applied = ["score", str(there), "--add", "estimated(parser=two)", "--fitted-on", str(run.path)]
    assert CliRunner().invoke(app, applied).exit_code == 0


def test_no_document_is_judged_by_a_model_that_has_seen_it(run: Run) -> None:
    found = read_signals(run, ["one", "two", "three"])
    correct = [bool(c) for c in found.correct]
    models = models_by_document(found.features, correct, found.documents)
    document = found.documents[0]
    outside = np.array([d != document for d in found.documents])
    changed = found.features.copy()
    changed[~outside] = 99.0  # what the document itself says must not matter for its model
    again = models_by_document(
        changed, [c if o else not c for c, o in zip(correct, outside, strict=True)], found.documents
    )
    assert models[document] == again[document]


def test_what_cannot_be_learned_is_refused() -> None:
    with pytest.raises(UsageError, match="at least 20"):
        fit_model(np.zeros((5, len(FEATURES))), [True] * 5)
    with pytest.raises(UsageError, match="30 of 30 are right"):
        fit_model(np.zeros((30, len(FEATURES))), [True] * 30)
    few = [True] * 16 + [False] * 8
    with pytest.raises(UsageError, match=r"16 of 24 tables are right.+ 12 of 18\."):
        models_by_document(np.zeros((24, len(FEATURES))), few, [f"d{n % 4}" for n in range(24)])


@pytest.mark.parametrize(
    "content", ["", "[]", '{"confidence_model": 1}', '{"confidence_model": 2, "features": {}}']
)
def test_files_that_are_no_models(content: str, tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text(content)
    with pytest.raises(FormatError, match="not a confidence model"):
        ConfidenceModel.read(tmp_path / "model.json")
    with pytest.raises(FormatError):
        ConfidenceModel.read(tmp_path / "nothing.json")


def test_ensembles_among_the_parsers_of_a_command() -> None:
    specs, made = split_specs(["camelot", "ensemble(parsers=camelot+camelot(flavor=stream)+rapid)"])
    assert specs == ["camelot", "camelot(flavor=stream)", "rapid"]
    assert [str(s) for s in made] == ["ensemble(parsers=camelot+camelot(flavor=stream)+rapid)"]
    assert split_specs(["rapid"]) == (["rapid"], [])
    with pytest.raises(UsageError, match="no option 'of'"):
        split_specs(["ensemble(of=2)"])
    with pytest.raises(UsageError, match="parsemark score RUN --add"):
        split_specs(["calibrated(parser=rapid)"])
