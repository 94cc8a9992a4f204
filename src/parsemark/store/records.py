"""The record of one page by one parser: what came back, what it cost, and why there is nothing."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from parsemark.errors import StoreError
from parsemark.model import Status


@dataclass(frozen=True, slots=True)
class ParseRecord:
    """One row of `parses.parquet`."""

    sample: str
    parser: str
    status: Status
    key: str
    """Identity of the work: see `work_key`."""
    blob: str | None = None
    n_bytes: int = 0
    wall_s: float | None = None
    cpu_s: float | None = None
    peak_memory_mb: float | None = None
    attempts: int = 1
    error: str | None = None
    stderr_tail: str | None = None
    cost_usd: float | None = None
    cached: bool = False
    """Whether the output was taken from the cache; times and memory are those of the original parse."""
    finished: float = 0.0
    """Seconds since the epoch; of two records for one page, the later one counts."""

    def to_json(self) -> dict[str, Any]:
        """As plain JSON data."""
        return {**dataclasses.asdict(self), "status": str(self.status)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ParseRecord:
        """Inverse of `to_json`.

        Raises:
            StoreError: A field is missing, unknown or has no sense.
        """
        try:
            return cls(**{**data, "status": Status(data["status"])})
        except (KeyError, TypeError, ValueError) as error:
            raise StoreError(f"A record of a parse is not valid: {error}") from error


def work_key(pdf_sha256: str, page: int, fingerprint: str) -> str:
    """Identity of a piece of work: the PDF's content, the page, and the parser with version and settings.

    Args:
        pdf_sha256: Hash of the PDF file.
        page: Page in it, from 1.
        fingerprint: The parser's: its script, its pinned dependencies and its options.
    """
    return hashlib.sha256(f"v1\0{pdf_sha256}\0{page}\0{fingerprint}".encode()).hexdigest()
