r"""What known commands take and print; the tables are in `commands.toml`.

Commands that are not there print everything they are given, so nothing is lost by not knowing a command.
"""

from parsemark.formats.latex.rows import COMMANDS, RULES, by_name

SIGNATURES = {**RULES, **by_name(COMMANDS["signatures"]), **by_name(COMMANDS["elsewhere"])}
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
TEXT_IN_MATH = frozenset(_TEXTS.split())  # commands whose argument is text, also in a formula
