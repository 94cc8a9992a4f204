"""What one page may cost before its worker is ended."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PageLimits:
    """Limits of one page by one parser."""

    timeout_s: float = 60.0
    """Wall-clock time from the request to the whole answer."""
    memory_mb: int = 4096
    """Resident memory of the worker and all processes that it has started (Linux)."""
    start_timeout_s: float = 120.0
    """Wall-clock time until a new worker has shaken hands."""
    max_answer_bytes: int = 64 * 1024 * 1024
    """Size of an answer; no more than this is ever held in memory."""

    def __str__(self) -> str:
        """What makes a failure under other limits another failure; names failures in the cache."""
        return f"timeout_s={self.timeout_s:g} memory_mb={self.memory_mb} bytes={self.max_answer_bytes}"
