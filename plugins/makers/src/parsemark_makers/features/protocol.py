"""The feature matrix: what an output keeps, loses, or turns into something else, of minimal pairs of pages.

A feature is a fact on the page that has it (`feature`) and one on the same page without it (`control`). Both
carry spellings: what an output may look like that keeps the meaning, and what shows that the meaning changed.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from html import unescape
from importlib import import_module
from typing import Any, ClassVar

from parsemark.errors import CorpusError, FormatError
from parsemark.formats import markdown_of
from parsemark.model import Category, Fact, Page, Prediction, Table
from parsemark.plain_words import counted
from parsemark.protocols import (
    BoardRun,
    FigureSums,
    Files,
    RunTables,
    Summary,
    as_csv,
    predicted_elements,
    read_figures,
)
from parsemark.protocols.facts import Decide, FactsProtocol, FactTotals, Outcome, TooHardError, share_info
from parsemark.protocols.run_scores.aggregate import run_sums

RULES = "features"
KEPT, LOST, CHANGED, UNSUPPORTED = "kept", "lost", "changed", "unsupported"
STATES = {
    KEPT: ("●", "kept"),
    CHANGED: ("✗", "meaning changed"),
    LOST: ("○", "lost"),
    UNSUPPORTED: ("–", "not supported by its format"),
}
"""Each verdict with its sign and its words."""
MAX_SLOTS = 400_000  # of a table
MAX_CHARACTERS = 100_000  # of an output of one small page; a longer one is not looked at
MAX_WAYS = 4_000
"""In which a pattern can be laid over one place of a text: the most that a search costs per character."""
_FOLDED = str.maketrans(
    "\u2018\u2019\u201a\u201c\u201d\u201e\u2010\u2011\u2012\u2013\u2212", "'''\"\"\"-----", "\u00ad"
)
_TAGS = re.compile(r"<[^<>\n]{0,200}>")
_BREAKS = re.compile(r"</?(?:br|p|div|li|ul|ol|tr|td|th|table|h[1-6])\b[^<>\n]{0,200}>", re.IGNORECASE)
_MARKS = re.compile(r"[*_`\\#|~]|&nbsp;")

Spelling = str | Sequence[str]  # a condition, or several that hold together; see `ReadOutput.says`


def check_spelling(spelling: Spelling) -> None:
    """Raise CorpusError for a condition that is no pattern, or could take long on some text."""
    for condition in [spelling] if isinstance(spelling, str) else spelling:
        for part in _parts(condition):
            _compiled(part)


def _parts(condition: str) -> list[str]:
    return re.sub(r"^!?(table:|words:)?", "", condition).split(" >> ")


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        ways = _ways(import_module("re._parser").parse(pattern))
        if ways <= MAX_WAYS:
            return re.compile(pattern.replace(" ", r"\s"), re.MULTILINE | re.IGNORECASE)
    except (re.error, OverflowError, RecursionError) as error:
        raise CorpusError(f"{pattern!r} is not a valid pattern: {error}.") from error
    raise CorpusError(f"{pattern!r} repeats too much: write {{0,20}} instead of * or +.")


def _ways(tree: Any) -> int:
    """Return the largest number of ways in which a parsed pattern matches at one place; capped."""
    found = 1
    for operation, argument in tree:
        name = str(operation)
        if name.endswith("REPEAT"):
            low, high, inner = argument
            own, most = _ways(inner), int(high) - int(low) + 1
            found *= most if own == 1 else own ** min(int(high), MAX_WAYS) * most
        elif name == "BRANCH":
            found *= sum(_ways(branch) for branch in argument[1])
        elif name in ("SUBPATTERN", "ASSERT", "ASSERT_NOT", "ATOMIC_GROUP"):
            found *= _ways(argument if name == "ATOMIC_GROUP" else argument[-1])
        elif name.startswith("GROUPREF"):
            raise CorpusError("A pattern may not contain back-references.")
        found = min(found, MAX_WAYS + 1)
    return found


@dataclass(frozen=True)
class ReadOutput:
    """An output as conditions see it."""

    prediction: Prediction

    @cached_property
    def text(self) -> str:
        """Return it as written, in lines with their indentation; quotes and hyphens are of one kind."""
        text = markdown_of(self.prediction)
        if len(text) > MAX_CHARACTERS:
            raise TooHardError(
                f"the output has {counted(len(text), 'character')}, more than a page of this corpus"
            )
        text = unicodedata.normalize("NFC", text).translate(_FOLDED)
        return "\n".join(map(_spaced, filter(str.strip, text.expandtabs(4).splitlines())))

    @cached_property
    def words(self) -> str:
        """Return its text without tags and signs of Markdown."""
        text = unescape(_MARKS.sub(" ", _TAGS.sub("", _BREAKS.sub(" ", self.text))))
        lines = unicodedata.normalize("NFKC", text).splitlines()
        return "\n".join(" ".join(line.split()) for line in lines if line.strip())

    @cached_property
    def tables(self) -> str:
        """Return its tables, a line for each row: `| a | b |`, with what spans several slots in each of
        them.
        """
        own = [e for e in self.prediction.elements if e.category == Category.TABLE]
        try:
            found = own or predicted_elements(self.prediction)
        except (FormatError, ValueError):
            return ""
        return "\n".join(_lines(e.table) for e in found if e.table is not None)

    @property
    def format(self) -> str:
        """Return the format of the output: `markdown`, `html`, `latex`, `text`; `tables` where it has nothing
        else.
        """
        elements = self.prediction.elements
        is_tables = self.prediction.text is None and all(e.category == Category.TABLE for e in elements)
        return "tables" if is_tables else self.prediction.format

    def says(self, spelling: Spelling) -> bool:
        """Return whether all conditions of a spelling hold.

        A condition is a pattern; several with ` >> ` between them are found one after the other. `!` before
        it: it is not found. `words:` looks at the words alone, `table:` at the rows of tables.
        """
        conditions = [spelling] if isinstance(spelling, str) else spelling
        return all(self._holds(condition) for condition in conditions)

    def _holds(self, condition: str) -> bool:
        where = condition.removeprefix("!")[: len("table:")]
        text = self.tables if where == "table:" else self.words if where == "words:" else self.text
        at = 0
        for part in _parts(condition):
            if (found := _compiled(part).search(text, at)) is None:
                return condition.startswith("!")
            at = found.end()
        return not condition.startswith("!")


def _spaced(line: str) -> str:
    return " " * (len(line) - len(line.lstrip())) + " ".join(line.split())


def _lines(table: Table) -> str:
    if table.n_rows * table.n_cols > MAX_SLOTS:
        raise TooHardError(f"A table of this output has more than {MAX_SLOTS:,} slots.")
    rows = ((" ".join(text.split()) for text in row) for row in table.text_rows())
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def decide(fact: Fact, output: ReadOutput) -> Outcome:
    """Return the verdict on a page that has a feature, or on the same page without it."""
    said = fact.arguments
    kept, changed = said.get("kept", ()), said.get("changed", ())
    spelled = next((s for s in kept if output.says(s)), None)
    if fact.kind == "control":
        if spelled is not None and said.get("is_mark"):
            return Outcome(False, "it is written on the page without it too", found=CHANGED)
        return Outcome(True, found=KEPT)
    if spelled is not None:
        return Outcome(True, f"found {_shown(spelled)}", found=KEPT)
    if output.format in said.get("unsupported", ()):
        return Outcome(False, f"{STATES[UNSUPPORTED][1]}, {output.format}", found=UNSUPPORTED)
    wrong = next((s for s in changed if output.says(s)), None)
    if wrong is not None:
        return Outcome(False, f"meaning changed: found {_shown(wrong)}", found=CHANGED)
    return Outcome(False, "lost: no spelling of it is found", found=LOST)


def _shown(spelling: Spelling) -> str:
    return spelling if isinstance(spelling, str) else " and ".join(spelling)


@dataclass(frozen=True)
class FeaturesProtocol(FactsProtocol):
    """Features of pages: strikethrough, footnotes, columns, merged headers and more.

    `plugins/makers/docs/features.md` describes each.
    """

    name: ClassVar[str] = "features"
    title: ClassVar[str] = "Feature matrix"
    comparability: ClassVar[int] = 1
    rules: ClassVar[str] = RULES
    group_word: ClassVar[str] = "feature"
    crashed: ClassVar[bool | None] = None

    @classmethod
    def check_fact(cls, fact: Fact) -> None:
        """Raise CorpusError for spellings that are not lists of patterns."""
        for key in ("kept", "changed"):
            spellings = fact.arguments.get(key, [])
            if not isinstance(spellings, list):
                raise CorpusError(f"its {key!r} is not a list of spellings")
            for spelling in spellings:
                conditions = spelling if isinstance(spelling, list) else [spelling]
                if not all(isinstance(condition, str) for condition in conditions):
                    raise CorpusError(f"a spelling in its {key!r} is neither a text nor a list of texts")
                check_spelling(conditions)

    @property
    def whole_documents(self) -> bool:
        """Return whether documents are scored as a whole: a feature may lie between two pages."""
        return True

    def group_of(self, fact: Fact) -> str:
        """Return the feature."""
        return fact.group

    def deciding(self, facts: Sequence[Fact], truth: Page, prediction: Prediction) -> Decide:
        """Decide a page by its output as it reads."""
        output = ReadOutput(prediction)
        return lambda fact: decide(fact, output)

    def figure_sums(self, tables: RunTables) -> list[FigureSums]:
        """Return the sums behind the shares of pairs, then of each feature and of each maker."""
        import polars as pl

        pairs = pair_rows(tables)

        def totals(key: str, state: str = KEPT) -> FactTotals:
            value = (pl.col("verdict") == state).cast(pl.Float64)
            rows = pairs.select("sample", "parser", "status", group=key, value=value)
            return FactTotals.of_rows(tables, rows, sorted(rows["group"].unique()))

        features, makers = totals("feature"), totals("maker")
        infos = read_figures(__package__)
        others = [(infos[state], totals("feature", state)) for state in STATES if state != KEPT]
        return [
            features.share(self.headline, features.groups),
            *(own.share(info, own.groups) for info, own in others),
            *(features.share(share_info("feature", name), [name]) for name in features.groups),
            *(makers.share(share_info("maker", name), [name]) for name in makers.groups),
            features.untried(),
            *run_sums(tables),
        ]

    def summarise(self, tables: RunTables) -> Summary:
        """Return all figures, and the matrix."""
        return super().summarise(tables).model_copy(update={"details": {"matrix": matrix_of(tables)}})

    def result_files(self, board: BoardRun) -> Files:
        """Return the matrix as a table."""
        matrix = board.summary.details["matrix"]
        rows = [("parser", "feature", "maker", "verdict", "page")]
        for parser, cells in matrix["cells"].items():
            for row, own in zip(matrix["rows"], cells, strict=True):
                rows += [(parser, row["name"], maker, v, row["pages"][maker]) for maker, v in own.items()]
        yield "matrix.csv", as_csv(rows)


def pair_rows(tables: RunTables) -> Any:
    """Return the verdict on each pair, with its parser, feature and maker; `sample` is the page with the
    feature.
    """
    import polars as pl

    def attribute(name: str) -> pl.Expr:
        return pl.col("attributes").str.json_path_match(f"$.{name}")

    columns = {"feature": "metric", "kind": "category", "verdict": "pred"}
    of_facts = pl.col("element") != ""
    rows = tables.read("scores", "sample", "parser", "status", where=of_facts, **columns)
    pages = tables.read("samples", "sample", maker=attribute("maker"), title=attribute("feature"))
    rows = rows.join(pages, on="sample")
    having, without = rows.filter(kind="feature"), rows.filter(kind="control")
    invented = without.filter(verdict=CHANGED).select("parser", "feature", "maker", invented=pl.lit(True))
    joined = having.join(invented, on=["parser", "feature", "maker"], how="left").with_columns(
        verdict=pl.when(pl.col("invented") & (pl.col("verdict") == KEPT))
        .then(pl.lit(CHANGED))
        .when(pl.col("verdict") == "")
        .then(pl.lit(LOST))
        .otherwise(pl.col("verdict"))
    )
    return joined.sort("sample", "parser")


def matrix_of(tables: RunTables) -> dict[str, Any]:
    """Return features × makers × parsers as plain data, in the order of the corpus's names."""
    pairs = pair_rows(tables)
    rows: dict[str, dict[str, Any]] = {}
    verdicts: dict[tuple[str, str], dict[str, str]] = {}
    for row in pairs.iter_rows(named=True):
        name, maker = row["feature"], row["maker"]
        known = rows.setdefault(name, {"name": name, "title": row["title"], "pages": {}})
        known["pages"][maker] = row["sample"]
        verdicts.setdefault((row["parser"], name), {})[maker] = row["verdict"]
    ordered = sorted(rows.values(), key=lambda known: known["name"])
    return {
        "makers": sorted(set(pairs["maker"])),
        "states": STATES,
        "rows": ordered,
        "cells": {p: [verdicts.get((p, known["name"]), {}) for known in ordered] for p in tables.parsers},
    }
