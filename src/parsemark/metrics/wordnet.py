"""Synonyms from WordNet 3.0's own files, found as nltk finds them (METEOR's third stage)."""

import os
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path

from parsemark.errors import MissingDependencyError

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
    """The names without `_` of all synsets of a word, the word itself among them.

    Raises:
        MissingDependencyError: WordNet is not installed.
    """
    return frozenset({word, *(name for name in _names(word.lower()) if "_" not in name)})
