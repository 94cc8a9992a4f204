"""`pulsebench-tab:DIR`: one table on each page (Pulse).

    DIR/ground_truth/NAME.html    or DIR/NAME.html
    DIR/pdfs/NAME.pdf

PDFs may be missing: then outputs can be imported, not parsed.
"""

from pathlib import Path

from parsemark.corpora import Corpus, Remark
from parsemark.corpora.loaders import (
    SampleIds,
    files_inside,
    first_page_size,
    read_each,
    read_text,
    require_inside,
    table_element,
)
from parsemark.model import Page, Sample
from parsemark_boards.pulsebench.protocol import HTML, TrueTable
from parsemark_boards.reference_pages import benchmark_corpus, find_pdf, whole_table
from parsemark_boards.truth_model import read_truth


def load(root: Path) -> Corpus:
    """Load one table for each file; one that the benchmark could not read is left out."""
    remarks: list[Remark] = []
    folder = root / "ground_truth" if (root / "ground_truth").is_dir() else root
    truths = files_inside(require_inside(root, folder), "*.html", remarks, of="PulseBench-Tab")

    def read(path: Path, ids: SampleIds) -> list[Sample]:
        html = read_truth(read_text(path), TrueTable)
        pdf = find_pdf(root, path.stem)
        table = table_element("0", html=whole_table(html), order=0)
        page = Page(
            ids.make(path.stem), *first_page_size(pdf), (table,), annotation={HTML: html}, only_tables=True
        )
        return [Sample(page.id, path.stem, 1, page, pdf)]

    return benchmark_corpus(
        "pulsebench-tab", read_each(root, truths, read, remarks), root, remarks, "unknown"
    )
