"""`dp-bench:DIR`: elements of single pages (Upstage).

    DIR/reference.json    or dataset/reference.json
    DIR/pdfs/ID.pdf       beside it

PDFs may be missing (upstream keeps them in Git LFS): then outputs can be imported, not parsed. Prediction
files of the benchmark, which have the form of `reference.json`, are read as outputs.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from parsemark.corpora import Corpus, Remark
from parsemark.corpora.loaders import SampleIds, read_each
from parsemark.errors import CorpusError, FormatError
from parsemark.model import Sample
from parsemark_boards.dp_bench.truth import PAGE, DpBenchPage
from parsemark_boards.reference_pages import (
    ReferencePage,
    benchmark_corpus,
    misplaced,
    page_sample,
    raw_element,
    read_reference,
)
from parsemark_boards.truth_model import read_truth


def load(root: Path) -> Corpus:
    """Load DP-Bench: pages with text, tables and boxes.

    Pages that the benchmark's own program cannot read are left out.
    """
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
    corpus = benchmark_corpus("dp-bench", samples, root, remarks, "MIT")
    return replace(corpus, read_outputs=read_outputs)


def read_outputs(path: Path) -> dict[str, dict[str, Any]]:
    """Return the pages of one of the benchmark's prediction files, by their documents, as raw outputs.

    Raises:
        FormatError: The benchmark refuses the file.
    """
    try:
        pages = read_reference(path.parent, path)
    except CorpusError as error:
        raise FormatError(str(error)) from error
    if not pages:
        raise FormatError("the file has no pages")
    found = {}
    for name, page in pages.items():
        try:
            elements = read_truth(page, ReferencePage).elements
        except CorpusError as error:
            raise FormatError(f"{name}: {error}") from error
        raw = [raw_element(element, number) for number, element in enumerate(elements)]
        found[name.removesuffix(".pdf")] = {"format": "elements", "elements": raw}
    return found
