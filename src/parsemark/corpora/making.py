"""What all makers of corpora share: a folder of their own, processes, pages of a copy and its manifest."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from parsemark.corpora.base import Corpus, Remark
from parsemark.corpora.files import write_manifest
from parsemark.corpora.schema import CorpusFile
from parsemark.errors import CorpusError, UsageError
from parsemark.model import Box, Element
from parsemark.plain_words import visible
from parsemark.system import make_folder
from parsemark.system.processes import process_pool

_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
Item = TypeVar("Item")
Result = TypeVar("Result")
Progress = Callable[[int], None]  # called with the number of pages, or documents, that were finished
Tell = Callable[[Remark], None]  # called with each page that is left out, and why


def silent(count: int) -> None:
    """Progress that nobody looks at."""


def untold(remark: Remark) -> None:
    """For those who do not ask what is left out."""


def require_name(name: str) -> None:
    """Raise UsageError unless files of all programs may be called so, since documents are by their corpus."""
    if not _FILE_NAME.fullmatch(name):
        raise UsageError(
            f"No corpus can be called {visible(name)[:60]!r}: files are named after it, so it has letters "
            "from a to z, digits, dots, hyphens and underscores, and no sign first. Give it another --name."
        )


def new_folder(out: Path, *parts: str) -> Path:
    """The folder of a new corpus, with the folders that it has.

    UsageError if it holds something already, which would pass for a part of the corpus.
    """
    if out.exists() and any(out.iterdir()):
        raise UsageError(f"{out} is not empty; give a new folder, or remove it first.")
    for part in parts:
        make_folder(out / part)
    return out


def in_processes(
    function: Callable[[Item], Result], items: Sequence[Item], workers: int | None
) -> Iterator[tuple[Item, Result | None]]:
    """Each item with its result as it is done; None for one that ends its process, which costs no other.

    The function is one of a module, so that it pickles. Without `workers` there are as many as cores; one
    does without a process of its own.
    """
    count = min(workers or os.cpu_count() or 1, len(items))
    if count <= 1:
        yield from ((item, function(item)) for item in items)
        return
    lost: list[Item] = []
    with process_pool(count) as pool:
        futures = {pool.submit(function, item): item for item in items}
        for done in as_completed(futures):
            try:
                yield futures[done], done.result()
            except BrokenProcessPool:  # one of them did, and all that were waiting are lost with it
                lost.append(futures[done])
    for item in lost:
        with process_pool(1) as pool:
            try:
                yield item, pool.submit(function, item).result()
            except BrokenProcessPool:
                yield item, None


def pages_to_copy(corpus: Corpus, tell: Tell, *, needs_pdf: bool = False) -> list[str]:
    """The ids of the pages that a copy with another look can have, at least one; `tell` gets the others."""
    left_out: list[Remark] = []
    for key in corpus.keys:
        found = corpus.try_read(key)
        if isinstance(found, Remark):
            left_out.append(found)
        elif found.truth is None or (needs_pdf and found.pdf is None):
            lacks = "truth" if found.truth is None else "PDF"
            left_out.append(Remark(key, f"is left out: it has no {lacks}."))
    unusable = {remark.where for remark in left_out}
    if len(unusable) == len(corpus):
        raise CorpusError(f"No page of {corpus.name} can be copied: {left_out[0]}")
    for remark in left_out:
        tell(remark)
    return [key for key in corpus.keys if key not in unusable]


def with_boxes(element: Element, changed: Callable[[Box], Box]) -> Element:
    """The element with its own box and those of its cells changed, as far as there are any."""
    table = element.table
    if table is not None:
        cells = (replace(cell, box=cell.box and changed(cell.box)) for cell in table.cells)
        table = replace(table, cells=tuple(cells))
    return replace(element, box=element.box and changed(element.box), table=table)


def write_copy_manifest(
    out: Path, corpus: Corpus, kind: str, says: str, settings: dict[str, Any], **fields: Any
) -> CorpusFile:
    """The manifest of a copy of a corpus, whose name ends with its `kind`; `says` describes it."""
    return write_manifest(
        out,
        name=f"{corpus.name}-{kind}",
        version=corpus.version,
        licence=corpus.licence,
        description=f"{corpus.name} {says}.",
        settings={**settings, "corpus": corpus.name, "corpus_hash": corpus.hash},
        **fields,
    )
