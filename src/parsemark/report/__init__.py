"""Turns a stored run into tables, figures and a static site; `assets/js/diff` tells outputs from truths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from parsemark.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def build_report(
    run_dir: Path,
    out: Path,
    *,
    against: Path | None = None,
    also: Sequence[Path] = (),
    single_file: bool = False,
    max_mb: float = 20.0,
) -> Path:
    """Write the report of a run, or the index of a folder of runs, and return its first page.

    An earlier report there is replaced.

    Args:
        run_dir: The run, or a folder of runs.
        out: The folder of the report, or its file.
        against: An older run to compare with.
        also: Runs of the same parsers on other corpora, to choose from on the leaderboard.
        single_file: Write one HTML file instead of a folder. It keeps the worst and the differing pages.
        max_mb: Size of that file in megabytes, at most.
    """
    from parsemark.report.build import build_site
    from parsemark.report.runs_index import build_runs_index, runs_in
    from parsemark.report.single_file import build_single_file
    from parsemark.report.site import ReportOptions

    if not (run_dir / "manifest.json").exists() and runs_in(run_dir):
        if single_file or against is not None or also:
            raise UsageError("For a folder of runs, only --out is allowed.")
        return build_runs_index(run_dir, out)
    options = ReportOptions(against=against, also=tuple(also))
    if single_file:
        return build_single_file(run_dir, out, options=options, max_mb=max_mb)
    return build_site(run_dir, out, options)
