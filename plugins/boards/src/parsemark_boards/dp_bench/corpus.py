"""`dp-bench:DIR`: elements of single pages (Upstage).

    DIR/reference.json    or dataset/reference.json
    DIR/pdfs/ID.pdf       beside it

PDFs may be missing (upstream keeps them in Git LFS): then outputs can be imported, not parsed.
"""

from pathlib import Path

from parsemark.corpora import Corpus, Remark
from parsemark.corpora.loaders import SampleIds, read_each
from parsemark.errors import CorpusError
from parsemark.model import Sample
from parsemark_boards.dp_bench.truth import PAGE, DpBenchPage
from parsemark_boards.reference_pages import benchmark_corpus, misplaced, page_sample, read_reference
from parsemark_boards.truth_model import read_truth


def load(root: Path) -> Corpus:
    """Load the pages of `reference.json`; one that the benchmark could not read is left out."""
    remarks: list[Remark] = []
    folder = root / "dataset" if (root / "dataset" / "reference.json").is_file() else root
    path = folder / "reference.json"
    if not path.is_file():
        raise CorpusError(f"{root} has no reference.json. Is this DP-Bench?")
    pages = read_reference(root, path)

    def read(place: Path, ids: SampleIds) -> list[Sample]:
        data = pages[place.name]
        page = read_truth(data, DpBenchPage)
        remarks.extend(misplaced(place.name, data, page))
        kept = [{"category": e["category"], "content": dict(e["content"])} for e in data["elements"]]
        return [page_sample(place.name.removesuffix(".pdf"), folder, page, {PAGE: {"elements": kept}}, ids)]

    samples = read_each(root, [path / name for name in pages], read, remarks)
    return benchmark_corpus("dp-bench", samples, root, remarks, "MIT")
