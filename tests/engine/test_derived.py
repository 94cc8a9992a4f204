"""Parsers made of others' outputs: an ensemble, in the run and in its scores."""

import json
import random

import polars as pl
import pytest
from typer.testing import CliRunner

from parsemark import load_corpus
from parsemark.cli.main import app
from parsemark.engine.imports.derived import add_ensemble, split_specs
from parsemark.engine.imports.outputs import import_predictions
from parsemark.engine.scoring.score import score_run
from parsemark.errors import UnknownNameError, UsageError
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


def test_an_ensemble_stands_in_the_run(run: Run) -> None:
    ensemble = add_ensemble(run, ["one", "two"])
    score_run(run, n_workers=1)
    again = Run.open(run.path)
    assert ensemble == "ensemble", "of all parsers: a short name"
    assert {p.name for p in again.manifest.parsers} == {"one", "two", ensemble}
    entry = again.manifest.parser(ensemble)
    assert entry is not None and entry.settings["parsers"] == "one+two"
    voted = again.table("matches").filter(
        (pl.col("parser") == ensemble) & (pl.col("rule") == "bbox") & (pl.col("pred").list.len() > 0)
    )
    sure = voted.filter(pl.col("confidence") == voted["confidence"].max())
    assert sure.height and (sure["truth"].list.len() > 0).all() and (sure["overlap"] > 0.5).all()
    with pytest.raises(UsageError, match="at least two"):
        add_ensemble(run, ["one"])
    with pytest.raises(UnknownNameError):
        add_ensemble(run, ["one", "three"])


def test_the_command_makes_an_ensemble_of_some(run: Run) -> None:
    done = CliRunner().invoke(app, ["ensemble", str(run.path), "--parser", "one", "--parser", "two"])
    assert done.exit_code == 0, done.output


def test_ensembles_among_the_parsers_of_a_command() -> None:
    specs, made = split_specs(["camelot", "ensemble(parsers=camelot+camelot(flavor=stream)+rapid)"])
    assert specs == ["camelot", "camelot(flavor=stream)", "rapid"]
    assert [str(s) for s in made] == ["ensemble(parsers=camelot+camelot(flavor=stream)+rapid)"]
    assert split_specs(["rapid"]) == (["rapid"], [])
    with pytest.raises(UsageError, match="no option 'of'"):
        split_specs(["ensemble(of=2)"])
    with pytest.raises(UsageError, match="parse --route"):
        split_specs(["routed"])
