"""Samples as rows of `samples.parquet` and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from parsemark.formats.model_json import page_from_json, page_to_json
from parsemark.model import Sample


def sample_to_row(sample: Sample, pdf_sha256: str | None) -> dict[str, Any]:
    """One row of `samples.parquet`."""
    truth = sample.truth
    return {
        "sample": sample.id,
        "document": sample.document,
        "page_number": sample.page_number,
        "width": truth.width if truth else None,
        "height": truth.height if truth else None,
        "pdf": str(sample.pdf.resolve()) if sample.pdf else None,
        "pdf_sha256": pdf_sha256,
        "n_tables": len(truth.tables) if truth else None,
        "attributes": json.dumps(dict(truth.attributes), ensure_ascii=False) if truth else None,
        "truth": json.dumps(page_to_json(truth), ensure_ascii=False) if truth else None,
    }


def sample_from_row(row: Mapping[str, Any]) -> Sample:
    """Inverse of `sample_to_row`, as far as the table keeps it."""
    return Sample(
        id=row["sample"],
        document=row["document"],
        page_number=row["page_number"],
        truth=page_from_json(json.loads(row["truth"])) if row["truth"] is not None else None,
        pdf=Path(row["pdf"]) if row["pdf"] is not None else None,
    )
