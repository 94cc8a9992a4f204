"""Makes the demo corpus that is shipped with the package: pages of all makers.

To make it anew after a change of one of them:

    python -m parsemark.corpora.make_demo src/parsemark/corpora/demo
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from parsemark.corpora.files import write_manifest
from parsemark.corpora.latex.synthetic.make import make_synthetic
from parsemark.corpora.latex.synthetic.options import SyntheticOptions
from parsemark.corpora.schema import CorpusFile
from parsemark.corpora.synthetic.language import LANGUAGES, vocabulary
from parsemark.corpora.synthetic.make import StoryOptions, make_stories

SEED = 3
LATEX = SyntheticOptions(
    pages=17,
    seed=SEED,
    name="demo",
    empty=1 / 3,
    long=0.1,
    document_pages=2,
    rotated=0.15,
    french=0.3,
    lines={"full": 0.25, "booktabs": 0.3, "partial": 0.2, "none": 0.25},
    edition=1,
)
FROM_THE_LEFT = tuple(language for language in LANGUAGES if not vocabulary(language).right_to_left)
"""Parsers differ in which column of an Arabic table is the first; the demo does not judge that."""
STORIES = (
    StoryOptions("typst", 17, SEED, "demo-typst", FROM_THE_LEFT, ("report", "statement"), 0.4, 0.0),
    StoryOptions("html", 14, SEED, "demo-web", ("english", "french"), document_pages=0.5, long=0.2),
    StoryOptions("docx", 12, SEED, "demo-word", ("english", "french"), document_pages=0.5, long=0.2),
)


def make_demo(out: Path, stories: Sequence[StoryOptions] = STORIES) -> CorpusFile:
    """Make the pages of LaTeX and of other makers, and put them into one folder."""
    shutil.rmtree(out, ignore_errors=True)
    settings = {"latex": LATEX.settings(), **{options.maker: options.settings() for options in stories}}
    with tempfile.TemporaryDirectory(prefix="parsemark-") as work:
        make_synthetic(LATEX, Path(work) / "latex")
        for options in stories:
            make_stories(options, Path(work) / options.maker)
        for part in settings:
            for folder in ("pdfs", "truth"):
                shutil.copytree(Path(work) / part / folder, out / folder, dirs_exist_ok=True)
    return write_manifest(
        out,
        name="demo",
        licence="CC0-1.0",
        description="Synthetic pages with exact truth, made with LaTeX, Typst, Chromium and LibreOffice.",
        generator="parsemark demo 2",
        seed=SEED,
        settings=settings,
    )


if __name__ == "__main__":
    make_demo(Path(sys.argv[1]))
