"""The docling adapter on documents of docling-core, with a stand-in for the models."""

import os
from pathlib import Path

import pytest

from parsemark.model import Box
from parsemark.parsers import Environment, WorkerCommand, WorkerSession, get_parser, read_raw

pytestmark = pytest.mark.parsers

CORE = Environment(("docling-core==2.104.0",), ">=3.11")
STAND_IN = Path(__file__).with_name("fake_docling")


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorkerCommand:
    (tmp_path / "layout").mkdir()
    (tmp_path / "layout" / "model.safetensors").write_bytes(b"weights")
    monkeypatch.setenv("DOCLING_ARTIFACTS", str(tmp_path))
    CORE.build()
    real = get_parser("docling").command()
    paths = os.pathsep.join([real.env["PYTHONPATH"], str(STAND_IN)])
    return WorkerCommand((str(CORE.python), *real.argv[1:]), {**real.env, "PYTHONPATH": paths}, real.cwd)


def test_html_boxes_and_the_confidence_of_the_right_cluster(command: WorkerCommand) -> None:
    with WorkerSession(command) as session:
        assert session.hello.versions["docling"] == "2.143.0"
        assert set(session.hello.weights) == {"model.safetensors"}
        answer = session.ask("page.pdf", 3, {"mode": "fast", "ocr": False}, timeout_s=60)
    assert answer.output is not None, answer.error
    prediction = read_raw(answer.output, "page", "docling")
    (found,) = prediction.tables
    assert found.box == Box(100, 156, 460, 300)
    assert found.confidence == 0.87
    assert found.table is not None
    assert found.table.text_rows() == [["Counts", "Counts"], ["page 3", "fast"]]
    assert "Counts" in (prediction.text or "")


def test_it_says_what_it_misses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DOCLING_ARTIFACTS", raising=False)
    assert "DOCLING_ARTIFACTS" in str(get_parser("docling").state())
