"""KaTeX 0.16.21 (MIT, beside this file, without its fonts) in Chromium, one process for many formulas.

Chromium is asked for the document that a page makes of itself, so nothing but the program is needed. What was
rendered once is kept in the cache folder.
"""

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from parsemark.system import ScratchFolder, cache_folder, make_folder, write_text
from parsemark.system.processes import run_program, tool_environment, tool_rights

Kind = Literal["drawn", "block", "inline"]
"""`drawn`: MathML and measured boxes; else MathML alone, of display or inline style."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
ARGUMENTS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions",
    "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND", "--dump-dom",
)  # fmt: skip
BATCH = 400
TIMEOUT_S = 60
MAX_CHARACTERS = 20_000  # of a formula; a longer one is not rendered
_HERE = Path(__file__).parent
_VERSION = "katex-0.16.21-1"
_LIMITS = {"cpu_s": 2 * TIMEOUT_S, "memory_mb": 4096, "file_mb": 256}
_ANSWER = re.compile(r"answer:([A-Za-z0-9+/=]*):end")


class DrawnSpan(NamedTuple):
    """A piece of text of a rendered formula, in pixels."""

    text: str
    x: float
    y: float
    width: float
    height: float


class Render(NamedTuple):
    """What KaTeX makes of a formula; where it refuses one, `mathml` is empty."""

    mathml: str
    spans: tuple[DrawnSpan, ...] = ()


@cache
def find_chromium() -> str | None:
    """Return the browser of this machine; `$PARSEMARK_CHROMIUM` names another."""
    named = os.environ.get("PARSEMARK_CHROMIUM")
    return named or next((found for name in BROWSERS if (found := shutil.which(name))), None)


def render_all(kind: Kind, formulas: Iterable[str]) -> dict[str, Render | None]:
    """Render each formula; None where it could not be tried: no browser, too long, too slow."""
    found: dict[str, Render | None] = {}
    for tex in formulas:
        found[tex] = None if len(tex) > MAX_CHARACTERS else _stored(kind, tex)
    missing = [tex for tex, render in found.items() if render is None and len(tex) <= MAX_CHARACTERS]
    for first in range(0, len(missing), BATCH):
        found |= _rendered(kind, missing[first : first + BATCH])
    return found


def _rendered(kind: Kind, formulas: Sequence[str]) -> dict[str, Render | None]:
    """Render a batch; where the browser fails, each half by itself, so that a bad formula costs itself."""
    answers = _ask(kind, formulas)
    if answers is None:
        if find_chromium() is None or len(formulas) < 2:
            return dict.fromkeys(formulas)
        half = len(formulas) // 2
        return {**_rendered(kind, formulas[:half]), **_rendered(kind, formulas[half:])}
    found: dict[str, Render | None] = {}
    for tex, answer in zip(formulas, answers, strict=True):
        _store(kind, tex, answer)
        found[tex] = _read(answer)
    return found


def _ask(kind: Kind, formulas: Sequence[str]) -> list[Any] | None:
    program = find_chromium()
    if program is None:
        return None
    with ScratchFolder("parsemark-katex-") as folder:
        page = folder / "page.html"
        page.write_text(_page_of([[kind, tex] for tex in formulas]), encoding="utf-8")
        command = [program, *ARGUMENTS, f"--user-data-dir={folder}/profile", page.as_uri()]
        rights = tool_rights([str(Path(program).parent)], [str(folder)], **_LIMITS)
        try:
            done = run_program(command, rights, cwd=folder, env=tool_environment(folder), timeout_s=TIMEOUT_S)
        except (OSError, subprocess.TimeoutExpired):
            return None
    answer = _ANSWER.search(done.stdout.decode(errors="replace"))
    if answer is None:
        return None
    results = json.loads(base64.b64decode(answer[1]))
    return results if isinstance(results, list) and len(results) == len(formulas) else None


def _page_of(jobs: list[list[str]]) -> str:
    encoded = base64.b64encode(json.dumps(jobs).encode()).decode()
    parts = {
        "KATEX": (_HERE / "katex.min.js").read_text(encoding="utf-8"),
        "CSS": (_HERE / "katex.min.css").read_text(encoding="utf-8").replace("\\", "\\\\"),
        "JOBS": encoded,
    }
    template = (_HERE / "render.html").read_text(encoding="utf-8")
    return re.sub(r"\b(KATEX|CSS|JOBS)\b", lambda m: parts[m[1]], template)


def _read(answer: Sequence[Any]) -> Render:
    mathml, spans = answer
    if mathml is None:
        return Render("")
    return Render(str(mathml), tuple(DrawnSpan(*span) for span in spans))


def _path(kind: Kind, tex: str) -> Path:
    key = hashlib.sha256(f"{_VERSION}\0{kind}\0{tex}".encode("utf-8", "surrogatepass")).hexdigest()
    return cache_folder("katex") / key[:2] / f"{key}.json"


def _stored(kind: Kind, tex: str) -> Render | None:
    try:
        return _read(json.loads(_path(kind, tex).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None  # not there, or damaged: it is rendered again


def _store(kind: Kind, tex: str, answer: Any) -> None:
    path = _path(kind, tex)
    try:
        make_folder(path.parent.parent, path.parent.name)
        write_text(path, json.dumps(answer))
    except OSError:
        return  # a cache that cannot be written costs time alone
