"""Tables of XML vocabularies whose rows and cells have other names than those of HTML.

TEI, which GROBID writes, has `<row>` and `<cell rows="2" cols="3">` in a `<table>`; the tables of DocBook
(CALS) have `<row>` and `<entry morerows="1" namest="c1" nameend="c3">`.
"""

from __future__ import annotations

import re

_NAMES = {"row": "tr", "cell": "td", "entry": "td", "lb": "br", "head": "caption"}
_NO_MATTER = ("hi", "emph", "emphasis", "ref", "ptr", "formula", "num", "seg", "note", "para", "graphic")
"""What a cell may hold besides its text; it goes, as other markup does."""
_TAG = re.compile(rf"<(/?)({'|'.join([*_NAMES, *_NO_MATTER])})(?=[\s/>])([^<>]{{0,10000}})>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"\b([A-Za-z]{1,20})\s{0,9}=\s{0,9}[\"']([^\"'<>]{0,99})[\"']")
_NUMBER = re.compile(r"(\d{1,4})\Z")


def in_html(source: str) -> str:
    """A table with its rows and cells named as in HTML; one that has no `<row>` is given back as it is.

    >>> in_html('<table><row><cell cols="2">A</cell><cell/></row></table>')
    '<table><tr><td colspan="2">A</td><td></td></tr></table>'
    """
    if not any(begun in source for begun in ("<row", "<Row", "<ROW")):
        return source
    return _TAG.sub(_renamed, source)


def _renamed(tag: re.Match[str]) -> str:
    closes, name, rest = tag[1], tag[2].lower(), tag[3]
    if name in _NO_MATTER:
        return ""
    told = _spans(rest) if name in ("cell", "entry") and not closes else ""
    # HTML knows no row or cell that closes itself.
    ended = f"</{_NAMES[name]}>" if rest.endswith("/") and name != "lb" else ""
    return f"<{closes}{_NAMES[name]}{told}>{ended}"


def _spans(rest: str) -> str:
    """The attributes of HTML for how far a cell reaches."""
    said = {name.lower(): value for name, value in _ATTRIBUTE.findall(rest)}
    numbers = {name: int(found[1]) for name, value in said.items() if (found := _NUMBER.search(value))}
    rows = numbers.get("rows", numbers.get("morerows", 0) + 1)
    columns = numbers.get("cols", numbers.get("nameend", 0) - numbers.get("namest", 0) + 1)
    told = f' rowspan="{rows}"' if rows > 1 else ""
    return f'{told} colspan="{columns}"' if columns > 1 else told
