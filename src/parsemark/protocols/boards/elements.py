"""Elements as boards see them: what they call each kind (`labels.toml`), and its text."""

import tomllib
from functools import cache
from importlib.resources import files

from parsemark.model import Element


@cache
def _labels() -> dict[str, dict[str, str]]:
    return tomllib.loads(files(__package__).joinpath("labels.toml").read_text(encoding="utf-8"))


def board_label(board: str, element: Element) -> str:
    """What a board calls an element."""
    labels, category = _labels()[board], str(element.category)
    return labels.get("caption" if category.endswith("_caption") else category, labels["other"])


def text_of(element: Element) -> str:
    """What an element says, as text or else as LaTeX."""
    return (element.text if element.text is not None else element.latex) or ""
