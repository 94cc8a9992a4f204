"""Synonyms from the files of WordNet 3.0, as Debian's package `wordnet` lays them out.

nltk's own reader wants files that Debian does not ship and refuses folders outside of its own; what METEOR
needs of it is small: the words of all synsets of a word, found by its base forms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

_ENDINGS: dict[str, tuple[tuple[str, str], ...]] = {
    "noun": (
        ("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"),
        ("men", "man"), ("ies", "y"),
    ),
    "verb": (
        ("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""),
    ),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}  # fmt: skip
"""Endings of inflected words and what stands there in the base form, by part of speech."""


class WordNet:
    """The dictionary in a folder.

    Args:
        folder: With `index.noun`, `data.noun`, `noun.exc` and so on.
    """

    def __init__(self, folder: Path) -> None:
        self._offsets = {part: _read_index(folder / f"index.{part}") for part in _ENDINGS}
        self._irregular = {part: _read_exceptions(folder / f"{part}.exc") for part in _ENDINGS}
        self._data = {part: (folder / f"data.{part}").read_bytes() for part in _ENDINGS}

    def synonyms(self, word: str) -> set[str]:
        """The words of all synsets of a word, and the word; names of several words are left out."""
        found = {word}
        for part in _ENDINGS:
            for form in self._base_forms(word.lower(), part):
                for offset in self._offsets[part][form]:
                    found.update(name for name in self._names(part, offset) if "_" not in name)
        return found

    def _base_forms(self, word: str, part: str) -> list[str]:
        """The word itself and what it may be a form of, as far as they are in the dictionary."""
        known = self._offsets[part]
        if word in self._irregular[part]:
            return _known([word, *self._irregular[part][word]], known)
        shorter = list(_shortened([word], part))
        if found := _known([word, *shorter], known):
            return found
        while shorter:
            shorter = list(_shortened(shorter, part))
            if found := _known(shorter, known):
                return found
        return []

    def _names(self, part: str, offset: int) -> Iterator[str]:
        data = self._data[part]
        fields = data[offset : data.find(b"\n", offset)].decode("utf-8", "replace").split(" ")
        for k in range(int(fields[3], 16)):
            yield fields[4 + 2 * k].partition("(")[0]


def _known(forms: Iterable[str], known: dict[str, list[int]]) -> list[str]:
    return list(dict.fromkeys(form for form in forms if form in known))


def _shortened(forms: Iterable[str], part: str) -> Iterator[str]:
    for form in forms:
        for old, new in _ENDINGS[part]:
            if form.endswith(old):
                yield form[: -len(old)] + new


def _read_index(path: Path) -> dict[str, list[int]]:
    """Words to the places of their synsets."""
    found: dict[str, list[int]] = {}
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if not line.startswith(" "):  # the licence
                fields = line.split()
                found[fields[0]] = [int(field) for field in fields[-int(fields[2]) :]]
    return found


def _read_exceptions(path: Path) -> dict[str, list[str]]:
    with path.open(encoding="utf-8", errors="replace") as lines:
        return {fields[0]: fields[1:] for line in lines if len(fields := line.split()) > 1}
