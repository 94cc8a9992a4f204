"""The worker kit: what a parser's worker script imports to speak with parsemark. It needs only Python itself.

A worker defines `parse(pdf, page, options)` and ends with `serve(parse, versions=["its-package"])`. The kit
speaks the protocol (JSON lines, version 1), measures each request, and turns exceptions into answers, so
that one bad page costs that page alone.

Before the script's own imports run, the kit moves the real standard streams away at the level of file
descriptors: whatever a library prints, from Python or from C, goes to standard error and cannot damage the
protocol.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import json
import os
import resource
import runpy
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Container, Iterable, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, TextIO

PROTOCOL = 1

Json = dict[str, Any]
Parse = Callable[[str, int, Json], Json]

_MESSAGE_LIMIT = 2_000
_MOST_PLACES = 250_000


@cache
def _streams() -> tuple[TextIO, int]:
    """Requests and answers: the real stdin and stdout, put out of reach of libraries and child processes."""
    sys.stdout.flush()
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return os.fdopen(requests, encoding="utf-8"), answers


def _end_with_parent() -> None:
    """Let Linux end this process with the one that started it: no hung worker outlives a killed run."""
    set_parent_death_signal = 1
    try:
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)
    except (OSError, AttributeError):  # another system: the worker ends at the end of its input
        return


# --- What a worker returns ------------------------------------------------------------------------------


def text_output(format: str, content: str) -> Json:
    """The whole page as `markdown`, `html`, `latex` or `text`; parsemark finds the tables in it."""
    return {"format": format, "content": content}


def elements_output(
    elements: Iterable[Json], *, markdown: str | None = None, text: str | None = None
) -> Json:
    """The page as separate elements (see `table`), beside its Markdown, or its plain text, where given."""
    output = {"format": "elements", "elements": list(elements), "content": markdown}
    return output if text is None else {**output, "content": text, "content_format": "text"}


def table(
    rows: Sequence[Sequence[str | None]] | None = None,  # texts; None is a position without a cell
    *,
    cells: Sequence[Json] | None = None,  # with their place on the grid, see `cell`
    html: str | None = None,  # a `<table>` as the parser wrote it
    markdown: str | None = None,  # a Markdown table as the parser wrote it
    box: Sequence[float] | None = None,  # in points from the top left of the page as it is shown
    confidence: float | None = None,  # the parser's own probability that this is a table
) -> Json:
    """One table, by exactly one of `rows` (no spans), `cells`, `html` and `markdown`."""
    if rows is not None:
        cells = [cell(r, c, t) for r, row in enumerate(rows) for c, t in enumerate(row) if t is not None]
    listed = None if cells is None else list(cells)
    content = {"html": html, "markdown": markdown, "cells": listed, "text": None}
    sure = None if confidence is None else float(confidence)
    return {"category": "table", "box": _corners(box), "confidence": sure, "order": None, **content}


def block(
    category: str,  # OmniDocBench's: title, text_block, list_group, figure, figure_caption, table_caption, …
    text: str | None = None,  # what it says
    *,
    box: Sequence[float] | None = None,  # in points from the top left of the page as it is shown
    order: int | None = None,  # its place in reading order, from 0
    html: str | None = None,  # where the parser gives that
    latex: str | None = None,  # where the parser gives that; a formula's may also be given as `text`
    confidence: float | None = None,  # the parser's own probability
) -> Json:
    """One element that is no table: a title, a text block, a formula, a figure."""
    sure = None if confidence is None else min(1.0, max(0.0, float(confidence)))
    place = {"box": _corners(box), "confidence": sure, "order": order}
    content = {"html": html, "markdown": None, "cells": None, "text": text}
    return {"category": category, "latex": latex, **place, **content}


def structured_table(
    parts: Iterable[tuple[str, float, Sequence[float]]],  # (class, score, box) from the upright corner
    words: Iterable[tuple[str, Sequence[float], bool]],  # (text, box on the page, whether no space follows)
    *,
    box: Sequence[float],  # the table on the page; all boxes are in points
    angle: int = 0,  # by how much the table is turned clockwise to be upright: 0, 90, 180 or 270
    confidence: float | None = None,  # the detector's probability that this is a table
) -> Json:
    """Return one table as a structure model sees it; parsemark makes the cells.

    `docs/reference/structure.md` describes how. Classes of parts are Table Transformer's ("table row",
    "table column", "table spanning cell", …).
    """
    return {
        **table(box=box, confidence=confidence),
        "structure": {
            "angle": angle,
            "parts": [[kind, float(score), *(_corners(place) or ())] for kind, score, place in parts],
            "words": [[text, *(_corners(place) or ()), bool(glued)] for text, place, glued in words],
        },
    }


def _corners(box: Sequence[float] | None) -> list[float] | None:
    """The box with its corners in order, which some parsers mix up for flat cells."""
    if box is None:
        return None
    x0, y0, x1, y1 = (round(float(v), 3) for v in box)
    return [min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)]


def cell(
    row: int,
    col: int,
    text: str | None,
    rowspan: int = 1,
    colspan: int = 1,
    box: Sequence[float] | None = None,
) -> Json:
    """One cell by its top-left grid position, counted from 0."""
    place = {"row": row, "col": col, "rowspan": rowspan, "colspan": colspan}
    return {**place, "text": text or "", "box": _corners(box)}


def cells_apart(cells: Iterable[Json]) -> list[Json]:
    """The cells without overlaps, for services that do not promise that: who comes first keeps its places.

    A span that reaches onto another cell is cut back; the text of a cell whose own place is taken goes to
    the cell that has it.
    """
    owner: dict[tuple[int, int], Json] = {}
    kept: list[Json] = []
    for given in cells:
        here = owner.get((given["row"], given["col"]))
        if here is not None:
            here["text"] = f"{here['text']} {given['text']}".strip()
            continue
        mine = {**given, "rowspan": max(1, given["rowspan"]), "colspan": max(1, given["colspan"])}
        if mine["rowspan"] * mine["colspan"] <= _MOST_PLACES:  # else it is refused later, as a whole
            _shorten(mine, owner)
            owner.update(dict.fromkeys(_places(mine), mine))
        kept.append(mine)
    return kept


def _places(cell: Json) -> list[tuple[int, int]]:
    rows = range(cell["row"], cell["row"] + cell["rowspan"])
    return [(row, col) for row in rows for col in range(cell["col"], cell["col"] + cell["colspan"])]


def _shorten(cell: Json, taken: Container[tuple[int, int]]) -> None:
    """Shorten the spans of a cell whose own place is free to where no place is taken."""
    while any(place in taken for place in _places({**cell, "rowspan": 1})):
        cell["colspan"] -= 1
    while any(place in taken for place in _places(cell)):
        cell["rowspan"] -= 1


def cells_from_boxes(
    boxes: Sequence[tuple[Sequence[float], str | None]], tolerance: float = 1.0
) -> list[Json]:
    """Cells with spans from cells that are known by their boxes (and texts) alone.

    The left and top edges of all boxes are the grid's lines; a box spans the lines that it covers. Edges
    closer than the tolerance, in points, are one line.
    """
    lefts = _lines((box[0] for box, _ in boxes), tolerance)
    tops = _lines((box[1] for box, _ in boxes), tolerance)
    taken: set[tuple[int, int]] = set()
    cells = []
    for box, text in sorted(boxes, key=lambda item: (item[0][1], item[0][0])):
        row, col = _first(tops, box[1], tolerance), _first(lefts, box[0], tolerance)
        if (row, col) in taken:
            continue  # two boxes at one place: the first one stands
        rowspan = _covered(tops, box[1], box[3], tolerance)
        colspan = _covered(lefts, box[0], box[2], tolerance)
        found = cell(row, col, text, rowspan=rowspan, colspan=colspan, box=box)
        _shorten(found, taken)
        taken.update(_places(found))
        cells.append(found)
    return cells


def cells_from_rows(found: Any, origin: Sequence[float] = (0.0, 0.0)) -> list[Json]:
    """The same from a table as pdfplumber and PyMuPDF find it, which knows boxes and texts row by row."""
    rows = zip(found.rows, found.extract(), strict=True)
    pairs = [pair for row, texts in rows for pair in zip(row.cells, texts, strict=True)]
    return cells_from_boxes([(shifted(box, origin), text) for box, text in pairs if box is not None])


def crop_offset(media: Sequence[float], crop: Sequence[float], rotation: int) -> tuple[float, float]:
    """Where the page that is shown (its crop box) begins inside the whole sheet (its media box).

    For parsers that measure from the corner of the sheet: subtract it from their coordinates. Both boxes are
    as the PDF has them (from the bottom left, unrotated); the rotation is clockwise in degrees.
    """
    left, below = crop[0] - media[0], crop[1] - media[1]
    right, above = media[2] - crop[2], media[3] - crop[3]
    return {0: (left, above), 90: (below, left), 180: (right, below), 270: (above, right)}[rotation % 360]


def shifted(box: Sequence[float], offset: Sequence[float]) -> tuple[float, float, float, float]:
    """The box, measured from `offset`."""
    return (box[0] - offset[0], box[1] - offset[1], box[2] - offset[0], box[3] - offset[1])


def _lines(edges: Iterable[float], tolerance: float) -> list[float]:
    lines: list[float] = []
    for edge in sorted(edges):
        if not lines or edge - lines[-1] > tolerance:
            lines.append(edge)
    return lines


def _first(lines: list[float], edge: float, tolerance: float) -> int:
    return next(i for i, line in enumerate(lines) if abs(line - edge) <= tolerance)


def _covered(lines: list[float], start: float, end: float, tolerance: float) -> int:
    return max(1, sum(start - tolerance <= line < end - tolerance for line in lines))


# --- Facts about the tool -------------------------------------------------------------------------------


def program_version(argv: Sequence[str]) -> str:
    """The first line that a program prints about its version, on either stream."""
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
    lines = (done.stdout + done.stderr).strip().splitlines()
    return lines[0].strip() if lines else "unknown"


def hash_files(paths: Iterable[str | Path]) -> dict[str, str]:
    """SHA-256 of each weights file, by its name."""
    found = {}
    for path in map(Path, paths):
        with path.open("rb") as stream:  # models may be larger than the memory
            found[path.name] = hashlib.file_digest(stream, "sha256").hexdigest()
    return found


_spent: dict[str, float] = {}


def add_cost(cost_usd: float) -> None:
    """Say what a call for this page has cost, in US dollars; calls add up, also where the page then fails."""
    _spent["cost_usd"] = _spent.get("cost_usd", 0.0) + float(cost_usd)


# --- The conversation -----------------------------------------------------------------------------------


def serve(
    parse: Parse,  # given the PDF's path, the page (from 1) and the options, returns the page's output
    *,
    versions: Sequence[str] = (),  # the packages whose versions are recorded
    programs: dict[str, Sequence[str]] | None = None,  # name to the command that prints a program's version
    facts: dict[str, str] | None = None,  # versions that are known otherwise, as that of a server
    weights: Iterable[str | Path] = (),  # model files whose hashes are recorded
    prepare: Callable[[Json], None] | None = None,  # called once per set of options before the clock starts
) -> None:
    """Answer requests until standard input ends. Load models in `prepare`."""
    found = {name: metadata.version(name) for name in versions} | (facts or {})
    found |= {name: program_version(argv) for name, argv in (programs or {}).items()}
    requests, answers = _streams()
    hello = {"hello": PROTOCOL, "parser": Path(sys.argv[0]).stem, "versions": found}
    _send(answers, {**hello, "weights": hash_files(weights), "prepares": prepare is not None})
    prepared: set[str] = set()
    for line in requests:
        if line.strip():
            answer = _answer(json.loads(line), parse, prepare, prepared)
            try:
                _send(answers, answer)
            except (TypeError, ValueError) as problem:  # an output that JSON cannot hold
                _send(answers, {**answer, "output": None, "error": _describe(problem)})


def _answer(request: Json, parse: Parse, prepare: Callable[[Json], None] | None, prepared: set[str]) -> Json:
    options = request.get("options") or {}
    output: Json | None = None
    error: Json | None = None
    wall, cpu = time.perf_counter(), _cpu_seconds()
    try:
        key = json.dumps(options, sort_keys=True)
        if prepare is not None and key not in prepared:
            prepare(options)
            prepared.add(key)
        _reset_peak_memory()
        wall, cpu = time.perf_counter(), _cpu_seconds()
        output = {} if request.get("prepare") else parse(request["pdf"], int(request["page"]), options)
    except Exception as problem:  # the boundary: one page's failure must not end the worker
        error = _describe(problem)
    cost = _spent.pop("cost_usd", None)
    took: Json = {"wall_s": time.perf_counter() - wall, "cpu_s": _cpu_seconds() - cpu}
    said = {"id": request["id"], "output": output, "error": error}
    took["peak_memory_mb"] = _peak_memory_mb()
    return {**said, **took, **({} if cost is None else {"cost_usd": cost})}


def _describe(problem: Exception) -> Json:
    return {"message": str(problem)[:_MESSAGE_LIMIT], "kind": type(problem).__name__}


def _send(answers: int, message: Json) -> None:
    data = json.dumps(message, allow_nan=False).encode() + b"\n"
    view = memoryview(data)
    while view:
        view = view[os.write(answers, view) :]


def _cpu_seconds() -> float:
    """CPU time of this process and of the children that it has waited for."""
    used = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def _reset_peak_memory() -> None:
    """Let Linux forget the peak so far, so that each request has its own."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def _peak_memory_mb() -> float | None:
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return None
    peaks = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(peaks[0]) / 1024 if peaks else None


def run_script(path: str) -> None:
    """Run a worker script with its streams already protected, so that its imports may print.

    It may import the modules beside it. They come last: a script `pdfplumber.py` means the package of that
    name, and workers of ours have only packages.
    """
    _end_with_parent()
    _streams()
    sys.argv = [path]
    folder = Path(path).resolve().parent
    if folder != Path(__file__).resolve().parents[1] / "workers":
        sys.path.append(str(folder))
    runpy.run_path(path, run_name="__main__")


if __name__ == "__main__":
    # Run from the copy that the script will import too: there must be one owner of the streams.
    importlib.import_module("parsemark_worker").run_script(sys.argv[1])
