"""Pages of which there is only a picture, as PDFs that parsers can be given.

Many corpora come as pictures alone. A parser that reads text layers finds nothing in such a PDF; one with
character recognition works as on any scan.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

from parsemark.errors import CorpusError
from parsemark.model import Sample
from parsemark.pdf import open_picture, save_picture_pdf
from parsemark.system import cache_folder, file_sha256, replacing

QUALITY = 95
"""Of the JPEG inside of the PDF: high, because it is compressed for a second time."""
WRAPPED = "pdf_from_picture"
"""The page attribute of samples whose PDF was made here."""


def with_pdf(sample: Sample) -> Sample:
    """The sample itself if it has a PDF, else with one made from its picture, in the cache folder.

    The page has the size that the truth says, so that its boxes fit; without truth, a pixel is a point. The
    page attribute `pdf_from_picture` says what was done. The corpus and its hash stay as they are.
    """
    if sample.pdf is not None or sample.image is None:
        return sample
    truth = sample.truth
    size = (truth.width, truth.height) if truth is not None else None
    pdf = _cached_pdf(sample.image, size)
    if truth is not None:
        truth = replace(truth, attributes={**truth.attributes, WRAPPED: True})
    return replace(sample, pdf=pdf, page_number=1, truth=truth)


def _cached_pdf(image: Path, size: tuple[float, float] | None) -> Path:
    """Named by the picture's content: a corpus that was moved needs no second copy."""
    try:
        identity = f"{file_sha256(image)}|{size}|{QUALITY}"
    except OSError as error:
        raise CorpusError(f"The picture {image} cannot be read: {error.strerror or error}.") from error
    name = hashlib.sha256(identity.encode()).hexdigest()
    cached = cache_folder("pictures") / name[:2] / f"{name}.pdf"
    if not cached.is_file():
        picture = open_picture(image)
        with replacing(cached) as unfinished:
            save_picture_pdf(
                picture, unfinished, size or picture.size, quality=QUALITY, producer="parsemark picture"
            )
    return cached
