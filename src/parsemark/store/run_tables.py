"""The tables of a run as protocols read them, its pages, and the documents that these are witnesses of.

Documents are one where they are the same: equal bytes, equal text on every page, or pages that `corpus
sample` took from one PDF. Document types are what a corpus says of its pages (`TYPE_ATTRIBUTES`); where it
says nothing, the program that the PDFs name as their producer.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from parsemark.specs import tool_of
from parsemark.stats.document_types import Division, choose_division

if TYPE_CHECKING:
    import polars as pl
    from polars._typing import IntoExpr

BATCH_PAGES = 512  # how many pages are looked at together where a run may have any number of them
TYPE_ATTRIBUTES = ("maker", "template", "producer", "source", "repository")
"""Attributes of pages that say where a document comes from."""
PLACE_COLUMNS = ("sample", "document", "page_number", "pdf_sha256", "attributes", "identity")


@dataclass(frozen=True, slots=True)
class Places:
    """The pages of a run in order, each with its document."""

    samples: tuple[str, ...]
    documents: tuple[str, ...]  # of each page; copies of a document have the name of the first
    division: Division | None = None  # the types of documents, for each page; the strata of all intervals
    n_copies: int = 0  # how many documents are counted with another, since they are the same

    def among(self, samples: Iterable[str]) -> Places:
        """Return those of these ids, in their order; missing ids are left out."""
        position = {sample: k for k, sample in enumerate(self.samples)}
        at = [position[sample] for sample in samples if sample in position]
        return Places(
            tuple(self.samples[k] for k in at),
            tuple(self.documents[k] for k in at),
            None
            if self.division is None
            else replace(self.division, types=tuple(self.division.types[k] for k in at)),
            self.n_copies,
        )

    @classmethod
    def of(cls, rows: pl.DataFrame) -> Places:
        """Return the pages of `samples`, with those of `PLACE_COLUMNS` that there are, in order of their
        ids.
        """
        listed = rows.sort("sample").to_dicts()
        identities = [_loaded(row.get("identity")) for row in listed]
        first = _same(listed, identities)
        documents = tuple(first[str(row["document"])] for row in listed)
        attributes = [_loaded(row.get("attributes")) for row in listed]
        types = {
            name: found
            for name in TYPE_ATTRIBUTES
            if (found := _of_documents(documents, [own.get(name) for own in attributes]))
        } or {"producer": _of_documents(documents, [own.get("producer") for own in identities])}
        samples = tuple(str(row["sample"]) for row in listed)
        n_copies = len(first) - len(set(first.values()))
        return cls(samples, documents, _division(documents, types), n_copies)


def _loaded(text: str | None) -> Mapping[str, Any]:
    found = json.loads(text) if text else {}
    return found if isinstance(found, dict) else {}


def _same(rows: Sequence[Mapping[str, Any]], identities: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return each document with the first one that it equals.

    Bytes and texts must be equal on all pages of both; to be taken from the same PDF is enough on one.
    """
    pages: dict[str, list[tuple[str | None, str | None, str | None]]] = defaultdict(list)
    for row, own in zip(rows, identities, strict=True):
        data = f"{row['pdf_sha256']} {row['page_number']}" if row.get("pdf_sha256") else None
        pages[str(row["document"])].append((data, own.get("text"), own.get("taken_from")))
    first = {name: name for name in pages}

    def root(name: str) -> str:
        while first[name] != name:
            name = first[name]
        return name

    seen: dict[tuple[int, object], str] = {}
    for name, keys in pages.items():
        *equal, taken = zip(*keys, strict=True)
        whole = [(k, tuple(sorted(map(str, own)))) for k, own in enumerate(equal) if None not in own]
        for known in (*whole, *((2, source) for source in taken if source is not None)):
            other, mine = root(seen.setdefault(known, name)), root(name)
            if other != mine:
                first[mine] = other
    return {name: root(name) for name in pages}


def _division(documents: Sequence[str], types: Mapping[str, tuple[str, ...]]) -> Division | None:
    """Return the division into types that is used, chosen by documents, whatever number of pages they
    have.
    """
    at = list({document: k for k, document in reversed(list(enumerate(documents)))}.values())
    chosen = choose_division({name: [of[k] for k in at] for name, of in types.items() if of})
    return None if chosen is None else Division(chosen, types[chosen])


def _of_documents(documents: Sequence[str], values: Sequence[object]) -> tuple[str, ...]:
    """Return the value of each page's document, its first; a document without one is of a type of its own."""
    known: dict[str, str] = {}
    for document, value in zip(documents, values, strict=True):
        if value is not None and value != "":
            known.setdefault(document, str(value))
    return tuple(known.get(name, f"({name})") for name in documents) if known else ()


class RunTables:
    """The tables of a run that aggregates are made of; matches and scores are those of one protocol.

    `samples`, `parses`, `matches` and `scores` are whole frames. What is made to hold for any number of pages
    takes no more than it needs, by `read` and `batches`.
    """

    def __init__(
        self, samples: pl.DataFrame, parses: pl.DataFrame, matches: pl.DataFrame, scores: pl.DataFrame
    ) -> None:
        self._frames = {"samples": samples, "parses": parses, "matches": matches, "scores": scores}

    @property
    def repeats(self) -> Sequence[RunTables]:
        """Return the tables of further parses of the same pages (`bench --repeats`)."""
        return ()

    def frame(self, name: str) -> pl.DataFrame:
        """Return a whole table."""
        return self._frames[name]

    @property
    def samples(self) -> pl.DataFrame:
        """Return one row for each page, with its truth."""
        return self.frame("samples")

    @property
    def parses(self) -> pl.DataFrame:
        """Return one row for each page and parser."""
        return self.frame("parses")

    @property
    def matches(self) -> pl.DataFrame:
        """Return one row for each match of a page."""
        return self.frame("matches")

    @property
    def scores(self) -> pl.DataFrame:
        """Return one row for each score."""
        return self.frame("scores")

    @cached_property
    def parsers(self) -> list[str]:
        """Return names of the parsers, sorted."""
        import polars as pl

        return sorted(self.read("parses", pl.col("parser").unique())["parser"])

    @cached_property
    def engines(self) -> dict[str, str]:
        """Return the engine of each parser, as far as its name shows it; settings of one tool share one
        vote.
        """
        return {parser: tool_of(parser) for parser in self.parsers}

    @cached_property
    def places(self) -> Places:
        """Return the pages in order of their ids."""
        return Places.of(self.known("samples", *PLACE_COLUMNS))

    def changed(self, **frames: pl.DataFrame) -> RunTables:
        """Return the same tables, some of them exchanged: `changed(samples=…)`."""
        other = copy(self)
        for derived in ("places", "parsers", "engines"):
            other.__dict__.pop(derived, None)
        other._frames = {**self._frames, **frames}
        return other

    @contextmanager
    def scanning(self, name: str) -> Iterator[pl.LazyFrame]:
        """Scan a table, to collect only the needed part."""
        yield self.frame(name).lazy()

    def read(
        self, name: str, *columns: IntoExpr, where: pl.Expr | None = None, **named: IntoExpr
    ) -> pl.DataFrame:
        """Return some columns, or what follows from them, of the rows for which something holds."""
        with self.scanning(name) as rows:
            return (rows if where is None else rows.filter(where)).select(*columns, **named).collect()

    def known(self, name: str, *columns: str) -> pl.DataFrame:
        """Return those of these columns that a table has: runs of earlier versions have fewer."""
        with self.scanning(name) as rows:
            there = rows.collect_schema().names()
            return rows.select([column for column in columns if column in there]).collect()

    def batches(self, *names: str) -> Iterator[list[pl.DataFrame]]:
        """Yield tables page by page, some pages at a time in the order of their ids: the rows of these
        pages.
        """
        import polars as pl

        ids = self.places.samples
        with ExitStack() as opened:
            tables = [opened.enter_context(self.scanning(name)) for name in names]
            for first in range(0, len(ids), BATCH_PAGES):
                last = min(first + BATCH_PAGES, len(ids)) - 1
                own = pl.col("sample").is_between(pl.lit(ids[first]), pl.lit(ids[last]))
                yield [table.filter(own).collect() for table in tables]
