"""`pulsebench-tab:DIR`: one table on each page (Pulse).

    DIR/ground_truth/NAME.html    or DIR/NAME.html
    DIR/pdfs/NAME.pdf

PDFs may be missing: then outputs can be imported, not parsed.
"""

from pathlib import Path

from parsemark.corpora import Corpus
from parsemark_boards.pulsebench.protocol import HTML, TrueTable
from parsemark_boards.reference_pages import one_table_corpus


def load(root: Path) -> Corpus:
    """Load PulseBench-Tab: pages with one table each."""
    truths = root / "ground_truth" if (root / "ground_truth").is_dir() else root
    return one_table_corpus("pulsebench-tab", "PulseBench-Tab", root, truths, root, (HTML, TrueTable))
