"""The words of a picture, as tesseract reads them, or rapidocr where that alone is installed."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from parsemark.extras import is_installed
from parsemark.model import Box

if TYPE_CHECKING:
    from PIL import Image

OCR_DPI = 200  # of the pictures that are read
_TIMEOUT_S = 120
_SURE = 50  # per cent: words that OCR is less sure of say nothing
ReadWord = tuple[str, Box, int]  # text, place in points, and number of its line


def can_read() -> bool:
    """Whether an engine is installed."""
    return shutil.which("tesseract") is not None or is_installed("rapidocr")


def read_picture(picture: Image.Image) -> Iterator[ReadWord]:
    """The words that the engine is sure of; none where it fails."""
    return _by_tesseract(picture) if shutil.which("tesseract") else _by_rapidocr(picture)


def _by_tesseract(picture: Image.Image) -> Iterator[ReadWord]:
    data = io.BytesIO()
    picture.convert("L").save(data, format="PNG")
    command = ["tesseract", "stdin", "stdout", "--dpi", str(OCR_DPI), "--psm", "3", "tsv"]
    env = {"PATH": "/usr/bin:/bin:/usr/local/bin", "OMP_THREAD_LIMIT": "1"}
    given: dict[str, Any] = {"input": data.getvalue(), "timeout": _TIMEOUT_S, "env": env}
    try:
        done = subprocess.run(command, check=True, capture_output=True, **given)
    except (OSError, subprocess.SubprocessError):
        return
    said = io.StringIO(done.stdout.decode("utf-8", "replace"))
    lines: dict[tuple[str, ...], int] = {}
    for row in csv.DictReader(said, delimiter="\t", quoting=csv.QUOTE_NONE):
        text = (row.get("text") or "").strip()
        if text and float(row["conf"]) >= _SURE:
            line = lines.setdefault((row["block_num"], row["par_num"], row["line_num"]), len(lines))
            x, y, w, h = (int(row[key]) * 72 / OCR_DPI for key in ("left", "top", "width", "height"))
            yield text, Box(x, y, x + w, y + h), line


def _by_rapidocr(picture: Image.Image) -> Iterator[ReadWord]:
    """Its lines, parted at blanks: a word takes as much of its line as it has characters."""
    import numpy as np

    result = _rapidocr()(np.asarray(picture.convert("RGB"))[:, :, ::-1])
    if result.boxes is None:
        return
    for line, (corners, text, sure) in enumerate(zip(result.boxes, result.txts, result.scores, strict=True)):
        if 100 * sure < _SURE:
            continue
        points = np.asarray(corners, dtype=float) * 72 / OCR_DPI
        (x0, y0), (x1, y1) = points.min(0).tolist(), points.max(0).tolist()
        step = (x1 - x0) / len(text)
        for word in re.finditer(r"\S+", text):
            yield word[0], Box(x0 + step * word.start(), y0, x0 + step * word.end(), y1), line


@lru_cache(maxsize=1)
def _rapidocr() -> Any:
    """The engine with its own models; to load it takes seconds."""
    import logging

    from rapidocr import RapidOCR

    quiet = logging.root.manager.disable
    logging.disable(logging.INFO)  # it names every file that it loads
    try:
        return RapidOCR()
    finally:
        logging.disable(quiet)
