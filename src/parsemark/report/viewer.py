"""The page viewer: one page of HTML, and a chunk of data for each page of the run."""

from parsemark.corpora.render import corpus_pictures
from parsemark.model import AttributeValue
from parsemark.report.chunks import write_chunk
from parsemark.report.element_lists import write_element_lists
from parsemark.report.page_chunks import write_older_chunks, write_page_chunks
from parsemark.report.page_images import write_images
from parsemark.report.site import ReportPage, Site
from parsemark.report.source import RunSource, value_text
from parsemark.verdicts.error_types import Errors

_PARTS = ("grid", "diffview", "queue", "sheet", "elements", "detail", "beside", "main")
SCRIPTS = (
    "js/download.js",
    *(f"js/diff/{name}.js" for name in ("text", "align", "tables")),
    *(f"js/viewer/{name}.js" for name in _PARTS),
)


def _write(site: Site) -> None:
    """Write `viewer.html`, the list of pages, the lists of elements, and the data of each page."""
    source, errors, images = site.source, site.errors, site.images
    older = site.older.source(source.summary.protocol) if site.older else None
    protocols = [_protocol(s, site.title(s), found) for s, found in zip(site.sources, errors, strict=True)]
    write_chunk(
        site.root, "pages", page_list(source, images) | {"protocols": protocols, "older": _older(older)}
    )
    for k, (of_protocol, found) in enumerate(zip(site.sources, errors, strict=True)):
        write_element_lists(site.root, of_protocol, f"lists/{k}", found, pages=source, parsers=source.parsers)
    if older is not None:
        write_element_lists(site.root, older, "older/lists", Errors(), pages=source, parsers=older.parsers)
        write_older_chunks(site.root, source, older)
    write_page_chunks(site.root, site.sources, site.options, images, [found.explained for found in errors])
    site.page("viewer", scripts=SCRIPTS)


def write_page_images(site: Site) -> set[int]:
    """Write the pictures of the pages; returns the numbers of those that have one."""
    samples, options = site.source.samples, site.options
    if len(samples) > options.max_images:
        return set()
    corpus = site.source.run.manifest.corpus
    without_pdf = set(samples.filter(samples["pdf"].is_null())["sample"])
    pictures = corpus_pictures(corpus.spec, corpus.hash, without_pdf)
    return write_images(site.root, samples, options.image_dpi, pictures)


def page_list(source: RunSource, images: set[int]) -> dict[str, object]:
    """Names and attributes of all pages, column by column."""
    samples = source.samples
    return {
        "id": samples["sample"].to_list(),
        "document": samples["document"].to_list(),
        "page_number": samples["page_number"].to_list(),
        "n_tables": samples["n_tables"].to_list(),
        "images": sorted(images) if len(images) < len(samples) else True,
        "attributes": _columns(list(source.attributes.values())),
        "parsers": [{"name": p.name, "colour": p.colour, "href": p.href} for p in source.parsers],
    }


def _protocol(source: RunSource, title: str, errors: Errors) -> dict[str, object]:
    """What the viewer must know of a protocol: its rules, metrics and types of errors."""
    return {
        "spec": source.summary.protocol,
        "title": title,
        "metric_names": {metric: source.shown.metric_words(metric) for metric in source.metrics},
        "main_metric": source.main_metric,
        "theta": float(source.summary.settings.get("theta", 0)),
        "rule": source.rule,
        "rules": list(source.rules),
        "higher_is_better": source.summary.info(source.primary).higher_is_better,
        "errors": [{"name": kind.name, "label": kind.label} for kind in errors.kinds],
    }


def _older(source: RunSource | None) -> dict[str, object] | None:
    """What the older run is called, and its parsers."""
    if source is None:
        return None
    return {
        "label": f"older run of {source.manifest.created[:10]}",
        "parsers": [{"name": p.name, "colour": p.colour} for p in source.parsers],
        "samples": source.samples["sample"].to_list(),
    }


def _columns(pages: list[dict[str, AttributeValue]]) -> dict[str, dict[str, object]]:
    """Attribute to its values and, for each page, which of them it has (-1: none)."""
    columns: dict[str, dict[str, object]] = {}
    for name in sorted({key for page in pages for key in page}):
        texts = [None if page.get(name) is None else value_text(page[name]) for page in pages]
        values = sorted({t for t in texts if t is not None})
        if len(values) > 30:
            continue
        position = {value: i for i, value in enumerate(values)}
        columns[name] = {"values": list(values), "codes": [-1 if t is None else position[t] for t in texts]}
    return columns


PAGE = ReportPage("viewer", _write, "Pages")
