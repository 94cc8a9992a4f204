"""What the command line does, as calls: bench, score, compare, report, bundle. Defaults are stated here."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

LOG = logging.getLogger("parsemark")

if TYPE_CHECKING:
    from parsemark.corpora import Corpus
    from parsemark.corpora.making import MadeCorpus, Maker
    from parsemark.engine.derived.confidences import Calibration, ConfidenceRow, Estimated
    from parsemark.engine.events import Events
    from parsemark.engine.parsing.parse import ParseOptions
    from parsemark.engine.verify_bundle import Verification
    from parsemark.protocols import Summary
    from parsemark.protocols.document.component_scores import TaskResult
    from parsemark.report.board_site import BoardResult
    from parsemark.store import Run
    from parsemark.verdicts.comparison import Comparison, RunComparison
    from parsemark.verdicts.gate import GateLimits, GateResult
    from parsemark.verdicts.stability import Stability

CORPUS = "demo"
"""Installed with parsemark."""
EXECUTOR = "local"
"""This machine."""
TIMEOUT_S = 60.0
"""Per page."""
MEMORY_MB = 4096
"""Per worker with its children."""
THREADS_TRIED = 4
"""In place of one, to see whether an output depends on it."""


def bench(
    corpus: str | Path | Corpus = CORPUS,
    parsers: str | Sequence[str] | None = None,
    *,
    out: str | Path | None = None,
    protocols: str | Sequence[str] | None = None,
    pages: str | int | None = None,
    workers: int | None = None,
    timeout_s: float = TIMEOUT_S,
    memory_mb: int = MEMORY_MB,
    cache: bool = True,
    overwrite: bool = False,
    strict: bool = False,
    executor: str = EXECUTOR,
    address: str | None = None,
    events: Events | None = None,
) -> Run:
    """Parse a corpus with several parsers and score what they return.

    Args:
        corpus: A spec as `--corpus` takes it, or a loaded corpus.
        parsers: Specs; by default a fast set that installs itself.
        out: The run directory; by default `runs/` and the corpus's name. What it holds is not done again.
        protocols: Specs, by default `tables`; `evidence` comes before it where no page has a truth.
        pages: A subset, as `--pages`.
        workers: Processes; one per CPU by default.
        timeout_s: Per page.
        memory_mb: Per worker.
        cache: Use parses of other runs.
        overwrite: Remove the run that `out` holds.
        strict: Refuse a corpus of which something cannot be read.
        executor: `local` or `ray`.
        address: Of a Ray cluster; without one Ray is started on this machine.
        events: Receives progress.

    Returns:
        The run, scored: `run.summary()` has the figures, `build_report(run)` writes the site.
    """
    from parsemark.engine.scoring.score import score_run as score

    options = parse_options(
        pages=pages,
        workers=workers,
        timeout_s=timeout_s,
        memory_mb=memory_mb,
        cache=cache,
        protocols=protocols,
        executor=executor,
        address=address,
    )
    run = parse(corpus, parsers, options, out=out, overwrite=overwrite, strict=strict, events=events)
    score(run, n_workers=workers, events=events, executor=executor, address=address)
    return run


def parse_options(
    *,
    pages: str | int | None = None,
    workers: int | None = None,
    timeout_s: float = TIMEOUT_S,
    memory_mb: int = MEMORY_MB,
    max_cost_usd: float | None = None,
    cache: bool = True,
    executor: str = EXECUTOR,
    address: str | None = None,
    protocols: str | Sequence[str] | None = None,
    command: tuple[str, ...] = (),
) -> ParseOptions:
    """Options as the engine takes them; a wrong protocol is refused here, before anything is parsed."""
    from parsemark.engine.parsing.page_worker import PageLimits
    from parsemark.engine.parsing.parse import ParseOptions
    from parsemark.protocols import canonical_specs
    from parsemark.store import default_cache_folder

    return ParseOptions(
        pages=pages,
        n_workers=workers,
        limits=PageLimits(timeout_s=timeout_s, memory_mb=memory_mb),
        cache=default_cache_folder() if cache else None,
        anew=not cache,
        executor=executor,
        address=address,
        protocols=tuple(canonical_specs(protocols or ())),
        command=command,
        max_cost_usd=max_cost_usd,
    )


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

    loaded = _loaded(corpus, strict=strict)
    options = replace(options, protocols=options.protocols or default_protocols(loaded))
    specs, made = split_specs(parsers or DEFAULT_PARSERS)
    if made and not specs:
        specs = list(DEFAULT_PARSERS)
    chosen = usable_parsers(specs, get_parser, LOG.warning if events is None else events.note)
    folder = run_folder(out, loaded)
    if overwrite:
        RunFolder.remove(folder)
    run = parse_corpus(folder, loaded, chosen, options, events)
    add_made_of_others(run, made, [parser.name for parser in chosen])
    return run


def default_protocols(corpus: Corpus) -> tuple[str, ...]:
    """What scores a corpus where nobody says: `tables`, after `evidence` where no page has a truth."""
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
    events: Events | None = None,
) -> Run:
    """Parse each page with the parser that a rule of `choose --route` names for its kind.

    The outputs stand in the run under the name `routed`, beside those of the parsers that made them.
    """
    from parsemark.choose.route import read_route
    from parsemark.corpora.render import look_at
    from parsemark.engine.derived.parsers import add_routed
    from parsemark.engine.parsing.plan import select_keys
    from parsemark.parsers import get_parser

    route = read_route(Path(rule))
    loaded = _loaded(corpus)
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
    """The run directory: as given, or `runs/` and the corpus's name."""
    return Path(out) if out is not None else Path("runs") / corpus.name


def score_run(
    run: str | Path | Run,
    *,
    protocols: str | Sequence[str] | None = None,
    workers: int | None = None,
    events: Events | None = None,
) -> list[Summary]:
    """Score what a run has parsed, by its own protocols or by others; one summary for each.

    Where the truth of its corpus has been corrected since, the corrected one counts.
    """
    from parsemark.engine.parsing.parse import follow_truth
    from parsemark.engine.scoring.score import score_run as score
    from parsemark.protocols import canonical_specs

    wanted, opened = canonical_specs(protocols) if protocols else [], _opened(run)
    if follow_truth(opened, events):  # then no other figure of the run holds any more either
        wanted = list(dict.fromkeys([*wanted, *opened.manifest.protocols]))
    return list(score(opened, protocols=wanted or None, n_workers=workers, events=events))


def score_predictions(
    predictions: str | Path,
    corpus: str | Path | Corpus = CORPUS,
    *,
    name: str | None = None,
    out: str | Path | None = None,
    protocols: str | Sequence[str] | None = None,
    pages: str | int | None = None,
    page_separator: str | None = None,
    workers: int | None = None,
    events: Events | None = None,
) -> Run:
    """Score outputs that were made elsewhere.

    Args:
        predictions: A folder of `SAMPLE.md` (.html, .json, .tex, .csv, .txt), `PDF.p3.md` or `DOCUMENT.md`.
        corpus: What they are outputs of.
        name: Of the parser that made them; by default the folder's.
        out: The run directory; it may hold other parsers of the corpus.
        protocols: Specs; `tables` by default.
        pages: A subset, as `--pages`.
        page_separator: What stands between the pages of a document's file.
        workers: Processes; one per CPU by default.
        events: Receives progress.
    """
    from parsemark.engine.import_outputs import import_predictions
    from parsemark.engine.scoring.score import score_run as score
    from parsemark.protocols import DEFAULT_PROTOCOLS, canonical_specs

    loaded = _loaded(corpus)
    run = import_predictions(
        run_folder(out, loaded),
        loaded,
        Path(predictions),
        name=name,
        pages=pages,
        protocols=tuple(canonical_specs(protocols or DEFAULT_PROTOCOLS)),
        page_separator=page_separator,
        events=events,
    )
    score(run, n_workers=workers, events=events)
    return run


def compare(
    run: str | Path | Run, first: str | Path | Run, second: str | None = None, *, protocol: str | None = None
) -> Comparison | RunComparison:
    """Compare two parsers of a run; or an old run with a new one, as `first`, parser by parser."""
    from parsemark.verdicts.comparison import compare_parsers, compare_runs

    if second is not None:
        return compare_parsers(_opened(run), str(first), second, protocol)
    return compare_runs(_opened(run), _opened(first), protocol)


def gate(
    new: str | Path | Run,
    old: str | Path | Run | None = None,
    limits: GateLimits | None = None,
    *,
    parsers: Sequence[str] | None = None,
    protocol: str | None = None,
    time_again: int = 0,
) -> GateResult:
    """Check a run against limits, and against an old run or baseline; `result.passed` is the answer.

    Args:
        new: The run to check.
        old: The run, or baseline, that it is held against.
        limits: `parsemark.verdicts.gate.GateLimits`; by default no drop beyond chance and no new failures.
        parsers: Only these.
        protocol: Whose figures; by default the first of the run.
        time_again: Time the old and the new version here, in turns on so many pages.
    """
    from parsemark.verdicts.gate import GateLimits, gate_runs

    older = None if old is None else _opened(old)
    return gate_runs(
        _opened(new), older, limits or GateLimits(), parsers=parsers, protocol=protocol, time_again=time_again
    )


def make_corpus(
    maker: str | Maker,
    out: str | Path,
    *,
    pages: int | None = None,
    seed: int | None = None,
    corpus: str | Path | Corpus | None = None,
    sources: Sequence[str | Path] = (),
    workers: int | None = None,
    commit: str | Path | None = None,
    reveal: str | Path | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> MadeCorpus:
    """Make a corpus with a maker, which another package brings (`pip install parsemark-makers`).

    Args:
        maker: A spec such as `typst(languages=english+french)`, or a maker.
        out: The folder of the corpus; it must be new or empty. It is written whole or not at all.
        pages: Number of pages, for makers that have the option `pages`.
        seed: Seed, for makers that have the option `seed`.
        corpus: The corpus whose pages are copied with changes (`degraded`, `misleading`).
        sources: Files that the maker reads (`latex`, `features`).
        workers: Processes; one per CPU by default.
        commit: File for a commitment to the pages; its secret is written beside it, as `FILE.secret.json`.
            Without a seed one is drawn.
        reveal: A secret: make its pages again and compare them with the commitment beside it.
        progress: Called with the number of new pages or documents, and with the total if it is known.

    Raises:
        UsageError: The maker has no such option, or does not read what it is given.
    """
    from parsemark.corpora.making import run_maker

    given = {"pages": pages, "seed": seed}
    return run_maker(
        maker,
        Path(out),
        options={key: value for key, value in given.items() if value is not None},
        corpus=None if corpus is None else _loaded(corpus),
        sources=[Path(source) for source in sources],
        workers=workers,
        commit=None if commit is None else Path(commit),
        reveal=None if reveal is None else Path(reveal),
        progress=progress or (lambda n, total: None),
    )


def stable(
    corpus: str | Path | Corpus = CORPUS,
    parsers: str | Sequence[str] | None = None,
    *,
    variants: Sequence[str] = (),
    pages: str | int | None = None,
    protocols: str | Sequence[str] | None = None,
    workers: int | None = None,
    timeout_s: float = TIMEOUT_S,
    memory_mb: int = MEMORY_MB,
    out: str | Path | None = None,
    events: Events | None = None,
    progress: Callable[[int], None] | None = None,
) -> tuple[Stability, Run]:
    """Rewrite pages so that they look the same, and say whose outputs change.

    Args:
        corpus: A spec as `--corpus` takes it, or a loaded corpus.
        parsers: Specs; by default a fast set that installs itself.
        variants: Some of `parsemark.corpora.stable_variants.VARIANTS`; all by default.
        pages: A subset, as `--pages`.
        protocols: Specs; the first one's primary figure is the score. `tables` by default.
        workers: Processes; one per CPU by default.
        timeout_s: Per page.
        memory_mb: Per worker.
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
    from parsemark.system import write_bytes
    from parsemark.verdicts.stability import stability_of

    options = parse_options(
        workers=workers,
        timeout_s=timeout_s,
        memory_mb=memory_mb,
        cache=False,
        protocols=protocols or DEFAULT_PROTOCOLS,
    )
    loaded = _loaded(corpus)
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
    score_run(run, workers=workers, events=events)
    found = stability_of(run, made, [parser.name for parser in chosen])
    write_bytes(folder / "stability.json", found.as_json().encode())
    found.table().write_parquet(folder / "stability.parquet")
    return found, run


def board(
    bundles: Sequence[str | Path],
    out: str | Path,
    *,
    corpora: Sequence[str | Corpus] = (),
    verify: bool = False,
    reports: bool = True,
) -> BoardResult:
    """Make a leaderboard site of bundles, or folders of them; `result.refused` names what is not shown.

    Args:
        bundles: Files of `bundle_run`, or folders.
        out: The site's folder: new, empty, or an older board.
        corpora: For the truth of `verify`, and for pictures in the reports.
        verify: Score every bundle anew; one that does not verify is not shown.
        reports: Write the report of every league.
    """
    from parsemark.report.board_site import build_board

    loaded = [_loaded(corpus) for corpus in corpora]
    paths = [Path(path) for path in bundles]
    return build_board(paths, Path(out), corpora=loaded, verify=verify, reports=reports)


def build_report(run: str | Path | Run, out: str | Path | None = None) -> Path:
    """Write the HTML report of a scored run; returns its first page."""
    from parsemark.report import build_report as build

    opened = _opened(run)
    return build(opened.path, Path(out) if out is not None else opened.path / "report")


def bundle_run(
    run: str | Path | Run, out: str | Path, *, truth: bool = True, submitter: str | None = None
) -> Path:
    """Write a scored run into one file that others can check with `verify_bundle`."""
    from parsemark.store.bundle import write_bundle

    write_bundle(_opened(run), Path(out), truth=truth, submitter=submitter)
    return Path(out)


def verify_bundle(
    bundle: str | Path,
    corpus: str | Path | Corpus | None = None,
    *,
    workers: int | None = None,
    events: Events | None = None,
) -> Verification:
    """Score the raw outputs of a bundle anew and say what differs from what it states."""
    from parsemark.engine.verify_bundle import verify_confined

    loaded = None if corpus is None else _loaded(corpus)
    return verify_confined(Path(bundle), corpus=loaded, n_workers=workers, events=events)


def calibrate(
    run: str | Path | Run,
    parser: str,
    *,
    method: str = "best",
    other: str | Path | Run | None = None,
    apply: bool = False,
) -> Calibration:
    """Fit a calibrator of a parser's confidences, and say what it changes on documents it has not seen.

    Args:
        run: Scored by the protocol `tables`.
        parser: A parser in it that gives confidences.
        method: temperature, platt, beta, isotonic, or `best` by D-ECE on unseen documents.
        other: Another run: what the best threshold of this one costs there.
        apply: Also add the calibrated parser to the run, and score it.
    """
    from parsemark.engine.derived import confidences
    from parsemark.engine.scoring.score import score_run as score

    opened, there = _opened(run), None if other is None else _opened(other)
    found = confidences.calibrate(opened, parser, method=method, other=there, apply=apply)
    if apply:
        score(opened)
    return found


def estimate_confidence(
    run: str | Path | Run,
    parsers: str | Sequence[str] | None = None,
    *,
    model: str | Path | None = None,
    apply: bool = True,
) -> tuple[Estimated, list[ConfidenceRow]]:
    """Give parsers without a confidence one of ours; also says how good all confidences of the run are.

    Args:
        run: Scored, where no model is given.
        parsers: By default all that give no confidence.
        model: File of a model that was fitted on another run; without it one is fitted on this run's truth.
        apply: Add `estimated(parser=…)` to the run for each of them, and score it.
    """
    from parsemark.engine.derived import confidences
    from parsemark.engine.derived.estimated import ConfidenceModel
    from parsemark.engine.scoring.score import score_run as score

    opened = _opened(run)
    given = None if model is None else ConfidenceModel.read(Path(model))
    found = confidences.estimate_confidence(opened, parsers, model=given, apply=apply)
    if apply:
        score(opened)
    return found, confidences.confidence_rows(_opened(opened.path))


def ensemble(
    run: str | Path | Run, parsers: str | Sequence[str] | None = None, *, min_confidence: float = 0.05
) -> list[Summary]:
    """Add `ensemble` to a run, what its parsers see together voted cell by cell, and score it."""
    from parsemark.engine.derived.parsers import add_ensemble
    from parsemark.engine.scoring.score import score_run as score
    from parsemark.specs import is_derived

    opened = _opened(run)
    chosen = parsers or [p.name for p in opened.manifest.parsers if not is_derived(p.name)]
    add_ensemble(opened, chosen, min_confidence)
    return list(score(opened))


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
    from parsemark.engine import component_tasks

    return component_tasks.score_task(task, Path(predictions), lambda: _loaded(corpus), protocol)


def bench_task(
    task: str,
    corpus: str | Path | Corpus,
    parsers: Sequence[str],
    options: ParseOptions,
    *,
    out: str | Path | None = None,
    protocol: str = "document",
    events: Events | None = None,
) -> tuple[Path, dict[str, TaskResult]]:
    """Cut the elements of a task out of a corpus, run parsers on the crops, and score what they made.

    Returns:
        The folder, which holds what each parser made of the crops as `PARSER.json`, and the results.
    """
    from parsemark.engine import component_tasks

    chosen = component_tasks.crop_task(task)
    component_tasks.document_protocol(protocol)  # a wrong one is refused before anything is parsed
    loaded = _loaded(corpus)
    folder = Path(out) if out is not None else Path("runs") / f"{loaded.name}-{task}"
    annotation = component_tasks.crops_for(loaded, chosen, folder)
    crops = _loaded(f"omnidocbench:{annotation}")
    run = parse(crops, parsers, options, out=folder / "run", events=events)
    return folder, component_tasks.score_crops(run, crops, annotation, chosen, protocol)


def _loaded(corpus: str | Path | Corpus, *, strict: bool = False) -> Corpus:
    from parsemark.corpora import load_corpus

    return load_corpus(corpus, strict=strict) if isinstance(corpus, str | Path) else corpus


def _opened(run: str | Path | Run) -> Run:
    from parsemark.store import Run

    return run if isinstance(run, Run) else Run.open(run)
