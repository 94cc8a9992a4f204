"""Scoring on a Ray cluster: the chunks of the local pool, outputs out and rows back; only the driver writes.

An actor keeps one process of the pool that scores locally, so a page that crashes or hangs the scorer costs
the same there as here. A node that dies costs time only: its chunks are given to the actors that are left,
and that is no failure of a page. What is under way is all that the driver holds of outputs and rows.
"""

import contextlib
from collections import Counter, deque
from collections.abc import Callable, Iterator
from typing import Any

from parsemark.engine.cluster import MAX_LOSSES, RayCluster
from parsemark.engine.process_pool import Finished, Lost, ProcessPool
from parsemark.engine.scoring.chunk import Chunk, PackedChunk, pack, score_packed, write_parts

AHEAD = 2  # chunks that an actor is given at a time: the next one travels while one is scored


class RayScoring(RayCluster):
    """Scores chunks on a cluster, as `ProcessPool` does on this machine. A context manager.

    Without an address one is started on this machine; there is an actor for each CPU by default. `timeout_s`
    is for one chunk, `memory_mb` for one process and each that it starts.
    """

    def __init__(
        self, address: str | None, n_workers: int | None, *, timeout_s: float, memory_mb: int
    ) -> None:
        super().__init__(address)
        self._n_workers = n_workers
        self._limits = (timeout_s, memory_mb)
        self._waiting: deque[Chunk] = deque()
        self._idle: list[Any] = []  # those that may be given a chunk, as often as they may be given one
        self._starting: dict[Any, Any] = {}  # what says that an actor has started, and the actor
        self._busy: dict[Any, tuple[Any, Chunk]] = {}  # what a result will be, the actor, and its chunk
        self._losses: Counter[str] = Counter()

    def __exit__(self, *_: object) -> None:
        busy = (actor for actor, _ in self._busy.values())
        for actor in {*self._idle, *self._starting.values(), *busy}:
            with contextlib.suppress(self.ray.exceptions.RayError):
                self.ray.kill(actor)
        super().__exit__()

    @property
    def window(self) -> int:
        """How many chunks to submit at a time so that no actor waits for one."""
        return (self._n_workers or self.capacity()) * (AHEAD + 1)

    def submit(self, chunk: Chunk) -> None:
        """Add a chunk; also while results are being read."""
        self._waiting.append(chunk)

    def results(self) -> Iterator[Finished[Chunk] | Lost[Chunk]]:
        """What became of each chunk, as they end, until there are none left."""
        for _ in range(min(self._n_workers or self.capacity(), len(self._waiting))):
            self._start()
        while self._waiting or self._busy:
            while self._waiting and self._idle:
                actor, chunk = self._idle.pop(0), self._waiting.popleft()
                self._busy[actor.score.remote(pack(chunk))] = (actor, chunk)
            if not self._busy and not self._starting:
                self._start()  # every actor is lost; the cluster may have others
            (ready, *_), _ = self.ray.wait([*self._busy, *self._starting], num_returns=1)
            if ready in self._starting:
                self._started(ready)
            else:
                yield from self._ended(ready)

    def _start(self) -> None:
        actor = self.actor(_Scorer).remote(score_packed, *self._limits)
        self._starting[actor.ready.remote()] = actor

    def _started(self, ready: Any) -> None:
        actor = self._starting.pop(ready)
        try:
            self.ray.get(ready)
        except self.ray.exceptions.RayActorError:  # its node died; others go on, or one is started anew
            return
        self._idle.extend([actor] * AHEAD)

    def _ended(self, ready: Any) -> Iterator[Finished[Chunk] | Lost[Chunk]]:
        actor, chunk = self._busy.pop(ready)
        try:
            parts, reason = self.ray.get(ready)
        except (self.ray.exceptions.RayActorError, self.ray.exceptions.ObjectLostError) as error:
            self._idle = [other for other in self._idle if other != actor]
            self._losses[chunk.key] += 1
            if self._losses[chunk.key] < MAX_LOSSES:
                self._waiting.appendleft(chunk)
            else:
                yield Lost(chunk, f"{MAX_LOSSES} Ray actors were lost on it: {error}"[:2000])
            return
        self._idle.append(actor)
        if parts is None:
            yield Lost(chunk, reason)
        else:
            write_parts(chunk, parts)
            yield Finished(chunk, None)


class _Scorer:
    """The cluster's side: one process that scores."""

    def __init__(
        self, function: Callable[[PackedChunk], list[bytes]], timeout_s: float, memory_mb: int
    ) -> None:
        self._pool = ProcessPool(function, 1, timeout_s=timeout_s, memory_mb=memory_mb)

    def ready(self) -> bool:
        """Answers once the actor runs."""
        return True

    def score(self, packed: PackedChunk) -> tuple[list[bytes] | None, str]:
        """The rows of a chunk as Parquet, or why there are none."""
        self._pool.submit(packed)
        (result,) = self._pool.results()
        return (None, result.reason) if isinstance(result, Lost) else (result.result, "")
