"""BLEU, headings, coverage and layout against slow or foreign implementations."""

import math
import random
import sys
import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.growth import slowness

from parsemark.metrics import score
from parsemark.metrics.bleu import corpus_bleu, tokenize_13a
from parsemark.metrics.coverage import text_coverage
from parsemark.metrics.headings import Heading, parent_accuracy, parents, tree_similarity
from parsemark.metrics.layout import LAYOUT_CLASSES, LayoutBox, mean_average_precision

sentences = st.lists(
    st.sampled_from(["the", "cat", "sat", "on", "a", "mat", ",", "dogs", "ran", "."]), min_size=5, max_size=14
)

blocks_of_letters = st.lists(st.text(alphabet="abc", max_size=9), max_size=5)


def test_13a_tokens() -> None:
    assert tokenize_13a("a,b 1,000 x-y 3-4 &quot;q&quot;") == [
        "a", ",", "b", "1,000", "x-y", "3", "-", "4", '"', "q", '"',
    ]  # fmt: skip


def _ngrams(tokens: list[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


@settings(max_examples=100)
@given(said=st.lists(sentences, min_size=1, max_size=3), data=st.data())
def test_bleu_is_nltks(said: list[list[str]], data: st.DataObject) -> None:
    bleu_score = pytest.importorskip("nltk.translate.bleu_score")
    wanted = [data.draw(sentences) for _ in said]
    ours = corpus_bleu([" ".join(s) for s in said], [" ".join(w) for w in wanted])
    tokens = [tokenize_13a(" ".join(s)) for s in said], [tokenize_13a(" ".join(w)) for w in wanted]
    grams = [
        sum(sum((_ngrams(a, n) & _ngrams(b, n)).values()) for a, b in zip(*tokens, strict=True))
        for n in range(1, 5)
    ]
    expected = bleu_score.corpus_bleu([[w] for w in tokens[1]], tokens[0]) if min(grams) else 0.0
    assert math.isclose(ours, expected, abs_tol=1e-12)


headings = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(1, 4)), max_size=7).map(
    lambda pairs: [Heading(text, level) for text, level in pairs]
)


@settings(max_examples=200)
@given(headings=headings, shift=st.integers(0, 3))
def test_levels_may_be_shifted(headings: list[Heading], shift: int) -> None:
    moved = [Heading(h.text, h.level + shift) for h in headings]
    same = {i: i for i in range(len(headings))}
    if not headings:
        assert tree_similarity(headings, moved) is None and parent_accuracy(headings, moved, same) is None
        return
    assert tree_similarity(headings, moved) == 1
    assert parent_accuracy(headings, moved, same) == 1


@settings(max_examples=200)
@given(headings=headings)
def test_a_parent_is_the_last_heading_above(headings: list[Heading]) -> None:
    for index, parent in enumerate(parents(headings)):
        higher = [k for k in range(index) if headings[k].level < headings[index].level]
        blocked = [
            k
            for k in higher
            if all(headings[m].level >= headings[index].level or m <= k for m in range(index))
        ]
        assert parent == (blocked[-1] if blocked else -1)


blocks = st.lists(st.text(alphabet="abcdefghij", min_size=1, max_size=20), max_size=5)


@settings(max_examples=200)
@given(truth=blocks, pred=blocks)
def test_coverage_counts_what_it_says(truth: list[str], pred: list[str]) -> None:
    found = text_coverage(truth, pred)
    assert 0 <= found.lost <= found.truth == sum(map(len, truth))
    assert 0 <= found.invented + found.duplicated <= found.pred == sum(map(len, pred))
    same = text_coverage(truth, list(reversed(truth)))
    assert same.lost == same.invented == 0


@settings(max_examples=100)
@given(truth=blocks_of_letters, pred=blocks_of_letters)
def test_a_short_block_is_found_wherever_it_occurs(truth: list[str], pred: list[str]) -> None:
    places = {number for number, _, _ in text_coverage(truth, pred).lost_places}
    for number, block in enumerate(truth):
        if 0 < len(block) < 5:
            assert (number in places) == all(block not in other for other in pred)


def test_a_table_of_short_cells_is_looked_up_in_linear_time() -> None:
    cells = [f"{k:04}" for k in range(5000)]
    letters = "".join(random.Random(1).choices("abcdefghij", k=100_000))
    start = time.process_time()
    found = text_coverage(cells, [letters, *cells[:100]])
    assert (found.lost, found.truth) == (4 * 4900, 4 * 5000)
    assert text_coverage([letters], cells).invented == 4 * 5000
    # Seconds; to look through the letters for each takes minutes.
    assert time.process_time() - start < 10 * slowness()


def test_layout_is_pycocotools(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oracle: the same boxes through pycocotools."""
    pytest.importorskip("hotcoco")
    mask = pytest.importorskip("pycocotools.coco")
    evaluation = pytest.importorskip("pycocotools.cocoeval")

    class Reference:
        COCO = mask.COCO
        COCOeval = evaluation.COCOeval

    rng = random.Random(3)
    pages = [f"p{i}.jpg" for i in range(6)]
    truth, pred = [], []
    for page in pages:
        for _ in range(rng.randint(0, 12)):
            x, y, w, h = rng.uniform(0, 500), rng.uniform(0, 700), rng.uniform(5, 200), rng.uniform(5, 200)
            kind = rng.choice(LAYOUT_CLASSES[:5])
            truth.append(LayoutBox(page, kind, (x, y, x + w, y + h)))
            if rng.random() < 0.8:
                j = [rng.uniform(-8, 8) for _ in range(4)]
                box = (x + j[0], y + j[1], x + w + j[2], y + h + j[3])
                pred.append(LayoutBox(page, kind if rng.random() < 0.9 else "table", box, rng.random()))
    ours = mean_average_precision(pages, truth, pred)
    monkeypatch.setitem(sys.modules, "hotcoco", Reference)  # type: ignore[arg-type]
    theirs = mean_average_precision(pages, truth, pred)
    for name in ("ap", "ap50", "ap75"):
        assert getattr(ours, name) == pytest.approx(getattr(theirs, name), abs=1e-9)
    assert ours.per_class == pytest.approx(dict(theirs.per_class), abs=1e-9)
    assert ours.ap is not None and 0 < ours.ap < 1


def test_layout_without_predictions_or_truth() -> None:
    box = LayoutBox("p.jpg", "table", (0, 0, 10, 10))
    assert mean_average_precision(["p.jpg"], [box], []).ap == 0
    assert mean_average_precision(["p.jpg"], [], [box]).ap is None


def test_bleu_is_registered() -> None:
    assert score("", "", metrics=["bleu"])["bleu"].value == 1
    assert score("a word", "", metrics=["bleu"])["bleu"].value == 0
    good, bad = (score("the cat sat on the mat", pred, metrics=["bleu"])["bleu"].value
                 for pred in ("the cat sat on the mat", "a cat sat on that mat now"))  # fmt: skip
    assert good is not None and bad is not None and good > 0.9 and bad < good
