"""Pictures of the pages, as WebP: one to read and a small one to choose by."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PIL import Image

from parsemark.corpora.render import page_image
from parsemark.errors import CorpusError
from parsemark.model import Sample
from parsemark.report.names import page_file

THUMBNAIL_WIDTH = 132
MAX_SIDE = 1800
QUALITY = 55


def write_images(root: Path, index: int, row: dict[str, Any], dpi: int) -> bool:
    """Write the pictures of one page; False where its PDF is not there or cannot be rendered."""
    if not row["pdf"]:
        return False
    sample = Sample(row["sample"], row["document"], row["page_number"], None, Path(row["pdf"]))
    try:
        picture = page_image(sample, dpi).convert("RGB")
    except (CorpusError, OSError):
        return False
    _save(picture, root / "images" / f"{page_file(index)}.webp", MAX_SIDE)
    height = round(THUMBNAIL_WIDTH * picture.height / max(1, picture.width))
    _save(picture, root / "thumbnails" / f"{page_file(index)}.webp", max(THUMBNAIL_WIDTH, height))
    return True


def _save(picture: Image.Image, path: Path, longest: int) -> None:
    copy = picture.copy()
    copy.thumbnail((longest, longest), Image.Resampling.LANCZOS)
    path.parent.mkdir(parents=True, exist_ok=True)
    copy.save(path, format="WEBP", quality=QUALITY, method=4)
