"""A page as it is at one moment: who has accepted it, what is uncertain, and what a check has changed."""

from dataclasses import dataclass

from parsemark.consensus.starting_page import SURE, Start
from parsemark.model import Page, Sample
from parsemark.web.annotate.differences import ParserDifference, differences, unchanged_cells


@dataclass(frozen=True, slots=True)
class PageState:
    """A page as it is now."""

    sample: Sample
    page: Page
    revision: int  # grows with every change; 0 where nobody has touched the page
    start: Start
    n_edits: int
    accepted: tuple[tuple[str, Page], ...]  # who has said that the page is right, and how it was then
    has_truth: bool = False  # whether files speak of it, though nobody has accepted it here

    @property
    def is_changed(self) -> bool:
        """Whether the last acceptance is older than the last edit."""
        return bool(self.accepted) and self.accepted[-1][1] != self.page

    @property
    def doubts(self) -> dict[str, list[tuple[int, int, float]]]:
        """Cells that the parsers do not agree on and nobody has settled: by another text, or by
        accepting the page. They move with rows and columns that come and go.
        """
        if self.accepted and not self.is_changed:
            return {}
        first = {e.id: e.table for e in self.start.elements if e.table is not None}
        now = {e.id: e.table for e in self.page.elements if e.table is not None}
        found: dict[str, list[tuple[int, int, float]]] = {}
        for name, cells in self.start.agreement.items():
            old, new = first.get(name), now.get(name)
            if old is not None and new is not None:
                same = unchanged_cells(old, new)
                unsure = {place: share for place, share in cells.items() if share < SURE and place in same}
                found[name] = [(*same[place], share) for place, share in unsure.items()]
        return {name: cells for name, cells in found.items() if cells}

    @property
    def check(self) -> list[ParserDifference] | None:
        """What a second person changed of what the first had accepted; None until there is a second."""
        people = list(dict(self.accepted))
        if len(people) < 2:
            return None
        first = next(page for person, page in self.accepted if person == people[0])
        last = self.accepted[-1][1]
        return differences(first, last)
