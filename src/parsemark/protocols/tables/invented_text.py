"""Text that a parser invented: nowhere in the page's text layer (Soric et al., E.1)."""

import re
from collections import Counter
from functools import lru_cache

from parsemark.formats.notation import fold_notation, without_accents
from parsemark.model import Prediction

_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
MAX_CULPRITS = 20


def invented_text(prediction: Prediction, page_text: str) -> tuple[float | None, float | None, list[str]]:
    """Return shares of characters and numbers of a prediction's tables that the page's text layer does not
    contain (None where there are none at all), and the first of them.

    Characters are counted in words (runs of letters and digits): a word is present if the page's text
    without white space and signs contains it, so hyphenation and letter spacing in the text layer do not
    count as invention. A number is present if the page has it with any thousands or decimal separators.
    """
    page_letters, page_numbers = _letters_and_numbers(page_text)
    said = ([e.text or ""] if e.table is None else [c.text for c in e.table.cells] for e in prediction.tables)
    texts = [_fold(fold_notation(text)) for own in said for text in own]
    words = Counter(word for text in texts for word in _WORD.findall(text))
    numbers = Counter(number for text in texts for number in _NUMBER.findall(text))
    new_words = {word: n for word, n in words.items() if word not in page_letters}
    new_numbers = {number: n for number, n in numbers.items() if _digits(number) not in page_numbers}
    n_characters = sum(len(word) * n for word, n in words.items())
    n_new_characters = sum(len(word) * n for word, n in new_words.items())
    ranked = sorted({**new_words, **new_numbers}, key=lambda word: (-len(word), word))
    share = n_new_characters / n_characters if n_characters else None
    number_share = sum(new_numbers.values()) / numbers.total() if numbers else None
    return share, number_share, ranked[:MAX_CULPRITS]


@lru_cache(maxsize=4)  # the parsers of a page follow each other
def _letters_and_numbers(page_text: str) -> tuple[str, frozenset[str]]:
    page = _fold(page_text)
    return "".join(_WORD.findall(page)), frozenset(_digits(number) for number in _NUMBER.findall(page))


def _fold(text: str) -> str:
    """Return compatibility forms, case and accents folded: text layers often hold accents as separate
    glyphs.
    """
    if text.isascii():
        return text.casefold()
    return without_accents(text).casefold()


def _digits(number: str) -> str:
    return re.sub(r"\D", "", number)
