"""A worker of whole documents, by the kit. The "PDF" is a line for each page: what the parser says of it."""

import os
from pathlib import Path

from parsemark_document import serve_document
from parsemark_worker import elements_output, table


def parse_document(pdf: str, options: dict) -> dict:
    path = Path(pdf)
    with path.with_suffix(".log").open("a") as log:
        log.write("asked\n")
    lines = path.read_text().splitlines()
    pages = {}
    for number, line in enumerate(lines, start=1):
        if line == "fail":
            raise ValueError(f"page {number} is too hard")
        if line == "crash":
            os.abort()
        if line == "number":
            return {1: 5}
        if line != "leave out":
            rows = [row.split(",") for row in line.split(";")] if line else []
            pages[number] = elements_output([table(rows)] if rows else [])
    return pages


serve_document(parse_document)
