"""`parsemark convert`: tables from one format into another."""

import sys
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from parsemark.errors import FormatError, UsageError
from parsemark.system import write_text


def convert(
    file: Annotated[str, Argument(help="A text file with tables in it, or `-` for standard input.")],
    to: Annotated[str, Option("--to", help="`html`, `markdown`, `latex` or `csv`.")],
    source_format: Annotated[
        str | None,
        Option(
            "--from",
            help="`html`, `markdown`, `grid`, `latex`, `csv`, `tsv` or `plain`; by default it is found out.",
        ),
    ] = None,
    out: Annotated[Path | None, Option("--out", help="Write here instead of standard output.")] = None,
) -> None:
    """Convert every table of a text (HTML, Markdown, LaTeX, CSV, aligned text) into one format.

    Several tables are written one after the other with an empty line between them.

    Example: `parsemark convert page.md --to html`
    """
    from parsemark.formats import read_tables, write_table
    from parsemark.formats.found_table import SUFFIXES

    if source_format is None and (kind := SUFFIXES.get(Path(file).suffix.lower())) in ("csv", "tsv"):
        source_format = kind  # all others are found out
    found = read_tables(_read(file), source_format)
    if not found:
        raise FormatError(
            "There is no table in the text. If there is one, name its format with --from", where=file
        )
    text = "\n\n".join(write_table(f.table, to).rstrip("\n") for f in found) + "\n"
    if out is None:
        sys.stdout.write(text)
        return
    if not out.parent.is_dir():
        raise UsageError(f"Cannot write {out}: there is no folder {out.parent}.")
    write_text(out, text)


def _read(file: str) -> str:
    """The text of a file; no more of it than would be refused anyway."""
    from parsemark.formats.cell_text import decoded
    from parsemark.formats.limits import MAX_CHARS

    most_bytes = 4 * (MAX_CHARS + 1)
    try:
        if file == "-":
            data = sys.stdin.buffer.read(most_bytes)
        else:
            with Path(file).open("rb") as stream:
                data = stream.read(most_bytes)
    except OSError as error:
        raise UsageError(f"Cannot read {file}: {error.strerror or error}.") from error
    if len(data) == most_bytes:  # perhaps cut inside a letter, and refused in any case
        return data.decode("utf-8", errors="replace")
    try:
        return decoded(data).removeprefix("\ufeff")
    except FormatError as error:
        raise FormatError(error.message, position=error.position, where=file) from error
