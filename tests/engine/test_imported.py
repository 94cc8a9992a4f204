"""Outputs made elsewhere, in every format, and files that are not to be trusted."""

import json
from pathlib import Path

import pytest
from tests.engine.fakes import make_corpus

from parsemark.engine.imported import import_predictions
from parsemark.engine.scoring import score_run
from parsemark.protocols import Figure

HTML = "<table><tr><td>{0}</td><td>page 1</td></tr><tr><td>1</td><td>2</td></tr></table>"
FORMATS = {
    ".md": "| {0} | page 1 |\n|---|---|\n| 1 | 2 |\n",
    ".html": HTML,
    ".htm": HTML,
    ".tex": "\\begin{{tabular}}{{ll}} {0} & page 1 \\\\ 1 & 2 \\end{{tabular}}",
    ".csv": "{0},page 1\n1,2\n",
    ".txt": HTML,
}
CELLS = [["{0}", "page 1"], ["1", "2"]]


@pytest.mark.parametrize("suffix", [*FORMATS, ".JSON", ".json"])
def test_every_format_scores_alike(suffix: str, tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "corpus", ["fine", "fine"])
    outputs = tmp_path / "mine"
    outputs.mkdir()
    for key in corpus.keys:
        if suffix.lower() == ".json":
            cells = [
                {"row": r, "col": c, "text": text.format(key)}
                for r, row in enumerate(CELLS)
                for c, text in enumerate(row)
            ]
            content = json.dumps({"elements": [{"category": "table", "cells": cells}]})
        else:
            content = FORMATS[suffix].format(key)
        (outputs / f"{key}{suffix}").write_text(content)
    (summary,) = score_run(import_predictions(tmp_path / "run", corpus, outputs), n_workers=1)
    figures = summary.parsers["mine"]
    assert figures["te_f1_con"].value == 1
    assert figures["failures"].value == 0
    assert figures["cpu_s_per_page"] == Figure(value=None, n=0)


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"[" * 100_000,
        b"null",
        b'{"elements": 3}',
        b'{"format": "elements", "elements": [7]}',
        b"\xff\xfe",
    ],
)
def test_a_broken_file_costs_its_page(content: bytes, tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "corpus", ["fine", "fine"])
    outputs = tmp_path / "mine"
    outputs.mkdir()
    (outputs / "s000.json").write_bytes(content)
    (outputs / "s001.html").write_text(HTML.format("s001"))
    run = import_predictions(tmp_path / "run", corpus, outputs)
    (summary,) = score_run(run, n_workers=1)
    assert summary.parsers["mine"]["te_recall_con"].value == 0.5
    assert str(run.prediction("s000", "mine").status) == "parser_failed"
