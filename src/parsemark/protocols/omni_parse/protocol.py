"""The recipe: its options and figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from parsemark.model import Page, Prediction
from parsemark.protocols.contract import PageProtocol
from parsemark.protocols.figures import FigureInfo, FigureSums
from parsemark.protocols.presentation import Presentation
from parsemark.protocols.rows import PageScores
from parsemark.protocols.run_tables import RunTables

HEADLINE = FigureInfo(
    name="headline",
    label="Headline",
    definition="Mean of the shares of tests that pass in the families text, tables and layout.",
    denominator="all tests",
    main=True,
)


@dataclass(frozen=True)
class OmniParseProtocol(PageProtocol):
    """Every test of Omni Parse Bench is passed or not; the headline is the mean of the families' shares.

    Args:
        unsupported_left_out: Tests of layout do not count for a parser that gives no places of blocks, and it
            has no headline then, as upstream has it; else they are not passed.
    """

    name: ClassVar[str] = "omni-parse"
    title: ClassVar[str] = "Omni Parse Bench: yes/no tests on pages"
    comparability: ClassVar[int] = 1
    reads_facts: ClassVar[bool] = True

    unsupported_left_out: bool = True

    def score_page(
        self, truth: Page | None, prediction: Prediction, page_text: str | None = None
    ) -> PageScores:
        """Decide the facts of one page; see `page.py`."""
        from parsemark.protocols.facts.scoring import facts_of, nothing_to_ask
        from parsemark.protocols.omni_parse.page import score_facts
        from parsemark.protocols.omni_parse.rules import RULES

        facts = facts_of(truth, RULES)
        if truth is None or not facts:
            return nothing_to_ask(prediction, "facts")
        return score_facts(facts, truth, prediction, unsupported_left_out=self.unsupported_left_out)

    def figure_sums(self, tables: RunTables) -> list[FigureSums]:
        """The headline, its families and the kinds of tests."""
        from parsemark.protocols.aggregate import run_sums
        from parsemark.protocols.facts.scoring import FactTotals

        families, kinds = FactTotals.of(tables), FactTotals.of(tables, "category")
        return [
            families.share(HEADLINE, families.groups, complete=True),
            *(families.share(_info("family", name, main=True), [name]) for name in families.groups),
            *(kinds.share(_info("kind", name), [name]) for name in kinds.groups),
            families.untried(),
            *run_sums(tables),
        ]

    def presentation(self) -> Presentation:
        """Show facts page by page, and write the board's files; see `facts/views.py` and `exports.py`."""
        from parsemark.protocols.facts.views import fact_views
        from parsemark.protocols.omni_parse.exports import result_files

        return Presentation(pages=fact_views(self.score_page, HEADLINE.name), result_files=result_files)


def _info(scope: str, name: str, *, main: bool = False) -> FigureInfo:
    label = name.replace("_", " ")
    return FigureInfo(
        name=f"{scope}.{name}",
        label=label[:1].upper() + label[1:],
        definition=f"Share of the tests of the {scope} {label} that pass.",
        denominator=f"tests of the {scope}",
        main=main,
    )
