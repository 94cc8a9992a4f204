"""Words and synonyms as docling-eval's METEOR takes them: Punkt's sentences, WordNet 3.0's synsets."""

import os
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from parsemark.errors import MissingDependencyError
from parsemark_boards.package_files import INSTALL_WORDS, find_package_file


def words_of_sentences(text: str) -> list[str]:
    """Return words as nltk's `word_tokenize` cuts them: first sentences (Punkt's English ones), then
    words.
    """
    cut = _tokenizer().tokenize
    return [str(word) for sentence in _sentences().tokenize(text) for word in cut(sentence)]


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    """Return the tokenizer of nltk up to 3.9, where another rule split an apostrophe before a single
    letter.
    """
    from nltk.tokenize.destructive import NLTKWordTokenizer

    tokenizer = NLTKWordTokenizer()
    rule = re.compile(r"(?i)(\')(?!re|ve|ll|m|t|s|d|n)(\w)\b")
    tokenizer.STARTING_QUOTES = [*tokenizer.STARTING_QUOTES[:-1], (rule, r"\1 \2")]
    return tokenizer


@lru_cache(maxsize=1)
def _sentences() -> Any:
    """Return Punkt with its English parameters, read from the tables where nltk or llama-index-core keep
    them.

    MissingDependencyError where they are nowhere to be found.
    """
    import nltk.data
    from nltk.tokenize import punkt

    places = [Path(folder) for folder in nltk.data.path]
    places += filter(None, [find_package_file("llama_index", "core/_static/nltk_cache")])
    found = [own for place in places if (own := place / "tokenizers/punkt_tab/english").is_dir()]
    if not found:
        how = f"python -m nltk.downloader punkt_tab (or {INSTALL_WORDS})"
        raise MissingDependencyError("nltk's data punkt_tab", "Cutting text into sentences", how)
    lists = {path.stem: path.read_text("utf-8").splitlines() for path in found[0].iterdir()}
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
    """Return where WordNet lies; raise MissingDependencyError where it is not installed."""
    for folder in (os.environ.get("WNSEARCHDIR", ""), *FOLDERS):
        if folder and (Path(folder) / "data.noun").is_file():
            return Path(folder)
    raise MissingDependencyError("WordNet 3.0", "METEOR with synonyms", "apt install wordnet-base")


@cache
def _index(part: str) -> dict[str, tuple[int, ...]]:
    """Return the places of synsets by word."""
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
    """Return the names without `_` of all synsets of a word in WordNet 3.0's own files, found as nltk finds
    them.
    """
    return frozenset({word, *(name for name in _names(word.lower()) if "_" not in name)})
