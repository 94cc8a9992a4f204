"""The page viewer: one page of HTML, pictures and a chunk of data for each page of the run, and for each
parser the list of all elements, true and invented, that the viewer steps through. What differs between truth
and output is found in the browser (`assets/js/diff`).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from parsemark.corpora.render import corpus_pictures, sample_jpegs
from parsemark.model import AttributeValue
from parsemark.pdf.page_kinds import TRAITS
from parsemark.report.chunks import write_chunk
from parsemark.report.drawing import RunParser
from parsemark.report.names import page_file
from parsemark.report.page_chunks import write_older_chunks, write_page_chunks
from parsemark.report.provenance import known_metadata
from parsemark.report.site import ReportPage, Site
from parsemark.report.source import RunSource, page_values, value_words
from parsemark.system import make_folder
from parsemark.verdicts.error_types import Errors

FRAMES = {"images": (1800, 1800), "thumbnails": (132, 32_000)}  # pixels that pictures have to fit into
KINDS = ("pair", "split", "merge", "many", "miss", "extra", "unsure")
_PARTS = ("search", "grid", "diffview", "queue", "sheet", "elements", "detail", "beside", "dispute", "main")
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
    more = {"protocols": protocols, "older": _older(older)}
    write_chunk(site.root, "pages", page_list(source, images) | more)
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


def write_images(
    root: Path, samples: pl.DataFrame, dpi: int, pictures: Mapping[str, Path] | None = None
) -> set[int]:
    """Write the pictures of all pages; the numbers of those that have one. `pictures`: of samples by id."""
    done: set[int] = set()
    for row in samples.iter_rows(named=True):
        written = sample_jpegs(row, dpi, (pictures or {}).get(row["sample"]), tuple(FRAMES.values()))
        if written is None:
            continue
        done.add(row["page"])
        for folder, data in zip(FRAMES, written, strict=True):
            path = root / folder / f"{page_file(row['page'])}.jpg"
            make_folder(path.parent)
            path.write_bytes(data)
    return done


def page_list(source: RunSource, images: set[int]) -> dict[str, object]:
    """Return names and attributes of all pages, column by column."""
    samples = source.samples
    columns = ("document", "page_number", "n_tables")
    return {
        "id": samples["sample"].to_list(),
        **{name: samples[name].to_list() for name in columns},
        "images": sorted(images) if len(images) < len(samples) else True,
        "attributes": _columns(list(source.attributes.values())),
        "seen": list(TRAITS.values()),
        "corpus": {
            "name": source.corpus,
            "hash": source.manifest.corpus.hash,
            "issues": source.manifest.corpus.issues,
        },
        "parsers": [{"name": p.name, "colour": p.colour, "href": p.href} for p in source.parsers],
    }


def _protocol(source: RunSource, title: str, errors: Errors) -> dict[str, object]:
    """Return the viewer's data on a protocol: its rules, metrics and error types."""
    return {
        "spec": source.summary.protocol,
        "title": title,
        "metric_names": {metric: source.shown.metric_words(metric) for metric in source.metrics},
        "main_metric": source.main_metric,
        "theta": float(source.summary.settings.get("theta", 0)),
        "rule": source.rule,
        "rules": list(source.rules),
        "higher_is_better": source.summary.info(source.summary.primary).higher_is_better,
        "errors": [{"name": kind.name, "label": kind.label} for kind in errors.kinds],
        "best": _two_best(source),
    }


def _two_best(source: RunSource) -> list[int]:
    """Return the numbers of the leader and of the runner-up: whom the viewer opens on."""
    numbers = {parser.name: number for number, parser in enumerate(source.parsers)}
    return [numbers[name] for name in source.summary.ordered()[:2] if name in numbers]


def _older(source: RunSource | None) -> dict[str, object] | None:
    """Return the name of the older run, and its parsers."""
    if source is None:
        return None
    return {
        "label": f"older run of {source.manifest.created[:10]}",
        "parsers": [{"name": p.name, "colour": p.colour} for p in source.parsers],
        "samples": source.samples["sample"].to_list(),
    }


def _columns(pages: list[dict[str, AttributeValue]]) -> dict[str, dict[str, object]]:
    """Return attribute to its values and, for each page, which of them it has (-1: none)."""
    columns: dict[str, dict[str, object]] = {}
    for name in sorted({key for page in pages for key in page}):
        texts = [None if page.get(name) is None else value_words(page[name]) for page in pages]
        values = sorted({t for t in texts if t is not None})
        if len(values) > 30:
            continue
        position = {value: i for i, value in enumerate(values)}
        columns[name] = {"values": list(values), "codes": [-1 if t is None else position[t] for t in texts]}
    return columns


def write_element_lists(
    root: Path,
    source: RunSource,
    folder: str,
    errors: Errors,
    *,
    pages: RunSource,
    parsers: Sequence[RunParser],
) -> None:
    """Write `data/FOLDER/N.js` for parser number N: one entry for each element, and one value for each page.

    `errors` are empty where the lists need none; `pages` is the run by whose pages they are numbered: the
    same one, or a newer one; `parsers` are in the order of their numbers.
    """
    numbers = pages.samples.select("sample", "page")
    for number, parser in enumerate(parsers):
        own = element_table(source, parser.name, numbers)
        parses = source.parses.filter((pl.col("parser") == parser.name) & (pl.col("status") != "ok"))
        failed = numbers.join(parses.select("sample", "status"), on="sample", maintain_order="left")
        entries = {
            "kinds": KINDS,
            **{key: own[key].to_list() for key in ("page", "element")},
            "kind": own["kind_code"].to_list(),
            **{key: own[key].round(4).to_list() for key in ("value", "spread")},
            "errors": _errors(own, errors, parser.name),
            "failed": dict(failed.select("page", "status").iter_rows()),
            "sign": -1 if (sums := source.primary_sums) and not sums.info.higher_is_better else 1,
            "page_value": page_values(source, parser.name, numbers["sample"]),
        }
        write_chunk(root, f"{folder}/{number}", entries)


def element_table(source: RunSource, parser: str, numbers: pl.DataFrame) -> pl.DataFrame:
    """Return one row per element of a parser: page, element, kind, main metric's value, spread over the
    metrics. `numbers`: `sample` and the number of its `page`; those of other samples are left out.
    """
    # Those that lie between 0 and 1 and are better higher can be held against each other.
    told = [(m, known_metadata(m)) for m in source.metrics]
    comparable = [m for m, facts in told if facts and facts.higher_is_better and facts.range[1] == 1]
    known = pl.col("metric").is_in([source.main_metric, *comparable]) & pl.col("value").is_not_null()
    place = ["sample", "element", "pred"]
    compared = pl.col("value").filter(pl.col("metric").is_in(comparable))
    main = pl.col("value").filter(pl.col("metric") == source.main_metric).first()
    by_element = source.scores_of(parser).filter(known).group_by(place, maintain_order=True)
    scores = by_element.agg(value=main, spread=compared.max() - compared.min())
    if source.main_metric in source.shown.lower_is_better:
        scores = scores.with_columns(1 - pl.col("value"))  # lists go from bad to good
    truth, pred = pl.col("truth").list.first(), pl.col("pred").list.first()
    unsure = (pl.col("kind") == "extra") & (pl.col("confidence") <= source.shown.sure_above).fill_null(False)
    kind = pl.when(unsure).then(pl.lit("unsure")).otherwise(pl.col("kind"))
    named = {"element": pl.coalesce(truth, pred), "pred": pl.col("pred").list.join("+"), "kind": kind}
    rows = source.matches.filter(parser=parser).select("sample", **named)
    return (
        rows.join(scores, on=place, how="left", maintain_order="left")
        .join(numbers, on="sample", maintain_order="left")
        .with_columns(kind_code=pl.col("kind").replace_strict(KINDS, range(len(KINDS)), default=0))
        .sort("page", maintain_order=True)
    )


def _errors(own: pl.DataFrame, errors: Errors, parser: str) -> dict[str, list[int]]:
    """Return the type of error to the numbers of the entries that have it."""
    place = ["sample", "element"]
    numbered = own.with_row_index("entry").select(*place, "entry").unique(place, keep="first")
    named = errors.rows.filter(pl.col("parser") == parser).join(numbered, on=place)
    return dict(named.group_by("error").agg(pl.col("entry").unique().sort()).sort("error").iter_rows())


PAGE = ReportPage("viewer", _write, "Pages")
