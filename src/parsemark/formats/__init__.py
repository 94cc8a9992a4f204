"""Turns text or bytes (HTML, Markdown, LaTeX, benchmark JSON) into the model and back."""

from parsemark.formats.find import read_table, read_tables
from parsemark.formats.found import FORMATS, FoundTable
from parsemark.formats.write import WRITERS, write_table

__all__ = ["FORMATS", "WRITERS", "FoundTable", "read_table", "read_tables", "write_table"]
