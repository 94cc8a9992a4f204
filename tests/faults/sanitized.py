"""Run by `sanitizer` under the sanitizers' runtime: compares kernel functions with their twins."""

from __future__ import annotations

import importlib.util
import os
import random
import sys

import numpy as np

from parsemark.kernels import pure

spec = importlib.util.spec_from_file_location("parsemark.kernels._native", os.environ["PARSEMARK_KERNEL"])
assert spec is not None and spec.loader is not None
native = importlib.util.module_from_spec(spec)
spec.loader.exec_module(native)

ALPHABETS = ["ab", "abcdefgh 12", "aé😀\u0301\x00", "x"]


def text(chosen: random.Random) -> str:
    alphabet = chosen.choice(ALPHABETS)
    return "".join(chosen.choice(alphabet) for _ in range(chosen.choice([0, 1, 3, 63, 64, 65, 200, 700])))


def main() -> None:
    """One line for each call: the function, and `ok` if it gives what its twin gives."""
    chosen = random.Random(3)
    for name in ("levenshtein", "lcs_length", "difflib_matched"):
        for _ in range(100):
            a, b = text(chosen), text(chosen)
            say(name, getattr(native, name)(a, b) == getattr(pure, name)(a, b))
    for _ in range(60):
        queries, candidates = ([text(chosen)[:80] for _ in range(chosen.randint(0, 8))] for _ in range(2))
        arguments = (queries, candidates, chosen.choice([0.1, 0.3, 0.6, 1.0]))
        say("close_matches", native.close_matches(*arguments) == pure.close_matches(*arguments))
    for _ in range(60):
        a, b = ([text(chosen)[:64] for _ in range(chosen.randint(0, 40))] for _ in range(2))
        found = native.similarity_matrix(a, b)
        say("similarity_matrix", bool((found == pure.similarity_matrix(a, b)).all()))
        ids = np.array([[chosen.randrange(len(a)) for _ in range(3)] for _ in range(4)]) if a else None
        if ids is not None:
            say(
                "column_maxima",
                bool((native.column_maxima(found, ids) == pure.column_maxima(found, ids)).all()),
            )


def say(name: str, same: bool) -> None:
    sys.stdout.write(f"{name} {'ok' if same else 'differs'}\n")


main()
