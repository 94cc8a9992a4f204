"""One chunk of data for each page: its truth, and all that every parser made of it."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from parsemark.errors import StoreError
from parsemark.protocols.presentation import PageViews
from parsemark.protocols.run_data.rows import MAX_DETAILS
from parsemark.report.chunks import cut, prediction_json, write_chunk, write_text_chunk
from parsemark.report.names import page_file
from parsemark.report.search_index import SearchIndex
from parsemark.report.site import ReportOptions
from parsemark.report.source import RunSource
from parsemark.verdicts.error_types import Key

Explained = Mapping[Key, dict[str, Any]]
BATCH = 200
MAX_RAW_CHARACTERS = 100_000
MAX_MESSAGE = 4_000


def write_page_chunks(
    root: Path,
    sources: Sequence[RunSource],
    options: ReportOptions,
    images: set[int],
    explained: Sequence[Explained],
) -> None:
    """Write `data/pages/…`, `data/search/…` and, where the run is small enough, `data/raw/…`. `images`: the
    numbers of the pages that have a picture; `explained`: what explains pairs, for each protocol, as
    `sources`.
    """
    source, index_of_words = sources[0], SearchIndex()
    with_raw = len(source.samples) * len(source.parsers) <= options.max_raw_outputs
    for first, ids in source.batches(BATCH):
        batch = _Batch(sources, ids, explained)
        for offset, sample in enumerate(ids):
            index = first + offset
            page = batch.page_json(sample, index in images, with_raw)
            write_text_chunk(root, f"pages/{page_file(index)}", page)
            index_of_words.add(index, batch.stored(sample))
            if with_raw:
                raw = [batch.raw(sample, parser.name) for parser in source.parsers]
                write_chunk(root, f"raw/{page_file(index)}", raw)
    index_of_words.write(root)


def write_older_chunks(root: Path, source: RunSource, older: RunSource) -> None:
    """Write `data/older/pages/…`: what an older run's parsers made of the pages that both runs have."""
    known = set(older.samples["sample"])
    for first, ids in source.batches(BATCH):
        batch = _Batch([older], ids, [{}])
        for offset, sample in enumerate(ids):
            if sample in known:
                write_text_chunk(root, f"older/pages/{page_file(first + offset)}", batch.parsers_json(sample))


class _Scored:
    """What one protocol says about some neighbouring pages."""

    def __init__(self, source: RunSource, ids: pl.Series, explained: Explained) -> None:
        self.explained = explained
        self.matches = _matches(source.rows_of("matches", ids), source.rules)
        rows = source.rows_of("scores", ids)
        self.scores, self.page_scores, self.details = _scores(rows, source.rules)
        self.found = _found(rows, source.shown.pages)

    def facts(self, sample: str, parser: str) -> dict[str, Any]:
        """Return matches, scores and explanations of one parser on one page."""
        key = (sample, parser)
        matches = self.matches.get(key, {})
        truths = (truth for found in matches.values() for match in found for truth in match[0])
        keys = {truth: (sample, parser, truth) for truth in truths}
        told = {truth: self.explained[k] for truth, k in keys.items() if k in self.explained}
        scores: dict[str, Any] = {
            "scores": self.scores.get(key, {}),
            "page_scores": self.page_scores.get(key, {}),
        }
        scores["details"] = [_details(text) for text in self.details.get(key, ())]
        return {"matches": matches, **scores, "found": self.found.get(key, []), "explained": told}


class _Batch:
    """The rows of some neighbouring pages, by page."""

    def __init__(self, sources: Sequence[RunSource], ids: pl.Series, explained: Sequence[Explained]) -> None:
        self.source = source = sources[0]
        rows = source.rows_of("samples", ids)
        self.samples = {row["sample"]: row for row in rows.iter_rows(named=True)}
        self.predictions, self.parses = (
            {(row["sample"], row["parser"]): row for row in source.rows_of(name, ids).iter_rows(named=True)}
            for name in ("predictions", "parses")
        )
        self.attributes = source.attributes
        self.scored = [_Scored(s, ids, told) for s, told in zip(sources, explained, strict=True)]

    def page_json(self, sample: str, has_image: bool, has_raw: bool) -> str:
        """Return the page as JSON text; stored JSON is passed on without reading it."""
        row = self.samples[sample]
        kept = ("document", "page_number", "width", "height")
        head = {"id": sample, **{key: row[key] for key in kept}, "attributes": self.attributes[sample]}
        head |= {"image": has_image, "raw": has_raw}
        truth = prediction_json(row["truth"]) if row["truth"] else "null"
        return f'{_dump(head)[:-1]},"truth":{truth},"parsers":{self.parsers_json(sample)}}}'

    def parsers_json(self, sample: str) -> str:
        """Return each parser's result for a page, as JSON text."""
        return f"[{','.join(self._parser_json(sample, p.name) for p in self.source.parsers)}]"

    def _parser_json(self, sample: str, parser: str) -> str:
        key = (sample, parser)
        parse, stored = self.parses.get(key), self.predictions.get(key)
        facts = {
            "parse": _parse_facts(parse) if parse else None,
            "scored": [scored.facts(sample, parser) for scored in self.scored],
        }
        prediction = prediction_json(stored["prediction"]) if stored else "null"
        return f'{_dump(facts)[:-1]},"prediction":{prediction}}}'

    def stored(self, sample: str) -> Iterator[str]:
        """Yield the JSON of a page's truth and of all outputs for it."""
        if truth := self.samples[sample]["truth"]:
            yield truth
        rows = (self.predictions.get((sample, parser.name)) for parser in self.source.parsers)
        yield from (row["prediction"] for row in rows if row and row["prediction"])

    def raw(self, sample: str, parser: str) -> dict[str, Any] | None:
        """Return a parser's raw output, as text."""
        parse = self.parses.get((sample, parser))
        if parse is None or not parse["blob"]:
            return None
        try:
            data = self.source.run.raw(parse["blob"])
        except (StoreError, OSError) as error:
            return {"text": f"The raw output cannot be read: {error}", "n_bytes": parse["n_bytes"]}
        text = data[: 4 * MAX_RAW_CHARACTERS].decode("utf-8", "replace")
        return {"text": text[:MAX_RAW_CHARACTERS], "n_bytes": len(data), "blob": parse["blob"]}


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _parse_facts(row: dict[str, Any]) -> dict[str, Any]:
    facts = {
        k: row[k] for k in ("status", "n_bytes", "wall_s", "cpu_s", "peak_memory_mb", "attempts", "cost_usd")
    }
    facts |= {k: cut(row[k], MAX_MESSAGE) for k in ("error", "stderr_tail") if row[k]}
    return {k: v for k, v in facts.items() if v is not None}


def _matches(frame: pl.DataFrame, rules: Sequence[str]) -> dict[tuple[str, str], dict[str, list[Any]]]:
    """Return page and parser to rule to `[truth ids, pred ids, kind, overlap]`."""
    found: dict[tuple[str, str], dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    columns = ("sample", "parser", "rule", "truth", "pred", "kind", "overlap")
    shown = frame.filter(pl.col("rule").is_in(list(rules)))
    for sample, parser, rule, truth, pred, kind, overlap in shown.select(columns).iter_rows():
        shared = None if overlap is None else round(overlap, 4)
        found[sample, parser][rule].append([truth, pred, kind, shared])
    return found


def _scores(
    frame: pl.DataFrame, rules: Sequence[str]
) -> tuple[dict[Any, dict[str, list[Any]]], dict[Any, dict[str, Any]], dict[Any, dict[str, int]]]:
    """Return scores of tables (`rule → [element, pred, metric, value, status, message, number]`), of whole
    pages, and the details that these numbers stand for: several rules have the same ones.

    Status and message are null, and with them all that is null at the end left out, where there is a value.
    """
    tables: dict[Any, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    pages: dict[Any, dict[str, Any]] = defaultdict(dict)
    details: dict[Any, dict[str, int]] = defaultdict(dict)
    place, what = ("sample", "parser", "rule", "element", "pred"), ("metric", "value", "status", "message")
    shown = frame.filter(pl.col("rule").is_in(list(rules)) | (pl.col("element") == ""))
    for sample, parser, rule, element, pred, metric, value, status, message, told in shown.select(
        *place, *what, "details"
    ).iter_rows():
        number = None if value is None else round(value, 4)
        note = cut(message, MAX_MESSAGE) if message else None
        if element == "":
            pages[sample, parser][metric] = {"value": number, "status": status, "message": note}
        else:
            why = [] if status == "ok" else [status, note]
            if _details(told) is not None:
                numbers = details[sample, parser]
                why = [*(why or [None, None]), numbers.setdefault(told, len(numbers))]
            tables[sample, parser][rule].append([element, pred, metric, number, *why])
    return tables, pages, details


def _found(frame: pl.DataFrame, views: PageViews | None) -> dict[tuple[str, str], list[Any]]:
    """Return a protocol's findings by page and parser: `[kind, class, on the page, in the output,
    boxes]`.
    """
    if views is None or views.found is None:
        return {}
    rows: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in frame.filter(pl.col("element") != "").iter_rows(named=True):
        rows[row["sample"], row["parser"]].append(row)
    matches = {key: views.found(own) for key, own in rows.items()}
    return {
        key: [[m.category, m.kind, m.truth, m.pred, [b.as_tuple() for b in m.boxes]] for m in own]
        for key, own in matches.items()
    }


@lru_cache(maxsize=1024)
def _details(text: str | None) -> Any:
    """Return the details of a score as data; a run may come from a bundle, so what is none of ours is left
    out.
    """
    if text is None or len(text) > MAX_DETAILS:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
