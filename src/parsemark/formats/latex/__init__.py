"""LaTeX tables and cell text, read without TeX."""

from parsemark.formats.latex.table import find_latex_tables, read_latex_table
from parsemark.formats.latex.text import latex_to_text

__all__ = ["find_latex_tables", "latex_to_text", "read_latex_table"]
