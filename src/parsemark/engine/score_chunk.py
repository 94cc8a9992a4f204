"""Scores a few pages: what one task of the scoring stage does, in a process of its own."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from parsemark.corpora.render import page_text
from parsemark.errors import CorpusError, StoreError
from parsemark.formats.model_json import page_from_json, prediction_to_json
from parsemark.model import Page, Prediction, Sample, Status
from parsemark.parsers import read_raw
from parsemark.protocols.base import PAGE_LEVEL, PageProtocol, PageScores, ScoreRow, get_protocol
from parsemark.store import Run, schema_of
from parsemark.store.blobs import BlobStore
from parsemark.store.schemas import PROTOCOL_TABLES, SORT_KEYS
from parsemark.system import make_folder, replacing
from parsemark.version import __version__


@dataclass(frozen=True, slots=True)
class Output:
    """What one parser left of a page: a blob, or a status that says why there is none."""

    parser: str
    status: Status
    blob: str | None
    error: str | None


@dataclass(frozen=True, slots=True)
class PageTask:
    """A page and what parsers made of it."""

    sample: str
    pdf: str | None
    number: int
    truth: str | None
    outputs: tuple[Output, ...]
    text: str | None = None
    """The page's text layer, where it is known without the PDF."""
    lost: str | None = None
    """Why the page cannot be scored, where an earlier try ended its process."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some pages, scored together."""

    run: Path
    protocols: tuple[str, ...]
    pages: tuple[PageTask, ...]

    @property
    def key(self) -> str:
        """Identity of the work: what is scored, by which protocols of which version, into which columns.

        Parts that an older parsemark has left behind are of another identity, and are made anew.
        """
        columns = [(table, *schema_of(table)) for table in ("predictions", *PROTOCOL_TABLES)]
        identity = repr((__version__, self.protocols, columns, self.pages))
        return hashlib.sha256(identity.encode()).hexdigest()[:32]

    @property
    def n_outputs(self) -> int:
        """How many outputs are scored."""
        return sum(len(page.outputs) for page in self.pages)

    def part(self, table: str, protocol: str | None = None) -> Path:
        """Where the rows of this chunk lie until they are put together."""
        number = "" if protocol is None else f".{self.protocols.index(protocol)}"
        return self.run / "parts" / f"{self.key}.{table}{number}.parquet"

    def parts(self) -> list[Path]:
        """All its part files."""
        own = [self.part(table, protocol) for protocol in self.protocols for table in PROTOCOL_TABLES]
        return [self.part("predictions"), *own]

    def is_done(self) -> bool:
        """Whether it was scored before, perhaps by a run that was killed."""
        return all(part.exists() for part in self.parts())

    def split(self) -> Iterator[Chunk]:
        """The same work in the smallest pieces."""
        for page in self.pages:
            for output in page.outputs:
                yield replace(self, pages=(replace(page, outputs=(output,)),))

    def given_up(self, reason: str) -> Chunk:
        """The same pages, to be recorded as impossible to score."""
        return replace(self, pages=tuple(replace(page, lost=reason) for page in self.pages))


def score_chunk(chunk: Chunk) -> None:
    """Score the pages of a chunk and write the rows to its part files."""
    recipes = {spec: get_protocol(spec) for spec in chunk.protocols}
    blobs = BlobStore(chunk.run / "raw")
    predictions: list[Prediction] = []
    found = {spec: PageScores() for spec in recipes}
    for page in chunk.pages:
        truth = None if page.truth is None else page_from_json(json.loads(page.truth))
        text = None if page.lost else _text_layer(page)
        for output in page.outputs:
            prediction = _read(page, output, blobs)
            predictions.append(prediction)
            for spec, recipe in recipes.items():
                scores = _score(recipe, truth, prediction, text)
                found[spec].matches.extend(scores.matches)
                found[spec].scores.extend(scores.scores)
    _write_part(chunk.part("predictions"), "predictions", [_prediction_row(p) for p in predictions])
    for spec, own in found.items():
        for table, rows in (("matches", own.matches), ("scores", own.scores)):
            _write_part(
                chunk.part(table, spec),
                table,
                ({c: getattr(row, c) for c in schema_of(table)} for row in rows),
            )


def write_predictions(run: Run) -> None:
    """Read the raw outputs of a run into its table of predictions, without scoring anything."""
    rows = []
    for record in run.records():
        if record.blob is None:
            read = Prediction(record.sample, record.parser, record.status, message=record.error)
        else:
            read = read_raw(run.raw(record.blob), record.sample, record.parser)
        rows.append(_prediction_row(read))
    run.write_table("predictions", pl.DataFrame(rows, schema=schema_of("predictions")))


def _read(page: PageTask, output: Output, blobs: BlobStore) -> Prediction:
    if page.lost is not None:
        why = f"This page could not be scored: {page.lost}."
        return Prediction(page.sample, output.parser, Status.METRIC_FAILED, message=why)
    if output.blob is None:
        return Prediction(page.sample, output.parser, output.status, message=output.error)
    try:
        raw = blobs.get(output.blob)
    except StoreError as error:
        blobs.discard(output.blob)
        why = f"{error} It is removed now; the next run parses the page again."
        return Prediction(page.sample, output.parser, Status.PARSER_FAILED, message=why)
    return read_raw(raw, page.sample, output.parser)


def _text_layer(page: PageTask) -> str | None:
    """The page's text; None for a page without a text layer, of which nothing can be said to be invented."""
    if page.pdf is None:
        return page.text or None
    with contextlib.suppress(CorpusError, OSError):
        return page_text(Sample(page.sample, "", page.number, None, Path(page.pdf))) or None
    return None


def _score(
    protocol: PageProtocol, truth: Page | None, prediction: Prediction, text: str | None
) -> PageScores:
    try:
        return protocol.score_page(truth, prediction, text)
    except Exception as error:  # the engine's boundary: a metric's failure on one page is data
        why = f"The protocol failed on this page: {error!r}"[:2000]
    failed = replace(prediction, status=Status.METRIC_FAILED, elements=(), message=why)
    try:
        return protocol.score_page(truth, failed, None)
    except Exception:  # it cannot even say that it failed: that is said in its place
        place = prediction.sample, PAGE_LEVEL, "", "", PAGE_LEVEL, prediction.parser
        return PageScores(scores=[ScoreRow(*place, protocol.name, None, Status.METRIC_FAILED, why)])


def _prediction_row(prediction: Prediction) -> dict[str, Any]:
    text = json.dumps(prediction_to_json(prediction), ensure_ascii=False)
    clean = text.encode("utf-8", "replace").decode()  # lone surrogates have no place in a Parquet file
    return {
        "sample": prediction.sample,
        "parser": prediction.parser,
        "status": str(prediction.status),
        "message": prediction.message,
        "prediction": clean,
    }


def _write_part(path: Path, table: str, rows: Iterable[dict[str, Any]]) -> None:
    schema = schema_of(table)
    listed = list(rows)
    columns = {column: [_plain(row[column]) for row in listed] for column in schema}
    frame = pl.DataFrame(columns, schema=schema).sort(SORT_KEYS[table], maintain_order=True)
    make_folder(path.parent.parent, path.parent.name)
    with replacing(path) as temporary:
        frame.write_parquet(temporary)


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return list(value) if isinstance(value, tuple) else value
