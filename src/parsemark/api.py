"""What the command line does, as calls: bench, score, compare, report, bundle. Defaults are stated here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from parsemark.compare.comparison import Comparison, RunComparison
    from parsemark.corpora import Corpus
    from parsemark.engine.events import Events
    from parsemark.engine.parse import ParseOptions
    from parsemark.engine.verify import Verification
    from parsemark.protocols import Summary
    from parsemark.store import Run

CORPUS = "demo"
"""Installed with parsemark."""
EXECUTOR = "local"
"""This machine."""
TIMEOUT_S = 60.0
"""Per page."""
MEMORY_MB = 4096
"""Per worker with its children."""


def bench(
    corpus: str | Corpus = CORPUS,
    parsers: Sequence[str] | None = None,
    *,
    out: str | Path | None = None,
    protocols: Sequence[str] | None = None,
    pages: str | None = None,
    workers: int | None = None,
    timeout_s: float = TIMEOUT_S,
    memory_mb: int = MEMORY_MB,
    cache: bool = True,
    overwrite: bool = False,
    strict: bool = False,
    events: Events | None = None,
) -> Run:
    """Parse a corpus with several parsers and score what they return.

    Args:
        corpus: A spec as `--corpus` takes it, or a loaded corpus.
        parsers: Specs; by default a fast set that installs itself.
        out: The run directory; by default `runs/` and the corpus's name. What it holds is not done again.
        protocols: Specs, by default `tables` and whatever else `parsemark bench` scores by.
        pages: A subset, as `--pages`.
        workers: Processes; one per CPU by default.
        timeout_s: Per page.
        memory_mb: Per worker.
        cache: Use parses of other runs.
        overwrite: Remove the run that `out` holds.
        strict: Refuse a corpus of which something cannot be read.
        events: Told about progress.

    Returns:
        The run, scored: `run.summary()` has the figures, `build_report(run)` writes the site.
    """
    from parsemark.engine.scoring import score_run as score

    options = parse_options(
        pages=pages,
        workers=workers,
        timeout_s=timeout_s,
        memory_mb=memory_mb,
        cache=cache,
        protocols=protocols,
    )
    run = parse(corpus, parsers, options, out=out, overwrite=overwrite, strict=strict, events=events)
    score(run, n_workers=workers, events=events)
    return run


def parse_options(
    *,
    pages: str | None = None,
    workers: int | None = None,
    timeout_s: float = TIMEOUT_S,
    memory_mb: int = MEMORY_MB,
    max_cost_usd: float | None = None,
    cache: bool = True,
    executor: str = EXECUTOR,
    address: str | None = None,
    protocols: Sequence[str] | None = None,
    command: tuple[str, ...] = (),
) -> ParseOptions:
    """Options as the engine takes them; a wrong protocol is refused here, before anything is parsed."""
    from parsemark.engine.limits import PageLimits
    from parsemark.engine.parse import ParseOptions
    from parsemark.protocols import DEFAULT_PROTOCOLS, canonical_specs
    from parsemark.store import default_cache_folder

    return ParseOptions(
        pages=pages,
        n_workers=workers,
        limits=PageLimits(timeout_s=timeout_s, memory_mb=memory_mb),
        cache=default_cache_folder() if cache else None,
        anew=not cache,
        executor=executor,
        address=address,
        protocols=tuple(canonical_specs(protocols or DEFAULT_PROTOCOLS)),
        command=command,
        max_cost_usd=max_cost_usd,
    )


def parse(
    corpus: str | Corpus,
    parsers: Sequence[str] | None,
    options: ParseOptions,
    *,
    out: str | Path | None = None,
    overwrite: bool = False,
    strict: bool = False,
    events: Events | None = None,
) -> Run:
    """Parse a corpus into a run directory; see `bench`."""
    from parsemark.corpora import load_corpus
    from parsemark.engine.derived import add_made_of_others, split_specs
    from parsemark.engine.parse import parse_corpus
    from parsemark.parsers import DEFAULT_PARSERS, get_parser
    from parsemark.store import Run

    loaded = load_corpus(corpus, strict=strict) if isinstance(corpus, str) else corpus
    specs, made = split_specs(parsers or DEFAULT_PARSERS)
    if made and not specs:
        specs = list(DEFAULT_PARSERS)
    chosen = [get_parser(spec) for spec in specs]
    folder = run_folder(out, loaded)
    if overwrite:
        Run.remove(folder)
    run = parse_corpus(folder, loaded, chosen, options, events)
    add_made_of_others(run, made, [parser.name for parser in chosen])
    return run


def run_folder(out: str | Path | None, corpus: Corpus) -> Path:
    """The run directory: as given, or `runs/` and the corpus's name."""
    return Path(out) if out is not None else Path("runs") / corpus.name


def score_run(
    run: str | Path | Run,
    *,
    protocols: Sequence[str] | None = None,
    workers: int | None = None,
    events: Events | None = None,
) -> list[Summary]:
    """Score what a run has parsed, by its own protocols or by others; one summary for each.

    Where the truth of its corpus has been corrected since, the corrected one counts.
    """
    from parsemark.engine.parse import follow_truth
    from parsemark.engine.scoring import score_run as score
    from parsemark.protocols import canonical_specs

    wanted, opened = canonical_specs(protocols) if protocols else [], _opened(run)
    if follow_truth(opened, events):  # then no other figure of the run holds any more either
        wanted = list(dict.fromkeys([*wanted, *opened.manifest.protocols]))
    return list(score(opened, protocols=wanted or None, n_workers=workers, events=events))


def compare(
    run: str | Path | Run, first: str, second: str | None = None, *, protocol: str | None = None
) -> Comparison | RunComparison:
    """Two parsers of a run; or, with the folder of a newer run as `first`, the parsers of both."""
    from parsemark.compare.comparison import compare_parsers, compare_runs
    from parsemark.store import Run

    if second is not None:
        return compare_parsers(_opened(run), first, second, protocol)
    return compare_runs(_opened(run), Run.open(first), protocol)


def build_report(run: str | Path | Run, out: str | Path | None = None) -> Path:
    """Write the HTML report of a scored run; returns its first page."""
    from parsemark.report import build_report as build

    opened = _opened(run)
    return build(opened.path, Path(out) if out is not None else opened.path / "report")


def bundle_run(run: str | Path | Run, out: str | Path, *, truth: bool = True) -> Path:
    """Write a scored run into one file that others can check with `verify_bundle`."""
    from parsemark.store.bundle import write_bundle

    write_bundle(_opened(run), Path(out), truth=truth)
    return Path(out)


def verify_bundle(
    bundle: str | Path,
    corpus: str | Corpus | None = None,
    *,
    workers: int | None = None,
    events: Events | None = None,
) -> Verification:
    """Score the raw outputs of a bundle anew and say what differs from what it states."""
    from parsemark.corpora import load_corpus
    from parsemark.engine.verify import verify_bundle as verify

    loaded = load_corpus(corpus) if isinstance(corpus, str) else corpus
    return verify(Path(bundle), corpus=loaded, n_workers=workers, events=events)


def _opened(run: str | Path | Run) -> Run:
    from parsemark.store import Run

    return run if isinstance(run, Run) else Run.open(run)
