"""For tools that read whole documents: one call for all pages. Beside `scope = "document"` in the script.

A worker defines `parse_document(pdf, options)`, which returns the output of each page by its number, and ends
with `serve_document(parse_document, …)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from parsemark_worker import Json, serve

ParseDocument = Callable[[str, Json], Mapping[int, Json]]


def document_output(pages: Mapping[int, Json]) -> Json:
    """The pages of a document by their numbers, from 1, each as a page is returned (`elements_output`, …).

    Every page must be there, one without anything as `elements_output([])`: what is missing counts as failed.
    A table that runs over pages stands once, whole, on the page on which it begins.
    """
    return {"format": "document", "pages": {str(int(number)): output for number, output in pages.items()}}


def serve_document(parse_document: ParseDocument, **facts: Any) -> None:
    """Answer requests until standard input ends. `parse_document`, given the PDF's path and the options,
    returns the output of each page; `facts` are as `serve` takes them: versions, programs, weights, prepare.
    """

    def parse(pdf: str, page: int, options: Json) -> Json:
        return document_output(parse_document(pdf, options))

    serve(parse, **facts)
