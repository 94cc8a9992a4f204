"""Parsers made of others' outputs: calibrated confidences and an ensemble, in the run and in its scores."""

import json
import random
import shutil
from pathlib import Path

import pytest
from tests.engine.fakes import make_corpus
from typer.testing import CliRunner, Result

from parsemark import load_corpus
from parsemark.cli.main import app
from parsemark.engine.derived.parsers import add_calibrated, add_ensemble, add_estimated, judged_tables
from parsemark.engine.import_outputs import import_predictions
from parsemark.engine.scoring.score import score_run
from parsemark.errors import UnknownNameError, UsageError
from parsemark.parsers import read_raw
from parsemark.stats.parser_confidence import Calibrator
from parsemark.store import Run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The demo corpus as two parsers see it: the truth, each with some tables in the wrong place."""
    folder = tmp_path_factory.mktemp("derived")
    corpus = load_corpus("demo")
    for name, seed in (("one", 1), ("two", 2)):
        dice = random.Random(seed)
        (folder / name).mkdir()
        for sample in corpus.samples():
            assert sample.truth is not None
            elements = []
            for element in sample.truth.tables:
                assert element.box is not None and element.table is not None
                right = dice.random() < 0.7
                shift = 0.0 if right else 1000.0 * seed
                x0, y0, x1, y1 = element.box.as_tuple()
                cells = [
                    {"row": c.row, "col": c.col, "rowspan": c.rowspan, "colspan": c.colspan, "text": c.text}
                    for c in element.table.cells
                ]
                box = [x0 + shift, y0, x1 + shift, y1]
                sure = dice.uniform(0.9, 1.0)
                elements.append({"category": "table", "box": box, "cells": cells, "confidence": sure})
            content = {"format": "elements", "elements": elements}
            (folder / name / f"{sample.id}.json").write_text(json.dumps(content))
        opened = import_predictions(folder / "run", corpus, folder / name)
    score_run(opened, n_workers=1)
    return Run.open(folder / "run")


def test_tables_are_judged_by_their_place(run: Run) -> None:
    judged = judged_tables(run, "one")
    n_tables = sum(len(sample.truth.tables) for sample in load_corpus("demo").samples())
    assert len(judged.confidence) == judged.n_truth == n_tables
    assert 0.5 < sum(judged.correct) / len(judged.correct) < 0.9
    assert len(set(judged.documents)) > 5
    with pytest.raises(UnknownNameError):
        judged_tables(run, "three")


def test_calibrated_and_ensemble_stand_in_the_run(run: Run) -> None:
    flat = Calibrator("platt", (0.0, 0.0))
    calibrated = add_calibrated(run, "one", flat)
    ensemble = add_ensemble(run, ["one", "two"])
    score_run(run, n_workers=1)
    again = Run.open(run.path)
    assert ensemble == "ensemble", "of all parsers: a short name"
    assert {p.name for p in again.manifest.parsers} == {"one", "two", calibrated, ensemble}
    entry = again.manifest.parser(ensemble)
    assert entry is not None and entry.settings["parsers"] == "one+two"
    assert set(judged_tables(again, calibrated).confidence) == {0.5}
    assert judged_tables(again, calibrated).correct == judged_tables(again, "one").correct
    voted = judged_tables(again, ensemble)
    most = max(voted.confidence)
    sure = [right for c, right in zip(voted.confidence, voted.correct, strict=True) if c == most]
    assert sure and all(sure), "both see it at one place: it is there"
    with pytest.raises(UsageError, match="at least two"):
        add_ensemble(run, ["one"])


def test_score_adds_parsers_made_of_a_run(run: Run, tmp_path: Path) -> None:
    def score_with(*specs: str) -> Result:
        flags = [word for spec in specs for word in ("--add", spec)]
        return CliRunner().invoke(app, ["score", str(run.path), "--workers", "1", *flags])

    done = score_with("calibrated(parser=one)", "ensemble(parsers=one+two)")
    assert done.exit_code == 0, done.output
    printed = " ".join(done.output.split())  # lines break at the width of the terminal
    assert "D-ECE" in printed and "best at" in printed and "IoU over 0.5" in printed
    names = Run.open(run.path).manifest.parser_names
    assert any(name.startswith("calibrated(") for name in names)
    wrong = score_with("calibrated(parser=one,method=foo)")
    assert wrong.exit_code != 0 and "best, temperature, platt, beta, isotonic" in str(wrong.exception)
    for spec, why in (("calibrated", "has no parser"), ("voted", "Names and options are")):
        refused = score_with(spec)
        assert refused.exit_code != 0 and why in str(refused.exception)
    there = shutil.copytree(run.path, tmp_path / "there")
    flags = ["--add", "calibrated(parser=two)", "--fitted-on", str(run.path), "--workers", "1"]
    assert CliRunner().invoke(app, ["score", str(there), *flags]).exit_code == 0
    assert any("parser=two" in name for name in Run.open(there).manifest.parser_names)


def test_an_output_with_confidences_of_ours_is_written_in_the_same_format(tmp_path: Path) -> None:
    corpus, outputs = make_corpus(tmp_path / "corpus", ["fine", "fine"]), tmp_path / "mine"
    outputs.mkdir()
    for key in corpus.keys:
        (outputs / f"{key}.txt").write_text("2 * 3 * 4\n\na  b\n1  2\n3  4\n")
    opened = import_predictions(tmp_path / "run", corpus, outputs)
    name = add_estimated(opened, "mine", {}, "nobody")
    read = [
        read_raw(opened.raw(record.blob), record.sample, record.parser)
        for record in Run.open(opened.path).records()
        if record.parser == name and record.blob is not None
    ]
    assert [(prediction.format, prediction.text is not None) for prediction in read] == [("text", True)] * 2
