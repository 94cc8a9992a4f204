"""What a file of tests holds that cannot be used: counted, and reported as warnings of the corpus."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from parsemark.corpora import Remark
from parsemark.errors import CorpusError
from parsemark.plain_words import counted

_LISTED = 5


class FactLines:
    """What one file of facts holds that cannot be used: kinds that nobody knows, and broken ones."""

    def __init__(self, where: str, kinds: Sequence[str]) -> None:
        self._where = where
        self._kinds = kinds
        self._unknown: dict[str, list[int]] = {}
        self._refused: dict[str, list[int]] = {}

    def unknown(self, kind: str, line: int) -> None:
        """A fact of a kind that has no rule here."""
        self._unknown.setdefault(kind[:40], []).append(line)

    def refused(self, why: str | Exception, line: int) -> None:
        """A fact that its own board would refuse."""
        self._refused.setdefault(why if isinstance(why, str) else _in_words(why), []).append(line)

    def kind_of(self, fact: Any, key: str, line: int) -> str | None:
        """The kind of a fact, where that is known; else None, and it is said what is wrong."""
        kind = fact.get(key) if isinstance(fact, dict) else None
        if not isinstance(fact, dict):
            self.refused("it is not a JSON object", line)
        elif not isinstance(kind, str):
            self.refused(f"its {key!r} is {'missing' if kind is None else 'not a text'}", line)
        elif kind not in self._kinds:
            self.unknown(kind, line)
        else:
            return kind
        return None

    def remarks(self) -> list[Remark]:
        """One remark for each unknown kind and each reason."""
        known = ", ".join(self._kinds)
        said = [
            f"{_facts(at)} of the unknown kind {kind!r} left out; known are {known}."
            for kind, at in self._unknown.items()
        ]
        said += [f"{_facts(at)} left out: {why}." for why, at in self._refused.items()]
        return [Remark(self._where, message) for message in said]


def _in_words(error: Exception) -> str:
    """What is wrong with a fact, without the words of Python."""
    if isinstance(error, CorpusError):
        return str(error)
    if isinstance(error, KeyError):
        return f"it has no {error}"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, ValueError) and re.match("invalid literal|could not convert", str(error)):
        return f"{str(error).rpartition(': ')[2]} is not a number"
    return str(error) if isinstance(error, ValueError) else "a value is missing, or not of the right type"


def _facts(lines: list[int]) -> str:
    more = f" and {len(lines) - _LISTED} more" if len(lines) > _LISTED else ""
    listed = ", ".join(map(str, lines[:_LISTED]))
    return f"{counted(len(lines), 'fact')} (line {listed}{more})"


def unknown_pages(document: str, pages: Iterable[int], n_pages: int) -> list[Remark]:
    """What is said where facts speak of pages that a document has not."""
    why = f"are left out: it has {counted(n_pages, 'page')}."
    missing = sorted({page for page in pages if page > n_pages})
    return [Remark(document, f"the facts of page {page} {why}") for page in missing]
