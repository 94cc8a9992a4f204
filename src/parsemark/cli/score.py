"""`parsemark score`: score what is stored, or outputs made elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from parsemark import api
from parsemark.cli import options as opt
from parsemark.cli import running
from parsemark.cli.printing import plain_console, plain_table
from parsemark.errors import UsageError
from parsemark.plain_words import UNDEFINED, counted, rounded

if TYPE_CHECKING:
    from rich.console import Console


def score(
    source: Annotated[
        Path,
        Argument(
            metavar="RUN|OUTPUTS",
            help="Run to score again, or folder of outputs made elsewhere. The folder has PAGE.md (.html, "
            ".json, .tex, .csv, .txt) per page, or DOCUMENT.md per document.",
        ),
    ],
    corpus: opt.CorpusArgument = api.CORPUS,
    *,
    corpus_too: opt.CorpusToo = None,
    name: Annotated[
        str | None, Option(help="Name of the parser that made the outputs.", show_default="the folder's name")
    ] = None,
    protocols: opt.ScoreProtocols = None,
    pages: opt.Pages = None,
    out: opt.Out = None,
    add: Annotated[
        list[str] | None,
        Option(
            help="Add a derived parser, made by combining or adjusting outputs of the run; repeatable. "
            "`ensemble`: the parsers vote on every table cell. `estimated(parser=NAME)`: adds confidences to "
            "a parser that reports none. `calibrated(parser=NAME)`: corrects reported confidences."
        ),
    ] = None,
    fitted_on: Annotated[
        Path | None,
        Option(
            help="Run with truth, used to fit the confidences of a parser given by --add.",
            show_default="this run, cross-validated: each document uses a fit on the other documents",
        ),
    ] = None,
    remove: Annotated[list[str] | None, Option(help="Remove this parser from the run; repeatable.")] = None,
    workers: opt.Workers = None,
    executor: opt.Executor = api.EXECUTOR,
    strict: opt.Strict = False,
    page_separator: Annotated[
        str | None,
        Option(
            help="Text that separates pages in an output file of a whole document.",
            show_default="the usual ones are detected",
        ),
    ] = None,
    task: Annotated[
        str | None,
        Option(
            help="Score one component instead of whole pages: ocr, table, formula or layout. OUTPUTS is then "
            "an annotation file in which each element has its prediction under the key `pred`; for "
            "layout, a file of boxes."
        ),
    ] = None,
    as_json: opt.Json = False,
) -> None:
    """Score outputs that you already have, or score a run again. Nothing is parsed.

    On a page without an output, all content counts as missed. To compare several parsers, repeat the command
    for each, with the same --out. Scoring uses the truth files as they are now, including changes made after
    the run.

    Scoring with another --protocol keeps the earlier scores. To use your own metrics, install them as a
    package (guide: docs/how-to/extend.md).

    Example: parsemark score my-outputs/ my-documents/ --name my-parser

    Example: parsemark score runs/demo --protocol "tables(metrics=teds+reader)"

    Example: parsemark score runs/demo --add ensemble --add "calibrated(parser=rapid)"
    """
    corpus = corpus_too or corpus
    if task is not None:
        _score_task(plain_console(), task, corpus, source, out, protocols or [])
        return
    is_run = not source.exists() or (source / api.MANIFEST).is_file()
    console = running.result_console(as_json=as_json)
    with running.stoppable(console) as events:
        loaded = corpus if is_run else running.load(corpus, strict=strict)
        several = {"add": add or (), "remove": remove or ()}
        run = opt.fill(api.score, locals(), corpus=loaded, **several)
    shown = protocols if is_run else None
    summaries = running.show_summaries(run, shown, console, as_json=as_json)
    if add:
        named = {spec.partition("(")[0] for spec in add}
        added = [name for name in run.manifest.parser_names if name.partition("(")[0] in named]
        console.print(f"Added to {run.path}: {', '.join(added)}", markup=False)
        if named != {"ensemble"} and not as_json:
            _print_confidences(console, api.confidence_rows(run))
    running.say_old_report(run, console)
    if not is_run:
        parser = name or (source.stem if source.is_file() else source.resolve().name)
        running.say_unread(run, parser, console)
        running.require_some_success(run, [parser], console)
    running.require_answers(summaries, console)


_NAME_WIDTH = 27  # longer names take two lines: the table is to fit into 80 columns


def _print_confidences(console: Console, rows: list[api.ConfidenceRow]) -> None:
    """Print D-ECE, AP, risk and best threshold of all parsers that have a confidence."""
    listed = []
    for row in rows:
        best, curve = row.threshold, row.quality.risk
        name = row.parser if len(row.parser) <= _NAME_WIDTH else row.parser.replace("(", "\n (", 1)
        at, f1 = (None, None) if best is None else (best.at, best.f1)
        risk = UNDEFINED if curve is None else f"{rounded(curve.area, 3)} ({rounded(curve.best_area, 3)})"
        counts = (name, str(row.n_tables), str(row.n_right), rounded(row.quality.d_ece, 3))
        listed.append((*counts, rounded(row.ap, 3), risk, rounded(at, 3), rounded(f1, 3)))
    heads = ("parser", "tables", "right", "D-ECE", "AP", "risk", "best at", "F1")
    console.print(plain_table(heads, listed, padding=(0, 1, 0, 0)))
    console.print(
        "right: number of tables that match a table of the truth by position (IoU over 0.5), or by content "
        "if there are no boxes. D-ECE: calibration error of detection; lower is better. risk: area under the "
        "risk-coverage curve; lower is better. In brackets: the area for the best possible order. best at: "
        "threshold with the highest F1."
    )


def _score_task(
    console: Console, task: str, corpus: str, predictions: Path, out: Path | None, protocols: list[str]
) -> None:
    """Score a file of predictions and print the figures; with `out`, write them there too."""
    if not predictions.is_file():
        raise UsageError(
            f"{predictions} is not a file. --task scores one file: the annotation with a key `pred` in its "
            "elements, or for layout a file of boxes."
        )
    result = api.score_task(task, predictions, corpus, protocol=next(iter(protocols), "document"))
    scored = counted(result.n, "page" if task == "layout" else "element")
    console.print(f"{task}: {scored} scored, {result.n_missing} without a prediction")
    rows = [(name, rounded(value, 4), api.meaning_of(name)) for name, value in result.figures.items()]
    console.print(plain_table(("score", "value", ""), rows, words=3))
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
