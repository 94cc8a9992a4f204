"""Pictures of the pages: one to read, a small one to choose by."""

import base64
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
from PIL import Image

from parsemark.corpora.render import sample_jpegs
from parsemark.report.names import page_file
from parsemark.system import make_folder

FRAMES = {"images": (1800, 1800), "thumbnails": (132, 32_000)}  # pixels that pictures have to fit into


def write_images(
    root: Path, samples: pl.DataFrame, dpi: int, pictures: Mapping[str, Path] | None = None
) -> set[int]:
    """Write the pictures of all pages; returns the numbers of those that have one. Pages are drawn from their
    PDFs; `pictures` are those of samples without one, by id.
    """
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


def data_uri(picture: Image.Image, kind: str, **how: Any) -> str:
    """A picture as an address that holds it, for pages that load nothing."""
    stream = io.BytesIO()
    picture.save(stream, format=kind, **how)
    return f"data:image/{kind};base64,{base64.b64encode(stream.getvalue()).decode()}"
