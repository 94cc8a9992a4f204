"""Annotation over HTTP: saved at once, undone, checked, and read by `folder:`."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image
from tests.web.serve import Person, served
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.corpora import load_corpus
from parsemark.model import Element, Sample, Status, Table
from parsemark.web.annotate.consensus import Start
from parsemark.web.annotate.work import DATABASE, Work

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
        self.n = 0

    def edit(self, revision: int | None = None, nonce: str | None = None, **edit: Any) -> httpx.Response:
        self.n += 1
        now = self.get(self.path)["revision"] if revision is None else revision
        nonce = nonce or f"nonce-{id(self)}-{self.n:04}"
        return self.post(f"{self.path}/edit", {"edit": edit, "nonce": nonce, "revision": now})

    def accept(self) -> httpx.Response:
        return self.post(f"{self.path}/accept", {"revision": self.get(self.path)["revision"]})

    def undo(self, revision: int | None = None) -> httpx.Response:
        """Take the last change back, of the page as it is now unless `revision` names another state of it."""
        now = self.get(self.path)["revision"] if revision is None else revision
        return self.post(f"{self.path}/undo", {"revision": now})


def first_sample(folder: Path) -> str:
    return next(iter(load_corpus(f"folder:{folder}").samples())).id


def test_what_is_typed_is_truth_at_once(folder: Path) -> None:
    sample = first_sample(folder)
    with served("annotate", f"folder:{folder}", "--port", "0") as (links, _):
        person = Annotator(links[LINK], "Ada", sample)
        assert truth(folder, 1) is None
        person.edit(do="add", category="table", box=[10, 20, 300, 200])
        for row, texts in enumerate((["Méthode", "<b>β</b>"], ["ours", "1.12"])):
            for col, text in enumerate(texts):
                assert person.edit(do="text", element="t1", row=row, col=col, text=text).json()["saved"]
        table = truth(folder, 1).tables[0].table
        assert table.text_rows() == [["Méthode", "<b>β</b>"], ["ours", "1.12"]]
        assert truth(folder, 1).tables[0].box.as_tuple() == (10, 20, 300, 200)
        assert truth(folder, 2) is None, "pages that nobody has looked at are no truth"
        person.undo()
        assert truth(folder, 1).tables[0].table.text_rows()[1] == ["ours", ""]
        for _ in range(10):
            person.undo()
        assert truth(folder, 1) is None, "who takes everything back has said nothing"
        second = Annotator(links[LINK], "Ada", sample[:-1] + "2")
        second.accept()
        assert truth(folder, 2).elements == ()


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
def test_undoing_everything_leaves_no_truth_that_only_parsers_said(
    folder: Path, keys: dict[str, Any]
) -> None:
    (name, *_) = samples = {s.id: s for s in load_corpus(f"folder:{folder}").samples()}
    table = Element("t1", "table", table=Table.from_rows([["a", "b"], ["c", "d"]]))
    for _ in range(2):  # also when it is begun again
        work = Work(folder)
        work._starts[name] = Start((table,), {}, {})
        work.restore_files()
        assert work.state(name).page.tables == (table,)
        work.edit(name, keys, "Ada", f"nonce-{time.time_ns()}", work.state(name).revision).result()
        assert (folder / "report.p1.json").is_file()
        work.close()
        work = Work(folder)  # what was loaded now is the file of the edit
        work.restore_files()
        assert work.undo(name, work.state(name).revision).result()
        assert not (folder / "report.p1.json").exists()
        assert work.state(name).page.tables == (table,) and work.overview()[0]["edits"] == 0
        work.close()
        assert truth(folder, 1) is None
    work = Work(folder)
    work._starts[name] = Start((table,), {}, {})
    work.restore_files()
    work.accept(name, "Ada", work.state(name).revision).result()
    work.close()
    assert len(truth(folder, 1).tables) == 1, "who accepts the page says that it is so"
    assert len(samples) == 3


def test_undoing_everything_brings_the_file_back_that_was_there(folder: Path) -> None:
    sample = first_sample(folder)
    work = Work(folder)
    work.accept(sample, "Ada", 0).result()
    work.close()
    (folder / DATABASE).unlink()
    before = (folder / "report.p1.json").read_bytes() + b"\n"  # written by other hands
    (folder / "report.p1.json").write_bytes(before)
    work = Work(folder)
    work.edit(sample, {"do": "add", "category": "table"}, "Ada", "nonce-0001", 0).result()
    assert (folder / "report.p1.json").read_bytes() != before
    work.undo(sample, work.state(sample).revision).result()
    work.close()
    assert (folder / "report.p1.json").read_bytes() == before


def test_files_that_cannot_be_annotated_are_named(folder: Path) -> None:
    (folder / "cut.pdf").write_bytes((folder / "report.pdf").read_bytes()[:300])
    (folder / "<b>empty.pdf").write_bytes(b"")
    with served("annotate", f"folder:{folder}", "--port", "0", stderr=subprocess.PIPE) as (links, process):
        seen = Person(links[LINK]).see("/")
        assert "cut.pdf" in seen and "&lt;b&gt;empty.pdf" in seen and "0 of 3 pages" in seen
        process.kill()
        assert process.stderr is not None
        said = process.stderr.read()
    assert "cut.pdf: is left out" in said and "<b>empty.pdf: is left out" in said


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
            undone.append(truth(folder, 1).tables[0].table.text_rows())
        # Who comes back to a cell has made a second edit, however soon.
        assert undone == [[["first", ""], ["", "word"]], [["first", ""], ["", ""]]]


def test_a_page_of_tables_alone_says_nothing_about_its_text(folder: Path) -> None:
    sample = first_sample(folder)
    with served("annotate", f"folder:{folder}", "--port", "0") as (links, _):
        person = Annotator(links[LINK], "a", sample)
        person.edit(do="add", category="table")
        assert truth(folder, 1).only_tables
        person.edit(do="add", category="text_block")
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
            process.send_signal(signal.SIGKILL)
            process.wait()
        assert truth(folder, 1).tables[0].table.text_rows()[0][0] == f"kept {k}"
    (folder / "report.p1.json").unlink()
    with served("annotate", f"folder:{folder}", "--port", "0"):
        assert truth(folder, 1).tables[0].table.text_rows()[0][0] == "kept 2", "the files follow the database"


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
    assert person.post(f"{person.path}/edit", {**edit, "revision": "0"}).status_code == 400
    assert person.client.get(f"/picture/{link[1]}").headers["content-type"] == "image/webp"
    assert person.post("/api/math", {"latex": "x^2"}).json()["mathml"].startswith("<math")
    assert person.post("/api/person", {"name": ""}).status_code == 400


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["annotate", f"folder:{tmp_path / 'none'}"])
    assert "There is no folder" in str(result.exception)
