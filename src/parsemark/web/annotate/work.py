"""The work on a folder: every edit is kept, every state can be undone to, and truth lies in the folder at
once.

Edits are kept in `DIR/.parsemark-annotate.sqlite`, one row each with the page before it. After each one the
page is written as `DOCUMENT.pN.json`, which `folder:DIR` reads. A page that nobody has touched or accepted
has no file, so what only parsers said is never taken for truth. Who takes everything back has not touched it:
the folder is then as it was before.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from parsemark.corpora import load_corpus
from parsemark.corpora.files import page_file_text
from parsemark.errors import CorpusError, PdfError
from parsemark.formats.model_json import page_from_json, page_to_json
from parsemark.model import Category, Page, Sample
from parsemark.pdf import page_shapes
from parsemark.registry import is_derived
from parsemark.store import Run
from parsemark.system.files import write_bytes, write_text
from parsemark.web.annotate.consensus import SURE, Start, consensus, start_page
from parsemark.web.annotate.differences import ParserDifference, differences
from parsemark.web.annotate.edits import Edit, apply
from parsemark.web.database import Database

DATABASE = ".parsemark-annotate.sqlite"
_VERSION = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pages (
  sample TEXT PRIMARY KEY, page TEXT NOT NULL, revision INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS edits (
  id INTEGER PRIMARY KEY, sample TEXT NOT NULL, person TEXT NOT NULL, edit TEXT NOT NULL,
  before TEXT NOT NULL, undone INTEGER NOT NULL DEFAULT 0, nonce TEXT NOT NULL UNIQUE, created REAL NOT NULL);
CREATE INDEX IF NOT EXISTS edits_of ON edits (sample, undone, id);
CREATE TABLE IF NOT EXISTS accepted (
  id INTEGER PRIMARY KEY, sample TEXT NOT NULL, person TEXT NOT NULL, page TEXT NOT NULL,
  created REAL NOT NULL);
CREATE TABLE IF NOT EXISTS originals (sample TEXT PRIMARY KEY, file BLOB) WITHOUT ROWID;
"""
_TOUCHED = """(
  EXISTS (SELECT 1 FROM edits WHERE edits.sample = here.sample AND NOT undone)
  OR EXISTS (SELECT 1 FROM accepted WHERE accepted.sample = here.sample))"""
"""Whether anything that somebody did to a page still stands."""


class OutdatedError(Exception):
    """Somebody else, or another tab, has changed the page in the meantime."""


@dataclass(frozen=True, slots=True)
class PageState:
    """A page as it is now."""

    sample: Sample
    page: Page
    revision: int
    """Grows with every change; 0 where nobody has touched the page."""
    start: Start
    n_edits: int
    accepted: tuple[tuple[str, Page], ...]
    """Who has said that the page is right, and how it was then."""

    @property
    def is_changed(self) -> bool:
        """Whether the last acceptance is older than the last edit."""
        return bool(self.accepted) and self.accepted[-1][1] != self.page

    @property
    def check(self) -> list[ParserDifference] | None:
        """What a second person changed of what the first had accepted; None until there is a second."""
        people = list(dict(self.accepted))
        if len(people) < 2:
            return None
        first = next(page for person, page in self.accepted if person == people[0])
        last = self.accepted[-1][1]
        return differences(first, last)


class Work:
    """The pages of a folder, open for annotation.

    Args:
        folder: With the PDFs.
        runs: Run directories whose predictions the pages start from.
        first: Pages that come before all others, in this order.
    """

    def __init__(self, folder: Path, runs: Sequence[Path] = (), first: Sequence[str] = ()) -> None:
        self.folder = folder
        self._db = Database(folder / DATABASE, _SCHEMA, _VERSION)
        corpus = load_corpus(f"folder:{folder}")
        self.remarks = corpus.remarks
        """What of the folder cannot be annotated, and what looks wrong in it."""
        self.samples = {sample.id: sample for sample in corpus.samples() if sample.pdf is not None}
        self._runs = [Run.open(path) for path in runs]
        self._starts: dict[str, Start] = {}
        self._rank = {name: place for place, name in enumerate(first)}
        self.n_named = len(self._rank)
        self.secret = bytes.fromhex(self._fact("secret", _random_hex()))

    def close(self) -> None:
        """Write what is waiting, and close."""
        self._db.close()

    def _fact(self, name: str, value: str) -> str:
        def keep(db: sqlite3.Connection) -> str:
            db.execute("INSERT OR IGNORE INTO facts VALUES (?, ?)", (name, value))
            return str(db.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()[0])

        return self._db.write(keep).result()

    def start(self, sample: str) -> Start:
        """What parsers agree on for a page."""
        if sample not in self._starts:
            predictions = {
                record.parser: run.prediction(sample, record.parser)
                for run in self._runs
                for record in run.records()
                if record.sample == sample and not is_derived(record.parser)
            }
            engines = {parser: e for run in self._runs for parser, e in run.manifest.engines.items()}
            self._starts[sample] = consensus(predictions, engines)
        return self._starts[sample]

    def _first(self, sample: Sample) -> Page:
        """The page before anybody touched it: the truth that was there, or what parsers agree on."""
        if sample.truth is not None:
            return sample.truth
        assert sample.pdf is not None
        try:
            shape = page_shapes(sample.pdf)[sample.page_number - 1]
        except (PdfError, IndexError) as error:
            raise CorpusError(f"{sample.pdf}: page {sample.page_number} cannot be read.") from error
        return start_page(Page(sample.id, shape.width, shape.height), self.start(sample.id))

    def state(self, name: str) -> PageState:
        """A page as it is now."""
        sample = self.samples[name]
        rows = self._db.read("SELECT page, revision FROM pages WHERE sample = ?", (name,))
        page = page_from_json(json.loads(rows[0]["page"])) if rows else self._first(sample)
        accepted = self._db.read("SELECT person, page FROM accepted WHERE sample = ? ORDER BY id", (name,))
        (count,) = self._db.read("SELECT COUNT(*) FROM edits WHERE sample = ? AND NOT undone", (name,))
        return PageState(
            sample,
            page,
            int(rows[0]["revision"]) if rows else 0,
            self.start(name),
            int(count[0]),
            tuple((row["person"], page_from_json(json.loads(row["page"]))) for row in accepted),
        )

    def edit(self, name: str, edit: Edit, person: str, nonce: str, revision: int) -> Future[Page]:
        """Change a page. Committed, and the truth written, before the future is done.

        Raises (from the future):
            EditError: It cannot be done.
            OutdatedError: The page is not the one that the person saw.
        """
        first = self._first(self.samples[name])

        def change(db: sqlite3.Connection) -> Page:
            found = db.execute("SELECT page, revision FROM pages WHERE sample = ?", (name,)).fetchone()
            page = page_from_json(json.loads(found["page"])) if found else first
            if db.execute("SELECT 1 FROM edits WHERE nonce = ?", (nonce,)).fetchone():
                return page  # sent twice
            now = found["revision"] if found else 0
            if now != revision:
                raise OutdatedError
            after = apply(page, edit)
            self._remember_file(db, name)
            _record(db, name, person, edit, page, nonce)
            self._keep(db, name, after, now + 1)
            return after

        return self._db.write(change)

    def undo(self, name: str, revision: int) -> Future[bool]:
        """Take the last edit back; False if there is none.

        Raises (from the future):
            OutdatedError: The page is not the one that the person saw: they may not have seen the edit.
        """

        def change(db: sqlite3.Connection) -> bool:
            found = db.execute("SELECT revision FROM pages WHERE sample = ?", (name,)).fetchone()
            now = found["revision"] if found else 0
            if now != revision:
                raise OutdatedError
            last = db.execute(
                "SELECT id, before FROM edits WHERE sample = ? AND NOT undone ORDER BY id DESC LIMIT 1",
                (name,),
            ).fetchone()
            if last is None:
                return False
            db.execute("UPDATE edits SET undone = 1 WHERE id = ?", (last["id"],))
            self._keep(db, name, page_from_json(json.loads(last["before"])), now + 1)
            return True

        return self._db.write(change)

    def accept(self, name: str, person: str, revision: int) -> Future[None]:
        """Say that a page is right as it is."""
        first = self._first(self.samples[name])

        def change(db: sqlite3.Connection) -> None:
            found = db.execute("SELECT page, revision FROM pages WHERE sample = ?", (name,)).fetchone()
            page = page_from_json(json.loads(found["page"])) if found else first
            if (found["revision"] if found else 0) != revision:
                raise OutdatedError
            self._remember_file(db, name)
            db.execute(
                "INSERT INTO accepted (sample, person, page, created) VALUES (?, ?, ?, ?)",
                (name, person, json.dumps(page_to_json(page)), time.time()),
            )
            self._keep(db, name, page, revision or 1)

        return self._db.write(change)

    def _keep(self, db: sqlite3.Connection, name: str, page: Page, revision: int) -> None:
        """The page in the database and in the folder; a kill between the two is mended at the next start."""
        text = json.dumps(page_to_json(page))
        db.execute("INSERT OR REPLACE INTO pages VALUES (?, ?, ?)", (name, text, revision))
        original = None if _is_touched(db, name) else _original(db, name)
        if original is None:
            self.write_truth(name, page)
        elif original["file"] is None:
            self._truth_file(name).unlink(missing_ok=True)
        else:
            write_bytes(self._truth_file(name), original["file"])

    def _remember_file(self, db: sqlite3.Connection, name: str) -> None:
        """Keep the file that a page has before anybody touches it, or that it has none."""
        if _is_touched(db, name):
            return
        target = self._truth_file(name)
        file = target.read_bytes() if target.is_file() else None
        db.execute("INSERT OR REPLACE INTO originals VALUES (?, ?)", (name, file))

    def _truth_file(self, name: str) -> Path:
        pdf = self.samples[name].pdf
        assert pdf is not None
        return pdf.with_name(f"{pdf.stem}.p{self.samples[name].page_number}.json")

    def write_truth(self, name: str, page: Page) -> Path:
        """Write the page as `folder:` reads it."""
        sample, target = self.samples[name], self._truth_file(name)
        assert sample.pdf is not None
        # Whoever left the text out has said nothing about it: no parser's text is extra then.
        only_tables = all(element.category == Category.TABLE for element in page.elements)
        whole = replace(sample, truth=replace(page, id=sample.id, only_tables=only_tables))
        write_text(target, page_file_text(whole, sample.pdf.name))
        return target

    def restore_files(self) -> int:
        """Write the truth of all pages that have been worked on again, where a file is missing or behind.

        A page on which everything was undone is as if nobody had seen it: its file, if there is one, is
        somebody else's, and parsers may have been run since.
        """
        rows = self._db.read(f"SELECT sample, page, {_TOUCHED} AS touched FROM pages AS here")
        for row in rows:
            name = row["sample"]
            if name not in self.samples:
                continue
            if row["touched"]:
                self.write_truth(name, page_from_json(json.loads(row["page"])))
            else:
                self._begin_again(name).result()
        return len(rows)

    def _begin_again(self, name: str) -> Future[None]:
        first = json.dumps(page_to_json(self._first(self.samples[name])))

        def change(db: sqlite3.Connection) -> None:
            db.execute("UPDATE pages SET page = ?, revision = revision + 1 WHERE sample = ?", (first, name))

        return self._db.write(change)

    def overview(self) -> list[dict[str, Any]]:
        """All pages: how uncertain, how far, who has accepted them. The most uncertain ones first."""
        found = []
        for name in self.samples:
            state = self.state(name)
            found.append(
                {
                    "sample": name,
                    "document": state.sample.document,
                    "page": state.sample.page_number,
                    "tables": len(state.page.tables),
                    "uncertain": n_uncertain(state.start),
                    "edits": state.n_edits,
                    "accepted": list(dict(state.accepted)),
                    "changed": state.is_changed,
                    "differences": None if state.check is None else len(state.check),
                }
            )
        last = len(self._rank)
        return sorted(
            found,
            key=lambda row: (
                bool(row["accepted"]),
                self._rank.get(row["sample"], last),
                -row["uncertain"],
                row["document"],
                row["page"],
            ),
        )


def _is_touched(db: sqlite3.Connection, name: str) -> bool:
    found = db.execute(f"SELECT {_TOUCHED} FROM (SELECT ? AS sample) AS here", (name,)).fetchone()
    return bool(found[0])


def _original(db: sqlite3.Connection, name: str) -> sqlite3.Row | None:
    """The file before anybody touched the page; None where a version first touched it that did not ask."""
    found: sqlite3.Row | None = db.execute("SELECT file FROM originals WHERE sample = ?", (name,)).fetchone()
    return found


def _record(db: sqlite3.Connection, name: str, person: str, edit: Edit, before: Page, nonce: str) -> None:
    """Keep an edit. What a person types until they leave a cell is one, so that undoing takes the word back,
    not a letter: the browser gives such keystrokes the same `typing`.
    """
    last = db.execute(
        "SELECT id, edit FROM edits WHERE sample = ? AND NOT undone ORDER BY id DESC LIMIT 1", (name,)
    ).fetchone()
    now = time.time()
    text = json.dumps(dict(edit))
    if last is not None and edit.get("typing") and _place(json.loads(last["edit"])) == _place(edit):
        changes = (text, nonce, now, last["id"])
        db.execute("UPDATE edits SET edit = ?, nonce = ?, created = ? WHERE id = ?", changes)
        return
    db.execute(
        "INSERT INTO edits (sample, person, edit, before, nonce, created) VALUES (?, ?, ?, ?, ?, ?)",
        (name, person, text, json.dumps(page_to_json(before)), nonce, now),
    )


def _place(edit: Edit) -> tuple[object, ...]:
    return tuple(edit.get(key) for key in ("do", "element", "row", "col", "typing"))


def n_uncertain(start: Start) -> int:
    """How many cells of a page's start the parsers do not agree on."""
    return sum(share < SURE for cells in start.agreement.values() for share in cells.values())


def _random_hex() -> str:
    import secrets

    return secrets.token_hex(32)
