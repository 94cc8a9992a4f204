"""getomni-ai/benchmark's rules: similarity of two texts, and accuracy of extracted JSON by json-diff.

Everything is as in `getomni-ai/benchmark` at commit f54e6b5 with json-diff 1.0.6; `docs/getomni.md`
lists what is wrong with it and kept.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from difflib import SequenceMatcher
from typing import Annotated, Any, ClassVar

from pydantic import Strict
from rapidfuzz.distance import Levenshtein

from parsemark.errors import FormatError
from parsemark.formats import markdown_of, write_document
from parsemark.model import Page, Prediction
from parsemark.protocols import BoardRun, Files, as_json
from parsemark_boards.measured_protocol import MeasuredProtocol, own_truth

MARKDOWN, JSON = "trueMarkdownOutput", "trueJsonOutput"
"""Where a page keeps its truth, named as in the benchmark's files."""
Json = Any
_JS_SPACE = "\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff"
_JS_SPACE += "".join(map(chr, range(0x2000, 0x200B)))
MAX_STEPS = 500_000  # values that a diff may look at; lists of lists of objects are compared all with all
MAX_DEPTH = 100
_PAGE_MARK = re.compile(r"[ \t]*<!--\s*/?(?:header|footer|page(?:[ _-]?\w{1,12})?)\s*-->[ \t]*\n?", re.I)


@dataclass(frozen=True)
class GetomniProtocol(MeasuredProtocol):
    """Text similarity, and accuracy of extracted JSON, as getomni's benchmark computes them.

    Args:
        ignore_cases: Compare values of objects in upper case; not so in the published runs.
        empty_left_out: An empty answer is left out of the mean of JSON accuracy, as upstream has it.
        page_marks: Comments that mark headers, footers and pages in the truth count as text, as upstream has
            it: then an exact transcript cannot score 1.
    """

    name: ClassVar[str] = "getomni"
    title: ClassVar[str] = "getomni's benchmark: text similarity and JSON accuracy"
    upstream: ClassVar[str] = "getomni-ai/benchmark f54e6b5 (May 2025)"
    comparability: ClassVar[int] = 2
    figures_by_kind: ClassVar[Mapping[str, str]] = {"text": "text_similarity"}
    truth_models: ClassVar[Mapping[str, Any]] = {MARKDOWN: Annotated[str, Strict()], JSON: dict[str, Any]}

    ignore_cases: bool = False
    empty_left_out: bool = True
    page_marks: bool = False

    def measure(self, truth: Page, prediction: Prediction) -> Mapping[str, float | None] | None:
        """Return the two numbers of a page; where upstream has NaN its dashboard counts 0."""
        text = markdown_of(prediction)
        expected = own_truth(truth, MARKDOWN)
        if expected is None:
            expected = write_document(truth)
        elif not self.page_marks:
            expected, text = (_PAGE_MARK.sub("", own) for own in (expected, text))
        similarity = text_similarity(expected, text)
        values: dict[str, float | None] = {"text_similarity": 0.0 if math.isnan(similarity) else similarity}
        if (content := own_truth(truth, JSON)) is not None:
            try:
                answer = json.loads(text)
            except (ValueError, RecursionError):
                values["json_accuracy"] = None if self.empty_left_out and not text.strip() else 0.0
            else:
                score = json_accuracy(content, answer, ignore_cases=self.ignore_cases)
                values["json_accuracy"] = 0.0 if math.isnan(score) else score
        return values

    def result_files(self, board: BoardRun) -> Files:
        """Return `results.json`: an entry for each document and model."""
        entries = []
        for parser in board.parsers:
            values = board.values(parser)
            for sample, _, _ in board.pages():
                own, truth = values.get(sample, {}), board.run.truth(sample) or Page(sample, 0, 0)
                expected = own_truth(truth, MARKDOWN)
                entry = {
                    "fileUrl": sample,  # the pages of a document have one file name
                    "ocrModel": parser,
                    "trueMarkdown": write_document(truth) if expected is None else expected,
                    "trueJson": own_truth(truth, JSON),
                    "predictedMarkdown": markdown_of(board.prediction(sample, parser)),
                    "levenshteinDistance": own.get("text_similarity"),
                    "jsonAccuracy": own.get("json_accuracy"),
                }
                entries.append(entry)
        yield "results.json", as_json(entries)


def text_similarity(truth: str, pred: str) -> float:
    """Return 1 − Levenshtein distance over the longer length, without case and outer white space, four
    decimals.

    NaN where nothing but white space is compared.
    """
    if truth == pred:
        return 1.0
    if not truth or not pred:
        return 0.0
    a, b = (_units(text.strip(_JS_SPACE).lower()) for text in (truth, pred))
    longest = max(len(a), len(b))
    return _fixed(1 - Levenshtein.distance(a, b) / longest) if longest else math.nan


def _units(text: str) -> Sequence[int] | str:
    """Return JavaScript's units: characters beyond the first 65,536 are two."""
    if max(text, default="") <= "\uffff":
        return text
    data = text.encode("utf-16-le", "surrogatepass")
    return [data[i] | data[i + 1] << 8 for i in range(0, len(data), 2)]


def _fixed(value: float) -> float:
    return float(Decimal(value).quantize(Decimal("0.0001"), rounding=ROUND_HALF_UP))


def json_accuracy(truth: Json, pred: Json, *, ignore_cases: bool = False) -> float:
    """Return how much of the true JSON was extracted; NaN where it has no fields and no change is counted."""
    if ignore_cases:
        truth, pred = upper(truth), upper(pred)
    counts, n_fields, diff = json_changes(truth, pred)
    if not diff:
        return 1.0
    changes = sum(counts.values())
    undefined = 0.0 if changes else math.nan
    return _fixed(max(0.0, 1 - changes / n_fields)) if n_fields else undefined


def json_changes(truth: Json, pred: Json) -> tuple[dict[str, int], int, Json]:
    """Return values that were added, deleted and modified, how many are true, and what json-diff gives."""
    counts = {"additions": 0, "deletions": 0, "modifications": 0}
    try:
        changed = _Differ().diff(truth, pred)[1] or {}
        _count(changed, counts)
        return counts, fields(truth), changed
    except RecursionError as error:
        raise FormatError("The JSON is nested too deeply") from error


def upper(value: Json) -> Json:
    """Return string values of objects in upper case; strings in lists stay, as upstream has it."""
    if isinstance(value, dict):
        return {k: v.upper() if isinstance(v, str) else upper(v) for k, v in value.items()}
    return [upper(v) for v in value] if isinstance(value, list) else value


def fields(value: Json) -> int:
    """Return the values of a JSON; keys with `__` are skipped."""
    if isinstance(value, dict):
        return sum(fields(v) for k, v in value.items() if "__" not in k)
    if isinstance(value, list):
        return sum(fields(v) for v in value)
    return 1


def _count(result: Json, counts: dict[str, int]) -> None:
    pairs = enumerate(result) if isinstance(result, list) else result.items()
    for key, value in pairs:
        if isinstance(value, list):
            for operation, changed in (own for own in value if isinstance(own, list) and len(own) == 2):
                if operation in ("+", "-"):
                    counts["additions" if operation == "+" else "deletions"] += fields(changed)
                elif operation == "~" and isinstance(changed, dict | list):
                    _count(changed, counts)
        elif str(key).endswith(("__deleted", "__added")):
            counts["deletions" if str(key).endswith("__deleted") else "additions"] += fields(value)
        elif isinstance(value, dict) and "__old" in value and "__new" in value:
            old, new = value["__old"], value["__new"]
            counts["modifications"] += max(1, fields(new if old is None and new is not None else old))
        elif isinstance(value, dict):
            _count(value, counts)


# --- json-diff ----------------------------------------------------------------------------------------------

Found = tuple[float, Json]  # how alike two values are, and what differs: None where nothing does


@dataclass(slots=True)
class _Differ:
    """json-diff with `sort: true`: the order of lists does not matter."""

    steps: int = 0
    depth: int = 0
    known: dict[tuple[int, int], Found] = field(default_factory=dict)

    def diff(self, a: Any, b: Any) -> Found:
        """Return how alike both are, and what differs."""
        self.steps += 1
        if self.steps > MAX_STEPS or self.depth > MAX_DEPTH:
            raise FormatError("The JSON is too large or too deep to compare")
        is_alike = _kind(a) == _kind(b)
        if not is_alike or not isinstance(a, dict | list):
            return (100.0, None) if is_alike and _value(a) == _value(b) else (0.0, {"__old": a, "__new": b})
        key = (id(a), id(b))  # the same parts of both sides are compared again and again
        if key not in self.known:
            self.depth += 1
            self.known[key] = self._objects(a, b) if isinstance(a, dict) else self._lists(a, b)
            self.depth -= 1
        return self.known[key]

    def _objects(self, a: Mapping[str, Json], b: Mapping[str, Json]) -> Found:
        result: dict[str, Json] = {f"{key}__deleted": a[key] for key in a if key not in b}
        result |= {f"{key}__added": b[key] for key in b if key not in a}
        weight = -30.0 * len(result)
        for key in a:
            if key in b:
                likeness, changed = self.diff(a[key], b[key])
                weight += 20 + min(20.0, max(-10.0, likeness / 5))
                if changed is not None:
                    result[key] = changed
        return (max(0.0, weight), result) if result else (100 * max(len(a), 0.5), None)

    def _lists(self, a: Sequence[Json], b: Sequence[Json]) -> Found:
        labels_a = {i: n for n, i in enumerate((i for i, v in enumerate(a) if isinstance(v, dict | list)), 1)}
        sorted_a, sorted_b = _sorted(a, labels_a), _sorted(b, self._labels(a, b, labels_a))
        entries: list[list[Json]] = []
        weight = 0.0
        matcher = SequenceMatcher(None, [own for own, _ in sorted_a], [own for own, _ in sorted_b])
        for operation, a0, a1, b0, b1 in matcher.get_opcodes():
            if operation == "equal":
                for (_, x), (_, y) in zip(sorted_a[a0:a1], sorted_b[b0:b1], strict=True):
                    changed = self.diff(x, y)[1] if isinstance(x, dict | list) else None
                    entries.append([" "] if changed is None else ["~", changed])
                weight += 10 * (a1 - a0)
                continue
            entries += [["-", value] for _, value in sorted_a[a0:a1]]
            entries += [["+", value] for _, value in sorted_b[b0:b1]]
            weight -= 5 * (a1 - a0 + b1 - b0)
        is_equal = all(entry == [" "] for entry in entries)
        return (100.0, None) if is_equal else (max(0.0, weight), entries)

    def _labels(self, a: Sequence[Json], b: Sequence[Json], labels_a: Mapping[int, int]) -> dict[int, int]:
        """Return a label for each object and list of b: that of its best partner in a, or a new one."""
        taken: dict[int, tuple[float, int]] = {}
        own = [j for j, value in enumerate(b) if isinstance(value, dict | list)]
        for j in own:
            alike = [i for i in labels_a if type(a[i]) is type(b[j])]
            if alike:
                cost, _, i = min((-self.diff(b[j], a[i])[0], abs(i - j), i) for i in alike)
                if i not in taken or -cost > taken[i][0]:
                    taken[i] = -cost, j
        labels = {j: labels_a[i] for i, (_, j) in taken.items()}
        others = [j for j in own if j not in labels]
        return labels | {j: n for n, j in enumerate(others, len(labels_a) + 1)}


def _sorted(values: Sequence[Json], labels: Mapping[int, int]) -> list[tuple[Any, Json]]:
    """Return (identity, value), sorted by how JavaScript writes each; objects and lists are their labels."""
    listed = []
    for i, value in enumerate(values):
        text = f"__$!SCALAR{labels[i]}" if i in labels else _js_text(value)
        listed.append((text, ("str", text) if i in labels else (_kind(value), _value(value)), value))
    listed.sort(key=lambda entry: entry[0].encode("utf-16-be", "surrogatepass"))
    return [entry[1:] for entry in listed]


def _kind(value: Json) -> str:
    return "number" if type(value) in (int, float) else type(value).__name__


def _value(value: Json) -> Json:
    """Return a number as JavaScript keeps it."""
    if type(value) is not int:
        return value
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def _js_text(value: Json) -> str:
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    number = _value(value)
    if math.isinf(number) or math.isnan(number):
        return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(number, "NaN")
    if number == int(number) and abs(number) < 1e21:
        return str(int(number))
    if 1e-7 < abs(number) < 1e21:
        return format(Decimal(repr(number)), "f")
    digits, _, exponent = repr(number).partition("e")
    return f"{digits}e{int(exponent):+d}"
