"""A Ray cluster, on which parsing and scoring start their actors."""

from typing import Any, Self

from parsemark.errors import ParserError
from parsemark.extras import needed_for

MAX_LOSSES = 5  # how many actors one page, or one chunk, may lose before it counts as its fault


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
                raise ParserError(f"No Ray cluster at {self._address}: {error}") from error
            self._ours = True
        return self

    def __exit__(self, *_: object) -> None:
        if self._ours:
            self.ray.shutdown()

    def actor(self, kind: type) -> Any:
        """Makes actors of a class, each with a CPU; one that is lost is not started again by itself."""
        return self.ray.remote(num_cpus=1, max_restarts=0, scheduling_strategy="SPREAD")(kind)

    def capacity(self) -> int:
        """One worker for each CPU of the cluster."""
        return max(1, int(self.ray.cluster_resources().get("CPU", 1)))
