"""`rd-tablebench:DIR`: one table on each page (Reducto).

    DIR/groundtruth/NAME.html
    DIR/pdfs/NAME.pdf

PDFs may be missing (upstream keeps them in Git LFS): then outputs can be imported, not parsed.
"""

from pathlib import Path

from parsemark.corpora import Corpus
from parsemark_boards.rd_tablebench.protocol import HTML, TrueTable
from parsemark_boards.reference_pages import one_table_corpus


def load(root: Path) -> Corpus:
    """Load RD-TableBench: pages with one table each."""
    folder = root / "rd-tablebench" if (root / "rd-tablebench").is_dir() else root
    return one_table_corpus(
        "rd-tablebench", "RD-TableBench", root, folder / "groundtruth", folder, (HTML, TrueTable)
    )
