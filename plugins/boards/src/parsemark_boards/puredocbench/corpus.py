"""`puredocbench:DIR`: one annotation in the form of OmniDocBench's for each track.

    DIR/clean.json, DIR/digital.json, DIR/real.json    lists of pages, as the benchmark exports them
    DIR/images/                                        the pages as pictures

Outputs lie in one folder per track: `clean/NAME.md`. Pages of one name are one document on all tracks.
"""

from dataclasses import replace
from pathlib import Path

from parsemark.corpora import Corpus
from parsemark.corpora.loaders import require_inside
from parsemark.errors import CorpusError
from parsemark.model import Sample
from parsemark_boards.omnidocbench_pages import omnidocbench_samples, with_attributes
from parsemark_boards.puredocbench.protocol import TRACK, TRACKS


def load(root: Path) -> Corpus:
    """Load PureDocBench: the same pages clean, digitally degraded and photographed.

    Tracks without a file are left out.
    """
    files = {track: root / f"{track}.json" for track in TRACKS}
    files = {track: require_inside(root, file) for track, file in files.items() if file.is_file()}
    there = {track: omnidocbench_samples(file) for track, file in files.items()}
    if not there:
        names = ", ".join(f"{track}.json" for track in TRACKS)
        raise CorpusError(f"{root} has none of {names}. Is this PureDocBench?")
    samples = [_sample(sample, track) for track, corpus in there.items() for sample in corpus.samples()]
    remarks = [remark for corpus in there.values() for remark in corpus.remarks]
    return Corpus.of("puredocbench", samples, root=root, version="1.1", licence="CC-BY-4.0", remarks=remarks)


def _sample(sample: Sample, track: str) -> Sample:
    name = Path(sample.aliases[-1]).stem
    identifier = f"{track}-{sample.id}"
    truth = None if sample.truth is None else replace(sample.truth, id=identifier)
    own = replace(sample, id=identifier, document=name, truth=truth, aliases=(f"{track}/{name}",))
    return with_attributes(own, **{TRACK: track})
