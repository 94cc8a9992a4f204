"""`opendataloader-bench:DIR`: Markdown of single pages.

    DIR/ground-truth/markdown/ID.md
    DIR/ground-truth/reference.json    elements, where there are any
    DIR/pdfs/ID.pdf

PDFs may be missing (upstream keeps them in Git LFS): then outputs can be imported, not parsed.
"""

from pathlib import Path

from parsemark.corpora import Corpus, Remark
from parsemark.corpora.loaders import SampleIds, files_inside, read_each, read_text
from parsemark.model import Sample
from parsemark_boards.opendataloader.protocol import MARKDOWN
from parsemark_boards.reference_pages import benchmark_corpus, page_sample, read_reference


def load(root: Path) -> Corpus:
    """Load opendataloader-bench: each page's Markdown, with its elements where `reference.json` has them."""
    remarks: list[Remark] = []
    folder = root / "ground-truth"
    truths = files_inside(folder / "markdown", "*.md", remarks, of="opendataloader-bench")
    reference = folder / "reference.json"
    pages = read_reference(reference) if reference.is_file() else {}

    def read(path: Path, ids: SampleIds) -> list[Sample]:
        annotation = {MARKDOWN: read_text(path).replace("\r\n", "\n").replace("\r", "\n")}
        return [page_sample(path.stem, root, pages.get(f"{path.stem}.pdf"), annotation, ids)]

    return benchmark_corpus(
        "opendataloader-bench", read_each(root, truths, read, remarks), root, remarks, "MIT"
    )
