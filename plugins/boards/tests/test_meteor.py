"""METEOR against nltk's."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate import meteor_score

from parsemark.metrics import score
from parsemark_boards.docling_eval.meteor import meteor, words

sentences = st.lists(
    st.sampled_from(["the", "cat", "sat", "on", "a", "mat", ",", "dogs", "ran", "."]), min_size=5, max_size=14
)


@settings(max_examples=100)
@given(a=sentences, b=sentences)
def test_meteor_is_nltks_without_synonyms(a: list[str], b: list[str]) -> None:
    class NoSynonyms:
        def synsets(self, word: str) -> list[str]:
            return []

    reference, hypothesis = " ".join(a), " ".join(b)
    expected = meteor_score.single_meteor_score(words(reference), words(hypothesis), wordnet=NoSynonyms())
    assert math.isclose(meteor(reference, hypothesis), expected, abs_tol=1e-12)


def test_stems_count_and_empty_texts_are_zero() -> None:
    assert meteor("running dogs", "run dog") > 0.9
    assert meteor("", "word") == meteor("word", "") == 0


def test_the_registered_metric() -> None:
    assert score("", "", metrics=["meteor"])["meteor"].value == 1
    assert score("a word", "", metrics=["meteor"])["meteor"].value == 0
    good, bad = (
        score("the cat sat on the mat", pred, metrics=["meteor"])["meteor"].value
        for pred in ("the cat sat on the mat", "a cat sat on that mat now")
    )
    assert good is not None and bad is not None and good > 0.9 and bad < good


def test_what_is_too_long_for_a_word_is_not_stemmed() -> None:
    long = "ab" * 10_000
    assert meteor(long, long) > 0.4
    assert meteor(long, long.replace("a", "e")) == 0
