"""`rd-tablebench:DIR`: one table on each page (Reducto).

    DIR/groundtruth/NAME.html
    DIR/pdfs/NAME.pdf

PDFs may be missing (upstream keeps them in Git LFS): then outputs can be imported, not parsed.
"""

from pathlib import Path

from parsemark.corpora import Corpus, Remark
from parsemark.corpora.loaders import SampleIds, files_inside, read_each, read_text
from parsemark.model import Sample
from parsemark_boards.rd_tablebench.protocol import HTML
from parsemark_boards.reference_pages import benchmark_corpus, page_sample


def load(root: Path) -> Corpus:
    """Load RD-TableBench: one table for each file."""
    remarks: list[Remark] = []
    folder = root / "rd-tablebench" if (root / "rd-tablebench").is_dir() else root
    truths = files_inside(folder / "groundtruth", "*.html", remarks, of="RD-TableBench")

    def read(path: Path, ids: SampleIds) -> list[Sample]:
        html = read_text(path)
        data = {"elements": [{"category": "Table", "content": {"html": html}}]}
        return [page_sample(path.stem, folder, data, {HTML: html}, ids, only_tables=True)]

    return benchmark_corpus("rd-tablebench", read_each(root, truths, read, remarks), root, remarks, "unknown")
