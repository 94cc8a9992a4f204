"""METEOR of two texts (Banerjee and Lavie 2005), as nltk has it without WordNet: equal words, then stems.

Stems are Porter's. On text without white space, as OmniDocBench normalises it, a block is one word.
"""

import os
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from parsemark.errors import MissingDependencyError
from parsemark.extras import find_package_file, needed_for
from parsemark.metrics.base import MAX_CHARACTER_PAIRS, Facts, Metric, check_pairs

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
    facts = Facts("METEOR of a text", "Banerjee and Lavie 2005, METEOR", "nltk", kind="text")

    def compute(self, truth: str, pred: str) -> float:
        """The value for one pair."""
        if not truth.strip() and not pred.strip():
            return 1.0
        check_pairs("characters", len(truth), len(pred), MAX_CHARACTER_PAIRS)
        return meteor(truth, pred)


def meteor(reference: str, hypothesis: str) -> float:
    """METEOR of a hypothesis against a reference."""
    wanted, said = ([w.lower() for w in words(text)] for text in (reference, hypothesis))
    return score_of(len(wanted), len(said), match_words(wanted, said))


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


def match_words(
    reference: Sequence[str],
    hypothesis: Sequence[str],
    synonyms: Callable[[str], Collection[str]] | None = None,
) -> list[tuple[int, int]]:
    """Pairs of places, stage after stage; each stage takes words from the end, as nltk does.

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


def nltk_module(part: str) -> Any:
    """A part of nltk."""
    import importlib

    with needed_for("METEOR"):
        return importlib.import_module(f"nltk.{part}")


@lru_cache(maxsize=1)
def _stemmer() -> Callable[[str], str]:
    stemmer = nltk_module("stem.porter").PorterStemmer()

    def stem(word: str) -> str:
        # Its time grows with the square of the length, and nothing so long is a word with an ending.
        return str(stemmer.stem(word)) if len(word) <= _LONGEST_STEMMED else word.lower()

    return lru_cache(maxsize=65536)(stem)


def words(text: str) -> list[str]:
    """Words and punctuation as nltk cuts a sentence; where sentences end is not looked for."""
    return [str(word) for word in _tokenizer().tokenize(text)]


def words_of_sentences(text: str) -> list[str]:
    """Words as nltk's `word_tokenize` cuts them: first sentences (Punkt's English ones), then words."""
    cut = _tokenizer(older=True).tokenize
    return [str(word) for sentence in _sentences().tokenize(text) for word in cut(sentence)]


@lru_cache(maxsize=2)
def _tokenizer(*, older: bool = False) -> Any:
    """Of nltk, or of nltk up to 3.9: an apostrophe before a single letter was cut off by another rule."""
    tokenizer = nltk_module("tokenize.destructive").NLTKWordTokenizer()
    if older:
        rule = re.compile(r"(?i)(\')(?!re|ve|ll|m|t|s|d|n)(\w)\b")
        tokenizer.STARTING_QUOTES = [*tokenizer.STARTING_QUOTES[:-1], (rule, r"\1 \2")]
    return tokenizer


@lru_cache(maxsize=1)
def _sentences() -> Any:
    """Punkt with its English parameters, read from the tables where nltk or llama-index-core keep them.

    MissingDependencyError where they are nowhere to be found.
    """
    places = [Path(folder) for folder in nltk_module("data").path]
    places += filter(None, [find_package_file("llama_index", "core/_static/nltk_cache")])
    found = [own for place in places if (own := place / "tokenizers/punkt_tab/english").is_dir()]
    if not found:
        how = "python -m nltk.downloader punkt_tab (or pip install llama-index-core)"
        raise MissingDependencyError("nltk's data punkt_tab", "Cutting text into sentences", how)
    lists = {path.stem: path.read_text("utf-8").splitlines() for path in found[0].iterdir()}
    punkt = nltk_module("tokenize.punkt")
    parameters = punkt.PunktParameters()
    parameters.collocations = {tuple(line.split("\t")) for line in lists["collocations"]}
    parameters.sent_starters = set(lists["sent_starters"])
    parameters.abbrev_types = set(lists["abbrev_types"])
    for line in lists["ortho_context"]:
        word, _, context = line.partition("\t")
        parameters.ortho_context[word] = int(context)
    return punkt.PunktSentenceTokenizer(parameters)


FOLDERS = ("/usr/share/wordnet", "/usr/share/wordnet-3.0", "/usr/local/WordNet-3.0/dict")
"""Where `data.noun` and its like may lie; `WNSEARCHDIR` names another folder."""
_ENDINGS = {
    "noun": "s: ses:s ves:f xes:x zes:z ches:ch shes:sh men:man ies:y",
    "verb": "s: ies:y es:e es: ed:e ed: ing:e ing:",
    "adj": "er: est: er:e est:e",
    "adv": "",
}


@cache
def wordnet_folder() -> Path:
    """Where WordNet lies; MissingDependencyError where it is not installed."""
    for folder in (os.environ.get("WNSEARCHDIR", ""), *FOLDERS):
        if folder and (Path(folder) / "data.noun").is_file():
            return Path(folder)
    raise MissingDependencyError("WordNet 3.0", "METEOR with synonyms", "apt install wordnet-base")


@cache
def _index(part: str) -> dict[str, tuple[int, ...]]:
    """Words to the places of their synsets."""
    found = {}
    for line in (wordnet_folder() / f"index.{part}").read_text("utf-8").splitlines():
        if not line.startswith("  "):
            fields = line.split()
            found[fields[0]] = tuple(map(int, fields[-int(fields[2]) :]))
    return found


@cache
def _exceptions(part: str) -> dict[str, list[str]]:
    lines = (wordnet_folder() / f"{part}.exc").read_text("utf-8").splitlines()
    return {fields[0]: fields[1:] for line in lines if (fields := line.split())}


@cache
def _data(part: str) -> bytes:
    return (wordnet_folder() / f"data.{part}").read_bytes()


def _base_forms(word: str, part: str) -> list[str]:
    index, rules = _index(part), [rule.split(":") for rule in _ENDINGS[part].split()]

    def shortened(forms: list[str]) -> list[str]:
        return [form[: len(form) - len(a)] + b for form in forms for a, b in rules if form.endswith(a)]

    def known(forms: list[str]) -> list[str]:
        return [form for form in dict.fromkeys(forms) if form in index]

    if word in _exceptions(part):
        return known([word, *_exceptions(part)[word]])
    forms = shortened([word])
    found = known([word, *forms])
    while forms and not found:
        forms = shortened(forms)
        found = known(forms)
    return found


def _names(word: str) -> Iterator[str]:
    for part in _ENDINGS:
        for form in _base_forms(word, part):
            for place in _index(part)[form]:
                fields = _data(part)[place : _data(part).index(b"\n", place)].decode().split()
                yield from (name.partition("(")[0] for name in fields[4 : 4 + 2 * int(fields[3], 16) : 2])


@lru_cache(maxsize=65536)
def synonyms(word: str) -> frozenset[str]:
    """The names without `_` of all synsets of a word in WordNet 3.0's own files, found as nltk finds them."""
    return frozenset({word, *(name for name in _names(word.lower()) if "_" not in name)})
