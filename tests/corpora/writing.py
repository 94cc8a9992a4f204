"""Writes small corpora for tests."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from parsemark.corpora.files import write_manifest, write_page
from parsemark.corpora.schema import CorpusFile
from parsemark.model import Sample


def write_corpus(root: Path, samples: Iterable[Sample], **fields: Any) -> CorpusFile:
    """Write samples whose PDFs already lie in `root/pdfs`, and the manifest."""
    for sample in samples:
        write_page(root, sample, None if sample.pdf is None else f"pdfs/{sample.pdf.name}")
    return write_manifest(root, **fields)
