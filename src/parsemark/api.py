"""Commands as calls, with the same parameters: measure, look, guard. Their defaults are stated here."""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parsemark.errors import ParserError, UsageError, require_known

LOG = logging.getLogger("parsemark")

if TYPE_CHECKING:
    from parsemark.choosing import Choice as Choice
    from parsemark.corpora import Corpus as Corpus
    from parsemark.engine.derived.confidences import ConfidenceRow as ConfidenceRow
    from parsemark.engine.events import Events
    from parsemark.engine.parsing.parse import ParseOptions
    from parsemark.engine.verify_bundle import Verification as Verification
    from parsemark.parsers.parser import Parser
    from parsemark.protocols import Figure as Figure
    from parsemark.protocols import Summary as Summary
    from parsemark.protocols.document.component_scores import TaskResult
    from parsemark.report.leaderboard_site import BoardResult
    from parsemark.store import Run as Run
    from parsemark.store.run import QueryResult
    from parsemark.verdicts.comparison import Comparison as Comparison
    from parsemark.verdicts.comparison import RunComparison as RunComparison
    from parsemark.verdicts.gate import GateResult
    from parsemark.verdicts.stability import Stability as Stability

CORPUS = "demo"
"""Installed with parsemark."""
EXECUTOR = "local"
"""This machine."""
TIMEOUT_S = 60.0
"""Per page."""
MEMORY_MB = 4096
"""Per worker with its children."""
TRY_PAGES = "5"
"""The first five."""
TRY_TIMEOUT_S = 300.0
"""More than in a run: a parser may load its models on the first page."""
MANIFEST = "manifest.json"
"""File that makes a folder a run."""
CHOICE = "choice.json"
"""File of a run with what `choose` found."""
SITE = "site"
"""Folder of a leaderboard site."""
THREADS_TRIED = 4
"""In place of one, to see whether an output depends on it."""


def bench(
    corpus: str | Path | Corpus = CORPUS,
    parsers: str | Sequence[str] | None = None,
    *,
    protocols: str | Sequence[str] | None = None,
    pages: str | int | None = None,
    workers: int | None = None,
    timeout_s: float = TIMEOUT_S,
    memory_mb: int = MEMORY_MB,
    max_cost: float | None = None,
    out: str | Path | None = None,
    executor: str = EXECUTOR,
    cache: bool = True,
    repeats: int = 1,
    scaling: bool = False,
    overwrite: bool = False,
    strict: bool = False,
    score: bool = True,
    route: str | Path | None = None,
    events: Events | None = None,
) -> Run:
    """Parse a corpus with several parsers and score what they return.

    Args:
        corpus: A corpus as the command takes it, or a loaded one.
        parsers: Specs of parsers; by default a fast set that installs itself.
        protocols: Specs of protocols. By default `tables`, with `evidence` before it where no page has truth.
        pages: The pages to use, as `--pages`.
        workers: Number of parallel workers; by default one per CPU.
        timeout_s: Time limit per page, in seconds.
        memory_mb: Memory limit per worker and its children, in MB.
        max_cost: Stop paid parsers at this cost, in USD.
        out: Run directory; by default `runs/` and the name of the corpus. Pages that it holds are not parsed
            again.
        executor: `local`, `ray`, or the address of a Ray cluster, such as `ray:HOST:6379`.
        cache: Reuse outputs of earlier runs.
        repeats: Number of parses per page. From two on the cache is not used, and scores are means.
        scaling: Also measure speed with 1, 2, 4, … workers (up to `workers`) and on documents of 1, 10 and
            100 pages, made of the corpus's pages.
        overwrite: Delete the run in `out` and start again.
        strict: Raise an error if any part of the corpus is unreadable.
        score: Score the outputs. Otherwise they are only stored.
        route: File of a rule that `choose` wrote: run its parser on each page.
        events: Receives progress.

    Returns:
        The run: `run.summary()` has its scores, and `build_report(run)` writes its pages.
    """
    from parsemark.engine.scoring.score import score_run

    options = parse_options(
        pages=pages,
        workers=workers,
        timeout_s=timeout_s,
        memory_mb=memory_mb,
        max_cost=max_cost,
        cache=cache,
        repeats=repeats,
        protocols=protocols,
        executor=executor,
        events=events,
    )
    if route is not None:
        if scaling:
            raise UsageError("--scaling measures single parsers: name them with --parser, without --route.")
        if parsers:
            raise UsageError("The routing rule already selects the parsers; leave out --parser.")
        run = parse_routed(corpus, route, options, out=out, overwrite=overwrite, strict=strict, events=events)
    else:
        run = parse(corpus, parsers, options, out=out, overwrite=overwrite, strict=strict, events=events)
    if score:
        score_run(run, n_workers=workers, events=events, **executor_and_address(executor))
    if scaling:
        from parsemark.engine.derived.parsers import split_specs
        from parsemark.engine.parsing.scaling import measure_scaling
        from parsemark.parsers import DEFAULT_PARSERS, get_parser
        from parsemark.parsers.releases import usable_parsers

        specs, _ = split_specs(parsers or DEFAULT_PARSERS)
        chosen = usable_parsers(specs or DEFAULT_PARSERS, get_parser, LOG.info)
        measure_scaling(run, open_corpus(corpus, strict=strict), chosen, options, events)
    return run


def try_(
    file: str | Path,
    *,
    parsers: str | Sequence[str] | None = None,
    pages: str | int | None = TRY_PAGES,
    timeout_s: float = TRY_TIMEOUT_S,
    out: str | Path | None = None,
    events: Events | None = None,
) -> Run:
    """Run parsers on one file and show their outputs side by side, in `try.html` of the run. Needs no truth.

    Args:
        file: The document: a PDF, or DOCX or HTML for parsers that read it.
        parsers: Specs of parsers; by default all that are installed.
        pages: The pages to use, as `--pages`.
        timeout_s: Time limit per page, in seconds.
        out: Run directory; by default `runs/try-` and the name of the file.
        events: Receives progress.
    """
    from parsemark.parsers import get_parser, parser_names
    from parsemark.report.try_page import write_try

    file = Path(file)
    if not file.is_file():
        raise UsageError(f"{file} is not a file; give one document. For a folder: parsemark choose {file}")
    chosen = parsers or [name for name in parser_names() if get_parser(name).state().kind == "ready"]
    options = parse_options(pages=pages, timeout_s=timeout_s, events=events)
    loaded = open_corpus(f"folder:{file}")
    folder = Path(out) if out is not None else Path("runs") / f"try-{file.stem}"
    run = parse(loaded, chosen or None, options, out=folder, events=events)
    write_try(run, loaded, run.path / "try.html")
    return run


def parse_options(
    *,
    pages: str | int | None = None,
    workers: int | None = None,
    timeout_s: float = TIMEOUT_S,
    memory_mb: int = MEMORY_MB,
    max_cost: float | None = None,
    cache: bool = True,
    executor: str = EXECUTOR,
    protocols: str | Sequence[str] | None = None,
    repeats: int = 1,
    events: Events | None = None,
) -> ParseOptions:
    """Return options as the engine takes them; a wrong protocol is refused here, before anything is
    parsed.
    """
    from parsemark.engine.parsing.page_worker import PageLimits
    from parsemark.engine.parsing.parse import ParseOptions
    from parsemark.protocols import canonical_specs
    from parsemark.store import default_cache_folder

    return ParseOptions(
        pages=pages,
        n_workers=workers,
        limits=PageLimits(timeout_s=timeout_s, memory_mb=memory_mb),
        cache=default_cache_folder() if cache else None,
        repeats=repeats,
        anew=not cache,
        protocols=tuple(canonical_specs(protocols or ())),
        command=() if events is None else events.command,
        max_cost_usd=max_cost,
        **executor_and_address(executor),
    )


def executor_and_address(spec: str) -> dict[str, Any]:
    """Split `ray:HOST:6379` into the executor and its address, as the engine takes them."""
    name, _, address = spec.partition(":")
    is_client = address.startswith("//")  # `ray://HOST:10001` is an address of Ray's own
    return {"executor": name, "address": (spec if is_client else address) or None}


def parse(
    corpus: str | Path | Corpus,
    parsers: str | Sequence[str] | None,
    options: ParseOptions,
    *,
    out: str | Path | None = None,
    overwrite: bool = False,
    strict: bool = False,
    events: Events | None = None,
) -> Run:
    """Parse a corpus into a run directory; see `bench`."""
    from parsemark.engine.derived.parsers import add_made_of_others, split_specs
    from parsemark.engine.parsing.parse import parse_corpus
    from parsemark.parsers import DEFAULT_PARSERS, get_parser
    from parsemark.parsers.releases import usable_parsers
    from parsemark.store import RunFolder

    loaded = open_corpus(corpus, strict=strict)
    options = replace(options, protocols=options.protocols or default_protocols(loaded))
    specs, made = split_specs(parsers or DEFAULT_PARSERS)
    if made and not specs:
        specs = list(DEFAULT_PARSERS)
    chosen = usable_parsers(specs, get_parser, LOG.warning if events is None else events.note)
    folder = run_folder(out, loaded)
    if not folder.exists() or overwrite:
        _require_one_usable(chosen)
    if overwrite:
        RunFolder.remove(folder)
    if options.repeats > 1:
        options = replace(options, cache=None)
    run = parse_corpus(folder, loaded, chosen, options, events)
    for number in range(2, options.repeats + 1):
        parse_corpus(RunFolder.of(run).repeat(number), loaded, chosen, options, events)
    add_made_of_others(run, made, [parser.name for parser in chosen])
    return run


def _require_one_usable(parsers: Sequence[Parser]) -> None:
    """Refuse a run that no parser can start, instead of failing its pages one by one."""
    states = [(parser.name, parser.state()) for parser in parsers]
    if states and all(state.kind == "missing" for _, state in states):
        reasons = "; ".join(f"{name}: {state}" for name, state in states)
        raise ParserError(f"No parser of this run can be used here. {reasons}.")


def default_protocols(corpus: Corpus) -> tuple[str, ...]:
    """Return the protocols that score a corpus by default: `tables`, after `evidence` where no page has
    truth.
    """
    from parsemark.model import Sample
    from parsemark.protocols import DEFAULT_PROTOCOLS

    found = (corpus.try_read(key) for key in corpus.keys)
    has_truth = any(isinstance(sample, Sample) and sample.truth is not None for sample in found)
    return DEFAULT_PROTOCOLS if has_truth or not len(corpus) else ("evidence", *DEFAULT_PROTOCOLS)


def parse_routed(
    corpus: str | Path | Corpus,
    rule: str | Path,
    options: ParseOptions,
    *,
    out: str | Path | None = None,
    overwrite: bool = False,
    strict: bool = False,
    events: Events | None = None,
) -> Run:
    """Parse each page with the parser that a rule of `choose --route` names for its kind.

    The outputs stand in the run under the name `routed`, beside those of the parsers that made them.
    """
    from parsemark.choosing.route import read_route
    from parsemark.corpora.render import look_at
    from parsemark.engine.derived.parsers import add_routed
    from parsemark.engine.parsing.plan import select_keys
    from parsemark.parsers import get_parser

    route = read_route(Path(rule))
    loaded = open_corpus(corpus, strict=strict)
    keys = select_keys(loaded.keys, options.pages)
    named = {spec: get_parser(spec).name for spec in (route.default, *route.parsers.values())}
    wanted = {key: route.parser_for(look_at(loaded.read(key)).kinds) for key in keys}
    for spec in dict.fromkeys(wanted.values()):
        # A comma makes the list one of ids, also where it is a single number.
        pages = ",".join(key for key in keys if wanted[key] == spec) + ","
        some = replace(options, pages=pages)
        run = parse(loaded, [spec], some, out=out, overwrite=overwrite, events=events)
        overwrite = False
    add_routed(run, {key: named[spec] for key, spec in wanted.items()})
    return run


def run_folder(out: str | Path | None, corpus: Corpus) -> Path:
    """Return the run directory: as given, or `runs/` and the corpus's name."""
    return Path(out) if out is not None else Path("runs") / corpus.name


def score(
    source: str | Path | Run,
    corpus: str | Path | Corpus = CORPUS,
    *,
    name: str | None = None,
    protocols: str | Sequence[str] | None = None,
    pages: str | int | None = None,
    out: str | Path | None = None,
    add: Sequence[str] = (),
    fitted_on: str | Path | Run | None = None,
    remove: Sequence[str] = (),
    workers: int | None = None,
    executor: str = EXECUTOR,
    strict: bool = False,
    page_separator: str | None = None,
    events: Events | None = None,
) -> Run:
    """Score outputs that were made elsewhere, or score a run again. Nothing is parsed.

    Where the truth of a run's corpus has been corrected since, the corrected truth counts.

    Args:
        source: A run, or a folder of outputs: `PAGE.md` (.html, .json, .tex, .csv, .txt), `PDF.p3.md` for a
            page, or `DOCUMENT.md` for all pages of a document. Of some benchmarks also their own file.
        corpus: The corpus that the outputs were made from.
        name: Name of the parser that made the outputs; by default the name of the folder.
        protocols: Specs of protocols. By default those of the run; for a new one `tables`, with `evidence`
            before it where no page has truth.
        pages: The pages to use, as `--pages`.
        out: Run directory for the outputs; it may hold other parsers of the same corpus.
        add: Parsers to compute from the run's outputs: `ensemble`, `estimated(parser=NAME)` or
            `calibrated(parser=NAME)`.
        fitted_on: Run with truth, used to fit the confidences of `add`; by default, for each document, the
            others of this run.
        remove: Names of parsers to remove from the run.
        workers: Number of parallel workers; by default one per CPU.
        executor: `local`, `ray`, or the address of a Ray cluster, such as `ray:HOST:6379`.
        strict: Raise an error if any part of the corpus is unreadable.
        page_separator: Text that separates pages in an output file of a whole document; the usual ones are
            detected.
        events: Receives progress.

    Returns:
        The run, scored.
    """
    from parsemark.system.pool import is_fresh

    may_fork = is_fresh()  # before the libraries are imported that tell

    from parsemark.engine.derived.confidences import add_derived
    from parsemark.engine.import_outputs import import_predictions
    from parsemark.engine.parsing.parse import follow_truth
    from parsemark.engine.scoring.score import ready_to_score, score_run
    from parsemark.protocols import canonical_specs
    from parsemark.store import Run, RunFolder

    if isinstance(source, str | Path) and not Path(source).exists():
        source = _run_path(source)
    is_run = isinstance(source, Run) or (Path(source) / MANIFEST).is_file()
    if not isinstance(source, Run) and not Path(source).exists():
        raise UsageError(f"{source} does not exist. Give a run directory or a folder of outputs.")
    if not is_run and (add or remove):
        raise UsageError(f"{source} is not a run. --add and --remove change the parsers of a run.")
    if fitted_on is not None and not add:
        raise UsageError("--fitted-on needs --add.")
    specs: list[str] | None = canonical_specs(protocols) if protocols else None
    where = executor_and_address(executor)
    template = ready_to_score(specs or ()) if may_fork and where["executor"] == "local" else None
    with template or contextlib.nullcontext():
        if is_run:
            opened = source if isinstance(source, Run) else Run.open(source)
            for parser in remove:
                require_known("parser", parser, opened.manifest.parser_names)
                RunFolder.of(opened).remove_parser(parser)
            # With another truth no other score of the run holds any more either.
            if follow_truth(opened, events) and specs:
                specs = list(dict.fromkeys([*specs, *opened.manifest.protocols]))
            if add:
                add_derived(opened, add, None if fitted_on is None else load_run(fitted_on))
        else:
            loaded = open_corpus(corpus, strict=strict)
            folder = run_folder(out, loaded)
            if specs is None and not (folder / MANIFEST).exists():
                specs = list(default_protocols(loaded))  # a run that exists keeps its own
            opened = import_predictions(
                folder,
                loaded,
                Path(str(source)),
                name=name,
                pages=pages,
                protocols=tuple(specs or ()),
                command=() if events is None else events.command,
                page_separator=page_separator,
                events=events,
            )
            specs = None  # what was imported is scored by every protocol of the run
        score_run(opened, protocols=specs, n_workers=workers, events=events, template=template, **where)
    return Run.open(opened.path)


def summaries(run: str | Path | Run, protocols: str | Sequence[str] | None = None) -> list[Summary]:
    """Return what protocols report of a scored run; by default all that it has been scored with."""
    from parsemark.protocols import canonical_specs

    opened = load_run(run)
    return [opened.summary(spec) for spec in (canonical_specs(protocols) if protocols else opened.protocols)]


def verdict(
    run: str | Path | Run, protocol: str | None = None, cpu_hour_usd: float | None = None
) -> list[str]:
    """Return the verdict on a scored run in sentences, the answer first."""
    from parsemark.verdicts.run_verdict import Terms, run_verdict, scored_records

    opened = load_run(run)
    summary = opened.summary(protocol)
    records = scored_records(opened, summary.protocol)
    return run_verdict(summary, records, opened.manifest.corpus.spec, Terms.of(opened, cpu_hour_usd))


def repeats_of(run: str | Path | Run) -> Stability:
    """Return how far several parses of the same pages differ, in a run of `bench(repeats=…)`."""
    from parsemark.verdicts import stability

    return stability.repeats_of(load_run(run))


def unreadable_protocols(run: str | Path | Run) -> dict[str, str]:
    """Return the protocols of a run that cannot be shown, each with the reason."""
    from parsemark.verdicts.scored_run import readable_protocols

    has_runs = isinstance(run, str | Path) and any(Path(run).glob(f"*/{MANIFEST}"))
    if has_runs and isinstance(run, str | Path) and not (_run_path(run) / MANIFEST).exists():
        return {}  # a folder of runs
    return dict(readable_protocols(load_run(run))[1])


def choice_in_words(choice: Choice, corpus: str, run: Run) -> list[str]:
    """Return a choice in sentences, its notes, and what to do next; commands are indented."""
    from parsemark import choosing

    return [*choosing.in_words(choice), *choice.notes, "", *choosing.next_step(choice, corpus, str(run.path))]


def confidence_rows(run: str | Path | Run) -> list[ConfidenceRow]:
    """Return how good the confidences are of each parser of a scored run that has any."""
    from parsemark.engine.derived.confidences import confidence_rows as rows

    return rows(load_run(run))


def choose(
    corpus: str | Path | Corpus,
    *,
    labels: int = 10,
    parsers: str | Sequence[str] | None = None,
    protocol: str = "tables",
    cpu_hour_usd: float | None = None,
    out: str | Path | None = None,
    pages: str | int | None = None,
    workers: int | None = None,
    timeout_s: float = TIMEOUT_S,
    cache: bool = True,
    skip: Sequence[str] = (),
    route: str | Path | None = None,
    events: Events | None = None,
    progress: Callable[[int], None] | None = None,
) -> Choice:
    """Find the best parser for documents without truth, labelling as few pages as possible.

    Writes `choice.json` and `choice.html` into the run.

    Args:
        corpus: A folder of documents, or any other corpus.
        labels: Maximum number of new pages to label, in total over all repetitions.
        parsers: Specs of parsers; by default a fast set.
        protocol: Protocol whose primary score determines the best parser.
        cpu_hour_usd: Price of one CPU hour in USD, used to calculate the cost of a million pages.
        out: Run directory; by default `runs/` and the name of the corpus.
        pages: The pages to use, as `--pages`.
        workers: Number of parallel workers; by default one per CPU.
        timeout_s: Time limit per page, in seconds.
        cache: Reuse outputs of earlier runs.
        skip: Pages not to label; the answer is about the others.
        route: File for a rule, learned from the labels, that assigns parsers to page types.
        events: Receives progress of parsing and scoring.
        progress: Called with the number of pages whose outputs have been compared.

    Returns:
        The candidates, the best first, and the pages to label next.
    """
    from parsemark import choosing
    from parsemark.engine.scoring.score import score_run
    from parsemark.report.choice_page import write_choice
    from parsemark.system.files import write_bytes

    options = parse_options(
        pages=pages, workers=workers, timeout_s=timeout_s, cache=cache, protocols=[protocol], events=events
    )
    loaded = open_corpus(corpus)
    run = parse(loaded, parsers, options, out=out, events=events)
    score_run(run, n_workers=workers, events=events)
    choice = choosing.choose(
        run,
        corpus=loaded,
        protocol=options.protocols[0],
        budget=labels,
        skip=skip,
        begun_with=choosing.begun_with(run.path / CHOICE),
        cpu_hour_usd=cpu_hour_usd,
        progress=progress,
    )
    if route is not None:
        routing = choosing.route_run(run, choice, skip=skip)
        choosing.write_route(routing, Path(route))
        choice = replace(choice, route=tuple(routing.in_words()))
    write_bytes(run.path / CHOICE, choosing.as_json(choice).encode())
    write_choice(choice, str(corpus) if isinstance(corpus, str | Path) else loaded.name, run.path)
    return choice


def compare(
    run: str | Path | Run,
    first: str | Path | Run | None = None,
    second: str | None = None,
    *,
    old: str | Path | Run | None = None,
    protocol: str | None = None,
) -> Comparison | RunComparison:
    """Compare two parsers of a run, or a run with an older one.

    Args:
        run: The run; the new one of two.
        first: A parser of the run, or the older run.
        second: The parser to compare it with.
        old: The older run.
        protocol: Protocol to report; by default the run's first.

    Returns:
        A `Comparison` of two parsers, or a `RunComparison` with one for each parser that both runs have.
    """
    from parsemark.verdicts.comparison import compare_parsers, compare_runs, parsers_of

    opened = load_run(run)
    if old is not None:
        if first is not None or second is not None:
            raise UsageError("--old compares two runs; give one RUN and no parsers.")
        return compare_runs(load_run(old), opened, protocol)
    if first is None:
        raise UsageError("Give two parsers of the run (RUN A B), or an older run (RUN --old OLD).")
    if second is not None:
        return compare_parsers(opened, str(first), second, protocol)
    if isinstance(first, str | Path) and str(first) in parsers_of(opened) and not Path(first).exists():
        others = ", ".join(name for name in parsers_of(opened) if name != str(first)) or "no other"
        raise UsageError(
            f"{first} is a parser of {opened.path}: give a second parser to compare it with. The run has "
            f"{others}."
        )
    return compare_runs(load_run(first), opened, protocol)


def gate(
    run: str | Path | Run,
    old: str | Path | Run | None = None,
    *,
    minimum: Mapping[str, float] | None = None,
    max_drop: float | None = None,
    interval: bool = True,
    regressions: bool = True,
    max_failures: int | None = 0,
    max_lost_tables: int | None = None,
    max_page_drop: float | None = None,
    max_slowdown: float | None = None,
    time_again: int = 0,
    max_memory: float | None = None,
    parsers: Sequence[str] | None = None,
    protocol: str | None = None,
    save: str | Path | None = None,
) -> GateResult:
    """Check that a run is good enough and no worse than an older run or baseline; see `result.passed`.

    Args:
        run: The run to check.
        old: The older run or baseline to compare with.
        minimum: Required scores by name: a minimum, or a maximum where lower is better.
        max_drop: Maximum allowed drop in the primary score, significant or not.
        interval: Fail on a statistically significant drop.
        regressions: Fail if the pages that got worse are more than twice as many as those that got better.
            The same rule applies to lost against newly found tables, and to each type of error.
        max_failures: Maximum number of pages that newly fail or return nothing.
        max_lost_tables: Maximum number of tables of the truth that the old run found and the new one missed.
        max_page_drop: Maximum allowed drop in the primary score on any page.
        max_slowdown: Maximum ratio of CPU time, new to old, such as 1.1.
        time_again: Number of pages to parse again on this machine to measure time, alternating between the
            old and the new version of the parser.
        max_memory: Maximum ratio of peak memory, new to old, such as 1.2.
        parsers: Parsers to check; by default all of the run.
        protocol: Protocol to check; by default the run's first.
        save: Save the run as the new baseline in this folder if the gate passes.
    """
    from parsemark.verdicts.gate import GateLimits, gate_runs, save_baseline

    limits = GateLimits(
        minimum=minimum or {},
        max_drop=max_drop,
        interval=interval,
        regressions=regressions,
        max_failures=max_failures,
        max_lost_tables=max_lost_tables,
        max_page_drop=max_page_drop,
        max_slowdown=max_slowdown,
        max_memory=max_memory,
    )
    older, opened = _older(old, save), load_run(run)
    result = gate_runs(opened, older, limits, parsers=parsers, protocol=protocol, time_again=time_again)
    if save is not None and result.passed:
        save_baseline(opened, Path(save))
    return result


def _older(old: str | Path | Run | None, save: str | Path | None) -> Run | None:
    """Open the old run; one that is named and absent is an error, unless this gate is to make it."""
    if not isinstance(old, str | Path):
        return old
    place = Path(old)
    if (place / MANIFEST).is_file():
        return load_run(place)
    if save is not None and Path(save).resolve() == place.resolve() and not place.exists():
        return None
    raise UsageError(f"The old run {old} does not exist. Make it first: parsemark gate RUN --save {old}")


def export(
    runs: str | Path | Sequence[str | Path],
    *,
    format: str = "markdown",
    tables: Sequence[str] | None = None,
    protocol: str | None = None,
    parsers: Sequence[str] | None = None,
    page: str | None = None,
    score: str | None = None,
    link: str | None = None,
    bundle: str | Path | None = None,
    dataset: str | None = None,
    out: str | Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> str | list[Path]:
    """Write parts of a run as files: tables, charts, outputs, a badge, or one failure.

    Args:
        runs: A run directory. Tables may put several runs side by side.
        format: What to write; `parsemark export --help` lists the formats.
        tables: Names of tables; by default the leaderboard. `all` stands for every table, and `list` returns
            their names.
        protocol: Protocol to report; by default the run's first.
        parsers: Parsers to export; by default all.
        page: The page to export (failure).
        score: Score to show (badge); by default the primary score.
        link: URL that the badge links to; for `hf-eval`, URL of the results.
        bundle: Bundle of the run (badge). The badge is written only if the bundle can be verified and has the
            same scores as the run.
        dataset: Dataset of the corpus on the Hugging Face Hub, as `OWNER/NAME` (hf-eval).
        out: File or folder to write; tables are returned as text without it.
        progress: Called with what is being written.

    Returns:
        The files that were written; or the text of the tables, where `out` is None.
    """
    from parsemark.report import exports

    paths = [_run_path(run) for run in ([runs] if isinstance(runs, str | Path) else runs)]
    return exports.export(
        paths,
        format,
        tables=tables,
        protocol=protocol,
        parsers=parsers,
        page=page,
        score=score,
        link=link,
        bundle=None if bundle is None else Path(bundle),
        dataset=dataset,
        out=None if out is None else Path(out),
        progress=progress or (lambda _: None),
    )


def query(run: str | Path | Run, sql: str) -> QueryResult:
    """Query a run in SQL (DuckDB): the tables `samples`, `parses`, `predictions`, `matches` and `scores`."""
    from parsemark.store.run import query_run

    return query_run(load_run(run).path, sql)


def stable(
    corpus: str | Path | Corpus = CORPUS,
    parsers: str | Sequence[str] | None = None,
    *,
    variants: Sequence[str] = (),
    pages: str | int | None = None,
    protocols: str | Sequence[str] | None = None,
    workers: int | None = None,
    out: str | Path | None = None,
    events: Events | None = None,
    progress: Callable[[int], None] | None = None,
) -> tuple[Stability, Run]:
    """Rewrite pages as visually identical variants, and return which parsers change their outputs.

    Args:
        corpus: A spec as `--corpus` takes it, or a loaded corpus.
        parsers: Specs; by default a fast set that installs itself.
        variants: Some of `parsemark.corpora.stable_variants.VARIANTS`; all ten by default.
        pages: A subset, as `--pages`.
        protocols: Specs; the first one's primary figure is the score. `tables` by default.
        workers: Processes; one per CPU by default.
        out: The run directory; by default `runs/stable-CORPUS`. What it holds is not done again.
        events: Told about progress.
        progress: Called with 1 after each page that has been rewritten.
    """
    from parsemark.corpora.making import silent
    from parsemark.corpora.stable_variants import THREADS, rewrite_corpus
    from parsemark.engine.parsing.parse import parse_corpus
    from parsemark.engine.parsing.plan import select_keys
    from parsemark.parsers import DEFAULT_PARSERS, get_parser
    from parsemark.parsers.releases import usable_parsers
    from parsemark.protocols import DEFAULT_PROTOCOLS
    from parsemark.schemas import as_json
    from parsemark.system import write_bytes
    from parsemark.verdicts.stability import stability_of

    options = parse_options(workers=workers, cache=False, protocols=protocols or DEFAULT_PROTOCOLS)
    loaded = open_corpus(corpus)
    note = LOG.warning if events is None else events.note
    chosen = usable_parsers(parsers or DEFAULT_PARSERS, get_parser, note)
    folder = Path(out) if out is not None else Path("runs") / f"stable-{loaded.name}"
    keys = select_keys(loaded.keys, pages)
    made = rewrite_corpus(loaded, keys, folder / "variants", variants, progress or silent)
    apart = [key for key, (_, variant) in made.origin.items() if variant == THREADS]
    parts = [(1, [key for key in made.origin if key not in set(apart)]), (THREADS_TRIED, apart)]
    for threads, own in parts:
        if own:
            some = replace(options, anew=False, pages=",".join(own) + ",")
            tried = [replace(parser, threads=threads) for parser in chosen]
            run = parse_corpus(folder, made.corpus, tried, some, events)
    score(run, workers=workers, events=events)
    found = stability_of(run, made, [parser.name for parser in chosen])
    figures = json.dumps(as_json("stable", found), indent=2, ensure_ascii=False, allow_nan=False)
    write_bytes(folder / "stability.json", f"{figures}\n".encode())
    found.table().write_parquet(folder / "stability.parquet")
    return found, run


def site(
    bundles: str | Path | Sequence[str | Path],
    out: str | Path = SITE,
    *,
    corpora: Sequence[str | Corpus] = (),
    verify: bool = False,
    reports: bool = True,
    progress: Callable[[str], None] | None = None,
) -> BoardResult:
    """Build a leaderboard site from bundles, one or more; `result.refused` lists what is not shown.

    Args:
        bundles: Bundles, or folders of them.
        out: Folder of the site: new, empty, or an older site.
        corpora: Corpora with the truth for `verify` and the page pictures for reports.
        verify: Score every bundle again, and show only those that verify.
        reports: Write the full report of every leaderboard.
        progress: Called with what is being done.
    """
    from parsemark.report.leaderboard_site import build_board

    loaded = [open_corpus(corpus) for corpus in corpora]
    paths = [Path(path) for path in ([bundles] if isinstance(bundles, str | Path) else bundles)]
    tell = progress or (lambda _: None)
    return build_board(paths, Path(out), corpora=loaded, verify=verify, reports=reports, tell=tell)


def build_report(
    run: str | Path | Run,
    out: str | Path | None = None,
    *,
    old: str | Path | Run | None = None,
    also: Sequence[str | Path] = (),
    single_file: bool = False,
    max_mb: float = 20.0,
) -> Path:
    """Write the HTML report of a scored run, or the index of a folder of runs; return its first page.

    Args:
        run: The run, or a folder of runs.
        out: Folder of the report; by default `report` in the run.
        old: An older run to compare with.
        also: Runs on other corpora, selectable on the leaderboard.
        single_file: Write one HTML file, by default `report.html` in the run.
        max_mb: Maximum size of that file, in MB. Above it, only the worst pages and those with the largest
            differences between parsers are kept.
    """
    from parsemark.report import build_report as build

    folder = _run_path(run) if isinstance(run, str | Path) else run.path
    older = None if old is None else load_run(old).path
    place = Path(out) if out is not None else folder / ("report.html" if single_file else "report")
    others = [Path(path) for path in also]
    return build(folder, place, against=older, also=others, single_file=single_file, max_mb=max_mb)


def bundle(
    run: str | Path | Run,
    out: str | Path | None = None,
    *,
    truth: bool = True,
    submitter: str | None = None,
) -> Path:
    """Pack a scored run into one file that others can check with `verify`, and return its path.

    Args:
        run: The run.
        out: The file; by default the run directory with `.zip`.
        truth: Include truth and text layers. Without them, `verify` needs the corpus.
        submitter: Name of the submitter, shown on leaderboard sites.
    """
    from parsemark.store.bundle import write_bundle

    opened = load_run(run)
    place = opened.path.resolve()
    target = Path(out) if out is not None else place.with_name(f"{place.name}.zip")
    write_bundle(opened, target, truth=truth, submitter=submitter)
    return target


def verify(
    bundle: str | Path,
    corpus: str | Path | Corpus | None = None,
    *,
    workers: int | None = None,
    events: Events | None = None,
) -> Verification:
    """Score the outputs in a bundle again and compare with the results that it states; see `passed`.

    Args:
        bundle: A file that `bundle` wrote.
        corpus: Corpus to check the bundle against, with its truth; by default the truth in the bundle.
        workers: Number of parallel workers; by default one per CPU.
        events: Receives progress.
    """
    from parsemark.engine.verify_bundle import verify_confined

    loaded = None if corpus is None else open_corpus(corpus)
    return verify_confined(Path(bundle), corpus=loaded, n_workers=workers, events=events)


def score_task(
    task: str, predictions: str | Path, corpus: str | Path | Corpus = CORPUS, *, protocol: str = "document"
) -> TaskResult:
    """Score one component of a parser on its own: ocr, table, formula, or layout.

    Args:
        task: Which one.
        predictions: An annotation with `pred` in its elements, or for layout a file of boxes.
        corpus: For layout: whose truth the boxes are held against.
        protocol: A spec of `document`.
    """
    from parsemark.protocols.document.annotation import annotation_of
    from parsemark.protocols.document.component_scores import score_file

    pages = (
        (annotation_of(s.truth) for s in open_corpus(corpus).samples() if s.truth) if task == "layout" else ()
    )
    return score_file(task, Path(predictions), pages, protocol)


def meaning_of(figure: str) -> str:
    """Return what a score of `score_task` means; empty where its name says it."""
    from parsemark.protocols.document.component_scores import MEANINGS

    return MEANINGS.get(figure, "")


def open_corpus(corpus: str | Path | Corpus, *, strict: bool = False) -> Corpus:
    """Load a corpus; return a loaded one as it is.

    A path is understood as what it is: a folder of documents, one document, a corpus folder or its
    `corpus.json`, an annotation file of OmniDocBench, or a run, which stands for the corpus that it was made
    from.
    """
    from parsemark.corpora import load_corpus

    if not isinstance(corpus, str | Path):
        return corpus
    if (Path(corpus) / MANIFEST).is_file():
        corpus = load_run(corpus).manifest.corpus.spec
    return load_corpus(corpus, strict=strict)


def load_run(run: str | Path | Run) -> Run:
    """Open a run directory; return an open run as it is.

    Where a path is no run, `runs/` and its name is opened if that is one: `demo` and `my-documents/` stand
    for what `bench` made of them.
    """
    from parsemark.store import Run

    return Run.open(_run_path(run)) if isinstance(run, str | Path) else run


def _run_path(run: str | Path) -> Path:
    place = Path(run)
    if (place / MANIFEST).is_file():
        return place
    made = Path("runs") / (place.stem if place.is_file() else place.resolve().name)
    return made if (made / MANIFEST).is_file() else place
