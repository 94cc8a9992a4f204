"""The matrix of a protocol that has one: what became of each feature, parser by parser, each cell a link."""

from typing import Any

from parsemark.report.names import viewer_link
from parsemark.report.site import ReportPage, Site


def _write(site: Site) -> None:
    """Write `matrix.html`."""
    source = next(source for source in site.sources if "matrix" in source.summary.details)
    matrix, parsers = source.summary.details["matrix"], source.summary.ordered()
    site.page(
        "matrix",
        title=site.title(source),
        parsers=parsers,
        makers=matrix["makers"],
        states=matrix["states"],
        rows=[
            (row["title"], [_cells(row, matrix["makers"], matrix["cells"][p][number], p) for p in parsers])
            for number, row in enumerate(matrix["rows"])
        ],
    )


def _cells(
    row: dict[str, Any], makers: list[str], verdicts: dict[str, str], parser: str
) -> list[tuple[str, str, str]]:
    """Maker, verdict and link of each page that shows a feature; no verdict where a maker has none."""
    return [(m, verdicts.get(m, ""), viewer_link(page=row["pages"].get(m), parser=parser)) for m in makers]


PAGE = ReportPage(
    "matrix",
    _write,
    "Features",
    is_there=lambda site: any("matrix" in source.summary.details for source in site.sources),
)
