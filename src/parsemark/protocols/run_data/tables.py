"""The tables of a run as protocols read them: whole, some columns, or some pages at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING

from parsemark.protocols.run_data.pages import PLACE_COLUMNS, Places
from parsemark.specs import tool_of

if TYPE_CHECKING:
    import polars as pl
    from polars._typing import IntoExpr

BATCH_PAGES = 512  # how many pages are looked at together where a run may have any number of them


class RunTables:
    """The tables of a run that aggregates are made of; matches and scores are those of one protocol.

    `samples`, `parses`, `matches` and `scores` are whole frames. What is made to hold for any number of pages
    takes no more than it needs, by `read` and `batches`.
    """

    def __init__(
        self, samples: pl.DataFrame, parses: pl.DataFrame, matches: pl.DataFrame, scores: pl.DataFrame
    ) -> None:
        self._frames = {"samples": samples, "parses": parses, "matches": matches, "scores": scores}

    def frame(self, name: str) -> pl.DataFrame:
        """A whole table."""
        return self._frames[name]

    @property
    def samples(self) -> pl.DataFrame:
        """One row for each page, with its truth."""
        return self.frame("samples")

    @property
    def parses(self) -> pl.DataFrame:
        """One row for each page and parser."""
        return self.frame("parses")

    @property
    def matches(self) -> pl.DataFrame:
        """One row for each match of a page."""
        return self.frame("matches")

    @property
    def scores(self) -> pl.DataFrame:
        """One row for each score."""
        return self.frame("scores")

    @cached_property
    def parsers(self) -> list[str]:
        """Names of the parsers, sorted."""
        import polars as pl

        return sorted(self.read("parses", pl.col("parser").unique())["parser"])

    @cached_property
    def engines(self) -> dict[str, str]:
        """What each parser stands on, as far as its name says; settings of one tool are one voice."""
        return {parser: tool_of(parser) for parser in self.parsers}

    @cached_property
    def places(self) -> Places:
        """The pages in order of their ids."""
        return Places.of(self.known("samples", *PLACE_COLUMNS))

    def changed(self, **frames: pl.DataFrame) -> RunTables:
        """The same tables, some of them exchanged: `changed(samples=…)`."""
        other = copy(self)
        for derived in ("places", "parsers", "engines"):
            other.__dict__.pop(derived, None)
        other._frames = {**self._frames, **frames}
        return other

    @contextmanager
    def scanning(self, name: str) -> Iterator[pl.LazyFrame]:
        """A table, to collect from what is needed of it."""
        yield self.frame(name).lazy()

    def read(
        self, name: str, *columns: IntoExpr, where: pl.Expr | None = None, **named: IntoExpr
    ) -> pl.DataFrame:
        """Some columns, or what follows from them, of the rows for which something holds."""
        with self.scanning(name) as rows:
            return (rows if where is None else rows.filter(where)).select(*columns, **named).collect()

    def known(self, name: str, *columns: str) -> pl.DataFrame:
        """Those of these columns that a table has: runs of earlier versions have fewer."""
        with self.scanning(name) as rows:
            there = rows.collect_schema().names()
            return rows.select([column for column in columns if column in there]).collect()

    def batches(self, *names: str) -> Iterator[list[pl.DataFrame]]:
        """Tables page by page, some pages at a time in the order of their ids: the rows of these pages."""
        import polars as pl

        ids = self.places.samples
        with ExitStack() as opened:
            tables = [opened.enter_context(self.scanning(name)) for name in names]
            for first in range(0, len(ids), BATCH_PAGES):
                last = min(first + BATCH_PAGES, len(ids)) - 1
                own = pl.col("sample").is_between(pl.lit(ids[first]), pl.lit(ids[last]))
                yield [table.filter(own).collect() for table in tables]
