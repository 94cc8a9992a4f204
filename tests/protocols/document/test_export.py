"""The figures of a run are those of the result files that it is exported as."""

import json
from pathlib import Path
from typing import Any

import pytest

from parsemark.corpora import load_corpus
from parsemark.engine.import_outputs import import_predictions
from parsemark.engine.scoring.score import score_run
from parsemark.report.omnidocbench import export_omnidocbench

VERSIONS = ("v1.0", "v1.5", "v1.6", "v1.6-fixed", "v1.7")
ELEMENTS = {"text": "text_block", "formula": "display_formula", "table": "table", "order": "reading_order"}
N_PAGES = 7


def _write_pages(folder: Path, n_latex: int) -> tuple[Path, Path]:
    """Pages with tables, of which the first are answered as LaTeX; one is empty, one has no answer."""
    outputs = folder / "outputs"
    outputs.mkdir()
    annotation = []
    for k in range(N_PAGES):
        text = f"Paragraph {k} of a page that says something about rivers, bridges and {k * 7919} boats."
        table = f"<table><tr><td>a</td><td>{k}</td></tr></table>"
        dets: list[dict[str, Any]] = [
            {"category_type": "text_block", "text": text, "order": 1},
            {"category_type": "table", "html": table, "latex": "\\begin{tabular}{ll}a\\end{tabular}"},
            {"category_type": "equation_isolated", "latex": f"$$x_{k} = {k}$$", "order": 3},
        ]
        for number, det in enumerate(dets):
            det |= {"anno_id": number, "ignore": False, "attribute": {"k": k % 2}, "poly": [0, 0, 9, 9] * 2}
            det.setdefault("order", 2)
        language = {"language": "english" if k % 2 else "simplified_chinese"}
        info = {"image_path": f"page_{k}.jpg", "page_attribute": language, "width": 10, "height": 10}
        annotation.append({"layout_dets": dets, "page_info": info, "extra": {"relation": []}})
        said = f"\\begin{{tabular}}{{ll}}a & {k}\\end{{tabular}}" if k < n_latex else table
        answer = f"{text[: -k - 1]}\n\n{said}\n\n$$x_{k} = {k * 2}$$\n"
        if k != 3:
            (outputs / f"page_{k}.md").write_text("" if k == N_PAGES - 1 else answer)
    file = folder / "pages.json"
    file.write_text(json.dumps(annotation))
    return file, outputs


@pytest.mark.parametrize("n_latex", [0, 2, 5])
def test_figures_of_a_run_are_those_of_its_result_files(tmp_path: Path, n_latex: int) -> None:
    """Also where v1.0 leaves out the tables of the rarer notation, which only all pages together tell."""
    file, outputs = _write_pages(tmp_path, n_latex)
    specs = tuple(f"document(profile={version})" for version in VERSIONS)
    run = import_predictions(tmp_path / "run", load_corpus(f"omnidocbench:{file}"), outputs, protocols=specs)
    summaries = score_run(run, n_workers=1)
    export_omnidocbench(run, tmp_path / "out")
    for version, summary in zip(VERSIONS, summaries, strict=True):
        path = tmp_path / "out" / version / "outputs_quick_match_metric_result.json"
        result = json.loads(path.read_text())
        figures = {name: figure.value for name, figure in summary.parsers["outputs"].items()}
        labels = {"ALL": figures} | {
            f"language: {part.value}": {n: f.value for n, f in part.figures["outputs"].items()}
            for part in summary.slices
            if part.scope == "page" and part.attribute == "language"
        }
        assert len(labels) == 3
        for label, values in labels.items():
            for short, element in ELEMENTS.items():
                edits = result[element]["page"]["Edit_dist"]
                if f"{short}_edit" in values:
                    assert values[f"{short}_edit"] == pytest.approx(edits[label]), (version, label, short)
            assert values["teds"] == pytest.approx(result["table"]["page"]["TEDS"][label]), (version, label)
        for short, element in ELEMENTS.items():
            whole = result[element]["all"]["Edit_dist"].get("edit_whole")
            assert figures.get(f"{short}_edit_whole") == (None if whole is None else pytest.approx(whole))
