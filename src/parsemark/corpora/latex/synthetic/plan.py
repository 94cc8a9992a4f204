"""Decides, before anything is made, which traits each page has: shares become exact numbers of pages."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from parsemark.corpora.latex.synthetic.options import SyntheticOptions
from parsemark.corpora.synthetic.randomness import stream


@dataclass(frozen=True, slots=True)
class PagePlan:
    """What one page must have."""

    tables: int
    rotated: bool = False


@dataclass(frozen=True, slots=True)
class DocumentPlan:
    """What one document must have."""

    name: str
    pages: tuple[PagePlan, ...]
    columns: int
    language: str
    long: bool
    """One table runs over all pages."""


def plan_documents(options: SyntheticOptions) -> list[DocumentPlan]:
    """Documents of one to `options.document_pages` pages that have `options.pages` pages together."""
    rng = stream(options.name, options.seed, "plan")
    long_lengths = _long_lengths(rng, options)
    normal = _normal_pages(rng, options, options.pages - sum(long_lengths))
    bodies: list[tuple[PagePlan, ...]] = []
    while normal:
        length = min(rng.choice([1, 2, 2, 3, 4]), options.document_pages)
        bodies.append(tuple(normal[:length]))
        normal = normal[length:]
    kinds = [(pages, False) for pages in bodies]
    kinds += [((PagePlan(1),) * length, True) for length in long_lengths]
    rng.shuffle(kinds)
    french = _spread(rng, len(kinds), options.french)
    double = _spread(rng, len(kinds), options.double_column)
    return [
        DocumentPlan(
            f"{options.name}-{index + 1:04d}",
            pages,
            2 if double[index] and not long else 1,
            "french" if french[index] else "english",
            long,
        )
        for index, (pages, long) in enumerate(kinds)
    ]


def simpler(plan: DocumentPlan) -> DocumentPlan:
    """As many pages with and without tables, but nothing else that could keep them from being set."""
    pages = tuple(PagePlan(min(page.tables, 1)) for page in plan.pages)
    return replace(plan, pages=pages, columns=1, long=False)


def _long_lengths(rng: random.Random, options: SyntheticOptions) -> list[int]:
    left = round(options.long * options.pages)
    lengths = []
    while left >= 2:
        length = min(left, rng.choice([2, 2, 3]))
        length = length if left - length != 1 else left if left <= 3 else 2
        lengths.append(length)
        left -= length
    return lengths


def _normal_pages(rng: random.Random, options: SyntheticOptions, count: int) -> list[PagePlan]:
    empty = min(count, round(options.empty * options.pages))
    rotated = min(count - empty, round(options.rotated * (options.pages - empty)))
    pages = [PagePlan(0)] * empty + [PagePlan(1, rotated=True)] * rotated
    pages += [PagePlan(rng.choice([1, 1, 2, 2, 3])) for _ in range(count - len(pages))]
    rng.shuffle(pages)
    return pages


def _spread(rng: random.Random, count: int, share: float) -> list[bool]:
    flags = [index < round(share * count) for index in range(count)]
    rng.shuffle(flags)
    return flags
