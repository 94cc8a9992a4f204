"""What the protocols of a run say beside each other: whether they rank its parsers alike, what profiles of
one differ in; and the matrix of features that a protocol may have.
"""

from functools import lru_cache

from parsemark.errors import UsageError
from parsemark.plain_words import UNDEFINED, format_value
from parsemark.protocols import FigureInfo
from parsemark.report.site import ReportPage, Site
from parsemark.report.source import RunSource
from parsemark.verdicts.boards_agreement import SOURCES, BoardAgreement, board_agreement


@lru_cache(maxsize=1)
def _agreement(site: Site) -> BoardAgreement | None:
    """Return how protocols agree; None unless the run was scored by another project's benchmark, too."""
    if len(site.sources) < 2 or not any(map(_is_other_benchmark, site.sources)):
        return None
    try:
        return board_agreement(site.source.run)
    except UsageError:
        return None


def _is_other_benchmark(source: RunSource) -> bool:
    """Return true for protocols of other packages, published profiles, and what `study agreement` has
    scored.
    """
    profile = source.shown.profile
    if source.recipe.serialise == "neutral":
        return True
    return bool(profile and profile.switches) or not type(source.recipe).__module__.startswith("parsemark.")


def _write_boards(site: Site) -> None:
    """Write `boards.html`."""
    found = _agreement(site)
    assert found is not None, "the page is there only where there is something to show"
    titles = {source.summary.protocol: site.title(source) for source in site.sources}
    site.page("boards", template="agreement.html", found=found, titles=titles, sources=SOURCES)


def _write_matrix(site: Site) -> None:
    """Write `matrix.html`: what became of each feature, parser by parser, each cell a link."""
    source = next(source for source in site.sources if "matrix" in source.summary.details)
    shown = {"parsers": source.summary.ordered(), "matrix": source.summary.details["matrix"]}
    site.page("matrix", title=site.title(source), **shown)


def _write_profiles(site: Site) -> None:
    """Write `profiles.html`: what differs between the profiles of a run, and why."""
    sources = site.profiled
    columns = {_column(info): info for s in sources for info in s.summary.shown() if info.main}
    rows = []
    for parser in sorted({p for s in sources for p in s.summary.parsers}):
        for summary in (source.summary for source in sources):
            own = summary.parsers.get(parser, {})
            words = {
                _column(i): format_value(own[i.name].value, i.style) for i in summary.figures if i.name in own
            }
            values = [words.get(column, UNDEFINED) for column in columns]
            rows.append({"parser": parser, "spec": summary.protocol, "values": values})
    named = dict.fromkeys(p for s in sources if (p := s.shown.profile) is not None)
    profiles = [p for p in named if p.switches]
    switches = [
        same for same in zip(*(p.switches for p in profiles), strict=True) if len({s.value for s in same}) > 1
    ]
    site.page(
        "profiles",
        columns=list(columns.values()),
        rows=rows,
        profiles=[p.name for p in profiles],
        switches=switches,
        own_rules=[p for p in named if p.sentence],
    )


def _column(info: FigureInfo) -> tuple[str, str, bool]:
    """Return the meaning of a figure: profiles may use one name for different things."""
    return info.name, info.label, info.higher_is_better


BOARDS = ReportPage(
    "boards",
    _write_boards,
    "Benchmarks",
    under="index",
    is_there=lambda site: _agreement(site) is not None,
)
MATRIX = ReportPage(
    "matrix",
    _write_matrix,
    "Features",
    under="index",
    is_there=lambda site: any("matrix" in source.summary.details for source in site.sources),
)
PROFILES = ReportPage(
    "profiles",
    _write_profiles,
    "Profiles",
    under="index",
    is_there=lambda site: len(site.profiled) > 1,
)
