"""olmOCR-bench's own results on examples that its code computed."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from olmocr_program import (
    evaluate,
    permutation_test,
    untested_pages,
    with_baselines,
    without_baselines,
)

from parsemark.corpora import load_corpus
from parsemark.errors import CorpusError
from parsemark_boards.katex import DrawnSpan, Render
from parsemark_boards.near_search import near
from parsemark_boards.olmocr.formulas import formulas_of, in_order_tried
from parsemark_boards.olmocr.protocol import (
    bootstrap_interval,
    check,
    html_tables,
    markdown_tables,
    related,
)
from parsemark_boards.olmocr.text import normalise, trailing_repeats
from parsemark_boards.olmocr.truth import read_test

PLACE = {"pdf": "a.pdf", "page": 1, "id": "i"}

pytestmark = pytest.mark.conformance


def examples(folder: Path, name: str = "olmocr-bench-[dh]*.jsonl") -> list[dict[str, Any]]:
    found = [json.loads(line) for path in sorted((folder / "rules").glob(name)) for line in path.open()]
    assert found, f"{folder}/rules has no {name}"
    return found


def renders_of(folder: Path) -> dict[str, Render]:
    return {
        e["tex"]: Render(
            e["mathml"] or str(e["error"]), () if e["error"] else tuple(DrawnSpan(*s) for s in e["spans"])
        )
        for e in examples(folder, "olmocr-bench-renders-*.jsonl")
        if "tex" in e
    }


def compared(example: dict[str, Any], renders: dict[str, Render]) -> tuple[Any, Any]:
    """What the reference gave, and what we give."""
    kind = example["kind"]
    if kind == "load" or "load_error" in example:
        try:
            read_test(example["test"] if kind == "load" else {**PLACE, **example["test"]})
        except CorpusError:
            return example.get("loads", False), False
        return example.get("loads", False), True
    if "test" in example:
        test = read_test({**PLACE, **example["test"]})
        try:
            return example.get("passed", example.get("run_error")), check(
                test, example["md"], renders.get
            ).passed
        except IndexError:
            return example.get("run_error"), "IndexError"
    if kind == "normalize":
        return example["output"], normalise(example["input"])
    if kind == "repeats":
        return example["output"], trailing_repeats(example["input"])
    if kind == "near":
        own = near(example["pattern"], example["text"], example["max_l_dist"])
        return sorted(map(tuple, example["output"])), own
    if kind == "equations":
        return example["tried_in_order"], in_order_tried(example["math"], formulas_of(example["md"]))
    if kind in ("mdtables", "htmltables"):
        return compared_tables(example)
    if kind == "ratio":
        from rapidfuzz.fuzz import partial_ratio, ratio

        a, b = example["a"], example["b"]
        return (example["ratio"], example["partial_ratio"]), (ratio(a, b), partial_ratio(a, b))
    raise AssertionError(kind)


def compared_tables(example: dict[str, Any]) -> tuple[Any, Any]:
    try:
        grids = (markdown_tables if example["kind"] == "mdtables" else html_tables)(example["input"])
    except IndexError:
        return example.get("run_error"), "IndexError"

    def named(place: Any) -> str:
        return f"{place[0]},{place[1]}"

    own = [
        {
            "cells": {named(p): text for p, text in grid.text.items()},
            "headings": sorted(map(list, grid.headings)),
            "rectangular": all(slot is not None for row in grid.slots for slot in row),
            **{
                way: {named(p): sorted(map(list, related(grid, p, way))) for p in grid.text}
                for way in ("up", "down", "left", "right")
            },
            "heading_walk": {
                named(p): {
                    side: sorted(map(list, related(grid, p, f"{side}_heading"))) for side in ("top", "left")
                }
                for p in grid.text
            },
        }
        for grid in grids
    ]
    return example.get("output", example.get("run_error")), own


def test_every_rule_gives_what_the_reference_gives(reference_data: Path) -> None:
    renders = renders_of(reference_data)
    skipped = {"meta", "bench", "bootstrap", "permutation"}
    differ, n = [], 0
    for example in examples(reference_data):
        if example["kind"] in skipped or example.get("unstable"):
            continue
        theirs, ours = compared(example, renders)
        n += 1
        if theirs != ours:
            differ.append((example["id"], theirs, ours))
    assert not differ, f"{len(differ)} of {n}: {differ[:5]}"
    assert n > 500


def run_bench(example: dict[str, Any], renders: dict[str, Render]) -> dict[str, Any]:
    pdfs, args = example["pdfs"], example["args"]
    try:
        groups = with_baselines(example["jsonl"], pdfs)
    except CorpusError:
        return {"exit": 0, "exception": "ValidationError", "candidates": {}}
    if "--skip_baseline" in args:
        groups = without_baselines(groups)
    force = "--force" in args
    if untested_pages(groups, pdfs) and not force:
        return {"exit": 1, "exception": None, "candidates": {}}
    own = {}
    for name, files in example["candidates"].items():
        result = evaluate(groups, pdfs, files, renders.get, force=force)
        averages = [average for tests in result.averages.values() for _, average in tests]
        stopped = (
            result.errors and not force and all("no file for" in e and ":" not in e for e in result.errors)
        )
        own[name] = {
            "n_tests": len(averages),
            "errors": len(result.errors),
            "mean_of_test_averages": sum(averages) / len(averages),
            "by_type": {} if stopped else {k: {"mean": m, "n": n} for k, (m, n) in result.by_type().items()},
            "printed": "FAILED (errors)" if result.errors else f"{100 * result.overall:.1f}%",
            "files": {name: f"{passed}/{n}" for name, (passed, n) in result.groups.items()},
        }
    return {"exit": 0, "exception": None, "candidates": own}


def test_benchmark_folders_give_what_the_reference_gives(reference_data: Path) -> None:
    renders = renders_of(reference_data)
    chosen = [e for e in examples(reference_data) if e["kind"] == "bench" and not e.get("unstable")]
    differ = [(e["id"], e["output"], own) for e in chosen if (own := run_bench(e, renders)) != e["output"]]
    assert not differ, differ[:2]
    assert len(chosen) > 8


def test_the_bootstrap_and_the_permutation_test_draw_the_same_numbers(reference_data: Path) -> None:
    chosen = [e for e in examples(reference_data) if e["kind"] in ("bootstrap", "permutation")]
    for example in chosen:
        rng = np.random.RandomState(example["numpy_seed"])
        if example["kind"] == "bootstrap":
            arguments = example["scores"], example["splits"], rng, example["n_bootstrap"], example["ci_level"]
            if "run_error" in example:
                with pytest.raises(ValueError, match="do not make"):
                    bootstrap_interval(*arguments)
                continue
            own = bootstrap_interval(*arguments)
        else:
            sizes = None if example["splits_a"] is None else (example["splits_a"], example["splits_b"])
            own = permutation_test(example["a"], example["b"], sizes, rng, example["n_permutations"])
        assert own == pytest.approx(tuple(example["output"]), abs=1e-9), example["id"]
    assert len(chosen) >= 12


def test_a_real_candidate_passes_and_fails_what_it_does_upstream(reference_data: Path) -> None:
    """The sample of upstream's repository, loaded as a corpus, with formulas as they were rendered there."""
    root = reference_data / "rules" / "real" / "olmocr-bench-sample"
    theirs = json.loads((root / "results-reference.json").read_text())
    listed = [json.loads(line) for line in (root / "renders.jsonl.txt").open()]
    renders = {e["tex"]: Render(e["mathml"] or "", tuple(DrawnSpan(*s) for s in e["spans"])) for e in listed}
    corpus = load_corpus(f"olmocr-bench:{root}")
    own: dict[str, bool | None] = {}
    for sample in corpus.samples():
        assert sample.truth is not None
        output = root / theirs["candidate"] / f"{sample.aliases[0]}.md"
        for fact in sample.truth.facts if output.exists() else ():
            key = fact.id.partition("/")[2]
            test = read_test({"pdf": "a", "page": 1, "id": "a", "type": fact.kind, **fact.arguments})
            own[key] = check(test, output.read_text(), renders.get).passed
    assert {key: own[key] for key in theirs["passed"]} == theirs["passed"]
