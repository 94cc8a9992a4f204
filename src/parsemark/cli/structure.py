"""`parsemark structure`: from the boxes of a structure network to tables."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from parsemark.cli.options import Commands
from parsemark.plain_words import counted, rounded
from parsemark.system import make_folder, write_text

if TYPE_CHECKING:
    from parsemark.parsers.recorded import Replay, TextAgreement

structure = typer.Typer(cls=Commands, help="Turn recorded boxes of a structure network into tables.")


@structure.callback()
def root() -> None:
    """Turn recorded boxes of a structure network into tables."""


@structure.command("replay")
def replay_(
    recording: Annotated[Path, typer.Argument(help="recorded.json, or the folder that holds it.")],
    out: Annotated[Path | None, typer.Option(help="Folder for one HTML file per table.")] = None,
    json_out: Annotated[Path | None, typer.Option("--json", help="File for all figures as JSON.")] = None,
) -> None:
    """Make tables of recorded network outputs and say how far they agree with the text of their pages.

    Two figures per table, for our table and for the recorded CSV: `cells`, the share of the non-empty cells
    whose text stands on the page in one piece, and `agreement`, the harmonic mean of that with the share of
    the text in the table's box that those cells hold. A table without text (a picture) has none.
    """
    from rich.console import Console
    from rich.table import Table as View

    from parsemark.errors import ParsemarkError
    from parsemark.parsers.recorded import replay

    path = recording / "recorded.json" if recording.is_dir() else recording
    results = list(replay(path))
    if results and all(item.problem is not None for item in results):
        raise ParsemarkError(f"No table of {path} can be read: {results[0].name}: {results[0].problem}")
    view = View("table", "size", "cells", "in the CSV", "agreement", "of the CSV", box=None)
    for item in results:
        if item.problem is not None:
            typer.echo(f"! {item.name} is not read: {item.problem}", err=True)
            continue
        size = f"{item.table.n_rows} x {item.table.n_cols}"
        view.add_row(item.name, size, *_figures(item, "precision"), *_figures(item, "value"))
    console = Console()
    console.print(view)
    console.print(_overall(results), highlight=False, soft_wrap=True)
    if out is not None:
        _write_tables(out, results)
    if json_out is not None:
        _write_json(json_out, results)


def _figures(item: Replay, what: str) -> tuple[str, str]:
    ours = getattr(item.ours, what)
    recorded = None if item.recorded is None else getattr(item.recorded, what)
    return rounded(ours), rounded(recorded)


def _overall(results: list[Replay]) -> str:
    compared = [r for r in results if r.recorded is not None and r.ours.n_chars]
    ours, theirs = _total(r.ours for r in compared), _total(r.recorded for r in compared)
    better = sum((r.ours.value or 0) > (r.recorded.value or 0) + 1e-9 for r in compared if r.recorded)
    worse = sum((r.ours.value or 0) < (r.recorded.value or 0) - 1e-9 for r in compared if r.recorded)
    failed = sum(r.problem is not None for r in results)
    without = len(results) - len(compared) - failed
    return (
        f"{counted(len(compared), 'table')} with text: "
        f"cells {rounded(ours.precision, 4)} (CSV {rounded(theirs.precision, 4)}), "
        f"agreement {rounded(ours.value, 4)} (CSV {rounded(theirs.value, 4)}); "
        f"higher than the CSV in {better}, lower in {worse}; {without} without text or CSV"
        + (f"; {failed} not read" if failed else "")
    )


def _total(agreements: Iterable[TextAgreement | None]) -> TextAgreement:
    from parsemark.parsers.recorded import TextAgreement

    items = [a for a in agreements if a is not None]
    return TextAgreement(
        sum(a.n_cells for a in items),
        sum(a.n_found for a in items),
        sum(a.n_chars for a in items),
        sum(a.n_covered for a in items),
    )


def _write_tables(folder: Path, results: list[Replay]) -> None:
    from parsemark.formats import write_table

    make_folder(folder)
    for number, item in enumerate(results, start=1):
        safe = "".join(c if c.isalnum() or c in "_-" else "_" for c in item.name)[:80]
        target = folder / f"{number:03d}-{safe}.html"
        write_text(target, write_table(item.table, "html"))


def _write_json(target: Path, results: list[Replay]) -> None:
    import json
    from dataclasses import asdict

    rows = [
        {
            "name": r.name,
            "problem": r.problem,
            "rows": r.table.text_rows(),
            "ours": {**asdict(r.ours), "cells": r.ours.precision, "agreement": r.ours.value},
            "recorded": None
            if r.recorded is None
            else {**asdict(r.recorded), "cells": r.recorded.precision, "agreement": r.recorded.value},
        }
        for r in results
    ]
    write_text(target, json.dumps(rows, ensure_ascii=False, indent=1))


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.add_typer(structure, name="structure")
