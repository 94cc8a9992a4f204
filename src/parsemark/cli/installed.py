"""What is installed on this machine that parsemark can use."""

from __future__ import annotations

import importlib.metadata
import shutil
from collections.abc import Iterator
from dataclasses import dataclass

from parsemark.extras import DISTRIBUTIONS, EXTRAS, is_installed


@dataclass(frozen=True, slots=True)
class Installed:
    """One library or program: whether it is here, what it is for, how to get it."""

    name: str
    found: bool
    version: str
    enables: str
    install: str


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
    for extra in EXTRAS:
        absent = [module for module in extra.modules if not is_installed(module)]
        package = DISTRIBUTIONS.get(extra.modules[0], extra.modules[0])
        shown = ", ".join(DISTRIBUTIONS.get(module, module) for module in absent) or package
        version = "" if absent else importlib.metadata.version(package)
        yield Installed(f"[{extra.name}] {shown}", not absent, version, extra.enables, extra.install)
    for name, enables, install in _PROGRAMS:
        yield Installed(name, shutil.which(name) is not None, "", enables, install)
