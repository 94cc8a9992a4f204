"""What benchmarks have in common that give each page a few numbers and take means of them."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from parsemark.errors import FormatError
from parsemark.model import Page, Prediction, Status
from parsemark.plain_words import counted
from parsemark.protocols import (
    PAGE_LEVEL,
    BoardRun,
    FigureInfo,
    FigureSums,
    Files,
    PageProtocol,
    PageScores,
    Presentation,
    RunTables,
    ScoreRow,
    Summary,
    as_json,
    read_figures,
)
from parsemark_boards.truth_model import benchmark_rules

Measures = Mapping[str, float | list[float] | Mapping[str, float | None] | None]
UNREADABLE = "the benchmark cannot read the truth of this page"


class LeftOutError(ValueError):
    """A page that the benchmark itself drops from its means."""


class UnreadableTruthError(ValueError):
    """A page whose elements make no truth that the benchmark can read: no parser is charged for it."""


@contextmanager
def reading_truth() -> Iterator[None]:
    """Read elements as a benchmark does; what fails inside is the fault of the truth."""
    try:
        with benchmark_rules():
            yield
    except ValueError as error:
        raise UnreadableTruthError(str(error)) from error


def own_truth(page: Page, key: str) -> Any:
    """Return truth in the benchmark's own form, which was validated when the page was loaded, or None."""
    return None if page.annotation is None else page.annotation.get(key)


@dataclass(frozen=True)
class MeasuredProtocol(PageProtocol):
    """Measures of pages by the rules of a benchmark, and their means over the pages that have them.

    A page without output is measured as an empty one.
    """

    needs_only_pages: ClassVar[bool] = True
    upstream: ClassVar[str]
    """Commit or package whose rules it repeats."""

    @property
    def rules_version(self) -> str:
        """Commit or package whose rules are applied, for leaderboards and bundles."""
        return self.upstream

    @cached_property
    def infos(self) -> Sequence[FigureInfo]:
        """Return the metadata of the figures; the one that ranks comes first."""
        return tuple(read_figures(package_of(self)).values())

    @abstractmethod
    def measure(self, truth: Page, prediction: Prediction) -> Measures | None:
        """Return the measures of a page by name; None for missing measures, or if the page has none at all.

        A measure that pages have several times, once for each table, is a list, or a mapping of names.

        Raises:
            LeftOutError: The benchmark drops the page.
            UnreadableTruthError: Its truth cannot be read.
            ValueError, FormatError: The benchmark's rules fail on it, or it is too large: it scores 0.
        """

    def score_page(
        self, truth: Page | None, prediction: Prediction, page_text: str | None = None
    ) -> PageScores:
        """Measure one page."""
        names = [info.name for info in self.infos]
        values: Measures = {}
        status, why = Status.NO_TRUTH, None
        if prediction.status is Status.METRIC_FAILED:
            status, why = prediction.status, prediction.message
        elif truth is not None:
            try:
                values = self.measure(truth, prediction) or {}
            except UnreadableTruthError as error:
                why = f"{UNREADABLE}: {error}"
            except LeftOutError as error:
                why = f"left out, as the benchmark does it: {error}"
            except (ValueError, FormatError) as error:
                values, why = dict.fromkeys(names, 0.0), f"worth nothing: {error}"
        rows = []
        for name in names:
            value = values.get(name)
            if isinstance(value, list):
                value = {str(number): one for number, one in enumerate(value, 1)}
            for part, one in (value if isinstance(value, Mapping) else {PAGE_LEVEL: value}).items():
                row = ScoreRow.of_page(prediction, name, one, status if one is None else Status.OK, why)
                rows.append(replace(row, element=part))
        return PageScores(scores=rows)

    def result_files(self, board: BoardRun) -> Files:
        """Return the numbers of each parser; benchmarks that have files of their own write those."""
        for parser in board.parsers:
            yield f"{parser}_scores.json", as_json(board.figures(parser))

    def presentation(self) -> Presentation:
        """Write the benchmark's files."""
        return Presentation(result_files=self.result_files)

    def summary_of(self, tables: RunTables, sums: Sequence[FigureSums], **parts: Any) -> Summary:
        """Return the summary, with the version of the rules, and a note on truth that cannot be read."""
        parts["settings"] = {"rules": self.rules_version, **parts.get("settings", {})}
        return super().summary_of(tables, sums, **{"notes": _unreadable_notes(tables), **parts})

    def figure_sums(self, tables: RunTables) -> list[FigureSums]:
        """Return means over pages, or over what pages have several of."""
        import polars as pl

        from parsemark.protocols.run_scores.aggregate import mean_sums, run_sums

        columns = ("sample", "parser", "element", "status", "value")
        rows = [tables.read("scores", *columns, where=pl.col("metric") == info.name) for info in self.infos]
        means = [mean_sums(i, own, "value", tables) for i, own in zip(self.infos, rows, strict=True)]
        return [*means, *run_sums(tables)]

    def mean_of_means(self, parts: Sequence[FigureSums]) -> FigureSums:
        """Return the mean of some of its figures, which `figures.toml` has apart."""
        from parsemark.protocols.run_scores.aggregate import mean_of_figures

        [info] = read_figures(package_of(self), "of_means").values()
        return mean_of_figures(info, parts)


def package_of(protocol: PageProtocol) -> str:
    """Return the package of a benchmark, in which `figures.toml` and `labels.toml` lie."""
    return type(protocol).__module__.rpartition(".")[0]


def _unreadable_notes(tables: RunTables) -> list[str]:
    """Return notes on pages whose elements make no truth for the benchmark."""
    import polars as pl

    lost = tables.read("scores", "sample", "message", where=pl.col("message").str.starts_with(UNREADABLE))
    if not len(lost):
        return []
    sample, message = lost.sort("sample").row(0)
    pages = counted(lost["sample"].n_unique(), "page")
    return [
        f"The truth of {pages} cannot be read and counts for no parser. The first is {sample}: {message}."
    ]
