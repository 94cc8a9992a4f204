"""`parsemark score --task` and `bench --task`: one component of a parser on its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parsemark.plain_words import counted, rounded

if TYPE_CHECKING:
    from rich.console import Console

    from parsemark.corpora import Corpus
    from parsemark.engine.events import Events
    from parsemark.engine.parsing.parse import ParseOptions
    from parsemark.protocols.document.protocol import DocumentProtocol
    from parsemark.protocols.document.tasks import GroupTable


def score_task(
    console: Console, task: str, corpus: str, predictions: Path | None, out: Path | None, protocols: list[str]
) -> None:
    """Score a file of predictions and print the figures; with `out`, write them there too."""
    from rich.table import Table

    from parsemark.errors import UsageError
    from parsemark.protocols.document.tasks import MEANINGS, TASKS

    chosen = next((name for name in TASKS if name == task), None)
    if chosen is None:
        raise UsageError(f"There is no task {task!r}; choose one of: {', '.join(TASKS)}.")
    if predictions is None or not predictions.is_file():
        raise UsageError(
            "--task needs --predictions FILE: the annotation with a key `pred` in its elements, or for "
            "layout a file of boxes."
        )
    result = _result(chosen, corpus, _read(predictions), protocols)
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

    from parsemark import api
    from parsemark.corpora import load_corpus
    from parsemark.engine.imports.components import CROP_TASKS, answered, crops_for
    from parsemark.errors import UsageError
    from parsemark.protocols.document.tasks import MEANINGS
    from parsemark.system import write_text

    chosen = next((name for name in CROP_TASKS if name == task), None)
    if chosen is None:
        raise UsageError(f"There is no task {task!r} on crops; choose one of: {', '.join(CROP_TASKS)}.")
    if not parsers:
        raise UsageError("--task needs the parsers that are to be run: --parser tesseract --parser rapidocr.")
    _document_protocol(protocols)  # a wrong one is refused before anything is parsed
    folder = out or Path("runs") / f"{corpus.name}-{task}"
    annotation = crops_for(corpus, chosen, folder)
    crops = load_corpus(f"omnidocbench:{annotation}")
    run = api.parse(crops, parsers, options, out=folder / "run", events=events)
    table = Table(box=None, pad_edge=False)
    table.add_column("parser", overflow="fold")
    for heading in ("crops", "empty"):
        table.add_column(heading, justify="right")
    shown: list[str] = []
    remarks: list[str] = []
    for position, (parser, pages) in enumerate(sorted(answered(run, crops, annotation, chosen).items())):
        write_text(folder / f"{parser}.json", json.dumps(pages, indent=1, ensure_ascii=False) + "\n")
        result = _result(chosen, "", pages, protocols)
        if not position:
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


def _read(path: Path) -> Any:
    from parsemark.errors import FormatError

    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise FormatError(f"{path} cannot be read as JSON: {error}") from error


def _document_protocol(protocols: list[str]) -> DocumentProtocol:
    from parsemark.errors import UsageError
    from parsemark.protocols import get_protocol
    from parsemark.protocols.document.protocol import DocumentProtocol

    protocol = get_protocol(protocols[0] if protocols else "document")
    if not isinstance(protocol, DocumentProtocol):
        raise UsageError(f"--task goes with the protocol `document`, not with {protocol}.")
    return protocol


def _result(task: Any, corpus: str, data: Any, protocols: list[str]) -> Any:
    from parsemark.errors import UsageError
    from parsemark.protocols.document.published.profile import STRICT_COMPONENTS, get_profile
    from parsemark.protocols.document.tasks import component_task, layout_task

    protocol = _document_protocol(protocols)
    if task == "layout":
        from parsemark.cli.running import load
        from parsemark.protocols.document.annotation import annotation_of

        pages = [annotation_of(s.truth) for s in load(corpus).samples() if s.truth is not None]
        return layout_task(pages, data)
    if not isinstance(data, list):
        raise UsageError("The predictions must be OmniDocBench's list of pages, with `pred` in the elements.")
    strict = protocol.profile == "strict"
    profile = STRICT_COMPONENTS if strict else get_profile(protocol.profile)
    return component_task(data, task, counts_missing=strict, cdm=protocol.cdm, profile=profile)
