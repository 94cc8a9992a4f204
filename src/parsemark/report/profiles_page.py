"""One run under several profiles of a protocol: the figures side by side, and the switches that differ."""

from __future__ import annotations

from dataclasses import dataclass

from parsemark.plain_words import UNDEFINED, format_value
from parsemark.protocols import FigureInfo, Summary
from parsemark.report.site import ReportPage, Site


@dataclass(frozen=True, slots=True)
class FigureColumn:
    """A figure of one meaning: what profiles call by one name may be different things."""

    name: str
    label: str
    higher_is_better: bool

    @classmethod
    def of(cls, info: FigureInfo) -> FigureColumn:
        """The column that a figure belongs to."""
        return cls(info.name, info.label, info.higher_is_better)


def _write(site: Site) -> None:
    """Write `profiles.html`: what differs between the profiles of a run, and why."""
    sources = site.profiled
    infos = [info for s in sources for info in s.summary.shown() if info.main]
    columns = list(dict.fromkeys(map(FigureColumn.of, infos)))
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
        current="profiles",
        columns=columns,
        rows=rows,
        profiles=[p.name for p in profiles],
        switches=switches,
        own_rules=[p for p in named if p.sentence],
    )


def _figure_words(summary: Summary, parser: str, column: FigureColumn) -> str:
    info = next((i for i in summary.figures if FigureColumn.of(i) == column), None)
    figure = None if info is None else summary.figure(parser, info.name)
    return UNDEFINED if info is None or figure is None else format_value(figure.value, info.style)


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "any" if value is None else str(value)


PAGE = ReportPage("profiles", _write, "Profiles", is_there=lambda site: len(site.profiled) > 1)
