"""Component tasks: what is missing is counted strictly and skipped as published."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.errors import FormatError, UsageError
from parsemark.metrics.bleu import corpus_bleu
from parsemark.protocols.document.component_scores import component_task, layout_task
from parsemark.protocols.document.omnidocbench.profile import PROFILES, STRICT_COMPONENTS

POLY = [0, 0, 100, 0, 100, 50, 0, 50]


def pages(*dets: dict[str, Any]) -> list[dict[str, Any]]:
    info = {"image_path": "p.jpg", "page_attribute": {"language": "english"}, "width": 200, "height": 300}
    filled = [
        {"anno_id": i, "poly": POLY, "attribute": {"text_rotate": "normal"}, **d} for i, d in enumerate(dets)
    ]
    return [{"layout_dets": filled, "page_info": info, "extra": {"relation": []}}]


def test_text_with_and_without_predictions() -> None:
    data = pages(
        {"category_type": "text_block", "text": "abcd", "pred": "abcx"},
        {"category_type": "title", "text": "wxyz"},
    )
    published = component_task(data, "ocr", counts_missing=False)
    assert (published.n, published.n_missing, published.figures["edit_sample_avg"]) == (1, 1, 0.25)
    strict = component_task(data, "ocr")
    assert (strict.n, strict.n_missing, strict.figures["edit_sample_avg"]) == (2, 1, 0.625)
    groups = strict.result["text_block"]["group"]
    assert groups["sample_count"] == {"text_rotate: normal": 2}


def test_punctuation_and_signs_count_strictly_and_not_as_published() -> None:
    wrong = pages(
        {"category_type": "text_block", "text": "Net -5.2%, not +3.1 (a/b).", "pred": "Net 52 not 31 ab"}
    )
    strict = component_task(wrong, "ocr", profile=STRICT_COMPONENTS)
    assert strict.figures["edit_whole"] == pytest.approx(10 / 22)
    assert component_task(wrong, "ocr", profile=PROFILES["v1.5"]).figures["edit_whole"] == 0


def test_bleu_is_of_words_strictly_and_of_bare_text_as_published() -> None:
    text = "The quick brown fox jumps, twice."
    perfect = pages({"category_type": "text_block", "text": text, "pred": text})
    strict = component_task(perfect, "ocr", profile=STRICT_COMPONENTS)
    assert strict.figures["BLEU"] == 1 and not strict.remarks
    for profile in PROFILES.values():
        published = component_task(perfect, "ocr", profile=profile)
        assert published.figures["BLEU"] == 0 and "white space" in published.remarks[0]
    shorter = pages({"category_type": "text_block", "text": text, "pred": "The quick brown fox jumps"})
    assert component_task(shorter, "ocr", profile=STRICT_COMPONENTS).figures["BLEU"] == pytest.approx(
        corpus_bleu(["The quick brown fox jumps"], [text])
    )
    one_word = pages({"category_type": "text_block", "text": "敏捷的棕色狐狸", "pred": "敏捷的棕色狐狸"})
    undefined = component_task(one_word, "ocr", profile=STRICT_COMPONENTS)
    assert undefined.figures["BLEU"] is None and "not defined" in undefined.remarks[0]


def test_tables_and_formulas() -> None:
    html = "<table><tr><td>a</td></tr></table>"
    data = pages(
        {"category_type": "table", "html": html, "pred": html},
        {"category_type": "equation_isolated", "latex": "$$x^{2}$$", "pred": "$$x^{2}$$"},
    )
    assert component_task(data, "table").figures["TEDS"] == 1
    assert component_task(data, "formula").figures["ALL_page_avg"] == 0


def test_layout() -> None:
    pytest.importorskip("hotcoco")
    boxes = {
        "results": [{"image_name": "p", "bbox": [0, 0, 100, 50], "category_id": 1, "score": 0.9}],
        "categories": {"1": "plain text"},
    }
    found = layout_task(pages({"category_type": "text_block", "text": "a"}), boxes)
    assert found.figures["mAP"] == pytest.approx(1)
    with pytest.raises(FormatError, match="results"):
        layout_task(pages(), {"boxes": []})


def test_the_command(tmp_path: Path) -> None:
    file = tmp_path / "ocr.json"
    file.write_text(json.dumps(pages({"category_type": "text_block", "text": "abcd", "pred": "abcd"})))
    out = tmp_path / "out"
    arguments = ["score", "--task", "ocr", str(file), "--out", str(out)]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0 and "1 element scored" in result.output
    assert json.loads((out / "ocr_ocr_result.json").read_text())["figures"]["ALL_page_avg"] == 0
    with pytest.raises(UsageError, match="choose one of"):
        CliRunner().invoke(app, [*arguments[:2], "ocrs", *arguments[3:]], catch_exceptions=False)


def test_relations_of_captions() -> None:
    pytest.importorskip("hotcoco")
    truth = pages(
        {"category_type": "table", "html": "<table></table>", "poly": [0, 0, 100, 0, 100, 50, 0, 50]},
        {"category_type": "table_caption", "text": "A", "poly": [0, 60, 100, 60, 100, 70, 0, 70]},
        {"category_type": "figure", "poly": [0, 100, 100, 100, 100, 150, 0, 150]},
        {"category_type": "figure_caption", "text": "B", "poly": [0, 160, 100, 160, 100, 170, 0, 170]},
    )
    dets = truth[0]["layout_dets"]
    truth[0]["extra"]["relation"] = [
        {
            "relation_type": "parent_son",
            "source_anno_id": dets[k]["anno_id"],
            "target_anno_id": dets[k + 1]["anno_id"],
        }
        for k in (0, 2)
    ]
    places = [[0, 0, 100, 52], [0, 60, 98, 70], [0, 100, 100, 150], [0, 160, 100, 170]]
    boxes = {
        "results": [
            {"image_name": "p", "bbox": box, "category_id": k, "score": 0.9} for k, box in enumerate(places)
        ],
        "categories": {"0": "table", "1": "table_caption", "2": "figure", "3": "figure_caption"},
    }
    assert "Relations F1" not in layout_task(truth, boxes).figures
    right = layout_task(truth, boxes | {"relations": [[0, 1], [2, 3]]}).figures
    assert right["Relations F1"] == 1
    crossed = layout_task(truth, boxes | {"relations": [[0, 1], [2, 1]]}).figures
    assert crossed["Relations precision"] == crossed["Relations recall"] == 0.5
    with pytest.raises(FormatError):
        layout_task(truth, boxes | {"relations": [[0, 9]]})


def test_tables_of_groups(tmp_path: Path) -> None:
    """Table 6: the plain mean over types of pages; 7 and 8: means over elements by attribute."""
    pytest.importorskip("hotcoco")
    both = pages({"category_type": "text_block", "text": "a"}) + pages(
        {"category_type": "text_block", "text": "a"}
    )
    for page, name, source in zip(both, ("p.jpg", "q.jpg"), ("book", "note"), strict=True):
        page["page_info"] = page["page_info"] | {
            "image_path": name,
            "page_attribute": {"data_source": source},
        }
    right = {"image_name": "p", "bbox": [0, 0, 100, 50], "category_id": 1, "score": 0.9}
    found = layout_task(both, {"results": [right], "categories": {"1": "plain text"}})
    assert found.table is not None and found.n_missing == 1
    assert found.table.values == pytest.approx({"book": 100, "note": 0, "average": 50})
    html = "<table><tr><td>a</td><td>b</td></tr></table>"
    data = pages(
        {"category_type": "table", "html": html, "pred": html, "attribute": {"line": "full_line"}},
        {"category_type": "table", "html": html, "attribute": {"line": "less_line", "with_span": True}},
    )
    groups = component_task(data, "table").table
    assert groups is not None and groups.values == {
        "line: full_line": 100, "line: less_line": 0, "with_span: True": 0, "all": 50,
    }  # fmt: skip
    assert groups.counts["all"] == 2


def test_boxes_that_cannot_be_used_are_named() -> None:
    pytest.importorskip("hotcoco")
    truth = pages({"category_type": "text_block", "text": "a"})
    right = {"image_name": "p", "bbox": [0, 0, 100, 50], "category_id": 1, "score": 0.9}
    wrong = [
        right | {"category_id": 99},
        right | {"bbox": ["a", 0, 1, 1]},
        right | {"bbox": [0, 0, 1]},
        right | {"score": float("nan")},
        {"bbox": [0, 0, 1, 1]},
        "no box",
        right | {"image_name": "elsewhere"},
    ]
    found = layout_task(truth, {"results": [*wrong, right], "categories": {"1": "plain text"}})
    assert found.figures["mAP"] == pytest.approx(1)
    assert "6 of 8 boxes" in found.remarks[0] and "box 0: category_id 99" in found.remarks[0]
    assert "elsewhere.jpg" in found.remarks[1]
    with pytest.raises(FormatError, match=r"p\.jpg"):
        layout_task(truth, {"results": wrong[-1:], "categories": {"1": "plain text"}})
    with pytest.raises(FormatError, match="categories"):
        layout_task(truth, {"results": []})


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_formulas_that_cannot_be_drawn_are_said() -> None:
    data = pages({"category_type": "equation_isolated", "latex": "a+b", "pred": "\\frac{u"})
    found = component_task(data, "formula", cdm=True)
    assert found.figures["CDM"] == 0
    assert any(
        remark.startswith("1 formula could not be drawn: CDM 0. The first: ") for remark in found.remarks
    )
