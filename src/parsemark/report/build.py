"""Puts the pages of a report together."""

from __future__ import annotations

from pathlib import Path

from parsemark.report.leaderboard import write_leaderboard
from parsemark.report.site import Site
from parsemark.report.source import Source
from parsemark.store import Run


def build_site(run_dir: Path, out_dir: Path) -> Path:
    """Write all pages and return the first one."""
    source = Source(Run.open(run_dir))
    out_dir.mkdir(parents=True, exist_ok=True)
    site = Site(out_dir, source)
    site.write_assets()
    write_leaderboard(site)
    return out_dir / "index.html"
