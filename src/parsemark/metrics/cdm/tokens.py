r"""A formula as a row of tokens separated by spaces, one for each sign that is drawn (steps 1 to 3).

Here the source is made ready, parsed, and what was printed is tidied; `printer.py` prints the nodes.
"""

import re
from typing import Any

from parsemark.errors import FormatError
from parsemark.metrics.cdm.printer import OPERATORS, print_nodes

MAX_CHARACTERS = 20_000
_MAX_SOURCE = 2 * MAX_CHARACTERS  # with comments and labels, which are taken out before the limit counts
_PERCENT = "\ue000"  # stands for an escaped per cent sign while comments are cut
_CJK_CLASS = "\u4e00-\u9fff\u3400-\u4dbf"
_CJK = re.compile(f"[{_CJK_CLASS}]")
_HAN = re.compile("[\u4e00-\u9fff]")
_CJK_RUN = re.compile(rf"\\text\{{[{_CJK_CLASS}]+\}}|[{_CJK_CLASS}]+")
_ROMAN_CJK = re.compile(rf"\\mathrm \{{ ([^{{}}]*[{_CJK_CLASS}][^{{}}]*) \}}")
_TEXT_CJK = re.compile(rf"\\text\s*\{{([^{{}}]*[{_CJK_CLASS}][^{{}}]*)\}}")
_ALIGNED = re.compile(r"\\begin\{(split|align|alignedat|alignat|eqnarray)\*?\}(.+?)\\end\{\1\*?\}", re.DOTALL)
_SMALL = re.compile(r"\\begin\{smallmatrix\*?\}(.+?)\\end\{smallmatrix\*?\}", re.DOTALL)
_LABEL = re.compile(r"\\label\{[^}\n]*\}")
_SPACED_LABEL = re.compile(r"\\label \{ .*? \}")
_COMMAND_CJK = re.compile(rf"(\\[A-Za-z]+)(?=[{_CJK_CLASS}])")
_OPERATOR = re.compile(r"\\operatorname\s*\{([^{}]*)\}")


def tokenise(formula: str) -> str:
    """Return the formula as spaced tokens; the raw string where it cannot be parsed."""
    if "tabular" not in formula and _HAN.search(formula):
        for sign, plain in (("，", ", "), ("：", ": "), ("；", "; "), ("\\text {", "\\text{")):
            formula = formula.replace(sign, plain)
        formula = _CJK_RUN.sub(lambda m: m[0] if m[0].startswith("\\") else f"\\text{{{m[0]}}}", formula)
    text = formula.replace("\n", " ").replace("\\%", _PERCENT)
    try:
        spaced = _tokenise_tabular(text) if "tabular" in text else _tokenise_formula(text)
    except (FormatError, RecursionError):
        spaced = ""
    spaced = (spaced or text).replace(_PERCENT, "\\%")
    if not _CJK.search(spaced):
        return spaced
    spaced = _ROMAN_CJK.sub(lambda m: f"\\text{{{m[1]}}}", spaced)
    return _TEXT_CJK.sub(lambda m: "\\text { " + " ".join("".join(m[1].split())) + " }", spaced)


def _tokenise_formula(text: str) -> str:
    _check_length(text, _MAX_SOURCE)
    text = _ALIGNED.sub(r"\\begin{aligned}\2\\end{aligned}", text)
    text = _SMALL.sub(r"\\begin{matrix}\1\\end{matrix}", text)
    text = text.removeprefix("%").partition("%")[0].replace("\\~", " ")
    text = _LABEL.sub("", _COMMAND_CJK.sub(r"\1 ", text).replace("\\>", " "))
    if not any(word in text for word in ("matrix", "cases", "array", "begin")):
        text = text.replace("\\\\", "\\,")
    _check_length(text, MAX_CHARACTERS)
    if is_bad(text) or is_costly(text):
        raise FormatError("Braces, environments or delimiters of the formula do not match.")
    text = text.replace("$", " ")
    for old in ("{\\rm", "{ \\rm", "\\rm{"):
        text = text.replace(old, "\\mathrm{")
    tail = ""
    if text.endswith("\\") and not text.endswith("\\\\"):
        text, tail = text[:-1], " \\"
    tokens = print_nodes(_nodes(text))
    spaced = _SPACED_LABEL.sub("", " ".join(" ".join(tokens).split()))
    spaced = _OPERATOR.sub(_known_operator, spaced)
    return _glued_fences(spaced).replace("\\\\ \\end{array}", "\\end{array}") + tail


def _known_operator(match: re.Match[str]) -> str:
    name = "".join(match[1].split())
    return f"\\{name}" if name in OPERATORS else match[0]


def _glued_fences(spaced: str) -> str:
    out: list[str] = []
    glue = False
    for token in spaced.split(" "):
        if glue:
            out[-1] += token
        else:
            out.append(token)
        glue = token in ("\\left", "\\right") and not (glue and out[-1] != token)
    return " ".join(out)


def _check_length(text: str, limit: int) -> None:
    if len(text) > limit:
        raise FormatError(f"The formula has {len(text):,} characters; the limit is {limit:,}.")


def _nodes(text: str) -> list[Any]:
    from pylatexenc.latexwalker import LatexWalker, LatexWalkerError

    try:
        nodes, _, _ = LatexWalker(text).get_latex_nodes()
    except LatexWalkerError as error:
        raise FormatError(f"The formula cannot be parsed: {error}") from error
    return list(nodes)


# --- tables ------------------------------------------------------------------------------------------------

_UNESCAPED_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_HSKIP = re.compile(r"hskip([^a-z]*?)(cm|in|pt|mm|em)")
_STREAM = re.compile(r"\\begin|\\end|\{tabular\}|\\[A-Za-z]+|\\.|\S", re.DOTALL)


def _tokenise_tabular(text: str) -> str:
    text = _UNESCAPED_COMMENT.sub("", text)
    if "\\end{tabular}" not in text:
        text += "\\end{tabular}"
    return " ".join(_STREAM.findall(_HSKIP.sub(r"hspace{\1\2}", text)))


_ENVIRONMENT = re.compile(r"\\(begin|end)\{([^{}]+)\}")
_LEFT = re.compile(r"\\left\b")
_RIGHT = re.compile(r"\\right\b")
_DOLLAR = re.compile(r"(?<!\\)\$")
_BRACES = re.compile(r"\\[{}\[\]()]|[{}]")
_GROUPS = re.compile(r"\\(?:[A-Za-z]+\*?|.)\s*\[|\\.|[{}\]]", re.DOTALL)
_MOST_READ = 2**21  # characters, those that are read again included
_MAX_LENGTH = 8000


def is_bad(text: str) -> bool:
    """Return whether braces, environments or delimiters do not fit together, or it is too long."""
    return (
        len(text) > _MAX_LENGTH
        or not is_nested(text)
        or len(_LEFT.findall(text)) != len(_RIGHT.findall(text))
        or text.count("\\(") != text.count("\\)")
        or text.count("\\[") != text.count("\\]")
        or len(_DOLLAR.findall(text)) % 2 == 1
    )


def is_costly(text: str) -> bool:
    r"""Return whether pylatexenc would take too long: what follows a bracket that never closes is read twice.

    >>> is_costly("\\sqrt[3]{x}" * 500), is_costly("\\sqrt[" * 17 + "x" * 100)
    (False, True)
    """
    lost = [0]  # of each group or bracket that is open: how deep brackets that never close are nested in it
    kinds = ["{"]

    def leave(is_lost: bool) -> None:
        kinds.pop()
        depth = lost.pop() + is_lost
        lost[-1] = max(lost[-1], depth)

    for match in _GROUPS.finditer(text):
        token = match[0][-1]
        if token in "{[":
            kinds.append(token)
            lost.append(0)
        elif token == "]" and kinds[-1] == "[":
            leave(is_lost=False)
        elif token == "}" and "{" in kinds[1:]:
            while kinds[-1] == "[":
                leave(is_lost=True)
            leave(is_lost=False)
    while len(kinds) > 1:
        leave(is_lost=kinds[-1] == "[")
    return len(text) << min(lost[0], 40) > _MOST_READ


def is_nested(text: str) -> bool:
    """Return whether every brace and every environment that is opened is closed, in this order, and no
    other.
    """
    depth = 0
    for match in _BRACES.finditer(text):
        depth += (match.group() == "{") - (match.group() == "}")
        if depth < 0:
            return False
    stack: list[str] = []
    for match in _ENVIRONMENT.finditer(text):
        if match[1] == "begin":
            stack.append(match[2])
        elif not stack or stack.pop() != match[2]:
            return False
    return depth == 0 and not stack
