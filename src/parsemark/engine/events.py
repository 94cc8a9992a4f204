"""What the engine reports to the display of its progress."""

from parsemark.store import ParseRecord


class Events:
    """Receives what happens as work goes on, from several threads. This one ignores all."""

    command: tuple[str, ...] = ()  # that does the work, as it was typed; it is stored with the run

    def planned(self, parser: str, *, n_pages: int, n_done: int) -> None:
        """A parser has `n_pages` pages, of which `n_done` are done already."""

    def apart(self, samples: frozenset[str]) -> None:
        """On these pages parsers are only tried: not answering there is no failure."""

    def installing(self, parser: str, what: str) -> None:
        """A parser's environment is being built."""

    def unusable(self, parser: str, why: str) -> None:
        """A parser cannot be used; all its pages fail."""

    def parsed(self, record: ParseRecord) -> None:
        """A page is done."""

    def scoring(self, *, n_pages: int) -> None:
        """Scoring of so many pages (sample by parser) begins."""

    def scored(self, n_pages: int) -> None:
        """So many more pages are scored."""

    def note(self, text: str) -> None:
        """Something the user should know."""
