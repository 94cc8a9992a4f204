"""The watch on packages whose rules are repeated."""

import importlib.util
import tomllib
from pathlib import Path

from parsemark.protocols import get_protocol

ROOT = Path(__file__).parent.parent


def test_newer_packages_are_reported_and_versions_are_those_of_the_leaderboard() -> None:
    spec = importlib.util.spec_from_file_location("check_upstream", ROOT / "scripts" / "check_upstream.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    versions = {"parse-bench": "1.0.4", "olmocr": "9.0"}
    lines = script.report(script.PINS, versions.get)
    assert "parse-bench 1.0.4: newest" in lines
    assert "olmocr 0.4.27: 9.0 is on the index: the rules of olmocr may have moved" in lines
    assert "docling-eval 1.4.2: the index has no answer" in lines
    for package in tomllib.loads(script.PINS.read_text())["package"]:
        protocol = get_protocol(package["protocol"])
        assert protocol.upstream, package  # type: ignore[attr-defined]
