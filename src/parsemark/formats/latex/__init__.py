"""LaTeX tables and cell text, read without TeX."""

from parsemark.formats.latex.definitions import read_definitions
from parsemark.formats.latex.special import latex_to_text
from parsemark.formats.latex.table import find_latex_tables, read_latex_table
from parsemark.formats.latex.writer import write_latex

__all__ = ["find_latex_tables", "latex_to_text", "read_definitions", "read_latex_table", "write_latex"]
