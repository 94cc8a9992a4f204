"""Rated pairs: our file format, and how the published files become it.

Our format is one JSON object::

    {"schema_version": 1, "kind": "table", "pairs": [
      {"id": "t1/parser_a", "group": "t1", "truth": "…", "truth_html": "…", "pred": "…",
       "ratings": [9, 10, 8], "metrics": {"teds": 0.93},
       "judges": [{"judge": "model-x", "score": 9, "prompt": "tuned", "cost_usd": 0.0002}]}]}

`group` says which pairs are not independent (the same truth); intervals are clustered by it. `kind` is
`table` or `formula`. All but `id`, `truth`, `pred` and `ratings` may be left out. `parser`, `complexity`,
`picture`, `region`, `raters` and `comments` are what `study sample` and `parsemark study rate` add.

Pairs to rate, which `study sample` writes and `parsemark study rate` reads, are a ratings file without
ratings. Pictures are files below the folder of the file; `region` is where the table lies on the picture, in
parts of its width and height.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, field_validator, model_validator

from parsemark.errors import StudyError
from parsemark.plain_words import counted, first_problem

MAX_FILE_BYTES = 500_000_000
_SHOWN_ID = 80
DEFAULT_PROMPT = "tuned"  # the prompt of judgements that name none; the published study's main one
QUESTION = {
    "table": "How well does the extraction preserve the table: all values, headers, and which belong "
    "together?",
    "formula": "How well does the extraction preserve what the formula means?",
}
_PICTURES = frozenset({".webp", ".png"})


def _no_truth_value(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("true and false are not numbers")
    return value


Number = Annotated[float, BeforeValidator(_no_truth_value), Field(allow_inf_nan=False)]
"""JSON's `true` would be read as 1; Python reads `NaN` and `Infinity`, with which nothing can be counted."""


class Judgement(BaseModel, extra="forbid", frozen=True):
    """What one language model said of a pair."""

    judge: str
    score: Number = Field(ge=0, le=10)
    prompt: str = DEFAULT_PROMPT
    cost_usd: Number | None = None
    errors: tuple[str, ...] = ()


Part = Annotated[Number, Field(ge=0, le=1)]


class PairToRate(BaseModel, extra="forbid", frozen=True):
    """A truth and an extraction."""

    id: str
    group: str = ""
    truth: str
    truth_html: str | None = None
    pred: str
    parser: str = ""
    complexity: str = ""
    picture: str | None = None  # a picture of the page, as a path below the folder of the file
    region: tuple[Part, Part, Part, Part] | None = None  # of the table, in parts of the picture's sides


class RatedPair(PairToRate, frozen=True):
    """A pair, and what people, metrics and judges said of it."""

    ratings: tuple[Number, ...] = Field(min_length=1)
    raters: tuple[str, ...] = ()  # who gave the ratings, in their order; empty where that is not known
    comments: tuple[str, ...] = ()
    metrics: Mapping[str, Number] = Field(default_factory=dict)
    judges: tuple[Judgement, ...] = ()

    @field_validator("ratings")
    @classmethod
    def _finite(cls, ratings: tuple[float, ...]) -> tuple[float, ...]:
        if any(not 0 <= rating <= 10 for rating in ratings):
            raise ValueError("ratings are numbers from 0 to 10")
        return ratings

    @model_validator(mode="after")
    def _one_name_each(self) -> Self:
        if self.raters and len(self.raters) != len(self.ratings):
            raise ValueError(f"{len(self.raters)} raters for {counted(len(self.ratings), 'rating')}")
        if len(set(self.raters)) < len(self.raters):
            raise ValueError("two raters have the same name")
        return self

    @property
    def cluster(self) -> str:
        """Return the cluster of the pair."""
        return self.group or self.id

    @property
    def mean_rating(self) -> float:
        """Return the mean of people's ratings."""
        return sum(self.ratings) / len(self.ratings)

    @property
    def is_empty(self) -> bool:
        """Return whether nothing was extracted; such pairs are left out of correlations, as in the paper."""
        return not self.pred.strip()


SomePair = TypeVar("SomePair", bound=PairToRate)


class RatingsFile(BaseModel, extra="forbid"):
    """The file as a whole; pairs are validated one by one, so that a broken one costs only itself."""

    schema_version: Literal[1]
    kind: Literal["table", "formula"] = "table"
    pairs: list[Any]


@dataclass(frozen=True)
class Ratings:
    """All readable pairs of a file, and why the others are not."""

    kind: str
    pairs: tuple[RatedPair, ...]
    problems: tuple[str, ...]

    def scored(self, values: Sequence[float | None]) -> list[tuple[RatedPair, float]]:
        """Return the pairs that correlations are taken over, with their values: those that have both."""
        rows = zip(self.pairs, values, strict=True)
        return [(pair, value) for pair, value in rows if value is not None and not pair.is_empty]


def read_json(path: Path) -> Any:
    """Read a file of pairs; raise StudyError if it is too large or not JSON."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise StudyError(f"{path} has more than {MAX_FILE_BYTES:,} bytes; split it by tables")
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise StudyError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise StudyError(f"{path} is not JSON: {error}") from error


def read_ratings(path: Path) -> Ratings:
    """Read a ratings file, ours or a published one; StudyError without a known format or a readable pair."""
    return Ratings(*_read_pairs(read_json(path), path, RatedPair, set()))


def _read_pairs(
    data: object, path: Path, model: type[SomePair], unseen: Set[str]
) -> tuple[str, tuple[SomePair, ...], tuple[str, ...]]:
    """Return the kind, the readable pairs and the problems of a file; keys that are `unseen` are left out."""
    kind, entries = _entries(data, path)
    pairs: dict[str, SomePair] = {}
    problems: list[str] = []
    for name, entry in entries:
        try:
            shown = {k: v for k, v in entry.items() if k not in unseen} if isinstance(entry, dict) else entry
            pair = model.model_validate(shown)
            if pairs.setdefault(pair.id, pair) is not pair:
                problems.append(f"{name}: id: another pair has it already")
        except ValidationError as error:
            problems.append(f"{name}: {first_problem(error, 'the entry')}")
    if not pairs:
        first = f" The first problem: {problems[0]}" if problems else ""
        raise StudyError(f"{path} has no pair that can be read.{first}")
    return kind, tuple(pairs.values()), tuple(problems)


def _entries(data: object, path: Path) -> tuple[str, Iterator[tuple[str, object]]]:
    if isinstance(data, dict):
        try:
            file = RatingsFile.model_validate(data)
        except ValidationError as error:
            raise StudyError(f"{path} is not a ratings file: {first_problem(error)}") from error
        return file.kind, ((_name_of(k, pair), pair) for k, pair in enumerate(file.pairs, 1))
    for kind, published in (("formula", _published_formulas), ("table", _published_tables)):
        if isinstance(data, list) and any(isinstance(d, dict) and f"gt_{kind}" in d for d in data):
            return kind, published(data)
    raise StudyError(
        f"{path} is not a known ratings file: neither ours (an object with `schema_version` and `pairs`) "
        "nor a published one (a list with `gt_table` or `gt_formula`). See docs/how-to/study.md"
    )


def _name_of(number: int, pair: object) -> str:
    """Return the place of a pair in its file, with its id if it has one."""
    identity = pair.get("id") if isinstance(pair, dict) else None
    named = f" ({identity[:_SHOWN_ID]!r})" if isinstance(identity, str) and identity else ""
    return f"pair {number}{named}"


def _published_tables(data: list[Any]) -> Iterator[tuple[str, object]]:
    for number, table in enumerate(data, 1):
        has_some = isinstance(table, dict) and isinstance(table.get("extractions"), list)
        for extraction in table["extractions"] if has_some else [table]:
            if not has_some or not isinstance(extraction, dict):
                yield f"table {number}", extraction
                continue
            identity = f"{table.get('gt_id')}/{extraction.get('parser')}"
            pair = {"id": identity, "group": str(table.get("gt_id")), "truth": table.get("gt_table")}
            said = {"pred": extraction.get("extracted_table"), "ratings": extraction.get("human_scores")}
            pair |= {"truth_html": table.get("gt_table_html"), **said}
            yield identity, {**pair, **_stored(extraction)}


def _published_formulas(data: list[Any]) -> Iterator[tuple[str, object]]:
    for number, pair in enumerate(data):
        if not isinstance(pair, dict):
            yield f"formula {number + 1}", pair
            continue
        identity = str(pair.get("gt_id", number + 1))
        given = {"truth": "gt_formula", "pred": "extracted_formula", "ratings": "human_study_scores"}
        known = {key: pair.get(name) for key, name in given.items()}
        yield identity, {"id": f"{identity}/{number + 1}", "group": identity, **known, **_stored(pair)}


def _stored(entry: dict[str, Any]) -> dict[str, object]:
    """Return stored metric values, and judgements under every prompt the file has."""
    metrics = entry.get("metrics")
    judges: list[dict[str, object]] = []
    for key, scores in entry.items():
        if not key.startswith("llm_scores") or not isinstance(scores, list):
            continue
        prompt = key.removeprefix("llm_scores").strip("_") or DEFAULT_PROMPT
        judges += [_judgement(score, prompt) for score in scores if isinstance(score, dict)]
    known = metrics.items() if isinstance(metrics, dict) else ()
    return {
        "metrics": {name: value for name, value in known if isinstance(value, int | float)},
        "judges": [judgement for judgement in judges if judgement["score"] is not None],
    }


def _judgement(score: dict[str, Any], prompt: str) -> dict[str, object]:
    cost = score.get("cost_usd", score.get("cost"))
    return {
        "judge": score.get("judge_model", score.get("judge")),
        "score": score.get("score"),
        "prompt": score.get("prompt", score.get("prompt_variant", prompt)),
        "cost_usd": cost if isinstance(cost, int | float) else None,
        "errors": tuple(e for e in score.get("errors") or () if isinstance(e, str)),
    }


class PairsFile(BaseModel, extra="forbid"):
    """The file as a whole."""

    schema_version: int = Field(default=1, ge=1, le=1)
    kind: str = Field(default="table", pattern="^(table|formula)$")
    question: str | None = None  # what raters are asked; a default for each kind
    pairs: list[PairToRate]


@dataclass(frozen=True)
class Tasks:
    """Pairs to be rated."""

    kind: str
    question: str
    pairs: tuple[PairToRate, ...]
    folder: Path  # below which pictures lie
    problems: tuple[str, ...] = ()  # why further pairs of the file cannot be shown

    def picture_of(self, pair: PairToRate) -> Path | None:
        """Return the picture of a pair's page; None if there is none inside of the folder."""
        if pair.picture is None:
            return None
        name = PurePosixPath(pair.picture)
        if name.is_absolute() or ".." in name.parts or name.suffix not in _PICTURES:
            return None
        path = (self.folder / name).resolve()
        return path if path.is_relative_to(self.folder.resolve()) and path.is_file() else None


def read_tasks(path: Path) -> Tasks:
    """Read pairs to rate, from a file of `study sample` or from any ratings file, whose ratings are not
    looked at. StudyError if the file cannot be read, or has no pairs, or two with the same id.
    """
    data = read_json(path)
    question, problems = None, tuple[str, ...]()
    if isinstance(data, dict) and not any(
        isinstance(pair, dict) and "ratings" in pair for pair in data.get("pairs") or ()
    ):
        try:
            file = PairsFile.model_validate(data)
        except ValidationError as error:
            raise StudyError(f"{path}: {first_problem(error)}") from error
        kind, question, pairs = file.kind, file.question, tuple(file.pairs)
    else:
        said_of_it = RatedPair.model_fields.keys() - PairToRate.model_fields.keys()
        kind, pairs, problems = _read_pairs(data, path, PairToRate, said_of_it)
    if not pairs:
        raise StudyError(f"{path} has no pairs")
    twice = [name for name, n in Counter(pair.id for pair in pairs).items() if n > 1]
    if twice:
        raise StudyError(f"{path} has two pairs with the id {twice[0]!r}")
    return Tasks(kind, question or QUESTION[kind], pairs, path.parent, problems)
