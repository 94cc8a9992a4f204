"""Which LaTeX commands are symbols, which are presentation, and which take arguments that are not shown."""

from __future__ import annotations

from functools import cache

from parsemark.formats.latex.symbols import symbol as latex_symbol

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


_BREAKS = frozenset({"newline", "tabularnewline", "linebreak", "par", "cr"})
_WITHOUT_BRACES = str.maketrans("", "", "{}")


@cache
def symbol(command: str) -> str | None:
    """What a LaTeX command stands for, or None if it is no symbol.

    Braces are left out: in a text without LaTeX they cannot be told from those of a group.

    >>> symbol("alpha"), symbol("leq"), symbol("textbf")
    ('α', '≤', None)
    """
    if command in _BREAKS:
        return " "
    if command == "thinspace":
        return "\u2009"  # groups digits, as `\\,` does
    found = latex_symbol(command)
    return None if found is None else found.translate(_WITHOUT_BRACES)
