"""Blocks of text: every one is in exactly one match, and the cheapest alignment is found."""

import random
import string
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsemark.kernels import kernel
from parsemark.matching import blocks as module
from parsemark.matching.blocks import BlockMatch, match_blocks

words = st.text(alphabet="abcdefgh", min_size=1, max_size=12)
sides = st.lists(words, max_size=6)


@settings(max_examples=200)
@given(truths=sides, preds=sides)
def test_every_block_is_in_exactly_one_match(truths: list[str], preds: list[str]) -> None:
    matches = match_blocks(truths, preds).matches
    assert sorted(t for m in matches for t in m.truths) == list(range(len(truths)))
    assert sorted(p for m in matches for p in m.preds) == list(range(len(preds)))
    for match in matches:
        assert len(match.truths) <= 1 or len(match.preds) <= 1


@settings(max_examples=100)
@given(truths=sides)
def test_equal_sides_are_matched_in_place(truths: list[str]) -> None:
    matches = match_blocks(truths, truths).matches
    assert "".join(truths[t] for m in matches for t in m.truths) == "".join(truths)
    for match in matches:
        assert "".join(truths[t] for t in match.truths) == "".join(truths[p] for p in match.preds)


def _edits(truths: list[str], preds: list[str], matches: tuple[BlockMatch, ...]) -> int:
    return sum(
        kernel.levenshtein("".join(truths[t] for t in m.truths), "".join(preds[p] for p in m.preds))
        for m in matches
    )


def _least_edits(truths: list[str], preds: list[str]) -> int:
    """All monotone alignments by pairs, splits and merges, the slow way."""

    @cache
    def best(i: int, j: int) -> int:
        if i == len(truths) and j == len(preds):
            return 0
        options = []
        if i < len(truths):
            options.append(len(truths[i]) + best(i + 1, j))
        if j < len(preds):
            options.append(len(preds[j]) + best(i, j + 1))
        for a in range(1, len(truths) - i + 1):
            for b in range(1, len(preds) - j + 1):
                if a == 1 or b == 1:
                    left, right = "".join(truths[i : i + a]), "".join(preds[j : j + b])
                    options.append(kernel.levenshtein(left, right) + best(i + a, j + b))
        return min(options)

    return best(0, 0)


SENTENCES = [
    "thequickbrownfox",
    "jumpsoverthelazydog",
    "neartheriverbank",
    "whereeconomicsends",
    "andmarketsbegin",
]


@settings(max_examples=100)
@given(data=st.data())
def test_splits_and_merges_of_real_text_cost_as_little_as_they_can(data: st.DataObject) -> None:
    truths = data.draw(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4, unique=True))
    cuts = data.draw(st.lists(st.booleans(), min_size=len(truths), max_size=len(truths)))
    preds: list[str] = []
    for sentence, cut in zip(truths, cuts, strict=True):
        preds += [sentence[:7], sentence[7:]] if cut else [sentence]
    found = match_blocks(truths, preds)
    assert _edits(truths, preds, found.matches) == _least_edits(truths, preds) == 0


def test_a_moved_block_is_found_and_said_to_be_moved() -> None:
    matches = match_blocks(SENTENCES[:3], [SENTENCES[2], SENTENCES[0], SENTENCES[1]]).matches
    assert [(m.truths, m.preds) for m in matches] == [((0,), (1,)), ((1,), (2,)), ((2,), (0,))]
    assert [m.is_moved for m in matches] == [False, False, True]


def test_a_page_over_the_budget_says_so() -> None:
    many = [f"block{i}" for i in range(900)]
    other = [f"other{i}" for i in range(900)]
    found = match_blocks([*many, "same"], [*other, "same"])
    assert len(many) * len(other) > module.MAX_PAIRS and not found.is_complete
    assert BlockMatch((900,), (900,)) in found.matches


def _texts(n: int, length: int) -> list[str]:
    rng = random.Random(1)
    return ["".join(rng.choices(string.ascii_lowercase, k=length)) for _ in range(n)]


@pytest.mark.parametrize("turned", [False, True])
def test_what_one_block_answers_is_compared_up_to_the_budget(turned: bool) -> None:
    """The runs that may answer a long block are many, and each is as dear as the block is long."""
    parts = _texts(40, 60)
    found = match_blocks(["".join(parts)], parts) if turned else match_blocks(parts, ["".join(parts)])
    assert found.is_complete
    (match,) = found.matches
    assert max(match.truths, match.preds, key=len) == tuple(range(len(parts)))
    parts = _texts(100, 1000)
    many, one = [*parts, "same"], ["".join(parts), "same"]
    found = match_blocks(one, many) if turned else match_blocks(many, one)
    assert not found.is_complete
    same = BlockMatch((1,), (100,)) if turned else BlockMatch((100,), (1,))
    assert [m for m in found.matches if m.truths and m.preds] == [same]


@settings(max_examples=60)
@given(data=st.data())
def test_headings_in_capitals_cost_what_their_letters_cost(data: st.DataObject) -> None:
    """Each is matched and charged once: not missed as one heading and invented as another."""
    truths = data.draw(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4, unique=True))
    shout = data.draw(st.lists(st.booleans(), min_size=len(truths), max_size=len(truths)))
    preds = [text.upper() if loud else text for text, loud in zip(truths, shout, strict=True)]
    found = match_blocks(truths, preds)
    assert [(m.truths, m.preds) for m in found.matches] == [((k,), (k,)) for k in range(len(truths))]
    assert _edits(truths, preds, found.matches) == _least_edits(truths, preds)


def test_a_short_heading_with_an_error_in_every_3_gram_is_matched_in_place() -> None:
    matches = match_blocks(["Introduction", SENTENCES[0]], ["lntr0duct1on", SENTENCES[0]]).matches
    assert matches == (BlockMatch((0,), (0,)), BlockMatch((1,), (1,)))


def test_a_moved_heading_in_capitals_is_found() -> None:
    matches = match_blocks(["Results", *SENTENCES[:2]], [*SENTENCES[:2], "RESULTS"]).matches
    assert BlockMatch((0,), (2,), is_moved=True) in matches
