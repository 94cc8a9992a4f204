"""HTML rewritten so that every libxml2 reads its tags as those before 2.14 did.

The published programs were run with such a one. Where `<` or `&` begins nothing sound, as in `a<b` or `<LOD`
once entities are resolved, later ones read other names, and the value of a table differs.
"""

import html
import re
from html.entities import name2codepoint

_ATTRIBUTE = r"""\s+[a-z][a-z0-9\-]*(?:=(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>=]+))?"""
_ODD = re.compile(
    rf"<(?!/?[a-z][a-z0-9]*(?:{_ATTRIBUTE})*\s*/?>|[\s\d=])|&(?!(?:amp|lt|gt|quot);)", re.IGNORECASE
)
_RAW = re.compile(r"<(?:script|style)\b", re.IGNORECASE)
_MARK = re.compile("[<&]")
_CONTROL = re.compile("[\x01-\x08\x0e-\x1f\ufffe\uffff]")
"""Characters that XML does not have, which they leave out."""
_NAME = re.compile(r"[A-Za-z_:.][A-Za-z0-9:\-_.]{0,99}")
_FIRST_OF_TAG = re.compile("[A-Za-z]")
_REFERENCE = re.compile(r"&(?:#[0-9]+|#[xX][0-9A-Fa-f]+|([A-Za-z][A-Za-z0-9]*);)")
_BLANKS = re.compile(r"[ \t\n\r]*")
_BOGUS = re.compile(r"(?:(?!/>)[^ \t\n\r>])*")
_VALUE = re.compile(r"=[ \t\n\r]*(?:\"([^\"]*)\"?|'([^']*)'?|([^ \t\n\r>]*))")


def as_older_parser(text: str) -> str:
    """HTML of which any libxml2 makes what those before 2.14 make of the one given."""
    text = _CONTROL.sub("", text)
    if _ODD.search(text) is None or _RAW.search(text) is not None:
        return text
    out: list[str] = []
    at = 0
    while (mark := _MARK.search(text, at)) is not None:
        out.append(text[at : mark.start()])
        piece, at = _piece(text, mark.start())
        out.append(piece)
    return "".join(out) + text[at:]


def _piece(text: str, at: int) -> tuple[str, int]:
    """What stands for a mark and what belongs to it, and where the rest begins."""
    if text[at] == "&":
        reference = _REFERENCE.match(text, at)
        if reference is None or (reference[1] and reference[1] not in name2codepoint):
            return "&amp;", at + 1
        return reference[0], reference.end()
    following = text[at + 1 : at + 2]
    if following == "/":
        name = _NAME.match(text, at + 2)
        end = text.find(">", name.end()) if name is not None else -1
        return ("", at + 2) if name is None else (f"</{name[0].lower()}>", len(text) if end < 0 else end + 1)
    if following in ("!", "?"):
        closing = "-->" if text.startswith("<!--", at) else ">"
        end = text.find(closing, at)
        end = len(text) if end < 0 else end + len(closing)
        return text[at:end], end
    if _FIRST_OF_TAG.match(following) is None:
        return "&lt;", at + 1
    return _start_tag(text, at + 1)


def _start_tag(text: str, at: int) -> tuple[str, int]:
    name = _NAME.match(text, at)
    assert name is not None
    out = [f"<{name[0].lower()}"]
    at = _after_blanks(text, name.end())
    while at < len(text) and text[at] != ">" and not text.startswith("/>", at):
        attribute = _NAME.match(text, at)
        if attribute is None:
            bogus = _BOGUS.match(text, at)
            assert bogus is not None
            at = bogus.end()
        else:
            at = _after_blanks(text, attribute.end())
            value = _VALUE.match(text, at)
            given = "" if value is None else next((v for v in value.groups() if v is not None), "")
            out.append(f' {attribute[0].lower()}="{html.escape(html.unescape(given))}"')
            at = at if value is None else value.end()
        at = _after_blanks(text, at)
    closing = "/>" if text.startswith("/>", at) else ">"
    return "".join(out) + closing, min(at + len(closing), len(text))


def _after_blanks(text: str, at: int) -> int:
    blanks = _BLANKS.match(text, at)
    assert blanks is not None
    return blanks.end()
