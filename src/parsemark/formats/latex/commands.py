r"""What the arguments of known commands are for.

A signature has one letter per argument: `*` a star, `o` an optional one, `p` one in parentheses, `m` a
mandatory one; a capital letter means that the argument is printed (`V`: as it is written). Commands that are
not here print everything they are given, so nothing is lost by not knowing a command.
"""

from __future__ import annotations

from parsemark.formats.latex.rows import RULES, by_name

_BY_SIGNATURE = {
    "": """
        bf it rm sf tt sc sl em bfseries mdseries itshape slshape scshape upshape rmfamily sffamily ttfamily
        normalfont tiny scriptsize footnotesize small normalsize large Large LARGE huge Huge HUGE boldmath
        unboldmath displaystyle textstyle scriptstyle scriptscriptstyle limits nolimits centering raggedright
        raggedleft RaggedRight RaggedLeft Centering justifying arraybackslash noindent indent protect relax
        null strut mathstrut leavevmode nolinebreak allowbreak nobreak ignorespaces unskip selectfont cal mit
        frak nonumber notag hfilneg vfill vfil bgroup egroup begingroup endgroup sloppy fussy clearpage big
        Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr bigm Bigm biggm Biggm makeatletter
        makeatother global long expandafter smaller larger endgraf lining nodata normalcolor vline hskip
        Tstrut Bstrut TBstrut tstrut bstrut topstrut bottomstrut makegapedcells arraystretch tabcolsep
        scriptfont phantomsection leftline centerline rmdefault let newline linebreak par null nodata""",
    "M": """
        textbf textit textrm textsf texttt textsc textsl textup textmd textnormal text emph underline uline
        uuline sout uwave dashuline dotuline ul st so caps hl mathbf mathrm mathit mathsf mathtt mathnormal
        mathbin mathrel mathop mathord mathopen mathclose mathpunct boldsymbol bm pmb underbrace overbrace
        uppercase lowercase MakeUppercase MakeLowercase textlf textsw textlarger textsmaller ensuremath
        mbox fbox hbox vbox vtop vcell vcenter centered reflectbox llap rlap clap mathllap mathrlap mathclap
        colhead topalign""",
    "oM": "tcbox smash specialcell gape shortstack hyperref",
    "ooM": "Gape",
    "*M": "ac acs",
    "*oM": "makecell thead rothead rotcell makecellbox gls acrshort",
    "mM": "turnbox adjustbox tabincell hypertarget hyperlink textpdfrender",
    "omM": "rotatebox textcolor mathcolor colorbox href foreignlanguage",
    "moM": "scalebox multirowthead",
    "mmM": "multicolumn hyperdef",
    "ommM": "fcolorbox",
    "*mmM": "resizebox",
    "pooM": "makebox framebox",
    "mooM": "raisebox",
    "moooM": "multirowcell",
    "ooomM": "parbox",
    "omomoM": "multirow",
    "oMm": "Block",
    "Mm": "texorpdfstring pdftooltip",
    "Mmmm": "mathchoice",
    "m": """
        phantom hphantom vphantom usebox sethlcolor tablenotemark extracolsep setcellgapes fontfamily
        fontseries fontshape linespread mathversion vadjust index hyphenation selectlanguage""",
    "*m": "hspace vspace",
    "om": "color pagecolor tikz cincludegraphics SetCell rowfont todo marginpar",
    "*om": "includegraphics caption",
    "mm": "savebox settowidth setlength addtolength fontsize",
    "omm": "rule",
    "mmm": "definecolor",
    "mmmm": "usefont",
    "omoo": "cellcolor rowcolor columncolor",
    "*moom": "newcommand renewcommand providecommand",
    "o": "bigstrut addlinespace",
    "V": "url path nolinkurl",
}

NUMBERS_FROM_ELSEWHERE = {
    "*oom": """
        cite citep citet citealp citealt Cite Citep Citet citeauthor citeyear citeyearpar parencite textcite
        autocite footcite supercite fullcite""",
    "*m": "ref eqref cref Cref autoref pageref nameref vref",
    "m": "label citenum onlinecite nocite thanks",
    "om": "footnote footnotetext tablefootnote",
}
"""Citations and references print numbers, and notes text, that the cell does not hold."""

SIGNATURES: dict[str, str] = {**RULES, **by_name(_BY_SIGNATURE), **by_name(NUMBERS_FROM_ELSEWHERE)}
"""Command to the signature of its arguments."""

SPACING = frozenset({"hspace", "hskip"})
"""Commands that leave a gap between what stands before and behind them."""

LINE_BREAKS = frozenset({"\\", "newline", "linebreak", "par", "tabularnewline", "cr"})
r"""Commands that end a line inside a cell."""

SUPERSCRIPTS = frozenset({"textsuperscript", "tnote", "footnotemark", "tmark", "TblrNote", "sp"})
SUBSCRIPTS = frozenset({"textsubscript", "sb"})

_FRACTIONS = "frac dfrac tfrac cfrac nicefrac sfrac xfrac flatfrac textfrac"
FRACTIONS = frozenset(_FRACTIONS.split())

_TEXTS = "text mbox hbox fbox textrm textit textbf textsf texttt textsc textsl textup textnormal textmd emph"
TEXT_IN_MATH = frozenset(_TEXTS.split())
"""Commands whose argument is text, also in a formula."""
