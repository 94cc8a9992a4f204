"""`parsemark score --task` and `bench --task`: one component of a parser on its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from parsemark import api
from parsemark.cli.printing import plain_table
from parsemark.errors import UsageError
from parsemark.plain_words import counted, rounded

if TYPE_CHECKING:
    from rich.console import Console

    from parsemark.corpora import Corpus
    from parsemark.engine.events import Events
    from parsemark.engine.parsing.parse import ParseOptions


def score_task(
    console: Console, task: str, corpus: str, predictions: Path | None, out: Path | None, protocols: list[str]
) -> None:
    """Score a file of predictions and print the figures; with `out`, write them there too."""
    from parsemark.protocols.document.component_scores import MEANINGS

    if predictions is None or not predictions.is_file():
        raise UsageError(
            "--task needs --predictions FILE: the annotation with a key `pred` in its elements, or for "
            "layout a file of boxes."
        )
    result = api.score_task(task, predictions, corpus, protocol=next(iter(protocols), "document"))
    scored = counted(result.n, "page" if task == "layout" else "element")
    console.print(f"{task}: {scored} scored, {result.n_missing} without a prediction")
    rows = [(name, rounded(value, 4), MEANINGS.get(name, "")) for name, value in result.figures.items()]
    console.print(plain_table(("figure", "value", ""), rows, words=3))
    if (groups := result.table) is not None:
        values = [(label, str(groups.counts[label]), rounded(v, 4)) for label, v in groups.values.items()]
        console.print()
        console.print(plain_table(("group", "n", "value"), values, title=groups.title))
    for remark in result.remarks:
        console.print(f"Note: {remark}")
    if out is not None:
        from parsemark.system.files import write_text

        path = out / f"{predictions.name.partition('.')[0]}_{task}_result.json"
        counts = {"n": result.n, "n_missing": result.n_missing}
        content = {"figures": dict(result.figures), **counts, **result.result}
        if result.table is not None:
            content["table"] = {"title": result.table.title, "values": dict(result.table.values)}
        write_text(path, json.dumps(content, indent=4, ensure_ascii=False) + "\n")
        console.print(f"written to {path}")


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
    from parsemark.protocols.document.component_scores import MEANINGS

    if not parsers:
        raise UsageError("--task needs the parsers that are to be run: --parser tesseract --parser rapidocr.")
    protocol = next(iter(protocols), "document")
    folder, results = api.bench_task(
        task, corpus, parsers, options, out=out, protocol=protocol, events=events
    )
    shown = list(dict.fromkeys(name for found in results.values() for name in found.figures))
    heads = [f"{name.replace('_', f'_{chr(10)}')} {MEANINGS.get(name, '')[:1]}" for name in shown]
    rows = [
        (parser, str(found.n), str(found.n_missing), *(rounded(value, 4) for value in found.figures.values()))
        for parser, found in results.items()
    ]
    console.print(plain_table(("parser", "crops", "empty", *heads), rows))
    console.print()
    for line in (f"{name}: {MEANINGS[name]}" for name in shown if name in MEANINGS):
        console.print(line, style="dim")
    for remark in dict.fromkeys(remark for found in results.values() for remark in found.remarks):
        console.print(f"Note: {remark}")
    console.print(f"What each made of the crops, for score --task {task} --predictions:")
    console.print(f"{folder}/PARSER.json", soft_wrap=True)
