"""One fact asked of an output, by look-up alone: right, wrong, or not found."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from parsemark.errors import CorpusError
from parsemark.metrics import get_metric
from parsemark.model import Fact
from parsemark.protocols.answers.output import SIDE, AskedOutput, Words, name_of, said_words, shown, value_of

ANSWER = "answer"  # metric of the row of a fact
State = Literal["right", "wrong", "not found"]
_GAP = 3  # Words that may stand in an answer's place, at most
_NEARLY = 0.5  # a formula that scores this much is an attempt at the one that is asked for
_MAX_FORMULAS = 200
_OF_THE_TABLE = 0.5  # share of a table's cells by which another one is known to be it


class GivenAnswer(NamedTuple):
    """What an output says to a fact."""

    state: State
    said: str = ""


_NOT_FOUND = GivenAnswer("not found")


def ask(fact: Fact, output: AskedOutput) -> GivenAnswer:
    """Ask an output about a fact that `check_fact` accepts."""
    return _KINDS[fact.kind][0](fact.arguments, output)


def check_fact(fact: Fact) -> None:
    """Refuse a fact of an unknown kind, or with an argument that is missing, empty or not of its type, by
    CorpusError.
    """
    if fact.kind not in _KINDS:
        raise CorpusError(
            f"Assertion {fact.id}: {fact.kind!r} is not a known kind. Choose one of: {', '.join(_KINDS)}."
        )
    for name in _KINDS[fact.kind][1]:
        value = fact.arguments.get(name)
        is_list = name in _LISTS
        parts = value if isinstance(value, list | tuple) and is_list else [None if is_list else value]
        if not all(isinstance(part, str) for part in parts) or not any(map(str.strip, parts)):
            form = "a non-empty list of texts" if is_list else "a non-empty text"
            raise CorpusError(
                f"Assertion {fact.id} of kind {fact.kind!r} needs the argument {name!r}: {form}."
            )
    if not isinstance(fact.arguments.get("below", ""), str):
        raise CorpusError(f"Assertion {fact.id} of kind {fact.kind!r}: its argument 'below' is not a text.")
    if _KINDS[fact.kind][0] in (_number, _in_text):
        sides = [fact.arguments.get(side, "") for side in ("before", "after")]
        if not all(isinstance(side, str) for side in sides) or not any(map(str.strip, sides)):
            raise CorpusError(
                f"Assertion {fact.id} of kind {fact.kind!r} needs 'before' or 'after': the words next to it."
            )


def _cell(arguments: Mapping[str, Any], output: AskedOutput) -> GivenAnswer:
    """Return the value where both names meet; every table that has both must agree, and other values there
    answer nothing.

    Of a page whose truth is partial one table may say something else: that can be one which is not known.
    """
    row, column = name_of(arguments["row"]), name_of(arguments["column"])
    right = {value_of(arguments["answer"])}
    answers = [set(table.answers(row, column)) for _, table in output.tables]
    return _judged(right if arguments.get("partial") and right in answers else set().union(*answers), right)


def _judged(said: set[str], right: set[str]) -> GivenAnswer:
    if not said:
        return _NOT_FOUND
    return GivenAnswer("right" if said == right else "wrong", shown([" | ".join(sorted(said))])[:200])


def _in_text(arguments: Mapping[str, Any], output: AskedOutput) -> GivenAnswer:
    """Return the text between the words before it and the words after it."""
    before = said_words(arguments.get("before", ""))[-SIDE:]
    after = said_words(arguments.get("after", ""))[:SIDE]
    answer = said_words(arguments["answer"])
    said = {" ".join(found) for found in _between(before, after, len(answer), output) if found}
    right = {" ".join(answer)}
    return _judged(right if arguments.get("partial") and right <= said else said, right)


def _between(before: Words, after: Words, size: int, output: AskedOutput) -> list[Words]:
    """Return the words between both sides, or beside the one that matches, as long as an answer.

    Few words stand in many places: they count where no longer side is found, and alone where they stand once.
    """
    words = output.words
    for least in (SIDE, 1):
        begins = [k + len(before) for k in output.starts(before)] if len(before) >= least else []
        ends = dict.fromkeys(output.starts(after) if len(after) >= least else [])
        if spans := [(b, e) for b in begins for e in range(b, b + _GAP + 1) if e in ends]:
            return [words[b:e] for b, e in spans]
        most = 1 if least < SIDE else len(words)
        beside = [words[b : b + size] for b in begins if len(begins) <= most]
        beside += [words[max(e - size, 0) : e] for e in ends if len(ends) <= most]
        if found := [said for said in beside if len(said) == size]:
            return found
    return []


def _number(arguments: Mapping[str, Any], output: AskedOutput) -> GivenAnswer:
    found = _in_text(arguments, output)
    # A lost number leaves its neighbours, which are no answer.
    return found if found.state == "right" or any(map(str.isdigit, found.said)) else _NOT_FOUND


def _order(arguments: Mapping[str, Any], output: AskedOutput) -> GivenAnswer:
    first, second = (output.starts(said_words(arguments[key])) for key in ("before", "after"))
    if not first or not second:
        return _NOT_FOUND
    last = -1 if arguments.get("partial") else 0
    return GivenAnswer("right") if first[0] < second[last] else GivenAnswer("wrong", "the other way round")


def _heading(arguments: Mapping[str, Any], output: AskedOutput) -> GivenAnswer:
    """Return whether it is one, and the text below it none: who calls everything a heading has found
    nothing.
    """
    wanted, below = said_words(arguments["text"]), said_words(arguments.get("below", ""))
    if all(wanted != words for words, _ in output.headings):
        return _NOT_FOUND
    if below and any(words[: len(below)] == below for words, _ in output.headings):
        return GivenAnswer("wrong", "the text below it is a heading, too")
    return GivenAnswer("right")


def _level(arguments: Mapping[str, Any], output: AskedOutput) -> GivenAnswer:
    """Return which of two headings stands above the other; the depth of the first one is not defined by a
    page.
    """
    levels = [
        {level for words, level in output.headings if words == said_words(arguments[key])}
        for key in ("text", "other")
    ]
    if (heading := _heading(arguments, output)).state != "right" or not levels[1]:
        return heading if levels[1] else _NOT_FOUND
    if len(levels[0]) > 1 or len(levels[1]) > 1:
        return GivenAnswer("wrong", "at several levels")
    (one,), (other,) = levels
    said = "above" if one < other else "below" if one > other else "beside"
    return GivenAnswer("right" if said == arguments["answer"] else "wrong", said)


def _formula(arguments: Mapping[str, Any], output: AskedOutput) -> GivenAnswer:
    metric = get_metric("formula_reader")
    formulas, top = output.formulas[:_MAX_FORMULAS], metric.metadata.range[1]
    scored = (((metric.score(arguments["latex"], latex).value or 0.0) / top, latex) for latex in formulas)
    best, said = max(scored, key=lambda pair: pair[0], default=(0.0, ""))
    if best < _NEARLY:
        return _NOT_FOUND
    return GivenAnswer("right" if best > 1 - 1e-9 else "wrong", said[:200])


def _caption(arguments: Mapping[str, Any], output: AskedOutput) -> GivenAnswer:
    """Return whether the table next to a caption, before or after it, is its own."""
    wanted, cells = said_words(arguments["text"]), set(map(value_of, arguments["cells"]))
    at = next((k for k, words in enumerate(output.blocks) if words and words == wanted), None)
    if at is None or not output.tables:
        return _NOT_FOUND
    before = [table for k, table in output.tables if k < at][-1:]
    after = [table for k, table in output.tables if k > at][:1]
    own = any(len(cells & table.values) >= _OF_THE_TABLE * len(cells) for table in before + after)
    return GivenAnswer("right") if own else GivenAnswer("wrong", "another table")


def _absent(arguments: Mapping[str, Any], output: AskedOutput) -> GivenAnswer:
    """Check that a text is absent. Short texts may stand inside of others; they count as a block of their
    own.
    """
    unwanted = said_words(arguments["text"])
    there = unwanted and (unwanted in output.blocks or (len(unwanted) >= SIDE and output.starts(unwanted)))
    return GivenAnswer("wrong", arguments["text"]) if there else GivenAnswer("right")


def _link(arguments: Mapping[str, Any], output: AskedOutput) -> GivenAnswer:
    """Return whether a text is a link, and to where."""
    wanted = said_words(arguments["text"])
    said = {target.rstrip("/") for words, target in output.links if words == wanted}
    return _judged(said, {arguments["target"].rstrip("/")})


def _field(arguments: Mapping[str, Any], output: AskedOutput) -> GivenAnswer:
    """Return whether a filled-in value is in the output; the place of a form's labels is undefined."""
    wanted = said_words(arguments["answer"])
    there = any(output.words[k : k + len(wanted)] == wanted for k in range(len(output.words)))
    return GivenAnswer("right", arguments["answer"][:200]) if wanted and there else _NOT_FOUND


_LISTS = ("row", "column", "cells")  # arguments that are lists of texts; the others are texts
_KINDS: Mapping[str, tuple[Callable[[Mapping[str, Any], AskedOutput], GivenAnswer], tuple[str, ...]]] = {
    "cell number": (_cell, ("row", "column", "answer")),
    "cell text": (_cell, ("row", "column", "answer")),
    "number": (_number, ("answer",)),
    "name": (_in_text, ("answer",)),
    "order": (_order, ("before", "after")),
    "heading": (_heading, ("text",)),
    "level": (_level, ("text", "other", "answer")),
    "formula": (_formula, ("latex",)),
    "caption": (_caption, ("text", "cells")),
    "absent": (_absent, ("text",)),
    "link": (_link, ("text", "target")),
    "field": (_field, ("answer",)),
}
"""How facts of each kind are asked, and the arguments that they need."""
KINDS = tuple(_KINDS)
