"""Puts the pages of a report together."""

import os
from functools import partial
from pathlib import Path

from parsemark.errors import UsageError
from parsemark.report import (
    charts_page,
    compare_page,
    history_page,
    leaderboard,
    paper_tables,
    parser_page,
    protocol_pages,
    provenance,
    viewer,
    whole_pages,
)
from parsemark.report.site import ReportOptions, ReportPage, Site, new_site
from parsemark.report.source import RunSource
from parsemark.store import Run, report_damage
from parsemark.verdicts.scored_run import readable_protocols

MARK = ".parsemark-report"  # a file that says that a folder holds a report, which may be replaced
_FOLDERS = ("assets", "data", "images", "tables", "thumbnails")
PAGES: tuple[ReportPage, ...] = (
    *(leaderboard.PAGE, protocol_pages.BOARDS, protocol_pages.PROFILES, protocol_pages.MATRIX),
    *(viewer.PAGE, whole_pages.PAGE, compare_page.PAGE, history_page.PAGE),
    *(charts_page.PAGE, paper_tables.PAGE, provenance.PAGE, parser_page.PAGE),
)
"""In the order of the navigation."""


def build_site(run_dir: Path, out_dir: Path, options: ReportOptions | None = None) -> Path:
    """Write all pages and return the first one.

    The site is made in a new folder and then put into its place, under a lock: nothing is written through a
    link that lies there, a report that fails leaves the old one, and two processes do not disturb each other.
    """
    run = Run.open(run_dir)
    old = partial(old_report, run_dir, out_dir)
    with new_site(out_dir, MARK, "parsemark report", old) as made, report_damage(run):
        sources = [RunSource(run, spec) for spec in readable_protocols(run)[0]] or [RunSource(run)]
        site = Site(made, sources, options or ReportOptions(), PAGES)
        site.write_assets()
        site.images = viewer.write_page_images(site)
        site.write()
    return out_dir / "index.html"


def old_report(run_dir: Path, out_dir: Path) -> list[Path]:
    """Return the files of an older report; raise UsageError if anything else is there."""
    if out_dir.is_symlink() and out_dir.parent.resolve() == run_dir.resolve():
        raise UsageError(f"{out_dir} is a symbolic link. Remove it, or choose another --out.")
    if out_dir.exists() and not out_dir.is_dir():
        raise UsageError(f"{out_dir} is a file. Choose another --out.")
    pages = (path for path in out_dir.glob("*.html") if any(page.holds(path.stem) for page in PAGES))
    found = [*(path for name in _FOLDERS if os.path.lexists(path := out_dir / name)), *sorted(pages)]
    mark = out_dir / MARK
    if found and (mark.is_symlink() or not mark.is_file()):
        raise UsageError(
            f"{out_dir} has {found[0].name!r}, which is not part of a report. Choose another --out."
        )
    return found
