"""What is installed on this machine that parsemark can use."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shutil
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Installed:
    """One library or program: whether it is here, what it is for, how to get it."""

    name: str
    found: bool
    version: str
    enables: str
    install: str


_EXTRAS = {
    "figures": ("matplotlib", "figures for papers (parsemark figures)"),
    "query": ("duckdb", "SQL over a run (parsemark query)"),
    "ray": ("ray", "runs over many machines (--executor ray)"),
    "calibration": ("sklearn", "calibrated confidences (parsemark calibrate)"),
    "document": ("hotcoco", "layout, METEOR and MathML of whole pages (--protocol document)"),
    "judges": ("aiohttp", "language models as judges (parsemark judge)"),
    "web": ("starlette", "rating and annotating in a browser (parsemark rate, annotate)"),
    "makers": ("typst", "synthetic pages by Typst, browsers and Word (parsemark corpus make)"),
    "lies": ("pikepdf", "lying text layers (parsemark corpus lie)"),
}
"""Extra to the module that shows that it is installed, and what it enables."""
_DISTRIBUTIONS = {"sklearn": "scikit-learn"}
_PROGRAMS = (
    ("pdflatex", "synthetic pages and LaTeX corpora (parsemark corpus make)", "make system"),
    ("pdftotext", "the parser pdftotext", "apt-get install poppler-utils"),
    ("tesseract", "parsers that read scanned pages with Tesseract", "apt-get install tesseract-ocr"),
    ("java", "the parser tabula", "apt-get install default-jre-headless"),
    ("chromium", "the browser tests of the report", "apt-get install chromium"),
    ("latexmlc", "a second opinion on LaTeX tables", "apt-get install latexml"),
)


def everything() -> Iterator[Installed]:
    """The kernel, the optional libraries, the optional programs."""
    from parsemark.kernels import is_native

    native = is_native()
    yield Installed(
        "C++ kernel", native, "", "metrics at full speed", "install a C++ compiler, then reinstall"
    )
    for extra, (module, enables) in _EXTRAS.items():
        found = importlib.util.find_spec(module) is not None
        yield Installed(
            f"[{extra}] {_DISTRIBUTIONS.get(module, module)}",
            found,
            importlib.metadata.version(_DISTRIBUTIONS.get(module, module)) if found else "",
            enables,
            f"pip install 'parsemark[{extra}]'",
        )
    for name, enables, install in _PROGRAMS:
        yield Installed(name, shutil.which(name) is not None, "", enables, install)
