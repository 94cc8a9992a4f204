"""Decides, before anything is made, which traits each page has: shares become exact numbers of pages."""

import hashlib
import random
from dataclasses import dataclass, field, replace

from parsemark.corpora.making import require_name
from parsemark.corpora.synthetic.looks import LINE_STYLES
from parsemark.errors import UsageError

MOST_TABLES = 8


def stream(*identity: str | int) -> random.Random:
    """A generator seeded by what it is for: the same identity gives the same numbers on every machine.

    One for each concern, so that a change in one place leaves the others as they were.
    """
    digest = hashlib.sha256(":".join(map(str, identity)).encode()).digest()
    return random.Random(int.from_bytes(digest[:16], "big"))


def require_pages(pages: int) -> None:
    """Raise UsageError unless there is a page to make."""
    if pages < 1:
        raise UsageError(f"A corpus needs at least one page, not {pages}.")


@dataclass(frozen=True)
class PlanOptions:
    """How many pages, and the share of each trait among them."""

    pages: int
    seed: int = 0
    name: str = "synthetic"
    empty: float = 0.3  # share of pages without any table
    double_column: float = 0.35
    french: float = 0.25
    rotated: float = 0.1  # share of pages with tables that have a table turned by ±90°
    long: float = 0.08  # share of pages that belong to a table which runs over pages
    document_pages: int = 4
    """The most pages that one document has, long tables apart. Documents of one page are independent."""
    tables_per_page: float | None = None
    """Mean number of tables on pages that have any, turned and long ones apart; None draws one to three."""
    lines: dict[str, float] = field(
        default_factory=lambda: {"full": 0.25, "booktabs": 0.4, "partial": 0.2, "none": 0.15}
    )
    """Weight of each style of lines."""

    def __post_init__(self) -> None:
        require_name(self.name)
        require_pages(self.pages)
        if self.document_pages < 1:
            raise UsageError(f"A document needs at least one page, not {self.document_pages}.")
        for key in ("empty", "double_column", "french", "rotated", "long"):
            if not 0 <= getattr(self, key) <= 1:
                raise UsageError(f"The share {key} must lie between 0 and 1, not {getattr(self, key)}.")
        if self.tables_per_page is not None and not 1 <= self.tables_per_page <= MOST_TABLES:
            raise UsageError(
                f"Pages with tables have 1 to {MOST_TABLES} of them, not {self.tables_per_page}."
            )
        unknown = sorted(set(self.lines) - set(LINE_STYLES))
        if unknown or sum(self.lines.values()) <= 0 or min(self.lines.values()) < 0:
            raise UsageError(f"Weights of the line styles {', '.join(LINE_STYLES)} cannot be {self.lines}.")


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
    long: bool  # one table runs over all pages


def plan_documents(options: PlanOptions) -> list[DocumentPlan]:
    """Documents of one to `options.document_pages` pages that have `options.pages` pages together."""
    rng = stream(options.name, options.seed, "plan")
    long_lengths = _long_lengths(rng, options)
    normal = _normal_pages(rng, options, options.pages - sum(long_lengths))
    kinds: list[tuple[tuple[PagePlan, ...], bool]] = []
    while normal:
        length = min(rng.choice([1, 2, 2, 3, 4]), options.document_pages)
        kinds.append((tuple(normal[:length]), False))
        normal = normal[length:]
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


def _long_lengths(rng: random.Random, options: PlanOptions) -> list[int]:
    left = round(options.long * options.pages)
    lengths = []
    while left >= 2:
        length = min(left, rng.choice([2, 2, 3]))
        length = length if left - length != 1 else left if left <= 3 else 2
        lengths.append(length)
        left -= length
    return lengths


def _normal_pages(rng: random.Random, options: PlanOptions, count: int) -> list[PagePlan]:
    empty = min(count, round(options.empty * options.pages))
    rotated = min(count - empty, round(options.rotated * (options.pages - empty)))
    pages = [PagePlan(0)] * empty + [PagePlan(1, rotated=True)] * rotated
    pages += [PagePlan(tables) for tables in _tables(rng, options.tables_per_page, count - len(pages))]
    rng.shuffle(pages)
    return pages


def _tables(rng: random.Random, mean: float | None, count: int) -> list[int]:
    """Tables of each page that has some: one to three, or so many that their mean is as asked."""
    if mean is None:
        return [rng.choice([1, 1, 2, 2, 3]) for _ in range(count)]
    wanted = round(mean * count)
    return [wanted // count + (index < wanted % count) for index in range(count)]


def _spread(rng: random.Random, count: int, share: float) -> list[bool]:
    flags = [index < round(share * count) for index in range(count)]
    rng.shuffle(flags)
    return flags
