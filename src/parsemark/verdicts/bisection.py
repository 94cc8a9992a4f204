"""Which version broke it: as few as can be are tried until the last good and the first bad one are known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from rapidfuzz.distance import Indel

from parsemark.errors import UsageError
from parsemark.plain_words import counted, rounded

ALIKE = 1e-9
_JUMP = 0.1  # of a score; outputs that are nearly equal may differ in one number, which costs less
_NEARLY_EQUAL = 0.99  # likeness of characters other than white space


@dataclass(frozen=True, slots=True)
class Probe:
    """What a version that was tried is."""

    version: str
    state: Literal["good", "bad", "skipped"]
    value: float | None = None  # of the figure that was looked at, if one was
    output: str = ""  # hash of what it gave, where that is what was looked at
    why: str = ""  # it was skipped

    def is_like(self, other: Probe) -> bool:
        """Return whether both have the same value, or the same output where there is no value."""
        if self.value is None or other.value is None:
            return self.output == other.output
        return abs(self.value - other.value) <= ALIKE


@dataclass(frozen=True, slots=True)
class Bisection:
    """The answer: between which two versions it broke."""

    versions: tuple[str, ...]  # from the good one to the bad one
    probes: tuple[Probe, ...]  # in the order in which they were tried
    last_good: str
    first_bad: str | None  # None where the bad one is as good as the good one
    is_reading: bool = False  # the score of the two jumps, while what they wrote is nearly equal

    @property
    def tried(self) -> list[Probe]:
        """Return versions that were run; those that cannot be installed were not."""
        return [probe for probe in self.probes if probe.state != "skipped"]

    @property
    def n_tried(self) -> int:
        """Return how many were run."""
        return len(self.tried)

    @property
    def unknown(self) -> tuple[str, ...]:
        """Return versions between the two that cannot be used here: one of them may be the one that broke
        it.
        """
        if self.first_bad is None:
            return ()
        first, last = (self.versions.index(v) for v in (self.last_good, self.first_bad))
        return self.versions[first + 1 : last]

    def probe(self, version: str) -> Probe:
        """Try a version and return the result."""
        return next(probe for probe in self.probes if probe.version == version)

    @property
    def is_one_step(self) -> bool:
        """Return whether all good versions that were tried are alike, and all bad ones."""
        if self.first_bad is None:
            return False
        split = self.versions.index(self.first_bad)
        ends = {"good": self.probe(self.versions[0]), "bad": self.probe(self.first_bad)}
        return all(
            (probe.state == "bad") == (self.versions.index(probe.version) >= split)
            and probe.is_like(ends[probe.state])
            for probe in self.tried
        )

    def step_words(self) -> str:
        """Return whether it is one step, and what that rests on."""
        if self.is_one_step:
            n = counted(self.n_tried, "version")
            return (
                f"A single step: each of the {n} tried scores like the last good or like the first bad one."
            )
        tried = sorted(self.tried, key=lambda probe: self.versions.index(probe.version))
        seen = ", ".join(f"{p.version} {p.state if p.value is None else rounded(p.value)}" for p in tried)
        return f"Not a single step: {seen}. `parsemark history` shows every version."


def jumps_by_reading(good: Probe, bad: Probe, outputs: Iterable[tuple[str, str]]) -> bool:
    """Return whether the score jumps although the outputs, a pair for each page, are nearly equal."""
    if good.value is None or bad.value is None or abs(good.value - bad.value) < _JUMP:
        return False
    return all(
        one == other or Indel.normalized_similarity(one, other, score_cutoff=_NEARLY_EQUAL) > 0
        for one, other in (("".join(a.split()), "".join(b.split())) for a, b in outputs)
    )


def bisect_versions(versions: Sequence[str], probe: Callable[[str], Probe]) -> Bisection:
    """Find the first bad version of these, from the good one to the bad one, in the order in which they were
    made.

    The good end is tried, for all others are held against it. The bad end is tried when nothing else was bad,
    or at the end, if that takes no more than the worst case does: n + 1 versions take 1 + ⌈log₂(n + 1)⌉.
    UsageError if there are not two versions, or one of the ends cannot be used here.
    """
    if len(versions) < 2:
        raise UsageError("Give two different versions with --good and --bad.")
    found: dict[str, Probe] = {}

    def state(position: int) -> str:
        version = versions[position]
        if version not in found:
            found[version] = probe(version)
        return found[version].state

    good, bad, is_seen = 0, len(versions) - 1, False
    if state(good) != "good":
        why = found[versions[0]].why
        raise UsageError(f"{versions[0]} is already bad, so there is no change to find. {why}")
    while (between := bad - good) > 1 or not is_seen:
        middle = good + (between // 2 if is_seen else (between + 1) // 2)
        inside = range(good + 1, bad if is_seen else bad + 1)
        open_ones = [k for k in inside if versions[k] not in found or found[versions[k]].state != "skipped"]
        if not open_ones:
            break
        chosen = min(open_ones, key=lambda k: (abs(k - middle), k))
        match state(chosen):
            case "good" if chosen == len(versions) - 1:
                return Bisection(tuple(versions), tuple(found.values()), versions[chosen], None)
            case "good":
                good = chosen
            case "bad":
                bad, is_seen = chosen, True
    if not is_seen:
        why = found[versions[-1]].why if versions[-1] in found else ""
        raise UsageError(f"No version after {versions[good]} can be used here. {why}")
    most = 1 + (len(versions) - 1).bit_length()
    if len(found) < most:
        state(len(versions) - 1)
    return Bisection(tuple(versions), tuple(found.values()), versions[good], versions[bad])
