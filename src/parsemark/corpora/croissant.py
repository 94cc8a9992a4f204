"""Croissant metadata (MLCommons, 1.0) of a corpus folder: what its files are, and what its pages say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from parsemark.corpora.schema import CorpusFile
from parsemark.system import file_sha256

_TERMS = """
citeAs column extract field fileObject fileProperty fileSet format includes isLiveDataset jsonPath key md5
parentField path recordSet references regex repeated replace separator source subField transform
"""
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    **{term: f"cr:{term}" for term in _TERMS.split()},
}
_FIELDS = {
    "document": ("sc:Text", "$.page_info.document", "The document that the page is of."),
    "page_no": ("sc:Integer", "$.page_info.page_no", "Its page, counted from 1."),
    "pdf": ("sc:Text", "$.page_info.pdf", "Path of the PDF in the folder."),
    "width": ("sc:Float", "$.page_info.width", "In points."),
    "height": ("sc:Float", "$.page_info.height", "In points."),
    "elements": ("sc:Text", "$.layout_dets", "Elements in the form of OmniDocBench, with tables as grids."),
}


def croissant(manifest: CorpusFile, path: Path) -> dict[str, Any]:
    """The metadata of the corpus whose `corpus.json` lies at `path`."""
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"pages/{name}",
            "name": name,
            "description": says,
            "dataType": kind,
            "source": {"fileSet": {"@id": "truth"}, "extract": {"jsonPath": place}},
        }
        for name, (kind, place, says) in _FIELDS.items()
    ]
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": manifest.name,
        "description": manifest.description,
        "license": manifest.licence,
        "version": f"{manifest.version}.0.0",
        "identifier": manifest.hash,
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": "corpus.json",
                "name": "corpus.json",
                "contentUrl": "corpus.json",
                "encodingFormat": "application/json",
                "sha256": file_sha256(path),
            },
            *(
                {
                    "@type": "cr:FileSet",
                    "@id": name,
                    "name": name,
                    "containedIn": {"@id": "corpus.json"},
                    "encodingFormat": kind,
                    "includes": pattern,
                }
                for name, kind, pattern in (
                    ("truth", "application/json", "truth/*.json"),
                    ("pdfs", "application/pdf", "pdfs/**/*.pdf"),
                )
            ),
        ],
        "recordSet": [{"@type": "cr:RecordSet", "@id": "pages", "name": "pages", "field": fields}],
    }
