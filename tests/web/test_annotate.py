"""Annotation over HTTP: saved at once, undone, checked, and read by `folder:`."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from PIL import Image
from tests.engine.fakes import FakeParser, make_corpus
from tests.waiting import PATIENCE_S, is_running, wait_until
from tests.web.serve import Person, served
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.consensus.starting_page import Start
from parsemark.corpora import load_corpus
from parsemark.engine.parsing.parse import ParseOptions, parse_corpus
from parsemark.errors import StoreError
from parsemark.formats.model_json import table_from_json
from parsemark.model import Element, Sample, Status, Table
from parsemark.web.annotate import app as annotate_app
from parsemark.web.annotate.edit_store import DATABASE, Work
from parsemark.web.rate import app as rate_app

LINK = "Annotate at"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pages = [Image.new("RGB", (600, 800), "white") for _ in range(3)]
    (tmp_path / "docs").mkdir()
    pages[0].save(tmp_path / "docs" / "report.pdf", save_all=True, append_images=pages[1:], resolution=72)
    return tmp_path / "docs"


def truth(folder: Path, page: int) -> Any:
    samples = {s.page_number: s for s in load_corpus(f"folder:{folder}").samples()}
    return samples[page].truth


class Annotator(Person):
    """Somebody who annotates the first page."""

    def __init__(self, link: str, name: str, sample: str = "report.p1") -> None:
        super().__init__(link)
        self.path = f"/api/page/{sample}"
        assert self.client.get(self.path).status_code == 200, self.see()[:2000]
        self.post("/api/person", {"name": name})

    def edit(self, revision: int | None = None, nonce: str | None = None, **edit: Any) -> httpx.Response:
        now = self.get(self.path)["revision"] if revision is None else revision
        nonce = nonce or f"nonce-{uuid4()}"
        return self.post(f"{self.path}/edit", {"edit": edit, "nonce": nonce, "revision": now})

    def accept(self) -> httpx.Response:
        return self.post(f"{self.path}/accept", {"revision": self.get(self.path)["revision"]})

    def rows(self) -> list[list[str]]:
        """The texts of the first table as it is now."""
        table = next(e["table"] for e in self.get(self.path)["page"]["elements"] if e.get("table"))
        return table_from_json(table).text_rows()

    def undo(self, revision: int | None = None) -> httpx.Response:
        """Take the last change back, of the page as it is now unless `revision` names another state of it."""
        now = self.get(self.path)["revision"] if revision is None else revision
        return self.post(f"{self.path}/undo", {"revision": now})


def runs_of(folder: Path, out: Path, tables: dict[str, list[list[str]]]) -> list[str]:
    """`--run RUN` for parsers with one table on the first page each."""
    options = []
    for name, rows in tables.items():
        (out / name).mkdir(parents=True)
        body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
        (out / name / f"{first_sample(folder)}.html").write_text(f"<table>{body}</table>")
        run = str(out / f"run-{name}")
        arguments = [
            str(out / name),
            "--corpus",
            f"folder:{folder}",
            "--name",
            name,
            "--out",
            run,
        ]
        done = CliRunner().invoke(app, ["score", *arguments])
        assert done.exit_code == 0, (done.output, done.exception)
        options += ["--run", run]
    return options


def first_sample(folder: Path) -> str:
    return next(iter(load_corpus(f"folder:{folder}").samples())).id


def test_what_is_accepted_is_truth_and_nothing_else(folder: Path) -> None:
    sample = first_sample(folder)
    with served("annotate", f"folder:{folder}", "--port", "0") as (links, _):
        person = Annotator(links[LINK], "Ada", sample)
        person.edit(do="add", category="table", box=[10, 20, 300, 200])
        for row, texts in enumerate((["Méthode", "<b>β</b>"], ["ours", "1.12"])):
            for col, text in enumerate(texts):
                assert person.edit(do="text", element="t1", row=row, col=col, text=text).json()["saved"]
        assert truth(folder, 1) is None and not (folder / "report.p1.json").exists(), "nobody has accepted it"
        assert not person.get(person.path)["has_truth"]
        person.accept()
        table = truth(folder, 1).tables[0].table
        assert table.text_rows() == [["Méthode", "<b>β</b>"], ["ours", "1.12"]]
        assert truth(folder, 1).tables[0].box.as_tuple() == (10, 20, 300, 200)
        assert truth(folder, 2) is None, "pages that nobody has looked at are no truth"
        person.undo()
        assert person.rows()[1] == ["ours", ""] and person.get(person.path)["changed"]
        assert truth(folder, 1).tables[0].table.text_rows()[1] == ["ours", "1.12"], "what was accepted stays"
        person.accept()
        assert truth(folder, 1).tables[0].table.text_rows()[1] == ["ours", ""]
        assert person.post(f"{person.path}/withdraw", {}).json()["accepted"] == []
        assert truth(folder, 1) is None
        second = Annotator(links[LINK], "Ada", sample[:-1] + "2")
        second.accept()
        assert truth(folder, 2).elements == ()
    listed = CliRunner().invoke(app, ["corpus", "info", f"folder:{folder}", "--pages"])
    assert "2 of 3 pages" in listed.output and "report-p1, report-p3" in " ".join(listed.output.split())


@pytest.mark.parametrize("name", ["report.p1.t1.csv", "report.p1.html", "report.p1.md"])
def test_old_truth_is_taken_in_and_replaced(folder: Path, name: str) -> None:
    content = "<table><tr><td>old</td><td>2</td></tr></table>" if name.endswith(".html") else "old,2\n"
    content = "|old|2|\n|---|---|\n" if name.endswith(".md") else content
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(content)
    sample = first_sample(folder)
    with served("annotate", f"folder:{folder}", "--port", "0") as (links, _):
        person = Annotator(links[LINK], "Ada", sample)
        (element,) = (e["id"] for e in person.get(person.path)["page"]["elements"])
        assert person.rows() == [["old", "2"]]
        assert person.get(person.path)["has_truth"], "its file is truth already"
        person.edit(do="text", element=element, row=0, col=0, text="new")
        assert truth(folder, 1).tables[0].table.text_rows() == [["old", "2"]], "until it is accepted"
        person.accept()
        assert truth(folder, 1).tables[0].table.text_rows() == [["new", "2"]]
        assert not (folder / name).exists()
        person.post(f"{person.path}/withdraw", {})
        assert (folder / name).read_text() == content and not (folder / "report.p1.json").exists()
        person.accept()
    with served("annotate", f"folder:{folder}", "--port", "0") as (links, _):  # which finds it accepted
        person = Annotator(links[LINK], "Ada", sample)
        person.post(f"{person.path}/withdraw", {})
        assert (folder / name).read_text() == content and person.get(person.path)["has_truth"]
        person.accept()
        assert not (folder / name).exists() and truth(folder, 1) is not None


def test_a_truth_that_comes_meanwhile_is_not_lost(folder: Path) -> None:
    sample, file = first_sample(folder), folder / "report.p1.json"
    with served("annotate", f"folder:{folder}", "--port", "0") as (links, _):
        person = Annotator(links[LINK], "Ada", sample)
        file.write_text('{"mine": 1}')
        person.accept()
        assert truth(folder, 1).elements == ()
        person.post(f"{person.path}/withdraw", {})
        assert file.read_text() == '{"mine": 1}'


def test_work_is_bound_to_its_pdf(folder: Path) -> None:
    """A file that takes the name, or the place in the list, of another gets none of its truth."""
    (folder / "report.pdf").rename(folder / "乙.pdf")
    work = Work(folder)
    work.edit("乙-p1", {"do": "add", "category": "table"}, "Ada", "nonce-0001", 0).result()
    work.accept("乙-p1", "Ada", 1).result()
    work.close()
    Image.new("RGB", (500, 500), "white").save(folder / "丙.pdf")
    work = Work(folder)
    work.catch_up()
    assert not work.state("丙-p1").page.elements and not (folder / "丙.p1.json").exists()
    work.close()
    (folder / "丙.pdf").replace(folder / "乙.pdf")
    corpus = load_corpus(f"folder:{folder}")
    assert [s.truth for s in corpus.samples()] == [None]
    assert "truth of another version of" in str(corpus.left_out[0])
    work = Work(folder)
    work.catch_up()
    assert not work.state("乙-p1").page.elements and work.state("乙-p1").page.width == 500
    work.close()


def test_the_table_of_one_parser_can_be_taken(folder: Path, tmp_path: Path) -> None:
    sample = first_sample(folder)
    runs = runs_of(
        folder, tmp_path, {"one": [["a", "b"], ["c", "d"]], "two": [["x", "y", "z"], ["1", "2", "3"]]}
    )
    with served("annotate", f"folder:{folder}", *runs, "--port", "0") as (links, _):
        person = Annotator(links[LINK], "Ada", sample)
        offers = person.get(person.path)["offers"]
        assert [(o["parser"], o["rows"], o["cols"]) for o in offers] == [("one", 2, 2), ("two", 2, 3)]
        for element in (e["id"] for e in person.get(person.path)["page"]["elements"]):
            person.edit(do="remove", element=element)
        assert person.edit(do="take", parser="two", index=0).status_code == 200
        assert person.rows() == [["x", "y", "z"], ["1", "2", "3"]]
        person.edit(do="transpose", element="t1")
        assert person.rows() == [["x", "1"], ["y", "2"], ["z", "3"]]
        person.edit(do="take", parser="one", index=0, element="t1")
        assert person.rows() == [["a", "b"], ["c", "d"]]
        for wrong in ({"parser": "no"}, {"parser": ["two"]}, {"parser": "two", "index": 7}, {}):
            assert person.edit(do="take", **wrong).status_code == 422


@pytest.mark.parametrize(
    "edit",
    [
        {"do": "text", "element": "t1", "row": 10**400, "col": 0, "text": "x"},
        {"do": "add", "category": ["table"]},
        {"do": "add", "category": {"a": 1}},
        {"do": "category", "element": "t1", "category": []},
        {"do": "box", "element": "t1", "box": [10**400, 0, 1, 1]},
        {"do": "box", "element": "t1", "box": [True, None, 1, 1]},
        {"do": "paste", "element": "t1", "row": 0, "col": 0, "texts": [[1]]},
        {"do": "paste", "element": "t1", "row": 0, "col": 0, "texts": "a"},
        {"do": ["text"]},
        {"do": "text", "element": ["t1"], "row": 0, "col": 0, "text": "x"},
    ],
)
def test_wrong_types_are_refused_in_words(link: tuple[str, str], edit: dict[str, Any]) -> None:
    person = Annotator(*link[:1], "Ada", link[1])
    if not person.get(person.path)["page"]["elements"]:
        person.edit(do="add", category="table")
    refused = person.edit(**edit)
    assert refused.status_code in (400, 422) and refused.json()["error"]
    assert person.post(f"{person.path}/accept", {"revision": 10**400}).status_code == 400
    assert person.edit(do="text", element="t1", row=0, col=0, text="a\ud800b").status_code == 200
    assert person.client.get("/picture/%ff").status_code == 404


def test_a_secret_that_is_none_is_made_anew(folder: Path) -> None:
    Work(folder).close()
    with sqlite3.connect(folder / DATABASE) as db:
        db.execute("UPDATE facts SET value = 'no hexadecimal number'")
    db.close()
    work = Work(folder)
    assert len(work.secret) == 32
    work.close()


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
def test_a_database_that_is_a_link_is_refused(folder: Path, tmp_path: Path, suffix: str) -> None:
    (folder / f"{DATABASE}{suffix}").symlink_to(tmp_path / "victim")
    with pytest.raises(StoreError, match="symbolic link"):
        Work(folder)
    assert not (tmp_path / "victim").exists()


def test_a_crash_of_the_server_is_logged_and_it_comes_back(folder: Path) -> None:
    sample = first_sample(folder)
    with served("annotate", f"folder:{folder}", "--port", "0", stderr=subprocess.PIPE) as (links, process):
        person = Annotator(links[LINK], "Ada", sample)
        person.edit(do="add", category="table")
        child = int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text())
        os.kill(child, signal.SIGSEGV)
        wait_until(lambda: is_up(person))
        assert person.rows() == [["", ""], ["", ""]], "what was saved is there, under the same address"
        assert person.edit(do="text", element="t1", row=0, col=0, text="x").status_code == 200
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        assert process.stderr is not None
        said = process.stderr.read()
    assert "The server ended by signal SIGSEGV. It is restarted." in said
    wait_until(lambda: not is_running(child))


def is_up(person: Annotator) -> bool:
    try:
        return person.client.get("/").status_code == 200
    except httpx.TransportError:
        return False


def test_many_pages_are_drawn_at_once(folder: Path) -> None:
    names = [s.id for s in load_corpus(f"folder:{folder}").samples()]
    with served("annotate", f"folder:{folder}", "--port", "0") as (links, process):
        client = httpx.Client(base_url=links[LINK], trust_env=False, timeout=PATIENCE_S)
        with ThreadPoolExecutor(24) as pool:
            found = list(pool.map(lambda n: client.get(f"/picture/{names[n % 3]}").status_code, range(24)))
        assert found == [200] * 24 and process.poll() is None


def test_a_second_person_checks_and_differences_are_shown(folder: Path) -> None:
    sample = first_sample(folder)
    with served("annotate", f"folder:{folder}", "--port", "0") as (links, _):
        ada, bo = (Annotator(links[LINK], name, sample) for name in ("Ada", "Bo"))
        ada.edit(do="add", category="table")
        ada.edit(do="text", element="t1", row=0, col=0, text="112")
        state = ada.accept().json()
        assert state["accepted"] == ["Ada"] and state["differences"] is None
        bo.edit(do="text", element="t1", row=0, col=0, text="1.12")
        assert bo.get(bo.path)["changed"] is True
        state = bo.accept().json()
        assert state["accepted"] == ["Ada", "Bo"]
        assert [(d["before"], d["after"]) for d in state["differences"]] == [("112", "1.12")]
        assert "Ada, Bo" in bo.see("/")


def test_changes_of_cells_are_listed_beside_those_of_the_shape(folder: Path) -> None:
    sample = first_sample(folder)
    with served("annotate", f"folder:{folder}", "--port", "0") as (links, _):
        ada, bo = (Annotator(links[LINK], name, sample) for name in ("Ada", "Bo"))
        ada.edit(do="add", category="table")
        for row, text in enumerate(("City", "Pariss")):
            ada.edit(do="text", element="t1", row=row, col=0, text=text)
        ada.accept()
        bo.edit(do="text", element="t1", row=1, col=0, text="Paris")
        bo.edit(do="insert_row", element="t1", at=1)
        bo.edit(do="insert_col", element="t1", at=0)
        found = [(d["what"], d["before"], d["after"]) for d in bo.accept().json()["differences"]]
        assert found == [
            ("row 2 added", "", " |  | "),
            ("column 1 added", "", " |  | "),
            ("row 3, column 2: text", "Pariss", "Paris"),
        ]


@pytest.mark.parametrize("keys", [{"do": "no_table"}, {"do": "insert_row", "element": "t1", "at": 1}])
def test_what_only_parsers_said_is_no_truth(folder: Path, keys: dict[str, Any]) -> None:
    (name, *_) = samples = {s.id: s for s in load_corpus(f"folder:{folder}").samples()}
    table = Element("t1", "table", table=Table.from_rows([["a", "b"], ["c", "d"]]))
    for _ in range(2):  # also when it is begun again
        work = Work(folder)
        work._starts[name] = Start((table,), {}, {})
        work.catch_up()
        assert work.state(name).page.tables == (table,)
        work.edit(name, keys, "Ada", f"nonce-{time.time_ns()}", work.state(name).revision).result()
        work.close()
        assert not (folder / "report.p1.json").exists()
        work = Work(folder)
        work.catch_up()
        assert work.undo(name, work.state(name).revision).result()
        assert work.state(name).page.tables == (table,) and work.overview()[0]["edits"] == 0
        work.close()
        assert truth(folder, 1) is None
    work = Work(folder)
    work._starts[name] = Start((table,), {}, {})
    work.catch_up()
    work.accept(name, "Ada", work.state(name).revision).result()
    work.close()
    assert len(truth(folder, 1).tables) == 1, "who accepts the page says that it is so"
    assert len(samples) == 3


def test_files_that_cannot_be_annotated_are_named(folder: Path) -> None:
    (folder / "cut.pdf").write_bytes((folder / "report.pdf").read_bytes()[:300])
    (folder / "<b>empty.pdf").write_bytes(b"")
    with served("annotate", f"folder:{folder}", "--port", "0", stderr=subprocess.PIPE) as (links, process):
        seen = Person(links[LINK]).see("/")
        assert "cut.pdf" in seen and "&lt;b&gt;empty.pdf" in seen and "0 of 3 pages" in seen
        process.kill()
        assert process.stderr is not None
        said = process.stderr.read()
    assert "cut.pdf: is in no score" in said and "<b>empty.pdf: is in no score" in said


def test_a_word_is_undone_at_once(folder: Path) -> None:
    sample = first_sample(folder)
    with served("annotate", f"folder:{folder}", "--port", "0") as (links, _):
        person = Annotator(links[LINK], "a", sample)
        person.edit(do="add", category="table")
        person.edit(do="text", element="t1", row=0, col=0, text="first")
        for typing, word in (("time-one", "word"), ("time-two", "wide")):
            for end in range(1, 5):
                person.edit(do="text", element="t1", row=1, col=1, text=word[:end], typing=typing)
        undone = []
        for _ in range(2):
            person.undo()
            undone.append(person.rows())
        # Who comes back to a cell has made a second edit, however soon.
        assert undone == [[["first", ""], ["", "word"]], [["first", ""], ["", ""]]]


def test_a_page_of_tables_alone_says_nothing_about_its_text(folder: Path) -> None:
    sample = first_sample(folder)
    with served("annotate", f"folder:{folder}", "--port", "0") as (links, _):
        person = Annotator(links[LINK], "a", sample)
        person.edit(do="add", category="table")
        person.accept()
        assert truth(folder, 1).only_tables
        person.edit(do="add", category="text_block")
        person.accept()
        assert not truth(folder, 1).only_tables
        second = Annotator(links[LINK], "a", sample[:-1] + "2")
        second.accept()
        assert truth(folder, 2).only_tables


def test_two_tabs_and_lost_answers(folder: Path) -> None:
    sample = first_sample(folder)
    with served("annotate", f"folder:{folder}", "--port", "0") as (links, _):
        one, two = Annotator(links[LINK], "a", sample), Annotator(links[LINK], "a", sample)
        revision = one.get(one.path)["revision"]
        assert one.edit(revision, nonce="sent-twice", do="add", category="table").status_code == 200
        assert one.edit(revision, nonce="sent-twice", do="add", category="table").status_code == 200
        assert len(one.get(one.path)["page"]["elements"]) == 1
        late = two.edit(revision, do="no_table")
        assert late.status_code == 409 and "another tab" in late.json()["error"]
        assert len(one.get(one.path)["page"]["elements"]) == 1
        refused = one.edit(do="text", element="t1", row=99, col=0, text="x")
        assert refused.status_code == 422


def test_undoing_takes_nothing_back_that_the_tab_does_not_show(folder: Path) -> None:
    """Another tab has gone on, or the answer to the first request was lost."""
    sample = first_sample(folder)
    with served("annotate", f"folder:{folder}", "--port", "0") as (links, _):
        one, two = Annotator(links[LINK], "a", sample), Annotator(links[LINK], "a", sample)
        seen = one.edit(do="add", category="table").json()["revision"]
        two.edit(do="add", category="text_block")
        stale = one.undo(seen)
        assert stale.status_code == 409 and "another tab" in stale.json()["error"]
        assert len(one.get(one.path)["page"]["elements"]) == 2
        now = one.get(one.path)["revision"]
        assert one.undo(now).json()["saved"]
        assert one.undo(now).status_code == 409, "sent twice"
        assert [e["category"] for e in one.get(one.path)["page"]["elements"]] == ["table"]
        assert one.post(f"{one.path}/undo", {}).status_code == 400


def test_killed_it_goes_on_where_it_was(folder: Path) -> None:
    sample = first_sample(folder)
    for k in range(3):
        with served("annotate", f"folder:{folder}", "--port", "0") as (links, process):
            person = Annotator(links[LINK], "a", sample)
            if k == 0:
                person.edit(do="add", category="table")
            person.edit(do="text", element="t1", row=0, col=0, text=f"kept {k}").raise_for_status()
            person.accept().raise_for_status()
            process.send_signal(signal.SIGKILL)
            process.wait()
        assert truth(folder, 1).tables[0].table.text_rows()[0][0] == f"kept {k}"


def test_the_list_says_where_the_truth_of_each_page_comes_from(folder: Path) -> None:
    (folder / "report.p1.t1.csv").write_text("by,hand\n")

    def said(work: Work) -> dict[str, str]:
        return {row["sample"][-2:]: row["truth"] for row in work.overview()}

    work = Work(folder)
    add = {"do": "add", "category": "table"}
    work._starts["report-p3"] = Start((Element("t1", "table", table=Table.from_rows([["a"]])),), {}, {})
    assert said(work) == {"p1": "typed by hand", "p2": "none", "p3": "none: proposed by parsers"}
    work.edit("report-p2", add, "Ada", "nonce-0002", 0).result()
    assert said(work)["p2"] == "none: edited, not accepted"
    for name in ("report-p1", "report-p2"):
        work.accept(name, "Ada", work.state(name).revision).result()
    work.edit("report-p2", add, "Ada", "nonce-0003", work.state("report-p2").revision).result()
    assert said(work) == {"p1": "accepted", "p2": "accepted, edited since", "p3": "none: proposed by parsers"}
    work.close()
    with served("annotate", f"folder:{folder}", "--port", "0") as (links, _):
        listed = Annotator(links[LINK], "Ada", "report-p1").client.get("/").text
    assert '<td class="text">accepted, edited since</td>' in listed


def test_what_a_hand_did_while_nobody_annotated_stays(folder: Path) -> None:
    """Files that came, were changed or were removed are as they were left, and the page is to be accepted."""
    for page in (1, 2, 3):
        work = Work(folder)
        work.edit(
            f"report-p{page}", {"do": "add", "category": "table"}, "Ada", f"nonce-000{page}", 0
        ).result()
        work.accept(f"report-p{page}", "Ada", 1).result()
        work.close()
    work = Work(folder)
    assert work.catch_up() == [] and all(row["accepted"] for row in work.overview()), "nothing was changed"
    work.close()
    came, changed = folder / "report.p1.t1.csv", folder / "report.p2.json"
    came.write_text("by,hand\n")
    changed.write_text(changed.read_text().replace('"only_tables": true', '"only_tables": false'))
    by_hand = changed.read_text()
    (folder / "report.p3.json").unlink()

    work = Work(folder)
    said = {remark.where: str(remark) for remark in work.catch_up()}
    assert sorted(said) == ["report-p1", "report-p2", "report-p3"]
    assert "report.p1.t1.csv" in said["report-p1"] and "not accepted" in said["report-p1"]
    assert came.read_text() == "by,hand\n" and (folder / "report.p1.json").is_file()
    assert changed.read_text() == by_hand and not (folder / "report.p3.json").exists()
    assert not any(row["accepted"] for row in work.overview())
    assert work.state("report-p2").page == truth(folder, 2), "the page shows what the file says"
    assert work.undo("report-p2", work.state("report-p2").revision).result()
    assert work.state("report-p2").page.tables, "and what it said before is one step back"

    work.accept("report-p1", "Ada", work.state("report-p1").revision).result()
    assert not came.exists() and truth(folder, 1) is not None
    work.withdraw("report-p1").result()
    assert came.read_text() == "by,hand\n" and (folder / "report.p1.json").is_file()
    work.close()


@pytest.mark.parametrize("is_accepted", [True, False])
def test_what_a_hand_writes_beside_later_edits_is_shown(folder: Path, is_accepted: bool) -> None:
    """Edits that no acceptance covers hide no file: both the file and they can be seen, and no start asks
    twice.
    """
    file, name = folder / ("report.p1.json" if is_accepted else "report.p1.t1.csv"), "report-p1"
    (folder / "report.p1.t1.csv").write_text("Wool,5\n")

    def rows(work: Work) -> list[list[str]]:
        table = work.state(name).page.tables[0].table
        assert table is not None
        return table.text_rows()

    def write(work: Work, col: int, text: str) -> None:
        state = work.state(name)
        edit = {"do": "text", "element": state.page.tables[0].id, "row": 0, "col": col, "text": text}
        work.edit(name, edit, "Ada", f"nonce-{text}", state.revision).result()

    def restarted(work: Work) -> tuple[Work, list[str]]:
        work.close()
        work = Work(folder)
        return work, [str(remark) for remark in work.catch_up()]

    work = Work(folder)
    if is_accepted:
        work.accept(name, "Ada", 0).result()
    write(work, 1, "777")
    work, said = restarted(work)
    assert not said and rows(work) == [["Wool", "777"]], "no hand was at the file"
    file.write_text(file.read_text().replace("Wool", "BYHAND"))
    work, said = restarted(work)
    assert len(said) == 1 and file.name in said[0] and "undo shows the content before" in said[0]
    assert rows(work) == [["BYHAND", "5"]] and not work.state(name).accepted
    work, said = restarted(work)
    assert not said and rows(work) == [["BYHAND", "5"]]
    assert work.undo(name, work.state(name).revision).result()
    assert rows(work) == [["Wool", "777"]], "the person's edit is one step back"
    work, said = restarted(work)
    assert not said and rows(work) == [["Wool", "777"]], "who has seen the file may go on without it"
    file.write_text(file.read_text().replace("BYHAND", "AGAIN"))
    work, said = restarted(work)
    assert len(said) == 1 and rows(work) == [["AGAIN", "5"]]
    write(work, 1, "6")
    work.accept(name, "Ada", work.state(name).revision).result()
    assert truth(folder, 1).tables[0].table.text_rows() == [["AGAIN", "6"]]
    work.withdraw(name).result()
    work, said = restarted(work)
    assert not said and rows(work) == [["AGAIN", "6"]]
    assert truth(folder, 1).tables[0].table.text_rows() == [["AGAIN", "5"]], "the hand's file is back"
    work.close()


def test_each_file_of_a_hand_that_acceptances_replace_is_kept(folder: Path) -> None:
    work, file = Work(folder), folder / "report.p1.json"
    for k in range(3):
        file.write_text(f'{{"mine": {k}}}')
        work.accept("report-p1", "Ada", work.state("report-p1").revision).result()
    work.close()
    with sqlite3.connect(folder / DATABASE) as db:
        kept = {row[0] for row in db.execute("SELECT file FROM replaced")}
    assert kept == {f'{{"mine": {k}}}'.encode() for k in range(3)}


def test_what_a_hand_writes_into_an_accepted_page_is_kept(folder: Path) -> None:
    work, file = Work(folder), folder / "report.p1.json"
    work.accept("report-p1", "Ada", 0).result()
    file.write_text('{"mine": 1}')
    work.accept("report-p1", "Bob", 1).result()
    assert truth(folder, 1) is not None
    work.withdraw("report-p1").result()
    assert file.read_text() == '{"mine": 1}'
    work.accept("report-p1", "Ada", work.state("report-p1").revision).result()
    file.write_text('{"mine": 2}')
    work.withdraw("report-p1").result()
    assert file.read_text() == '{"mine": 2}'
    work.close()


def test_pages_start_from_what_parsers_agree_on(folder: Path, tmp_path: Path) -> None:
    from tests.store.fabricate import fabricate_manifest

    from parsemark.formats.model_json import prediction_to_json
    from parsemark.model import Prediction
    from parsemark.store import ParseRecord, Run, sample_to_row

    samples: list[Sample] = list(load_corpus(f"folder:{folder}").samples())
    rows = [["a", "b"], ["c", "d"]]
    predictions = [
        Prediction(samples[0].id, name, elements=(Element("x", "table", table=Table.from_rows(own)),))
        for name, own in (("one", rows), ("two", rows), ("three", [["a", "B"], ["c", "d"]]))
    ]

    class Fake(Run):
        def records(self) -> list[ParseRecord]:
            return [
                ParseRecord(
                    samples[0].id, p.parser, Status.OK, None, 0, 0, 0, 0, 1, None, None, None, False, "k", 0.0
                )
                for p in predictions
            ]

        def prediction(self, sample: str, parser: str) -> Prediction:
            return next(p for p in predictions if p.parser == parser)

    del prediction_to_json, sample_to_row
    work = Work(folder)
    work._runs = [Fake(tmp_path, fabricate_manifest())]
    try:
        state = work.state(samples[0].id)
        assert state.page.tables[0].table is not None
        assert state.page.tables[0].table.text_rows() == rows
        assert state.start.agreement["t1"][0, 1] == pytest.approx(2 / 3)
        overview = work.overview()
        assert overview[0]["sample"] == samples[0].id
    finally:
        work.close()


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("docs")
    Image.new("RGB", (600, 800), "white").save(folder / "a.pdf", resolution=72)
    (folder / "secret.txt").write_text("secret")
    with served("annotate", f"folder:{folder}", "--port", "0") as (links, _):
        yield links[LINK], first_sample(folder)


@pytest.mark.parametrize(
    "path",
    ["/page/..%2f..%2fsecret.txt", "/picture/../a.pdf", "/api/page/nobody", f"/picture/{DATABASE}", "/a.pdf"],
)
def test_no_path_leads_out(link: tuple[str, str], path: str) -> None:
    person = Person(link[0])
    request = person.client.build_request("GET", "/")
    request.url = request.url.copy_with(raw_path=path.encode())
    assert person.client.send(request, follow_redirects=False).status_code in (400, 404)


def test_strangers_and_large_edits_are_refused(link: tuple[str, str]) -> None:
    person = Annotator(*(link[0], "a", link[1]))
    edit = {"edit": {"do": "no_table"}, "nonce": "abcdefgh", "revision": 0}
    assert person.client.post(f"{person.path}/edit", json=edit).status_code == 403
    assert person.post(f"{person.path}/edit", edit, origin="http://evil").status_code == 403
    assert person.post(f"{person.path}/edit", {**edit, "pad": "x" * 600_000}).status_code == 413
    pasted = {"do": "paste", "element": "t1", "row": 0, "col": 0, "texts": [["x" * 100] * 40] * 100}
    person.edit(do="add", category="table").raise_for_status()
    assert person.edit(**pasted).status_code == 200, "tables that people paste are long"
    assert person.post(f"{person.path}/edit", {**edit, "revision": "0"}).status_code == 400
    assert person.client.get(f"/picture/{link[1]}").headers["content-type"] == "image/webp"
    assert person.post("/api/math", {"latex": "x^2"}).json()["mathml"].startswith("<math")
    assert person.post("/api/person", {"name": ""}).status_code == 400


def test_the_docs_say_how_large_requests_may_be() -> None:
    docs = Path(__file__).parents[2] / "docs" / "how-to"
    for page, limit in (("annotate.md", annotate_app.MAX_BODY_BYTES), ("rate.md", rate_app.MAX_BODY_BYTES)):
        assert f"{limit // 1024} KiB" in (docs / page).read_text(encoding="utf-8"), page


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["annotate", f"folder:{tmp_path / 'none'}"])
    assert "is not a folder" in str(result.exception)


def test_one_pdf_is_annotated_in_its_folder(tmp_path: Path) -> None:
    demo = next(sample.pdf for sample in load_corpus("demo").samples() if sample.pdf is not None)
    (tmp_path / "x.pdf").write_bytes(demo.read_bytes())
    command = [
        sys.executable,
        "-m",
        "parsemark",
        "annotate",
        f"folder:{tmp_path / 'x.pdf'}",
        "--page",
        "none",
    ]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert ran.returncode and "has no page no" in ran.stderr
    assert (tmp_path / DATABASE).is_file()


def test_a_run_that_is_not_scored_is_refused_at_once(folder: Path, tmp_path: Path) -> None:
    run = parse_corpus(
        tmp_path / "unscored", make_corpus(tmp_path / "pages", ["fine"]), [FakeParser()], ParseOptions()
    )
    with pytest.raises(StoreError, match="not scored yet: parsemark score"):
        Work(folder, [run.path])
