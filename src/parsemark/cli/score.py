"""`parsemark score`: score what is stored, or outputs made elsewhere."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from parsemark import api
from parsemark.cli import options as opt
from parsemark.cli import running
from parsemark.cli.printing import plain_console, plain_table
from parsemark.errors import UsageError, require_known
from parsemark.plain_words import counted, rounded

if TYPE_CHECKING:
    from rich.console import Console


def score(
    run: Annotated[Path | None, Argument(help="Run directory to score anew.")] = None,
    *,
    predictions: Annotated[
        Path | None,
        Option(
            help="Folder of outputs made elsewhere: SAMPLE.md (.html, .json, .tex, .csv, .txt) for a page, "
            "DOCUMENT.md for all pages of a document."
        ),
    ] = None,
    name: Annotated[
        str | None, Option(help="Of the parser that made them.", show_default="the folder's name")
    ] = None,
    corpus: opt.Corpus = api.CORPUS,
    pages: opt.Pages = None,
    out: opt.Out = None,
    protocol: opt.Protocols = None,
    match: opt.Match = None,
    metric: opt.Metrics = None,
    rank_by: opt.RankBy = None,
    serialise: Annotated[
        str | None,
        Option(
            help="`neutral`: outputs in one spelling of line ends, tables and formulas, beside the figures "
            "of outputs as they are written."
        ),
    ] = None,
    workers: opt.Workers = None,
    executor: opt.Executor = api.EXECUTOR,
    address: opt.Address = None,
    strict: opt.Strict = False,
    task: Annotated[
        str | None,
        Option(
            help="One component instead of pages: ocr, table, formula (--predictions is an annotation file "
            "with `pred` in its elements) or layout (a file of boxes)."
        ),
    ] = None,
    page_separator: Annotated[
        str | None,
        Option(
            help="What stands between the pages of a document's file.",
            show_default="the usual ones are found",
        ),
    ] = None,
    calibrator: Annotated[
        Path | None, Option(help="File of `parsemark calibrate`: adds the calibrated parser to RUN.")
    ] = None,
    remove: Annotated[list[str] | None, Option(help="Take this parser out of the run. Repeat it.")] = None,
) -> None:
    """Score a run again without parsing, or outputs that were made elsewhere.

    `parsemark score RUN`, or `parsemark score --predictions DIR --corpus CORPUS --out RUN`. A page without
    a file counts as not answered. Several folders may be scored into one run to compare them. Where the
    truth of the corpus has been corrected since, the corrected one counts.
    """
    from parsemark.engine import forking

    may_fork = forking.is_fresh()  # before the libraries are imported that tell

    from parsemark.engine.derived.confidences import apply_calibrator
    from parsemark.engine.import_outputs import import_predictions
    from parsemark.engine.parsing.parse import follow_truth
    from parsemark.engine.scoring.score import ready_to_score, score_run
    from parsemark.protocols import get_protocol
    from parsemark.store import Run, RunFolder

    if task is not None:
        _score_task(plain_console(), task, corpus, predictions, out, protocol or [])
        return
    if (run is None) == (predictions is None):
        raise UsageError("Give either a run directory or --predictions DIR.")
    if serialise is not None and not protocol and run is not None:
        protocol = [spec for spec in Run.open(run).protocols if get_protocol(spec).serialise == "raw"]
    given = {"match": match, "rank_by": rank_by, "serialise": serialise}
    specs = running.protocol_specs(protocol, metrics=metric, **given)
    console = plain_console()
    template = ready_to_score(specs or ()) if may_fork and executor == "local" else None
    with template or contextlib.nullcontext(), running.stoppable(console) as events:
        if predictions is not None:
            loaded = running.load(corpus, strict=strict)
            folder = api.run_folder(out, loaded)
            if specs is None and not (folder / "manifest.json").exists():
                specs = list(api.default_protocols(loaded))  # a run that is there keeps its own
            opened = import_predictions(
                folder,
                loaded,
                predictions,
                name=name,
                pages=pages,
                protocols=tuple(specs or ()),
                command=running.command_line(),
                page_separator=page_separator,
                events=events,
            )
        else:
            opened = Run.open(run or Path())
            for parser in remove or ():
                require_known("parser", parser, opened.manifest.parser_names)
                RunFolder.of(opened).remove_parser(parser)
            # With another truth no other figure of the run holds any more either.
            if follow_truth(opened, events) and specs:
                specs = list(dict.fromkeys([*specs, *opened.manifest.protocols]))
        if calibrator is not None:
            name = apply_calibrator(opened, calibrator)
            typer.echo(f"{name} is in {opened.path}; see it with: parsemark report {opened.path}")
        # What was imported is to be scored by every protocol that the run has.
        chosen = None if predictions is not None else specs
        summaries = opt.fill(score_run, locals(), run=opened, protocols=chosen, n_workers=workers)
    running.show_summaries(opened, summaries, console)
    running.say_old_report(opened, console)
    if predictions is not None:
        running.say_unread(opened, name or predictions.resolve().name, console)
        running.require_some_success(opened, [name or predictions.resolve().name], console)
    running.require_answers(summaries, console)


def _score_task(
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
