"""One run under several profiles of a protocol: the figures side by side, and the switches that differ."""

from parsemark.plain_words import UNDEFINED, format_value
from parsemark.protocols import FigureInfo, Summary
from parsemark.report.site import ReportPage, Site


def _write(site: Site) -> None:
    """Write `profiles.html`: what differs between the profiles of a run, and why."""
    sources = site.profiled
    columns = {_column(info): info for s in sources for info in s.summary.shown() if info.main}
    rows = [
        {
            "parser": parser,
            "spec": source.summary.protocol,
            "values": [_figure_words(source.summary, parser, column) for column in columns],
        }
        for parser in sorted({p for s in sources for p in s.summary.parsers})
        for source in sources
    ]
    named = dict.fromkeys(p for s in sources if (p := s.shown.profile) is not None)
    profiles = [p for p in named if p.switches]
    switches = [
        {"name": same[0].name, "sentence": same[0].sentence, "values": [_word(s.value) for s in same]}
        for same in zip(*(p.switches for p in profiles), strict=True)
        if len({s.value for s in same}) > 1
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
    """What a figure means: what profiles call by one name may be different things."""
    return info.name, info.label, info.higher_is_better


def _figure_words(summary: Summary, parser: str, column: tuple[str, str, bool]) -> str:
    info = next((i for i in summary.figures if _column(i) == column), None)
    figure = None if info is None else summary.figure(parser, info.name)
    return UNDEFINED if info is None or figure is None else format_value(figure.value, info.style)


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "any" if value is None else str(value)


PAGE = ReportPage("profiles", _write, "Profiles", is_there=lambda site: len(site.profiled) > 1)
