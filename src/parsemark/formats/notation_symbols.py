"""Which LaTeX commands are symbols, which are presentation, and which take arguments that are not shown."""

from __future__ import annotations

from functools import cache

ALIASES = {
    "le": "≤", "leqslant": "≤", "ge": "≥", "geqslant": "≥", "ne": "≠", "to": "→", "gets": "←",
    "checkmark": "✓", "cmark": "✓", "tick": "✓", "xmark": "✗", "ast": "*", "star": "*", "sim": "~",
    "circ": "°", "degree": "°", "textdegree": "°", "prime": "'", "dots": "...", "ldots": "...",
    "cdots": "...", "textellipsis": "...", "vdots": "⋮", "mid": "|", "vert": "|", "lvert": "|",
    "rvert": "|", "Vert": "‖", "lVert": "‖", "rVert": "‖", "lbrace": "{", "rbrace": "}", "lbrack": "[",
    "rbrack": "]", "textbar": "|", "textless": "<", "textgreater": ">", "lt": "<", "gt": ">",
    "textasciitilde": "~", "textbackslash": "\\", "backslash": "\\", "textunderscore": "_",
    "textasciicircum": "^", "textendash": "-", "textemdash": "-", "textminus": "-", "textdollar": "$",
    "mathdollar": "$", "textquotesingle": "'", "textquotedblleft": '"', "textquotedblright": '"',
    "textasteriskcentered": "*", "textbullet": "•", "bullet": "•", "triangle": "△", "square": "□",
    "Box": "□", "blacksquare": "■", "colon": ":", "lnot": "¬", "land": "∧", "lor": "∨", "iff": "⟺",
    "implies": "⟹", "S": "§", "P": "¶", "dag": "†", "ddag": "‡", "pounds": "£", "euro": "€",
    "texteuro": "€", "copyright": "©", "textregistered": "®", "texttrademark": "™", "i": "ı", "j": "ȷ",
    "ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ",
    "aa": "å", "AA": "Å", "slash": "/", "sqrt": "√", "varnothing": "∅", "emptyset": "∅", "Re": "Re",
    "Im": "Im", "complement": "∁", "bigstar": "★", "blacktriangle": "▲", "blacktriangledown": "▼",
    "perthousand": "‰", "textperthousand": "‰", "percent": "%", "micro": "μ", "ohm": "Ω",
    "newline": " ", "tabularnewline": " ", "linebreak": " ", "par": " ", "quad": " ", "qquad": " ",
    "space": " ", "enspace": " ", "thinspace": "\u2009", "LaTeX": "LaTeX", "TeX": "TeX", "colonequals": ":=",
}  # fmt: skip
"""Commands with an output of their own; the rest of the symbols comes from pylatexenc's table."""

_PRESENTATION = """
    textbf textit textrm textsf texttt textsc textmd textup textsl textnormal emph underline uline text
    mathrm mathbf mathit mathsf mathtt mathnormal mathcal mathscr mathfrak mathbb boldsymbol bm pmb
    mbox hbox fbox makebox framebox parbox operatorname ensuremath displaystyle textstyle scriptstyle
    scriptscriptstyle limits nolimits left right middle big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr
    Biggl Biggr tiny scriptsize footnotesize small normalsize large Large LARGE huge Huge bf it rm sf tt sc
    bfseries itshape rmfamily sffamily ttfamily scshape mdseries upshape slshape normalfont centering
    raggedright raggedleft arraybackslash noindent hfill hfil vfill protect relax null smash strut
    nonumber notag makecell thead shortstack mathop mathrel mathbin mathord mathopen mathclose mathpunct
    boldmath unboldmath hline toprule midrule bottomrule nobreak allowbreak dotfill xspace mathstrut vcenter
    unskip ignorespaces leavevmode em selectfont frenchspacing cal
"""
PRESENTATION = frozenset(_PRESENTATION.split())
"""Commands that change how something looks; what they wrap stays."""

HIDDEN_ARGUMENTS = {
    "label": 1, "cite": 1, "citep": 1, "citet": 1, "citeyear": 1, "citealp": 1, "ref": 1, "eqref": 1,
    "cref": 1, "Cref": 1, "autoref": 1, "hspace": 1, "vspace": 1, "hskip": 0, "rule": 2, "cellcolor": 1,
    "rowcolor": 1, "columncolor": 1, "color": 1, "textcolor": 1, "colorbox": 1, "phantom": 1,
    "hphantom": 1, "vphantom": 1, "href": 1, "rotatebox": 1, "scalebox": 1, "resizebox": 2, "raisebox": 1,
    "multicolumn": 2, "multirow": 2, "begin": 1, "end": 1, "cline": 1, "cmidrule": 1, "footnotemark": 0,
    "setlength": 2, "addlinespace": 0, "fontsize": 2, "vrule": 0, "tnote": 0, "adjustbox": 1, "minipage": 1,
    "fcolorbox": 2, "renewcommand": 2, "hypertarget": 1, "hyperlink": 1, "arraystretch": 0,
    "includegraphics": 1,    "diagbox": 0, "slashbox": 0, "kern": 0, "sisetup": 1,
}  # fmt: skip
"""Commands of which the first n arguments (and all options) are not shown; later arguments are."""

ACCENTS = {
    "hat": "\u0302", "widehat": "\u0302", "^": "\u0302", "bar": "\u0304", "overline": "\u0304",
    "=": "\u0304", "tilde": "\u0303", "widetilde": "\u0303", "~": "\u0303", "dot": "\u0307", ".": "\u0307",
    "ddot": "\u0308", '"': "\u0308", "acute": "\u0301", "'": "\u0301", "grave": "\u0300", "`": "\u0300",
    "check": "\u030c", "v": "\u030c", "breve": "\u0306", "u": "\u0306", "vec": "\u20d7", "c": "\u0327",
    "H": "\u030b", "k": "\u0328", "r": "\u030a", "mathring": "\u030a", "d": "\u0323", "b": "\u0331",
    "underbar": "\u0331", "overrightarrow": "\u20d7",
}  # fmt: skip
"""Accent commands and the combining character they stand for."""

DINGBATS = {"51": "✓", "52": "✓", "53": "✗", "54": "✗", "55": "✗", "56": "✗"}
"""`\\ding` numbers for check marks and crosses, whose weight carries no meaning."""


@cache
def symbol(command: str) -> str | None:
    """The character a LaTeX command stands for, or None if it is no symbol.

    >>> symbol("alpha"), symbol("leq"), symbol("textbf")
    ('α', '≤', None)
    """
    if command in ALIASES:
        return ALIASES[command]
    return _pylatexenc_symbols().get(command)


@cache
def _pylatexenc_symbols() -> dict[str, str]:
    # pylatexenc takes a tenth of a second to import: only texts with LaTeX in them pay for it.
    from pylatexenc.latex2text import get_default_latex_context_db

    database = get_default_latex_context_db()
    return {
        name: spec.simplify_repl
        for category in database.d.values()
        for name, spec in category["macros"].items()
        if isinstance(spec.simplify_repl, str) and len(spec.simplify_repl) == 1
    }
