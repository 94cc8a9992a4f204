"""The same run has the same report, byte for byte: in another process, with other hashes and threads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from parsemark.store import Run

BUILD = """
import sys
from pathlib import Path
from parsemark.report import build_report
build_report(Path(sys.argv[1]), Path(sys.argv[2]))
"""


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_a_report_is_the_same_in_every_process(run: Run, tmp_path: Path) -> None:
    sites = []
    for seed in ("1", "4242"):
        out = tmp_path / seed
        other = {"PYTHONHASHSEED": seed, "POLARS_MAX_THREADS": seed[0], "TZ": f"UTC+{seed[0]}"}
        program = [sys.executable, "-c", BUILD, str(run.path), str(out)]
        subprocess.run(program, env={**os.environ, **other}, check=True)
        sites.append(files_of(out))
    assert sites[0].keys() == sites[1].keys()
    assert len(sites[0]) > 20
    differing = [name for name, data in sites[0].items() if data != sites[1][name]]
    assert differing == []
