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
_CPU_S, _WALL_S = 20, 200  # for one picture: a dense page takes about three on a slow processor
_SURE = 50  # per cent: words that OCR is less sure of say nothing
_MOST_LANGUAGES = 6
_SCRIPTS = {
    **dict.fromkeys(("rus", "ukr", "bel", "bul", "mkd", "srp", "kaz", "kir", "mon", "tgk"), "CYRILLIC"),
    **dict.fromkeys(("chi_sim", "chi_tra", "chi_sim_vert", "chi_tra_vert"), "CJK"),
    **dict.fromkeys(("ara", "fas", "urd", "uig", "pus", "snd"), "ARABIC"),
    **dict.fromkeys(("hin", "mar", "nep", "san"), "DEVANAGARI"),
    **{"ell": "GREEK", "grc": "GREEK", "kor": "HANGUL", "heb": "HEBREW", "yid": "HEBREW", "hye": "ARMENIAN"},
    **{"kat": "GEORGIAN", "amh": "ETHIOPIC", "tir": "ETHIOPIC", "tha": "THAI", "lao": "LAO", "khm": "KHMER"},
    **{
        "mya": "MYANMAR",
        "ben": "BENGALI",
        "asm": "BENGALI",
        "tam": "TAMIL",
        "tel": "TELUGU",
        "sin": "SINHALA",
    },
    **{"kan": "KANNADA", "mal": "MALAYALAM", "guj": "GUJARATI", "pan": "GURMUKHI", "ori": "ORIYA"},
    **{"bod": "TIBETAN", "dzo": "TIBETAN", "syr": "SYRIAC", "osd": "", "equ": ""},
}
"""The scripts of tesseract's models, as Unicode calls them; all others read Latin letters."""
_JAPANESE = {"jpn", "jpn_vert"}
ReadWord = tuple[str, Box, int]  # text, place in points, and number of its line


def can_read() -> bool:
    """Return whether an engine is installed."""
    return shutil.which("tesseract") is not None or is_installed("rapidocr")


@lru_cache(maxsize=1)
def scripts() -> frozenset[str]:
    """Return the scripts that the engine has models for, as the names of their letters begin in Unicode."""
    if not shutil.which("tesseract"):
        return frozenset({"LATIN", "CJK"})
    languages = _languages()
    found = {_SCRIPTS.get(name, "LATIN") for name in languages if name not in _JAPANESE}
    return frozenset(found | ({"CJK", "HIRAGANA", "KATAKANA"} if _JAPANESE & set(languages) else set()))


def read_picture(picture: Image.Image) -> tuple[list[ReadWord], float]:
    """Return the words that the engine is sure of, and their share of all; none where it fails."""
    by_engine = _by_tesseract if shutil.which("tesseract") else _by_rapidocr
    found = [(word, sure >= _SURE) for word, sure in by_engine(picture)]
    return [word for word, is_sure in found if is_sure], sum(s for _, s in found) / max(len(found), 1)


@lru_cache(maxsize=1)
def _languages() -> tuple[str, ...]:
    """Return the installed models of languages."""
    try:
        command = ["tesseract", "--list-langs"]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=_WALL_S)
    except (OSError, subprocess.SubprocessError):
        return ()
    names = [name for name in done.stdout.splitlines()[1:] if name and "/" not in name]
    return tuple(name for name in names if _SCRIPTS.get(name, "LATIN"))


def _by_tesseract(picture: Image.Image) -> Iterator[tuple[ReadWord, float]]:
    data = io.BytesIO()
    picture.convert("L").save(data, format="PNG")
    limited = ["sh", "-c", 'ulimit -t "$0"; exec "$@"', str(_CPU_S)]
    # English first: of a long list the first models read.
    languages = sorted(_languages(), key=lambda name: name != "eng")[:_MOST_LANGUAGES]
    command = ["tesseract", "stdin", "stdout", "--dpi", str(OCR_DPI), "--psm", "3", "tsv"]
    command[3:3] = ["-l", "+".join(languages)] if languages else []
    env = {"PATH": "/usr/bin:/bin:/usr/local/bin", "OMP_THREAD_LIMIT": "1"}
    given: dict[str, Any] = {"input": data.getvalue(), "timeout": _WALL_S, "env": env}
    try:
        done = subprocess.run([*limited, *command], check=True, capture_output=True, **given)
    except (OSError, subprocess.SubprocessError):
        return
    said = io.StringIO(done.stdout.decode("utf-8", "replace"))
    lines: dict[tuple[str, ...], int] = {}
    for row in csv.DictReader(said, delimiter="\t", quoting=csv.QUOTE_NONE):
        if text := (row.get("text") or "").strip():
            line = lines.setdefault((row["block_num"], row["par_num"], row["line_num"]), len(lines))
            x, y, w, h = (int(row[key]) * 72 / OCR_DPI for key in ("left", "top", "width", "height"))
            yield (text, Box(x, y, x + w, y + h), line), float(row["conf"])


def _by_rapidocr(picture: Image.Image) -> Iterator[tuple[ReadWord, float]]:
    """Yield its lines, divided at blanks: a word takes as much of its line as it has characters."""
    import numpy as np

    result = _rapidocr()(np.asarray(picture.convert("RGB"))[:, :, ::-1])
    if result.boxes is None:
        return
    for line, (corners, text, sure) in enumerate(zip(result.boxes, result.txts, result.scores, strict=True)):
        points = np.asarray(corners, dtype=float) * 72 / OCR_DPI
        (x0, y0), (x1, y1) = points.min(0).tolist(), points.max(0).tolist()
        step = (x1 - x0) / len(text)
        for word in re.finditer(r"\S+", text):
            box = Box(x0 + step * word.start(), y0, x0 + step * word.end(), y1)
            yield (word[0], box, line), 100 * sure


@lru_cache(maxsize=1)
def _rapidocr() -> Any:
    """Return the engine with its own models; the first call takes seconds."""
    import logging

    from rapidocr import RapidOCR

    # It names every file that it loads, some of them only when it reads its first picture.
    logging.getLogger("RapidOCR").addFilter(lambda record: record.levelno >= logging.WARNING)
    return RapidOCR()
