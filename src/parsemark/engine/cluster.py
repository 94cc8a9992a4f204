"""A Ray cluster, on which parsing starts its actors, and a pool of actors for tasks of ours.

An actor of the pool keeps one process of the local pool, so a task that crashes or hangs costs the same there
as here. A node that dies costs time only: its tasks are given to the actors that are left, and that is no
failure of a task. What is under way is all that the driver holds.
"""

import contextlib
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Generic, Self, TypeVar

from parsemark.errors import ParserError, UsageError
from parsemark.extras import needed_for
from parsemark.system.pool import Finished, Lost, ProcessPool

MAX_LOSSES = 5  # how many actors one page, or one task, may lose before it counts as its fault
AHEAD = 2  # tasks that an actor is given at a time: the next one travels while one is worked on

TaskT = TypeVar("TaskT")


class RayCluster:
    """A connection to a cluster, or a cluster on this machine. A context manager."""

    def __init__(self, address: str | None) -> None:
        with needed_for("--executor ray"):
            import ray
        self.ray: Any = ray
        self._address = address
        self._ours = False

    def __enter__(self) -> Self:
        if not self.ray.is_initialized():
            try:
                self.ray.init(address=self._address, log_to_driver=False, logging_level="warning")
            except (ConnectionError, ValueError) as error:
                raise ParserError(f"No Ray cluster was found at {self._address}: {error}") from error
            self._ours = True
        return self

    def __exit__(self, *_: object) -> None:
        if self._ours:
            self.ray.shutdown()

    def actor(self, kind: type) -> Any:
        """Makes actors of a class, each with a CPU; one that is lost is not started again by itself."""
        return self.ray.remote(num_cpus=1, max_restarts=0, scheduling_strategy="SPREAD")(kind)

    def capacity(self) -> int:
        """Return one worker for each CPU of the cluster."""
        return max(1, int(self.ray.cluster_resources().get("CPU", 1)))


class RayPool(RayCluster, Generic[TaskT]):
    """Does `function(pack(task))` on a cluster, as `ProcessPool` does `function(task)` on this machine.

    `keep` is called with each task and what came back, and returns the result. A context manager.
    """

    def __init__(
        self,
        function: Callable[[Any], Any],
        n_workers: int | None,
        *,
        timeout_s: float,
        memory_mb: int,
        address: str | None,
        pack: Callable[[TaskT], Any] = lambda task: task,
        keep: Callable[[TaskT, Any], Any] = lambda _, result: result,
    ) -> None:
        super().__init__(address)
        self._n_workers = n_workers
        self._arguments = function, timeout_s, memory_mb
        self._pack, self._keep = pack, keep
        self._waiting: deque[tuple[TaskT, int]] = deque()  # with the number of actors that were lost on it
        self._idle: list[Any] = []  # those that may be given a task, as often as they may be given one
        self._starting: dict[Any, Any] = {}  # what says that an actor has started, and the actor
        self._busy: dict[Any, tuple[Any, TaskT, int]] = {}  # what a result will be, the actor, and its task

    def __exit__(self, *_: object) -> None:
        busy = (actor for actor, *_ in self._busy.values())
        for actor in {*self._idle, *self._starting.values(), *busy}:
            with contextlib.suppress(self.ray.exceptions.RayError):
                self.ray.kill(actor)
        super().__exit__()

    @property
    def window(self) -> int:
        """Return how many tasks to submit at a time so that no actor waits for one."""
        return (self._n_workers or self.capacity()) * (AHEAD + 1)

    def submit(self, task: TaskT) -> None:
        """Add a task; also while results are being read."""
        self._waiting.append((task, 0))

    def results(self) -> Iterator[Finished[TaskT] | Lost[TaskT]]:
        """Yield the result of each task as it ends, until none are left."""
        for _ in range(min(self._n_workers or self.capacity(), len(self._waiting))):
            self._start()
        while self._waiting or self._busy:
            while self._waiting and self._idle:
                actor, (task, n_lost) = self._idle.pop(0), self._waiting.popleft()
                self._busy[actor.do.remote(self._pack(task))] = (actor, task, n_lost)
            if not self._busy and not self._starting:
                self._start()  # every actor is lost; the cluster may have others
            (ready, *_), _ = self.ray.wait([*self._busy, *self._starting], num_returns=1)
            if ready in self._starting:
                self._started(ready)
            else:
                yield from self._ended(ready)

    def _start(self) -> None:
        actor = self.actor(_PoolActor).remote(*self._arguments)
        self._starting[actor.ready.remote()] = actor

    def _started(self, ready: Any) -> None:
        actor = self._starting.pop(ready)
        try:
            self.ray.get(ready)
        except self.ray.exceptions.RayActorError:  # its node died; others go on, or one is started anew
            return
        self._idle.extend([actor] * AHEAD)

    def _ended(self, ready: Any) -> Iterator[Finished[TaskT] | Lost[TaskT]]:
        actor, task, n_lost = self._busy.pop(ready)
        try:
            result, reason = self.ray.get(ready)
        except (self.ray.exceptions.RayActorError, self.ray.exceptions.ObjectLostError) as error:
            self._idle = [other for other in self._idle if other != actor]
            if n_lost + 1 < MAX_LOSSES:
                self._waiting.appendleft((task, n_lost + 1))
            else:
                yield Lost(task, f"{MAX_LOSSES} Ray actors were lost on it: {error}"[:2000])
            return
        self._idle.append(actor)
        yield Finished(task, self._keep(task, result)) if reason is None else Lost(task, reason)


class _PoolActor:
    """The cluster's side: one process."""

    def __init__(self, function: Callable[[Any], Any], timeout_s: float, memory_mb: int) -> None:
        self._pool: ProcessPool[Any] = ProcessPool(function, 1, timeout_s=timeout_s, memory_mb=memory_mb)

    def ready(self) -> bool:
        """Return once the actor runs."""
        return True

    def do(self, task: Any) -> tuple[Any, str | None]:
        """Return the result of a task, or why there is none."""
        self._pool.submit(task)
        (found,) = self._pool.results()
        return (None, found.reason) if isinstance(found, Lost) else (found.result, None)


def require_executor(executor: str) -> None:
    """UsageError for an executor that does not exist."""
    if executor not in ("local", "ray"):
        raise UsageError(f"Unknown executor {executor!r}; choose 'local' or 'ray'.")
