"""The work on a folder: every edit is kept, every state can be undone to, and what is accepted is truth.

Edits are kept in `DIR/.parsemark-annotate.sqlite`, one row each with the page before it. Once somebody says
that a page is right, it is written as `DOCUMENT.pN.json`, which `folder:DIR` reads, in place of the files
that spoke of the page before; until then the folder is as it was. Work is kept under a page's name and the
hash of its PDF, which the truth names too, so that neither is ever another document's.
"""

import json
import sqlite3
import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from parsemark.consensus.starting_page import Start, consensus, start_page
from parsemark.corpora import load_corpus
from parsemark.corpora.base import Remark
from parsemark.corpora.files import page_file_text, page_from_file
from parsemark.corpora.loaders.folder import page_files
from parsemark.corpora.schema import PageFile
from parsemark.errors import CorpusError, PdfError
from parsemark.formats.model_json import page_from_json, page_to_json, table_to_json
from parsemark.model import Category, Page, Prediction, Sample
from parsemark.pdf import page_shapes
from parsemark.specs import is_derived
from parsemark.store import Run
from parsemark.system.files import file_sha256, write_bytes, write_text
from parsemark.web.annotate.edits import Edit, EditError, apply
from parsemark.web.annotate.page_state import PageState
from parsemark.web.database import Database

DATABASE = ".parsemark-annotate.sqlite"
_VERSION = 1
_SCHEMA = Path(__file__).with_name("edits.sql").read_text(encoding="utf-8")


class OutdatedError(Exception):
    """Somebody else, or another tab, has changed the page in the meantime."""


class Work:
    """The pages of a folder with PDFs, those in `first` before others; runs say what parsers agree on."""

    def __init__(self, folder: Path, runs: Sequence[Path] = (), first: Sequence[str] = ()) -> None:
        self.folder = folder
        self._runs = [Run.open(path) for path in runs]
        for run in self._runs:
            for record in run.records()[:1]:
                run.prediction(record.sample, record.parser)  # a run that is not scored is refused at once
        self._db = Database(folder / DATABASE, _SCHEMA, _VERSION)
        corpus = load_corpus(f"folder:{folder}")
        self.remarks = corpus.remarks  # what of the folder cannot be annotated, and what looks wrong in it
        self.by_hand: list[Remark] = []  # accepted pages whose files were changed by hand since
        self.samples = {sample.id: sample for sample in corpus.samples() if sample.pdf is not None}
        self._files = page_files(folder)
        pdfs = {sample.pdf for sample in self.samples.values() if sample.pdf is not None}
        hashes = {pdf: file_sha256(pdf) for pdf in pdfs}
        self._hashes = {name: hashes[s.pdf] for name, s in self.samples.items() if s.pdf is not None}
        self._keys = {name: f"{name}@{digest[:16]}" for name, digest in self._hashes.items()}
        """Under which work is kept: another PDF of the same name has nothing to do with it."""
        self._starts: dict[str, Start] = {}
        self._rank = {name: place for place, name in enumerate(first)}
        self.n_named = len(self._rank)
        self.secret = self._db.secret()

    def close(self) -> None:
        """Write what is waiting, and close."""
        self._db.close()

    def _predictions(self, sample: str) -> dict[str, Prediction]:
        return {
            record.parser: run.prediction(sample, record.parser)
            for run in self._runs
            for record in run.records()
            if record.sample == sample and not is_derived(record.parser)
        }

    def offers(self, sample: str) -> list[dict[str, Any]]:
        """Return the tables that each parser has found on a page, to be taken as they are."""
        return [
            {
                "parser": parser,
                "index": index,
                "rows": element.table.n_rows,
                "cols": element.table.n_cols,
                "box": None if element.box is None else list(element.box.as_tuple()),
            }
            for parser, prediction in sorted(self._predictions(sample).items())
            for index, element in enumerate(prediction.tables)
            if element.table is not None and element.table.cells
        ]

    def _with_table(self, sample: str, edit: Edit) -> Edit:
        """Return an edit that takes a parser's table, with that table."""
        if edit.get("do") != "take":
            return edit
        parser, index = edit.get("parser"), edit.get("index")
        found = self._predictions(sample).get(parser) if isinstance(parser, str) else None
        tables = () if found is None else found.tables
        if not isinstance(index, int) or not 0 <= index < len(tables) or tables[index].table is None:
            raise EditError("The parser does not have this table.")
        table, box = tables[index].table, tables[index].box
        assert table is not None
        return {**edit, "table": table_to_json(table), "table_box": None if box is None else box.as_tuple()}

    def start(self, sample: str) -> Start:
        """Return the parsers' consensus for a page."""
        if sample not in self._starts:
            engines = {parser: e for run in self._runs for parser, e in run.manifest.engines.items()}
            self._starts[sample] = consensus(self._predictions(sample), engines)
        return self._starts[sample]

    def _first(self, sample: Sample) -> Page:
        """Return the page before anybody touched it: the truth that was there, or what parsers agree on."""
        if sample.truth is not None:
            return sample.truth
        assert sample.pdf is not None
        try:
            shape = page_shapes(sample.pdf)[sample.page_number - 1]
        except (PdfError, IndexError) as error:
            raise CorpusError(f"{sample.pdf}: page {sample.page_number} cannot be read.") from error
        return start_page(Page(sample.id, shape.width, shape.height), self.start(sample.id))

    def state(self, name: str) -> PageState:
        """Return a page as it is now."""
        sample = self.samples[name]
        key = self._keys[name]
        rows = self._db.read("SELECT page, revision FROM pages WHERE sample = ?", (key,))
        page = page_from_json(json.loads(rows[0]["page"])) if rows else self._first(sample)
        accepted = self._db.read("SELECT person, page FROM accepted WHERE sample = ? ORDER BY id", (key,))
        files = self._files.get(name, ())
        (count,) = self._db.read("SELECT COUNT(*) FROM edits WHERE sample = ? AND NOT undone", (key,))
        return PageState(
            sample,
            page,
            int(rows[0]["revision"]) if rows else 0,
            self.start(name),
            int(count[0]),
            tuple((row["person"], page_from_json(json.loads(row["page"]))) for row in accepted),
            has_truth=sample.truth is not None and (not files or any(file.is_file() for file in files)),
        )

    def edit(self, name: str, edit: Edit, person: str, nonce: str, revision: int) -> Future[Page]:
        """Change a page. Committed before the future is done; truth only once somebody accepts it.

        EditError: it takes a table that is not there, or (from the future) cannot be done. OutdatedError,
        from the future: the page is not the one that the person saw.
        """
        first, key = self._first(self.samples[name]), self._keys[name]
        whole = self._with_table(name, edit)

        def change(db: sqlite3.Connection) -> Page:
            page, now = _current(db, key, first)
            if db.execute("SELECT 1 FROM edits WHERE nonce = ?", (nonce,)).fetchone():
                return page  # sent twice
            if now != revision:
                raise OutdatedError
            after = apply(page, whole)
            _record(db, key, person, edit, page, nonce)
            _keep(db, key, after, now + 1)
            return after

        return self._db.write(change)

    def undo(self, name: str, revision: int) -> Future[bool]:
        """Take the last edit back; False if there is none. What was accepted stays truth.

        Raises (from the future):
            OutdatedError: The page is not the one that the person saw: they may not have seen the edit.
        """
        key = self._keys[name]

        def change(db: sqlite3.Connection) -> bool:
            found = db.execute("SELECT revision FROM pages WHERE sample = ?", (key,)).fetchone()
            now = found["revision"] if found else 0
            if now != revision:
                raise OutdatedError
            last = db.execute(
                "SELECT id, before FROM edits WHERE sample = ? AND NOT undone ORDER BY id DESC LIMIT 1",
                (key,),
            ).fetchone()
            if last is None:
                return False
            db.execute("UPDATE edits SET undone = 1 WHERE id = ?", (last["id"],))
            _keep(db, key, page_from_json(json.loads(last["before"])), now + 1)
            return True

        return self._db.write(change)

    def accept(self, name: str, person: str, revision: int) -> Future[None]:
        """Accept a page as it is: it becomes truth, in place of the earlier one."""
        first, key = self._first(self.samples[name]), self._keys[name]

        def change(db: sqlite3.Connection) -> None:
            page, now = _current(db, key, first)
            if now != revision:
                raise OutdatedError
            self._remember_files(db, name)
            db.execute(
                "INSERT INTO accepted (sample, person, page, created) VALUES (?, ?, ?, ?)",
                (key, person, json.dumps(page_to_json(page)), time.time()),
            )
            _keep(db, key, page, revision or 1)
            self._write_truth(name, page)

        return self._db.write(change)

    def withdraw(self, name: str) -> Future[None]:
        """Take back that a page is right: the files are again those that were there."""
        key, first = self._keys[name], self._first(self.samples[name])

        def change(db: sqlite3.Connection) -> None:
            own = self._last_written(db, name)
            if not db.execute("DELETE FROM accepted WHERE sample = ?", (key,)).rowcount:
                return
            page, now = _current(db, key, first)
            _keep(db, key, page, now + 1)
            if self._truth_file(name).is_file() and self._truth_file(name).read_bytes() == own:
                self._truth_file(name).unlink()
            for row in db.execute("SELECT name, file FROM replaced WHERE sample = ?", (key,)).fetchall():
                if not (file := self.folder / row["name"]).exists():
                    write_bytes(file, row["file"])
                    self._files[name] = [*self._files.get(name, ()), file]
                    db.execute("DELETE FROM replaced WHERE sample = ? AND name = ?", (key, row["name"]))
            _set_aside(db, key)

        return self._db.write(change)

    def _last_written(self, db: sqlite3.Connection, name: str) -> bytes | None:
        """Return the truth file as the last acceptance of a page wrote it."""
        found = db.execute(
            "SELECT page FROM accepted WHERE sample = ? ORDER BY id DESC LIMIT 1", (self._keys[name],)
        ).fetchone()
        return self._truth_text(name, page_from_json(json.loads(found["page"]))).encode() if found else None

    def _remember_files(self, db: sqlite3.Connection, name: str) -> None:
        """Keep the files that speak of a page and are not ours, before an acceptance takes their place."""
        own = self._last_written(db, name)
        for file in {*self._files.get(name, ()), self._truth_file(name)}:  # it may have come meanwhile
            if file.is_file() and (data := file.read_bytes()) != own:
                kept = (self._keys[name], file.relative_to(self.folder).as_posix(), data)
                _set_aside(db, *kept[:2])
                db.execute("INSERT INTO replaced VALUES (?, ?, ?)", kept)

    def _truth_file(self, name: str) -> Path:
        pdf = self.samples[name].pdf
        assert pdf is not None
        return pdf.with_name(f"{pdf.stem}.p{self.samples[name].page_number}.json")

    def _truth_text(self, name: str, page: Page) -> str:
        """Return the page as `folder:` reads it."""
        sample = self.samples[name]
        assert sample.pdf is not None
        # A person who left the text out has said nothing about it: no parser's text is extra then.
        only_tables = all(element.category == Category.TABLE for element in page.elements)
        whole = replace(sample, truth=replace(page, id=sample.id, only_tables=only_tables))
        return page_file_text(whole, sample.pdf.name, self._hashes[name])

    def _write_truth(self, name: str, page: Page) -> None:
        """Write the page's truth, and remove what spoke of it before."""
        target = self._truth_file(name)
        write_text(target, self._truth_text(name, page))
        for file in self._files.get(name, ()):
            if file != target:
                file.unlink(missing_ok=True)

    def catch_up(self) -> list[Remark]:
        """Import changes made between sessions: files edited by hand, and parsers run since.

        A page whose files say something else than when it was accepted, or else when it last showed them,
        shows what they say now and counts as not accepted; they stay as they are. Such pages are returned,
        each with what to do.
        """
        rows = self._db.read(
            "SELECT sample, page FROM accepted WHERE id IN (SELECT MAX(id) FROM accepted GROUP BY sample)"
        )
        names = {key: name for name, key in self._keys.items()}
        accepted = {
            names[row["sample"]]: page_from_json(json.loads(row["page"]))
            for row in rows
            if row["sample"] in names
        }
        found = [
            self._give_way(name, page).result()
            for name, page in accepted.items()
            if not self._stands(name, page)
        ]
        edited = self._db.read(
            "SELECT sample, page FROM pages AS here WHERE "
            "EXISTS (SELECT 1 FROM edits WHERE edits.sample = here.sample AND NOT undone)"
        )
        for row in edited:
            name, page = names.get(row["sample"]), page_from_json(json.loads(row["page"]))
            if name is not None and name not in accepted and self._says_news(name, page):
                found.append(self._give_way(name, page).result())
        untouched = self._db.read(
            "SELECT sample FROM pages AS here WHERE "
            "NOT EXISTS (SELECT 1 FROM edits WHERE edits.sample = here.sample AND NOT undone) "
            "AND NOT EXISTS (SELECT 1 FROM accepted WHERE accepted.sample = here.sample)"
        )
        for row in untouched:  # as if it were new: parsers may have been run since
            if row["sample"] in names:
                self._begin_again(names[row["sample"]]).result()
        self.by_hand = found
        return found

    def _stands(self, name: str, page: Page) -> bool:
        """Return whether the files say what was accepted, and nothing else."""
        file, truth = self._truth_file(name), self.samples[name].truth
        if not file.is_file() or truth is None:
            return False
        text = self._truth_text(name, page)
        if file.read_bytes() == text.encode():
            return True
        return truth == page_from_file(PageFile.model_validate_json(text), truth.id)

    def _says_news(self, name: str, page: Page) -> bool:
        """Return whether the files say what an edited page neither shows nor has shown when it last took them
        in: at its first edit, or when they had been changed by hand.
        """
        key, truth = self._keys[name], self.samples[name].truth
        (first,) = self._db.read(
            "SELECT id, before FROM edits WHERE sample = ? AND NOT undone ORDER BY id LIMIT 1", (key,)
        )
        by_hand = self._db.read(
            "SELECT edit FROM edits WHERE sample = ? AND id >= ? AND nonce LIKE ? ORDER BY id DESC LIMIT 1",
            (key, first["id"], f"by-hand-{key}-%"),
        )
        taken = next((json.loads(row["edit"]).get("page") for row in by_hand), None)
        last = page_from_json(taken or json.loads(first["before"]))
        return truth is not None and not any(truth == p or self._stands(name, p) for p in (last, page))

    def _give_way(self, name: str, known: Page) -> Future[Remark]:
        """Keep files that were changed by hand: the page is no longer accepted.

        What they say is the last edit of the page, so that undoing it shows what the page was, also where it
        was edited after it was accepted. Files that the acceptance had replaced stay in the database; those
        of today come back when the next one is withdrawn.
        """
        key, truth = self._keys[name], self.samples[name].truth

        def change(db: sqlite3.Connection) -> Remark:
            was_accepted = db.execute("DELETE FROM accepted WHERE sample = ?", (key,)).rowcount
            _set_aside(db, key)
            page, revision = _current(db, key, known)
            if truth is not None:
                edit = {"do": "by_hand", "page": page_to_json(truth)}
                _record(db, key, "", edit, page, f"by-hand-{key}-{uuid4().hex}")
            _keep(db, key, page if truth is None else truth, revision + 1)
            files = [file.relative_to(self.folder).as_posix() for file in self._files.get(name, ())]
            said = (
                f"its files were changed by hand after it was {'accepted' if was_accepted else 'edited'} "
                f"(files now: {', '.join(files) or 'none'}). parsemark does not change them. "
                f"{'' if truth is None else 'The page shows their content; undo shows the content before. '}"
                "The page counts as not accepted. To accept it, open it and choose “Page is right”."
            )
            return Remark(name, said, left_out=False)

        return self._db.write(change)

    def _begin_again(self, name: str) -> Future[None]:
        first, key = json.dumps(page_to_json(self._first(self.samples[name]))), self._keys[name]

        def change(db: sqlite3.Connection) -> None:
            db.execute("UPDATE pages SET page = ?, revision = revision + 1 WHERE sample = ?", (first, key))

        return self._db.write(change)

    def overview(self) -> list[dict[str, Any]]:
        """Return all pages: how uncertain, how far, who has accepted them. The most uncertain ones first."""
        found = []
        for name in self.samples:
            state = self.state(name)
            found.append(
                {
                    "sample": name,
                    "document": state.sample.document,
                    "page": state.sample.page_number,
                    "tables": len(state.page.tables),
                    "uncertain": sum(map(len, state.doubts.values())),
                    "edits": state.n_edits,
                    "accepted": list(dict(state.accepted)),
                    "truth": state.truth,
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


def _current(db: sqlite3.Connection, key: str, first: Page) -> tuple[Page, int]:
    """Return a page as it is kept, and its revision; the first state where nothing is kept."""
    found = db.execute("SELECT page, revision FROM pages WHERE sample = ?", (key,)).fetchone()
    return (page_from_json(json.loads(found["page"])), int(found["revision"])) if found else (first, 0)


def _keep(db: sqlite3.Connection, key: str, page: Page, revision: int) -> None:
    row = (key, json.dumps(page_to_json(page)), revision)
    db.execute("INSERT OR REPLACE INTO pages VALUES (?, ?, ?)", row)


def _set_aside(db: sqlite3.Connection, key: str, file: str | None = None) -> None:
    """Leave replaced files, or one, in the database; no withdrawal brings them back: there are newer ones."""
    old = (f"{key} until {uuid4().hex}", key, file)
    db.execute("UPDATE replaced SET sample = ? WHERE sample = ? AND name = COALESCE(?, name)", old)


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
