"""Elements cut out of their pages, as a corpus that everything works on."""

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.corpora import load_corpus
from parsemark.corpora.crops import FILE, write_crops
from parsemark.errors import CorpusError, UsageError

HTML = "<table><tr><td>a</td><td>b</td></tr></table>"


def _det(number: int, category: str, box: tuple[int, int, int, int], **content: Any) -> dict[str, Any]:
    x0, y0, x1, y1 = box
    poly = [x0, y0, x1, y0, x1, y1, x0, y1]
    det = {"category_type": category, "anno_id": number, "order": number, "poly": poly, "ignore": False}
    return det | {"attribute": {"line": "full_line"}} | content


@pytest.fixture
def spec(tmp_path: Path) -> str:
    """One page: a red table, a green formula, blue text, an ignored table, and a table without a place."""
    picture = Image.new("RGB", (300, 400), "white")
    draw = ImageDraw.Draw(picture)
    for box, colour in (
        ((10, 10, 109, 59), "red"),
        ((10, 100, 59, 119), "lime"),
        ((10, 200, 209, 219), "blue"),
    ):
        draw.rectangle(box, fill=colour)
    (tmp_path / "images").mkdir()
    picture.save(tmp_path / "images" / "doc.pdf_3.png")
    dets = [
        _det(1, "table", (10, 10, 110, 60), html=HTML),
        _det(2, "equation_isolated", (10, 100, 60, 120), latex="$$x=1$$"),
        _det(3, "text_block", (10, 200, 210, 220), text="words"),
        _det(4, "table", (10, 300, 110, 350), html=HTML) | {"ignore": True},
        _det(5, "table", (10, 300, 12, 301), html=HTML),
    ]
    info = {
        "image_path": "doc.pdf_3.png", "page_no": 3, "width": 300, "height": 400,
        "page_attribute": {"language": "english"},
    }  # fmt: skip
    pages = [{"layout_dets": dets, "page_info": info, "extra": {"relation": []}}]
    (tmp_path / "pages.json").write_text(json.dumps(pages))
    return f"omnidocbench:{tmp_path / 'pages.json'}"


@pytest.mark.parametrize(
    ("kind", "size", "colour"),
    [("table", (100, 50), (255, 0, 0)), ("formula", (50, 20), (0, 255, 0)), ("text", (200, 20), (0, 0, 255))],
)
def test_elements_become_pages(
    spec: str, tmp_path: Path, kind: Any, size: tuple[int, int], colour: tuple[int, int, int]
) -> None:
    found = write_crops(load_corpus(spec), tmp_path / "out", kind)
    assert (found.n_crops, found.n_left_out) == (1, 1 if kind == "table" else 0)
    (sample,) = load_corpus(f"omnidocbench:{tmp_path / 'out' / FILE}").samples()
    assert sample.document == "doc" and sample.image is not None and sample.truth is not None
    with Image.open(sample.image) as picture:
        assert picture.size == size and picture.getcolors() == [(size[0] * size[1], colour)]
    (element,) = sample.truth.elements
    assert element.box is not None and element.box.as_tuple() == (0, 0, *size)
    assert element.attributes["line"] == "full_line"
    assert sample.truth.attributes["language"] == "english"


def test_outputs_of_crops_are_scored_as_pages_are(spec: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["corpus", "crops", spec, "--kind", "table", "--out", str(out)]
    shown = CliRunner().invoke(app, arguments, catch_exceptions=False).output
    assert "1 crop, 1 left out" in " ".join(shown.split())
    answers = tmp_path / "answers"
    answers.mkdir()
    (answers / "doc.pdf_1.md").write_text(HTML)
    score = ["score", "--corpus", f"omnidocbench:{out / 'crops.json'}", "--predictions", str(answers)]
    score += ["--protocol", "document(profile=v1.5)", "--out", str(tmp_path / "run")]
    assert CliRunner().invoke(app, score, catch_exceptions=False).exit_code == 0
    exported = tmp_path / "exported"
    export = ["export", str(tmp_path / "run"), "--format", "omnidocbench", "--out", str(exported)]
    CliRunner().invoke(app, export, catch_exceptions=False)
    result = json.loads((exported / "answers_quick_match_metric_result.json").read_text())
    assert result["table"]["group"]["TEDS"] == {"line: full_line": 1}


def test_what_cannot_be_cut_is_told(spec: str, tmp_path: Path) -> None:
    corpus = load_corpus(spec)
    with pytest.raises(UsageError, match="not empty"):
        write_crops(corpus, tmp_path, "table")
    (tmp_path / "images" / "doc.pdf_3.png").unlink()
    with pytest.raises(CorpusError, match="no table"):
        write_crops(load_corpus(spec), tmp_path / "out", "table")
