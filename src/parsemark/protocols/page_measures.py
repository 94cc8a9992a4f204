"""What boards have in common that give each page a few numbers and take means of them."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, ClassVar

from parsemark.errors import CorpusError, FormatError
from parsemark.model import Box, Category, Element, Page, Prediction, Status
from parsemark.plain_words import counted, listed
from parsemark.protocols.contract import PageProtocol, all_rules, all_truth_keys
from parsemark.protocols.figures import FigureInfo, FigureSums
from parsemark.protocols.presentation import Presentation
from parsemark.protocols.result_files import BoardRun, Files, as_json
from parsemark.protocols.rows import PageScores, ScoreRow
from parsemark.protocols.run_tables import RunTables
from parsemark.protocols.summary import Summary

Measures = Mapping[str, float | list[float] | Mapping[str, float | None] | None]


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


class LeftOutError(ValueError):
    """A page that the board itself drops from its means."""


class UnreadableTruthError(ValueError):
    """A page of which the truth itself cannot be read: nobody is charged for it."""


def blame(error: Exception, read_truth: Callable[[], object]) -> None:
    """Raise UnreadableTruthError where the truth, read in the same way as the output, fails as well.

    Args:
        error: What the board's rules raised on truth and output.
        read_truth: Does with the truth alone what was done with both.
    """
    try:
        read_truth()
    except (ArithmeticError, ValueError, FormatError) as own:
        raise UnreadableTruthError(f"{UNREADABLE}: {own}") from error


@dataclass(frozen=True)
class MeasuredProtocol(PageProtocol):
    """Measures of pages by the rules of a board, and their means over the pages that have them.

    A page without output is measured as an empty one.
    """

    infos: ClassVar[tuple[FigureInfo, ...]]
    """The one that ranks first."""

    @abstractmethod
    def measure(self, truth: Page, prediction: Prediction) -> Measures | None:
        """Give the measures of a page by name; None for those that it has not, or where it has none at all.

        A measure that pages have several times, once for each table, is a list, or a mapping of names.

        Raises:
            LeftOutError: The board drops the page.
            UnreadableTruthError: Its truth cannot be read.
            ValueError, FormatError: The board's rules fail on it, or it is too large: it is worth nothing.
        """

    def score_page(
        self, truth: Page | None, prediction: Prediction, page_text: str | None = None
    ) -> PageScores:
        """Measure one page."""
        names = [info.name for info in self.infos]
        values: Measures | None = None
        status, why = Status.NO_TRUTH, None
        if prediction.status is Status.METRIC_FAILED:
            status, why = prediction.status, prediction.message
        elif truth is not None:
            try:
                values = self._measured(truth, prediction)
            except UnreadableTruthError as error:
                why = str(error)
            except LeftOutError as error:
                why = f"left out, as the board does it: {error}"
            except (ValueError, FormatError) as error:
                values, why = dict.fromkeys(names, 0.0), f"worth nothing: {error}"
        rows = []
        for name in names:
            value = None if values is None else values.get(name)
            if isinstance(value, list):
                value = {str(number): one for number, one in enumerate(value, 1)}
            if isinstance(value, Mapping):
                for part, one in value.items():
                    told = Status.NO_TRUTH if one is None else Status.OK
                    rows.append(replace(ScoreRow.of_page(prediction, name, one, told), element=part))
                continue
            rows.append(
                ScoreRow.of_page(prediction, name, value, status if value is None else Status.OK, why)
            )
        return PageScores(scores=rows + (stray_facts(truth, prediction) if self.reads_facts else []))

    def _measured(self, truth: Page, prediction: Prediction) -> Measures | None:
        """The measures; a truth that is not made as the board makes it fails with any output."""
        try:
            return self.measure(truth, prediction)
        except (AttributeError, LookupError, TypeError) as error:
            placed = Element("a", Category.TEXT_BLOCK, Box(0, 0, 9, 9), 0, "a")
            blank = Prediction(prediction.sample, prediction.parser, text="a")
            for sound in (blank, replace(blank, elements=(placed,))):
                try:
                    self.measure(truth, sound)
                except (AttributeError, LookupError, TypeError):
                    why = f"it is not made as the board makes it ({error})"
                    raise UnreadableTruthError(f"{UNREADABLE}: {why}") from error
            raise

    def result_files(self, board: BoardRun) -> Files:
        """The numbers of each parser; boards that have files of their own write those."""
        for parser in board.parsers:
            yield f"{parser}_scores.json", as_json(board.figures(parser))

    def presentation(self) -> Presentation:
        """Write the board's files."""
        return Presentation(result_files=self.result_files)

    def summary_of(self, tables: RunTables, sums: Sequence[FigureSums], **parts: Any) -> Summary:
        """The summary, which says where a truth cannot be read."""
        return super().summary_of(tables, sums, **{"notes": unreadable_notes(tables), **parts})

    def figure_sums(self, tables: RunTables) -> list[FigureSums]:
        """Means over pages, or over what pages have several of."""
        import polars as pl

        from parsemark.protocols.aggregate import mean_sums, run_sums

        columns = ("sample", "parser", "element", "status", "value")
        rows = [tables.read("scores", *columns, where=pl.col("metric") == info.name) for info in self.infos]
        means = [mean_sums(i, own, "value", tables) for i, own in zip(self.infos, rows, strict=True)]
        return [*means, *run_sums(tables)]


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


def in_order(page: Page) -> list[Element]:
    """The elements of a page as they are read; those outside of the reading order stay where they stand."""
    listed = [element for element in page.elements if not element.ignore]
    ordered = iter(sorted((e for e in listed if e.order is not None), key=lambda e: e.order or 0))
    return [next(ordered) if element.order is not None else element for element in listed]


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


def html_of(element: Element) -> str:
    """A table as HTML."""
    from parsemark.formats import write_table

    return (
        write_table(element.table, "html") if element.html is None and element.table else element.html or ""
    )


def predicted_elements(prediction: Prediction) -> Sequence[Element]:
    """The elements of an output; those of a text are read from it."""
    from parsemark.formats import read_output

    if any(element.category != Category.TABLE for element in prediction.elements) or prediction.text is None:
        return prediction.elements
    return read_output(prediction.text, prediction.format).elements


def score_info(
    name: str, label: str, definition: str, denominator: str = "all pages", **more: Any
) -> FigureInfo:
    """A figure of a board."""
    return FigureInfo(name=name, label=label, definition=definition, denominator=denominator, **more)
