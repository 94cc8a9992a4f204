"""The pages of a run, the documents that they are independent witnesses of, and the kinds of these.

Documents are one where they are the same: equal bytes, equal text on every page, or pages that `corpus
sample` took from one PDF. Kinds are what a corpus says of its pages (`KIND_ATTRIBUTES`); where it says
nothing, the program that the PDFs name as their maker.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

KIND_ATTRIBUTES = ("maker", "template", "producer", "source", "repository")
"""Attributes of pages that say where a document comes from."""
PLACE_COLUMNS = ("sample", "document", "page_number", "pdf_sha256", "attributes", "identity")

Kindred = Mapping[str, tuple[str, ...]]
"""Attribute to its value for each page; that of a document is the same for all its pages."""


@dataclass(frozen=True, slots=True)
class Places:
    """The pages of a run in order, each with its document."""

    samples: tuple[str, ...]
    documents: tuple[str, ...]  # of each page; copies of a document have the name of the first
    kinds: Kindred = field(default_factory=dict)
    n_copies: int = 0  # how many documents are counted with another, since they are the same

    def among(self, samples: Iterable[str]) -> Places:
        """Those of these ids, in their order; ids that are not there are left out."""
        position = {sample: k for k, sample in enumerate(self.samples)}
        at = [position[sample] for sample in samples if sample in position]
        return Places(
            tuple(self.samples[k] for k in at),
            tuple(self.documents[k] for k in at),
            {name: tuple(of[k] for k in at) for name, of in self.kinds.items()},
            self.n_copies,
        )

    @classmethod
    def of(cls, rows: pl.DataFrame) -> Places:
        """The pages of `samples`, with those of `PLACE_COLUMNS` that there are, in order of their ids."""
        listed = rows.sort("sample").to_dicts()
        identities = [_loaded(row.get("identity")) for row in listed]
        first = _same(listed, identities)
        documents = tuple(first[str(row["document"])] for row in listed)
        attributes = [_loaded(row.get("attributes")) for row in listed]
        kinds = {
            name: found
            for name in KIND_ATTRIBUTES
            if (found := _of_documents(documents, [own.get(name) for own in attributes]))
        } or {"producer": _of_documents(documents, [own.get("producer") for own in identities])}
        kinds = {name: found for name, found in kinds.items() if found}
        samples = tuple(str(row["sample"]) for row in listed)
        return cls(samples, documents, kinds, len(first) - len(set(first.values())))


def _loaded(text: str | None) -> Mapping[str, Any]:
    found = json.loads(text) if text else {}
    return found if isinstance(found, dict) else {}


def _same(rows: Sequence[Mapping[str, Any]], identities: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Each document with the first one that it is the same as.

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


def _of_documents(documents: Sequence[str], values: Sequence[object]) -> tuple[str, ...]:
    """The value of each page's document, its first; a document without one is of a kind of its own."""
    known: dict[str, str] = {}
    for document, value in zip(documents, values, strict=True):
        if value is not None and value != "":
            known.setdefault(document, str(value))
    return tuple(known.get(name, f"({name})") for name in documents) if known else ()
