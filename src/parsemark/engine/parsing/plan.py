"""What is to be done: every sample by every parser, less what is done already, and who does what next."""

import fnmatch
import re
import threading
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from parsemark.errors import UsageError
from parsemark.store import ParseCache, ParseRecord, Run, RunFolder, work_key

_NUMBER = re.compile(r"[0-9]{1,9}")
_POSITIONS = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class PlannedPage:
    """A page that parsers are run on."""

    sample: str
    pdf: Path
    pdf_sha256: str
    number: int


@dataclass(frozen=True, slots=True)
class Job:
    """One page by one parser."""

    page: PlannedPage
    parser: str
    key: str


@dataclass(frozen=True)
class Plan:
    """The work of a run."""

    jobs: dict[str, list[Job]]  # what is left to do, by parser, in the corpus's order
    n_done: dict[str, int]  # how many pages of each parser were done before
    from_cache: list[ParseRecord]  # what another run has done already


def make_plan(
    run: Run,
    pages: Sequence[PlannedPage],
    parsers: Iterable[tuple[str, str]],
    cache: ParseCache | None,
    limits: str,
    since: Mapping[str, float] | None = None,
) -> Plan:
    """Compare what is wanted with what the run, and the cache of other runs' parses, hold for the same work.

    Parsers are given by name and fingerprint. Failures of other runs count under the same `limits`; what the
    run has recorded of a parser counts from the sequence that `since` has for it.
    """
    begun = since or {}
    done = {
        (r.sample, r.parser): r.key
        for r in run.records()
        if (r.blob is None or RunFolder.of(run).blobs.has(r.blob, r.n_bytes))
        and r.sequence >= begun.get(r.parser, 0)
    }
    plan = Plan({}, {}, [])
    for name, fingerprint in parsers:
        wanted = [Job(page, name, work_key(page.pdf_sha256, page.number, fingerprint)) for page in pages]
        todo = [job for job in wanted if done.get((job.page.sample, name)) != job.key]
        plan.n_done[name] = len(wanted) - len(todo)
        plan.jobs[name] = []
        for job in todo:
            cached = cache.get(job.key, limits, RunFolder.of(run).blobs) if cache else None
            if cached is None:
                plan.jobs[name].append(job)
            else:
                here = {"sample": job.page.sample, "parser": job.parser}  # the names that this run has
                plan.from_cache.append(ParseRecord.from_json({**cached.to_json(), **here}))
    return plan


def select_keys(keys: Sequence[str], pages: str | int | None) -> list[str]:
    """Return the samples that `--pages` names: a number (the first ones), positions `5-9`, or ids with `*`.

    >>> select_keys(["a1", "a2", "b1"], "2")
    ['a1', 'a2']
    >>> select_keys(["a1", "a2", "b1"], "b*,2-2")
    ['a2', 'b1']
    """
    if pages is None:
        return list(keys)
    parts = [part.strip() for part in str(pages).split(",") if part.strip()]
    found = [_select(keys, part, alone=len(parts) == 1) for part in parts]
    if not found or not all(found):
        part = pages if not found else parts[found.index(set())]
        raise UsageError(
            f"--pages {part} matches no page. Give a number (the first pages), positions such as 2-5 "
            "(there are "
            f"{len(keys)}), or ids such as {', '.join(keys[:3])}."
        )
    chosen = set().union(*found)
    return [key for key in keys if key in chosen]


def _select(keys: Sequence[str], part: str, *, alone: bool) -> set[str]:
    if alone and _NUMBER.fullmatch(part):
        return set(keys[: int(part)])
    named = set(fnmatch.filter(keys, part))
    positions = _POSITIONS.fullmatch(part)
    if named or positions is None:
        return named
    return set(keys[max(int(positions[1]) - 1, 0) : int(positions[2])])


class Dispatcher:
    """The jobs that are left, by parser. Safe to use from several threads.

    A worker keeps its parser as long as that has jobs, so that models load once.

    A parser is *pending* (being installed) until `open` or `drain` is called for it; who asks for a job
    waits while nothing but pending parsers have any.
    """

    def __init__(self, jobs: Mapping[str, Iterable[Job]]) -> None:
        self._queues = {parser: deque(queue) for parser, queue in jobs.items()}
        self._pending = {parser for parser, queue in self._queues.items() if queue}
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._n_done: Counter[str] = Counter()
        self._n_workers: Counter[str] = Counter()
        self._changed = threading.Condition()
        self._stopped = False

    def open(self, parser: str) -> None:
        """Allow the jobs of a parser that is ready to be claimed."""
        with self._changed:
            self._pending.discard(parser)
            self._changed.notify_all()

    def drain(self, parser: str) -> list[Job]:
        """Take all jobs of a parser that cannot be used."""
        with self._changed:
            self._pending.discard(parser)
            jobs = list(self._queues[parser])
            self._queues[parser].clear()
            self._changed.notify_all()
        return jobs

    def stop(self) -> None:
        """Hand out nothing more."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def claim(self, current: str | None) -> Job | None:
        """Return the next job, of the parser that the caller's worker runs if possible; None when none are
        left.
        """
        with self._changed:
            while not self._stopped:
                parser = self._choose(current)
                if parser is not None:
                    if parser != current:
                        self._n_workers[parser] += 1
                        self._n_workers[current or ""] -= 1
                    return self._queues[parser].popleft()
                if not self._pending:
                    return None
                self._changed.wait()
            return None

    def claim_document(self, job: Job) -> list[Job]:
        """Return all jobs of the same parser and document that are left, for who has claimed one of them."""
        with self._changed:
            queue = self._queues[job.parser]
            same = [other for other in queue if other.page.pdf_sha256 == job.page.pdf_sha256]
            if same:
                taken = set(map(id, same))
                self._queues[job.parser] = deque(other for other in queue if id(other) not in taken)
            return same

    def took(self, parser: str, seconds: float) -> None:
        """Record how long a page took, so that workers go where most work is left."""
        with self._changed:
            self._seconds[parser] += seconds
            self._n_done[parser] += 1

    def _choose(self, current: str | None) -> str | None:
        if current is not None and self._queues[current]:
            return current
        ready = [p for p, queue in self._queues.items() if queue and p not in self._pending]
        return max(ready, key=self._work_per_worker, default=None)

    def _work_per_worker(self, parser: str) -> float:
        n_done = self._n_done[parser]
        mean_s = self._seconds[parser] / n_done if n_done else 1.0
        return len(self._queues[parser]) * mean_s / (self._n_workers[parser] + 1)
