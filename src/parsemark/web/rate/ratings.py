"""What raters said: kept as it was given, one row for each answer, in a file beside the pairs.

Nothing is overwritten. A rater who changes an answer adds a row, and undoing adds a row without a score;
the last row of a place counts. An answer that is sent twice (a lost connection, a second tab) has the same
`nonce` and is kept once.
"""

import random
import secrets
import sqlite3
import time
from collections import defaultdict
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from parsemark.study import RaterAgreement, krippendorff_alpha, rater_agreement
from parsemark.study.ratings import PairToRate, RatedPair, Tasks
from parsemark.web.database import Database

_SCHEMA = Path(__file__).with_name("ratings.sql").read_text(encoding="utf-8")
_VERSION = 1
_CURRENT = (
    "SELECT p.rater, p.place, p.pair, p.is_repeat, a.score, a.comment, m.created IS NOT NULL "
    "FROM places p LEFT JOIN answers a ON a.id = (SELECT MAX(id) FROM answers WHERE rater = p.rater "
    "AND place = p.place) LEFT JOIN marked m ON m.rater = p.rater AND m.place = p.place "
)
MIN_DISTANCE = 5  # a repeat comes at least so many places after the pair, where there are so many


def sequence(pairs: list[str], share_repeated: float, seed: int) -> list[tuple[str, bool]]:
    """Return a rater's own order: all pairs by chance, and some of them hidden among them a second time.
    Whether a pair is a repeat stands beside it; a repeat never stands before the pair itself.
    """
    rng = random.Random(seed)
    order = list(pairs)
    rng.shuffle(order)
    n_repeated = min(len(order), round(share_repeated * len(order)))
    gap = min(MIN_DISTANCE, max(1, len(order) - 1))
    # Only pairs with enough others behind them; a pair shown twice in a row tells of memory, not of
    # judgement.
    candidates = order[: max(0, len(order) - gap + 1)] if len(order) > 1 else []
    places: list[tuple[str, bool]] = [(pair, False) for pair in order]
    repeated = rng.sample(candidates, min(n_repeated, len(candidates)))
    # From the first pair on: what is put in later stands behind it, and can only widen earlier distances.
    for pair in sorted(repeated, key=order.index):
        first = next(k for k, (name, again) in enumerate(places) if name == pair and not again)
        places.insert(rng.randint(min(first + gap, len(places)), len(places)), (pair, True))
    return places


@dataclass(frozen=True, slots=True)
class Rater:
    """Somebody who rates."""

    id: int
    name: str
    code: str


@dataclass(frozen=True, slots=True)
class RatingPlace:
    """One place in a rater's order, with the answer that counts."""

    rater: int
    place: int
    pair: str
    is_repeat: bool
    score: float | None
    comment: str
    marked: bool  # whether differences were shown


class NameTakenError(Exception):
    """Somebody else rates under that name."""


class RatingStore:
    """The ratings of one file of pairs."""

    def __init__(self, path: Path, tasks: Tasks, share_repeated: float) -> None:
        self.tasks = tasks
        self.share_repeated = share_repeated
        self._db = Database(path, _SCHEMA, _VERSION)
        self.organiser_key = self._fact("organiser", secrets.token_urlsafe(18))
        self.secret = self._db.secret()

    def _fact(self, name: str, value: str) -> str:
        def keep(db: sqlite3.Connection) -> str:
            db.execute("INSERT OR IGNORE INTO facts VALUES (?, ?)", (name, value))
            return str(db.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()[0])

        return self._db.write(keep).result()

    def close(self) -> None:
        """Write what is waiting, and close."""
        self._db.close()

    def rater_of(self, browser: str) -> Rater | None:
        """Return the rater at this browser."""
        rows = self._db.read(
            "SELECT r.id, r.name, r.code FROM raters r JOIN browsers b ON b.rater = r.id WHERE b.browser = ?",
            (browser,),
        )
        return Rater(*rows[0]) if rows else None

    def enter(self, name: str, browser: str) -> Future[Rater]:
        """Begin to rate under a new name, in an order of one's own."""

        def add(db: sqlite3.Connection) -> Rater:
            code = secrets.token_urlsafe(12)
            try:
                found = db.execute(
                    "INSERT INTO raters (name, code, created) VALUES (?, ?, ?)", (name, code, time.time())
                )
            except sqlite3.IntegrityError as error:
                raise NameTakenError(name) from error
            rater = int(found.lastrowid or 0)
            pairs = [pair.id for pair in self.tasks.pairs]
            order = sequence(pairs, self.share_repeated, secrets.randbits(48))
            rows = [(rater, place, pair, again) for place, (pair, again) in enumerate(order)]
            db.executemany("INSERT INTO places VALUES (?, ?, ?, ?)", rows)
            db.execute("INSERT OR REPLACE INTO browsers VALUES (?, ?)", (browser, rater))
            return Rater(rater, name, code)

        return self._db.write(add)

    def enter_by_code(self, code: str, browser: str) -> Future[bool]:
        """Continue at another browser, with the rater's own link."""

        def add(db: sqlite3.Connection) -> bool:
            found = db.execute("SELECT id FROM raters WHERE code = ?", (code,)).fetchone()
            if found is None:
                return False
            db.execute("INSERT OR REPLACE INTO browsers VALUES (?, ?)", (browser, found[0]))
            return True

        return self._db.write(add)

    def places(self, rater: int | None = None) -> list[RatingPlace]:
        """Return all places, of one rater or of all, in their order."""
        where = "" if rater is None else "WHERE p.rater = ? "
        values = () if rater is None else (rater,)
        rows = self._db.read(f"{_CURRENT}{where}ORDER BY p.rater, p.place", values)
        return [
            RatingPlace(whose, place, pair, bool(is_repeat), score, comment or "", bool(marked))
            for whose, place, pair, is_repeat, score, comment, marked in rows
        ]

    def n_places(self, rater: int) -> int:
        """Return how many places a rater's order has."""
        return int(self._db.read("SELECT COUNT(*) FROM places WHERE rater = ?", (rater,))[0][0])

    def answer(
        self, rater: int, place: int, score: float | None, comment: str, seconds: float | None, nonce: str
    ) -> Future[None]:
        """Keep an answer; without a score it undoes the one before. The same nonce is kept once."""

        def add(db: sqlite3.Connection) -> None:
            db.execute(
                "INSERT OR IGNORE INTO answers (rater, place, score, comment, seconds, nonce, created) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (rater, place, score, comment, seconds, f"{rater}:{nonce}", time.time()),
            )

        return self._db.write(add)

    def mark(self, rater: int, place: int) -> Future[None]:
        """Keep that a rater had the differences shown."""

        def add(db: sqlite3.Connection) -> None:
            db.execute("INSERT OR IGNORE INTO marked VALUES (?, ?, ?)", (rater, place, time.time()))

        return self._db.write(add)

    def raters(self) -> list[Rater]:
        """Return all raters, in the order in which they came."""
        return [Rater(*row) for row in self._db.read("SELECT id, name, code FROM raters ORDER BY id")]


@dataclass(frozen=True, slots=True)
class RaterSummary:
    """How far one rater is, and how constant."""

    rater: Rater
    n_done: int
    n_all: int
    mean: float | None
    n_repeated: int
    repeat_difference: float | None  # mean absolute difference between two ratings of the same pair
    share_marked: float | None


@dataclass(frozen=True, slots=True)
class Standing:
    """What the organiser sees."""

    raters: tuple[RaterSummary, ...]
    agreement: RaterAgreement
    alpha_repeats: float | None  # Krippendorff's alpha of raters with themselves
    n_ratings: int
    n_pairs_rated: int


def standing(store: RatingStore) -> Standing:
    """Return progress and agreement at this moment."""
    by_rater: defaultdict[int, list[RatingPlace]] = defaultdict(list)
    for place in store.places():
        by_rater[place.rater].append(place)
    repeats: list[tuple[float, float]] = []
    summaries = []
    for rater in store.raters():
        places = by_rater[rater.id]
        done = [p for p in places if p.score is not None]
        first = {p.pair: p.score for p in done if not p.is_repeat}
        twice = [
            (a, p.score)
            for p in done
            if p.is_repeat and p.score is not None and (a := first.get(p.pair)) is not None
        ]
        repeats += twice
        summaries.append(
            RaterSummary(
                rater, len(done), len(places), _mean([p.score for p in done if p.score is not None]),
                len(twice), _mean([abs(a - b) for a, b in twice]), _mean([float(p.marked) for p in done]),
            )
        )  # fmt: skip
    rated = _ratings_by_pair(store)
    return Standing(
        tuple(summaries),
        rater_agreement(
            [[score for _, score, _ in given] for given in rated.values()],
            [[name for name, _, _ in given] for given in rated.values()],
        ),
        krippendorff_alpha(repeats),
        sum(s.n_done for s in summaries),
        len(rated),
    )


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _ratings_by_pair(store: RatingStore) -> dict[str, list[tuple[str, float, str]]]:
    """Return name, score and comment of every first rating, by pair and in the order of raters."""
    names = {rater.id: rater.name for rater in store.raters()}
    found: dict[str, list[tuple[str, float, str]]] = {}
    for place in store.places():
        if place.score is not None and not place.is_repeat:
            found.setdefault(place.pair, []).append((names[place.rater], place.score, place.comment))
    return found


def export(store: RatingStore) -> dict[str, object]:
    """Return the ratings in the study's format; pairs that nobody has rated are left out."""
    rated = _ratings_by_pair(store)
    pairs = [_rated_pair(pair, rated[pair.id]) for pair in store.tasks.pairs if pair.id in rated]
    return {
        "schema_version": 1,
        "kind": store.tasks.kind,
        "pairs": [pair.model_dump(mode="json", exclude_defaults=True) for pair in pairs],
    }


def _rated_pair(pair: PairToRate, given: list[tuple[str, float, str]]) -> RatedPair:
    return RatedPair(
        **pair.model_dump(),
        ratings=tuple(score for _, score, _ in given),
        raters=tuple(name for name, _, _ in given),
        comments=tuple(f"{name}: {comment}" for name, _, comment in given if comment),
    )
