"""Pictures of the pages, as JPEG (WebP takes seven times as long): one to read, a small one to choose by."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
from PIL import Image

from parsemark.corpora.render import render_sample
from parsemark.report.names import page_file
from parsemark.system import make_folder

THUMBNAIL_WIDTH = 132
MAX_SIDE = 1800
QUALITY = 65


def write_images(
    root: Path, samples: pl.DataFrame, dpi: int, pictures: Mapping[str, Path] | None = None
) -> set[int]:
    """Write the pictures of all pages; returns the numbers of those that have one.

    Args:
        root: The report.
        samples: Rows of the run's samples.
        dpi: Of pages that are drawn from their PDF.
        pictures: Those of samples without a PDF, by id.

    Pages are rendered one after the other, since pdfium allows no threads; encoding runs beside it.
    """
    done: set[int] = set()
    waiting: list[Future[None]] = []
    with ThreadPoolExecutor(os.cpu_count() or 1) as encoders:
        for row in samples.iter_rows(named=True):
            picture = render_sample(row, dpi, (pictures or {}).get(row["sample"]))
            if picture is None:
                continue
            waiting.append(encoders.submit(_encode, root, row["page"], picture))
            done.add(row["page"])
            if len(waiting) > 8:
                waiting.pop(0).result()
        for unfinished in waiting:
            unfinished.result()
    return done


def data_uri(picture: Image.Image, kind: str, **how: Any) -> str:
    """A picture as an address that holds it, for pages that load nothing."""
    stream = io.BytesIO()
    picture.save(stream, format=kind, **how)
    return f"data:image/{kind};base64,{base64.b64encode(stream.getvalue()).decode()}"


def _encode(root: Path, index: int, picture: Image.Image) -> None:
    _save(picture, root / "images" / f"{page_file(index)}.jpg", MAX_SIDE)
    height = round(THUMBNAIL_WIDTH * picture.height / max(1, picture.width))
    _save(picture, root / "thumbnails" / f"{page_file(index)}.jpg", max(THUMBNAIL_WIDTH, height))


def _save(picture: Image.Image, path: Path, longest: int) -> None:
    copy = picture.copy()
    copy.thumbnail((longest, longest), Image.Resampling.LANCZOS, reducing_gap=2.0)
    make_folder(path.parent)
    copy.save(path, format="JPEG", quality=QUALITY)
