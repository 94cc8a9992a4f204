"""Keeps what a parser returned within what a browser can show."""

from __future__ import annotations

import json
from typing import Any

MAX_CELL_CHARACTERS = 4_000
MAX_TEXT_CHARACTERS = 20_000
MAX_CELLS = 20_000
MAX_ELEMENTS = 2_000
SMALL_JSON = 200_000
"""Up to this length the stored JSON is passed on as it is."""


def prediction_json(stored: str) -> str:
    """The JSON of a stored prediction or truth, cut down where it is too large, as text.

    Cut texts end with how much is missing, so that nobody takes the rest for the whole.
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
    """The beginning of a text that is too long, with the number of characters left out."""
    return text if len(text) <= limit else f"{text[:limit]}… [{len(text) - limit:,} more characters]"


def without_nan(value: Any) -> Any:
    """`value` with what JSON cannot hold (NaN, infinities) as None."""
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
