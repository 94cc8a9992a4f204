"""The version of the rules in force, normalisers of text and numbers, as ParseBench has them."""

import html
import re
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

from rapidfuzz import fuzz

from parsemark.errors import FormatError

AUGUST, SEPTEMBER = "2026-08", "2026-09"
VERSIONS = {AUGUST: "ParseBench facdaf0 (August 2026)", SEPTEMBER: "parse-bench 1.0.4 (September 2026)"}
"""Each version of the rules, and where it is published."""
_VERSION = ContextVar("parsebench_version", default=SEPTEMBER)


@contextmanager
def rules_of(version: str) -> Iterator[None]:
    """Apply the rules of a version inside."""
    token = _VERSION.set(version)
    try:
        yield
    finally:
        _VERSION.reset(token)


def is_september() -> bool:
    """Return whether the rules of September 2026 are in force."""
    return _VERSION.get() == SEPTEMBER


MAX_MARKDOWN = 3_000_000  # characters of a document; its patterns look back and forth
_QUOTES = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛`´ʼʹ＇′‵ʻˊˋ", "'"),
        **dict.fromkeys("“”„‟〝〞＂″‶ˮ", '"'),
        **dict(zip("，、．。：；！？（）", ",,..:;!?()", strict=True)),
    }
)
_SYMBOLS = str.maketrans({**dict.fromkeys("●○◦∙⦁·", "•"), **dict.fromkeys("⮾ⓧ⨂", "⊗")})
_DASHES = str.maketrans(dict.fromkeys("–—‑‒−", "-"))
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ", "0123456789+-=()ni")
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", "0123456789+-=()aehijklmnoprstuvx")
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)[^>\s]+|[^>@\s]+@[^>@\s]+\.[^>@\s]+)>", re.I)
_SPAN = re.compile(r"</?span\b[^>]*>", re.I)
_KEEPS_MARKS = re.compile(
    "[\u3040-\u30ff\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\uac00-\ud7af\u1100-\u11ff\u0b80-\u0bff\u0c80-\u0cff]"
)
_MARKED_SCRIPTS = (
    "\u3040-\u309f\u30a0-\u30ff\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\uac00-\ud7af\u1100-\u11ff"
    "\u0900-\u097f\u0980-\u09ff\u0a00-\u0a7f\u0a80-\u0aff\u0b00-\u0b7f\u0b80-\u0bff\u0c00-\u0c7f\u0c80-\u0cff"
    "\u0d00-\u0d7f\u0d80-\u0dff\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff"
)
_HAS_MARKS = re.compile(f"[{_MARKED_SCRIPTS}]")
_MARKER = r"</?(?:b|i|u|s|del|strike|ins|mark|span)\b[^>]*>|~~"
_MARKER_RUN = re.compile(f"(?:{_MARKER}){{2,}}", re.I)


@cache
def _script_marks() -> str:
    """Return the combining marks of the scripts that need them, for a character class."""
    signs = (chr(code) for code in range(0x0900, 0xFB00) if _HAS_MARKS.match(chr(code)))
    return "".join(sign for sign in signs if unicodedata.category(sign) in ("Mn", "Mc", "Me"))


def word_class() -> str:
    """Return what is a character of a word, for the inside of a character class."""
    return rf"\w{_script_marks()}" if is_september() else r"\w"


def ratio(a: str, b: str) -> float:
    """Return the indel similarity from 0 to 1."""
    return fuzz.ratio(a, b) / 100


def partial(a: str, b: str) -> float:
    """Return the indel similarity of the shorter text with the best window of the longer one."""
    if not a or not b:
        return float(not a and not b)
    return fuzz.partial_ratio(a, b) / 100


def subbed(text: str, *pairs: tuple[str, str], flags: int = 0) -> str:
    """Replace patterns one after the other."""
    for pattern, new in pairs:
        text = re.sub(pattern, new, text, flags=flags)
    return text


def without_marks(text: str, *, everywhere: bool = False) -> str:
    """Drop combining marks, but those of scripts that need them."""
    kept: list[str] = []
    if is_september() and not everywhere:
        is_kept = False
        for sign in unicodedata.normalize("NFD", text):
            if unicodedata.category(sign) != "Mn":
                is_kept = bool(_HAS_MARKS.match(sign))
                kept.append(sign)
            elif is_kept:
                kept.append(sign)
        return unicodedata.normalize("NFC", "".join(kept))
    for sign in unicodedata.normalize("NFD", text):
        before = kept[-1] if kept and not everywhere else " "
        is_needed = _KEEPS_MARKS.match(before) or unicodedata.category(before) == "Mn"
        if is_needed or unicodedata.category(sign) != "Mn":
            kept.append(sign)
    return unicodedata.normalize("NFC", "".join(kept))


def _run_as_blank(found: re.Match[str]) -> str:
    """Return what a run of inline markers becomes: a blank between words, nothing at either end."""
    return "" if found.start() == 0 or found.end() == len(found.string) else " "


def norm(text: str) -> str:
    """Return the main normaliser."""
    text = re.sub(r"<br\s*/?>", " ", _AUTOLINK.sub(r"\1", text))
    if is_september():
        text = _MARKER_RUN.sub(_run_as_blank, text).translate(_DASHES)
    text = text.translate(_QUOTES)
    text = subbed(
        text,
        (r"\s+", " "),
        (r"\*\*(.*?)\*\*", r"\1"),
        (r"__(.*?)__", r"\1"),
        (r"</?b>", ""),
        (r"</?i>", ""),
        (r"\*(.*?)\*", r"\1"),
        (r"_(.*?)_", r"\1"),
    )
    text = without_marks(text.replace("_", " ")).replace("＿", "_")
    text = (text if is_september() else text.translate(_DASHES)).replace("…", "...")
    for tag in ("<ins>", "</ins>", "<u>", "</u>", "~~", "<mark>", "</mark>"):
        text = text.replace(tag, "")
    for line_end in ("<br/>", "<br />", "\n"):
        text = text.replace(line_end, " ")
    text = text.replace("$$", "").replace("µ", "μ").translate(_SYMBOLS)
    text = _SPAN.sub("", re.sub(r"</?(?:s|del|strike)>", "", text, flags=re.I))
    text = subbed(text, (r"<sup[^>]*>.*?</sup>", ""), (r"<sub[^>]*>.*?</sub>", ""), flags=re.I)
    return subbed(text, ("[¹²³⁰⁴-⁹]+", ""), ("[₀-₉]+", ""), ("-{2,}", "-"), (r"\.{2,}\s*$", "")).lower()


def norm_light(text: str) -> str:
    """Return the one that keeps case and mark-up."""
    text = _SPAN.sub("", re.sub(r"<br/?>", " ", _AUTOLINK.sub(r"\1", text))).translate(_QUOTES)
    text = text.translate(_DASHES) if is_september() else text
    text = without_marks(re.sub(r"\s+", " ", text), everywhere=True).replace("＿", "_")
    text = text if is_september() else text.translate(_DASHES)
    text = text.replace("…", "...").replace("µ", "μ").translate(_SYMBOLS)
    return re.sub("-{2,}", "-", text).strip()


def _plain_scripts(text: str) -> str:
    text = subbed(text, (r"<sup[^>]*>(.*?)</sup>", r"\1"), (r"<sub[^>]*>(.*?)</sub>", r"\1"), flags=re.I)
    return text.translate(_SUPERSCRIPTS).translate(_SUBSCRIPTS)


def norm_cell(text: str) -> str:
    """Return a cell of a table, for GriTS and TEDS."""
    text = re.sub(r"</?(?:b|i|u|s|em|strong|del|strike|mark|ins)>", "", _plain_scripts(text), flags=re.I)
    text = _SPAN.sub("", text)
    one = r"(?<!\*)\*(?!\*)(.*?)(?<!\*)\*(?!\*)|(?<!_)_(?!_)(.*?)(?<!_)_(?!_)"
    for pattern in (r"\*\*(.*?)\*\*|__(.*?)__", one):
        text = re.sub(pattern, lambda found: found[1] if found[1] is not None else found[2], text)
    text = re.sub("~~(.*?)~~", r"\1", text)
    text = yes_or_no(text) if is_september() else text
    text = text.translate(_SYMBOLS).translate(_QUOTES).translate(_DASHES)
    text = without_leaders(text) if is_september() else re.sub(r"\.{2,}\s*$", "", text)
    text = re.sub(r"\s+", " ", text).strip()
    return "-" if text and not text.strip("- ") else text


def norm_record(text: str) -> str:
    """Return a cell of a table, for records."""
    text = _plain_scripts(text)
    return record_tail(norm(yes_or_no(text) if is_september() else text))


def record_tail(text: str) -> str:
    """Apply the steps that follow the main normaliser in a cell of a record."""
    if is_september():
        if (marker := yes_or_no(text)) != text:
            return marker
        text = without_leaders(text)
    else:
        text = subbed(text, (r"(?:\.\s){2,}\.?", ""), (r"\.{2,}", ""))
    text = re.sub(" {2,}", " ", text).strip()
    return subbed(
        text,
        (r"\$\s+", "$"),
        (r"\s+%", "%"),
        (r"\s+\(", "("),
        (r"\s+\)", ")"),
        (r"\s+®", "®"),
        (r"(\d),(\d)", r"\1\2"),
    )


_YES, _NO = frozenset("☑▣✓✔◉●•⦿"), frozenset("☐□○◯✗✘✕✖×")
_DOT_RUN = r"(?:[.…](?:[^\S\n]*[.…])+|…)"
_LEADERS = (
    (r"(?<!\S)(\S*\d)\.(?:[^\S\n]*[.…])+(?=\s|$)", r"\1"),
    (r"(?<!\S)([^\s.…]+)\.(?:[^\S\n]*[.…])+(?=\s|$)", r"\1"),
    (rf"(?:(?<=\s)|^){_DOT_RUN}|(?<=\S)(?:\.{{2,}}|…+)(?=\s|$)", ""),
)


def norm_quotes(text: str) -> str:
    """Return the text with plain quotes and punctuation."""
    return text.translate(_QUOTES)


def yes_or_no(text: str) -> str:
    """Return "yes" or "no" for a cell that is nothing but a mark of one, and any other text as it is."""
    sign = re.sub(r"\s+", " ", text).strip()
    if not sign:
        return text
    bracketed = re.fullmatch(r"\[\s*(.*?)\s*\]", sign)
    sign = bracketed[1].strip() if bracketed else sign
    if sign in _YES or sign.lower() in ("yes", "x"):
        return "yes"
    is_no = sign in _NO or sign.lower() == "no" or (bracketed and not sign)
    return "no" if is_no else text


def without_leaders(text: str) -> str:
    """Return the text without leaders of dots."""
    return subbed(text, *_LEADERS)


def same_cell(a: str, b: str, normalise: Callable[[str], str] | None = None) -> bool:
    """Return whether two cells are equal; since September, also if only dots and blanks at the end differ."""
    if a == b or not is_september():
        return a == b
    cut = [re.sub(r"[.…\s]+$", "", side) for side in (a, b)]
    cut = [normalise(side) for side in cut] if normalise else cut
    return bool(cut[0]) and cut[0] == cut[1]


def unescaped(text: str) -> str:
    """Replace HTML's character names, at most twice, and never where that makes more of them."""
    for _ in range(2):
        new = html.unescape(text)
        if new == text or new.count("&") > text.count("&"):
            return text
        text = new
    return text


def without_tags(text: str) -> str:
    """Replace character names, keep only the text of links, and blank tags."""
    return re.sub(r"</?[^>]+>", " ", _AUTOLINK.sub(r"\1", unescaped(text)))


# --- numbers ------------------------------------------------------------------------------------------------

_FACTORS = (
    ("trillion|trill|trn", 1e12), ("billion|bill|bln", 1e9), ("million|mill|mln", 1e6), ("t", 1e12),
    ("g", 1e9), ("b", 1e9), ("m", 1e6), ("k", 1e3),
)  # fmt: skip


def _factors() -> tuple[tuple[str, float], ...]:
    """Return the suffixes of numbers, with their sizes; "bn" is one since September."""
    return (_FACTORS[0], ("billion|bill|bln|bn", 1e9), *_FACTORS[2:]) if is_september() else _FACTORS


EMPTY_LIKE = frozenset({"", "nan", "NaN", "NAN", "none", "None", "-", "—", "n/a", "N/A"})


def number(text: str) -> float | None:
    """Return a number with its sign of money, its share and its suffix; None for anything else."""
    if not text:
        return None
    factor = 1.0
    if is_september():
        text = re.sub("[$€£¥]", "", re.sub(r"^[~≈]\s*", "", text.strip().replace("−", "-"))).strip()
        if len(text) >= 2 and text[0] == "(" and text[-1] == ")":
            text, factor = text[1:-1].strip(), -1.0
        if text.endswith("-"):
            text, factor = text[:-1].strip(), -factor
        text = text.rstrip("%")
    else:
        money = (r"^[$€£¥]\s*", ""), (r"\s*[$€£¥]$", "")
        text = subbed(text.strip(), *money, (r"^[~≈]\s*", ""), ("%$", ""))
    text = text.replace(",", "").replace(" ", "")
    for names, size in _factors():
        if found := re.search(f"(?:{names})$", text, re.I):
            text, factor = text[: found.start()], factor * size
            break
    try:
        return float(text) * factor
    except ValueError:
        return None


def check_markdown(text: str) -> str:
    """Refuse a document that is too long, with FormatError."""
    if len(text) > MAX_MARKDOWN:
        raise FormatError(f"The output has more than {MAX_MARKDOWN:,} characters")
    return text
