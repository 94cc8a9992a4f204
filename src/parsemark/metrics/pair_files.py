"""Scoring files of pairs: JSON lines with a truth and a prediction each, any number, on many cores."""

import contextlib
import heapq
import json
import math
import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from typing import Any, NoReturn

from parsemark.errors import FormatError
from parsemark.formats import FORMATS
from parsemark.metrics import TableInput, get_metric, guarded, list_metrics, score_prepared
from parsemark.metrics.base import Metric
from parsemark.model import Score, Status
from parsemark.system.pool import Finished, Lost, ProcessPool, results_of

_CHUNK = 32
_REMEMBERED_TRUTHS = 64

Line = tuple[int, str]  # number, counted from 1, and text


@dataclass(frozen=True, slots=True)
class PairScore:
    """The score of one metric for one line."""

    line: int
    id: Any  # as the file has it; `line N` where the line could not be read
    score: Score

    def as_json(self) -> str:
        """Return the line of output: value and status, and message, errors and details where there are
        any.
        """
        score = self.score
        row: dict[str, Any] = {"id": self.id, "metric": score.metric, "value": score.value}
        row["status"] = score.status.value
        if score.message is not None:
            row["message"] = score.message
        if errors := score.details.get("errors"):
            row["errors"] = [{key: e[key] for key in ("kind", "message", "cost") if key in e} for e in errors]
        if details := {key: value for key, value in score.details.items() if key != "errors"}:
            row["details"] = details
        return json.dumps(row, default=str)


ALL = "all"  # in place of a metric: every one that compares tables, with its default options


def expand_metrics(metrics: Sequence[str]) -> list[str]:
    """Return the specs with `all` spelt out, each once, as they are stored; raise UsageError where one does
    not exist.
    """
    tables = [str(metric) for metric in list_metrics() if metric.metadata.kind == "table"]
    named = (tables if spec.strip() == ALL else [str(get_metric(spec))] for spec in metrics)
    return list(dict.fromkeys(name for names in named for name in names))


def score_lines(
    lines: Iterable[str], metrics: Sequence[str], workers: int = 1, *, raw: bool = False
) -> Iterator[PairScore]:
    """Score each line with each metric, in the order of the lines at any number of workers.

    A line is `{"id", "truth", "pred"}`, with `truth_format` and `pred_format` where the format should not be
    found out. `"pred": null` says that there is no prediction: the metric's value for an empty one counts.
    A line that cannot be read costs only itself. Blank lines are skipped, and so is a byte order mark. `raw`
    keeps the white space of HTML as it is written; by default it is read as everywhere (`TableInput`).
    """
    names = tuple(str(get_metric(spec)) for spec in metrics)
    unmarked = (line.removeprefix("\ufeff") for line in lines)
    numbered = ((number, line) for number, line in enumerate(unmarked, 1) if line.strip())
    if workers <= 1:
        for chunk in _chunks(numbered):
            yield from _score_chunk(chunk, names, raw)
        return
    score = partial(_score_numbered, names=names, raw=raw)
    with ProcessPool(score, workers, timeout_s=math.inf, memory_mb=None) as pool:
        early: list[tuple[int, list[PairScore]]] = []  # those whose turn has not come
        following = 0
        for done in results_of(pool, enumerate(_chunks(numbered))):
            heapq.heappush(early, (done.task[0], _scores_of(done, names, score)))
            while early and early[0][0] == following:
                yield from heapq.heappop(early)[1]
                following += 1


def _chunks(lines: Iterator[Line]) -> Iterator[list[Line]]:
    while chunk := list(islice(lines, _CHUNK)):
        yield chunk


def _score_chunk(chunk: Sequence[Line], names: Sequence[str], raw: bool) -> list[PairScore]:
    metrics = [get_metric(name) for name in names]
    return [score for number, text in chunk for score in _score_line(number, text, metrics, raw)]


def _score_numbered(chunk: tuple[int, list[Line]], names: Sequence[str], raw: bool) -> list[PairScore]:
    return _score_chunk(chunk[1], names, raw)


def _scores_of(
    done: Finished[tuple[int, list[Line]]] | Lost[tuple[int, list[Line]]],
    names: Sequence[str],
    score: Callable[[tuple[int, list[Line]]], list[PairScore]],
) -> list[PairScore]:
    """Return the scores of a chunk; one that has ended its process is scored again line by line."""
    if isinstance(done, Finished):
        scores: list[PairScore] = done.result
        return scores
    (number, text), *others = done.task[1]
    if not others:
        identity: Any = f"line {number}"
        with contextlib.suppress(FormatError):
            identity = _read_object(text).get("id", identity)
        failed = (Score(name, None, Status.METRIC_FAILED, message=done.reason) for name in names)
        return [PairScore(number, identity, one) for one in failed]
    with ProcessPool(score, 1, timeout_s=math.inf, memory_mb=None) as pool:
        alone = results_of(pool, ((0, [line]) for line in done.task[1]))
        return [score_of_line for one in alone for score_of_line in _scores_of(one, names, score)]


def _score_line(number: int, text: str, metrics: Sequence[Metric[Any]], raw: bool) -> list[PairScore]:
    identity: Any = f"line {number}"
    try:
        pair = _read_object(text)
        identity = pair.get("id", identity)
        _check_pair(pair)
        truth = _prepared_truth(pair["truth"], pair.get("truth_format"), raw=raw)
        pred = TableInput(pair["pred"], pair.get("pred_format"), raw=raw)
    except FormatError as error:
        failed = (Score(str(m), None, Status.METRIC_FAILED, message=str(error)) for m in metrics)
        return [PairScore(number, identity, score) for score in failed]
    if pair["pred"] is None:
        empty = ((str(m), m.metadata.one_empty, Status.NO_PREDICTION, "no prediction") for m in metrics)
        return [PairScore(number, identity, Score(*values)) for values in empty]
    return [PairScore(number, identity, guarded(m, partial(score_prepared, m, truth, pred))) for m in metrics]


_UNDECODED = re.compile("[\udc80-\udcff]")


def read_pair(text: str) -> dict[str, Any]:
    """Read one line, `{"id", "truth", "pred"}`, for metrics and judges alike; FormatError for any other."""
    pair = _read_object(text)
    _check_pair(pair)
    return pair


def _read_object(text: str) -> dict[str, Any]:
    if found := _UNDECODED.search(text):
        raise FormatError("The line is not UTF-8 text", position=found.start())
    try:
        pair = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"The line is not JSON: {error}") from error
    if not isinstance(pair, dict):
        raise FormatError('The line is not an object with "id", "truth" and "pred"')
    return pair


def _refuse_constant(name: str) -> NoReturn:
    """NaN and infinities are no JSON; written back as an id they would spoil the output for others."""
    raise ValueError(f"{name} is not a valid JSON value")


def _finite(text: str) -> float:
    """Refuse numbers like `1e999`, which JSON has, but Python reads as infinite and nothing else can read
    back.
    """
    return number if math.isfinite(number := float(text)) else _refuse_constant(text)


def _check_pair(pair: dict[str, Any]) -> None:
    for key in ("id", "truth", "pred"):
        if key not in pair:
            raise FormatError(f'The line has no "{key}"')
    if not isinstance(pair["truth"], str):
        raise FormatError(f'"truth" must be a text, not {type(pair["truth"]).__name__}')
    if not isinstance(pair["pred"], str | None):
        raise FormatError(f'"pred" must be a text or null, not {type(pair["pred"]).__name__}')
    for key in ("truth_format", "pred_format"):
        if pair.get(key) not in (None, *FORMATS):
            raise FormatError(f'"{key}" must be one of {", ".join(FORMATS)}, not {pair[key]!r}')


_prepared_truth = lru_cache(maxsize=_REMEMBERED_TRUTHS)(TableInput)


@dataclass(frozen=True, slots=True)
class MetricSummary:
    """All values of one metric."""

    metric: str
    values: tuple[float, ...]
    n_failed: int

    @property
    def mean(self) -> float | None:
        """Return the mean over the values; None without any."""
        return statistics.fmean(self.values) if self.values else None

    @property
    def median(self) -> float | None:
        """Return the median of the values; None without any."""
        return statistics.median(self.values) if self.values else None


class PairSummary:
    """Collects scores while they pass."""

    def __init__(self, metrics: Sequence[str]) -> None:
        self._values: dict[str, list[float]] = {str(get_metric(spec)): [] for spec in metrics}
        self._failed = dict.fromkeys(self._values, 0)

    def add(self, score: Score) -> None:
        """Count one score."""
        if score.value is None:
            self._failed[score.metric] += 1
        else:
            self._values[score.metric].append(score.value)

    def rows(self) -> list[MetricSummary]:
        """Return the result, one row per metric."""
        return [MetricSummary(m, tuple(v), self._failed[m]) for m, v in self._values.items()]
