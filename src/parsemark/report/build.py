"""Puts the pages of a report together."""

from __future__ import annotations

import shutil
from pathlib import Path

from parsemark.errors import UsageError
from parsemark.report.compare_page import write_compare
from parsemark.report.figures import write_figures
from parsemark.report.leaderboard import write_leaderboards
from parsemark.report.options import ReportOptions
from parsemark.report.parser_page import write_parser_pages
from parsemark.report.provenance import write_provenance
from parsemark.report.site import Site
from parsemark.report.source import Source
from parsemark.report.viewer import write_page_images, write_viewer
from parsemark.store import Run

GENERATED = ("assets", "data", "images", "thumbnails")
"""Folders that belong to the report alone."""
MARK = ".parsemark-report"
"""A file that says that these folders are ours, and may be replaced."""


def build_site(run_dir: Path, out_dir: Path, options: ReportOptions | None = None) -> Path:
    """Write all pages and return the first one."""
    chosen = options or ReportOptions()
    run = Run.open(run_dir)
    sources = [Source(run, protocol) for protocol in run.protocols] or [Source(run)]
    _make_room(out_dir)
    site = Site(out_dir, sources)
    site.write_assets()
    images = write_page_images(site, chosen)
    write_leaderboards(site, chosen)
    write_figures(site)
    write_viewer(site, chosen, images)
    write_parser_pages(site, images)
    write_compare(site, chosen)
    write_provenance(site)
    return out_dir / "index.html"


def _make_room(out_dir: Path) -> None:
    """Remove an earlier report; never what somebody else put there."""
    out_dir.mkdir(parents=True, exist_ok=True)
    taken = [name for name in GENERATED if (out_dir / name).exists()]
    if taken and not (out_dir / MARK).exists():
        raise UsageError(
            f"{out_dir} has a folder {taken[0]!r} that no report of parsemark wrote. Choose another --out."
        )
    (out_dir / MARK).write_text(
        "The folders and pages here were written by parsemark report.\n", encoding="utf-8"
    )
    for name in taken:
        shutil.rmtree(out_dir / name)
    for page in (*out_dir.glob("parser-*.html"), *out_dir.glob("leaderboard-*.html")):
        page.unlink()
