"""Scores a few pages: what one task of the scoring stage does, in a process of its own."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from parsemark.corpora.render import page_text
from parsemark.errors import CorpusError, StoreError
from parsemark.formats import neutral
from parsemark.formats.model_json import page_from_json, prediction_to_json
from parsemark.model import Page, Prediction, Sample, Status
from parsemark.parsers import read_raw
from parsemark.protocols.contract import PageProtocol, get_protocol
from parsemark.protocols.run_data.rows import BROKEN, PAGE_LEVEL, PageScores, ScoreRow
from parsemark.store import ParseRecord, Run, RunFolder, schema_of
from parsemark.store.blobs import BlobStore
from parsemark.store.tables import PROTOCOL_TABLES, SORT_KEYS
from parsemark.system import make_folder, write_bytes
from parsemark.system.scratch import ScratchFolder
from parsemark.system.secrets import without_folders
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
    text: str | None = None  # the page's text layer, where it is known without the PDF
    document: str = ""
    lost: str | None = None  # why the page cannot be scored, where an earlier try ended its process
    given_up: bool = False  # whether the protocol was lost too when it was asked to count the page as failed


def grouped(pages: Iterable[PageTask]) -> list[tuple[PageTask, ...]]:
    """Return the pages by document, in order."""
    found: dict[str, list[PageTask]] = {}
    for page in pages:
        found.setdefault(page.document or page.sample, []).append(page)
    return [tuple(sorted(own, key=lambda p: (p.number, p.sample))) for own in found.values()]


@dataclass(frozen=True, slots=True)
class PartFiles:
    """The files in which the rows of a chunk lie until they are put together."""

    run: Path
    protocols: tuple[str, ...]
    key: str  # of the chunk

    def part(self, table: str, protocol: str | None = None) -> Path:
        """Return the rows of one table."""
        number = "" if protocol is None else f".{self.protocols.index(protocol)}"
        return self.run / "parts" / f"{self.key}.{table}{number}.parquet"

    def all(self) -> list[Path]:
        """Return all of them."""
        own = [self.part(table, protocol) for protocol in self.protocols for table in PROTOCOL_TABLES]
        return [self.part("predictions"), *own]

    def are_there(self) -> bool:
        """Return whether the chunk was scored before, perhaps by a run that was killed."""
        return all(part.exists() for part in self.all())


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some pages, scored together."""

    run: Path
    protocols: tuple[str, ...]
    pages: tuple[PageTask, ...]
    session: str = ""  # chunks of one command share it, and what may be spent on asking; no part of the work

    @property
    def key(self) -> str:
        """Return the identity of the work: what is scored, by which protocols of which version, into which
        columns.
        """
        columns = [(table, *schema_of(table)) for table in ("predictions", *PROTOCOL_TABLES)]
        identity = repr((__version__, self.protocols, columns, self.pages))
        return hashlib.sha256(identity.encode()).hexdigest()[:32]

    @property
    def n_outputs(self) -> int:
        """Return how many outputs are scored."""
        return sum(len(page.outputs) for page in self.pages)

    @property
    def files(self) -> PartFiles:
        """Return where its rows lie until they are put together."""
        return PartFiles(self.run, self.protocols, self.key)

    def split(self) -> Iterator[Chunk]:
        """Yield the same work in the smallest pieces: a page, or a whole document, of one parser."""
        for pages in grouped(self.pages) if self.whole_documents else [(page,) for page in self.pages]:
            for number in range(len(pages[0].outputs)):
                own = tuple(replace(page, outputs=(page.outputs[number],)) for page in pages)
                yield replace(self, pages=own)

    @property
    def whole_documents(self) -> bool:
        """Return whether the pages of a document must stay together."""
        return any(get_protocol(spec).whole_documents for spec in self.protocols)


@dataclass(frozen=True, slots=True)
class PackedChunk:
    """A chunk with all that it reads, for a machine that has none of our files."""

    chunk: Chunk
    blobs: Mapping[str, bytes]
    damaged: Mapping[str, str]  # raw outputs that cannot be read, with the reason
    pdfs: Mapping[str, bytes]


def pack(chunk: Chunk) -> PackedChunk:
    """Put what a chunk reads beside it: raw outputs, and PDFs for their text layers."""
    store = BlobStore(chunk.run / "raw")
    blobs: dict[str, bytes] = {}
    damaged: dict[str, str] = {}
    for blob in {o.blob for page in chunk.pages for o in page.outputs if o.blob is not None}:
        try:
            blobs[blob] = store.get(blob)
        except StoreError as error:
            store.discard(blob)
            damaged[blob] = str(error)
    pdfs: dict[str, bytes] = {}
    for pdf in {page.pdf for page in chunk.pages if page.pdf is not None and page.lost is None}:
        with contextlib.suppress(OSError):
            pdfs[pdf] = Path(pdf).read_bytes()
    return PackedChunk(chunk, blobs, damaged, pdfs)


def score_chunk(chunk: Chunk) -> None:
    """Score the pages of a chunk and write the rows to its part files."""
    store = BlobStore(chunk.run / "raw")

    def get(blob: str) -> bytes:
        try:
            return store.get(blob)
        except StoreError:
            store.discard(blob)
            raise

    write_parts(chunk, _scored(chunk, chunk.pages, get))


def score_packed(packed: PackedChunk) -> list[bytes]:
    """Score a chunk that came with its files; the rows come back as Parquet, in the order of its parts."""

    def get(blob: str) -> bytes:
        if blob in packed.damaged:
            raise StoreError(packed.damaged[blob])
        return packed.blobs[blob]

    with ScratchFolder("parsemark-scoring-") as folder:
        places: dict[str, str] = {}
        for number, (pdf, data) in enumerate(packed.pdfs.items()):
            place = folder / f"{number}.pdf"
            place.write_bytes(data)
            places[pdf] = str(place)
        pages = [replace(p, pdf=None if p.pdf is None else places.get(p.pdf)) for p in packed.chunk.pages]
        return _scored(packed.chunk, pages, get)


def write_parts(chunk: Chunk, parts: Sequence[bytes]) -> None:
    """Write the part files of a chunk, perhaps one that was scored elsewhere."""
    for path, data in zip(chunk.files.all(), parts, strict=True):
        make_folder(path.parent.parent, path.parent.name)
        write_bytes(path, data)


def _scored(chunk: Chunk, pages: Iterable[PageTask], get: Callable[[str], bytes]) -> list[bytes]:
    """Return the rows of a chunk as Parquet, in the order of its parts."""
    recipes = {spec: get_protocol(spec) for spec in chunk.protocols}
    if chunk.session and any(recipe.asks for recipe in recipes.values()):
        from parsemark.judges.ask import join_session

        join_session(chunk.session)
    predictions: list[Prediction] = []
    found = {spec: PageScores() for spec in recipes}
    whole: dict[tuple[str, str], list[_Seen]] = {}
    for page in pages:
        truth = None if page.truth is None else page_from_json(json.loads(page.truth))
        text = None if page.lost else _text_layer(page)
        for output in page.outputs:
            prediction = _read(page, output, get)
            predictions.append(prediction)
            for spec, recipe in recipes.items():
                if page.given_up:
                    why = prediction.message or ""
                    found[spec].extend(_not_scored(prediction, Status.METRIC_FAILED, why))
                elif not recipe.whole_documents:
                    place = None if page.pdf is None else Path(page.pdf), page.number
                    found[spec].extend(_score(recipe, truth, prediction, text, place))
            if chunk.whole_documents and not page.given_up:
                seen = whole.setdefault((page.document or page.sample, output.parser), [])
                seen.append((page.number, page.sample, truth, prediction, text))
    for seen in whole.values():
        from parsemark.protocols.whole_documents import joined_document, joined_text

        ordered = sorted(seen, key=lambda page: page[:2])
        pages_of_it = joined_document([(truth, read) for _, _, truth, read, _ in ordered])
        joined = *pages_of_it, joined_text(text for *_, text in ordered)
        for spec, recipe in recipes.items():
            if recipe.whole_documents:
                found[spec].extend(_score(recipe, *joined))
    parts = [_frame("predictions", [_prediction_row(p) for p in predictions])]
    for own in found.values():
        for table in PROTOCOL_TABLES:
            rows = [{c: getattr(row, c) for c in schema_of(table)} for row in getattr(own, table)]
            parts.append(_frame(table, rows))
    streams = [io.BytesIO() for _ in parts]
    for frame, stream in zip(parts, streams, strict=True):
        frame.write_parquet(stream)
    return [stream.getvalue() for stream in streams]


_Seen = tuple[int, str, Page | None, Prediction, str | None]
"""A page of a document as it was read: number, sample, truth, prediction, text layer."""


def read_record(run: Run, record: ParseRecord) -> Prediction:
    """Read a stored output; the prediction of a failed page has the reason."""
    if record.blob is None:
        return Prediction(record.sample, record.parser, record.status, message=record.error)
    return read_raw(run.raw(record.blob), record.sample, record.parser)


def write_predictions(run: Run) -> None:
    """Read the raw outputs of a run into its table of predictions, without scoring anything."""
    rows = [_prediction_row(read_record(run, record)) for record in run.records()]
    RunFolder.of(run).write_table("predictions", _frame("predictions", rows))


def _read(page: PageTask, output: Output, get: Callable[[str], bytes]) -> Prediction:
    if page.lost is not None:
        why = f"This page could not be scored: {page.lost}."
        return Prediction(page.sample, output.parser, Status.METRIC_FAILED, message=why)
    if output.blob is None:
        return Prediction(page.sample, output.parser, output.status, message=output.error)
    try:
        raw = get(output.blob)
    except StoreError as error:
        why = f"{error} It is removed now; the next run parses the page again."
        return Prediction(page.sample, output.parser, Status.PARSER_FAILED, message=why)
    return read_raw(raw, page.sample, output.parser)


def _text_layer(page: PageTask) -> str | None:
    """Return the page's text; None for a page without a text layer, of which nothing can be said to be
    invented.
    """
    if page.pdf is None:
        return page.text or None
    with contextlib.suppress(CorpusError, OSError):
        return page_text(Sample(page.sample, "", page.number, None, Path(page.pdf))) or None
    return None


def _score(
    protocol: PageProtocol,
    truth: Page | None,
    prediction: Prediction,
    text: str | None,
    place: tuple[Path | None, int] = (None, 0),
) -> PageScores:
    if truth is not None and truth.only_facts and not protocol.reads_facts:
        truth = None
    try:
        if protocol.serialise == "neutral":
            prediction = neutral(prediction)
        scores = protocol.score_pdf(*place, truth, prediction, text)
    except Exception as error:  # the engine's boundary: a metric's failure on one page is data
        why = f"The protocol failed on this page: {error!r}"[:2000]
    else:
        if _leaves_out(protocol, truth, prediction, scores):
            why = f"The protocol returned no rows for a failed page: {prediction.status}"
            return _not_scored(prediction, prediction.status, why)
        return scores
    failed = replace(prediction, status=Status.METRIC_FAILED, elements=(), text=None, message=why)
    try:
        scores = protocol.score_pdf(*place, truth, failed, None)
    except Exception:  # it cannot record its own failure, so record it here
        return _not_scored(prediction, Status.METRIC_FAILED, why)
    return scores if _counts(scores) else _not_scored(prediction, Status.METRIC_FAILED, why)


def _counts(scores: PageScores) -> bool:
    """Return whether a page that broke the protocol is in its figures.

    It has a value, or elements with a status. Rows that only say of the page that it has no value would take
    it out of every mean, and a parser that breaks a protocol by a bad answer would be better off than before.
    """
    has_value = any(row.value is not None or row.category != PAGE_LEVEL for row in scores.scores)
    return bool(scores.matches) or has_value


def _leaves_out(
    protocol: PageProtocol, truth: Page | None, prediction: Prediction, scores: PageScores
) -> bool:
    """Return whether a page that failed has no row, although the truth itself, given as the answer, would
    have one.

    A protocol that asks an outside service is not asked about a page without an output.
    """
    if truth is None or prediction.status is Status.OK or _has_rows(scores) or protocol.asks:
        return False
    perfect = Prediction(prediction.sample, prediction.parser, Status.OK, truth.elements)
    try:
        return _has_rows(protocol.score_page(truth, perfect, None))
    except Exception:  # it would break on this page as well
        return True


def _has_rows(scores: PageScores) -> bool:
    return bool(scores.scores or scores.matches)


def _not_scored(prediction: Prediction, status: Status, why: str) -> PageScores:
    place = prediction.sample, PAGE_LEVEL, "", "", PAGE_LEVEL, prediction.parser
    return PageScores(scores=[ScoreRow(*place, BROKEN, None, status, why)])


def _prediction_row(prediction: Prediction) -> dict[str, Any]:
    text = json.dumps(prediction_to_json(prediction), ensure_ascii=False)
    said = {"status": str(prediction.status), "message": prediction.message, "prediction": text}
    return {"sample": prediction.sample, "parser": prediction.parser, **said}


def _frame(table: str, rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    columns = {column: [_plain(row[column]) for row in rows] for column in schema_of(table)}
    if said := columns.get("message"):  # shown in reports, and passed on in bundles
        columns["message"] = [text and without_folders(text) for text in said]
    return pl.DataFrame(columns, schema=schema_of(table)).sort(SORT_KEYS[table], maintain_order=True)


def _plain(value: Any) -> Any:
    if isinstance(value, str):  # lone surrogates have no place in a Parquet file
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    return list(value) if isinstance(value, tuple) else value
