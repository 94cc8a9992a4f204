"""Data files of the site: JSON, compressed, as scripts.

A page opened from disk may not fetch files, but it may load scripts. So a chunk is a script with one call,
whose arguments are base64 and nothing else: no text of a parser can end the string or the script.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
from pathlib import Path
from typing import Any

CALL = "parsemark.chunk"


def plain(value: Any) -> Any:
    """`value` with what JSON cannot hold (NaN, infinities) as None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value


def encode(value: Any) -> str:
    """JSON, gzip, base64."""
    text = json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # Lone surrogates are legal in Python strings and in JSON escapes, but not in UTF-8.
    data = text.encode("utf-8", "replace")
    return base64.b64encode(gzip.compress(data, compresslevel=6, mtime=0)).decode("ascii")


def decode(script: str) -> Any:
    """The value of a chunk file; what the browser does, for tests and tools."""
    payload = script[script.rindex(",") + 1 :].strip(' ");\n')
    return json.loads(gzip.decompress(base64.b64decode(payload)))


def write_chunk(root: Path, name: str, value: Any) -> int:
    """Write `value` as `data/NAME.js` below `root` and return the file's size.

    Args:
        root: The site's folder.
        name: Made by us (see `names`): letters, digits, hyphens and slashes.
        value: Plain JSON data.
    """
    path = root / "data" / f"{name}.js"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.write_text(f'{CALL}("{name}","{encode(value)}");\n', encoding="ascii")
