"""Writes a table in any format that has a writer."""

from __future__ import annotations

from parsemark.errors import UnknownNameError
from parsemark.formats.html.write import write_html
from parsemark.formats.latex import write_latex
from parsemark.formats.markdown.write import write_markdown
from parsemark.formats.text.write import write_csv
from parsemark.model import Table


def write_table(table: Table, format: str) -> str:
    """The table as text.

    Args:
        table: What to write.
        format: `html`, `markdown`, `latex` or `csv`. What a format cannot say is told in its writer's module.
    """
    if format not in WRITERS:
        raise UnknownNameError("output format", format, list(WRITERS))
    return WRITERS[format](table)


WRITERS = {"html": write_html, "markdown": write_markdown, "latex": write_latex, "csv": write_csv}
"""Format to writer."""
