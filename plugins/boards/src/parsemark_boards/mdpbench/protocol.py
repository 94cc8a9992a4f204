"""MDPBench: pages by OmniDocBench v1.5, with a score for each page and means by language and capture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from parsemark.protocols import (
    BoardRun,
    FigureInfo,
    FigureSums,
    Files,
    Presentation,
    RunTables,
    Slice,
    as_json,
)
from parsemark_boards.omnidocbench_pages import PARTS, OmniDocBenchPages, attribute_of_pages, mean_of

if TYPE_CHECKING:
    import polars as pl

LATIN = ("DE", "EN", "ES", "FR", "ID", "IT", "NL", "PT", "VI")
NON_LATIN = ("AR", "HI", "JP", "KO", "RU", "TH", "ZH", "ZH-T")
LANGUAGE, CAPTURE = "mdpbench_language", "mdpbench_capture"  # attributes of pages


def language_of(page: str) -> str:
    """Return the language of a page: its id up to the first "_"."""
    return page.partition("_")[0].upper()


def capture_of(page: str) -> str:
    """Return `digital` for a page id with exactly three parts that are not empty, else `photo`."""
    return "digital" if len([part for part in page.split("_") if part]) == 3 else "photo"


@dataclass(frozen=True)
class MdpBenchProtocol(OmniDocBenchPages):
    """Pages in seventeen languages, digital and photographed, as MDPBench scores them."""

    name: ClassVar[str] = "mdpbench"
    title: ClassVar[str] = "MDPBench: pages in seventeen languages"
    comparability: ClassVar[int] = 1
    profile: ClassVar[str] = "v1.5"
    upstream: ClassVar[str] = "MDPBench of 28 April 2026"

    def means(
        self, tables: RunTables, rows: pl.DataFrame, measures: Mapping[str, FigureSums]
    ) -> list[FigureSums]:
        """Overall, and the means of digital, photographed, Latin and non-Latin pages."""
        import polars as pl

        from parsemark.protocols.run_scores.aggregate import mean_sums

        scores = page_scores(rows.filter(pl.col("metric").is_in(list(measures))))
        found = [mean_sums(self.info("overall", measures), scores, "value", tables)]
        captures = attribute_of_pages(tables, CAPTURE)
        for capture in ("digital", "photo"):
            own = scores.filter(
                pl.col("sample").is_in([s for s, kind in captures.items() if kind == capture])
            )
            if len(own):
                found.append(mean_sums(self.info(capture, measures), own, "value", tables))
        languages = attribute_of_pages(tables, LANGUAGE)
        for name, group in (("latin", LATIN), ("non_latin", NON_LATIN)):
            if any(language in group for language in languages.values()):
                found.append(_by_language(self.info(name, measures), found[0], languages, group))
        return found

    def presentation(self) -> Presentation:
        """Write the benchmark's printed scores."""
        return Presentation(result_files=self.result_files)

    def result_files(self, board: BoardRun) -> Files:
        """The numbers of each parser, and those of languages as the benchmark prints them."""
        for parser in board.parsers:
            printed = published_scores(board.summary.slices, parser)
            yield f"{parser}_scores.json", as_json({"figures": board.figures(parser), **printed})


def page_scores(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the score of each page: the mean of the measures that it has, edits as one minus themselves."""
    import polars as pl

    turned = pl.col("metric").is_in([name for name, is_turned in PARTS.items() if is_turned])
    value = pl.when(turned).then(1 - pl.col("value")).otherwise(pl.col("value"))
    return rows.group_by("sample", "parser", maintain_order=True).agg(value.mean().alias("value"))


def _by_language(
    info: FigureInfo, scores: FigureSums, languages: Mapping[str, str], group: tuple[str, ...]
) -> FigureSums:
    """Return the mean of the scores of languages."""
    parts = []
    for language in dict.fromkeys(languages[s] for s in scores.samples if languages.get(s) in group):
        keep = np.array([languages.get(sample) == language for sample in scores.samples])
        sums = {parser: pages * keep[:, None] for parser, pages in scores.sums.items()}
        parts.append(replace(scores, sums=sums))
    return mean_of(parts, info, complete=False)


def published_scores(slices: Sequence[Slice], parser: str) -> dict[str, dict[str, float]]:
    """Return the scores of languages as percentages with one decimal, and their averages.

    Averages are means of the rounded scores, as upstream has them.
    """
    languages = {}
    for part in slices:
        figure = part.figures.get(parser, {}).get("overall") if part.attribute == LANGUAGE else None
        if figure is not None and figure.value is not None:
            languages[part.value] = round(100 * figure.value, 1)
    averages = {}
    for name, group in (("latin", LATIN), ("non_latin", NON_LATIN)):
        if own := [score for language, score in languages.items() if language in group]:
            averages[name] = round(fmean(own), 1)
    return {"languages": languages, "averages": averages}
