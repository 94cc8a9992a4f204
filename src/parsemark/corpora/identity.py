"""By what documents are known as the same, or as of one kind: text, the PDF they were taken from, maker."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from parsemark.corpora.render import page_text
from parsemark.errors import ParsemarkError
from parsemark.model import Sample
from parsemark.pdf import producer, taken_from

MIN_TEXT = 40
"""Pages of fewer letters and digits (empty ones, title pages of series) are not known by their text."""


def identity_of(sample: Sample) -> dict[str, str]:
    """What tells a page's document from others, as far as its PDF says so; nothing where it cannot be read.

    Returns:
        `text`: hash of its letters and digits; `taken_from`: hash of the PDF that `corpus sample` took it
        from; `producer`: the program that made it, without its version.
    """
    if sample.pdf is None:
        return {}
    try:
        letters = "".join(c for c in page_text(sample).casefold() if c.isalnum())
        found = dict(_of_file(sample.pdf))
    except (ParsemarkError, OSError):
        return {}
    if len(letters) >= MIN_TEXT:
        found["text"] = hashlib.sha256(letters.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return found


@lru_cache(maxsize=256)
def _of_file(pdf: Path) -> tuple[tuple[str, str], ...]:
    """What all pages of a file have in common."""
    words = producer(pdf).split()
    named = " ".join(word for word in words if not any(c.isdigit() for c in word))
    facts = {"producer": (named or " ".join(words))[:80], "taken_from": taken_from(pdf)}
    return tuple((key, value) for key, value in facts.items() if value)
