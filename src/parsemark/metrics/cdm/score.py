"""CDM of pairs of formulas: tokenise, colour, draw, assign, count; what was drawn once is remembered."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from parsemark.errors import FormatError
from parsemark.kernels.assignment import linear_sum_assignment
from parsemark.metrics.cdm import cdm_table
from parsemark.metrics.cdm.colours import Coloured, Version, colour, normalise
from parsemark.metrics.cdm.render import Box, DrawnFormula, FormulaPicture, draw
from parsemark.metrics.cdm.tokens import tokenise
from parsemark.system import cache_folder
from parsemark.system.files import write_bytes

_CACHE_VERSION = 5


@dataclass(frozen=True, slots=True)
class SignCounts:
    """How many signs agree."""

    matched: int
    truth: int
    pred: int

    @property
    def f1(self) -> float:
        """Return 2·matched / (truth + prediction), to three digits as published."""
        total = self.truth + self.pred
        return round(2 * self.matched / total, 3) if total else 0.0


@dataclass(frozen=True, slots=True)
class CdmScore:
    """The value of one pair, and why it is 0 or less sure where a formula could not be drawn as a whole."""

    value: float
    counts: SignCounts | None = None
    reason: str | None = None


def cdm_scores(
    pairs: Sequence[tuple[str, str]], version: Version = "v1.6", *, whole: bool = False
) -> list[CdmScore]:
    """Return CDM of (truth, prediction) pairs; a formula that was never drawn before needs a pdflatex that
    works.

    As published, signs that no paper is wide enough for are none. With `whole` they count: those that both
    sides have outside of their papers are taken for equal, wherever they stand.
    """
    wanted = list(dict.fromkeys(formula for pair in pairs for formula in pair if formula.strip()))
    drawn = dict(zip(wanted, _drawn(wanted, version), strict=True))
    empty = FormulaPicture(None, "It is empty.")
    return [_score(drawn.get(truth, empty), drawn.get(pred, empty), version, whole) for truth, pred in pairs]


def _score(truth: FormulaPicture, pred: FormulaPicture, version: Version, whole: bool) -> CdmScore:
    drawn: list[DrawnFormula] = []
    for side, picture in (("truth", truth), ("prediction", pred)):
        if picture.drawn is None:
            return CdmScore(0.0, None, f"The {side} was not drawn. {picture.reason}")
        if not picture.drawn.tokens:
            return CdmScore(0.0, None, f"The {side} left no ink.")
        drawn.append(picture.drawn)
    counts = count_pairs(drawn[0], drawn[1], version)
    bags = [Counter(equivalent(sign, version) for sign in side.outside) for side in drawn]
    if not whole or not any(bags):
        return CdmScore(counts.f1, counts)
    shared, n_truth, n_pred = (bags[0] & bags[1]).total(), bags[0].total(), bags[1].total()
    counts = SignCounts(counts.matched + shared, counts.truth + n_truth, counts.pred + n_pred)
    which = f"{n_truth} signs of the truth and {n_pred} of the prediction"
    return CdmScore(counts.f1, counts, f"{which} fit on no paper: they are compared without their places.")


def _drawn(formulas: Sequence[str], version: Version) -> list[FormulaPicture]:
    pictures: dict[str, FormulaPicture] = {}
    open_formulas: list[tuple[str, Coloured]] = []
    for formula in formulas:
        cached = _from_cache(_cache_path(formula, version))
        if cached is not None:
            pictures[formula] = cached
            continue
        try:
            open_formulas.append((formula, colour(normalise(tokenise(formula), version), version)))
        except (FormatError, RecursionError) as error:
            pictures[formula] = FormulaPicture(None, str(error))
    for (formula, _), picture in zip(open_formulas, draw([c for _, c in open_formulas]), strict=True):
        pictures[formula] = picture
        path = _cache_path(formula, version)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, json.dumps(asdict(picture)).encode())
    return [pictures[formula] for formula in formulas]


# --- cache: by formula -------------------------------------------------------------------------------------


def _cache_path(formula: str, version: Version) -> Path:
    key = hashlib.sha256(f"{_CACHE_VERSION}\0{version}\0{formula}".encode("utf-8", "replace")).hexdigest()
    return cache_folder("cdm") / key[:2] / f"{key}.json"


def _from_cache(path: Path) -> FormulaPicture | None:
    try:
        data = json.loads(path.read_bytes())
        drawn = data["drawn"]
        if drawn is None:
            return FormulaPicture(None, str(data["reason"]))
        boxes = tuple((int(a), int(b), int(c), int(d)) for a, b, c, d in drawn["boxes"])
        tokens = tuple(str(t) for t in drawn["tokens"])
        if len(tokens) != len(boxes):
            return None
        outside = tuple(str(t) for t in drawn["outside"])
        return FormulaPicture(DrawnFormula(tokens, boxes, int(drawn["width"]), int(drawn["height"]), outside))
    except (OSError, ValueError, KeyError, TypeError):
        return None


# --- which sign of the prediction answers which of the truth, and how many do (steps 7 and 8) --------------

_BOX_WEIGHT, _ORDER_WEIGHT = 0.05, 0.15
_EQUIVALENT = {"v1.5": 0.05, "v1.6": 0.005}

_LAST_COMMAND = re.compile(r"\\[A-Za-z]+$|\\.$")


def equivalent(token: str, version: Version = "v1.6") -> str:
    """Return one name for tokens that look the same."""
    return _equivalent_new(token) if version == "v1.6" else _equivalent_old(token)


def _without_fence(token: str) -> str:
    return token.replace("\\left", "").replace("\\right", "")


def _without_size(token: str) -> str:
    command = _LAST_COMMAND.search(token[1:])
    return command[0] if command is not None else token[-1]


def _equivalent_new(token: str) -> str:
    is_fence = token.startswith(("\\left", "\\right"))
    if is_fence and not any(word in token for word in ("arrow", "harpoon", "<", ">")):
        token = _without_fence(token)
    elif token.startswith(("\\big", "\\Big")):
        token = _without_size(token)
    token = cdm_table("same").get(token, token)
    if token.startswith("\\wide"):
        token = token.replace("wide", "")
    if token.startswith("\\var"):
        token = token.replace("var", "", 1)
    return token.removeprefix("\\string")


def _equivalent_old(token: str) -> str:
    token = cdm_table("same_old").get(token, token)
    if token.startswith(("\\left", "\\right")):
        token = _without_fence(token)
    if token.startswith(("\\big", "\\Big")):
        token = _without_size(token)
    token = cdm_table("same_old_later").get(token, token)
    if token.endswith("rightarrow"):
        token = "\\rightarrow"
    elif token.endswith("leftarrow"):
        token = "\\leftarrow"
    if token.startswith("\\wide"):
        token = token.replace("wide", "")
    return token.removeprefix("\\var")


def count_pairs(truth: DrawnFormula, pred: DrawnFormula, version: Version = "v1.6") -> SignCounts:
    """Assign signs by look, place and order, and count those that are equal and where they should be."""
    n, m = len(truth.tokens), len(pred.tokens)
    if not n or not m:
        return SignCounts(0, n, m)
    looks = _look_costs(truth.tokens, pred.tokens, version)
    a, b = (max(n, m), max(n, m)) if version == "v1.6" else (n, m)
    order = np.abs(np.arange(n)[:, None] / a - np.arange(m)[None, :] / b)
    costs = looks + _BOX_WEIGHT * _box_costs(truth, pred) + _ORDER_WEIGHT * order
    rows, columns = linear_sum_assignment()(costs)
    source = _centres([truth.boxes[r] for r in rows])
    target = _centres([pred.boxes[c] for c in columns])
    right = _inliers(source, target, _RANSAC[version]) & (looks[rows, columns] != 1)
    return SignCounts(int(right.sum()), n, m)


def _look_costs(a: Sequence[str], b: Sequence[str], version: Version) -> NDArray[np.float64]:
    def are_equal(left: Sequence[str], right: Sequence[str]) -> NDArray[np.bool_]:
        return np.asarray(np.array(left, dtype=object)[:, None] == np.array(right, dtype=object)[None, :])

    alike = are_equal(*([equivalent(t, version) for t in side] for side in (a, b)))
    return np.where(are_equal(a, b), 0.0, np.where(alike, _EQUIVALENT[version], 1.0))


def _box_costs(truth: DrawnFormula, pred: DrawnFormula) -> NDArray[np.float64]:
    a, b = (np.array(f.boxes, dtype=np.float64) / ([f.width, f.height] * 2) for f in (truth, pred))
    return np.asarray(np.abs(a[:, None, :] - b[None, :, :]).sum(axis=2) / 4)


def _centres(boxes: Sequence[Box]) -> NDArray[np.float64]:
    return np.array([((y0 + y1) / 2, (x0 + x1) / 2) for x0, y0, x1, y1 in boxes]).reshape(-1, 2)


class _Ransac(NamedTuple):
    """How points are searched that moved together."""

    sample: int  # points of one trial
    trials: int
    seed: int
    near: float  # pixels from where a model puts a point, at most
    power: int  # of the distances whose sum decides between trials with as many points
    rounds: int  # each looks at what the ones before it have left


_RANSAC = {"v1.5": _Ransac(3, 50, 42, 25, 2, 3), "v1.6": _Ransac(2, 500, 2026, 30, 1, 5)}
"""v1.5 is scikit-image's `ransac`."""


def _inliers(source: NDArray[np.float64], target: NDArray[np.float64], ransac: _Ransac) -> NDArray[np.bool_]:
    found = np.zeros(len(source), dtype=bool)
    if len(source) <= ransac.sample:
        return ~found
    for _ in range(ransac.rounds):
        rest = np.flatnonzero(~found)
        if len(rest) <= ransac.sample:
            break
        inliers = _best_trial(source[rest], target[rest], ransac)
        if not inliers.any():
            break
        found[rest[inliers]] = True
    return found


def _best_trial(
    source: NDArray[np.float64], target: NDArray[np.float64], ransac: _Ransac
) -> NDArray[np.bool_]:
    """Return the points that are near where the shift and scale of a few of them puts them, in the best
    trial.
    """
    generator = np.random.default_rng(ransac.seed)
    samples = np.array(
        [generator.choice(len(source), ransac.sample, replace=False) for _ in range(ransac.trials)]
    )
    a, b = source[samples], target[samples]
    mean_a, mean_b = a.mean(axis=1), b.mean(axis=1)
    spread_a = np.linalg.norm(a - mean_a[:, None], axis=2).mean(axis=1)
    spread_b = np.linalg.norm(b - mean_b[:, None], axis=2).mean(axis=1)
    scale = spread_b / (spread_a + 1e-10)
    centre = source.mean(axis=0)
    moved = scale[:, None, None] * (source - centre) + centre + (mean_b - mean_a)[:, None]
    residuals = np.linalg.norm(moved - target, axis=2)
    inliers = residuals < ransac.near
    best = np.lexsort(((residuals**ransac.power).sum(axis=1), -inliers.sum(axis=1)))[0]
    return np.asarray(inliers[best])
