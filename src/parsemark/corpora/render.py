"""Pictures and words of samples, made on demand from their PDF or their picture.

Many corpora come as pictures alone: these get PDFs that parsers can be given. A parser that reads text layers
finds nothing in such a PDF; one with character recognition works as on any scan. Also by what documents are
known as the same, or as of one kind: text, the PDF they were taken from, maker.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from PIL import Image

from parsemark import pdf
from parsemark.corpora.base import load_corpus
from parsemark.errors import CorpusError, ParsemarkError, UsageError
from parsemark.model import Sample
from parsemark.pdf import BROKEN, NO_PDF, Frame, Kinds, PageWord, open_picture, render_page
from parsemark.system import cache_folder, file_sha256, replacing


def page_image(sample: Sample, dpi: int = 150) -> Image.Image:
    """Return the page as a picture; rendered once and then taken from the cache folder."""
    if sample.pdf is None:
        return _scanned_image(sample, dpi)
    try:
        state = sample.pdf.stat()
    except OSError as error:
        raise CorpusError(f"{sample.pdf} cannot be opened as a PDF: {error.strerror or error}.") from error
    identity = f"{sample.pdf.resolve()}|{state.st_mtime_ns}|{state.st_size}|{sample.page_number}|{dpi}"
    name = hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()
    cached = cache_folder("pages") / name[:2] / f"{name}.png"
    if not cached.is_file():
        picture = render_page(sample.pdf, sample.page_number, dpi)
        with replacing(cached) as unfinished:
            picture.save(unfinished, format="PNG", compress_level=1)
        return picture
    with Image.open(cached) as picture:
        return picture.copy()


def corpus_pictures(spec: str, corpus_hash: str, samples: Collection[str]) -> dict[str, Path]:
    """Return the pictures of samples that have no PDF, by id; none where the corpus is gone or another by
    now.
    """
    if not spec or not samples:
        return {}
    try:
        corpus = load_corpus(spec)
        if corpus.hash != corpus_hash:
            return {}
        found = {key: corpus.read(key).image for key in corpus.keys if key in samples}
    except (CorpusError, UsageError, OSError):
        return {}
    return {key: image for key, image in found.items() if image is not None}


def render_sample(row: dict[str, Any], dpi: int, scan: Path | None) -> Image.Image | None:
    """Return the page; None where its PDF is gone, cannot be rendered, or is not the one that was parsed."""
    place = row["sample"], row["document"], row["page_number"]
    try:
        if not row["pdf"]:
            return None if scan is None else page_image(Sample(*place, None, image=scan), dpi)
        path = _parsed_pdf(row)
        return None if path is None else render_page(path, row["page_number"], dpi)
    except (CorpusError, OSError):
        return None


def sample_jpegs(
    row: dict[str, Any], dpi: int, scan: Path | None, frames: Sequence[Frame]
) -> list[bytes] | None:
    """Return the page as JPEGs that fit into frames; None as `render_sample`."""
    try:
        if row["pdf"]:
            path = _parsed_pdf(row)
            return None if path is None else pdf.page_jpegs(path, row["page_number"], dpi, frames)
    except (CorpusError, OSError):
        return None
    picture = render_sample(row, dpi, scan)
    return None if picture is None else pdf.jpegs(picture, frames)


def _parsed_pdf(row: dict[str, Any]) -> Path | None:
    """Return the PDF of a page, if it is still the one that was parsed."""
    path = Path(row["pdf"])
    is_same = not row["pdf_sha256"] or _hash(path, path.stat().st_mtime_ns) == row["pdf_sha256"]
    return path if is_same else None


@lru_cache(maxsize=64)
def _hash(path: Path, _changed: int) -> str:
    """Return pages of one document share a file."""
    return file_sha256(path)


def page_words(sample: Sample) -> tuple[PageWord, ...]:
    """Return the words of the page's text layer; empty for a page that is only a picture."""
    return () if sample.pdf is None else pdf.page_words(sample.pdf, sample.page_number)


def page_text(sample: Sample) -> str:
    """Return the words of the page, separated by blanks. Much faster than `page_words`, which finds their
    boxes.
    """
    return "" if sample.pdf is None else pdf.page_text(sample.pdf, sample.page_number)


def _scanned_image(sample: Sample, dpi: int) -> Image.Image:
    if sample.image is None:
        raise CorpusError(f"Sample {sample.id} has neither a PDF nor an image.")
    loaded = open_picture(sample.image).convert("RGB")
    if sample.truth is None:
        return loaded
    size = (round(sample.truth.width * dpi / 72), round(sample.truth.height * dpi / 72))
    return loaded if loaded.size == size else loaded.resize(size)


QUALITY = 95  # of the JPEG inside of the PDF: high, because it is compressed for a second time
WRAPPED = "pdf_from_picture"  # the page attribute of samples whose PDF was made here


def with_pdf(sample: Sample) -> Sample:
    """Return the sample itself if it has a PDF, else with one made from its picture, in the cache folder.

    The page has the size that the truth says, so that its boxes fit; without truth, a pixel is a point. The
    page attribute `pdf_from_picture` says what was done. The corpus and its hash stay as they are.
    """
    if sample.pdf is not None or sample.image is None:
        return sample
    truth = sample.truth
    size = (truth.width, truth.height) if truth is not None else None
    if truth is not None:
        truth = replace(truth, attributes={**truth.attributes, WRAPPED: True})
    return replace(sample, pdf=_cached_pdf(sample.image, size), page_number=1, truth=truth)


def _cached_pdf(image: Path, size: tuple[float, float] | None) -> Path:
    """Return named by the picture's content: a corpus that was moved needs no second copy."""
    try:
        identity = f"{file_sha256(image)}|{size}|{QUALITY}"
    except OSError as error:
        raise CorpusError(f"The picture {image} cannot be read: {error.strerror or error}.") from error
    name = hashlib.sha256(identity.encode()).hexdigest()
    cached = cache_folder("pictures") / name[:2] / f"{name}.pdf"
    if not cached.is_file():
        picture = open_picture(image)
        with replacing(cached) as unfinished:
            pdf.save_picture_pdf(
                picture, unfinished, size or picture.size, quality=QUALITY, producer="parsemark picture"
            )
    return cached


MIN_TEXT = 40
"""Pages of fewer letters and digits (empty ones, title pages of series) are not known by their text."""


class FirstLook(NamedTuple):
    """What is known of a page before any parser reads it."""

    identity: Mapping[str, str] = MappingProxyType({})
    """By what its document is told from others: `text`, hash of its letters and digits; `taken_from`, hash of
    the PDF that `corpus sample` took it from; `producer`, the program that made it, without its version."""
    kinds: Kinds = MappingProxyType({})  # empty where there is no PDF


def look_at(sample: Sample) -> FirstLook:
    """Return the properties of a page that its PDF shows without any parser."""
    if sample.pdf is None:
        return FirstLook()
    try:
        state = sample.pdf.stat()
        return _look(sample.pdf, sample.page_number, state.st_mtime_ns, state.st_size)
    except (ParsemarkError, OSError):
        return FirstLook(kinds=BROKEN if names_itself_pdf(sample.pdf) else NO_PDF)


def names_itself_pdf(file: Path) -> bool:
    """Return whether a file begins as PDFs do; what is empty or a page of HTML does not."""
    try:
        with file.open("rb") as opened:
            return b"%PDF-" in opened.read(1024)
    except OSError:
        return True


def page_size(sample: Sample) -> tuple[float, float] | None:
    """Return width and height of a page in points; None where its PDF cannot say."""
    if sample.pdf is None:
        return None
    try:
        shape = _shapes(sample.pdf, sample.pdf.stat().st_mtime_ns)[sample.page_number - 1]
    except (ParsemarkError, OSError, IndexError):
        return None
    return shape.width, shape.height


@lru_cache(maxsize=16)
def _shapes(file: Path, _changed: int) -> list[pdf.PageShape]:
    return pdf.page_shapes(file)


@lru_cache(maxsize=4096)
def _look(file: Path, page_number: int, _changed: int, _size: int) -> FirstLook:
    text, kinds = pdf.look_at(file, page_number)
    letters = "".join(c for c in text.casefold() if c.isalnum())
    found = dict(_of_file(file))
    if len(letters) >= MIN_TEXT:
        found["text"] = hashlib.sha256(letters.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return FirstLook(found, kinds)


@lru_cache(maxsize=256)
def _of_file(file: Path) -> tuple[tuple[str, str], ...]:
    """Return the properties that all pages of a file share."""
    words = pdf.producer(file).split()
    named = " ".join(word for word in words if not any(c.isdigit() for c in word))
    facts = {"producer": (named or " ".join(words))[:80], "taken_from": pdf.taken_from(file)}
    return tuple((key, value) for key, value in facts.items() if value)
