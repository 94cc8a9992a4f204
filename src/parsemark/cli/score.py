"""`parsemark score`: score what is stored, or outputs made elsewhere."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from parsemark import api
from parsemark.cli import options as opt
from parsemark.cli import running
from parsemark.cli.printing import plain_console
from parsemark.errors import UsageError, require_known

if TYPE_CHECKING:
    pass


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
    from parsemark.system.pool import is_fresh

    may_fork = is_fresh()  # before the libraries are imported that tell

    from parsemark.engine.derived.confidences import apply_calibrator
    from parsemark.engine.import_outputs import import_predictions
    from parsemark.engine.parsing.parse import follow_truth
    from parsemark.engine.scoring.score import ready_to_score, score_run
    from parsemark.protocols import get_protocol
    from parsemark.store import Run, RunFolder

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
