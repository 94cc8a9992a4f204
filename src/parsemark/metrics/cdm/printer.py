r"""The nodes of a formula as tokens, by the rules of OmniDocBench v1.6, which follow im2markup's.

`x^2_1` becomes `x _ { 1 } ^ { 2 }`, matrices become arrays between delimiters, `\text` becomes `\mathrm` with
`~` for spaces.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from parsemark.metrics.cdm import cdm_table, listed

_LENGTH = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*([a-z]{2})\s*")

OPERATORS = listed("operators")
_STARRED, _FONTS, _ACCENTS = listed("starred_operators"), listed("fonts"), listed("accents")
_SPELT = frozenset({"arccos", "tanh"})
_WIDE = frozenset({"widetilde", "widehat"})
_FENCES: dict[str, list[str]] = cdm_table("fences")


def print_nodes(nodes: Iterable[Any]) -> list[str]:
    """Return the tokens of a formula that pylatexenc has parsed."""
    return _Printer(math=True).print(_expanded(nodes, math=True))


@dataclass(slots=True)
class _Sign:
    """One character, or a run of white space."""

    text: str

    @property
    def is_space(self) -> bool:
        return self.text.isspace()


def _expanded(nodes: Iterable[Any], *, math: bool) -> list[Any]:
    from pylatexenc.latexwalker import LatexCharsNode, LatexCommentNode, LatexSpecialsNode

    out: list[Any] = []
    for node in nodes:
        if node is None or isinstance(node, LatexCommentNode):
            continue
        if isinstance(node, LatexCharsNode):
            out += (_Sign(s) for s in re.findall(r"\s+|\S", node.chars))
        elif isinstance(node, LatexSpecialsNode):
            chars = node.specials_chars
            out += [_Sign(chars)] if math and chars == "--" else [_Sign(c) for c in chars]
        else:
            out.append(node)
    return out


def _begins_script(node: Any) -> bool:
    return isinstance(node, _Sign) and node.text in ("^", "_", "'")


def _is(node: Any, kind: str) -> bool:
    return type(node).__name__ == f"Latex{kind}Node"


def _arguments(node: Any) -> list[Any]:
    parsed = getattr(node, "nodeargd", None)
    return [] if parsed is None or parsed.argnlist is None else list(parsed.argnlist)


def _braced(tokens: list[str]) -> list[str]:
    return tokens if _is_group(tokens) else ["{", *tokens, "}"]


def _is_group(tokens: Sequence[str]) -> bool:
    if len(tokens) < 2 or tokens[0] != "{" or tokens[-1] != "}":
        return False
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token == "{") - (token == "}")
        if depth == 0:
            return index == len(tokens) - 1
    return False


@dataclass
class _Printer:
    """Prints nodes as tokens; `math` says whether white space counts."""

    math: bool
    nodes: list[Any] = field(default_factory=list)
    at: int = 0

    def print(self, nodes: list[Any]) -> list[str]:
        """Return all tokens of a list of expanded nodes."""
        self.nodes, self.at = nodes, 0
        out: list[str] = []
        while self.at < len(self.nodes):
            node = self._take()
            if self.math and _begins_script(node):
                out += self._scripts([], node)
                continue
            base = self._one(node)
            if self.math and base and _begins_script(self._peek()):
                out += self._scripts(base, self._take_next())
            else:
                out += base
        return out

    # --- walking

    def _take(self) -> Any:
        node = self.nodes[self.at]
        self.at += 1
        return node

    def _after_blanks(self) -> int:
        """Return where the next node is that is no white space."""
        at, nodes = self.at, self.nodes
        while at < len(nodes) and isinstance(nodes[at], _Sign) and nodes[at].is_space:
            at += 1
        return at

    def _peek(self) -> Any:
        at = self._after_blanks()
        return self.nodes[at] if at < len(self.nodes) else None

    def _take_next(self) -> Any:
        self.at = self._after_blanks()
        return self._take() if self.at < len(self.nodes) else None

    # --- scripts

    def _scripts(self, base: list[str], mark: Any) -> list[str]:
        """Return a base with what is below and above it."""
        below: list[str] | None = None
        above: list[str] | None = None
        primes, left_over = 0, list[str]()
        while True:
            if mark.text == "'":
                primes += 1
            elif (found := self._script()) is None:
                left_over = [mark.text]
                break
            elif mark.text == "_":
                below = found
            elif more := _only_primes(found):
                primes += more
            else:
                above = found
            if not _begins_script(self._peek()):
                break
            mark = self._take_next()
        if primes:
            given = above or []
            above = ["{", *["\\prime"] * primes, *(given[1:-1] if given[:1] == ["{"] else given), "}"]
        lower, upper = ([] if s is None else [m, *_braced(s)] for m, s in (("_", below), ("^", above)))
        return [*base, *lower, *upper, *left_over]

    def _script(self) -> list[str] | None:
        while True:
            node = self._take_next()
            if node is None:
                return None
            if isinstance(node, _Sign) and node.text == "~":
                continue
            if isinstance(node, _Sign) and node.text == "'":
                return ["\\prime"]
            return self._one(node)

    # --- nodes

    def _one(self, node: Any) -> list[str]:
        if isinstance(node, _Sign):
            blank = [] if self.math else ["~"]
            return blank if node.is_space else [node.text]
        if _is(node, "Group"):
            return ["{", *self._inside(node.nodelist), "}"]
        if _is(node, "Math"):
            return ["$", *_Printer(True).print(_expanded(node.nodelist, math=True)), "$"]
        if _is(node, "Macro"):
            tokens = self._macro(node)
            return [*tokens, "~"] if not self.math and node.macro_post_space else tokens
        return self._environment(node) if _is(node, "Environment") else []

    def _inside(self, nodes: Sequence[Any], *, math: bool | None = None) -> list[str]:
        mode = self.math if math is None else math
        return _Printer(mode).print(_expanded(nodes, math=mode))

    def _argument(self, node: Any, *, math: bool | None = None) -> list[str]:
        if _is(node, "Group"):
            return ["{", *self._inside(node.nodelist, math=math), "}"]
        return self._inside([node], math=math)

    def _given_or_next(self, node: Any, wanted: int) -> list[list[str]]:
        """Return the arguments that the parser attached, else the nodes that follow."""
        given = [a for a in _arguments(node) if a is not None]
        out = [self._argument(a) for a in given[-wanted:]] if len(given) >= wanted else []
        while len(out) < wanted:
            following = self._take_next()
            if following is None:
                break
            out.append(self._one(following))
        return out

    def _operands(self, node: Any, wanted: int = 1) -> list[str]:
        return [token for part in self._given_or_next(node, wanted) for token in part]

    def _macro(self, node: Any) -> list[str]:
        name = node.macroname
        special = _SPECIAL.get(name)
        if special is not None:
            return special(self, node)
        if name in _FONTS:
            return self._font(node)
        if name in _ACCENTS or name in _WIDE:
            return self._accent(node)
        if name in _STARRED:
            return ["\\operatorname*", "{", *name, "}"]
        if name in _SPELT:
            return ["\\operatorname", "{", *name, "}"]
        return self._plain_macro(node)

    def _plain_macro(self, node: Any) -> list[str]:
        out = [f"\\{node.macroname}"]
        for argument in _arguments(node):
            if argument is None:
                continue
            if _is(argument, "Group") and argument.delimiters[0] == "[":
                out += ["[", *self._inside(argument.nodelist), "]"]
            else:
                out += self._argument(argument)
        return out

    def _root(self, node: Any) -> list[str]:
        arguments = _arguments(node)
        index = arguments[0] if len(arguments) > 1 else None
        is_given = bool(arguments) and arguments[-1] is not None
        shown = self._argument(arguments[-1]) if is_given else self._operands(node)
        if index is None:
            return ["\\sqrt", *shown]
        inner = index.nodelist if _is(index, "Group") else [index]
        return ["\\sqrt", "[", *self._inside(inner), "]", *shown]

    def _font(self, node: Any) -> list[str]:
        name = "mathrm" if node.macroname in ("mbox", "hbox") else node.macroname
        body = self._operands(node)
        if name == "mathrm":
            body = [c for t in body for c in ([t] if t.startswith("\\") else t)]
        return [f"\\{name}", *body]

    def _accent(self, node: Any) -> list[str]:
        name = f"\\{node.macroname}"
        given = [a for a in _arguments(node) if a is not None]
        first = given[0] if given else self._take_next()
        if first is None:
            return [name]
        is_bare_font = _is(first, "Macro") and first.macroname in _FONTS and not any(_arguments(first))
        if is_bare_font and _is(self._peek(), "Group"):
            body = [f"\\{first.macroname}", *self._one(self._take_next())]
            return [name, *body] if node.macroname in _WIDE else [name, "{", *body, "}"]
        body = self._argument(first) if given else self._one(first)
        if node.macroname in _WIDE:
            return [name, *body]
        return [name, *_braced(body)]

    def _print_text(self, node: Any) -> list[str]:
        given = [a for a in _arguments(node) if a is not None]
        argument = given[-1] if given else self._take_next()
        if argument is None:
            return ["\\mathrm"]
        inner = argument.nodelist if _is(argument, "Group") else [argument]
        if isinstance(argument, _Sign):
            return ["\\mathrm", "{", argument.text, "}"]
        return ["\\mathrm", "{", *self._inside(inner, math=False), "}"]

    def _line(self, node: Any) -> list[str]:
        return [f"\\{node.macroname}", "{", *self._operands(node), "}"]

    def _operator(self, node: Any) -> list[str]:
        groups = [a for a in _arguments(node) if _is(a, "Group")]
        if not groups and not _is(self._peek(), "Group"):
            return self._plain_macro(node)
        body = self._argument(groups[-1]) if groups else self._one(self._take_next())
        letters = "".join(body[1:-1])
        return [f"\\{letters}"] if letters in OPERATORS else ["\\operatorname", *body]

    def _with_operands(self, node: Any, wanted: int = 1) -> list[str]:
        name = "frac" if node.macroname.endswith("frac") else node.macroname
        return [f"\\{name}", *self._operands(node, wanted)]

    def _rule(self, node: Any) -> list[str]:
        out = ["\\rule"]
        for part in self._given_or_next(node, 2):
            match = _LENGTH.fullmatch("".join(part).strip("{}"))
            if match is None:
                return [*out, *part]
            number = float(match[1])
            shown = str(int(number)) if number.is_integer() else str(number)
            out += ["{", shown, match[2], "}"]
        return out

    # --- environments

    def _environment(self, node: Any) -> list[str]:
        name = node.environmentname
        aligned = name.startswith("aligned")
        rows = [row for row in self._rows(node.nodelist, aligned) if any(row)]
        opening, closing = ([fence] for fence in _FENCES[name]) if name in _FENCES else ([], [])
        out = [*opening, "\\begin{array}", "{", *self._columns(node, rows, aligned), "}"]
        for row in rows:
            for index, cell in enumerate(row):
                out += (["&"] if index else []) + cell
            out.append("\\\\")
        return [*out, "\\end{array}", *closing]

    def _rows(self, nodes: Sequence[Any], aligned: bool) -> list[list[list[str]]]:
        rows: list[list[list[Any]]] = [[[]]]
        for node in _expanded(nodes, math=True):
            if isinstance(node, _Sign) and node.text == "&":
                rows[-1].append([])
            elif _is(node, "Macro") and node.macroname == "\\":
                rows.append([[]])
                if any(getattr(a, "chars", None) == "*" for a in _arguments(node)):
                    rows[-1][-1].append(_Sign("*"))
            else:
                rows[-1][-1].append(node)

        def cell(nodes: list[Any], padded: bool) -> list[str]:
            tokens = _Printer(True).print(nodes)
            return ["{", *(["{", "}"] if padded else []), *tokens, "}"] if tokens else []

        return [[cell(own, aligned and i % 2 == 1) for i, own in enumerate(row)] for row in rows]

    def _columns(self, node: Any, rows: list[list[list[str]]], aligned: bool) -> list[str]:
        name = node.environmentname
        if name in ("cases", "dcases", "rcases"):
            return ["l", "l"]
        given = [a for a in _arguments(node) if a is not None]
        if given:
            spec = "".join(self._argument(given[-1]))
            if columns := [c for c in spec if c in "lcr"]:
                return columns
        if aligned:
            longest = max((len(row) for row in rows), default=1)
            return ["r" if i % 2 == 0 else "l" for i in range(longest)]
        return ["l"] * (len(rows[0]) if rows else 1)


def _only_primes(tokens: list[str]) -> int:
    r"""Return how many primes a group `{ \prime … }` or `{ ^ { \prime } }` holds and nothing else."""
    inner = [t for t in tokens if t not in ("{", "}", "^")]
    return len(inner) if inner and all(t == "\\prime" for t in inner) else 0


_SPECIAL: dict[str, Callable[[_Printer, Any], list[str]]] = {
    **dict.fromkeys(("frac", "tfrac", "dfrac", "binom"), partial(_Printer._with_operands, wanted=2)),
    **dict.fromkeys(("overline", "underline"), _Printer._line),
    **dict.fromkeys(("phantom", "llap", "rlap"), _Printer._with_operands),
    **dict.fromkeys(("limits", "nolimits"), lambda printer, node: []),
    "sqrt": _Printer._root,
    "text": _Printer._print_text,
    "operatorname": _Printer._operator,
    "rule": _Printer._rule,
}
