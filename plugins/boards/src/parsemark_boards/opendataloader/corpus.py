"""`opendataloader-bench:DIR`: Markdown of single pages.

    DIR/ground-truth/markdown/ID.md
    DIR/ground-truth/reference.json    elements, where there are any
    DIR/pdfs/ID.pdf

PDFs may be missing (upstream keeps them in Git LFS): then outputs can be imported, not parsed.
"""

from pathlib import Path

from parsemark.corpora import Corpus, Remark
from parsemark.corpora.loaders import SampleIds, files_inside, read_each, read_text, require_inside
from parsemark.model import Sample
from parsemark_boards.opendataloader.protocol import MARKDOWN, TrueMarkdown
from parsemark_boards.reference_pages import (
    ReferencePage,
    benchmark_corpus,
    misplaced,
    page_sample,
    read_reference,
)
from parsemark_boards.truth_model import read_truth


def load(root: Path) -> Corpus:
    """Load opendataloader-bench: the true Markdown of each page.

    Pages that are in `reference.json` also have elements.

    A page that the benchmark could not read is left out.
    """
    remarks: list[Remark] = []
    folder = root / "ground-truth"
    markdown = require_inside(root, folder / "markdown")
    truths = files_inside(markdown, "*.md", remarks, of="opendataloader-bench")
    reference = folder / "reference.json"
    pages = read_reference(root, reference) if reference.is_file() else {}
    if reference.is_file() and not any(f"{path.stem}.pdf" in pages for path in truths):
        why = "lists none of these pages, so their tables and layout are unknown: is it complete?"
        remarks.append(Remark("ground-truth/reference.json", why, left_out=False))

    def read(path: Path, ids: SampleIds) -> list[Sample]:
        markdown = read_text(path).replace("\r\n", "\n").replace("\r", "\n")
        annotation = {MARKDOWN: read_truth(markdown, TrueMarkdown)}
        data = pages.get(f"{path.stem}.pdf")
        page = None if data is None else read_truth(data, ReferencePage)
        remarks.extend([] if data is None or page is None else misplaced(path.name, data, page))
        return [page_sample(path.stem, root, page, annotation, ids)]

    return benchmark_corpus(
        "opendataloader-bench", read_each(root, truths, read, remarks), root, remarks, "MIT"
    )
