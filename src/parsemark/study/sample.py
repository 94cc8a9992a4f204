"""`parsemark study sample`: pairs for people to rate, drawn from a run so that all kinds of answers are
among them.

Matched pairs are put into strata by parser, complexity of the truth, and score (five bands of a metric), and
drawn in turn from all strata, so that rare kinds (a good parser's bad answer) come as often as common ones.
Which pair of a stratum is drawn is by chance, and the same for the same seed.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path

import polars as pl

from parsemark.corpora.render import corpus_pictures, render_sample
from parsemark.errors import StudyError
from parsemark.formats import write_table
from parsemark.model import Category
from parsemark.model.table import complexity
from parsemark.protocols.semantic.page import source_of
from parsemark.store import Run
from parsemark.study.ratings import PairsFile, PairToRate
from parsemark.system.files import make_folder, replacing, write_text

RULES = ("ngrams", "located", "content", "bbox")  # matchings to take pairs from: the first that the run has
METRICS = ("semantic", "reader", "teds", "grits_con")  # metrics to make bands by: the first that the run has
N_BANDS = 5
_PICTURE_DPI = 110
_MAX_SIDE = 1800
_QUALITY = 70


@dataclass(frozen=True, slots=True)
class PairCandidate:
    """A matched pair of a run."""

    sample: str
    parser: str
    truth: str
    pred: str
    score: float | None
    complexity: str

    @property
    def stratum(self) -> tuple[str, str, int]:
        """Return parser, complexity and band of the score; no score is a band of its own."""
        band = -1 if self.score is None else min(N_BANDS - 1, int(max(0.0, self.score) * N_BANDS))
        return self.parser, self.complexity, band


def draw_pairs(run: Run, n: int, *, seed: int = 0, metric: str | None = None) -> list[PairCandidate]:
    """Draw up to `n` matched pairs of tables, in turn from all strata; StudyError if none is scored so."""
    strata: defaultdict[tuple[str, str, int], list[PairCandidate]] = defaultdict(list)
    for candidate in _candidates(run, metric):
        strata[candidate.stratum].append(candidate)
    return draw_in_turn(strata, n, seed)


def draw_in_turn(
    strata: Mapping[tuple[str, str, int], Sequence[PairCandidate]], n: int, seed: int
) -> list[PairCandidate]:
    """Return one of each stratum by chance, then another of each, until there are `n` or none are left."""
    rng = random.Random(seed)
    waiting = {key: rng.sample(found, len(found)) for key, found in sorted(strata.items())}
    drawn: list[PairCandidate] = []
    while waiting and len(drawn) < n:
        turn = sorted(waiting)
        rng.shuffle(turn)
        for key in turn[: n - len(drawn)]:
            drawn.append(waiting[key].pop())
            if not waiting[key]:
                del waiting[key]
    return drawn


def _candidates(run: Run, metric: str | None) -> Iterator[PairCandidate]:
    scores, rule, chosen = _scores(run, metric)
    top = 10.0 if chosen.startswith(("reader", "semantic")) else 1.0
    wanted = (pl.col("rule") == rule) & (pl.col("metric") == chosen) & (pl.col("status") != "no_truth")
    place = ["sample", "parser", "element"]
    rows = scores.filter(wanted).sort(place).unique(place, keep="first", maintain_order=True)

    @cache
    def levels(sample: str) -> dict[str, str]:
        """Return the complexity of the truths that are tables with a grid."""
        truth = run.truth(sample)
        tables = truth.tables if truth is not None else ()
        return {e.id: complexity(e.table) for e in tables if e.table is not None}

    for row in rows.iter_rows(named=True):
        level = levels(row["sample"]).get(row["element"])
        if level is not None:
            value = None if row["value"] is None else row["value"] / top
            yield PairCandidate(row["sample"], row["parser"], row["element"], row["pred"], value, level)


def _scores(run: Run, metric: str | None) -> tuple[pl.DataFrame, str, str]:
    """Return the scores of pairs of tables, by the first protocol that has some; their rule, and the
    metric.
    """
    known: list[str] = []
    asked: list[str | None] = [*run.protocols] or [None]
    for protocol in asked:
        scores = run.table("scores", protocol)
        of_pairs = (pl.col("element") != "") & (pl.col("pred") != "") & (pl.col("category") == Category.TABLE)
        scores = scores.filter(of_pairs)
        here = scores["metric"].unique().sort().to_list()
        known += here
        chosen = metric if metric in here else next((m for m in METRICS if m in here), None)
        rule = next((r for r in RULES if r in set(scores["rule"])), None)
        if rule is not None and chosen is not None and metric in (None, chosen):
            return scores, rule, chosen
    listed = f" It has: {', '.join(dict.fromkeys(known))}." if known else ""
    raise StudyError(f"{run.path} has no pairs of tables scored by {metric or 'any metric'}.{listed}")


def write_tasks(
    run: Run, drawn: Sequence[PairCandidate], out: Path, advance: Callable[[], None] = lambda: None
) -> int:
    """Write the file of pairs, and pictures of their pages beside it; return how many pairs have one. A page
    whose PDF is gone, or is not the one that was parsed, has none.
    """
    picture_of = _pictures(run, out)
    pairs = []
    for candidate in drawn:
        pairs.append(_pair(run, candidate, picture_of(candidate.sample)))
        advance()
    # In an order that tells nothing of how they were drawn.
    pairs.sort(key=lambda pair: pair.id)
    write_text(out, PairsFile(pairs=pairs).model_dump_json(indent=1, exclude_defaults=True) + "\n")
    return sum(pair.picture is not None for pair in pairs)


def _pair(run: Run, candidate: PairCandidate, picture: str | None) -> PairToRate:
    page = run.truth(candidate.sample)
    if page is None:
        raise StudyError(f"{run.path}: {candidate.sample} has no truth.")
    truth = next(e for e in page.elements if e.id == candidate.truth)
    found = {e.id: e for e in run.prediction(candidate.sample, candidate.parser).elements}
    parts = [source_of(found[name]) for name in candidate.pred.split("+") if name in found]
    region = None
    if truth.box is not None:
        sides = zip(truth.box.as_tuple(), (page.width, page.height) * 2, strict=True)
        x0, y0, x1, y1 = (min(1.0, max(0.0, edge / size)) for edge, size in sides)
        region = x0, y0, x1, y1
    return PairToRate(
        id=f"{candidate.sample}/{candidate.truth}/{candidate.parser}",
        group=f"{candidate.sample}/{candidate.truth}",
        truth=truth.latex or source_of(truth),
        truth_html=write_table(truth.table, "html") if truth.table is not None else None,
        pred="\n\n".join(parts),
        parser=candidate.parser,
        complexity=candidate.complexity,
        picture=picture,
        region=region,
    )


def _pictures(run: Run, out: Path) -> Callable[[str], str | None]:
    """Return what draws the page of a sample, once, in a folder beside the file of pairs, and says its path
    from there; None where there is no picture.
    """
    rows = {row["sample"]: row for row in run.table("samples").iter_rows(named=True)}
    corpus, without_pdf = run.manifest.corpus, {sample for sample, row in rows.items() if not row["pdf"]}
    scans = corpus_pictures(corpus.spec, corpus.hash, without_pdf)
    numbers = count()

    @cache
    def draw(sample: str) -> str | None:
        name = f"{next(numbers):05}.webp"
        picture = render_sample(rows[sample], _PICTURE_DPI, scans.get(sample)) if sample in rows else None
        if picture is None:
            return None
        picture.thumbnail((_MAX_SIDE, _MAX_SIDE))
        folder = make_folder(out.parent, f"{out.stem}-pictures")
        with replacing(folder / name) as temporary:
            picture.save(temporary, format="WEBP", quality=_QUALITY, method=2)
        return f"{folder.name}/{name}"

    return draw
