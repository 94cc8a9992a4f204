"""Whether the protocols of a run rank its parsers alike, and what it comes from where they do not."""

from functools import lru_cache

from parsemark.errors import UsageError
from parsemark.report.site import ReportPage, Site
from parsemark.verdicts.boards_agreement import SOURCES, BoardAgreement, board_agreement


@lru_cache(maxsize=1)
def _agreement(site: Site) -> BoardAgreement | None:
    """What there is to show; None where too few protocols or parsers are there to be compared."""
    if len(site.sources) < 2:
        return None
    try:
        return board_agreement(site.source.run)
    except UsageError:
        return None


def _write(site: Site) -> None:
    """Write `boards.html`."""
    found = _agreement(site)
    assert found is not None, "the page is there only where there is something to show"
    site.page(
        "boards",
        template="agreement.html",
        found=found,
        titles={source.summary.protocol: site.title(source) for source in site.sources},
        sources=SOURCES,
        means=found.mean_shares(),
    )


PAGE = ReportPage("boards", _write, "Boards", is_there=lambda site: _agreement(site) is not None)
