"""Turns text or bytes (HTML, Markdown, LaTeX, benchmark JSON) into the model and back."""

from parsemark.formats.document import (
    DOCUMENT_FORMATS,
    Document,
    markdown_of,
    read_document,
    read_output,
    write_document,
)
from parsemark.formats.found_table import FORMATS, FoundTable
from parsemark.formats.hidden_text import without_unseen
from parsemark.formats.limits import MAX_CHARS, MAX_GRID, check_size
from parsemark.formats.neutral_spelling import neutral
from parsemark.formats.tables import read_table, read_tables, says_the_same
from parsemark.formats.write import WRITERS, write_table

__all__ = [
    "DOCUMENT_FORMATS", "FORMATS", "MAX_CHARS", "MAX_GRID", "WRITERS", "Document", "FoundTable", "check_size",
    "markdown_of", "neutral", "read_document", "read_output", "read_table", "read_tables", "says_the_same",
    "without_unseen", "write_document", "write_table",
]  # fmt: skip
