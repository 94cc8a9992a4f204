"""However many processes score, the values are the same."""

import json
from pathlib import Path

import pytest

from parsemark.corpora import load_corpus
from parsemark.engine.import_outputs import import_predictions
from parsemark.engine.scoring.score import score_run

SPECS = ("document", "document(profile=v1.0)", "document(profile=v1.5)", "document(profile=v1.6)")


@pytest.fixture
def pages(tmp_path: Path) -> tuple[Path, Path]:
    annotation, outputs = [], tmp_path / "outputs"
    outputs.mkdir()
    for k in range(7):
        name = f"page_{k}"
        text = f"Paragraph {k} of a page that says something about rivers, bridges and {k * 7919} boats."
        html = f"<table><tr><td>a</td><td>{k}</td></tr></table>"
        dets = [
            {"category_type": "text_block", "text": text, "order": 1},
            {"category_type": "table", "html": html, "order": 2},
            {"category_type": "equation_isolated", "latex": f"$$x_{k} = {k}$$", "order": 3},
        ]
        for number, det in enumerate(dets):
            det |= {"anno_id": number, "ignore": False, "attribute": {}, "poly": [0, 0, 9, 0, 9, 9, 0, 9]}
        info = {"image_path": f"{name}.jpg", "page_attribute": {}, "width": 10, "height": 10}
        annotation.append({"layout_dets": dets, "page_info": info, "extra": {"relation": []}})
        if k != 3:
            (outputs / f"{name}.md").write_text(f"{text[:-9]}\n\n{html}\n\n$$x_{k} = {k + 1}$$\n")
    file = tmp_path / "pages.json"
    file.write_text(json.dumps(annotation))
    return file, outputs


def test_values_do_not_depend_on_the_number_of_workers(pages: tuple[Path, Path], tmp_path: Path) -> None:
    file, outputs = pages
    found = []
    for n_workers in (1, 3):
        corpus = load_corpus(f"omnidocbench:{file}")
        run = import_predictions(tmp_path / f"run{n_workers}", corpus, outputs, protocols=SPECS)
        summaries = score_run(run, n_workers=n_workers)
        found.append([summary.model_dump(mode="json") for summary in summaries])
    assert found[0] == found[1]
    assert len(found[0]) == len(SPECS)
