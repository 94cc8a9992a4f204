"""One source of randomness per concern, so that a change in one place leaves the others as they were."""

from __future__ import annotations

import hashlib
import random


def stream(*identity: str | int) -> random.Random:
    """A generator seeded by what it is for: the same identity gives the same numbers on every machine."""
    digest = hashlib.sha256(":".join(map(str, identity)).encode()).digest()
    return random.Random(int.from_bytes(digest[:16], "big"))
