"""One run under several profiles of a protocol: the figures side by side, and the switches that differ."""

from __future__ import annotations

from parsemark.protocols import Summary
from parsemark.report.site import Site


def write_profiles(site: Site) -> None:
    """Write `profiles.html` where a run was scored under several profiles: what differs, and why."""
    sources = site.profiled
    if len(sources) < 2:
        return
    names = list(dict.fromkeys(info.name for s in sources for info in s.summary.shown() if info.main))
    labels = {info.name: info.label for s in sources for info in s.summary.figures}
    rows = [
        {
            "parser": parser,
            "spec": source.summary.protocol,
            "values": [_shown(source.summary, parser, name) for name in names],
        }
        for parser in sorted({p for s in sources for p in s.summary.parsers})
        for source in sources
    ]
    profiles = [p for s in sources if (p := s.recipe.named_profile()) is not None and p.switches]
    switches = [
        {"name": same[0].name, "sentence": same[0].sentence, "values": [_word(s.value) for s in same]}
        for same in zip(*(p.switches for p in profiles), strict=True)
        if len({s.value for s in same}) > 1
    ]
    site.page(
        "profiles",
        current="profiles",
        figures=[labels[name] for name in names],
        rows=rows,
        profiles=[p.name for p in profiles],
        switches=switches,
    )


def _shown(summary: Summary, parser: str, name: str) -> str:
    figure = summary.figure(parser, name)
    if figure is None or figure.value is None:
        return "–"
    return f"{figure.value:g}" if summary.info(name).style == "count" else f"{figure.value:.3f}"


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "any" if value is None else str(value)
