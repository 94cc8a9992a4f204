"""Whether braces, environments and delimiters of a formula fit together."""

from __future__ import annotations

import re

_ENVIRONMENT = re.compile(r"\\(begin|end)\{([^{}]+)\}")
_LEFT = re.compile(r"\\left\b")
_RIGHT = re.compile(r"\\right\b")
_DOLLAR = re.compile(r"(?<!\\)\$")
_BRACES = re.compile(r"\\[{}\[\]()]|[{}]")
_MAX_LENGTH = 8000


def is_bad(text: str) -> bool:
    """Whether braces, environments or delimiters do not fit together, or it is too long."""
    return (
        len(text) > _MAX_LENGTH
        or not _braces_balance(text)
        or not _environments_nest(text)
        or len(_LEFT.findall(text)) != len(_RIGHT.findall(text))
        or text.count("\\(") != text.count("\\)")
        or text.count("\\[") != text.count("\\]")
        or len(_DOLLAR.findall(text)) % 2 == 1
    )


def _braces_balance(text: str) -> bool:
    depth = 0
    for match in _BRACES.finditer(text):
        if match.group() == "{":
            depth += 1
        elif match.group() == "}":
            depth -= 1
            if depth < 0:
                return False
    return depth == 0


def _environments_nest(text: str) -> bool:
    stack: list[str] = []
    for match in _ENVIRONMENT.finditer(text):
        if match[1] == "begin":
            stack.append(match[2])
        elif not stack or stack.pop() != match[2]:
            return False
    return not stack
