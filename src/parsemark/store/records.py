"""Rows of a run: samples, and for each page and parser what came back, its cost, or why there is nothing."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parsemark.errors import StoreError
from parsemark.formats.model_json import page_from_json, page_to_json
from parsemark.model import Sample, Status
from parsemark.system.secrets import without_folders

REMEDY = "Remove it; its page is parsed again."


@dataclass(frozen=True, slots=True)
class ParseRecord:
    """One row of `parses.parquet`. Its messages, which reports and bundles show, name no folder."""

    sample: str
    parser: str
    status: Status
    key: str  # identity of the work: see `work_key`
    blob: str | None = None
    n_bytes: int = 0
    wall_s: float | None = None
    cpu_s: float | None = None
    peak_memory_mb: float | None = None
    attempts: int = 1
    error: str | None = None
    stderr_tail: str | None = None
    cost_usd: float | None = None
    cached: bool = False  # whether the output is from the cache; times and memory are of the original parse
    finished: float = 0.0  # seconds since the epoch by the machine's clock: for people; decides nothing
    sequence: int = 0  # of two records for one page, the higher one counts; given by the record's journal

    def __post_init__(self) -> None:
        for field in ("error", "stderr_tail"):
            if isinstance(said := getattr(self, field), str):
                object.__setattr__(self, field, without_folders(said))

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {**dataclasses.asdict(self), "status": str(self.status)}

    @classmethod
    def from_json(
        cls, data: Mapping[str, Any], where: str = "A record of a parse", remedy: str = REMEDY
    ) -> ParseRecord:
        """Undo `to_json`; StoreError says where a field is missing, unknown or wrong, and a remedy."""
        try:
            record = cls(**{**data, "status": Status(data["status"])})
            for field, kinds in _KINDS.items():
                if not isinstance(getattr(record, field), kinds):
                    raise TypeError(f"{field} is of the wrong type")
        except (KeyError, TypeError, ValueError) as error:
            missing = isinstance(error, KeyError)
            why = f"{error} is missing" if missing else str(error)[:200]
            raise StoreError(f"{where} is not valid: {why}. {remedy}".rstrip()) from error
        return record


_TEXT, _NUMBER = (str, type(None)), (int, float, type(None))
_KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("sample", "parser", "key"), (str,)),
    **dict.fromkeys(("blob", "error", "stderr_tail"), _TEXT),
    **dict.fromkeys(("wall_s", "cpu_s", "peak_memory_mb", "cost_usd"), _NUMBER),
    **dict.fromkeys(("n_bytes", "attempts", "sequence"), (int,)),
    "finished": (int, float),
}


def work_key(pdf_sha256: str, page: int, fingerprint: str) -> str:
    """Return the identity of a piece of work: the PDF's content, the page (from 1), and the parser's
    fingerprint: its script, its pinned dependencies and its options.
    """
    return hashlib.sha256(f"v1\0{pdf_sha256}\0{page}\0{fingerprint}".encode()).hexdigest()


def sample_to_row(
    sample: Sample,
    pdf_sha256: str | None,
    identity: Mapping[str, str] | None = None,
    kinds: Mapping[str, str] | None = None,
    size: tuple[float, float] | None = None,
) -> dict[str, Any]:
    """Return one row of `samples.parquet`. `identity`: by which its document is known as the same as another,
    or of one kind with it; `size`: width and height of a page without truth, in points.
    """
    truth = sample.truth
    width, height = (truth.width, truth.height) if truth else size or (None, None)
    return {
        "sample": sample.id,
        "document": sample.document,
        "page_number": sample.page_number,
        "width": width,
        "height": height,
        "pdf": str(sample.pdf.resolve()) if sample.pdf else None,
        "pdf_sha256": pdf_sha256,
        "n_tables": truth.n_tables if truth else None,
        "attributes": json.dumps(dict(truth.attributes), ensure_ascii=False) if truth else None,
        "truth": json.dumps(page_to_json(truth), ensure_ascii=False) if truth else None,
        "identity": json.dumps(dict(identity), sort_keys=True) if identity else None,
        "kinds": json.dumps(dict(kinds), sort_keys=True) if kinds else None,
    }


def sample_from_row(row: Mapping[str, Any]) -> Sample:
    """Undo `sample_to_row`, as far as the table keeps it."""
    return Sample(
        id=row["sample"],
        document=row["document"],
        page_number=row["page_number"],
        truth=page_from_json(json.loads(row["truth"])) if row["truth"] is not None else None,
        pdf=Path(row["pdf"]) if row["pdf"] is not None else None,
    )
