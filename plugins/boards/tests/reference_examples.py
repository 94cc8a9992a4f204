"""Examples with the results that the benchmarks' own code gave, and how they are compared."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def examples(folder: Path, benchmark: str, *kinds: str) -> Iterator[dict[str, Any]]:
    """The examples in a benchmark's files, here and kept back; there must be some of each kind."""
    found = dict.fromkeys(kinds, 0)
    for path in sorted((folder / "rules").glob(f"{benchmark}-[dh]*.jsonl")):
        for line in path.open():
            example = json.loads(line)
            if example["kind"] in kinds:
                found[example["kind"]] += 1
                yield example
    assert all(found.values()), found


def near(own: Any, theirs: Any, tolerance: float = 1e-9) -> bool:
    """Whether two results are equal, numbers up to a tolerance."""
    if isinstance(theirs, dict):
        return own.keys() == theirs.keys() and all(near(own[key], theirs[key], tolerance) for key in theirs)
    if isinstance(theirs, list | tuple):
        return len(own) == len(theirs) and all(
            near(a, b, tolerance) for a, b in zip(own, theirs, strict=True)
        )
    if theirs is None or own is None:
        return own is theirs
    return bool(abs(own - theirs) <= tolerance)


def families(folder: Path, benchmark: str) -> list[dict[str, Any]]:
    """The examples of a benchmark here and kept back, without their first lines."""
    files = sorted((folder / "rules").glob(f"{benchmark}-examples-*.jsonl"))
    found = [json.loads(line) for path in files for line in path.read_text().splitlines()[1:]]
    assert found
    return found


def same(own: Any, theirs: Any, tolerance: float = 1e-6) -> bool:
    """Whether all that the benchmark says is said here too; "NaN" stands for NaN."""
    if isinstance(theirs, dict):
        return isinstance(own, dict) and all(
            key in own and same(own[key], theirs[key], tolerance) for key in theirs
        )
    if isinstance(theirs, list):
        return len(own) == len(theirs) and all(
            same(a, b, tolerance) for a, b in zip(own, theirs, strict=True)
        )
    if theirs == "NaN":
        return isinstance(own, float) and math.isnan(own)
    if isinstance(theirs, str) or theirs is None or own is None or isinstance(own, str):
        return bool(own == theirs)
    return bool(abs(own - theirs) <= tolerance)
