"""What can be said of a parser's outputs without any other parser: does the page have what they say?

Three signals for each page: the share of the tables' words that the text layer of the page does not have
(invented, or misread), the share of table rows that say something in one cell at most (torn rows, prose taken
for a table), and the share of the words seen on the page that are lost or altered (see the protocol
`evidence`). None needs truth, and copies of a parser change none.
"""

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from parsemark.corpora import Corpus
from parsemark.errors import PdfError
from parsemark.formats.notation import fold_notation
from parsemark.matching.page_evidence import compare, gives_tables_alone
from parsemark.matching.tables import is_positive
from parsemark.model import Prediction, Status, Table
from parsemark.pdf import SeenPage, page_text, seen_page
from parsemark.pdf.page_kinds import MIN_LAYER
from parsemark.stats.detection import ratio

Floats = NDArray[np.float64]
T = TypeVar("T")

_RAGGED_WEIGHT = 0.5  # a torn row still says what it says
_LOST_WEIGHT = 0.5  # of words that a parser of tables has lost: it may have been right to leave out a line
_SCRIPTS = dict.fromkeys(map(ord, "^_{}$\\"))


@dataclass(frozen=True)
class Plausibility:
    """By parser, the first two as means over the pages; NaN where no page tells."""

    invented: Floats  # share of the words in tables that the page does not have
    ragged: Floats  # share of the rows of tables with one filled cell at most
    lost: Floats
    """Share of the words seen on all pages (inside of its tables, where it gives nothing else) that it has
    lost or altered: the figures of that name of the protocol `evidence`, added up."""

    def trust(self, *, text: bool = False) -> Floats:
        """Return the weight of a guess from agreement (in whole `text`s, or tables): less where the page
        contradicts it.
        """
        lost = np.nan_to_num(self.lost)
        if text:
            return np.asarray(1 - lost, dtype=np.float64)
        trust = (1 - np.nan_to_num(self.invented)) * (1 - _RAGGED_WEIGHT * np.nan_to_num(self.ragged))
        return np.asarray(trust * (1 - _LOST_WEIGHT * lost), dtype=np.float64)


def layer_texts(corpus: Corpus, samples: Sequence[str]) -> dict[str, str]:
    """Return the text layers of pages that have one."""
    return {key: text for key, text in _readable(corpus, samples, page_text) if len(text) >= MIN_LAYER}


def seen_pages(corpus: Corpus, samples: Sequence[str]) -> dict[str, SeenPage]:
    """Return the visible content of pages whose text layers are reliable."""
    return {key: page for key, page in _readable(corpus, samples, seen_page) if page.source != "none"}


def _readable(
    corpus: Corpus, samples: Sequence[str], read: Callable[[Path, int], T]
) -> Iterator[tuple[str, T]]:
    """Yield the visible content of the page of each sample whose file is readable."""
    for key in samples:
        sample = corpus.read(key)
        try:
            found = None if sample.pdf is None else read(sample.pdf, sample.page_number)
        except (PdfError, OSError):
            continue
        if found is not None:
            yield key, found


def measure_plausibility(
    predictions: Mapping[tuple[str, str], Prediction],
    parsers: Sequence[str],
    samples: Sequence[str],
    layers: Mapping[str, str],
    seen: Mapping[str, SeenPage] | None = None,
) -> Plausibility:
    """Return the signals of each parser; a prediction that is missing or failed says nothing. Text layers
    (`layer_texts`) and what can be seen on pages (`seen_pages`) are given by sample.
    """
    known = {sample: _squeeze(text) for sample, text in layers.items()}
    invented = np.full((len(parsers), len(samples)), np.nan)
    ragged, words = invented.copy(), np.zeros((len(parsers), 2))  # lost or altered, and all
    for i, parser in enumerate(parsers):
        answers = [(k, sample, predictions.get((sample, parser))) for k, sample in enumerate(samples)]
        given = [(k, sample, p) for k, sample, p in answers if p is not None and p.status is Status.OK]
        finds_tables_alone = all(gives_tables_alone(prediction) for _, _, prediction in given)
        for k, sample, prediction in given:
            # If such a parser finds no table, it is not required to have words.
            if seen and sample in seen and (prediction.elements or not finds_tables_alone):
                counts = compare(seen[sample], prediction).counts
                words[i] += counts["lost"] + counts["altered"], counts["words"]
            elements = [e for e in prediction.tables if is_positive(e.confidence)]
            tables = [e.table for e in elements if e.table is not None and e.table.cells]
            if tables:
                ragged[i, k] = _ragged(tables)
            if tables and sample in known:
                invented[i, k] = _invented(tables, known[sample])
    return Plausibility(_means(invented), _means(ragged), ratio(words[:, 0], words[:, 1]))


def _means(values: Floats) -> Floats:
    counts = (~np.isnan(values)).sum(axis=1)
    return np.where(counts > 0, np.nansum(values, axis=1) / np.maximum(counts, 1), np.nan)


def _squeeze(text: str) -> str:
    folded = unicodedata.normalize("NFKC", fold_notation(text)).translate(_SCRIPTS).casefold()
    return "".join(c for c in folded if c.isalnum())


def _invented(tables: Sequence[Table], layer: str) -> float:
    words = [w for t in tables for c in t.cells for part in c.text.split() if (w := _squeeze(part))]
    return sum(word not in layer for word in words) / len(words) if words else 0.0


def _ragged(tables: Sequence[Table]) -> float:
    rows = poor = 0
    for table in tables:
        filled = [0] * table.n_rows
        for cell in table.cells:
            # A cell over several columns is a heading, no torn row.
            filled[cell.row] += (2 if cell.colspan > 1 else 1) if cell.text.strip() else 0
        rows += table.n_rows if table.n_cols > 1 else 0
        poor += sum(n <= 1 for n in filled) if table.n_cols > 1 else 0
    return poor / rows if rows else 0.0
