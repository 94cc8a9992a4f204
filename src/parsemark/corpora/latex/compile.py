"""The old place of `parsemark.system.pdflatex`; kept while branches that import it are open."""

from parsemark.system.pdflatex import (
    REPRODUCIBLE,
    Compiled,
    Limits,
    compile_latex,
    precompiled,
    require_pdflatex,
)

__all__ = ["REPRODUCIBLE", "Compiled", "Limits", "compile_latex", "precompiled", "require_pdflatex"]
