"""The parse stage: open or resume a run, plan, run the plan, fold what was recorded into the tables."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import shlex
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parsemark.corpora import Corpus, load_corpus
from parsemark.corpora.base import Remark
from parsemark.corpora.render import FirstLook, look_at, page_size, with_pdf
from parsemark.engine.events import Events
from parsemark.engine.parsing.page_worker import PageLimits
from parsemark.engine.parsing.plan import PlannedPage, make_plan, select_keys
from parsemark.engine.parsing.worker_pool import LocalWorkers, ParsePool
from parsemark.errors import CorpusError, ParserError, PdfError, StoreError, UsageError
from parsemark.model import Sample
from parsemark.parsers import Parser
from parsemark.pdf.page_kinds import stored_kinds
from parsemark.plain_words import counted, listed
from parsemark.protocols import DEFAULT_PROTOCOLS, canonical_specs
from parsemark.store import (
    CorpusEntry,
    Manifest,
    ParseCache,
    ParserEntry,
    Run,
    RunFolder,
    RunLimits,
    sample_to_row,
)
from parsemark.store.manifest import origin_mark
from parsemark.system import file_sha256
from parsemark.system.processes import held_by_confinement, why_not_confined
from parsemark.version import __version__

if TYPE_CHECKING:
    import polars as pl

    from parsemark.engine.parsing.ray import RayWorkers

_MAX_LISTED = 10
_OTHER_FORMATS = frozenset({"docx", "html"})  # files of corpora that are no PDFs, by their suffix


@dataclass(frozen=True)
class ParseOptions:
    """How a corpus is parsed."""

    pages: str | int | None = None  # which samples: see `select_keys`
    n_workers: int | None = None  # None for as many as the executor has CPUs
    limits: PageLimits = field(default_factory=PageLimits)
    cache: Path | None = None  # folder of the cache of parses; None to use none
    anew: bool = False  # parse every page, also those that the run has; one that was stopped goes on
    repeats: int = 1  # how often each page is parsed in all (`api.parse`); what is there already counts
    executor: str = "local"
    address: str | None = None  # of a Ray cluster; None starts one on this machine
    protocols: tuple[str, ...] = ()  # specs to score it by; by default those that it has, or the default ones
    command: Sequence[str] = ()
    max_cost_usd: float | None = None  # when it is spent, paid parsers stop; a rerun tries their other pages


def parse_corpus(
    out: Path, corpus: Corpus, parsers: Sequence[Parser], options: ParseOptions, events: Events | None = None
) -> Run:
    """Parse a corpus with several parsers into a run directory; what is there already is not repeated, and
    what was done is kept when the user stops it. StoreError if `out` holds a run of another corpus.
    """
    events = events or Events()
    _check_names(parsers)
    select_keys(corpus.keys, options.pages)  # what is refused leaves no run behind
    run = open_run(out, corpus, options)
    pages = add_samples(run, corpus, options.pages, events=events)
    _check_formats(parsers, pages)
    cache = ParseCache(options.cache) if options.cache else None
    for parser in parsers:  # weights are a part of its fingerprint
        _fetch_weights(parser, events)
    named = [(parser.name, parser.fingerprint) for parser in parsers]
    if (why := why_not_confined()) is not None:
        events.note(f"Parsers are not confined on this machine, and could read truths: {why}.")
    since = _begin_anew(run, [parser.name for parser in parsers]) if options.anew else {}
    plan = make_plan(run, pages, named, cache, str(options.limits), since)
    events.apart(frozenset(sample.id for sample in corpus.broken))
    for name, jobs in plan.jobs.items():
        cached = sum(record.parser == name for record in plan.from_cache)
        done = plan.n_done[name]
        events.planned(name, n_pages=done + cached + len(jobs), n_done=done)
    for parser in parsers:
        _note_parser(run, parser, cache.get_versions(parser.fingerprint) if cache else None, why is None)
    pool = ParsePool(
        run,
        {parser.name: parser for parser in parsers},
        _workers(options, {run.path, corpus.root, *(page.pdf.parent for page in pages)}),
        cache=cache,
        limits=options.limits,
        events=events,
        max_cost_usd=options.max_cost_usd,
    )
    try:
        pool.execute(plan, options.n_workers)
        _end_anew(run, since)
    finally:
        RunFolder.of(run).parses.fold()
        for parser in parsers:
            if (hello := pool.hellos.get(parser.name)) is not None:
                sources = parser.weights.versions if parser.weights else {}
                said = {"versions": {**hello.versions, **sources}, "weights": dict(hello.weights)}
                _note_parser(run, parser, said, why is None)
                if cache:
                    cache.put_versions(parser.fingerprint, said)
    return run


def _fetch_weights(parser: Parser, events: Events) -> None:
    """Fetch weights where that is allowed; a failure is reported when the parser is installed."""
    if parser.weights is not None and parser.weights.what_is_missing() is None:
        with contextlib.suppress(ParserError):
            parser.weights.fetch(lambda what: events.note(f"{parser.name}: {what}"))


def _check_formats(parsers: Sequence[Parser], pages: Sequence[PlannedPage]) -> None:
    """Refuse parsers that cannot read the corpus: a PDF parser would fail on each DOCX without a reason."""
    wanted = sorted({page.pdf.suffix.lower().lstrip(".") or "pdf" for page in pages})
    for parser in parsers:
        others = [kind for kind in wanted if kind in _OTHER_FORMATS and kind not in parser.info.reads]
        is_pdf = not set(wanted) & _OTHER_FORMATS
        if others or (is_pdf and "pdf" not in parser.info.reads):
            reads = " and ".join(kind.upper() for kind in parser.info.reads)
            has = " and ".join(kind.upper() for kind in (others or ["pdf"]))
            hint = "PDF pages are in the corpus itself" if others else "give the corpus as sources:DIR"
            raise UsageError(f"{parser.name} reads {reads}, and the corpus has {has}; {hint}.")


def _begin_anew(run: Run, parsers: Sequence[str]) -> dict[str, float]:
    """Return since when each parser parses: from now, or from the start of a run that was stopped."""
    now = RunFolder.of(run).parses.now()
    RunFolder.of(run).update_manifest(
        lambda m: m.model_copy(update={"parsing_anew": {**dict.fromkeys(parsers, now), **m.parsing_anew}})
    )
    return {name: run.manifest.parsing_anew[name] for name in parsers}


def _end_anew(run: Run, since: Mapping[str, float]) -> None:
    """Record that all pages are done: the next run without the cache begins from its own start."""
    if since:
        RunFolder.of(run).update_manifest(
            lambda m: m.model_copy(
                update={"parsing_anew": {k: v for k, v in m.parsing_anew.items() if k not in since}}
            )
        )


def open_run(out: Path, corpus: Corpus, options: ParseOptions) -> Run:
    """Return the run in `out`: a new one, or one of the same corpus to go on with."""
    entry = CorpusEntry(
        name=corpus.name,
        version=corpus.version,
        hash=corpus.hash,
        spec=corpus.spec,
        n_samples=len(corpus),
        issues=corpus.issues,
    )
    protocols = canonical_specs(options.protocols)
    limits = RunLimits(timeout_s=options.limits.timeout_s, memory_mb=options.limits.memory_mb)
    if not (out / "manifest.json").exists():
        manifest = Manifest(
            command=list(options.command),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            code_version=__version__,
            corpus=entry,
            protocols=protocols or list(DEFAULT_PROTOCOLS),
            limits=limits,
            machine=_machine(),
            origin=origin_mark(),
        )
        try:
            return Run.create(out, manifest)
        except StoreError:
            if not (out / "manifest.json").exists():
                raise
            # another process was faster: go on with its run
    run = Run.open(out)
    old = run.manifest.corpus
    if old.hash != corpus.hash and (old.name, old.spec) == (corpus.name, corpus.spec):
        # Corrected or grown: truths are replaced, parses of equal pages stay.
        RunFolder.of(run).replace_samples(sample_rows(corpus, run.table("samples")))
        RunFolder.of(run).update_manifest(lambda m: m.model_copy(update={"corpus": entry}))
    elif old.hash != corpus.hash:
        raise StoreError(
            f"{out} contains a run of the corpus {old.name} {old.version} ({old.hash[:8]}), not of "
            f"{corpus.name} {corpus.version} ({corpus.hash[:8]}). Choose another --out, or remove that "
            "folder (`bench` does so with --overwrite)."
        )
    # What is asked for comes first, so it is what is shown; what the run had stays and is scored with it.
    RunFolder.of(run).update_manifest(
        lambda m: m.model_copy(
            update={"limits": limits, "protocols": list(dict.fromkeys([*protocols, *m.protocols]))}
        )
    )
    return run


def follow_truth(run: Run, events: Events | None = None) -> bool:
    """Take over truths that were corrected since the run was made; returns whether there were any.

    Only what can be meant: the run was made here, the corpus is still where it was, and the pages of the run
    are the same. Where it has other pages by now, nothing is changed and `events` report how to go on.
    """
    events, known = events or Events(), run.manifest.corpus
    if not known.spec or not run.manifest.origin or run.manifest.origin != origin_mark():
        return False  # nothing else declares what is read here
    try:
        corpus = load_corpus(known.spec)
        if corpus.hash == known.hash or corpus.name != known.name:
            return False
        stored = run.table("samples")
        rows = list(sample_rows(corpus, stored))
    except (CorpusError, UsageError, PdfError, OSError):  # it is elsewhere: the run has all that it needs
        return False
    files = dict(zip(stored["sample"], stored["pdf_sha256"], strict=True))
    if {row["sample"]: row["pdf_sha256"] for row in rows} != files:
        events.note(
            f"{known.spec} has other pages than this run, so its truth is not used. Parse the new pages: "
            f"parsemark bench --corpus {shlex.quote(known.spec)} --out {shlex.quote(str(run.path))}"
        )
        return False
    before = dict(zip(stored["sample"], stored["truth"], strict=True))
    changed = sum(row["truth"] != before[row["sample"]] for row in rows)
    RunFolder.of(run).replace_samples(rows)
    now = {"hash": corpus.hash, "n_samples": len(corpus), "version": corpus.version}
    entry = known.model_copy(update=now)
    RunFolder.of(run).update_manifest(lambda m: m.model_copy(update={"corpus": entry}))
    if changed:
        events.note(f"{known.spec} has changed: the truth of {counted(changed, 'page')} is updated.")
    return bool(changed)


def sample_rows(corpus: Corpus, stored: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield samples that a run (`stored`) has, as its corpus has them now; with PDFs where the run has
    them.
    """
    had_pdf = dict(zip(stored["sample"], stored["pdf_sha256"].is_not_null(), strict=True))
    hashes: dict[Path, str] = {}
    known = _looks(stored)
    for sample in (*(corpus.read(key) for key in corpus.keys if key in had_pdf), *corpus.broken):
        if sample.id in had_pdf:
            parsed = with_pdf(sample) if had_pdf[sample.id] else sample
            yield _row(parsed, _page(parsed, hashes).pdf_sha256, known)


def _check_names(parsers: Sequence[Parser]) -> None:
    names = [parser.name for parser in parsers]
    if not names:
        raise UsageError("Give at least one parser.")
    if twice := {name for name in names if names.count(name) > 1}:
        raise UsageError(f"Parsers given twice: {', '.join(sorted(twice))}.")


def add_samples(
    run: Run,
    corpus: Corpus,
    wanted: str | int | None,
    *,
    needs_pdf: bool = True,
    events: Events | None = None,
) -> list[PlannedPage]:
    """Add the samples that `wanted` names to the run (see `select_keys`) and return their pages.

    Where a PDF is needed, samples of which there is only a picture get one that is made from it. A sample
    that cannot be read is left out, and `events` report it; on a PDF that cannot be opened parsers are tried.
    """
    samples = _readable(corpus, select_keys(corpus.keys, wanted), events or Events(), needs_pdf=needs_pdf)
    if needs_pdf and wanted is None:
        samples += corpus.broken
    without = [sample.id for sample in samples if sample.pdf is None]
    if needs_pdf and without:
        said = (
            f"{counted(len(without), 'sample')} of {corpus.name} with neither a PDF nor a picture that "
            f"could be parsed ({listed(without)}). "
            "Score outputs that you have: parsemark score DIR"
        )
        if corpus.strict or len(without) == len(samples):
            raise UsageError(said)
        (events or Events()).note(f"Left out: {said}")
        samples = [sample for sample in samples if sample.pdf is not None]
    hashes: dict[Path, str] = {}
    pages = [_page(sample, hashes) for sample in samples]
    known = _looks(run.table("samples"))
    rows = (_row(s, p.pdf_sha256, known) for s, p in zip(samples, pages, strict=True))
    RunFolder.of(run).add_samples(rows)
    return pages


def _looks(stored: pl.DataFrame) -> dict[tuple[str, str, int], FirstLook]:
    """Return the run's stored page properties of these files, so that they are not computed again."""
    columns = stored.select("sample", "pdf_sha256", "page_number", "identity", "kinds")
    return {
        (sample, file, number): FirstLook(json.loads(identity or "{}"), stored_kinds(kinds))
        for sample, file, number, identity, kinds in columns.iter_rows()
        if kinds
    }


def _row(sample: Sample, pdf_sha256: str, known: Mapping[tuple[str, str, int], FirstLook]) -> dict[str, Any]:
    look = known.get((sample.id, pdf_sha256, sample.page_number)) or look_at(sample)
    return sample_to_row(sample, pdf_sha256 or None, *look, None if sample.truth else page_size(sample))


def _readable(corpus: Corpus, keys: Sequence[str], events: Events, *, needs_pdf: bool) -> list[Sample]:
    """Return the samples; one that cannot be read costs itself, unless the corpus is strict."""
    samples: list[Sample] = []
    left_out: list[Remark] = []
    for key in keys:
        found = corpus.try_read(key)
        if isinstance(found, Sample):
            try:
                samples.append(with_pdf(found) if needs_pdf else found)
                continue
            except CorpusError as error:
                if corpus.strict:
                    raise
                found = Remark(key, f"is left out: {error}")
        left_out.append(found)
    for remark in left_out[:_MAX_LISTED]:
        events.note(str(remark))
    if left_out:
        events.note(
            f"Left out: {len(left_out)} of {counted(len(keys), 'page')}; with --strict, the command fails."
        )
    if not samples:
        raise CorpusError(f"{corpus.name} has no readable page: {left_out[0]}")
    return samples


def _page(sample: Sample, hashes: dict[Path, str]) -> PlannedPage:
    if sample.pdf is None:
        return PlannedPage(sample.id, Path(), "", sample.page_number)
    if sample.pdf not in hashes:
        hashes[sample.pdf] = file_sha256(sample.pdf)
    return PlannedPage(sample.id, sample.pdf.resolve(), hashes[sample.pdf], sample.page_number)


def _workers(options: ParseOptions, hidden: Collection[Path]) -> LocalWorkers | RayWorkers:
    if options.executor == "local":
        return LocalWorkers(options.limits, hidden)
    if options.executor == "ray":
        from parsemark.engine.parsing.ray import RayWorkers

        return RayWorkers(options.limits, options.address, hidden)
    raise UsageError(f"Unknown executor {options.executor!r}; choose 'local' or 'ray'.")


def _note_parser(run: Run, parser: Parser, said: dict[str, dict[str, str]] | None, confined: bool) -> None:
    """Record the parser as it is; its versions are known once a worker has started."""
    old = run.manifest.parser(parser.name)
    if said is None and old is not None and old.fingerprint == parser.fingerprint:
        return
    entry = ParserEntry(
        name=parser.name,
        fingerprint=parser.fingerprint,
        worker=file_sha256(parser.script),
        spec=None if parser.builtin else parser.spec,
        settings=dict(parser.options),
        licence=parser.info.licence,
        gives=list(parser.info.gives),
        confined=confined,
        engine=parser.info.engine,
        installed_mb=parser.installed_mb,
        **(said or {}),
    )
    RunFolder.of(run).update_manifest(lambda manifest: manifest.with_parser(entry))


def _machine() -> dict[str, str | int | float | None]:
    return {
        "platform": platform.platform(),
        "machine": platform.machine(),
        "python": sys.version.split()[0],
        "cpu": _cpu_model(),
        "cpus": os.cpu_count(),
        "confinement": ", ".join(held_by_confinement()) or "none",
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
    }


def _cpu_model() -> str:
    """Return the processor's name, or its part number if it has no name."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor()
    said = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    parts = [said.get("CPU implementer", ""), said.get("CPU part", "")]
    return said.get("model name") or " ".join(filter(None, parts)) or platform.processor()
