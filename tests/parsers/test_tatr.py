"""Table Transformer end to end with small random weights: saved to disk, loaded again, run on a real page."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.parsers.hub import Hub, serving
from tests.parsers.pages import write_page
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.errors import ParserError
from parsemark.model import Prediction
from parsemark.parsers import get_parser
from parsemark.parsers.trial import try_parser
from parsemark.system import cache_folder

MAKE_WEIGHTS = r"""
import sys
from pathlib import Path
import torch
from safetensors.torch import save_file
from transformers import ResNetConfig, TableTransformerConfig, TableTransformerForObjectDetection

def timm(name):
    name = name.replace("embedder.embedder.convolution", "conv1")
    name = name.replace("embedder.embedder.normalization", "bn1")
    for stage in range(4):
        for layer in range(2):
            old, new = f"encoder.stages.{stage}.layers.{layer}.", f"layer{stage + 1}.{layer}."
            for part in range(2):
                name = name.replace(f"{old}layer.{part}.convolution", f"{new}conv{part + 1}")
                name = name.replace(f"{old}layer.{part}.normalization", f"{new}bn{part + 1}")
            name = name.replace(f"{old}shortcut.convolution", f"{new}downsample.0")
            name = name.replace(f"{old}shortcut.normalization", f"{new}downsample.1")
    return name

out = Path(sys.argv[1])
for task, queries, labels in (("detection", 15, 2), ("structure", 125, 6)):
    torch.manual_seed(queries)
    backbone = ResNetConfig(layer_type="basic", depths=[2, 2, 2, 2], hidden_sizes=[8, 8, 16, 16],
                            embedding_size=8, out_features=["stage4"])
    config = TableTransformerConfig(use_timm_backbone=False, backbone=None, backbone_config=backbone,
        num_queries=queries, num_labels=labels, d_model=32, encoder_layers=1, decoder_layers=1,
        encoder_ffn_dim=32, decoder_ffn_dim=32, encoder_attention_heads=2, decoder_attention_heads=2)
    model = TableTransformerForObjectDetection(config)
    torch.nn.init.normal_(model.model.query_position_embeddings.weight, std=3.0)
    state = {k: v.contiguous() for k, v in model.state_dict().items()}
    for kind, rename in (("ours", str), ("published", timm)):
        folder = out / kind / task
        folder.mkdir(parents=True)
        config.save_pretrained(folder)
        save_file({rename(k): v for k, v in state.items()}, folder / "model.safetensors")
    import json
    written = out / "published" / task / "config.json"
    data = json.loads(written.read_text())
    data |= {"dilation": None, "use_timm_backbone": True, "backbone": "resnet18"}
    written.write_text(json.dumps(data))
"""

pytestmark = pytest.mark.parsers


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("tatr")
    parser = get_parser("tatr")
    parser.environment.build()
    done = subprocess.run(
        [str(parser.environment.python), "-c", MAKE_WEIGHTS, str(folder)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    yield folder


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return write_page(tmp_path / "page.pdf")


def _run(spec: str, page: Path) -> tuple[Prediction, dict[str, object]]:
    trial = try_parser(get_parser(spec), page, timeout_s=300)
    assert trial.answer.output is not None
    return trial.prediction, json.loads(trial.answer.output)


def _facts(prediction: Prediction) -> list[object]:
    return [(e.box, e.confidence, e.table) for e in prediction.tables]


def test_weights_are_read_in_both_spellings_and_give_the_same_tables(
    weights: Path, page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TATR_WEIGHTS", str(weights / "ours"))
    ours, raw = _run("tatr", page)
    assert ours.tables, "random weights see tables everywhere"
    assert all(0.05 < (e.confidence or 0) <= 1 and e.box is not None for e in ours.tables)
    assert isinstance(raw["tables_without_text"], int)
    monkeypatch.setenv("TATR_WEIGHTS", str(weights / "published"))
    published, _ = _run("tatr", page)
    assert _facts(published) == _facts(ours)


def test_xy_cut_looks_at_the_parts_of_the_page(
    weights: Path, page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TATR_WEIGHTS", str(weights / "ours"))
    prediction, _ = _run("tatr(detect=xycut)", page)
    whole, _ = _run("tatr", page)
    assert prediction.tables and _facts(prediction) != _facts(whole)


def test_boxes_of_another_detector_become_tables(
    weights: Path, page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    coco = {
        "images": [{"id": 7, "file_name": "page-p1.png", "width": 612, "height": 792}],
        "categories": [{"id": 3, "name": "Table"}, {"id": 4, "name": "table caption"}],
        "annotations": [
            {"image_id": 7, "category_id": 3, "bbox": [50, 50, 500, 600], "score": 0.83},
            {"image_id": 7, "category_id": 4, "bbox": [50, 20, 500, 20], "score": 0.99},
        ],
    }
    (tmp_path / "found.json").write_text(json.dumps(coco))
    monkeypatch.setenv("TATR_WEIGHTS", str(weights / "ours"))
    monkeypatch.setenv("TATR_DETECTIONS", str(tmp_path / "found.json"))
    prediction, _ = _run("tatr(detect=file)", page)
    (found,) = prediction.tables
    assert found.confidence == pytest.approx(0.83)
    coco["images"][0]["file_name"] = "another-p1.png"  # type: ignore[index]
    (tmp_path / "found.json").write_text(json.dumps(coco))
    with pytest.raises(ParserError, match=r"page-p1\.png"):
        _run("tatr(detect=file)", page)


def test_attention_has_one_map_for_each_query(
    weights: Path, page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TATR_WEIGHTS", str(weights / "ours"))
    _, raw = _run("tatr(attention=true)", page)
    looks = raw["attention"]
    assert isinstance(looks, list) and len(looks) == 15
    assert max(max(row) for row in looks[0]["map"]) == pytest.approx(1.0)


def test_missing_weights_are_named_with_what_to_put_there(
    weights: Path, page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TATR_WEIGHTS", raising=False)
    with pytest.raises(ParserError, match="TATR_WEIGHTS"):
        try_parser(get_parser("tatr"), page)
    monkeypatch.setenv("TATR_WEIGHTS", str(tmp_path))
    with pytest.raises(ParserError, match=r"model\.safetensors.*microsoft/table-transformer"):
        try_parser(get_parser("tatr"), page, timeout_s=300)


def test_published_weights_are_fetched_from_the_hub_and_give_the_same_tables(
    weights: Path, page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`parsers install tatr`, then a page: offline, confined, with nothing set but the hub's address."""
    monkeypatch.setenv("TATR_WEIGHTS", str(weights / "ours"))
    expected, _ = _run("tatr", page)
    monkeypatch.delenv("TATR_WEIGHTS")
    (tmp_path / "envs").symlink_to(cache_folder("envs"))
    monkeypatch.setenv("PARSEMARK_CACHE", str(tmp_path))
    monkeypatch.setenv("PARSEMARK_FETCH_WEIGHTS", "1")
    published = {}
    for task, name in (("detection", "detection"), ("structure", "structure-recognition")):
        files = {p.name: p.read_bytes() for p in (weights / "published" / task).iterdir()}
        published[f"microsoft/table-transformer-{name}"] = {**files, "preprocessor_config.json": b"{}"}
    with serving(Hub(published)) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        done = CliRunner().invoke(app, ["parsers", "install", "tatr"])
        assert done.exit_code == 0, done.output
    assert get_parser("tatr").state().kind == "ready"
    found, _ = _run("tatr", page)
    assert _facts(found) == _facts(expected)


def test_tokens_from_pdfalto(weights: Path, page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Soric et al.'s source of words: the same words as pdfium's, at about the same place."""
    monkeypatch.setenv("TATR_WEIGHTS", str(weights / "ours"))
    script = (
        "from parsemark_pages import alto_words, open_page, pdf_words\n"
        "import json, sys\n"
        "with open_page(sys.argv[1], 1) as opened:\n"
        "    print(json.dumps([pdf_words(opened), alto_words(sys.argv[1], 1)]))\n"
    )
    parser = get_parser("tatr")
    done = subprocess.run(
        [str(parser.environment.python), "-c", script, str(page)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=parser.command().env,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    ours, theirs = json.loads(done.stdout)
    assert sorted(w[0] for w in ours) == sorted(w[0] for w in theirs)
    for a, b in zip(sorted(ours), sorted(theirs), strict=True):
        assert abs(a[1][0] - b[1][0]) < 3 and abs(a[1][2] - b[1][2]) < 3
    trial = try_parser(get_parser("tatr(tokens=pdfalto,min_confidence=0.0)"), page)
    assert trial.prediction.tables
