"""The same outputs get the same figures, or the protocol's comparability number is raised.

`stored_outputs/` holds outputs for pages of the demo corpus (Markdown and cells of two parsers, and the truth
in other forms and with errors), `stored_figures.json` what each protocol made of them, with its number.
Whoever changes figures on purpose raises the number, once between two releases, and writes anew:

    python plugins/boards/tests/test_comparability.py
"""

from __future__ import annotations

import json
import tempfile
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from parsemark.protocols import get_protocol
from parsemark.testing import figures_of

OUTPUTS = Path(__file__).with_name("stored_outputs")
FIGURES = Path(__file__).with_name("stored_figures.json")
SPECS = (
    "dp-bench",
    "getomni",
    "mdpbench(cdm=false)",
    "ohr-bench",
    "olmocr",
    "omni-parse",
    "opendataloader",
    "parsebench",
    "pulsebench-tab",
    "puredocbench(cdm=false)",
    "rd-tablebench",
)
NOT_HELD = {"docling-eval", "marker", "score-bench"}
"""Their figures depend on what is installed: WordNet, nltk's data, tiktoken's, the version of pandoc."""


def test_the_same_outputs_get_the_figures_that_their_number_stands_for(tmp_path: Path) -> None:
    stored, now = json.loads(FIGURES.read_text()), figures_of(OUTPUTS, SPECS, tmp_path)
    for spec, said in stored.items():
        if said["comparability"] == now[spec]["comparability"]:
            assert now[spec]["figures"] == {
                parser: pytest.approx(own, abs=1e-6) for parser, own in said["figures"].items()
            }, f"{spec} gives other figures than version {said['comparability']} did.\n{__doc__}"
    assert {spec: said["comparability"] for spec, said in now.items()} == {
        spec: said["comparability"] for spec, said in stored.items()
    }, "A number was raised: write the figures anew."


def test_every_protocol_of_ours_is_held() -> None:
    points = entry_points(group="parsemark.protocols")
    registered = {point.name for point in points if point.module.startswith("parsemark_boards.")}
    assert {get_protocol(spec).name for spec in SPECS} | NOT_HELD == registered


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        FIGURES.write_text(json.dumps(figures_of(OUTPUTS, SPECS, Path(scratch)), indent=1) + "\n")
