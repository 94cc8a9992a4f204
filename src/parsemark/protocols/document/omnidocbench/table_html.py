"""HTML tables as they are compared (section 4.5)."""

import html
import re
import unicodedata
from functools import lru_cache
from html.entities import name2codepoint
from typing import Any

from parsemark.protocols.document.omnidocbench.profile import Profile
from parsemark.protocols.document.omnidocbench.scan import collapse, unwrapped

_TABLE_START = re.compile(r"<table\b[^>]*>", re.IGNORECASE)
_TABLE_END = re.compile("</table>", re.IGNORECASE)
_ATTRIBUTES = [re.compile(f' {name}="[^"\n]*"') for name in ("style", "height", "width", "align", "class")]
_TBODY = re.compile(r"</?tbody>")
_SPACES = re.compile(r"\s+")
_DROPPED = (
    "<sup>", "</sup>", "<sub>", "</sub>", "<span>", "</span>", "<div>", "</div>", "<p>", "</p>",
)  # fmt: skip
_COLGROUP = re.compile(r"<colgroup>.*?</colgroup>")
_DASHES = frozenset("-–−－—")
_REPLACEMENTS: tuple[tuple[str, str], ...] = tuple(
    (old, new)
    for olds, new in (
        (r"\checkmark \checked \surd", "√"), (r"\times \xmark \crossmark", "×"), (r"\pm", "±"), (r"\mp", "∓"),
        (r"\alpha", "α"), (r"\beta", "β"), (r"\gamma \gama", "γ"), (r"\mu", "μ"), (r"\lambda", "λ"),
        (r"\theta", "θ"), (r"\eta", "η"), (r"\pi", "π"), (r"\rho", "ρ"), (r"\sigma", "σ"), (r"\omega", "ω"),
        (r"\delta", "δ"), (r"\Delta", "Δ"), (r"\epsilon \varepsilon", "ε"), (r"\phi \varphi", "φ"),
        (r"\tau", "τ"), (r"\partial", "∂"), (r"\varnothing \emptyset", "∅"), (r"\sim", "～"),
        ("✓ ✔ ☑ ✅ 🗸", "√"), ("✗ ✘ ✕ ✖ ☒ ❌ ╳ ⨯", "×"), ("Ø", "∅"), ("∼ 〜", "～"),
        (r"\%", "%"), (r"\#", "#"), (r"\&", "&"), (r"\_", "_"),
    )
    for old in olds.split()
)  # fmt: skip


@lru_cache(maxsize=4096)
def norm_table(text: str, profile: Profile) -> str:
    """Return H, a table as it is compared; empty where there is none."""
    if "<table" not in text.replace(" ", ""):
        return ""
    quick = _quickly_simplified(text, profile)
    return framed_table(_simplified_by_tree(text, profile) if quick is None else quick)


def framed_table(text: str) -> str:
    """Return the insides of all tables of a text as one table, without what is not compared (steps 3 to
    8).
    """
    text = unicodedata.normalize("NFKC", html.unescape(text).replace("\n", "")).strip()
    start = _TABLE_START.search(text)
    ends = [match.start() for match in _TABLE_END.finditer(text)]
    inner = text[start.end() : ends[-1]] if start is not None and ends and ends[-1] >= start.end() else ""
    for pattern in _ATTRIBUTES:
        inner = pattern.sub("", inner)
    inner = _SPACES.sub(" ", _TBODY.sub("", inner))
    inner = f'<html><body><table border="1" >{inner}</table></body></html>'
    for mark in _DROPPED:
        inner = inner.replace(mark, "")
    return _COLGROUP.sub("", inner) if "</colgroup>" in inner else inner


def parse_html(text: str) -> Any:
    """Return the tree that Beautiful Soup 4.11.1 makes with Python's own parser."""
    from bs4 import BeautifulSoup

    if "/>" not in text or _VOID.search(text) is None:
        return BeautifulSoup(text, "html.parser")
    soup = BeautifulSoup(_mark_left_open(text), "html.parser")
    for tag in soup.find_all(lambda found: found.name.startswith(_LEFT_OPEN)):
        tag.name = tag.name.removeprefix(_LEFT_OPEN)
        tag.can_be_empty_element = True
    return soup


_VOID = re.compile(r"<(/?)(br|hr|img|col|input|wbr)\b([^<>]*)>", re.IGNORECASE)
_LEFT_OPEN = "open-void-"


def _mark_left_open(text: str) -> str:
    """Mark the tags that Beautiful Soup 4.11.1 leaves open, so that a later version leaves them open too.

    Behind a `<br>` the next `<br/>` is taken for its end, and holds all that follows in the cell.
    """
    unclosed: dict[str, int] = {}

    def marked(match: re.Match[str]) -> str:
        slash, name, rest = match[1], match[2].lower(), match[3]
        count = unclosed.get(name, 0)
        is_closed = rest.endswith("/")
        if slash or is_closed:
            unclosed[name] = max(0, count - 1)
            if slash:
                return "" if count else f"</{_LEFT_OPEN}{name}>"
            return f"<{_LEFT_OPEN}{name}{rest[:-1]}>" if count else match[0]
        unclosed[name] = count + 1
        return match[0]

    return _VOID.sub(marked, text)


# --- tables whose tree is as it is written -----------------------------------------------------------------

_TOKEN = re.compile(
    r"<(/?)(html|body|table|thead|tbody|tfoot|tr|td|th|caption|b|i|em|strong|u|sup|sub|span|div|p|br)"
    r"((?: (?:colspan|rowspan|border|style|align|valign|width|height)=\"[^\"&<>]*\")* ?)>"
)
_ATTRIBUTE = re.compile(r' ([a-z]+)="[^"]*"')
_UNSAFE = re.compile(r"<(?![\s\d])|[\r\0]")
_ENTITIES = re.compile(r"&(?!(?:amp|lt|gt);)")
_ASCII_SPACES = " \n\t\f\r"


def _quickly_simplified(text: str, profile: Profile) -> str | None:
    """Return the result of `_simplified` without a tree; None for anything but plain tags that open and close
    in turn.

    Such are nearly all tables, and Beautiful Soup takes longer to read one twice than all else takes for it.
    """
    dropped = {"thead", "tbody", "span"} if profile.normalises_table_cells else {"thead", "span"}
    open_tags: list[str] = []
    n_cells = 0  # that are open
    out: list[str] = []
    done = 0
    run = ""  # of text since the last tag that stays

    def end_run() -> None:
        nonlocal run
        if run:
            if profile.normalises_table_cells:
                run = _squeezed(run)
                if n_cells:
                    run = norm_cell(run)
            out.append(html.escape(run, quote=False))
            run = ""

    for tag in _TOKEN.finditer(text):
        own = text[done : tag.start()]
        done = tag.end()
        if own:
            if _UNSAFE.search(own) or ("&" in own and _ENTITIES.search(own)):
                return None
            run += _squeezed(html.unescape(own))
        slash, name, attributes = tag.groups()
        if slash:
            if attributes or not open_tags or open_tags.pop() != name:
                return None
        elif name != "br":
            open_tags.append(name)
            if attributes:
                found = sorted(_ATTRIBUTE.finditer(attributes), key=lambda match: match[1])
                if len({match[1] for match in found}) < len(found):
                    return None
                attributes = "".join(match[0] for match in found)
        elif attributes:
            return None
        if name in dropped:
            continue
        end_run()
        shown = "td" if name == "th" else name
        n_cells += (shown == "td") * (-1 if slash else 1)
        out.append(f"<{slash}{shown}{attributes}>" if name != "br" else "<br/>")
    if open_tags or done != len(text):
        return None
    return "".join(out)


def _squeezed(text: str) -> str:
    """Return a single space for white space alone, or a newline where it has one."""
    if text.strip(_ASCII_SPACES):
        return text
    return "\n" if "\n" in text else " "


# --- all others --------------------------------------------------------------------------------------------


def _simplified_by_tree(text: str, profile: Profile) -> str:
    soup = parse_html(text)
    lower = text.lower()
    unwrapped = ("thead", "tbody") if profile.normalises_table_cells else ("thead",)
    if "<th" in lower:
        for cell in soup.find_all("th"):
            cell.name = "td"
    for name in (*unwrapped, "math", "span"):
        for tag in soup.find_all(name) if f"<{name}" in lower else ():
            if name == "math":
                tag.replace_with(f"${tag.get('alttext', '')}$")
            else:
                tag.unwrap()
    serialised = str(soup)
    return _with_norm_cells(serialised) if profile.normalises_table_cells else serialised


def _with_norm_cells(text: str) -> str:
    soup = parse_html(text)
    from bs4.element import NavigableString, PreformattedString

    in_cells = {id(node) for cell in soup.find_all(["td", "th"]) for node in cell.descendants}
    for node in [d for d in soup.descendants if isinstance(d, NavigableString)]:
        if not isinstance(node, PreformattedString) and id(node) in in_cells:
            new = norm_cell(str(node))
            if new != node:
                node.replace_with(new)
    return str(soup)


def norm_cell(text: str) -> str:
    """Return the text of a cell: one sign for what has several, without the delimiters of a short formula."""
    text = _replaced(unicodedata.normalize("NFKC", text).replace("\u200b", ""))
    text = unwrapped(text.strip(), lambda inner: 0 < len(inner) <= 128 and not set(inner) & set("<>$"))
    text = _replaced(text)
    if text.strip() in _DASHES:
        text = "—"
    return collapse(text)


def _replaced(text: str) -> str:
    if text.isascii() and "\\" not in text:
        return text
    for old, new in _REPLACEMENTS:
        text = text.replace(old, new)
    return text


# --- tags as every libxml2 before 2.14 reads them -----------------------------------------------------------
# The published programs were run with such a one. Where `<` or `&` begins nothing sound, as in `a<b` or
# `<LOD` once entities are resolved, later ones read other names, and the value of a table differs.

_ODD_ATTRIBUTE = r"""\s+[a-z][a-z0-9\-]*(?:=(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>=]+))?"""
_ODD = re.compile(
    rf"<(?!/?[a-z][a-z0-9]*(?:{_ODD_ATTRIBUTE})*\s*/?>|[\s\d=])|&(?!(?:amp|lt|gt|quot);)", re.IGNORECASE
)
_RAW = re.compile(r"<(?:script|style)\b", re.IGNORECASE)
_MARK = re.compile("[<&]")
_CONTROL = re.compile("[\x01-\x08\x0e-\x1f\ufffe\uffff]")
"""Characters that XML does not have, which they leave out."""
_NAME = re.compile(r"([A-Za-z_:.][A-Za-z0-9:\-_.]{0,99})[ \t\n\r]*")
_FIRST_OF_TAG = re.compile("[A-Za-z]")
_REFERENCE = re.compile(r"&(?:#[0-9]+|#[xX][0-9A-Fa-f]+|([A-Za-z][A-Za-z0-9]*);)")
_BOGUS = re.compile(r"(?:(?!/>)[^ \t\n\r>])*[ \t\n\r]*")
_VALUE = re.compile(r"=[ \t\n\r]*(?:\"([^\"]*)\"?|'([^']*)'?|([^ \t\n\r>]*))[ \t\n\r]*")
"""All with the blanks behind them."""


def as_older_parser(text: str) -> str:
    """Return HTML of which any libxml2 makes what those before 2.14 make of the one given."""
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
    """Return the replacement of a mark and what belongs to it, and the start of the rest."""
    if text[at] == "&":
        reference = _REFERENCE.match(text, at)
        if reference is None or (reference[1] and reference[1] not in name2codepoint):
            return "&amp;", at + 1
        return reference[0], reference.end()
    following = text[at + 1 : at + 2]
    if following == "/":
        name = _NAME.match(text, at + 2)
        end = text.find(">", name.end()) if name is not None else -1
        return ("", at + 2) if name is None else (f"</{name[1].lower()}>", len(text) if end < 0 else end + 1)
    if following in ("!", "?"):
        closing = "-->" if text.startswith("<!--", at) else ">"
        end = text.find(closing, at)
        end = len(text) if end < 0 else end + len(closing)
        return text[at:end], end
    if _FIRST_OF_TAG.match(following) is None:
        return "&lt;", at + 1
    return _start_tag(text, at + 1)


def _start_tag(text: str, at: int) -> tuple[str, int]:
    out: list[str] = []
    while at < len(text) and text[at] != ">" and not text.startswith("/>", at):
        if (name := _NAME.match(text, at)) is None:
            bogus = _BOGUS.match(text, at)
            assert bogus is not None
            at = bogus.end()
        elif not out:
            out, at = [f"<{name[1].lower()}"], name.end()
        else:
            value = _VALUE.match(text, name.end())
            given = "" if value is None else next((v for v in value.groups() if v is not None), "")
            out.append(f' {name[1].lower()}="{html.escape(html.unescape(given))}"')
            at = name.end() if value is None else value.end()
    closing = "/>" if text.startswith("/>", at) else ">"
    return "".join(out) + closing, min(at + len(closing), len(text))
