r"""What known commands take and print; the tables are in `commands.toml`.

Commands that are not there print everything they are given, so nothing is lost by not knowing a command.
"""

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

COMMANDS: dict[str, dict[str, Any]] = tomllib.loads(
    files("parsemark.formats.latex").joinpath("commands.toml").read_text("utf-8")
)
"""The tables of `commands.toml`."""


def by_name(names: Mapping[str, str]) -> dict[str, str]:
    """Return signatures by name, from names by signature."""
    return {name: signature for signature, listed in names.items() for name in listed.split()}


CLASS_RULES = " ".join(COMMANDS["class_rules"].values()).split()
"""Full-width rules that publishers' classes have under names of their own."""
RULES = {**by_name(COMMANDS["rules"]), **dict.fromkeys(CLASS_RULES, "l")}
"""Commands that stand between rows: name to arguments."""
SIGNATURES = {**RULES, **by_name(COMMANDS["signatures"]), **by_name(COMMANDS["elsewhere"])}
"""Command to the signature of its arguments."""
SPACING = frozenset({"hspace", "hskip"})
"""Commands that leave a gap between what stands before and behind them."""
LINE_BREAKS = frozenset({"\\", "newline", "linebreak", "par", "tabularnewline", "cr"})
"""Commands that end a line inside a cell."""
SUPERSCRIPTS = frozenset({"textsuperscript", "tnote", "footnotemark", "tmark", "TblrNote", "sp"})
SUBSCRIPTS = frozenset({"textsubscript", "sb"})
_FRACTIONS = "frac dfrac tfrac cfrac nicefrac sfrac xfrac flatfrac textfrac"
FRACTIONS = frozenset(_FRACTIONS.split())
_TEXTS = "text mbox hbox fbox textrm textit textbf textsf texttt textsc textsl textup textnormal textmd emph"
TEXT_IN_MATH = frozenset(_TEXTS.split())  # commands whose argument is text, also in a formula
