"""Promises that tests of their own attack: each test is an attempt."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tests.faults.common import Case

SUITES = {
    "installation": ["tests/parsers/test_installation.py"],
    "clients": ["tests/web/test_slow_clients.py"],
    "sources": ["tests/corpora/test_source_pairs.py"],
    "benchmarks": ["plugins/boards/tests/test_hostile_folders.py", "plugins/boards/tests/test_ohr_bench.py"],
    "gaming": [
        "tests/protocols/test_answers.py",
        "tests/protocols/test_tricks.py",
        "tests/protocols/test_tricks_of_others.py",
        "tests/protocols/test_semantic.py",
        "plugins/boards/tests/test_tricks.py",
        "plugins/boards/tests/test_gaming.py",
    ],
    "plugins": ["tests/test_plugins.py"],
    "tags": ["tests/corpora/test_tagged_hostile.py"],
    "sites": ["tests/report/test_hostile_bundles.py", "tests/report/test_report_hostile.py"],
    "clocks": ["tests/engine/test_clock_jumps.py"],
    "pdfs": ["tests/pdf"],
    "web": [
        "tests/web/test_annotate.py",
        "tests/web/test_rate.py",
        "tests/web/test_edits.py",
        "tests/web/test_two_servers.py",
    ],
    "metadata": ["tests/system/test_confinement.py", "tests/engine/test_disk_limit.py"],
    "tex": ["tests/corpora/test_compile.py"],
    "formulas": ["tests/metrics/cdm/test_cdm.py"],
    "bundles": ["tests/engine/test_verify.py", "tests/store/test_damage.py"],
    "disks": ["tests/system", "tests/store/test_run.py", "tests/parsers/test_secrets.py"],
    "ray": ["tests/engine/test_ray.py", "tests/engine/test_ray_scoring.py"],
}


def attack_of(name: str) -> Callable[[Path], Iterator[Case]]:
    """The attack of a section."""
    return partial(_attack, name)


def _attack(name: str, work: Path) -> Iterator[Case]:
    report = work / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "--tb=line", f"--junitxml={report}", *SUITES[name]]
    command += ["-m", "not conformance"]  # those need data that is elsewhere
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not report.is_file():
        yield Case(f"{name}: the tests run", False, done.stdout[-300:] + done.stderr[-300:])
        return
    for case in ET.parse(report).iter("testcase"):
        failed = next((part for kind in ("failure", "error") for part in case.iter(kind)), None)
        if next(case.iter("skipped"), None) is None:
            note = "" if failed is None else str(failed.get("message"))[:300]
            yield Case(f"{case.get('classname')}.{case.get('name')}", failed is None, note)
