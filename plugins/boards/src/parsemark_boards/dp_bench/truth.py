"""Pages in the form of DP-Bench's files: `{"elements": [{"category", "content": {"text", "html"}}]}`."""

import re
from collections.abc import Mapping
from typing import Any, Self

from pydantic import model_validator

from parsemark.metrics import EditTree, reference_table, reference_tree
from parsemark_boards.near_search import between
from parsemark_boards.reference_pages import NO_TEXT, ReferencePage
from parsemark_boards.truth_model import benchmark_rules

PAGE = "dp_bench_page"  # where a page keeps its elements as the benchmark's file has them
PageData = Mapping[str, Any]
_OPENING, _CLOSING = re.compile("<table[^>]*?>"), re.compile("</table>")


class DpBenchPage(ReferencePage):
    """A page of `reference.json` whose first table can be read."""

    @model_validator(mode="after")
    def _can_be_read(self) -> Self:
        with benchmark_rules():
            first_tree(self.model_dump())
        return self


def page_text(page: PageData) -> str:
    """Return all text but that of figures, tables and charts; line ends are deleted, which joins words."""
    texts = [e["content"]["text"] for e in page["elements"] if e["category"].lower() not in NO_TEXT]
    return "".join(f"{text} " for text in texts).replace("\n", "")


def first_tree(page: PageData) -> EditTree | None:
    """Return the tree of the first table; None if there is none. Raise ValueError if a span is not a
    number.
    """
    document = _tables(page)
    if not document.startswith("<html><body><table>") and not document.endswith("</table></body></html>"):
        document = f"<html><body><table>{document}</table></body></html>"
    table = reference_table(document)
    return None if table is None else reference_tree(table)


def has_tables(page: PageData) -> bool:
    """Return whether the page has an element that is a table."""
    return any(element["category"].lower() == "table" for element in page["elements"])


def _tables(page: PageData) -> str:
    """Return the contents of the page's table elements as one document."""
    parts = []
    for element in page["elements"]:
        if element["category"].lower() == "table":
            html = element["content"]["html"]
            inner = [html[a:b] for _, a, b, _ in between(html, _OPENING, _CLOSING)]
            parts += [f"<table>{part}</table>" for part in inner or [html]]
    return f"<html><body>{''.join(parts)}</body></html>"
