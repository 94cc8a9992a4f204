"""The same outputs get the same figures, or the protocol's comparability number is raised.

`stored_outputs/` holds outputs for pages of the demo corpus (Markdown and cells of two parsers, and the truth
in other forms and with errors), `stored_figures.json` what each protocol made of them, with its number.
Whoever changes figures on purpose raises the number, once between two releases, and writes anew:

    python -m tests.protocols.test_comparability
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

from parsemark.corpora import load_corpus
from parsemark.engine.import_outputs import import_predictions
from parsemark.engine.scoring.score import score_run
from parsemark.protocols import PROTOCOLS, get_protocol

OUTPUTS = Path(__file__).with_name("stored_outputs")
FIGURES = Path(__file__).with_name("stored_figures.json")
SPECS = (
    "answers",
    "tables",
    "tables(scope=document)",
    "semantic",
    "document",
    "document(profile=v1.0)",
    "document(profile=v1.5)",
    "document(profile=v1.6)",
    "dp-bench",
    "evidence(ocr=off)",
    "getomni",
    "ohr-bench",
    "olmocr",
    "omni-parse",
    "opendataloader",
    "parsebench",
    "rd-tablebench",
)
NOT_HELD = {"docling-eval", "features", "marker", "score-bench"}
"""Their figures depend on what is installed: WordNet, nltk's data, tiktoken's, the version of pandoc; or, of
`features`, on pages of its own (`test_features.py`)."""


def figures_now(folder: Path) -> dict[str, Any]:
    """Spec to its comparability number and the figures of each parser (none of time: nothing was run)."""
    corpus, parsers = load_corpus("demo"), sorted(path for path in OUTPUTS.iterdir() if path.is_dir())
    pages = ",".join(sorted({path.stem for parser in parsers for path in parser.iterdir()}))
    for parser in parsers:
        run = import_predictions(folder / "run", corpus, parser, pages=pages, protocols=SPECS)
    return {
        summary.protocol: {
            "comparability": summary.comparability,
            "figures": {
                parser: {name: round(f.value, 9) for name, f in sorted(own.items()) if f.value is not None}
                for parser, own in sorted(summary.parsers.items())
            },
        }
        for summary in score_run(run, n_workers=1)
    }


def test_the_same_outputs_get_the_figures_that_their_number_stands_for(tmp_path: Path) -> None:
    stored, now = json.loads(FIGURES.read_text()), figures_now(tmp_path)
    for spec, said in stored.items():
        if said["comparability"] == now[spec]["comparability"]:
            assert now[spec]["figures"] == {
                parser: pytest.approx(own, abs=1e-6) for parser, own in said["figures"].items()
            }, f"{spec} gives other figures than version {said['comparability']} did.\n{__doc__}"
    assert {spec: said["comparability"] for spec, said in now.items()} == {
        spec: said["comparability"] for spec, said in stored.items()
    }, "A number was raised: write the figures anew."


def test_every_protocol_of_ours_is_held() -> None:
    assert {get_protocol(spec).name for spec in SPECS} | NOT_HELD == set(PROTOCOLS.names())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        FIGURES.write_text(json.dumps(figures_now(Path(scratch)), indent=1) + "\n")
