"""Ids of samples from names of files."""

from __future__ import annotations

import re

_FORBIDDEN = re.compile(r"[^A-Za-z0-9._-]+")
_MAX_LENGTH = 120


class SampleIds:
    """Makes ids of the letters that ids may have, each one once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def make(self, *parts: str | int) -> str:
        """The parts joined by `-`; a number is added where that id is taken already."""
        wanted = "-".join(_FORBIDDEN.sub("_", str(part)) for part in parts)[-_MAX_LENGTH:].lstrip("-.") or "_"
        chosen, count = wanted, 1
        while chosen in self._taken:
            count += 1
            chosen = f"{wanted}-{count}"
        self._taken.add(chosen)
        return chosen
