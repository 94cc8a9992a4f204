"""Keys and passwords of this process's environment: never stored, never printed. Folders: never stored.

A secret is the value of a variable whose name says so (`…_KEY`, `…_TOKEN`, `…SECRET…`, `…PASSWORD…`). What is
stored or printed of programs that were given one goes through `masked` first, and what is stored of a message
through `without_folders`: runs are published.
"""

import json
import os
import re
from base64 import b64encode
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote, quote_plus

MASK = "[secret]"
_NAME = re.compile(
    r"SECRET|PASSWORD|PASSWD|PASSPHRASE|APIKEY|(?:^|_)(?:KEYS?|TOKENS?|PASS|CREDENTIALS?)(?:_|$)|TOKEN$|KEY$",
    re.I,
)
_FOLDERS = re.compile(
    r"""(?<=['"])(?:file:/{2,3}|~)?/(?:[^/'"\n]+/+)+(?=[^/'"\n])"""  # in quotes, also with blanks
    r"""|(?:(?<=:)/(?!/)|\bfile:/{2,3}|(?<![\w/.<~:\\])~?/+)(?:[^/\s'"<>]+/+)+(?=[^/\s'"<>])"""
)
"""All of an absolute path but its last name; no address of the web, no end of a tag, no fraction."""
_HOMES = r"(?<!\w\w)/(?:home|Users)/[^/\s'\":,;)<>]+"
_MIN_CHARS = 6  # shorter values stand in ordinary texts by chance


def is_secret_name(name: str) -> bool:
    """Return whether a variable of that name holds a secret."""
    return _NAME.search(name) is not None


def masked(text: str, *others: str | None) -> str:
    """Return the text without secrets of the environment, or `others`, in any way that JSON and URLs write
    them.
    """
    values = {v for name, v in os.environ.items() if is_secret_name(name) and len(v) >= _MIN_CHARS}
    pattern = _pattern(frozenset(values.union(filter(None, others))))
    return text if pattern is None else pattern.sub(MASK, text)


def masked_bytes(data: bytes) -> bytes:
    """Return the same for bytes in UTF-8; what is none stays as it is."""
    text = data.decode("utf-8", "surrogateescape")
    clean = masked(text)
    return data if clean == text else clean.encode("utf-8", "surrogateescape")


def without_folders(text: str) -> str:
    """Return the text with the last name only of each absolute path, and `~` for a home folder.

    >>> without_folders("PDFError: cannot open '/data/of/anna b/page.pdf' (/home/anna)")
    "PDFError: cannot open 'page.pdf' (~)"
    """
    return text if "/" not in text else _FOLDERS.sub("", _homes(str(Path.home())).sub("~", text))


@lru_cache(maxsize=8)
def _homes(own: str) -> re.Pattern[str]:
    """Return a pattern for this home folder, whatever is in its name, and those of others."""
    mine = rf"(?<!\w\w){re.escape(own)}(?![\w-])|" if own.strip("/") else ""
    return re.compile(mine + _HOMES)


@lru_cache(maxsize=8)
def _pattern(values: frozenset[str]) -> re.Pattern[str] | None:
    """Return a pattern for each value as it is, and as JSON or a URL may write it."""
    if not values:
        return None
    ways = {way for value in values for way in (value, quote(value, safe=""), quote_plus(value))}
    ways |= {way for value in values for way in _in_base64(value)}
    spelt = [*map(re.escape, ways), *map(_in_json, values)]
    return re.compile("|".join(sorted(spelt, key=len, reverse=True)))


def _in_base64(value: str) -> Iterator[str]:
    """Yield the value in base64 at each offset, as in the header of a login with a password."""
    for before in range(3):
        whole = b64encode(b"?" * before + value.encode("utf-8", "surrogateescape")).rstrip(b"=").decode()
        # The first letters depend on what stands before it too, and the last on what follows.
        if len(sure := whole[(0, 2, 3)[before] : -1]) >= _MIN_CHARS:
            yield from {sure, sure.translate(str.maketrans("+/", "-_"))}


def _in_json(value: str) -> str:
    r"""Return a pattern of the value with any of its characters escaped: `\/`, `\u0041`, `\"`."""
    ways = []
    for character in value:
        units, plain = character.encode("utf-16-be"), re.escape(character)
        codes = "".join(rf"\\u(?i:{units[i : i + 2].hex()})" for i in range(0, len(units), 2))
        short = re.escape(json.dumps(character, ensure_ascii=False)[1:-1])
        ways.append(rf"(?:{plain}|{short}|\\{plain}|{codes})")
    return "".join(ways)
