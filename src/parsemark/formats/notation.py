"""One notation for the same content: LaTeX, HTML, Markdown and Unicode folded together.

`fold_notation` gives the same string for the same symbol however it was written, and different strings
where the meaning differs: 1.12 is not 112, −2.8 not 2.8, α not a, 10^{-3} not 10^3. It does not fold case.
"""

import re
import tomllib
import unicodedata
from functools import lru_cache
from importlib.resources import files

from parsemark.formats.cell_text import UNSEEN
from parsemark.formats.html.markup import unescape
from parsemark.formats.latex.fold import fold_latex

_INLINE_TAG = re.compile(
    r"</?(?:b|i|u|s|em|strong|span|p|div|font|small|big|tt|code|a|strike|del|ins|mark|math|mi|mn|mo|mrow"
    r"|mtext|mstyle|msub|msup|center|label|cite|abbr|var|kbd|samp|q|li|ul|ol|semantics|annotation)"
    r"(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_BREAK_TAG = re.compile(r"<(?:br|hr)\s*/?>", re.IGNORECASE)
_OPENED = {"sup": "^{", "sub": "_{"}
_SCRIPT_TAG = re.compile(r"<(/?)(su[bp])(?:\s[^<>]*)?>", re.IGNORECASE)
_BOLD = (
    (re.compile(r"(?<![\w*)\].%])\*\*(?=[^\s*])"), re.compile(r"\*\*(?!\*)")),
    (re.compile(r"(?<!\w)__(?=[^\s_])"), re.compile(r"__(?!\w)")),
)
_EMPHASIS = re.compile(r"(?<![\w*)\].%\\])\*(?=[^\s*])([^*\n]+)(?<=[^\s*\\])\*(?![\w*])")
_CODE = re.compile(r"`([^`\n]+)`|~~([^~\n]+)~~")
_RAISED, _LOWERED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₒₓₕₖₗₘₙₚₛₜᵢⱼ"
_UNICODE_SCRIPTS = str.maketrans(_RAISED + _LOWERED, "0123456789+-=()ni0123456789+-=()aeoxhklmnpstij")
_UNICODE_SCRIPT_RUN = re.compile(f"[{_RAISED}]+|[{_LOWERED}]+")
_SAME_FILE = files("parsemark.formats").joinpath("same_characters.toml")
_SAME_CHARACTER = UNSEEN | str.maketrans(
    {sign: one for one, signs in tomllib.loads(_SAME_FILE.read_text("utf-8")).items() for sign in signs}
)
_SLASHED = re.compile(r"(?<=(\d))?\^\{?(\d+)\}?/_\{?(\d+)\}?")
_LONE_TILDE = re.compile(r"(?<![^\W\d_])˜(?![^\W\d_])")  # beside a letter it may be the accent of that letter
_DIGIT_GROUPS = re.compile(
    r"(?<![\d.,])([1-9]\d{0,2})((?:,\d{3})++|(?:[\u2009\u202f\xa0]\d{3}(?!\d))++)(?!,*+\d)"
)
_TIGHT = re.compile(r" ?([^\w\s.,;:!?\"'…]) ?")
_AFTER_COMMA = re.compile(r" (?=[,;:])|(?<=[,;:]) ")
_PLACEHOLDERS = frozenset(["", "-", "--", "---", "n/a", "n.a.", "na", "nan", "null", "...", ".", "/", "·"])
_PLAIN = re.compile(r"-?[A-Za-wyz0-9.]++(?:[ -][A-Za-wyz0-9.]++)*+%?")
"""Most cells: words and numbers that nothing below changes (an `x` may be a multiplication sign)."""
CACHE_SIZE = 20_000
"""How many folded texts are remembered: tables repeat their values, and each truth meets many parsers."""


@lru_cache(CACHE_SIZE)
def fold_notation(text: str) -> str:
    r"""Fold the ways of writing the same content into one.

    >>> fold_notation(r"$\mathbf{0.72} \pm 0.03$") == fold_notation("**0.72** ± 0.03")
    True
    >>> fold_notation("10<sup>−3</sup>") == fold_notation("$10^{-3}$") == fold_notation("10⁻³")
    True
    """
    if not text or _PLAIN.fullmatch(text):
        return text
    text = unescape(text)
    if "<" in text:
        text = _SCRIPT_TAG.sub(lambda m: "}" if m[1] else _OPENED[m[2].lower()], _BREAK_TAG.sub(" ", text))
        text = _INLINE_TAG.sub("", text)
    text = _fold_markdown(text)
    text = _UNICODE_SCRIPT_RUN.sub(
        lambda run: f"{'^' if run[0][0] in _RAISED else '_'}{{{run[0].translate(_UNICODE_SCRIPTS)}}}", text
    )
    text = fold_latex(text)
    text = _fold_characters(text)
    text = _DIGIT_GROUPS.sub(lambda m: m[1] + re.sub(r"\D", "", m[2]), text)
    text = re.sub(r"(?<=\d)\s*[x×]\s*(?=\d)", "×", text)
    text = _TIGHT.sub(r"\1", " ".join(text.split()))
    return _AFTER_COMMA.sub("", text).strip()


def without_accents(text: str) -> str:
    """Return the text with its compatibility characters taken apart and all marks on letters gone.

    >>> without_accents("Déjà vu ﬁn")
    'Deja vu fin'
    """
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def compact(text: str) -> str:
    """Return the text with compatibility characters as what they stand for, and without white space."""
    return "".join(unicodedata.normalize("NFKC", text).split())


def is_placeholder(folded: str) -> bool:
    """Return whether a folded text only says that there is no value."""
    return folded.casefold() in _PLACEHOLDERS


def _fold_markdown(text: str) -> str:
    if "*" in text or "__" in text:
        for opening, closing in _BOLD:
            text = "\n".join(_unwrapped(line, opening, closing) for line in text.split("\n"))
        text = _EMPHASIS.sub(r"\1", text)
    if "`" in text or "~~" in text:
        text = _CODE.sub(lambda m: m[1] or m[2], text)
    return text


def _unwrapped(line: str, opening: re.Pattern[str], closing: re.Pattern[str]) -> str:
    """Return the line without the marks around what each opening and the next closing enclose."""
    pieces: list[str] = []
    position = 0
    while (start := opening.search(line, position)) is not None:
        end = closing.search(line, start.end() + 1)
        if end is None:
            break
        pieces += [line[position : start.start()], line[start.end() : end.start()]]
        position = end.end()
    return "".join([*pieces, line[position:]])


def _fold_characters(text: str) -> str:
    text = re.sub(r"(?<=\d)(?=[¼-¾⅐-⅞])", " ", text)  # 3½ is not 31/2
    text = _LONE_TILDE.sub("~", text)
    thin = text.replace("\u2009", "\ue000").replace("\u202f", "\ue000").replace("\xa0", "\ue001")
    text = unicodedata.normalize("NFKC", thin).translate(_SAME_CHARACTER)
    text = _SLASHED.sub(lambda m: f"{' ' if m[1] else ''}{m[2]}/{m[3]}", text)  # a fraction set in scripts
    text = text.replace("``", '"').replace("''", '"')
    return re.sub(r"-{2,}", "-", text).replace("\ue000", "\u2009").replace("\ue001", "\xa0")
