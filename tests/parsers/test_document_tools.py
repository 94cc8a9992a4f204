"""Workers whose models are not here: the real worker, stand-ins for its packages, a real page."""

import os
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.parsers.pages import write_page
from tests.parsers.stand_ins import laid_out

from parsemark.errors import ParserError
from parsemark.model import Box, Category, Prediction, Status
from parsemark.parsers import Parser, WorkerCommand, WorkerSession, get_parser, read_raw
from parsemark.parsers.trial import require_usable

pytestmark = pytest.mark.parsers

WEIGHTS = {
    "marker": "MARKER_WEIGHTS",
    "surya": "",
    "pp-structure": "PADDLEX_WEIGHTS",
    "paddleocr": "PADDLEX_WEIGHTS",
    "nougat": "NOUGAT_WEIGHTS",
    "got-ocr": "GOT_OCR_WEIGHTS",
    "doctr": "DOCTR_WEIGHTS",
    "doclayout-yolo": "DOCLAYOUT_YOLO_WEIGHTS",
    "pix2tex": "PIX2TEX_WEIGHTS",
    "unimernet": "UNIMERNET_WEIGHTS",
    "unstructured": "UNSTRUCTURED_WEIGHTS",
    "gmft": "TATR_WEIGHTS",
}
HUB = ("unstructuredio/yolo_x_layout", "microsoft/table-transformer-structure-recognition")
BASE = "camelot"
"""Its environment has numpy, pandas, pillow and pypdfium2, which no stand-in replaces."""
TABLE = Box(72, 100, 300, 200)
PINNED = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^;\s]+)")


def pinned(parser: Parser) -> dict[str, str]:
    return dict(m.groups() for d in parser.declaration.dependencies if (m := PINNED.fullmatch(d)))


def put_weights(parser: Parser, folder: Path) -> Path:
    for name in parser.info.weight_files:
        path = folder / name.replace("*", "doclayout" if name == "*.pt" else "pytorch_model")
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.name.startswith("en_core"):
            with zipfile.ZipFile(folder / "en_core_web_sm-3.8.0-py3-none-any.whl", "w") as wheel:
                wheel.writestr("en_core_web_sm/__init__.py", "")
        elif "." in path.name and not path.name.startswith(("PP-", "SLA", "RT-")):
            path.write_bytes(b"weights")
        else:
            path.mkdir(exist_ok=True)
    return folder


Ask = Callable[[str], Prediction]


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """One page through a worker, with stand-ins before the packages of a small environment."""

    def run(name: str) -> Prediction:
        parser = get_parser(name)
        folder = put_weights(parser, tmp_path / "weights")
        folder.mkdir(exist_ok=True)
        for model in HUB:
            (folder / model).mkdir(parents=True)
        if WEIGHTS[name]:
            monkeypatch.setenv(WEIGHTS[name], str(folder))
        monkeypatch.setenv("SURYA_INFERENCE_URL", "http://127.0.0.1:9/v1")
        get_parser(BASE).install()
        real = parser.command()
        packages = laid_out(name, tmp_path / "packages", pinned(parser))
        paths = os.pathsep.join([real.env["PYTHONPATH"], str(packages)])
        argv = (str(get_parser(BASE).environment.python), *real.argv[1:])
        command = WorkerCommand(argv, {**real.env, "PYTHONPATH": paths}, real.cwd)
        with WorkerSession(command) as session:
            versions = session.hello.versions
            assert all(versions[k] == v for k, v in pinned(parser).items() if k in versions)
            page = str(write_page(tmp_path / "page.pdf"))
            answer = session.ask(page, 1, parser.options, timeout_s=120)
        assert answer.output is not None, answer.error
        prediction = read_raw(answer.output, "page", name)
        assert prediction.status is Status.OK, prediction.message
        return prediction

    return run


def categories(prediction: Prediction) -> list[str]:
    return [e.category for e in sorted(prediction.elements, key=lambda e: e.order or 0)]


@pytest.mark.parametrize("name", ["marker", "surya", "pp-structure", "unstructured"])
def test_blocks_of_a_page(name: str, ask: Ask) -> None:
    prediction = ask(name)
    found = categories(prediction)
    assert found[:3] == [Category.TITLE, Category.TABLE_CAPTION, Category.TABLE]
    (element,) = prediction.tables
    assert element.box is not None and element.box.iou(TABLE) > 0.98
    assert element.table is not None and element.table.text_rows() == [["Year", "Sum"], ["2020", "4.5"]]
    assert element.confidence == (None if name == "marker" else pytest.approx(0.93))
    assert "Results & more" in [e.text for e in prediction.elements]
    assert "Results" in (prediction.text or "")
    if name in ("marker", "pp-structure"):
        (formula,) = (e for e in prediction.elements if e.category == Category.EQUATION_ISOLATED)
        assert formula.latex == "x^2"
    if name == "unstructured":
        assert prediction.elements[-1].category == Category.EQUATION_ISOLATED
        assert (prediction.elements[-1].text, prediction.elements[-1].latex) == ("x2 = 4", None)
    if name == "pp-structure":  # the block has another label than the box that it came from
        assert prediction.elements[3].text == "In euros."
        assert prediction.elements[3].confidence == pytest.approx(0.7)


def test_lines_become_paragraphs(ask: Ask) -> None:
    prediction = ask("paddleocr")
    assert [e.text for e in prediction.elements] == ["Results & more", "A first line\nand a second."]
    assert prediction.elements[1].confidence == pytest.approx(0.85)
    assert prediction.elements[1].box == Box(72, 100, 300, 126)


@pytest.mark.parametrize("name", ["nougat", "got-ocr"])
def test_models_that_write_latex(name: str, ask: Ask) -> None:
    prediction = ask(name)
    (element,) = prediction.tables
    assert element.table is not None and element.table.text_rows() == [["Year", "Sum"], ["2020", "4.5"]]
    assert "## Results" in (prediction.text or "")
    assert not any(mark in (prediction.text or "") for mark in ("im_end", "MISSING_PAGE"))


def test_tables_of_cells_with_spans(ask: Ask) -> None:
    prediction = ask("doctr")
    (element,) = prediction.tables
    assert element.table is not None
    assert element.table.text_rows() == [["Sums", "Sums"], ["2020", "4.5"]]
    assert element.box is not None and element.box.iou(Box(72, 100, 272, 200)) > 0.99
    assert prediction.elements[0].text == "Results more"
    assert prediction.elements[0].confidence == pytest.approx(0.9)


def test_a_detector_reads_the_words_in_its_boxes(ask: Ask) -> None:
    prediction = ask("doclayout-yolo")
    title, table, formula = sorted(prediction.elements, key=lambda e: e.order or 0)
    assert formula.category == Category.EQUATION_ISOLATED
    assert formula.latex is None and formula.text == "cell 00"
    assert title.category == Category.TITLE and title.text == "A line above the table"
    assert table.category == Category.TABLE and table.table is None
    assert (table.text or "").startswith("cell 00") and table.confidence == pytest.approx(0.93)
    assert table.box == Box(100, 156, 460, 300)


@pytest.mark.parametrize("name", ["pix2tex", "unimernet"])
def test_formulas_are_found_and_read(name: str, ask: Ask) -> None:
    prediction = ask(name)
    (formula,) = prediction.elements
    assert formula.category == Category.EQUATION_ISOLATED and formula.latex == "x^{2}"
    assert formula.box is not None and formula.box.iou(Box(72, 220, 172, 240)) > 0.98
    assert "$$" in (prediction.text or "")


def test_data_frames(ask: Ask) -> None:
    first, second, third = ask("gmft").tables
    assert first.table is not None
    assert first.table.text_rows() == [["", "Sums"], ["Year", "EUR"], ["2020", "4.5"], ["2021", ""]]
    assert first.box == TABLE and first.confidence == pytest.approx(0.93)
    assert second.table is not None and second.table.text_rows() == [["2019", "4"]]
    assert third.table is not None and not third.table.cells


@pytest.mark.parametrize("name", [name for name, variable in WEIGHTS.items() if variable])
def test_it_says_what_to_put_where(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parser, variable = get_parser(name), WEIGHTS[name]
    monkeypatch.delenv(variable, raising=False)
    monkeypatch.delenv("PARSEMARK_FETCH_WEIGHTS", raising=False)
    is_fetched = rf"weights \(.+\): run `parsemark parsers install {name}.*`, or set {variable}"
    with pytest.raises(
        ParserError, match=rf"{is_fetched}|{variable} \(set it to a folder with the weights; .+\)"
    ):
        require_usable(parser)
    monkeypatch.setenv(variable, str(tmp_path))
    with pytest.raises(ParserError, match=re.escape(f"{parser.info.weight_files[0]}")):
        require_usable(parser)
    put_weights(parser, tmp_path)
    assert variable not in str(parser.state())
