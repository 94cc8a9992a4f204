"""Routing: one parser for each kind of page, learned from few labels, and said with its risk.

A rule looks at one trait of a page (`kinds`) and names a parser for each of its values; all others get the
default. It is learned on the labelled pages and judged on documents that it has not seen: for each fold of
documents everything, the trait too, is learned again from the others. What is estimated is the gain over the
parser that `choose` names for all pages, and its one-sided 95 % limit is the stated risk.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import compress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, ValidationError
from scipy import stats

from parsemark.choosing.choice import Choice, known_mean, page_scores
from parsemark.errors import UsageError
from parsemark.pdf.page_kinds import TRAITS, Kinds
from parsemark.plain_words import counted, first_problem, signed
from parsemark.protocols.contract import get_protocol
from parsemark.protocols.run_data.unread_pages import run_kinds
from parsemark.specs import is_derived
from parsemark.store import Run
from parsemark.system.files import write_text

Floats = NDArray[np.float64]

SHRINKAGE = 3.0  # pages' worth of the overall mean that each kind starts with
MIN_PAGES, MIN_DOCUMENTS = 3, 2  # labelled pages and documents of a kind before it gets a parser of its own
FOLDS = 10
WORTH = 0.01  # a gain below this is none
REACH = 0.975
"""Quantile of the stated limit. Together with the correction for folds that share their documents (Nadeau and
Bengio 2003) it makes the limit hold in 95 % of draws (`python -m bench route`); .95 alone held in 86 %."""
RARE = 0.6  # a difference on one document assumed to miss in every sample, as in all intervals of `choose`


@dataclass(frozen=True)
class RoutingRule:
    """Which parser a page gets."""

    default: str
    trait: str | None = None
    parsers: Mapping[str, str] = field(default_factory=dict)
    """Value of the trait to its parser, where that is not the default."""

    def parser_for(self, kinds: Kinds) -> str:
        """Return the parser of a page."""
        return self.parsers.get(kinds.get(self.trait, ""), self.default) if self.trait else self.default


@dataclass(frozen=True)
class Routing:
    """A rule with what is known of it."""

    rule: RoutingRule
    single: str  # the best parser for all pages
    score: float  # mean score with the rule on documents that it has not seen
    single_score: float
    gain: float
    low: float  # with 95 % confidence the rule gains at least this on unseen documents; below 0 it may lose
    n_labels: int
    n_documents: int
    cpu_s: float | None = None  # per page, over all pages of the run
    single_cpu_s: float | None = None
    cost_usd: float | None = None

    @property
    def worth_it(self) -> bool:
        """Return whether the rule is known to be better than one parser."""
        return bool(self.rule.parsers) and self.low > 0 and self.gain >= WORTH

    def in_words(self) -> list[str]:
        """Return sentences, the answer first."""
        known = f"{counted(self.n_labels, 'label')} of {counted(self.n_documents, 'document')}"
        if not self.worth_it:
            more = "" if self.n_documents >= 20 else " More labelled documents may show one."
            gain = signed(self.gain, 2)
            seen = f" The best rule gains {gain} on unseen documents." if self.rule.parsers else ""
            return [
                f"One parser is as good as routing: use {self.single} for every page ({known}).{seen}{more}"
            ]
        parts = ", ".join(f"{value}: {parser}" for value, parser in sorted(self.rule.parsers.items()))
        trait = TRAITS.get(self.rule.trait or "", self.rule.trait)
        said = [
            f"Route by {trait}: {parts}; everything else: {self.rule.default}.",
            f"On held-out documents the rule scores {self.score:.2f}, {self.single} alone "
            f"{self.single_score:.2f}: a gain of {self.gain:.2f}, with 95 % confidence at least "
            f"{self.low:.2f} ({known}).",
        ]
        if self.cpu_s is not None and self.single_cpu_s is not None:
            paid = f", {self.cost_usd:.4f} USD" if self.cost_usd else ""
            alone = f"{self.single} alone {self.single_cpu_s:.2f}"
            said.append(f"It takes {self.cpu_s:.2f} CPU s a page{paid}; {alone}.")
        return said


def learn_rule(
    scores: Floats,
    parsers: Sequence[str],
    kinds: Sequence[Kinds],
    documents: Sequence[str],
    single: str | None = None,
) -> RoutingRule:
    """Return the rule of one trait that earns most on these pages, kinds of few pages drawn to the mean of
    all. `scores` are (parsers, pages); `single` is the parser of all other pages, by default the best on
    these.
    """
    overall = scores.mean(axis=1)
    default = int(overall.argmax()) if single is None else parsers.index(single)
    best, best_gain = RoutingRule(parsers[default]), 0.0
    for trait in TRAITS:
        values = [page.get(trait, "") for page in kinds]
        chosen, gain = {}, 0.0
        for value in sorted(set(values)):
            own = np.array([v == value for v in values])
            n = int(own.sum())
            if n < MIN_PAGES or len(set(compress(documents, own))) < MIN_DOCUMENTS:
                continue
            # Differences to the default, so that hard pages make no parser look bad.
            behind = scores[:, own] - scores[default, own]
            lead = (behind.sum(axis=1) + SHRINKAGE * (overall - overall[default])) / (n + SHRINKAGE)
            first = int(lead.argmax())
            if first != default and lead[first] > WORTH:
                chosen[value] = parsers[first]
                gain += float(lead[first]) * n / len(values)
        if gain > best_gain + 1e-9:
            best, best_gain = RoutingRule(parsers[default], trait, chosen), gain
    return best


def learn_routing(
    scores: Floats,
    parsers: Sequence[str],
    kinds: Sequence[Kinds],
    documents: Sequence[str],
    *,
    single: str | None = None,
    seed: int = 0,
) -> Routing:
    """Learn a rule from labelled pages, and judge the learning on documents left out.

    What a rule is held against is `single` where that was decided already, and otherwise found again in each
    fold.
    """
    names = sorted(set(documents))
    if len(names) < 2:
        raise UsageError(
            "A rule is tested on documents that it was not fitted to: label pages of at least two documents."
        )
    place = {name: k for k, name in enumerate(np.random.default_rng(seed).permutation(names).tolist())}
    folds = np.array([place[d] % FOLDS for d in documents])
    routed, alone = np.zeros(len(documents)), np.zeros(len(documents))
    index = {parser: i for i, parser in enumerate(parsers)}
    for fold in np.unique(folds):
        out, seen = np.flatnonzero(folds == fold).tolist(), np.flatnonzero(folds != fold).tolist()
        known = [kinds[i] for i in seen], [documents[i] for i in seen]
        rule = learn_rule(scores[:, seen], parsers, *known, single)
        for i in out:
            routed[i] = scores[index[rule.parser_for(kinds[i])], i]
            alone[i] = scores[index[rule.default], i]
    rule = learn_rule(scores, parsers, kinds, documents, single)
    taken = scores[[index[rule.parser_for(page)] for page in kinds], np.arange(len(kinds))]
    gain, low = _gain(routed - alone, taken - scores[index[rule.default]], documents)
    means = float(routed.mean()), float(alone.mean())
    return Routing(rule, rule.default, *means, gain, low, len(documents), len(names))


def route_run(run: Run, choice: Choice, *, skip: Sequence[str] = (), seed: int = 0) -> Routing:
    """Learn a rule from all labelled pages of a scored run, with what it would cost on all its pages. It is
    held against the parser that was chosen, and named beside it; `skip`: pages that the choice is not about.
    """
    table = run.table("samples")
    rows = [row for row in zip(table["sample"], table["document"], strict=True) if row[0] not in skip]
    samples, documents = [row[0] for row in rows], [row[1] for row in rows]
    records = {(r.sample, r.parser): r for r in run.records() if not is_derived(r.parser)}
    parsers = sorted({parser for _, parser in records})
    single = next(c.parser for c in choice.candidates if c.parser in parsers)
    scores, _ = page_scores(run, get_protocol(choice.protocol), parsers, samples)
    kinds = run_kinds(run.run_tables())
    own = [i for i, key in enumerate(samples) if key in kinds and not np.isnan(scores[:, i]).any()]
    if len(own) < MIN_PAGES:
        pages = counted(len(own), "page")
        raise UsageError(f"A rule is learned from labels, but {pages} has truth. Label some pages first.")
    seen = [kinds[samples[i]] for i in own], [documents[i] for i in own]
    found = learn_routing(scores[:, own], parsers, *seen, single=single, seed=seed)
    taken = [records.get((key, found.rule.parser_for(kinds.get(key, {})))) for key in samples]
    alone = [records.get((key, found.single)) for key in samples]
    return replace(
        found,
        cpu_s=known_mean(r.cpu_s for r in taken if r is not None),
        single_cpu_s=known_mean(r.cpu_s for r in alone if r is not None),
        cost_usd=known_mean(r.cost_usd for r in taken if r is not None),
    )


def _gain(unseen: Floats, seen: Floats, documents: Sequence[str]) -> tuple[float, float]:
    """Return the mean over pages of what rules gain on unseen documents, and its lower 95 % limit for the
    rule itself.

    Documents are the units. `unseen` is by rules of folds, which may route fewer pages than the rule that is
    learned from all, so its own gains (`seen`), though too large, may spread further, and count then. A
    residual is added that few documents may lack, as in every interval of `choose`.
    """
    sizes = np.unique(documents, return_counts=True)[1]
    # Where few documents have most pages, they are few.
    n = max(float(sizes.sum() ** 2 / (sizes**2).sum()), 2.0)
    mean = float(unseen.mean())
    shared = 1 + FOLDS / (FOLDS - 1)
    spread = shared * max(_variance(unseen, documents), _variance(seen, documents)) + (RARE / n) ** 2
    return mean, mean - float(stats.t.ppf(REACH, n - 1)) * math.sqrt(spread)


def _variance(values: Floats, documents: Sequence[str]) -> float:
    """Return the variance of the mean over pages, with documents as the units."""
    _, owner = np.unique(documents, return_inverse=True)
    sums, sizes = np.bincount(owner, values), np.bincount(owner)
    deviations = (sums - values.mean() * sizes) / len(values)
    return float((deviations**2).sum()) * len(sums) / (len(sums) - 1)


class RouteFile(BaseModel, extra="forbid"):
    """The rule as a file that `parse --route` follows."""

    schema_version: int = Field(default=1, ge=1, le=1)
    trait: str | None = None
    parsers: dict[str, str] = Field(default_factory=dict, max_length=1000)
    default: str = Field(min_length=1)
    known: dict[str, float | int | str | None] = Field(default_factory=dict)
    """What was known of it when it was learned; not used."""


def write_route(routing: Routing, path: Path) -> None:
    """Write the rule, or one parser for all pages where no rule is known to be better."""
    rule = routing.rule if routing.worth_it else RoutingRule(routing.single)
    known = {k: v for k, v in asdict(routing).items() if k not in ("rule", "single")}
    data = {"schema_version": 1, "trait": rule.trait, "parsers": dict(rule.parsers), "default": rule.default}
    write_text(path, json.dumps({**data, "known": known}, indent=2, ensure_ascii=False) + "\n")


def read_route(path: Path) -> RoutingRule:
    """Read a rule; raise UsageError if it cannot be read, or names a trait that does not exist."""
    hint = "`parsemark choose --route` writes one."
    try:
        file = RouteFile.model_validate_json(path.read_bytes())
    except OSError as e:
        raise UsageError(f"{path} cannot be read ({e.strerror}). {hint}") from None
    except ValidationError as e:
        raise UsageError(f"{path} is not a routing rule: {first_problem(e)}. {hint}") from None
    if file.trait is not None and file.trait not in TRAITS:
        raise UsageError(f"{path} routes by {file.trait!r}; pages have: {', '.join(TRAITS)}.")
    return RoutingRule(file.default, file.trait, file.parsers)
