"""Turns a stored run into tables, figures and a static site; `assets/js/diff` tells outputs from truths."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def build_report(
    run_dir: Path, out_dir: Path, *, against: Path | None = None, also: Sequence[Path] = ()
) -> Path:
    """Write the static site of a run and return its first page; files of an earlier report there are
    replaced.

    `against`: an older run to compare with; `also`: runs of the same parsers on other corpora, to choose from
    on the leaderboard.
    """
    from parsemark.report.build import build_site
    from parsemark.report.site import ReportOptions

    return build_site(run_dir, out_dir, ReportOptions(against=against, also=tuple(also)))
