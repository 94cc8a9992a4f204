"""Characters that hide or move text, made visible: what parsers and files say is shown as it is."""

from __future__ import annotations

import re
from typing import Any

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Controls but tab and line feed, zero-width characters, those that change the writing direction, halves of
surrogate pairs, and tags; `assets/js/dom.js` has the same."""


def visible(text: str) -> str:
    """The text with such characters as their code.

    >>> visible("gnp.\u202efdp")
    'gnp.⟨U+202E⟩fdp'
    """
    return _INVISIBLE.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)


def visible_value(value: Any) -> Any:
    """What a template prints: text made visible, all else (also markup of our own) as it is."""
    return visible(value) if type(value) is str else value
