"""Files of facts: what of them is not used is counted and named."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from parsemark.corpora.base import Remark
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

    def refused(self, why: str, line: int) -> None:
        """A fact that its own board would refuse."""
        self._refused.setdefault(why, []).append(line)

    def remarks(self) -> list[Remark]:
        """One remark for each unknown kind and each reason."""
        known = ", ".join(self._kinds)
        return [
            *(
                Remark(self._where, f"{_facts(at)} of the unknown kind {kind!r} left out; known are {known}.")
                for kind, at in self._unknown.items()
            ),
            *(Remark(self._where, f"{_facts(at)} left out: {why}.") for why, at in self._refused.items()),
        ]


def _facts(lines: list[int]) -> str:
    more = f" and {len(lines) - _LISTED} more" if len(lines) > _LISTED else ""
    listed = ", ".join(map(str, lines[:_LISTED]))
    return f"{counted(len(lines), 'fact')} (line {listed}{more})"


def unknown_pages(document: str, pages: Iterable[int], n_pages: int) -> list[Remark]:
    """What is said where facts speak of pages that a document has not."""
    missing = sorted({page for page in pages if page > n_pages})
    return [
        Remark(document, f"the facts of page {page} are left out: it has {counted(n_pages, 'page')}.")
        for page in missing
    ]
