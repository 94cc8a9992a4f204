"""How probable it is that a finding is real: a small table by kind and trait, fitted to judged findings.

`certainty.json` has the table and its origin: how many findings of each kind and trait were judged, and how
many of them were real.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from importlib import resources
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from parsemark.matching.words import atoms
from parsemark.model import Box
from parsemark.pdf import SeenPage, SeenWord

if TYPE_CHECKING:
    from parsemark.matching.page_findings import BoxSides, PageFinding

Trait = Literal["ocr", "script", "sign", "gap", "tiny", "there", "long", "short"]
_LONG = 5  # words from which on a text is long; of an altered word letters
_LONG_BLOCK = {"moved": 80, "doubled": 40}  # letters from which on text of these kinds is long
_TINY = 3  # letters or digits of the words of formulas and charts
_OF_WORDS = frozenset(
    {"number", "lost", "altered", "invented", "moved", "doubled", "leaked", "joined", "split"}
)
_THERE = 0.75  # share of pairs of neighbouring words that the other side must have
_AROUND, _LEAST = 8, 10
"""Letters on each side of lost words that the output may have side by side, and the fewest of both."""
_FEW = 0.005  # share of a page's characters up to which a script does not matter
_COMPLEX = (("\u0590", "\u1cff"), ("\ufb1d", "\ufefc"))
"""Scripts that text layers often store in another order or as parts of letters."""


class PageTraits:
    """What the certainty of findings on one page depends on."""

    def __init__(self, seen: SeenPage, output: str, whole: str) -> None:
        self._seen, self._output, self._whole = seen, output, whole

    def certainty(self, finding: PageFinding) -> float:
        """Return the probability that a finding is real."""
        return _table()[finding.kind, self.trait(finding)]

    def trait(self, finding: PageFinding) -> Trait:
        """Return the first of these traits that the finding has.

        `ocr`: OCR has read the page. `script`: the page or the finding has letters of a script that is
        written from right to left or has composed letters. `sign`: a sign or unit of a number. `gap`:
        the output has the words before and behind lost ones side by side. `tiny`: only words of up to
        three letters, or a number of one digit, as in formulas and charts. `there`: the other side has the
        words too, at another place or as a part of others. `long`: at least five words, an
        altered word of at least five letters, repeated text of at least 40, or moved text of at least 80.
        `short`: all others.
        """
        if self._seen.source == "ocr":
            return "ocr"
        if self._is_complex or _n_complex(finding.text + finding.output):
            return "script"
        if finding.detail in ("sign", "unit"):
            return "sign"
        return self._trait_of_words(finding, (finding.text or finding.output).split())

    def _trait_of_words(self, finding: PageFinding, words: Sequence[str]) -> Trait:
        kind, longest = finding.kind, max(map(len, words), default=0)
        is_there = self._is_there(finding, words)
        if kind == "lost" and is_there and self._is_gap(finding) and not self._is_part(words):
            return "gap"
        if kind in _OF_WORDS and longest <= (1 if kind == "number" else _TINY):
            return "tiny"
        if is_there:
            return "there"
        if least := _LONG_BLOCK.get(kind):
            return "long" if len(_letters(words)) >= least else "short"
        return "long" if (longest if kind == "altered" else finding.words) >= _LONG else "short"

    def _is_there(self, finding: PageFinding, words: Sequence[str]) -> bool:
        """Return whether the other side has the words of a finding too."""
        if finding.kind == "lost":
            long_words = [_letters([word]) for word in words if len(word) > _TINY]
            return (
                _share_in(words, self._letters_of_output) >= _THERE
                or (len(words) >= _LONG and _share_in(words, _letters_of_whole(self._whole)) >= _THERE)
                or (bool(long_words) and all(word in self._letters_of_output for word in long_words))
            )
        if finding.kind == "invented":
            return _share_in(words, self._letters_of_page) >= _THERE
        if finding.kind == "number" and "," in finding.text and finding.text in self._output:
            return True
        if finding.kind == "altered" or (finding.kind == "number" and finding.detail != "joined numbers"):
            return _letters(words) in _letters(finding.output.split())
        return False

    def _is_part(self, words: Sequence[str]) -> bool:
        """Return whether the output has words as a part of one that the page does not have."""
        own = _letters(words)
        return any(own in word and word not in self._letters_of_page for word in self._words_of_output)

    def _is_gap(self, lost: PageFinding) -> bool:
        """Return whether the output has what surrounds lost words without them, and not with them."""
        wanted = len(_letters(lost.text.split()))
        for start in (k for k, word in enumerate(self._shown) if _begins(word.box, lost.boxes)):
            end = start
            while end < len(self._shown) and len(_letters(self._words(start, end))) < wanted:
                end += 1
            before = _letters(self._words(max(0, start - _AROUND), start))[-_AROUND:]
            after = _letters(self._words(end, end + _AROUND))[:_AROUND]
            whole = before + _letters(self._words(start, end)) + after
            if len(before + after) >= _LEAST and whole not in self._letters_of_output:
                return before + after in self._letters_of_output
        return False

    def _words(self, start: int, end: int) -> list[str]:
        return [word.text for word in self._shown[start:end]]

    @cached_property
    def _shown(self) -> list[SeenWord]:
        return [word for word in self._seen.words if word.shown]

    @cached_property
    def _is_complex(self) -> bool:
        letters = "".join(word.text for word in self._shown)
        return _n_complex(letters) > _FEW * len(letters)

    @cached_property
    def _letters_of_output(self) -> str:
        return _letters(self._output.split())

    @cached_property
    def _words_of_output(self) -> frozenset[str]:
        return frozenset(atom for word in self._output.split() for atom in atoms(word))

    @cached_property
    def _letters_of_page(self) -> str:
        return _letters([word.text for word in self._shown])


def _begins(box: Box, places: Sequence[BoxSides]) -> bool:
    """Return whether a word stands at the begin of the first of these places."""
    near = 0.05  # points
    return any(
        abs(box.x0 - x0) <= near and box.y0 >= y0 - near and box.y1 <= y1 + near
        for x0, y0, _, y1 in places[:1]
    )


def _n_complex(text: str) -> int:
    return sum(any(low <= c <= high for low, high in _COMPLEX) for c in text)


def _letters(words: Sequence[str]) -> str:
    return "".join(atom for word in words for atom in atoms(word))


@lru_cache(maxsize=1)
def _letters_of_whole(output: str) -> str:
    return _letters(output.split())


def _share_in(words: Sequence[str], letters: str) -> float:
    """Return the share of pairs of neighbouring words that some letters contain."""
    pairs = [one + other for one, other in pairwise(words)] or list(words)
    return sum(pair in letters for pair in pairs) / len(pairs) if pairs else 0.0


@lru_cache(maxsize=1)
def _table() -> Mapping[tuple[str, str], float]:
    text = resources.files("parsemark.verdicts.check").joinpath("certainty.json").read_text("utf-8")
    return {(row["kind"], row["trait"]): row["probability"] for row in json.loads(text)["table"]}
