"""LaTeX source to clean text."""

from __future__ import annotations

from parsemark.formats.cell_text import clean_limited
from parsemark.formats.latex.definitions import expand, read_definitions
from parsemark.formats.latex.printer import Printer
from parsemark.formats.latex.scanner import LatexSource
from parsemark.formats.latex.special import SPECIAL


def latex_to_text(source: str, *, math: bool = False) -> str:
    r"""The text that a piece of LaTeX shows.

    Args:
        source: Any LaTeX that may stand in a cell or a line.
        math: Whether the source is in math mode already (a formula without its dollars).

    Raises:
        FormatError: The source is over a limit of `parsemark.formats.limits`.

    >>> latex_to_text(r"\textbf{0.72} $\pm\,0.03$ m$^{2}$")
    '0.72 ± 0.03 m^2'
    """
    scanned = LatexSource(expand(source, read_definitions(source)))
    return clean_limited(Printer(scanned, SPECIAL).print(scanned.whole, math))
