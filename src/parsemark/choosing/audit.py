"""Errors in a truth, found by the parsers: cells where independent parsers agree against it.

A truth is made by people, or by programs of people. Where families of parsers that make their errors apart
from each other read one text in a cell and the truth says another, the truth is worth a look. Agreement is
counted in families (`ParserAgreement.families`), so a clone adds nothing; and the text layer of the PDF
is a witness of its own.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz.distance import LCSseq, Levenshtein

from parsemark.consensus.agreement import measure_agreement
from parsemark.corpora import Corpus
from parsemark.engine.scoring.disputed import WithoutDisputed
from parsemark.errors import PdfError, UsageError
from parsemark.formats.notation import compact, fold_notation
from parsemark.kernels import kernel
from parsemark.kernels.assignment import linear_sum_assignment
from parsemark.metrics import get_metric
from parsemark.metrics.table_input import TableInput
from parsemark.model import HOLE, Box, Cell, Page, Prediction, Sample, Status, Table
from parsemark.pdf import Glyph, page_glyphs, page_text
from parsemark.store import Run

MIN_FAMILIES = 2  # so many must agree against the truth
FAMILY_PAGES = 40  # pages from which families are found
SLIPS = 0.15  # share of a cell's characters, and at least one, that may differ from what is printed there
MIN_LIKENESS = 0.3  # GriTS-Con from which on a predicted table is taken for an answer to a truth at all
_SCRIPTS = dict.fromkeys(map(ord, "^_{}$"))
_Readings = Mapping[int, list[tuple[str, str]]]  # of a cell: family to its parsers, and what they read


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A cell whose truth the parsers contradict."""

    sample: str
    element: str
    row: int
    col: int
    truth: str
    consensus: str  # what they read there
    against: tuple[str, ...]  # parsers that read `consensus`, one of each family
    for_truth: tuple[str, ...]  # parsers that read what the truth says, one of each family
    n_families: int  # how many families have an aligned cell at all
    in_text_layer: bool | None
    """Whether the page's text has the consensus but not the truth; None without a text layer."""

    @property
    def strength(self) -> float:
        """Return the share of families against the truth, less those for it, from 0 to 1; the text layer
        votes.
        """
        votes = len(self.against) - len(self.for_truth) + (1 if self.in_text_layer else 0)
        return max(votes, 0) / (self.n_families + (self.in_text_layer is not None))


def audit_page(
    page: Page,
    predictions: Mapping[str, Prediction],
    families: Sequence[Sequence[str]],
    layer_text: str | None = None,
    glyphs: Sequence[Glyph] = (),
) -> list[Suspicion]:
    """Return the suspicious cells of one page, in its order; `families` are of dependent parsers
    (`Agreement.families`). Where the truth has boxes of cells, `glyphs` (characters with places) tell what is
    printed inside.
    """
    family_of = {name: k for k, members in enumerate(families) for name in members}
    answers = {
        parser: [e.table for e in prediction.tables if e.table is not None]
        for parser, prediction in predictions.items()
        if prediction.status is Status.OK and parser in family_of
    }
    layer = None if layer_text is None else compact(layer_text)
    printed = _Print(glyphs)
    found: list[Suspicion] = []
    truths = [(e.id, e.table) for e in page.tables if e.table is not None]
    readings: dict[tuple[int, int, int], _Readings] = defaultdict(lambda: defaultdict(list))
    for parser, tables in answers.items():
        for index, pred in _answers([table for _, table in truths], tables):
            for place, text in aligned_texts(truths[index][1], pred):
                readings[index, *place][family_of[parser]].append((parser, text))
    for index, (element, table) in enumerate(truths):
        for cell in table.cells:
            inside = None if cell.box is None or not glyphs else printed.inside(cell.box)
            suspicion = _judge(cell.text, readings[index, cell.row, cell.col], layer, inside)
            if suspicion is not None:
                found.append(Suspicion(page.id, element, cell.row, cell.col, cell.text, *suspicion))
    return found


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit of a corpus found."""

    suspicions: tuple[Suspicion, ...]  # the strongest first
    n_pages: int
    n_cells: int
    families: tuple[tuple[str, ...], ...]
    disputed: WithoutDisputed | None = None  # scores without disputed truths, where a file of them is given


def audit_run(corpus: Corpus, run: Run, progress: Callable[[int], None] | None = None) -> Audit:
    """Audit the truth of a corpus by what the parsers of a run made of its pages."""
    samples = [key for key in corpus.keys if key in set(run.table("samples")["sample"])]
    parsers = sorted({record.parser for record in run.records()})
    if not samples or len(parsers) < MIN_FAMILIES:
        raise UsageError(
            f"{run.path} must contain pages of {corpus.name} from at least {MIN_FAMILIES} parsers."
        )
    families = families_of(run, parsers, samples)
    found: list[Suspicion] = []
    n_cells = n_pages = 0
    for key in samples:
        sample = corpus.read(key)
        if sample.truth is not None:
            predictions = {parser: run.prediction(key, parser) for parser in parsers}
            found += audit_page(sample.truth, predictions, families, *printed_on(sample))
            n_cells += sum(len(e.table.cells) for e in sample.truth.tables if e.table is not None)
            n_pages += 1
        if progress:
            progress(1)
    return Audit(tuple(ranked(found)), n_pages, n_cells, tuple(map(tuple, families)))


def families_of(run: Run, parsers: Sequence[str], samples: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return families of dependent parsers.

    From evenly spaced pages: dependence shows on few, and comparing all with all is the costly part.
    """
    chosen = samples[:: max(len(samples) // FAMILY_PAGES, 1)]
    predictions = {(s, p): run.prediction(s, p) for s in chosen for p in parsers}
    return measure_agreement(predictions, parsers, chosen, run.manifest.engines).families()


def printed_on(sample: Sample) -> tuple[str | None, Sequence[Glyph]]:
    """Return the text of a page, and its characters with their places where they are needed."""
    if sample.pdf is None or sample.truth is None:
        return None, ()
    tables = [e.table for e in sample.truth.tables if e.table is not None]
    boxed = any(cell.box is not None for table in tables for cell in table.cells)
    try:
        text = page_text(sample.pdf, sample.page_number) or None
        return text, page_glyphs(sample.pdf, sample.page_number) if boxed else ()
    except PdfError:
        return None, ()


class _Print:
    """The characters of a page by the place of their middles."""

    def __init__(self, glyphs: Sequence[Glyph]) -> None:
        self._glyphs = glyphs
        boxes = np.array([glyph.box.as_tuple() for glyph in glyphs]).reshape(-1, 4)
        self._x, self._y = (boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2

    def inside(self, box: Box) -> str:
        """Return the text printed in a box, in the order of the file."""
        held = (box.x0 <= self._x) & (self._x <= box.x1) & (box.y0 <= self._y) & (self._y <= box.y1)
        return "".join(self._glyphs[i].text for i in np.flatnonzero(held).tolist())


def ranked(suspicions: Sequence[Suspicion]) -> list[Suspicion]:
    """Return the strongest first."""
    return sorted(suspicions, key=lambda s: (-s.strength, -len(s.against), s.sample, s.element, s.row, s.col))


def _judge(
    truth: str, readings: _Readings, layer: str | None, inside: str | None
) -> tuple[str, tuple[str, ...], tuple[str, ...], int, bool | None] | None:
    """Return the consensus against a cell's truth, if there is one."""
    wanted = _fold(truth)
    votes: dict[str, dict[int, str]] = defaultdict(dict)
    spelling: dict[str, str] = {}
    for family, answers in readings.items():
        for parser, text in answers:
            folded = _fold(text)
            votes[folded].setdefault(family, parser)
            spelling.setdefault(folded, text)
    for_truth = tuple(votes.pop(wanted, {}).values())
    printed = "" if inside is None else _fold(inside)
    if printed == wanted:
        return None  # what parsers read there is cut or put elsewhere by them
    backed, most = tuple(votes.get(printed, {}).values()), max(1, round(SLIPS * len(wanted)))
    is_slip = Levenshtein.distance(wanted, printed, score_cutoff=most) <= most  # no other part of the page
    if printed and (backed or not for_truth) and is_slip:
        # Parsers that share the truth's reading of the text layer share its errors; what is printed decides.
        return (inside or "").strip(), backed, for_truth, len(readings), True
    if not votes:
        return None
    best = max(votes, key=lambda folded: (len(votes[folded]), folded != "", folded))
    against = tuple(votes[best].values())
    in_layer = None if layer is None else compact(best) in layer and compact(wanted) not in layer
    doubts = len(against) >= MIN_FAMILIES or (len(against) == 1 and bool(in_layer))
    # Where parsers read nothing the table was cut differently: that says little about the truth.
    if not best or not doubts or len(for_truth) >= len(against):
        return None
    return spelling[best], against, for_truth, len(readings), in_layer


def _fold(text: str) -> str:
    """Return a text as it is compared: notation folded, and scripts flattened, because text layers have
    none.
    """
    return compact(fold_notation(text)).translate(_SCRIPTS)


def _answers(truths: Sequence[Table], preds: Sequence[Table]) -> Iterator[tuple[int, Table]]:
    """Yield the predicted table that answers each truth best, one each."""
    if not truths or not preds:
        return
    metric = get_metric("grits_con")
    given = [TableInput(table) for table in preds]
    values = np.array([[metric.score(TableInput(t), p).value or 0.0 for p in given] for t in truths])
    for i, j in zip(*linear_sum_assignment()(-values), strict=True):
        if values[i, j] >= MIN_LIKENESS:
            yield int(i), preds[int(j)]


def aligned_texts(truth: Table, pred: Table) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield for each cell of the truth with a counterpart its place and the counterpart's text.

    Rows are aligned by the cells that they share, then columns likewise, so that a wrong cell is found by
    its right neighbours.
    """
    codes: dict[str, int] = {}
    left, right = _coded(truth, codes), _coded(pred, codes)
    row_of = _align(left, right)
    column_of = _align(list(zip(*left, strict=True)), list(zip(*right, strict=True)))
    cells: dict[tuple[int | None, int | None], Cell] = {(c.row, c.col): c for c in pred.cells}
    for cell in truth.cells:
        other = cells.get((row_of.get(cell.row), column_of.get(cell.col)))
        if other is not None and (cell.rowspan, cell.colspan) == (other.rowspan, other.colspan):
            yield (cell.row, cell.col), other.text


def _coded(table: Table, codes: dict[str, int]) -> list[list[int]]:
    own = [codes.setdefault(_fold(cell.text), len(codes)) for cell in table.cells]
    return [[HOLE if place == HOLE else own[place] for place in row] for row in table.grid]


def _align(left: Sequence[Sequence[int]], right: Sequence[Sequence[int]]) -> dict[int, int]:
    if not left or not right:
        return {}
    rewards = [[LCSseq.similarity(a, b) / max(len(a), len(b)) for b in right] for a in left]
    for k in range(min(len(left), len(right))):
        rewards[k][k] += 1e-3
    return {i: j for i, j in kernel.align(rewards)[1] if rewards[i][j] > 2e-3}
