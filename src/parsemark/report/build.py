"""Puts the pages of a report together."""

import os
from pathlib import Path

from parsemark.errors import UsageError
from parsemark.report import (
    boards_page,
    compare_page,
    figures_page,
    history_page,
    leaderboard,
    matrix_page,
    parser_page,
    profiles_page,
    provenance,
    tables_page,
    viewer,
    whole_pages,
)
from parsemark.report.site import ReportOptions, ReportPage, Site, put_into_place, scratch_beside
from parsemark.report.source import RunSource
from parsemark.store import Run, report_damage
from parsemark.verdicts.scored_run import readable_protocols

MARK = ".parsemark-report"  # a file that says that a folder holds a report, which may be replaced
_FOLDERS = ("assets", "data", "images", "tables", "thumbnails")
PAGES: tuple[ReportPage, ...] = (
    *(leaderboard.PAGE, boards_page.PAGE, matrix_page.PAGE, figures_page.PAGE, tables_page.PAGE, viewer.PAGE),
    *(whole_pages.PAGE, profiles_page.PAGE, history_page.PAGE, compare_page.PAGE, provenance.PAGE),
    parser_page.PAGE,
)
"""In the order of the navigation."""


def build_site(run_dir: Path, out_dir: Path, options: ReportOptions | None = None) -> Path:
    """Write all pages and return the first one.

    The site is made in a new folder and then put into its place, under a lock: nothing is written through a
    link that lies there, a report that fails leaves the old one, and two processes do not disturb each other.
    """
    chosen = options or ReportOptions()
    run = Run.open(run_dir)
    _require_free(run_dir, out_dir)

    def replaced() -> list[Path]:
        _require_free(run_dir, out_dir)
        return _pages_in(out_dir)

    with scratch_beside(out_dir) as made:
        with report_damage(run):
            sources = [RunSource(run, spec) for spec in readable_protocols(run)[0]] or [RunSource(run)]
            site = Site(made, sources, chosen, PAGES)
            site.write_assets()
            site.images = viewer.write_page_images(site)
            site.write()
            (site.root / MARK).write_text(
                "The pages here were written by parsemark report.\n", encoding="utf-8"
            )
        pages = (path for path in made.iterdir() if not path.name.startswith("."))
        put_into_place([made / MARK, *pages], out_dir, replaced)
    return out_dir / "index.html"


def _require_free(run_dir: Path, out_dir: Path) -> None:
    """Raise UsageError if the report would replace what somebody else put there."""
    if out_dir.is_symlink() and out_dir.parent.resolve() == run_dir.resolve():
        raise UsageError(f"{out_dir} is a link, which may lead anywhere. Remove it, or choose another --out.")
    if out_dir.exists() and not out_dir.is_dir():
        raise UsageError(f"{out_dir} is a file. Choose another --out.")
    mark = out_dir / MARK
    if mark.is_file() and not mark.is_symlink():
        return
    if taken := _pages_in(out_dir):
        raise UsageError(
            f"{out_dir} has {taken[0].name!r}, which no report of parsemark wrote. Choose another --out."
        )


def _pages_in(folder: Path) -> list[Path]:
    """What a report consists of, as far as it lies in a folder."""
    folders = [folder / name for name in _FOLDERS if os.path.lexists(folder / name)]
    return [
        *folders,
        *sorted(path for path in folder.glob("*.html") if any(page.holds(path.stem) for page in PAGES)),
    ]
