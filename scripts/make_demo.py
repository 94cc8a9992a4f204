"""Makes a demo corpus: pages of all renderers.

    python scripts/make_demo.py FOLDER

The corpus that the package ships was drawn by earlier generators (`demo 2`) and stays as it is, because
results on it are quoted in many places: this makes other pages of the same kinds, not those.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import parsemark as pm
from parsemark.corpora.making import CorpusFile, write_manifest
from parsemark_makers.synthetic import Docx, Html, Synthetic, Typst
from parsemark_makers.synthetic.language import LANGUAGES, vocabulary
from parsemark_makers.synthetic.make import DocumentMaker

SEED = 3
LINES = ("full:0.25", "booktabs:0.3", "partial:0.2", "none:0.25")
FROM_THE_LEFT = tuple(language for language in LANGUAGES if not vocabulary(language).right_to_left)
"""Parsers differ in which column of an Arabic table is the first; the demo does not judge that."""
SHORT = {"document_pages": 0.5, "long": 0.2}
PARTS: tuple[DocumentMaker, ...] = (
    Synthetic(
        pages=17,
        seed=SEED,
        name="demo",
        empty=1 / 3,
        long=0.1,
        document_pages=2,
        rotated=0.15,
        french=0.3,
        lines=LINES,
    ),
    Typst(
        pages=17,
        seed=SEED,
        name="demo-typst",
        languages=FROM_THE_LEFT,
        kinds=("report", "statement"),
        document_pages=0.4,
        long=0.0,
    ),
    Html(pages=14, seed=SEED, name="demo-web", **SHORT),
    Docx(pages=12, seed=SEED, name="demo-word", **SHORT),
)


def make_demo(out: Path) -> CorpusFile:
    """Make the pages of all renderers and put them into one folder."""
    with tempfile.TemporaryDirectory(prefix="parsemark-") as work:
        for maker in PARTS:
            part = Path(work) / maker.renderer
            pm.corpus_make(maker, part)
            for folder in ("pdfs", "truth"):
                shutil.copytree(part / folder, out / folder, dirs_exist_ok=True)
    return write_manifest(
        out,
        name="demo",
        licence="CC0-1.0",
        description="Synthetic pages with exact truth, made with LaTeX, Typst, Chromium and LibreOffice.",
        generator="parsemark demo 3",
        seed=SEED,
        settings={maker.renderer: maker.settings() for maker in PARTS},
    )


if __name__ == "__main__":
    make_demo(Path(sys.argv[1]))
