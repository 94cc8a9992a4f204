"""METEOR of two texts (Banerjee and Lavie 2005), as nltk has it without WordNet: equal words, then stems.

Stems are Porter's. On text without white space, as OmniDocBench normalises it, a block is one word.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from parsemark.metrics import MAX_CHARACTER_PAIRS, Metadata, Metric, check_pairs

ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5
_LONGEST_STEMMED = 200


class Meteor(Metric[str]):
    """METEOR of a text: words that are equal or have one stem, and how scattered they are.

    Empty cases: two texts without words are equal (1). A text without words against another has 0.

    Differences from the reference: there is no stage of synonyms (WordNet), so that values are the same
    everywhere, and nltk's gives 0 for two empty texts. As there, even equal texts stay below
    1, less so the longer they are: one run of matches is punished too.

    >>> from parsemark.metrics import score
    >>> round(score("the cat sat", "the cats sat", metrics=["meteor"])["meteor"].value, 3)
    0.981
    """

    name = "meteor"
    metadata = Metadata("METEOR of a text", "Banerjee and Lavie 2005, METEOR", "nltk", kind="text")

    def compute(self, truth: str, pred: str) -> float:
        """Return the value for one pair."""
        if not truth.strip() and not pred.strip():
            return 1.0
        check_pairs("characters", len(truth), len(pred), MAX_CHARACTER_PAIRS)
        return meteor(truth, pred)


def meteor(reference: str, hypothesis: str) -> float:
    """Return METEOR of a hypothesis against a reference."""
    wanted, said = ([w.lower() for w in words(text)] for text in (reference, hypothesis))
    return meteor_of_pairs(len(wanted), len(said), match_words(wanted, said))


def meteor_of_pairs(n_reference: int, n_hypothesis: int, pairs: Sequence[tuple[int, int]]) -> float:
    """Return the value from the matched words, as places (hypothesis, reference)."""
    if not pairs:
        return 0.0
    matches = len(pairs)
    precision, recall = matches / n_hypothesis, matches / n_reference
    mean = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall)
    ordered = sorted(pairs)
    chunks = 1 + sum(1 for a, b in pairwise(ordered) if b != (a[0] + 1, a[1] + 1))
    penalty: float = GAMMA * (chunks / matches) ** BETA
    return (1 - penalty) * mean


def match_words(
    reference: Sequence[str],
    hypothesis: Sequence[str],
    synonyms: Callable[[str], Collection[str]] | None = None,
) -> list[tuple[int, int]]:
    """Return pairs of places, stage after stage; each stage takes words from the end, as nltk does.

    nltk looks `synonyms` up for stems, which finds few.
    """
    left_h, left_r = list(enumerate(hypothesis)), list(enumerate(reference))
    stem = _stemmer()
    pairs = _stage(left_h, left_r, str) + _stage(left_h, left_r, stem)
    if synonyms is None:
        return pairs
    left = [(place, stem(word)) for place, word in left_r]
    for place, word in reversed(left_h):
        known = synonyms(stem(word))
        at = next((k for k in range(len(left) - 1, -1, -1) if left[k][1] in known), None)
        if at is not None:
            pairs.append((place, left.pop(at)[0]))
    return pairs


def _stage(
    left_h: list[tuple[int, str]], left_r: list[tuple[int, str]], key: Callable[[str], str]
) -> list[tuple[int, int]]:
    """Match each word of the hypothesis with the last one left that has its key; both leave the lists."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, word in left_r:
        places[key(word)].append(place)
    pairs = [(i, places[key(word)].pop()) for i, word in reversed(left_h) if places[key(word)]]
    for side, left in enumerate((left_h, left_r)):
        taken = {pair[side] for pair in pairs}
        left[:] = [item for item in left if item[0] not in taken]
    return pairs


@lru_cache(maxsize=1)
def _stemmer() -> Callable[[str], str]:
    from nltk.stem.porter import PorterStemmer

    stemmer = PorterStemmer()

    def stem(word: str) -> str:
        # Its time grows with the square of the length, and nothing so long is a word with an ending.
        return str(stemmer.stem(word)) if len(word) <= _LONGEST_STEMMED else word.lower()

    return lru_cache(maxsize=65536)(stem)


def words(text: str) -> list[str]:
    """Return words and punctuation as nltk cuts a sentence; where sentences end is not looked for."""
    return [str(word) for word in _tokenizer().tokenize(text)]


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    from nltk.tokenize.destructive import NLTKWordTokenizer

    return NLTKWordTokenizer()
