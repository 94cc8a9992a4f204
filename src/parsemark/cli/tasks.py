"""`parsemark score --task` and `bench --task`: one component of a parser on its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from parsemark import api
from parsemark.plain_words import counted, rounded

if TYPE_CHECKING:
    from rich.console import Console

    from parsemark.corpora import Corpus
    from parsemark.engine.events import Events
    from parsemark.engine.parsing.parse import ParseOptions
    from parsemark.protocols.document.tasks import GroupTable


def score_task(
    console: Console, task: str, corpus: str, predictions: Path | None, out: Path | None, protocols: list[str]
) -> None:
    """Score a file of predictions and print the figures; with `out`, write them there too."""
    from rich.table import Table

    from parsemark.errors import UsageError
    from parsemark.protocols.document.tasks import MEANINGS

    if predictions is None or not predictions.is_file():
        raise UsageError(
            "--task needs --predictions FILE: the annotation with a key `pred` in its elements, or for "
            "layout a file of boxes."
        )
    result = api.score_task(task, predictions, corpus, protocol=next(iter(protocols), "document"))
    scored = counted(result.n, "page" if task == "layout" else "element")
    console.print(f"{task}: {scored} scored, {result.n_missing} without a prediction", highlight=False)
    table = Table(box=None, pad_edge=False)
    table.add_column("figure")
    table.add_column("value", justify="right")
    table.add_column("", overflow="fold")
    for name, value in result.figures.items():
        table.add_row(name, rounded(value, 4), MEANINGS.get(name, ""))
    console.print(table)
    if result.table is not None:
        _print_groups(console, result.table)
    for remark in result.remarks:
        console.print(f"Note: {remark}", highlight=False, markup=False)
    if out is not None:
        from parsemark.system.files import write_text

        path = out / f"{predictions.name.partition('.')[0]}_{task}_result.json"
        content = {
            "figures": dict(result.figures),
            "n": result.n,
            "n_missing": result.n_missing,
            **result.result,
        }
        if result.table is not None:
            content["table"] = {"title": result.table.title, "values": dict(result.table.values)}
        write_text(path, json.dumps(content, indent=4, ensure_ascii=False) + "\n")
        console.print(f"written to {path}", highlight=False)


def bench_task(
    console: Console,
    task: str,
    corpus: Corpus,
    parsers: list[str] | None,
    options: ParseOptions,
    out: Path | None,
    protocols: list[str],
    events: Events,
) -> None:
    """Cut the elements of a task out of a corpus, run parsers on the crops, and compare what they made."""
    from rich.table import Table

    from parsemark.errors import UsageError
    from parsemark.protocols.document.tasks import MEANINGS

    if not parsers:
        raise UsageError("--task needs the parsers that are to be run: --parser tesseract --parser rapidocr.")
    protocol = next(iter(protocols), "document")
    folder, results = api.bench_task(
        task, corpus, parsers, options, out=out, protocol=protocol, events=events
    )
    table = Table(box=None, pad_edge=False)
    table.add_column("parser", overflow="fold")
    for heading in ("crops", "empty"):
        table.add_column(heading, justify="right")
    shown: list[str] = []
    remarks: list[str] = []
    for parser, result in results.items():
        if not shown:
            shown = list(result.figures)
            for name in shown:
                head = name.replace("_", "_\n")
                arrow = MEANINGS.get(name, "")[:1]
                table.add_column(f"{head} {arrow}", justify="right", no_wrap=True)
        remarks += (remark for remark in result.remarks if remark not in remarks)
        figures = [rounded(value, 4) for value in result.figures.values()]
        table.add_row(parser, str(result.n), str(result.n_missing), *figures)
    console.print(table)
    console.print()
    for line in (f"{name}: {MEANINGS[name]}" for name in shown if name in MEANINGS):
        console.print(line, style="dim", highlight=False)
    for remark in remarks:
        console.print(f"Note: {remark}", highlight=False, markup=False)
    console.print(f"What each made of the crops, for score --task {task} --predictions:", highlight=False)
    console.print(f"{folder}/PARSER.json", soft_wrap=True, highlight=False, markup=False)


def _print_groups(console: Console, groups: GroupTable) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, title=groups.title, title_justify="left")
    table.add_column("group")
    table.add_column("n", justify="right")
    table.add_column("value", justify="right")
    for label, value in groups.values.items():
        table.add_row(label, str(groups.counts[label]), "–" if value is None else f"{value:.4g}")
    console.print()
    console.print(table)
