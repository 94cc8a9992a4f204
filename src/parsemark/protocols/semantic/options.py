"""The options of `semantic`, apart from the protocol: `page.py` and `figures.py` need them and no more."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from parsemark.errors import UsageError
from parsemark.protocols.contract import PageProtocol

READER = "reader"
NGRAMS = "ngrams"


@dataclass(frozen=True)
class SemanticOptions(PageProtocol):
    """Each table of the truth gets a score from 0 to 10 for what answers it; a missed one gets 0.

    Args:
        judge: `reader`, or a language model: `openai(model=…)`.
        match: `ngrams`, or a language model that locates tables in the output: `openai(model=…)`.
        max_cost: Most US dollars that scoring may spend on language models; 0 for no limit.
        concurrency: Questions at a time, in each process that scores.
    """

    name: ClassVar[str] = "semantic"
    title: ClassVar[str] = "Semantic table extraction"
    comparability: ClassVar[int] = 4
    needs_only_pages: ClassVar[bool] = True
    figures_by_kind: ClassVar[Mapping[str, str]] = {"tables": "semantic"}
    table_matching: ClassVar[str] = "ngrams"

    judge: str = READER
    match: str = NGRAMS
    max_cost: float = 0.0
    concurrency: int = 8

    def __post_init__(self) -> None:
        from parsemark.judges import get_judge

        for option, fixed in ((self.judge, READER), (self.match, NGRAMS)):
            if option != fixed:
                get_judge(option)  # a wrong one is refused before anything is parsed
        if self.max_cost < 0 or not 1 <= self.concurrency <= 512:
            raise UsageError("max_cost of 'semantic' must be at least 0, and concurrency from 1 to 512.")

    @property
    def asks(self) -> bool:
        """Return whether a language model is asked."""
        return self.judge != READER or self.match != NGRAMS
