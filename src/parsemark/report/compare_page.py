"""Two parsers of a run beside each other, and this run beside an older one."""

from typing import Any

from parsemark.plain_words import DIGITS
from parsemark.report.chunks import write_chunk
from parsemark.report.comparison_text import in_words
from parsemark.report.site import CHART_SCRIPTS, ReportPage, Site
from parsemark.report.source import RunSource, page_values
from parsemark.verdicts.comparison import extent

SHOWN_PAGES = 20


def _write(site: Site) -> None:
    """Write `compare.html` and its data; pages are compared in the browser."""
    source = site.source
    write_chunk(site.root, "compare", {"protocols": [_protocol(s) for s in site.sources]})
    for k, of_protocol in enumerate(site.sources):
        for n, parser in enumerate(source.parsers):
            write_chunk(site.root, f"values/{k}/{n}", page_values(of_protocol, parser.name))
    parsers, protocols = {p.name: p for p in source.parsers}, [site.title(s) for s in site.sources]
    compared = {"best": source.summary.ordered()[:2], "older": site.older, "most_pages": SHOWN_PAGES}
    scripts = (*CHART_SCRIPTS, "js/diff/text.js", "js/compare.js")
    site.page("compare", scripts=scripts, parsers=parsers, protocols=protocols, **compared)


def _protocol(source: RunSource) -> dict[str, Any]:
    infos = source.summary.shown()
    primary = source.summary.info(source.summary.primary)
    columns = [
        {
            **{"key": i.name, "label": i.label, "main": i.main},
            **{"higher_is_better": i.higher_is_better, "digits": DIGITS[i.style]},
        }
        for i in infos
    ]
    return {
        "primary": primary.label,
        "higher_is_better": primary.higher_is_better,
        "top": primary.top or 1.0,
        "columns": columns,
        "figures": {
            parser: {i.name: own[i.name].value for i in infos if i.name in own}
            for parser, own in source.summary.parsers.items()
        },
        "verdicts": [
            {"a": v.a, "b": v.b, "words": in_words(v, primary, extent(source.primary_sums))}
            for v in source.summary.ranking.verdicts
            if source.primary_sums
        ],
    }


PAGE = ReportPage("compare", _write, "Compare")
