"""olmOCR-bench's own program around its rules: which tests there are, a candidate's numbers, its test of two.

No figure of a run needs it; the conformance tests compare it with what the program printed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from parsemark.errors import CorpusError
from parsemark.protocols.facts import TooHardError
from parsemark_boards.olmocr.formulas import Renderer
from parsemark_boards.olmocr.protocol import check, split_groups
from parsemark_boards.olmocr.truth import BASELINE, baseline_of, read_test

ERRORS = (IndexError, TypeError, TooHardError)
"""What a test may raise; upstream's own errors, and where ours gives up."""
Tests = Mapping[str, Sequence[dict[str, Any]]]
"""Group (a .jsonl file, or `baseline`) to its tests."""


def with_baselines(files: Mapping[str, Sequence[Mapping[str, Any]]], pdfs: Iterable[str]) -> Tests:
    """The tests of a benchmark folder by group, with a baseline test for every PDF that has none.

    Raises:
        CorpusError: A test is refused, or two of one file have the same id.
    """
    groups: dict[str, list[dict[str, Any]]] = {}
    for name, listed in files.items():
        groups[name] = [read_test(test) for test in listed]
        twice = [key for key, n in Counter(test["id"] for test in groups[name]).items() if n > 1]
        if twice:
            raise CorpusError(f"{name}: the id {twice[0]!r} occurs more than once")
    based = {test["pdf"] for tests in groups.values() for test in tests if test["type"] == BASELINE}
    own = [read_test(baseline_of(pdf)) for pdf in pdfs if pdf not in based]
    return {**groups, **({BASELINE: own} if own else {})}


def without_baselines(groups: Tests) -> Tests:
    """What `--skip_baseline` leaves."""
    kept = {name: [test for test in tests if test["type"] != BASELINE] for name, tests in groups.items()}
    return {name: tests for name, tests in kept.items() if tests}


def untested_pages(groups: Tests, pdfs: Mapping[str, int]) -> list[tuple[str, int]]:
    """The pages that no test asks about; upstream refuses to run then, unless forced."""
    asked = {(test["pdf"], test["page"]) for tests in groups.values() for test in tests}
    return [(pdf, page) for pdf, n in pdfs.items() for page in range(1, n + 1) if (pdf, page) not in asked]


@dataclass(slots=True)
class CandidateResult:
    """What came of one candidate: the average of each test over its repeats, and what went wrong."""

    averages: dict[str, list[tuple[str, float]]] = field(default_factory=dict)
    """Group to (type, average) of each test."""
    errors: list[str] = field(default_factory=list)
    untried: int = 0

    @property
    def groups(self) -> dict[str, tuple[int, int]]:
        """Passed and all tests of each group; an error anywhere voids every pass."""
        return {
            name: (0 if self.errors else sum(average > 0.5 for _, average in own), len(own))
            for name, own in self.averages.items()
        }

    @property
    def overall(self) -> float:
        """The unweighted mean of the groups' shares."""
        return overall_of(self.groups.values())

    def by_type(self) -> dict[str, tuple[float, int]]:
        """Type to the mean of its averages and their number; errors do not void these."""
        values: dict[str, list[float]] = {}
        for own in self.averages.values():
            for kind, average in own:
                values.setdefault(kind, []).append(average)
        return {kind: (sum(v) / len(v), len(v)) for kind, v in values.items()}


def overall_of(groups: Iterable[tuple[int, int]]) -> float:
    """The unweighted mean of shares; 0 without any."""
    shares = [passed / n for passed, n in groups if n]
    return sum(shares) / len(shares) if shares else 0.0


def evaluate(
    groups: Tests, pdfs: Iterable[str], files: Mapping[str, str], render: Renderer, *, force: bool = False
) -> CandidateResult:
    """Score one candidate's files (path to text), as upstream's loop does."""
    result = CandidateResult({name: [(t["type"], 0.0) for t in tests] for name, tests in groups.items()})
    pages: dict[str, list[str]] = {}
    for pdf in pdfs:
        stem = re.escape(pdf.removesuffix(".pdf"))
        pages[pdf] = sorted(path for path in files if re.fullmatch(rf"{stem}_pg\d+_repeat\d+\.md", path))
        if not pages[pdf]:
            result.errors.append(f"no file for {pdf}")
    if result.errors and not force:
        return result
    result.errors = []
    for name, tests in groups.items():
        result.averages[name] = [
            (test["type"], _average(test, pages, files, render, result)) for test in tests
        ]
    return result


def _average(
    test: Mapping[str, Any],
    pages: Mapping[str, list[str]],
    files: Mapping[str, str],
    render: Renderer,
    result: CandidateResult,
) -> float:
    mark = f"_pg{test['page']}_"
    own = [path for path in pages.get(test["pdf"], []) if mark in PurePosixPath(path).name]
    if not own:
        result.errors.append(f"{test['id']}: no file for page {test['page']} of {test['pdf']}")
        return 0.0
    passes = 0
    for path in own:
        try:
            outcome = check(test, files[path], render)
        except ERRORS as error:
            result.errors.append(f"{test['id']}: {error}")
            continue
        result.untried += outcome.passed is None
        passes += outcome.passed is True
    return passes / len(own)


def permutation_test(
    a: Sequence[float],
    b: Sequence[float],
    sizes: tuple[Sequence[int], Sequence[int]] | None,
    rng: np.random.RandomState,
    rounds: int = 10_000,
) -> tuple[float, float]:
    """Difference of two candidates' means and its p-value; upstream has it and nobody calls it."""
    if not len(a) or not len(b):
        return 0.0, 1.0
    own, other = sizes or (None, None)
    # Groups that only one of both has are left out, as upstream's zip does.
    pairs = list(
        zip(split_groups(np.asarray(a, float), own), split_groups(np.asarray(b, float), other), strict=False)
    )

    def difference(groups: Sequence[tuple[Any, Any]]) -> float:
        return float(np.mean([np.mean(x) for x, _ in groups]) - np.mean([np.mean(y) for _, y in groups]))

    observed = difference(pairs)
    joint = [np.concatenate(pair) for pair in pairs]
    extreme = 0
    for _ in range(rounds):
        drawn = []
        for number, (x, _) in enumerate(pairs):
            # Without groups upstream shuffles the same array on and on, with groups a fresh one.
            values = joint[number] if sizes is None else np.concatenate(pairs[number])
            rng.shuffle(values)
            drawn.append((values[: len(x)], values[len(x) :]))
        extreme += abs(difference(drawn)) >= abs(observed)
    return observed, extreme / rounds
