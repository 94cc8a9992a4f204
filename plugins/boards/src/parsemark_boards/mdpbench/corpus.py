"""`mdpbench:FILE`: pages in the form of OmniDocBench's annotation, named after language and capture.

    FILE       a list of pages, or a folder with one such file
    images/    beside it: the pages as pictures

The id of a page is its picture's name without extension. It begins with the language; an id of three parts
between "_" is a digital page, one of more parts a photograph of the page that its first three parts name.
"""

from dataclasses import replace
from pathlib import Path

from parsemark.corpora import Corpus
from parsemark.model import Sample
from parsemark_boards.mdpbench.protocol import CAPTURE, LANGUAGE, capture_of, language_of
from parsemark_boards.omnidocbench_pages import omnidocbench_samples, with_attributes


def load(path: Path) -> Corpus:
    """Load MDPBench: pages in seventeen languages, digital and photographed.

    Photographs and the page that they show count as one document.
    """
    corpus = omnidocbench_samples(path)
    samples = [_sample(sample) for sample in corpus.samples()]
    return Corpus.of(
        "mdpbench", samples, root=corpus.root, version="1", licence="unknown", remarks=corpus.remarks
    )


def _sample(sample: Sample) -> Sample:
    page = page_id(sample)
    document = "_".join([part for part in page.split("_") if part][:3])
    own = replace(sample, document=document, aliases=(page,))
    return with_attributes(own, **{LANGUAGE: language_of(page), CAPTURE: capture_of(page)})


def page_id(sample: Sample) -> str:
    """Return the name of a page's picture without its extension."""
    return Path(sample.aliases[-1]).stem
