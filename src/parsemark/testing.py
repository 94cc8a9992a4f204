"""Help for tests of plug-ins: small corpora, and figures that must stay the same."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from parsemark.corpora import Corpus, load_corpus
from parsemark.corpora.files import write_manifest, write_page
from parsemark.engine.import_outputs import import_predictions
from parsemark.engine.scoring.score import score_run
from parsemark.model import Sample


def write_corpus(root: Path, samples: Iterable[Sample], *, name: str = "test") -> Corpus:
    """Write samples as a corpus in parsemark's format and load it; their PDFs must lie in `root/pdfs`."""
    for sample in samples:
        write_page(root, sample, None if sample.pdf is None else f"pdfs/{sample.pdf.name}")
    write_manifest(root, name=name)
    return load_corpus(root)


def figures_of(
    outputs: Path, specs: Sequence[str], folder: Path, *, corpus: str = "demo"
) -> dict[str, dict[str, Any]]:
    """Score outputs of parsers and return what each protocol makes of them, to be stored and compared.

    The same outputs must get the same figures for as long as a protocol has the same comparability number.

    Args:
        outputs: A folder for each parser with a file for each page, named after the page.
        specs: The protocols.
        folder: Where to make the run.
        corpus: The corpus that has these pages.

    Returns:
        Spec to its `comparability` and `figures`: parser to figure to value, those that are defined.
    """
    loaded, parsers = load_corpus(corpus), sorted(path for path in outputs.iterdir() if path.is_dir())
    pages = ",".join(sorted({path.stem for parser in parsers for path in parser.iterdir()}))
    for parser in parsers:
        run = import_predictions(folder / "run", loaded, parser, pages=pages, protocols=tuple(specs))
    return {
        summary.protocol: {
            "comparability": summary.comparability,
            "figures": {
                parser: {n: round(f.value, 9) for n, f in sorted(figures.items()) if f.value is not None}
                for parser, figures in sorted(summary.parsers.items())
            },
        }
        for summary in score_run(run, n_workers=1)
    }
