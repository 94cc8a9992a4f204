"""Parsers on elements that were cut out of their pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from PIL import Image
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.corpora import load_corpus
from parsemark.engine.component_tasks import answered, crops_for
from parsemark.engine.parsing.parse import ParseOptions, add_samples, open_run
from parsemark.model import Status
from parsemark.protocols.document.component_scores import component_task
from parsemark.store import ParseRecord, RunFolder, schema_of

HTML = "<table><tr><td>a</td><td>b</td></tr></table>"


def _page(number: int, category: str, **content: Any) -> dict[str, Any]:
    det = {"category_type": category, "anno_id": 1, "order": 1, "ignore": False, "attribute": {}} | content
    det["poly"] = [10, 10, 90, 10, 90, 50, 10, 50]
    size = {"page_no": number, "width": 100, "height": 60, "page_attribute": {}}
    info = {"image_path": f"d{number}.png"} | size
    return {"layout_dets": [det], "page_info": info, "extra": {"relation": []}}


@pytest.mark.parametrize(
    ("task", "category", "content", "given", "figure"),
    [
        ("table", "table", {"html": HTML}, HTML, "TEDS"),
        ("ocr", "text_block", {"text": "some words"}, "some words", "edit_sample_avg"),
        ("formula", "equation_isolated", {"latex": "$$x^2=1$$"}, "$$x^2=1$$", "edit_sample_avg"),
    ],
)
def test_what_parsers_make_of_crops_is_scored_as_a_component(
    tmp_path: Path, task: Any, category: str, content: dict[str, str], given: str, figure: str
) -> None:
    (tmp_path / "images").mkdir()
    for number in (1, 2):
        Image.new("RGB", (100, 60), "white").save(tmp_path / "images" / f"d{number}.png")
    pages = [_page(number, category, **content) for number in (1, 2)]
    (tmp_path / "pages.json").write_text(json.dumps(pages))
    corpus = load_corpus(f"omnidocbench:{tmp_path / 'pages.json'}")
    annotation = crops_for(corpus, task, tmp_path / "out")
    assert crops_for(corpus, task, tmp_path / "out") == annotation  # cut once
    crops = load_corpus(f"omnidocbench:{annotation}")
    run = open_run(tmp_path / "run", crops, ParseOptions())
    add_samples(run, crops, None)
    raw = json.dumps({"format": "markdown", "content": given}).encode()
    first, second = crops.keys
    records = [
        ParseRecord(first, "one", Status.OK, "one", blob=RunFolder.of(run).blobs.put(raw)),
        ParseRecord(second, "one", Status.PARSER_TIMEOUT, "one", error="too slow"),
    ]
    RunFolder.of(run).write_table(
        "parses", pl.DataFrame([r.to_json() for r in records], schema=schema_of("parses"))
    )
    (answers,) = answered(run, crops, annotation, task).values()
    result = component_task(answers, task)
    assert (result.n, result.n_missing) == (2, 1), "a crop without an answer counts"
    assert result.figures[figure] == pytest.approx(0.5), "the right answer and none at all"


WORKER = """\
# /// script
# requires-python = ">=3.11"
# dependencies = []
# [tool.parsemark]
# licence = "MIT"
# gives = ["text"]
# ///
from parsemark_worker import serve, text_output

serve(lambda pdf, page, options: text_output("text", "some words"))
"""


def test_a_task_is_benched_from_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    for number in (1, 2):
        Image.new("RGB", (100, 60), "white").save(tmp_path / "images" / f"d{number}.png")
    texts = ("some words", "other things")
    pages = [_page(number, "text_block", text=text) for number, text in enumerate(texts, 1)]
    (tmp_path / "pages.json").write_text(json.dumps(pages))
    (tmp_path / "fixed.py").write_text(WORKER)
    flags = ["--corpus", f"omnidocbench:{tmp_path / 'pages.json'}", "--out", str(tmp_path / "out")]
    refused = CliRunner().invoke(app, ["bench", "--task", "ocr", *flags])
    assert refused.exit_code and "--task needs the parsers" in str(refused.exception)
    said = CliRunner().invoke(app, ["bench", "--task", "ocr", *flags, "--parser", str(tmp_path / "fixed.py")])
    assert said.exit_code == 0, said.output
    assert any(line.split()[:3] == ["fixed", "2", "0"] for line in said.output.splitlines()), said.output
    again = ["score", "--task", "ocr", "--predictions", str(tmp_path / "out" / "fixed.json")]
    scored = CliRunner().invoke(app, again)
    assert scored.exit_code == 0 and scored.output.count("\n") > 2, scored.output
