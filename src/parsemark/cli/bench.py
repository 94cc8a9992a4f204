"""`parsemark bench`: parse, score, leaderboard, report."""

from typing import Annotated

from typer import Option

from parsemark import api
from parsemark.cli import options as opt
from parsemark.cli.printing import plain_console


def bench(
    *,
    corpus: opt.Corpus = api.CORPUS,
    parser: opt.Parsers = None,
    protocol: opt.Protocols = None,
    match: opt.Match = None,
    metric: opt.Metrics = None,
    rank_by: opt.RankBy = None,
    pages: opt.Pages = None,
    workers: opt.Workers = None,
    timeout_s: opt.TimeoutS = api.TIMEOUT_S,
    memory_mb: opt.MemoryMb = api.MEMORY_MB,
    max_cost: opt.MaxCost = None,
    out: opt.Out = None,
    executor: opt.Executor = api.EXECUTOR,
    address: opt.Address = None,
    cache: opt.Cache = True,
    overwrite: opt.Overwrite = False,
    strict: opt.Strict = False,
    report: Annotated[bool, Option(help="Write the HTML report.")] = True,
    task: Annotated[
        str | None,
        Option(help="Cut elements out of the pages and run parsers on these: ocr, table or formula."),
    ] = None,
) -> None:
    """Run parsers over a corpus and say who is best: leaderboard here, report in OUT/report.

    A run that was stopped goes on where it was when the same command is given again.
    """
    from parsemark.cli import running
    from parsemark.engine.scoring.score import score_run

    console = plain_console()
    specs = running.protocol_specs(protocol, match=match, metrics=metric, rank_by=rank_by)
    how = running.parse_options(locals(), protocols=specs)
    with running.stoppable(console) as events:
        loaded = running.load(corpus, strict=strict)
        if task is not None:
            from parsemark.cli.tasks import bench_task

            bench_task(console, task, loaded, parser, how, out, protocol or [], events)
            return
        run = api.parse(loaded, parser, how, out=out, overwrite=overwrite, events=events)
        summaries = score_run(run, n_workers=workers, events=events, executor=executor, address=address)
    running.show_summaries(run, summaries, console)
    if report:
        from parsemark.report import build_report

        page = build_report(run.path, run.path / "report")
        console.print(f"\nReport: {page}", soft_wrap=True)
    running.require_some_success(run, events.n_pages, console)
