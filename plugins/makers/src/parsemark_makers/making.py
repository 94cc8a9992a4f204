"""What the makers share: names of corpora, processes, and pages of a copy."""

import math
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from parsemark.corpora import Corpus, Remark
from parsemark.errors import CorpusError, UsageError
from parsemark.model import Box, Element
from parsemark.plain_words import visible
from parsemark.system.pool import Finished, ProcessPool, results_of

_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
Item = TypeVar("Item")
Result = TypeVar("Result")


def require_name(name: str) -> None:
    """Raise UsageError unless every program accepts files of this name; documents are named after it."""
    if not _FILE_NAME.fullmatch(name):
        raise UsageError(
            f"A corpus cannot be called {visible(name)[:60]!r}: files are named after it, so use "
            "letters from a to z, digits, dots, hyphens and underscores, beginning with a letter or digit."
        )


def in_processes(
    function: Callable[[Item], Result], items: Sequence[Item], workers: int | None
) -> Iterator[tuple[Item, Result | None]]:
    """Yield each item with its result as it is done; None for an item that ends its process.

    The function belongs to a module, so that it pickles. Without `workers` there is one process per core; a
    single worker runs in this process.
    """
    count = min(workers or os.cpu_count() or 1, len(items))
    if count <= 1:
        yield from ((item, function(item)) for item in items)
        return
    with ProcessPool(function, count, timeout_s=math.inf, memory_mb=None) as pool:
        for done in results_of(pool, items):
            yield done.task, done.result if isinstance(done, Finished) else None


def pages_to_copy(corpus: Corpus, *, needs_pdf: bool = False) -> tuple[list[str], tuple[Remark, ...]]:
    """Return the ids of the pages that a copy with another look can have, and why the others are left out.

    CorpusError if no page can be copied.
    """
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
    return [key for key in corpus.keys if key not in unusable], tuple(left_out)


def with_boxes(element: Element, changed: Callable[[Box], Box]) -> Element:
    """Return the element with its own box and the boxes of its cells changed."""
    table = element.table
    if table is not None:
        cells = (replace(cell, box=cell.box and changed(cell.box)) for cell in table.cells)
        table = replace(table, cells=tuple(cells))
    return replace(element, box=element.box and changed(element.box), table=table)
