"""CDM of pairs of formulas: tokenise, colour, draw, assign, count; what was drawn once is remembered."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from parsemark.errors import FormatError
from parsemark.metrics.cdm.colours import Coloured, Version, colour, normalise
from parsemark.metrics.cdm.render import FormulaPicture, draw
from parsemark.metrics.cdm.symbol_pairs import DrawnFormula, SignCounts, count_pairs
from parsemark.metrics.cdm.tokens import tokenise
from parsemark.system import cache_folder
from parsemark.system.files import write_bytes

_CACHE_VERSION = 4


@dataclass(frozen=True, slots=True)
class CdmScore:
    """The value of one pair, and why it is 0 where a formula could not be drawn."""

    value: float
    counts: SignCounts | None = None
    reason: str | None = None


def cdm_scores(pairs: Sequence[tuple[str, str]], version: Version = "v1.6") -> list[CdmScore]:
    """CDM of (truth, prediction) pairs.

    Raises:
        MissingDependencyError: There is no pdflatex that works, and a formula was never drawn before.
    """
    wanted = list(dict.fromkeys(formula for pair in pairs for formula in pair if formula.strip()))
    drawn = dict(zip(wanted, _drawn(wanted, version), strict=True))
    empty = FormulaPicture(None, "It is empty.")
    return [_score(drawn.get(truth, empty), drawn.get(pred, empty), version) for truth, pred in pairs]


def _score(truth: FormulaPicture, pred: FormulaPicture, version: Version) -> CdmScore:
    for side, picture in (("truth", truth), ("prediction", pred)):
        if picture.drawn is None:
            return CdmScore(0.0, None, f"The {side} was not drawn. {picture.reason}")
        if not picture.drawn.tokens:
            return CdmScore(0.0, None, f"The {side} left no ink.")
    assert truth.drawn is not None and pred.drawn is not None
    counts = count_pairs(truth.drawn, pred.drawn, version)
    return CdmScore(counts.f1, counts)


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
        _to_cache(_cache_path(formula, version), picture)
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
        return FormulaPicture(DrawnFormula(tokens, boxes, int(drawn["width"]), int(drawn["height"])))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _to_cache(path: Path, picture: FormulaPicture) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, json.dumps(asdict(picture)).encode())
