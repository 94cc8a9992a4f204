"""Pictures and words of samples, made on demand from their PDF or their picture."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from pathlib import Path

from PIL import Image

from parsemark import pdf
from parsemark.corpora.base import load_corpus
from parsemark.errors import CorpusError, UsageError
from parsemark.model import Sample
from parsemark.pdf import Word, open_picture, render_page
from parsemark.system import cache_folder, replacing


def page_image(sample: Sample, dpi: int = 150) -> Image.Image:
    """The page as a picture; rendered once and then taken from the cache folder."""
    if sample.pdf is None:
        return _scanned_image(sample, dpi)
    cached = _cache_path(sample.pdf, sample.page_number, dpi)
    if not cached.is_file():
        picture = render_page(sample.pdf, sample.page_number, dpi)
        with replacing(cached) as unfinished:
            picture.save(unfinished, format="PNG", compress_level=1)
        return picture
    with Image.open(cached) as picture:
        picture.load()
        return picture.copy()


def corpus_pictures(spec: str, corpus_hash: str, samples: Collection[str]) -> dict[str, Path]:
    """The pictures of samples that have no PDF, by id; none where the corpus is gone or another by now."""
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


def page_words(sample: Sample) -> tuple[Word, ...]:
    """The words of the page's text layer; empty for a page that is only a picture."""
    return () if sample.pdf is None else pdf.page_words(sample.pdf, sample.page_number)


def page_text(sample: Sample) -> str:
    """The words of the page, separated by blanks. Much faster than `page_words`, which finds their boxes."""
    return "" if sample.pdf is None else pdf.page_text(sample.pdf, sample.page_number)


def _scanned_image(sample: Sample, dpi: int) -> Image.Image:
    if sample.image is None:
        raise CorpusError(f"Sample {sample.id} has neither a PDF nor an image.")
    loaded = open_picture(sample.image).convert("RGB")
    if sample.truth is None:
        return loaded
    size = (round(sample.truth.width * dpi / 72), round(sample.truth.height * dpi / 72))
    return loaded if loaded.size == size else loaded.resize(size)


def _cache_path(file: Path, page_number: int, dpi: int) -> Path:
    try:
        state = file.stat()
    except OSError as error:
        raise CorpusError(f"{file} cannot be opened as a PDF: {error.strerror or error}.") from error
    identity = f"{file.resolve()}|{state.st_mtime_ns}|{state.st_size}|{page_number}|{dpi}"
    name = hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()
    return cache_folder("pages") / name[:2] / f"{name}.png"
