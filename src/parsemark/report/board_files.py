"""Writes a run as the files of the board whose rules it was scored by."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from parsemark.errors import UsageError
from parsemark.protocols import get_protocol
from parsemark.protocols.result_files import BoardRun
from parsemark.report.source import RunSource
from parsemark.store import Run
from parsemark.system import make_folder, write_text


def export_board(path: Path, protocol: str | None, out: Path) -> int:
    """Write the files into a folder, and say how many there are.

    Raises:
        UsageError: The protocol has no files of its own, or a name would lead out of the folder.
    """
    source = RunSource(Run.open(path), str(get_protocol(protocol)) if protocol else None)
    write = source.shown.result_files
    if write is None:
        raise UsageError(f"The protocol {source.protocol} has no result files of its own.")
    scores = source.run.table("scores", source.protocol)
    n = 0
    for name, text in write(BoardRun(source.run, source.summary, source.samples, scores)):
        inside = PurePosixPath(name)
        if inside.is_absolute() or ".." in inside.parts:
            raise UsageError(f"The name {name!r} of this run leads out of the folder {out}.")
        make_folder(out, *inside.parts[:-1])
        write_text(out / inside, text)
        n += 1
    return n
