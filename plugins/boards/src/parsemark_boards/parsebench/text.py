"""Normalisers of text, as ParseBench chains them, and numbers as it reads them."""

import html
import re
import unicodedata

from rapidfuzz import fuzz

from parsemark.errors import FormatError

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


def ratio(a: str, b: str) -> float:
    """Indel similarity from 0 to 1."""
    return fuzz.ratio(a, b) / 100


def partial(a: str, b: str) -> float:
    """Indel similarity of the shorter text with the best window of the longer one."""
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
    for sign in unicodedata.normalize("NFD", text):
        before = kept[-1] if kept and not everywhere else " "
        is_needed = _KEEPS_MARKS.match(before) or unicodedata.category(before) == "Mn"
        if is_needed or unicodedata.category(sign) != "Mn":
            kept.append(sign)
    return unicodedata.normalize("NFC", "".join(kept))


def norm(text: str) -> str:
    """The main normaliser."""
    text = re.sub(r"<br\s*/?>", " ", _AUTOLINK.sub(r"\1", text)).translate(_QUOTES)
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
    text = without_marks(text.replace("_", " ")).replace("＿", "_").translate(_DASHES).replace("…", "...")
    for tag in ("<ins>", "</ins>", "<u>", "</u>", "~~", "<mark>", "</mark>"):
        text = text.replace(tag, "")
    for line_end in ("<br/>", "<br />", "\n"):
        text = text.replace(line_end, " ")
    text = text.replace("$$", "").replace("µ", "μ").translate(_SYMBOLS)
    text = _SPAN.sub("", re.sub(r"</?(?:s|del|strike)>", "", text, flags=re.I))
    text = subbed(text, (r"<sup[^>]*>.*?</sup>", ""), (r"<sub[^>]*>.*?</sub>", ""), flags=re.I)
    return subbed(text, ("[¹²³⁰⁴-⁹]+", ""), ("[₀-₉]+", ""), ("-{2,}", "-"), (r"\.{2,}\s*$", "")).lower()


def norm_light(text: str) -> str:
    """The one that keeps case and mark-up."""
    text = _SPAN.sub("", re.sub(r"<br/?>", " ", _AUTOLINK.sub(r"\1", text))).translate(_QUOTES)
    text = without_marks(re.sub(r"\s+", " ", text), everywhere=True).replace("＿", "_").translate(_DASHES)
    text = text.replace("…", "...").replace("µ", "μ").translate(_SYMBOLS)
    return re.sub("-{2,}", "-", text).strip()


def _plain_scripts(text: str) -> str:
    text = subbed(text, (r"<sup[^>]*>(.*?)</sup>", r"\1"), (r"<sub[^>]*>(.*?)</sub>", r"\1"), flags=re.I)
    return text.translate(_SUPERSCRIPTS).translate(_SUBSCRIPTS)


def norm_cell(text: str) -> str:
    """A cell of a table, for GriTS and TEDS."""
    text = re.sub(r"</?(?:b|i|u|s|em|strong|del|strike|mark|ins)>", "", _plain_scripts(text), flags=re.I)
    text = _SPAN.sub("", text)
    one = r"(?<!\*)\*(?!\*)(.*?)(?<!\*)\*(?!\*)|(?<!_)_(?!_)(.*?)(?<!_)_(?!_)"
    for pattern in (r"\*\*(.*?)\*\*|__(.*?)__", one):
        text = re.sub(pattern, lambda found: found[1] if found[1] is not None else found[2], text)
    text = re.sub("~~(.*?)~~", r"\1", text).translate(_SYMBOLS).translate(_QUOTES).translate(_DASHES)
    text = re.sub(r"\s+", " ", re.sub(r"\.{2,}\s*$", "", text)).strip()
    return "-" if text and not text.strip("- ") else text


def norm_record(text: str) -> str:
    """A cell of a table, for records."""
    return record_tail(norm(_plain_scripts(text)))


def record_tail(text: str) -> str:
    """What follows the main normaliser in a cell of a record."""
    text = subbed(text, (r"(?:\.\s){2,}\.?", ""), (r"\.{2,}", ""), (" {2,}", " ")).strip()
    return subbed(
        text,
        (r"\$\s+", "$"),
        (r"\s+%", "%"),
        (r"\s+\(", "("),
        (r"\s+\)", ")"),
        (r"\s+®", "®"),
        (r"(\d),(\d)", r"\1\2"),
    )


def unescaped(text: str) -> str:
    """HTML's names of characters read, at most twice, and never where that makes more of them."""
    for _ in range(2):
        new = html.unescape(text)
        if new == text or new.count("&") > text.count("&"):
            return text
        text = new
    return text


def without_tags(text: str) -> str:
    """Names of characters read, links bare, tags blank."""
    return re.sub(r"</?[^>]+>", " ", _AUTOLINK.sub(r"\1", unescaped(text)))


# --- numbers ------------------------------------------------------------------------------------------------

_FACTORS = (
    ("trillion|trill|trn", 1e12), ("billion|bill|bln", 1e9), ("million|mill|mln", 1e6), ("t", 1e12),
    ("g", 1e9), ("b", 1e9), ("m", 1e6), ("k", 1e3),
)  # fmt: skip
EMPTY_LIKE = frozenset({"", "nan", "NaN", "NAN", "none", "None", "-", "—", "n/a", "N/A"})


def number(text: str) -> float | None:
    """A number with its sign of money, its share and its suffix; None for anything else."""
    if not text:
        return None
    text = subbed(text.strip(), (r"^[$€£¥]\s*", ""), (r"\s*[$€£¥]$", ""), (r"^[~≈]\s*", ""), ("%$", ""))
    text, factor = text.replace(",", "").replace(" ", ""), 1.0
    for names, size in _FACTORS:
        if found := re.search(f"(?:{names})$", text, re.I):
            text, factor = text[: found.start()], size
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
