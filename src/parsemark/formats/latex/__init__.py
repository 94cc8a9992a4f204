"""LaTeX tables and cell text, read without TeX."""

from parsemark.formats.latex.commands import COMMANDS, SIGNATURES, by_name
from parsemark.formats.latex.definitions import Definition, expand, read_definitions
from parsemark.formats.latex.environments import find_environments
from parsemark.formats.latex.grid import TexGrid, read_grid, select_rows
from parsemark.formats.latex.printer import fraction
from parsemark.formats.latex.scanner import LatexSource, TokenKind
from parsemark.formats.latex.special import latex_to_text
from parsemark.formats.latex.symbols import ACCENT_SIGNS, accented
from parsemark.formats.latex.table import (
    PlacedTable,
    Slot,
    find_latex_tables,
    place_table,
    print_cells,
    read_latex_table,
)
from parsemark.formats.latex.writer import write_latex

__all__ = [
    "ACCENT_SIGNS", "COMMANDS", "SIGNATURES", "Definition", "LatexSource", "PlacedTable", "Slot", "TexGrid",
    "TokenKind", "accented", "by_name", "expand", "find_environments", "find_latex_tables", "fraction",
    "latex_to_text", "place_table", "print_cells", "read_definitions", "read_grid", "read_latex_table",
    "select_rows", "write_latex",
]  # fmt: skip
