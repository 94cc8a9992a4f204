"""Truth in the form of a board: the keys that it reads, and what cannot be read."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from parsemark.errors import CorpusError, FormatError
from parsemark.model import Page, Prediction, Status
from parsemark.plain_words import counted, listed
from parsemark.protocols.contract import all_rules, all_truth_keys
from parsemark.protocols.run_data.rows import ScoreRow
from parsemark.protocols.run_data.tables import RunTables

UNREADABLE = "the truth of this page cannot be read"
_KINDS: Mapping[type, str] = {str: "a text", list: "a list", dict: "an object"}
Form = Mapping[str, Any]
"""The keys that a board reads in objects, each with the form of what is below it, or None; `*` is any key."""


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant."""
    folded = {re.sub(r"[\W_]", "", own).lower(): own for own in known}
    near = get_close_matches(re.sub(r"[\W_]", "", name).lower(), folded, 1, 0.75)
    return folded[near[0]] if near else None


def check_board_keys(keys: Collection[str], where: str) -> None:
    """Refuse a key that is nearly one of a board: it would be read by nobody.

    Raises:
        CorpusError: It names the key that was meant, and all that there are.
    """
    known = all_truth_keys() if keys else ()
    for key in set(keys) - set(known):
        if meant := nearest_name(key, known):
            raise CorpusError(
                f"{where}: no board reads the key {key[:40]!r} of its annotation. Did you mean {meant!r}? "
                f"There are {', '.join(known)}."
            )


def check_keys(data: Any, form: Form, where: str) -> None:
    """Refuse a key below a board's own that is nearly one which it reads, and which is not there.

    Raises:
        UnreadableTruthError: It says where the key stands, and which one was meant.
    """
    if isinstance(data, list):
        for number, one in enumerate(data, 1):
            check_keys(one, form, f"{where}, entry {number}")
    for key in data if isinstance(data, dict) else ():
        if key not in form and (meant := nearest_name(str(key), form.keys() - data.keys())):
            raise UnreadableTruthError(
                f"{UNREADABLE}: {where} has the key {str(key)[:40]!r}, which the board does not read. "
                f"Did you mean {meant!r}?"
            )
        if below := form.get(key, form.get("*")):
            check_keys(data[key], below, f"{where}.{key}")


def stray_facts(truth: Page | None, prediction: Prediction) -> list[ScoreRow]:
    """A row that names the facts of a page which no protocol decides, since nobody has their rules."""
    known = all_rules() if truth is not None and truth.facts else ()
    stray = [fact for fact in (truth.facts if truth else ()) if fact.rules not in known]
    if not stray:
        return []
    rules = list(dict.fromkeys(fact.rules[:40] for fact in stray))
    what = f"{counted(len(stray), 'fact')} ({listed([fact.id for fact in stray])})"
    said = f"{UNREADABLE}: {what} with the unknown rules {listed(rules)}; known are {', '.join(known)}"
    return [ScoreRow.of_page(prediction, "stray facts", None, Status.NO_TRUTH, said)]


class UnreadableTruthError(ValueError):
    """A page of which the truth itself cannot be read: nobody is charged for it."""


def blame(error: Exception, read_truth: Callable[[], object]) -> None:
    """Raise UnreadableTruthError where `read_truth`, which does with the truth alone what a board's rules did
    with truth and output as they raised `error`, fails as well.
    """
    try:
        read_truth()
    except (ArithmeticError, ValueError, FormatError) as own:
        raise UnreadableTruthError(f"{UNREADABLE}: {own}") from error


def unreadable_notes(tables: RunTables) -> list[str]:
    """What to say of truths that could not be read."""
    import polars as pl

    lost = tables.read("scores", "sample", "message", where=pl.col("message").str.starts_with(UNREADABLE))
    if not len(lost):
        return []
    first = lost.sort("sample").row(0)
    return [
        f"The truth of {counted(lost['sample'].n_unique(), 'page')} cannot be read, all or in part; no "
        f"parser is charged for it. The first is {first[0]}: {first[1]}."
    ]


def own_truth(page: Page, key: str, kind: type, form: Form | None = None) -> Any:
    """What the board's own files say of a page, where its loader kept it.

    Raises:
        UnreadableTruthError: It is something else than `kind`, or a key in it is misspelt.
    """
    found = None if page.annotation is None else page.annotation.get(key)
    if found is not None and not isinstance(found, kind):
        raise UnreadableTruthError(f"{UNREADABLE}: {key} is not {_KINDS[kind]}")
    if form is not None:
        check_keys(found, form, key)
    return found
