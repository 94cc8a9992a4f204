"""`parsemark score` and `export` on a small corpus in OmniDocBench's form."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.store import Run

FOX = "the quick brown fox jumps over the lazy dog near the river bank"
TABLE = "<table><tr><td>a</td><td>b</td></tr></table>"


def _page(name: str, *dets: dict[str, Any]) -> dict[str, Any]:
    poly = [10, 10, 500, 10, 500, 700, 10, 700]
    return {
        "layout_dets": [
            {
                "anno_id": i,
                "ignore": False,
                "attribute": {"text_language": "text_english"},
                "poly": poly,
                **det,
            }
            for i, det in enumerate(dets)
        ],
        "page_info": {
            "image_path": name,
            "page_attribute": {"language": "english", "special_issue": ["fuzzy_scan"]},
            "page_no": 1,
            "width": 800,
            "height": 600,
        },
        "extra": {"relation": []},
    }


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    text = {"category_type": "text_block", "text": FOX, "order": 1}
    table = {"category_type": "table", "html": TABLE, "order": 2}
    pages = [_page("z first.pdf_1.jpg", text, table), _page("a.pdf_2.png", text), _page("m.jpg", text)]
    path = tmp_path / "annotation.json"
    path.write_text(json.dumps(pages))
    folder = tmp_path / "preds"
    folder.mkdir()
    (folder / "z first_1.md").write_text(f"{FOX}\r\n\r\n{TABLE}\r\n")  # the name without `.pdf`
    (folder / "a.pdf_2.png.md").write_text("")  # the whole name; `m` has no file
    return path


def _run(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_one_run_under_several_profiles(corpus: Path, tmp_path: Path) -> None:
    run, out = tmp_path / "run", tmp_path / "out"
    options = ["--corpus", f"omnidocbench:{corpus}", str(corpus.parent / "preds")]
    profiles = [f"--protocol=document(profile={v})" for v in ("v1.5", "v1.6")]
    shown = _run("score", *options, *profiles, "--out", str(run))
    assert "profile=v1.5" in " ".join(shown.split()) and "tables:" not in shown
    _run("export", str(run), "--format", "omnidocbench", "--out", str(out))
    old = json.loads((out / "v1.5" / "preds_quick_match_metric_result.json").read_text())
    new = json.loads((out / "v1.6" / "preds_quick_match_metric_result.json").read_text())
    # The page without a file is in no average of v1.5, and an empty page for v1.6.
    assert old["text_block"]["all"]["Edit_dist"]["ALL_page_avg"] == 0.5
    assert new["text_block"]["all"]["Edit_dist"]["ALL_page_avg"] == pytest.approx(2 / 3)
    assert old["text_block"]["page"]["Edit_dist"]["fuzzy_scan"] == 0.5
    assert old["table"]["all"]["TEDS"]["all"] == 1
    records = json.loads((out / "v1.6" / "preds_quick_match_text_block_result.json").read_text())
    assert [r["img_id"] for r in records] == ["z first.pdf_1.jpg", "a.pdf_2.png", "m.jpg"]
    assert new["match_debug"]["page_count"] == 3 and "match_debug" not in old
    assert new["table"]["metric_debug"]["TEDS"]["sample_count"] == 1
    assert set(records[0]) >= {"gt_idx", "pred_idx", "norm_gt", "norm_pred", "edit", "metric", "Edit_num"}


def test_a_run_without_a_published_profile_has_no_such_files(corpus: Path, tmp_path: Path) -> None:
    from parsemark.errors import StoreError

    run = tmp_path / "run"
    options = ["--corpus", f"omnidocbench:{corpus}", str(corpus.parent / "preds")]
    _run("score", *options, "--protocol", "document", "--out", str(run))
    with pytest.raises(StoreError, match="profile"):
        arguments = ["export", str(run), "--format", "omnidocbench", "--out", str(tmp_path / "out")]
        CliRunner().invoke(app, arguments, catch_exceptions=False)


@pytest.mark.parametrize("format", ["md", "json", "html"])
def test_outputs_that_were_written_are_read_back(format: str, corpus: Path, tmp_path: Path) -> None:
    outputs = {
        "z first_1.txt": f"{FOX}\n\na      b\n1      2\n3      4\n",
        "a_2.json": json.dumps(
            [
                {"category": "text_block", "text": FOX, "box": [1, 2, 3, 4]},
                {"category": "table", "cells": [{"row": 0, "col": c, "text": f"{c}"} for c in range(2)]},
            ]
        ),
        "m.md": f"{FOX}\n\n{TABLE}\n",
    }
    folder = tmp_path / "mixed"
    folder.mkdir()
    for name, text in outputs.items():
        (folder / name).write_text(text)
    where = ("--corpus", f"omnidocbench:{corpus}", "--out", str(tmp_path / "run"))
    _run("score", str(folder), "--name", "given", *where)
    written = ("--format", f"outputs-{format}", "--out", str(tmp_path / "written"))
    _run("export", str(tmp_path / "run"), *written)
    _run("score", str(tmp_path / "written" / "given"), "--name", "again", *where)
    run = Run.open(tmp_path / "run")
    for sample in run.table("samples")["sample"]:
        given, again = (run.prediction(sample, name) for name in ("given", "again"))
        rows = [[e.table.text_rows() for e in p.tables if e.table is not None] for p in (given, again)]
        assert rows[0] and rows[0] == rows[1]
        assert format != "json" or given.text == again.text
