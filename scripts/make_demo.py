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

from parsemark.corpora.files import write_manifest
from parsemark.corpora.schema import CorpusFile
from parsemark.corpora.synthetic.language import LANGUAGES, vocabulary
from parsemark.corpora.synthetic.make import make_synthetic
from parsemark.corpora.synthetic.options import DocumentOptions, Options, SyntheticOptions

SEED = 3
LINES = {"full": 0.25, "booktabs": 0.3, "partial": 0.2, "none": 0.25}
FROM_THE_LEFT = tuple(language for language in LANGUAGES if not vocabulary(language).right_to_left)
"""Parsers differ in which column of an Arabic table is the first; the demo does not judge that."""
PARTS: tuple[Options, ...] = (
    SyntheticOptions(
        17, SEED, "demo", empty=1 / 3, long=0.1, document_pages=2, rotated=0.15, french=0.3, lines=LINES
    ),
    DocumentOptions("typst", 17, SEED, "demo-typst", FROM_THE_LEFT, ("report", "statement"), 0.4, 0.0),
    DocumentOptions("html", 14, SEED, "demo-web", ("english", "french"), document_pages=0.5, long=0.2),
    DocumentOptions("docx", 12, SEED, "demo-word", ("english", "french"), document_pages=0.5, long=0.2),
)


def make_demo(out: Path) -> CorpusFile:
    """Make the pages of all renderers and put them into one folder."""
    with tempfile.TemporaryDirectory(prefix="parsemark-") as work:
        for options in PARTS:
            part = Path(work) / options.renderer
            make_synthetic(options, part)
            for folder in ("pdfs", "truth"):
                shutil.copytree(part / folder, out / folder, dirs_exist_ok=True)
    return write_manifest(
        out,
        name="demo",
        licence="CC0-1.0",
        description="Synthetic pages with exact truth, made with LaTeX, Typst, Chromium and LibreOffice.",
        generator="parsemark demo 3",
        seed=SEED,
        settings={options.renderer: options.settings() for options in PARTS},
    )


if __name__ == "__main__":
    make_demo(Path(sys.argv[1]))
