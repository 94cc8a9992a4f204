"""What the engine reports to the display of its progress."""

from parsemark.store import ParseRecord


class Events:
    """Receives what happens as work goes on, from several threads. This one ignores all."""

    command: tuple[str, ...] = ()  # that does the work, as it was typed; it is stored with the run

    def planned(self, parser: str, *, n_pages: int, n_done: int) -> None:
        """Report that a parser has `n_pages` pages, of which `n_done` are done already."""

    def apart(self, samples: frozenset[str]) -> None:
        """Note that parsers are only tried on these pages: not answering there is no failure."""

    def installing(self, parser: str, what: str) -> None:
        """Report that a parser's environment is being built."""

    def unusable(self, parser: str, why: str) -> None:
        """Report that a parser cannot be used; all its pages fail."""

    def parsed(self, record: ParseRecord) -> None:
        """Report that a page is done."""

    def scoring(self, *, n_pages: int) -> None:
        """Scoring of so many pages (sample by parser) begins."""

    def scored(self, n_pages: int) -> None:
        """Report that a number of further pages is scored."""

    def note(self, text: str) -> None:
        """Report something the user should know."""
