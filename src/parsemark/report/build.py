"""Puts the pages of a report together."""

from __future__ import annotations

import shutil
from pathlib import Path

from parsemark.report.compare_page import write_compare
from parsemark.report.figures import write_figures
from parsemark.report.leaderboard import write_leaderboard
from parsemark.report.options import ReportOptions
from parsemark.report.parser_page import write_parser_pages
from parsemark.report.provenance import write_provenance
from parsemark.report.site import Site
from parsemark.report.source import Source
from parsemark.report.viewer import write_page_images, write_viewer
from parsemark.store import Run

GENERATED = ("assets", "data", "images", "thumbnails")
"""Folders that belong to the report alone: those of an earlier report are replaced."""


def build_site(run_dir: Path, out_dir: Path, options: ReportOptions | None = None) -> Path:
    """Write all pages and return the first one."""
    chosen = options or ReportOptions()
    source = Source(Run.open(run_dir))
    out_dir.mkdir(parents=True, exist_ok=True)
    for name in GENERATED:
        shutil.rmtree(out_dir / name, ignore_errors=True)
    for old in out_dir.glob("parser-*.html"):
        old.unlink()
    site = Site(out_dir, source)
    site.write_assets()
    images = write_page_images(site, chosen)
    write_leaderboard(site, chosen)
    write_figures(site)
    write_viewer(site, chosen, images)
    write_parser_pages(site, images)
    write_compare(site, chosen)
    write_provenance(site)
    return out_dir / "index.html"
