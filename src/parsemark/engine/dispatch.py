"""Hands out jobs to workers: a worker keeps its parser as long as that has jobs, so that models load once."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping

from parsemark.engine.plan import Job


class Dispatcher:
    """The jobs that are left, by parser. Safe to use from several threads.

    A parser is *pending* (being installed) until `open` or `drain` is called for it; whoever asks for a job
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
        """The parser is ready: its jobs may be claimed."""
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
        """The next job, of the same parser if possible; None when there are none left.

        Args:
            current: The parser that the caller's worker runs; None if it has none yet.
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
        """All jobs of the same parser and document that are left, for who has claimed one of them."""
        with self._changed:
            queue = self._queues[job.parser]
            same = [other for other in queue if other.page.pdf_sha256 == job.page.pdf_sha256]
            if same:
                taken = set(map(id, same))
                self._queues[job.parser] = deque(other for other in queue if id(other) not in taken)
            return same

    def took(self, parser: str, seconds: float) -> None:
        """Tell how long a page took, so that workers go where most work is left."""
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
