"""Croissant metadata (MLCommons, 1.0) of a corpus folder: what its files are, and what its pages say."""

import json
from pathlib import Path
from typing import Any

from parsemark.corpora.schema import CorpusFile
from parsemark.system import file_sha256

_TEMPLATE = Path(__file__).with_name("croissant.json")
_TERMS = """
citeAs column extract field fileObject fileProperty fileSet format includes isLiveDataset jsonPath key md5
parentField path recordSet references regex repeated replace separator source subField transform
"""
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
    content: dict[str, Any] = json.loads(_TEMPLATE.read_text(encoding="utf-8"))
    content["@context"].update((term, f"cr:{term}") for term in _TERMS.split())
    content["distribution"][0]["sha256"] = file_sha256(path)
    content["recordSet"][0]["field"] = fields
    about = {"name": manifest.name, "description": manifest.description, "license": manifest.licence}
    return {**content, **about, "version": f"{manifest.version}.0.0", "identifier": manifest.hash}
