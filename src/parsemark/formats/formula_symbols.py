"""The symbols of formulas, with one name for each way to write them."""

from __future__ import annotations

import unicodedata

from parsemark.formats.notation_symbols import symbol

_PRESENTATION = """
displaystyle textstyle scriptstyle scriptscriptstyle limits nolimits mathrm mathbf mathit mathsf mathtt
mathnormal mathcal mathscr mathfrak mathbb boldsymbol bm pmb text textrm textbf textit textsf texttt
textnormal textup mbox hbox operatorname operatornamewithlimits ensuremath big Big bigg Bigg bigl bigr
Bigl Bigr biggl biggr Biggl Biggr bigm Bigm mathop mathrel mathbin mathord mathopen mathclose mathpunct
mathinner rm bf it sf tt cal emph quad qquad enspace space thinspace medspace thickspace negthinspace
nonumber notag protect relax smash hfill hline , ; : ! / > boldmath nobreak allowbreak mathstrut strut
displaylimits ~ overbrace underbrace boxed
"""
PRESENTATION = frozenset([*_PRESENTATION.split(), " ", "-", "\n"])
"""Commands that change how something looks or where it stands; what they wrap stays."""

WITH_HIDDEN_ARGUMENT = frozenset(
    [
        "phantom",
        "hphantom",
        "vphantom",
        "label",
        "tag",
        "hspace",
        "vspace",
        "color",
        "textcolor",
        "rule",
        "mspace",
    ]
)

ACCENTS = {
    "hat": "hat", "widehat": "hat", "bar": "bar", "overline": "bar", "tilde": "tilde", "widetilde": "tilde",
    "vec": "vec", "overrightarrow": "vec", "dot": "dot", "ddot": "ddot", "dddot": "dddot", "check": "check",
    "breve": "breve", "acute": "acute", "grave": "grave", "mathring": "ring", "underline": "under",
    "underbar": "under", "overleftarrow": "leftvec", "overleftrightarrow": "leftrightvec",
}  # fmt: skip
"""Marks on a symbol."""

_LAYOUT = """aligned alignedat align alignat gathered gather split equation multline eqnarray displaymath math
flalign subequations"""
DROPPED_ENVIRONMENTS = frozenset(_LAYOUT.split())
"""Environments that only lay lines out."""

MATRIX_FENCES = {
    "pmatrix": ("(", ")"), "bmatrix": ("[", "]"), "vmatrix": ("|", "|"), "Vmatrix": ("‖", "‖"),
    "Bmatrix": ("{", "}"), "cases": ("{", ""), "rcases": ("", "}"),
}  # fmt: skip

_OPERATORS = """
lim limsup liminf sup inf max min log ln lg exp sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos
arctan arg deg det dim gcd hom ker Pr mod
"""
_WORDS = {**{name: name for name in _OPERATORS.split()}, "bmod": "mod"}

_SHOWN = {
    "\\\\": ";;", "\\cr": ";;", "\\newline": ";;", "\\|": "‖", "\\{": "{", "\\}": "}", "\\lbrace": "{",
    "\\rbrace": "}", "\\%": "%", "\\&": "&amp", "\\#": "#", "\\$": "$", "\\_": "_", "\\mid": "|",
    "\\vert": "|", "\\lvert": "|", "\\rvert": "|", "\\Vert": "‖", "\\lVert": "‖", "\\rVert": "‖",
    "\\parallel": "‖", "\\colon": ":", "\\to": "→", "\\rightarrow": "→", "\\longrightarrow": "→",
    "\\leftarrow": "←", "\\gets": "←", "\\longleftarrow": "←", "\\Longrightarrow": "⇒", "\\implies": "⇒",
    "\\Longleftrightarrow": "⇔", "\\iff": "⇔", "\\mapsto": "↦", "\\longmapsto": "↦", "\\dots": "…",
    "\\ldots": "…", "\\cdots": "…", "\\dotsc": "…", "\\dotsb": "…", "\\dotsm": "…", "\\dotsi": "…",
    "\\dotso": "…", "\\setminus": "∖", "\\backslash": "∖", "\\smallsetminus": "∖", "\\emptyset": "∅",
    "\\varnothing": "∅", "\\le": "≤", "\\leq": "≤", "\\leqslant": "≤", "\\ge": "≥", "\\geq": "≥",
    "\\geqslant": "≥", "\\ne": "≠", "\\neq": "≠", "\\ast": "*", "\\star": "⋆", "\\prime": "'",
    "\\hbar": "ħ", "\\hslash": "ħ", "\\sim": "∼", "\\cdot": "·", "\\bullet": "·", "\\circ": "∘",
    "\\land": "∧", "\\wedge": "∧", "\\lor": "∨", "\\vee": "∨", "\\lnot": "¬", "\\neg": "¬",
    "\\epsilon": "ε", "\\varepsilon": "ε", "\\phi": "φ", "\\varphi": "φ", "\\langle": "⟨",
    "\\rangle": "⟩", "\\ell": "l", "\\degree": "∘", "\\triangle": "Δ", "\\square": "□",
}  # fmt: skip

_SAME = str.maketrans(
    {"−": "-", "–": "-", "∣": "|", "′": "'", "’": "'", "⋅": "·", "…": "…", "ϕ": "φ", "ϵ": "ε"}
)


def show(token: str) -> list[str]:
    r"""What a token shows, symbol by symbol; a word is its letters.

    >>> show("\\sin"), show("\\alpha"), show("\\le")
    (['s', 'i', 'n'], ['α'], ['≤'])
    """
    if token in _SHOWN or token == "…":
        return [_SHOWN.get(token, token)]
    if token == "\\":
        return []  # a source that ends with a control space
    if token[:1] != "\\":
        folded = unicodedata.normalize("NFKC", token).translate(_SAME)
        return list(folded) if len(folded) < 4 else [folded]
    name = token[1:].rstrip("*")
    if name in _WORDS:
        return list(_WORDS[name])
    found = symbol(name)
    if found is not None:
        return [s for s in found.translate(_SAME) if not s.isspace()]
    return [token]
