"""One spelling for what OmniDocBench's versions and its README spell in several ways."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parsemark.model import AttributeValue, Category

_CATEGORIES = {
    "text": Category.TEXT_BLOCK,
    "textblock": Category.TEXT_BLOCK,
    "list": Category.LIST_GROUP,
    "image": Category.FIGURE,
    "image_caption": Category.FIGURE_CAPTION,
    "image_footnote": Category.FIGURE_FOOTNOTE,
    "isolate_formula": Category.EQUATION_ISOLATED,
    "equation": Category.EQUATION_ISOLATED,
    "formula": Category.EQUATION_ISOLATED,
    "formula_caption": Category.EQUATION_CAPTION,
    "code": Category.CODE_TXT,
    "code_caption": Category.CODE_TXT_CAPTION,
    "algorithm": Category.CODE_ALGORITHM,
}

_WORDS = {
    "en": "english",
    "eng": "english",
    "zh": "simplified_chinese",
    "ch": "simplified_chinese",
    "chinese": "simplified_chinese",
    "en_ch": "en_ch_mixed",
    "colorful_backgroud": "colorful_background",
    "colorful_backgroung": "colorful_background",
    "multi_coloured": "multi_colored",
    "single_coloured": "single_colored",
}

_PREFIXES = ("text_", "table_", "equation_")
_NOTHING = frozenset({"", "none", "null", "nan"})


def category(name: object) -> str:
    """The category, in `Category`'s spelling where it is one of those."""
    word = str(name).strip().lower().replace(" ", "_").replace("-", "_")
    return str(_CATEGORIES.get(word, word))


def attributes(data: object) -> dict[str, AttributeValue]:
    """Attributes with one spelling; the words of a list become flags, and `None` among them is none."""
    if not isinstance(data, Mapping):
        return {}
    spelt: dict[str, AttributeValue] = {}
    for key, value in data.items():
        if isinstance(value, list | tuple):
            spelt |= {_word(item): True for item in value if not _is_nothing(item)}
        elif isinstance(value, str):
            if not _is_nothing(value):
                spelt[_key(key)] = _value(str(key), value)
        elif value is None or isinstance(value, bool | int | float):
            spelt[_key(key)] = value
    return spelt


def _key(key: Any) -> str:
    return str(key).strip().lower()


def _value(key: str, value: str) -> str | bool:
    word = _word(value)
    if word.lower() in ("true", "false"):
        return word.lower() == "true"
    if "language" in key:
        for prefix in _PREFIXES:
            word = word.removeprefix(prefix)
        return _word(word)
    return word


def _word(value: object) -> str:
    word = str(value).strip()
    return _WORDS.get(word.lower().replace(" ", "_"), word)


def _is_nothing(value: object) -> bool:
    return value is None or str(value).strip().lower() in _NOTHING
