"""Runs a plan: several workers at a time, each kept busy by a thread of ours.

The workers are processes of this machine (`LocalWorkers`) or Ray actors (`parsemark.engine.parsing.ray`).
Everything else is the same for both: the plan, the retries, and this process alone writes to the run.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from parsemark.budget import PageBudget, SpentError
from parsemark.engine.events import Events
from parsemark.engine.parsing.page_worker import (
    PageLimits,
    PageOutcome,
    PageWorker,
    ParserUnusableError,
    StoppedError,
    install_usable,
)
from parsemark.engine.parsing.plan import Dispatcher, Job, Plan
from parsemark.errors import ParsemarkError
from parsemark.model import Status
from parsemark.parsers import Hello, Parser
from parsemark.parsers.worker_limits import Watch
from parsemark.store import ParseCache, ParseRecord, Run, RunFolder
from parsemark.store.parses import Journal

if TYPE_CHECKING:
    from parsemark.engine.parsing.ray import RayWorker, RayWorkers

_INSTALLS_AT_ONCE = 2
_JOIN_S = 0.2  # how often the main thread wakes to see Ctrl-C


class LocalWorkers:
    """Worker processes on this machine. A context manager around the time in which they are used."""

    def __init__(self, limits: PageLimits, hidden: Collection[Path] = ()) -> None:
        self._limits = limits
        self._hidden = hidden
        self._watch = Watch()

    def __enter__(self) -> LocalWorkers:
        self._watch.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._watch.__exit__()

    def capacity(self) -> int:
        """Return one worker for each CPU."""
        return os.cpu_count() or 1

    def install(self, parser: Parser, events: Events) -> None:
        """Build the parser's environment unless that is done."""
        install_usable(parser, lambda what: events.installing(parser.name, what))

    def start(self, parser: Parser) -> PageWorker:
        """Return a worker process, started with its first page."""
        return PageWorker(parser, self._limits, self._watch, self._hidden)


class ParsePool:
    """Runs the jobs of a plan and records each page as soon as it is done."""

    def __init__(
        self,
        run: Run,
        parsers: Mapping[str, Parser],
        workers: LocalWorkers | RayWorkers,
        *,
        cache: ParseCache | None,
        limits: PageLimits,
        events: Events,
        max_cost_usd: float | None = None,
    ) -> None:
        self._run = run
        self._budget: PageBudget | None = None
        if max_cost_usd is not None:
            paid = {name for name, parser in parsers.items() if parser.info.paid}
            before = [(r.parser, r.cost_usd) for r in run.records() if r.parser in paid]
            self._budget = PageBudget(max_cost_usd, before)
        self._parsers = parsers
        self._workers = workers
        self._cache = cache
        self._limits = limits
        self._events = events
        self._active: set[PageWorker | RayWorker] = set()
        self._lock = threading.Lock()
        self._giving_up = threading.Lock()
        self._stopping = False
        self._error: BaseException | None = None
        self.hellos: dict[str, Hello] = {}  # what the workers said of themselves, by parser

    def execute(self, plan: Plan, n_workers: int | None = None) -> None:
        """Do all jobs, by a worker for each CPU by default; what is done is kept if the user stops it."""
        with RunFolder.of(self._run).parses.journal() as self._journal:
            for record in plan.from_cache:
                self._keep(record)
            if any(plan.jobs.values()):
                with self._workers:
                    self._run_jobs(plan, n_workers or self._workers.capacity())
        if self._error is not None:
            raise self._error

    def _run_jobs(self, plan: Plan, n_workers: int) -> None:
        self._dispatcher = Dispatcher(plan.jobs)
        n_threads = min(n_workers, sum(len(jobs) for jobs in plan.jobs.values()))
        threads = [threading.Thread(target=self._guard, args=(self._work,)) for _ in range(n_threads)]
        names = deque(name for name, jobs in plan.jobs.items() if jobs)
        try:
            for _ in range(min(_INSTALLS_AT_ONCE, len(names))):
                # Do not wait for them: what they started ends with this process, or by its own time limit.
                threading.Thread(target=self._guard, args=(self._install_all, names), daemon=True).start()
            for thread in threads:
                thread.start()
            for thread in threads:
                while thread.is_alive():
                    thread.join(_JOIN_S)
            with self._giving_up:  # no job is left, but not every failure may be written yet
                pass
        finally:
            names.clear()
            self._stop(threads)

    def _stop(self, threads: list[threading.Thread]) -> None:
        self._dispatcher.stop()
        with self._lock:
            self._stopping = True
            active = list(self._active)
        for worker in active:
            worker.stop()
        for thread in threads:
            if thread.ident is not None:
                thread.join()

    def _guard(self, function: Callable[..., None], *arguments: object) -> None:
        """Run `function`; its error (a full disk, a bug) ends the whole run, once the others have stopped."""
        try:
            function(*arguments)
        except StoppedError:
            return
        except BaseException as error:  # the engine's boundary: shown by the main thread
            self._error = self._error or error
            self._dispatcher.stop()

    def _install_all(self, names: deque[str]) -> None:
        while names:
            try:
                name = names.popleft()
            except IndexError:  # another has taken the last
                return
            try:
                self._workers.install(self._parsers[name], self._events)
            except ParsemarkError as error:
                self._give_up(name, str(error))
            else:
                self._dispatcher.open(name)

    def _work(self) -> None:
        worker: PageWorker | RayWorker | None = None
        current: str | None = None
        try:
            while (job := self._dispatcher.claim(current)) is not None:
                if worker is None or job.parser != current:
                    self._dismiss(worker)
                    worker, current = self._workers.start(self._parsers[job.parser]), job.parser
                    with self._lock:
                        if self._stopping:
                            raise StoppedError
                        self._active.add(worker)
                jobs = [job]
                if self._parsers[job.parser].info.scope == "document":
                    jobs += self._dispatcher.claim_document(job)
                self._do(jobs, worker)
        finally:
            self._dismiss(worker)

    def _do(self, jobs: Sequence[Job], worker: PageWorker | RayWorker) -> None:
        """Do one job, or all jobs of one document by one call."""
        name = jobs[0].parser
        budget = self._budget if self._parsers[name].info.paid else None
        price = 0.0
        if budget is not None:
            try:
                price = budget.reserve(name, len(jobs))
            except SpentError as error:
                self._give_up(name, str(error), *jobs)
                return
        outcomes: list[PageOutcome] = []
        started = time.perf_counter()
        try:
            outcomes = worker.parse([job.page for job in jobs])
        except ParserUnusableError as error:
            self._give_up(name, str(error), *jobs)
            return
        finally:
            if budget is not None:
                costs = [outcome.cost_usd for outcome in outcomes if outcome.cost_usd is not None]
                budget.settle(name, price, sum(costs) if costs else None, len(jobs))
        elapsed = time.perf_counter() - started
        if worker.hello is not None:
            self.hellos[name] = worker.hello
        for job, outcome in zip(jobs, outcomes, strict=True):
            self._dispatcher.took(name, elapsed / len(jobs))
            record = self._record(job, outcome)
            self._keep(record)
            if self._cache is not None:
                self._cache.put(record, str(self._limits), RunFolder.of(self._run).blobs)

    def _dismiss(self, worker: PageWorker | RayWorker | None) -> None:
        if worker is not None:
            with self._lock:
                self._active.discard(worker)
            worker.close()

    def _give_up(self, parser: str, why: str, *jobs: Job) -> None:
        """Fail all pages that a parser still has. They have no key, so that a rerun tries them again."""
        self._events.unusable(parser, why)
        with self._giving_up:
            for job in [*jobs, *self._dispatcher.drain(parser)]:
                outcome = PageOutcome(Status.PARSER_FAILED, attempts=0, error=why)
                self._keep(self._record(Job(job.page, parser, key=""), outcome))

    def _record(self, job: Job, outcome: PageOutcome) -> ParseRecord:
        known = {field.name: getattr(outcome, field.name) for field in fields(outcome)}
        output = known.pop("output")
        known["blob"] = None if output is None else RunFolder.of(self._run).blobs.put(output)
        known |= {"sample": job.page.sample, "parser": job.parser, "key": job.key}
        return ParseRecord(**known, n_bytes=len(output or b""), finished=time.time())

    def _keep(self, record: ParseRecord) -> None:
        self._journal.append(record.to_json())
        self._events.parsed(record)

    _journal: Journal
    _dispatcher: Dispatcher
