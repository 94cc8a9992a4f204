"""Parts of a run as files, by the name of a format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast, get_args

from parsemark.errors import UsageError, require_known
from parsemark.system.files import write_text

if TYPE_CHECKING:
    from parsemark.report.charts.paper import Format as ChartFormat
    from parsemark.store import Run

_Tables = Literal["markdown", "latex", "csv"]
ExportFormat = Literal[
    "markdown",
    "latex",
    "csv",
    "charts-pdf",
    "charts-svg",
    "charts-png",
    "outputs-md",
    "outputs-html",
    "outputs-csv",
    "outputs-json",
    "boxes",
    "badge",
    "hf-eval",
    "failure",
    "omnidocbench",
    "benchmark",
]


def export(
    runs: Sequence[Path],
    format: str,
    *,
    tables: Sequence[str] | None = None,
    protocol: str | None = None,
    parsers: Sequence[str] | None = None,
    page: str | None = None,
    score: str | None = None,
    link: str | None = None,
    bundle: Path | None = None,
    dataset: str | None = None,
    out: Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> str | list[Path]:
    """Write what `parsemark.export` describes; tables without `out` are returned as text."""
    from parsemark.store import Run

    require_known("format", format, get_args(ExportFormat))
    if format in get_args(_Tables):
        return _export_tables(runs, format, tables, protocol, out)
    if len(runs) != 1:
        raise UsageError(f"--format {format} needs one run: give one RUN.")
    run, (kind, _, ending) = runs[0], format.partition("-")
    opened = Run.open(run)
    if kind in ("outputs", "boxes"):
        from parsemark.report.outputs import export_boxes, export_outputs

        place = out or run.with_name(f"{run.name}-outputs" if kind == "outputs" else f"{run.name}-boxes.json")
        return (
            export_outputs(opened, ending, place, parsers)
            if kind == "outputs"
            else export_boxes(opened, place, _at_most_one(parsers))
        )
    if format == "hf-eval":
        from parsemark.report.hub_results import write_hub_results

        folder = out or Path(".eval_results")
        return write_hub_results(opened, dataset, protocol=protocol, parsers=parsers, link=link, out=folder)
    if format == "badge":
        one = _at_most_one(parsers)
        return _export_badge(opened, one, score, link, bundle, out or Path("badge.svg"))
    if format == "failure":
        return _export_failure(opened, _at_most_one(parsers), page, out)
    return _export_results(opened, format, protocol, out, progress)


def _export_badge(
    run: Run, parser: str | None, score: str | None, link: str | None, bundle: Path | None, out: Path
) -> list[Path]:
    from parsemark.report.badge import badge_svg

    write_text(out, badge_svg(run, parser, score, link=link, bundle=bundle))
    return [out]


def _export_failure(run: Run, parser: str | None, page: str | None, out: Path | None) -> list[Path]:
    from parsemark.report.repro import write_repro

    if parser is None or page is None:
        raise UsageError("--format failure writes one page of one parser: add --parser NAME --page ID.")
    return list(write_repro(run, parser, page, out))


def _at_most_one(parsers: Sequence[str] | None) -> str | None:
    if parsers is not None and len(parsers) > 1:
        raise UsageError("This format needs one parser: give --parser once.")
    return parsers[0] if parsers else None


def _export_tables(
    runs: Sequence[Path], format: str, tables: Sequence[str] | None, protocol: str | None, out: Path | None
) -> str | list[Path]:
    from parsemark.report.paper_tables import LEADERBOARD, WRITERS, choose_tables, run_tables

    available = run_tables(runs, protocol)
    names = tables or [LEADERBOARD]
    if "list" in names:
        there = [f"{entry.key:24} {entry.title}" for entry in available.found]
        missing = [f"{key:24} not available: needs {what}" for key, what in available.missing.items()]
        return "".join(f"{line}\n" for line in [*there, *missing])
    ending, write = WRITERS[format]
    chosen = choose_tables(available, names)
    if out is None:
        return "\n".join(write(entry) for entry in chosen)
    is_file = len(chosen) == 1 and out.suffix == ending and not out.is_dir()
    paths = [out] if is_file else [out / f"{entry.key}{ending}" for entry in chosen]
    for path, entry in zip(paths, chosen, strict=True):
        write_text(path, write(entry))
    return paths


def _export_results(
    run: Run, format: str, protocol: str | None, out: Path | None, progress: Callable[[str], None]
) -> list[Path]:
    from parsemark.report.omnidocbench import export_omnidocbench
    from parsemark.report.outputs import export_board

    kind, _, ending = format.partition("-")
    if kind == "charts":
        from parsemark.report.charts_page import write_paper_figures

        return list(write_paper_figures(run.path, out or run.path / "charts", cast("ChartFormat", ending)))
    if out is None:
        raise UsageError(f"--format {format} writes to a folder: give it with --out.")
    if format == "benchmark":
        return export_board(run.path, protocol, out)
    return export_omnidocbench(run, out, progress=progress)
