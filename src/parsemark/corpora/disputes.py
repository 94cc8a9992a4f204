"""Elements whose truth a reader of a report called wrong: the file that the page viewer writes."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from parsemark.corpora.loaders.files import read_model
from parsemark.errors import CorpusError

_Text = Annotated[str, Field(max_length=2_000)]


class Dispute(BaseModel):
    """One element of a page, or the whole page, and what is wrong with its truth."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sample: Annotated[str, Field(min_length=1, max_length=1_000)]
    element: _Text = ""  # empty for the whole page
    what: _Text = ""

    def __str__(self) -> str:
        place = f"{self.sample}, {self.element}" if self.element else self.sample
        return f"{place}: {self.what or 'the truth is wrong'}"


class _DisputeFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    corpus: str  # name and version
    hash: str  # of the corpus whose truth is meant
    disputes: list[Dispute]


def read_disputes(path: Path, samples: Iterable[str] | None = None) -> Sequence[Dispute]:
    """Return the disputes of a file; CorpusError if it is damaged, or names a page not in `samples`."""
    disputes = read_model(path, _DisputeFile).disputes
    known = None if samples is None else set(samples)
    for dispute in disputes:
        if known is not None and dispute.sample not in known:
            raise CorpusError(f"{path}: the corpus has no page {dispute.sample!r}.")
    return disputes
