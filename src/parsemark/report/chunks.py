"""Data files of the site: JSON, compressed, as scripts.

A page opened from disk may not fetch files, but it may load scripts. So a chunk is a script with one call,
whose arguments are base64 and nothing else: no text of a parser can end the string or the script. What a
parser returned is kept within what a browser can show.
"""

import base64
import gzip
import json
from pathlib import Path
from typing import Any

from parsemark.plain_words import counted
from parsemark.system import make_folder

CALL = "parsemark.chunk"


def encode(text: str) -> str:
    """Return JSON text as base64 of gzip."""
    # Lone surrogates are legal in Python strings but not in UTF-8.
    data = text.encode("utf-8", "replace")
    return base64.b64encode(gzip.compress(data, compresslevel=5, mtime=0)).decode("ascii")


def decode(script: str) -> Any:
    """Return the value of a chunk file; what the browser does, for tests and tools."""
    payload = script[script.rindex(",") + 1 :].strip(' ");\n')
    return json.loads(gzip.decompress(base64.b64decode(payload)))


def write_chunk(root: Path, name: str, value: Any) -> None:
    """Write plain JSON data as `data/NAME.js` below `root`; see `write_text_chunk`."""
    how: dict[str, Any] = {"ensure_ascii": False, "separators": (",", ":"), "allow_nan": False}
    try:
        text = json.dumps(value, **how)
    except ValueError:  # few chunks hold NaN, and looking through all of them takes as long as writing them
        text = json.dumps(without_nan(value), **how)
    write_text_chunk(root, name, text)


def write_text_chunk(root: Path, name: str, text: str) -> None:
    """Write JSON text as `data/NAME.js` below `root`; a name (`names`) has letters, digits, `-`, `/`."""
    path = root / "data" / f"{name}.js"
    make_folder(path.parent)
    path.write_text(f'{CALL}("{name}","{encode(text)}");\n', encoding="ascii")


MAX_CELL_CHARACTERS = 4_000
MAX_TEXT_CHARACTERS = 20_000
MAX_CELLS = 20_000
MAX_ELEMENTS = 2_000
SMALL_JSON = 200_000  # up to this length the stored JSON is passed on as it is


def prediction_json(stored: str) -> str:
    """Return the JSON of a stored prediction or truth, cut down where it is too large, as text.

    Cut texts end with how much is missing, so that the rest is not taken for the whole.
    """
    if len(stored) <= SMALL_JSON and "NaN" not in stored and "Infinity" not in stored:
        return stored
    data = json.loads(stored)
    elements = data.get("elements", [])
    data["elements"] = [_element(e) for e in elements[:MAX_ELEMENTS]]
    if len(elements) > MAX_ELEMENTS:
        data["elements_left_out"] = len(elements) - MAX_ELEMENTS
    if isinstance(data.get("text"), str):
        data["text"] = cut(data["text"], MAX_TEXT_CHARACTERS)
    return json.dumps(without_nan(data), ensure_ascii=False, allow_nan=False)


def cut(text: str, limit: int) -> str:
    """Return the beginning of a text that is too long, with the number of characters left out."""
    return text if len(text) <= limit else f"{text[:limit]}… [{counted(len(text) - limit, 'more character')}]"


def without_nan(value: Any) -> Any:
    """Return `value` with what JSON cannot hold (NaN, infinities) as None."""
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, dict):
        return {str(k): without_nan(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(v) for v in value]
    return value


def _element(element: dict[str, Any]) -> dict[str, Any]:
    small = dict(element)
    for key in ("text", "latex", "html"):
        if isinstance(small.get(key), str):
            small[key] = cut(small[key], MAX_TEXT_CHARACTERS)
    if small.get("table"):
        cells = small["table"]["cells"]
        trimmed = [{**c, "text": cut(c.get("text", ""), MAX_CELL_CHARACTERS)} for c in cells[:MAX_CELLS]]
        small["table"] = {**small["table"], "cells": trimmed}
        if len(cells) > MAX_CELLS:
            small["table"]["cells_left_out"] = len(cells) - MAX_CELLS
    return small
