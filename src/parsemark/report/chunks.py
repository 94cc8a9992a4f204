"""Data files of the site: JSON, compressed, as scripts.

A page opened from disk may not fetch files, but it may load scripts. So a chunk is a script with one call,
whose arguments are base64 and nothing else: no text of a parser can end the string or the script.
"""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

from parsemark.report.trimming import without_nan
from parsemark.system import make_folder

CALL = "parsemark.chunk"


def encode(text: str) -> str:
    """JSON text as base64 of gzip."""
    # Lone surrogates are legal in Python strings but not in UTF-8.
    data = text.encode("utf-8", "replace")
    return base64.b64encode(gzip.compress(data, compresslevel=5, mtime=0)).decode("ascii")


def decode(script: str) -> Any:
    """The value of a chunk file; what the browser does, for tests and tools."""
    payload = script[script.rindex(",") + 1 :].strip(' ");\n')
    return json.loads(gzip.decompress(base64.b64decode(payload)))


def write_chunk(root: Path, name: str, value: Any) -> None:
    """Write plain JSON data as `data/NAME.js` below `root`; see `write_text_chunk`."""
    text = json.dumps(without_nan(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    write_text_chunk(root, name, text)


def write_text_chunk(root: Path, name: str, text: str) -> None:
    """Write JSON text as `data/NAME.js` below `root`.

    Args:
        root: The site's folder.
        name: Made by us (see `names`): letters, digits, hyphens and slashes.
        text: JSON.
    """
    path = root / "data" / f"{name}.js"
    make_folder(path.parent)
    path.write_text(f'{CALL}("{name}","{encode(text)}");\n', encoding="ascii")
