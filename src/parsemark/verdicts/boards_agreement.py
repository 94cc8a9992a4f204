"""Whether protocols rank the parsers of one run alike, and what it comes from where they do not.

Agreement is Kendall's tau-b of two protocols' figures over the parsers, with a bootstrap over documents.
Disagreement is (1 − tau) / 2: without ties the share of pairs of parsers that two protocols order
differently. It is assigned step by step, each step making the two protocols more alike: the pages that both
count, outputs in one spelling, the kinds of truth that both look at. What is left is of matching and measure.
These are separated where both match tables by a rule that `tables` knows: its one measure under either rule
says how many pairs of parsers the matching alone turns round, and what then is left is of the measures. The
shares add up to the whole; one is negative where making them alike sets them apart.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, compress, pairwise

import numpy as np
from numpy.typing import NDArray

from parsemark.errors import UsageError
from parsemark.plain_words import counted
from parsemark.protocols import Figure, FigureSums, PageProtocol, get_protocol, with_options
from parsemark.protocols.run_data.broken_pages import complete_sums
from parsemark.stats.intervals import cluster_weights, percentile_interval, sum_by_cluster
from parsemark.store import Run
from parsemark.verdicts.scored_run import readable_protocols

Floats = NDArray[np.float64]
Pages = frozenset[str]

N_DRAWS = 500
MIN_PARSERS = 3  # two parsers are ordered alike or not: that is no rank agreement
FEW_PARSERS, FEW_DOCUMENTS = 5, 30  # below either, tau takes few values, or resamples hardly differ
SOURCES = {
    "pages": "The protocols score different pages.",
    "serialisation": "How outputs are written: newlines, tables as HTML or Markdown, delimiters of formulas.",
    "kinds": "The protocols score different categories of content, such as text, tables or formulas.",
    "matching": "The protocols match tables by different rules.",
    "measures": "The rest: different measures, and different matching of text.",
}


@dataclass(frozen=True, slots=True)
class BoardPair:
    """Two protocols of one run."""

    first: str
    second: str
    tau: Figure
    disagreement: Figure
    shares: Mapping[str, Figure]  # source to its part of the disagreement
    kinds: tuple[str, ...]  # the kinds of truth that both look at
    n_pages: int  # that both count
    rules: tuple[str, ...] = ()  # by which each matches tables; none if one has no rule of `tables`


@dataclass(frozen=True, slots=True)
class BoardAgreement:
    """What all protocols of a run say of its parsers."""

    parsers: tuple[str, ...]
    protocols: tuple[str, ...]
    ranks: Mapping[str, Mapping[str, int | None]]  # protocol to parser to its rank, 1 for the best
    rank_intervals: Mapping[str, Mapping[str, tuple[int, int]]]
    """Protocol to parser to the ranks that its verdicts leave open, true together with 95 % confidence."""
    moved: Mapping[str, float]
    """Protocol to how far its figure moves in the neutral spelling, the mean over parsers, as a share of its
    range; only those that were scored both ways."""
    pairs: tuple[BoardPair, ...]  # those that agree least first
    n_documents: int  # of the run: what intervals are drawn over

    @property
    def caution(self) -> str:
        """Return why its intervals are of little use where parsers or documents are few; else nothing."""
        if len(self.parsers) >= FEW_PARSERS and self.n_documents >= FEW_DOCUMENTS:
            return ""
        there = f"{counted(len(self.parsers), 'parser')} and {counted(self.n_documents, 'document')}"
        return (
            f"Warning: these are {there}. With fewer than {FEW_PARSERS} parsers or {FEW_DOCUMENTS} documents "
            "these intervals are unreliable."
        )

    def firsts(self) -> dict[str, list[str]]:
        """Parser to the protocols that rank it first, the one with most of them first."""
        found = {p: [s for s in self.protocols if self.ranks[s][p] == 1] for p in self.parsers}
        return {p: own for p, own in sorted(found.items(), key=lambda item: -len(item[1])) if own}

    def rank_text(self, spec: str, parser: str) -> str:
        """Return a rank with its interval, where there is one: `2 (1–3)`."""
        rank, ends = self.ranks[spec][parser], self.rank_intervals[spec].get(parser)
        if rank is None:
            return "–"
        return str(rank) if ends is None else f"{rank} ({ends[0]}–{ends[1]})"

    def mean_shares(self) -> dict[str, float]:
        """Return source to its part of the disagreement, the mean over all pairs that have one."""
        found = {}
        for source in SOURCES:
            values = [v for pair in self.pairs if (v := pair.shares[source].value) is not None]
            found[source] = float(np.mean(values)) if values else 0.0
        return found


@dataclass(frozen=True)
class _Board:
    """A protocol's figures, and how its resamples are drawn."""

    protocol: PageProtocol
    figures: Mapping[str, FigureSums]
    primary: str
    parsers: Sequence[str]
    documents: Sequence[str]  # of the run, counted by the protocol or not: all are drawn over the same ones
    chosen: str = ""  # the rule by which `tables` matches in this run
    cache: dict[tuple[str, Pages | None], Floats] = field(default_factory=dict)

    @property
    def rule(self) -> str:
        """Return the rule by which it matches tables; empty where that is none of those of `tables`."""
        return self.chosen or self.protocol.table_matching

    def counted(self, figure: str | None = None) -> Pages:
        """Return the pages that a figure is taken over, for any parser."""
        own = self.figures[figure or self.primary]
        is_counted = np.any([np.any(sums != 0, axis=1) for sums in own.sums.values()], axis=0)
        return frozenset(compress(own.samples, is_counted))

    def kind(self, kind: str) -> str | None:
        """Return the figure that speaks of a kind of truth, where it is defined."""
        name = self.protocol.figures_by_kind.get(kind)
        return name if name in self.figures and self.counted(name) else None

    def draws(self, figure: str | None = None, pages: Pages | None = None) -> Floats:
        """Return (1 + draws, parsers): the figure and its resamples, larger is better."""
        key = figure or self.primary, pages
        if key not in self.cache:
            own = self.figures[key[0]]
            shown = np.array([pages is None or sample in pages for sample in own.samples])
            place = {name: k for k, name in enumerate(self.documents)}
            weights = np.vstack([np.ones(len(place)), cluster_weights(len(place), N_DRAWS)])
            columns = []
            for parser in self.parsers:
                if parser not in own.sums:  # it gives nothing that the protocol asks for
                    columns.append(np.full(1 + N_DRAWS, np.nan))
                    continue
                added, names = sum_by_cluster(own.sums[parser] * shown[:, None], own.documents)
                columns.append(own.statistic(weights[:, [place[str(name)] for name in names]] @ added))
            sign = 1.0 if own.info.higher_is_better else -1.0
            self.cache[key] = sign * np.stack(columns, axis=1)
        return self.cache[key]


def board_agreement(run: Run, asked: Collection[str] = ()) -> BoardAgreement:
    """Compare the protocols that a run was scored by, or those asked for (one alone has ranks and nobody to
    agree with). UsageError if fewer than two have figures, or there are fewer than three parsers.
    """
    raw, neutral, rules = _boards(run)
    raw = {spec: board for spec, board in raw.items() if not asked or spec in asked}
    n_parsers = len(run.manifest.parser_names)
    if n_parsers < MIN_PARSERS:
        there = counted(n_parsers, "parser")
        raise UsageError(f"{run.path} has {there}; agreement of ranks needs {MIN_PARSERS}.")
    if len(raw) < (1 if len(asked) == 1 else 2):
        raise UsageError(
            f"{run.path} has {len(raw)} protocols that rank its parsers; agreement of ranks needs two. "
            f"Score it with more: parsemark study agreement {run.path} --protocol document"
        )
    parsers = tuple(next(iter(raw.values())).parsers)
    pairs = [_pair(a, b, raw, neutral, rules) for a, b in combinations(raw, 2)]
    pairs.sort(key=lambda pair: 2.0 if pair.tau.value is None else pair.tau.value)
    ranks = {spec: _ranks(board.draws()[0], parsers) for spec, board in raw.items()}
    intervals = {spec: dict(run.summary(spec).ranking.ranks) for spec in raw}
    moved = {}
    for spec in (spec for spec in raw if spec in neutral):
        top = raw[spec].figures[raw[spec].primary].info.top or 1.0
        moved[spec] = float(np.nanmean(np.abs(raw[spec].draws()[0] - neutral[spec].draws()[0]))) / top
    n_documents = run.table("samples")["document"].n_unique()
    return BoardAgreement(parsers, tuple(raw), ranks, intervals, moved, tuple(pairs), n_documents)


Boards = dict[str, _Board]
BoardsByRule = dict[tuple[str, str], _Board]  # `tables` by the spelling of outputs, and its rule


def _boards(run: Run) -> tuple[Boards, Boards, BoardsByRule]:
    """Return the protocols of a run, by the same names those of neutral outputs, and `tables` by its
    rules.
    """
    raw, neutral, rules = Boards(), Boards(), BoardsByRule()
    for spec in readable_protocols(run)[0]:
        protocol, tables = get_protocol(spec), run.run_tables(spec)
        figures = {f.info.name: f for f in complete_sums(protocol, tables)}
        summary, documents = run.summary(spec), tuple(dict.fromkeys(tables.places.documents))
        primary = summary.primary
        chosen = summary.settings.get("match", "") if protocol.matching_rules else ""
        board = _Board(protocol, figures, primary, tables.parsers, documents, chosen)
        # A protocol without truth here ranks no parser.
        values = board.draws()[0] if primary in figures else np.zeros(1)
        if len(np.unique(np.round(values[np.isfinite(values)], 12))) < 2:
            continue
        own = with_options(spec, serialise="raw")
        for rule in protocol.matching_rules.get(own, ()):
            matched = get_protocol(with_options(spec, match=rule))
            sums = {f.info.name: f for f in complete_sums(matched, tables)}
            rules[protocol.serialise, rule] = _Board(matched, sums, primary, tables.parsers, documents)
        if own not in list(protocol.matching_rules)[1:]:
            (raw if protocol.serialise == "raw" else neutral)[own] = board
    return raw, neutral, rules


def _pair(a: str, b: str, raw: Boards, neutral: Boards, by_rule: BoardsByRule) -> BoardPair:
    first, second = raw[a], raw[b]
    pages = first.counted() & second.counted()
    tau = kendall(first.draws(), second.draws())
    steps = [tau, kendall(first.draws(None, pages), second.draws(None, pages))]
    are_both_spellings_known = a in neutral and b in neutral
    if are_both_spellings_known:
        first, second = neutral[a], neutral[b]
    steps.append(kendall(first.draws(None, pages), second.draws(None, pages)))
    kinds = tuple(kind for kind in first.protocol.figures_by_kind if first.kind(kind) and second.kind(kind))
    alike = [kendall(*_of_kind(first, second, kind)) for kind in kinds]
    n_defined = np.isfinite(alike).sum(axis=0)
    mean = np.nansum(alike, axis=0) / np.maximum(n_defined, 1)
    steps.append(np.where(n_defined, mean, np.nan) if alike else np.ones_like(tau))
    for before, step in pairwise(steps):  # where a step leaves no ranks to compare, nothing is assigned to it
        np.copyto(step, before, where=np.isnan(step))
    apart = [(1 - step) / 2 for step in steps]
    parts = [before - after for before, after in pairwise(apart)]
    rules = (first.rule, second.rule) if "tables" in kinds and first.rule and second.rule else ()
    is_matching_known, turned = _turned(first, second, kinds, by_rule)
    parts += [turned, apart[-1] - turned]
    shares = {source: _with_interval(part) for source, part in zip(SOURCES, parts, strict=True)}
    if not are_both_spellings_known:  # its part is in what follows
        shares["serialisation"] = Figure(value=None)
    if not is_matching_known:  # likewise
        shares["matching"] = Figure(value=None)
    said = _with_interval(tau), _with_interval(apart[0])
    return BoardPair(a, b, *said, shares, kinds, len(pages), rules)


def _with_interval(draws: Floats) -> Figure:
    """Return the value itself, which comes first, with the interval of its resamples."""
    if not np.isfinite(draws[0]):
        return Figure(value=None)
    low, high = percentile_interval(draws[1:]) or (None, None)
    return Figure(value=float(draws[0]), low=low, high=high)


def _turned(
    first: _Board, second: _Board, kinds: Sequence[str], by_rule: BoardsByRule
) -> tuple[bool, Floats]:
    """What the rules by which both match tables turn round alone, and whether that is known.

    Without tables in common it is nothing.
    """
    nothing = np.zeros(1 + N_DRAWS)
    if "tables" not in kinds:
        return True, nothing
    one, other = (by_rule.get((own.protocol.serialise, own.rule)) for own in (first, second))
    if one is None or other is None:
        return False, nothing
    tau = kendall(*_of_kind(one, other, "tables"))
    return True, np.nan_to_num((1 - tau) / 2) / len(kinds)


def _of_kind(first: _Board, second: _Board, kind: str) -> tuple[Floats, Floats]:
    names = first.kind(kind), second.kind(kind)
    pages = first.counted(names[0]) & second.counted(names[1])
    return first.draws(names[0], pages), second.draws(names[1], pages)


def kendall(a: Floats, b: Floats) -> Floats:
    """Return tau-b of each row of two tables (rows, parsers); NaN where one of them puts all parsers equal.

    >>> kendall(np.array([[1.0, 2.0, 3.0]]), np.array([[3.0, 2.0, 1.0]]))
    array([-1.])
    """
    i, j = np.triu_indices(a.shape[1], 1)
    x, y = np.sign(np.round(a[:, i] - a[:, j], 12)), np.sign(np.round(b[:, i] - b[:, j], 12))
    known = np.isfinite(x) & np.isfinite(y)
    x, y = np.where(known, x, 0.0), np.where(known, y, 0.0)
    size = np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    return np.asarray(np.divide((x * y).sum(axis=1), size, out=np.full(len(a), np.nan), where=size > 0))


def _ranks(values: Floats, parsers: Sequence[str]) -> dict[str, int | None]:
    return {
        parser: None if np.isnan(value) else 1 + int(np.sum(values > value + 1e-12))
        for parser, value in zip(parsers, values, strict=True)
    }
