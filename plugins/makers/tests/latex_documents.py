"""Makes corpora from LaTeX documents for tests."""

from pathlib import Path

from parsemark import corpus_make
from parsemark_makers.latex.documents.make import REPORT, Latex, Report


def make_documents(source: Path, out: Path) -> Report:
    """Make a corpus and return its report."""
    corpus_make(Latex(), out, sources=[source], workers=1)
    return Report.model_validate_json((out / REPORT).read_text(encoding="utf-8"))
