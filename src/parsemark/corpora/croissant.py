"""Describes corpora as Croissant metadata (MLCommons, 1.0)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from parsemark.corpora.base import Corpus, Remark
from parsemark.corpora.schema import CorpusFile
from parsemark.model import Sample
from parsemark.system import file_sha256

_TEMPLATE = Path(__file__).with_name("croissant.json")
_FIELDS = {
    "id": ("sc:Text", "Identifier of the page in the corpus."),
    "document": ("sc:Text", "Document that contains the page."),
    "page_no": ("sc:Integer", "Page number in the document, from 1."),
    "truth": ("sc:Boolean", "True if the content of the page is known."),
    "tables": ("sc:Integer", "Number of known tables."),
    "elements": ("sc:Integer", "Number of known elements, tables included."),
}


def describe_folder(manifest: CorpusFile, path: Path) -> dict[str, Any]:
    """Return the metadata of the corpus folder with this `corpus.json`: its files and their fields."""
    content = _template()
    content["distribution"][0]["sha256"] = file_sha256(path)
    about = {"name": manifest.name, "description": manifest.description, "license": manifest.licence}
    return {**content, **about, "version": _version(manifest.version), "identifier": manifest.hash}


def describe_corpus(corpus: Corpus) -> dict[str, Any]:
    """Return the metadata of any corpus, with one record per page.

    The pages themselves are not part of it: a corpus that may not be copied may still be described.
    """
    content = _template()
    del content["distribution"]
    samples = (corpus.try_read(key) for key in corpus.keys)
    content["recordSet"] = [
        {
            "@type": "cr:RecordSet",
            "@id": "pages",
            "name": "pages",
            "key": {"@id": "pages/id"},
            "field": [
                {
                    "@type": "cr:Field",
                    "@id": f"pages/{name}",
                    "name": name,
                    "description": description,
                    "dataType": kind,
                }
                for name, (kind, description) in _FIELDS.items()
            ],
            "data": list(_records(sample for sample in samples if not isinstance(sample, Remark))),
        }
    ]
    return {
        **content,
        "name": corpus.name,
        "description": f"Pages of the corpus {corpus.name}, with the number of known elements on each.",
        "license": corpus.licence,
        "version": _version(corpus.version),
        "identifier": corpus.hash,
    }


def _records(samples: Iterator[Sample]) -> Iterator[dict[str, Any]]:
    for sample in samples:
        truth = sample.truth
        values = (
            sample.id,
            sample.document,
            sample.page_number,
            truth is not None,
            0 if truth is None else len(truth.tables),
            0 if truth is None else len(truth.elements),
        )
        yield {f"pages/{name}": value for name, value in zip(_FIELDS, values, strict=True)}


def _template() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(_TEMPLATE.read_text(encoding="utf-8"))
    return content


def _version(version: str) -> str:
    """Return a semantic version, as Croissant asks for; others stand as they are."""
    return f"{version}.0.0" if version.isdecimal() else version
