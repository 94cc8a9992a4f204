"""Imports the truth of the PDFs of a folder into a corpus: any number of them, in bounded memory.

`import.sqlite` of the corpus records each document with its pages and counts when it is done. So an import
that was killed resumes, and one that is run again reads only what is new or has changed.
"""

import fcntl
import hashlib
import json
import os
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from parsemark.corpora.croissant import describe_folder
from parsemark.corpora.loaders.embedded import ImportedDocument, ImportTask, read_truth
from parsemark.corpora.loaders.files import is_storable
from parsemark.corpora.making import Progress, silent
from parsemark.corpora.schema import CorpusFile
from parsemark.engine.cluster import RayPool, require_executor
from parsemark.errors import UsageError
from parsemark.system import file_sha256, make_folder, replacing, write_text
from parsemark.system.files import locked_folder
from parsemark.system.pool import Finished, Lost, ProcessPool, results_of

JOURNAL = "import.sqlite"
_TABLES = """
create table if not exists documents
    (file text primary key, state text, outcome text, message text, counts text);
create table if not exists files (name text primary key, sha256 text, file text);
create index if not exists of_file on files (file);
create table if not exists settings (root text, origin text);
"""
_MEMORY_MB = 4096
_CLONE = 0x40049409  # Linux's call that has two files share their bytes until one of them is written to
_TIMEOUT_S = 1800.0


def import_corpus(
    root: Path,  # with Ray, all machines must have it in the same place
    out: Path,  # a new folder, or the folder of the same import
    *,
    origin: str = "embedded",  # or `tagged`, `source-pairs`: the corpora of these names
    workers: int | None = None,  # processes, or tasks at a time; one for each core by default
    executor: str = "local",  # or `ray`
    address: str | None = None,  # of a Ray cluster
    progress: Progress = silent,  # called with the number of documents that are done
    changes: Counter[str] | None = None,  # filled with how many are `new`, `changed`, `unchanged`, `removed`
) -> dict[str, dict[str, int]]:
    """Import the truth of the PDFs below a folder into a corpus, and return its statistics.

    Raises:
        UsageError: There are no PDFs, none of those of an earlier import, or `out` holds something else.
    """
    if out.exists() and any(out.iterdir()) and not (out / JOURNAL).is_file():
        raise UsageError(f"{out} is not empty and is not an earlier import; give a new folder.")
    require_executor(executor)
    if not (out / JOURNAL).is_file() and next(_walk(root), None) is None:
        raise UsageError(f"{root} contains no PDF.")
    make_folder(out / "truth")
    seen: Counter[str] = Counter() if changes is None else changes
    with locked_folder(out), closing(sqlite3.connect(out / JOURNAL)) as journal:
        _begin(journal, root, origin)
        todo = (
            ImportTask(root, file, origin)
            for file in _walk(root)
            if not _is_done(journal, root, file, progress, seen)
        )
        limits: dict[str, Any] = {"timeout_s": _TIMEOUT_S, "memory_mb": _MEMORY_MB}
        pool: ProcessPool[ImportTask] | RayPool[ImportTask]
        if executor == "ray":
            pool = RayPool(read_truth, workers, address=address, **limits)
        else:
            pool = ProcessPool(read_truth, workers or os.cpu_count() or 1, **limits)
        with pool:
            for done in results_of(pool, todo):
                _keep(journal, out, done)
                progress(1)
        seen["removed"] += _drop_gone(journal, root, out)
        return _finish(journal, root, out, origin)


def left_out(out: Path, limit: int = 5) -> list[tuple[str, str, str]]:
    """Return file, outcome and reason of documents that failed, have no truth, or have parts without it."""
    with closing(sqlite3.connect(out / JOURNAL)) as journal:
        found = []
        for outcome in ("failed", "imported", "no truth"):
            wanted = "select file, outcome, message from documents where outcome = ? and message != ''"
            rows = journal.execute(f"{wanted} order by file limit ?", (outcome, limit + 1)).fetchall()
            found += rows[:limit]
            if len(rows) > limit:
                found.append(("…", outcome, f"more are in {out / JOURNAL}"))
    return found


def _begin(journal: sqlite3.Connection, root: Path, origin: str) -> None:
    journal.execute("pragma journal_mode=wal")
    journal.executescript(_TABLES)
    stored = journal.execute("select root, origin from settings").fetchone()
    settings = (str(root.resolve()), origin)
    if stored is None:
        journal.execute("insert into settings values (?, ?)", settings)
        journal.commit()
    elif stored != settings:
        raise UsageError(
            f"This is an import of {stored[0]} ({stored[1]}); give another folder for other PDFs."
        )


def _walk(root: Path) -> Iterator[str]:
    """Yield the PDFs below a folder, folder by folder, in order; links that lead out of it are passed
    over.
    """
    inside = root.resolve()
    folders = [root]
    while folders:
        with os.scandir(folders.pop()) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
        for entry in listed:
            path = Path(entry.path)
            is_pdf = entry.name.lower().endswith(".pdf") and entry.is_file() and is_storable(path)
            if is_pdf and (not entry.is_symlink() or path.resolve().is_relative_to(inside)):
                yield path.relative_to(root).as_posix()
        folders += [Path(e.path) for e in reversed(listed) if e.is_dir(follow_symlinks=False)]


def _state(path: Path) -> str:
    status = path.stat()
    return f"{status.st_size} {status.st_mtime_ns}"


def _is_done(
    journal: sqlite3.Connection, root: Path, file: str, progress: Callable[[int], None], seen: Counter[str]
) -> bool:
    known = journal.execute("select state from documents where file = ?", (file,)).fetchone()
    is_done = known is not None and known[0] == _state(root / file)
    seen["unchanged" if is_done else "changed" if known else "new"] += 1
    if is_done:
        progress(1)
    return is_done


def _keep(journal: sqlite3.Connection, out: Path, done: Finished[ImportTask] | Lost[ImportTask]) -> None:
    """Write the pages of a document, and then, at once, that it is done and what it counts."""
    task, files = done.task, list[tuple[str, str]]()
    found: ImportedDocument | None = None if isinstance(done, Lost) else done.result
    why = done.reason if isinstance(done, Lost) else ""
    outcome, message = ("failed", why) if found is None else (found.outcome, found.message)
    if found is not None and found.pages:
        name = f"pdfs/{task.file}"
        _copy(task.root / task.file, out / name)
        files.append((name, file_sha256(out / name)))
        for page, text in found.pages:
            write_text(out / "truth" / f"{page}.json", text)
            files.append((f"truth/{page}.json", hashlib.sha256(text.encode()).hexdigest()))
    counts = {} if found is None else {f"{group}\t{name}": n for (group, name), n in found.counts.items()}
    row = (task.file, _state(task.root / task.file), outcome, message, json.dumps(counts))
    with journal:
        journal.execute("delete from files where file = ?", (task.file,))
        journal.execute("insert or replace into documents values (?, ?, ?, ?, ?)", row)
        journal.executemany("insert into files values (?, ?, ?)", [(*own, task.file) for own in files])


def _drop_gone(journal: sqlite3.Connection, root: Path, out: Path) -> int:
    """Take documents out of the corpus that the folder no longer has; returns how many."""
    known = [file for (file,) in journal.execute("select file from documents")]
    gone = [file for file in known if not (root / file).is_file()]
    if gone and len(gone) == len(known):
        raise UsageError(f"{root} no longer has any PDF of this import; the corpus is unchanged.")
    for file in gone:
        for (name,) in journal.execute("select name from files where file = ?", (file,)).fetchall():
            (out / name).unlink(missing_ok=True)
        with journal:
            journal.execute("delete from files where file = ?", (file,))
            journal.execute("delete from documents where file = ?", (file,))
    return len(gone)


def _copy(source: Path, target: Path) -> None:
    """Copy a file, so that changes to the original do not change the corpus; shares bytes if disks can."""
    make_folder(target.parent)
    with replacing(target) as unfinished, source.open("rb") as old, unfinished.open("wb") as new:
        try:
            fcntl.ioctl(new, _CLONE, old.fileno())
        except OSError:
            shutil.copyfileobj(old, new, 1 << 20)


def _finish(journal: sqlite3.Connection, root: Path, out: Path, origin: str) -> dict[str, dict[str, int]]:
    """Write `corpus.json` line by line, `statistics.json` and `croissant.json`."""
    if journal.execute("select 1 from files limit 1").fetchone() is None:
        reasons = "".join(f" {file} ({outcome}): {why}" for file, outcome, why in left_out(out))
        raise UsageError(f"No PDF below {root} has truth that {origin}:DIR reads.{reasons}")
    ordered = "select name, sha256 from files order by name"
    digest = hashlib.sha256()
    for name, sha256 in journal.execute(ordered):
        digest.update(f"{name} {sha256}\n".encode())
    manifest = CorpusFile(
        name=f"{origin}-{root.resolve().name}",
        description=f"The truth of the PDFs of {root.resolve().name} ({origin}).",
        generator="parsemark corpus import",
        settings={"origin": origin},
        hash=digest.hexdigest(),
        files={},
    )
    head = json.dumps(manifest.model_dump(mode="json", exclude={"files"}, exclude_none=True), indent=0)
    with replacing(out / "corpus.json") as unfinished, unfinished.open("w", encoding="utf-8") as file:
        file.write(f'{head.rstrip()[:-1].rstrip()},\n"files": {{\n')
        for k, (name, sha256) in enumerate(journal.execute(ordered)):
            file.write(f"{',' if k else ''}{json.dumps(name)}: {json.dumps(sha256)}\n")
        file.write("}\n}\n")
    counted: Counter[str] = Counter()
    for outcome, counts in journal.execute("select outcome, counts from documents"):
        counted.update({f"documents\t{outcome}": 1, **json.loads(counts)})
    statistics: dict[str, dict[str, int]] = {}
    for key, n in sorted(counted.items()):
        group, name = key.split("\t")
        statistics.setdefault(group, {})[name] = n
    write_text(out / "statistics.json", json.dumps(statistics, ensure_ascii=False, indent=1) + "\n")
    write_text(
        out / "croissant.json", json.dumps(describe_folder(manifest, out / "corpus.json"), indent=1) + "\n"
    )
    return statistics
