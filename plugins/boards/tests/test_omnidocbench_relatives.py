"""MDPBench and PureDocBench: their loaders, and their means over pages that OmniDocBench's rules score."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from benchmark_pages import write

from parsemark import score
from parsemark.corpora import load_corpus
from parsemark.errors import CorpusError
from parsemark.protocols import FigureInfo, FigureSums
from parsemark.protocols.run_scores.aggregate import figure_of, mean_statistic
from parsemark_boards.mdpbench.protocol import capture_of, language_of, page_scores, published_scores
from parsemark_boards.omnidocbench_pages import mean_of

TEXT = "Slack water lasts nine minutes at the narrows."
ROWS = "<table><tr><td>a</td><td>bcd</td></tr><tr><td>1</td><td>2</td></tr></table>"


def block(kind: str, number: int, **said: str) -> dict[str, Any]:
    top = 100.0 * number
    poly = [0, top, 100, top, 100, top + 50, 0, top + 50]
    return {"category_type": kind, "poly": poly, "order": number, "anno_id": number, "ignore": False, **said}


def annotated(name: str, *, has_table: bool = True) -> dict[str, Any]:
    blocks = [block("text_block", 1, text=TEXT)]
    blocks += [block("table", 2, html=ROWS)] if has_table else []
    info = {"width": 500, "height": 500, "image_path": f"{name}.jpg", "page_attribute": {}}
    return {"page_info": info, "layout_dets": blocks, "extra": {"relation": []}}


def test_a_page_counts_by_what_it_has_and_a_language_by_its_pages(tmp_path: Path) -> None:
    names = ("EN_a_1", "EN_a_1_photo", "DE_b_1", "ZH-T_c_1", "ZH_d_1")
    pages = [annotated(name, has_table=name == "EN_a_1") for name in names]
    write(tmp_path / "MDPBench.json", json.dumps(pages))
    corpus = load_corpus(f"mdpbench:{tmp_path / 'MDPBench.json'}")
    assert [sample.document for sample in corpus.samples()] == ["EN_a_1", "EN_a_1", *names[2:]]
    for name, text in (
        ("EN_a_1", f"{TEXT}\n\n{ROWS.replace('bcd', 'bcx')}"),
        ("EN_a_1_photo", TEXT),
        ("DE_b_1", TEXT.replace("nine", "five")),
        ("ZH-T_c_1", TEXT),
    ):
        write(tmp_path / "out" / f"{name}.md", text)
    spec = "mdpbench(cdm=false)"
    run = score(tmp_path / "out", corpus, protocols=spec, out=tmp_path / "run", workers=1)
    figures = run.summary(spec).parsers["out"]
    assert figures["overall"].n == 4, "a page without output is left out"
    assert figures["photo"].value == 1 and figures["photo"].n == 1
    own = figures["teds"].value
    assert own is not None and own < 1
    english = ((1 + own) / 2 + 1) / 2
    german = 1 - (figures["text_edit"].value or 0) * 4  # the other three answered pages are right
    assert german < 1 and figures["overall"].value == pytest.approx(((1 + own) / 2 + 1 + german + 1) / 4)
    assert figures["latin"].value == pytest.approx((english + german) / 2)
    assert figures["non_latin"].value == 1
    printed = published_scores(run.summary(spec).slices, "out")
    assert printed["languages"] == {
        "DE": round(100 * german, 1), "EN": round(100 * english, 1), "ZH-T": 100
    }  # fmt: skip
    [note] = [note for note in run.summary(spec).notes if "CDM" in note]
    assert "lack formulas" in note


def test_the_worked_examples_come_out() -> None:
    columns = {"sample": ["a", "a", "b"], "parser": "p", "metric": ["text_edit", "teds", "text_edit"]}
    rows = pl.DataFrame({**columns, "value": [0.1, 0.7, 0.4]})
    assert page_scores(rows)["value"].to_list() == pytest.approx([0.8, 0.6])
    text = (Path(__file__).parents[1] / "docs" / "mdpbench.md").read_text()
    assert "= 0.8." in text and "scores 0.6. Overall is 0.7." in text
    info = FigureInfo(name="avg3", label="Avg3", definition="d", denominator="pages")
    parts = [
        FigureSums(info, ("a",), ("a",), {"p": np.array([[value, 1.0]])}, mean_statistic)
        for pair in ((0.1, 0.9), (0.2, 0.8), (0.4, 0.5))
        for value in pair
    ]
    assert figure_of(mean_of(parts, info, [True, False] * 3), "p").value == pytest.approx(0.75)
    assert "Avg3 is 0.75" in (Path(__file__).parents[1] / "docs" / "puredocbench.md").read_text()


def test_names_tell_language_and_capture() -> None:
    assert language_of("zh-t_a_1") == "ZH-T" and capture_of("EN_a_1") == "digital"
    assert capture_of("EN_a_1_2") == "photo" == capture_of("EN_a")
    assert capture_of("EN__a_1") == "digital", "empty parts do not count"


def test_the_mean_of_three_tracks_counts_each_alike(tmp_path: Path) -> None:
    for track, n in (("clean", 2), ("digital", 1), ("real", 1)):
        write(tmp_path / "data" / f"{track}.json", json.dumps([annotated(f"p{k}") for k in range(n)]))
    corpus = load_corpus(f"puredocbench:{tmp_path / 'data'}")
    assert corpus.keys == ("clean-p0", "clean-p1", "digital-p0", "real-p0")
    for name in ("clean/p0", "clean/p1", "digital/p0"):
        write(tmp_path / "out" / f"{name}.md", f"{TEXT}\n\n{ROWS}")
    spec = "puredocbench(cdm=false)"
    run = score(tmp_path / "out", corpus, protocols=spec, out=tmp_path / "run", workers=1)
    summary = run.summary(spec)
    figures = summary.parsers["out"]
    assert [figures[f"overall_{track}"].value for track in ("clean", "digital", "real")] == [1, 1, 0]
    assert figures["avg3"].value == pytest.approx(2 / 3) and summary.primary == "avg3"
    assert "no CDM" in summary.figures[0].label
    with pytest.raises(CorpusError, match="Is this PureDocBench"):
        load_corpus(f"puredocbench:{tmp_path / 'out'}")


def test_a_run_without_a_track_has_no_mean_of_three(tmp_path: Path) -> None:
    write(tmp_path / "clean.json", json.dumps([annotated("p0")]))
    write(tmp_path / "out" / "clean" / "p0.md", TEXT)
    spec = "puredocbench(cdm=false)"
    run = score(tmp_path / "out", f"puredocbench:{tmp_path}", protocols=spec, out=tmp_path / "run", workers=1)
    assert run.summary(spec).primary == "overall_clean" and "avg3" not in run.summary(spec).parsers["out"]
