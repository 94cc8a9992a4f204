"""METEOR of two texts (Banerjee and Lavie 2005), as nltk computes it: exact words, stems, synonyms.

Stems are Porter's. Synonyms need WordNet, which nobody has to download: where Debian's package `wordnet` is
installed it is used, else that stage is left out, and the value is lower for texts that say the same in other
words. On text without white space, as OmniDocBench normalises it, a block is one word and no stage
but the first ever counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from parsemark.errors import MissingDependencyError
from parsemark.extras import needed_for
from parsemark.metrics.base import Facts, Metric
from parsemark.metrics.size_limits import MAX_CHARACTER_PAIRS, check_pairs
from parsemark.metrics.wordnet import WordNet

WORDNET_FOLDER = Path("/usr/share/wordnet")
ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5


_LONGEST_STEMMED = 200


@dataclass(frozen=True)
class Meteor(Metric[str]):
    """METEOR of a text: words that are equal, have one stem, or one meaning, and how scattered they are.

    Args:
        synonyms: Whether the stage of meanings is used; by default it is not, so that values are the same
            everywhere. It needs Debian's package `wordnet`.

    Empty cases: two texts without words are equal (1). A text without words against another has 0.

    Differences from the reference: nltk's gives 0 for two empty texts. As there, even equal texts stay below
    1, less so the longer they are: one run of matches is punished too.

    >>> from parsemark.metrics import score
    >>> round(score("the cat sat", "the cats sat", metrics=["meteor"])["meteor"].value, 3)
    0.981
    """

    name = "meteor"
    facts = Facts(
        title="METEOR of a text",
        kind="text",
        range=(0.0, 1.0),
        higher_is_better=True,
        symmetric=False,
        citation="Banerjee and Lavie 2005, METEOR",
        reference="nltk",
        both_empty=1.0,
        one_empty=0.0,
    )

    synonyms: bool = False

    def compute(self, truth: str, pred: str) -> float:
        """The value for one pair."""
        if self.synonyms and not has_wordnet():
            raise MissingDependencyError("WordNet", "meteor(synonyms=true)", "apt-get install wordnet")
        if not truth.strip() and not pred.strip():
            return 1.0
        check_pairs("characters", len(truth), len(pred), MAX_CHARACTER_PAIRS)
        return meteor(truth, pred, synonyms=self.synonyms)


def has_wordnet() -> bool:
    """Whether synonyms can be looked up here."""
    return (WORDNET_FOLDER / "index.noun").is_file()


def meteor(reference: str, hypothesis: str, *, synonyms: bool | None = None) -> float:
    """METEOR of a hypothesis against a reference.

    Args:
        reference: What it should say.
        hypothesis: What it says.
        synonyms: Whether the third stage is used; by default where WordNet is installed.
    """
    wanted, said = ([w.lower() for w in words(text)] for text in (reference, hypothesis))
    pairs = match_words(wanted, said, has_wordnet() if synonyms is None else synonyms)
    return score_of(len(wanted), len(said), pairs)


def score_of(n_reference: int, n_hypothesis: int, pairs: Sequence[tuple[int, int]]) -> float:
    """The value from the matched words, as places (hypothesis, reference)."""
    if not pairs:
        return 0.0
    matches = len(pairs)
    precision, recall = matches / n_hypothesis, matches / n_reference
    mean = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall)
    ordered = sorted(pairs)
    chunks = 1 + sum(1 for a, b in pairwise(ordered) if b != (a[0] + 1, a[1] + 1))
    penalty: float = GAMMA * (chunks / matches) ** BETA
    return (1 - penalty) * mean


def match_words(reference: Sequence[str], hypothesis: Sequence[str], synonyms: bool) -> list[tuple[int, int]]:
    """Pairs of places, stage after stage; each stage takes words from the end, as nltk does."""
    left_h, left_r = list(enumerate(hypothesis)), list(enumerate(reference))
    stem = _stemmer()
    pairs = _stage(left_h, left_r, lambda word: word, lambda word: {word})
    pairs += _stage(left_h, left_r, stem, lambda word: {stem(word)})
    if synonyms:
        pairs += _stage(left_h, left_r, lambda word: word, _synonyms)
    return pairs


def _stage(
    left_h: list[tuple[int, str]],
    left_r: list[tuple[int, str]],
    key: Callable[[str], str],
    wanted: Callable[[str], set[str]],
) -> list[tuple[int, int]]:
    """Match each word of the hypothesis with the last one left whose key it wants; both leave the lists."""
    by_key: dict[str, list[int]] = defaultdict(list)
    for j, (_, word) in enumerate(left_r):
        by_key[key(word)].append(j)
    pairs: list[tuple[int, int]] = []
    taken_h: set[int] = set()
    taken_r: set[int] = set()
    for i in range(len(left_h) - 1, -1, -1):
        places = [by_key[k] for k in wanted(left_h[i][1]) if by_key.get(k)]
        if places:
            j = max(places, key=lambda stack: stack[-1]).pop()
            pairs.append((left_h[i][0], left_r[j][0]))
            taken_h.add(i)
            taken_r.add(j)
    left_h[:] = [item for i, item in enumerate(left_h) if i not in taken_h]
    left_r[:] = [item for j, item in enumerate(left_r) if j not in taken_r]
    return pairs


def _nltk(part: str) -> Any:
    import importlib

    with needed_for("METEOR"):
        return importlib.import_module(f"nltk.{part}")


@lru_cache(maxsize=1)
def _stemmer() -> Callable[[str], str]:
    stemmer = _nltk("stem.porter").PorterStemmer()

    def stem(word: str) -> str:
        # Its time grows with the square of the length, and nothing so long is a word with an ending.
        return str(stemmer.stem(word)) if len(word) <= _LONGEST_STEMMED else word.lower()

    return lru_cache(maxsize=65536)(stem)


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    return _nltk("tokenize.destructive").NLTKWordTokenizer()


def words(text: str) -> list[str]:
    """Words and punctuation as nltk cuts a sentence; where sentences end is not looked for."""
    return [str(word) for word in _tokenizer().tokenize(text)]


@lru_cache(maxsize=1)
def _wordnet() -> WordNet:
    return WordNet(WORDNET_FOLDER)


@lru_cache(maxsize=65536)
def _synonyms(word: str) -> set[str]:
    return _wordnet().synonyms(word)
