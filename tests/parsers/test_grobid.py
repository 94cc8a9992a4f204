"""The GROBID adapter against a server on this machine that answers as GROBID does."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.parsers.pages import write_page

from parsemark.model import Box
from parsemark.parsers import Answer, WorkerSession, get_parser, read_raw

pytestmark = pytest.mark.parsers

TEI = b"""<?xml version="1.0" encoding="UTF-8"?>
<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body>
<figure coords="1,50,80,200,10;1,50,95,300,50"><head>Figure 1</head></figure>
<figure type="table" xml:id="tab_0" coords="1,90.0,140.0,380.0,170.0">
<head>Table 1 .</head><figDesc>Counts</figDesc>
<table coords="1,100.0,156.0,180.0,144.0;1,280.0,156.0,180.0,144.0">
<row><cell cols="2">Counts of <hi>things</hi></cell><cell>n</cell></row>
<row><cell>a</cell><cell>b</cell><cell>3</cell></row>
</table></figure></body></text></TEI>"""

BOMB = (
    b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    b'<TEI xmlns="http://www.tei-c.org/ns/1.0"><figure type="table"><table>'
    b"<row><cell>&b;</cell></row></table></figure></TEI>"
)


class Grobid(BaseHTTPRequestHandler):
    answers: list[tuple[int, bytes]]
    asked: list[bytes]

    def do_GET(self) -> None:
        self._send(200, b"0.8.2")

    def do_POST(self) -> None:
        self.asked.append(self.rfile.read(int(self.headers["Content-Length"])))
        self._send(*self.answers.pop(0))

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def grobid(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Grobid]]:
    handler = type("Handler", (Grobid,), {"answers": [], "asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("GROBID_URL", f"http://127.0.0.1:{server.server_port}/")
    monkeypatch.setenv("PARSEMARK_WAIT_S", "0")
    yield handler
    server.shutdown()
    server.server_close()


def ask(folder: Path, spec: str = "grobid") -> Answer:
    parser = get_parser(spec)
    parser.install()
    with WorkerSession(parser.command()) as session:
        assert session.hello.versions["grobid"] == "0.8.2"
        return session.ask(str(write_page(folder / "page.pdf")), 1, parser.options, timeout_s=60)


def test_tables_with_their_boxes_after_a_busy_server(grobid: type[Grobid], tmp_path: Path) -> None:
    grobid.answers = [(503, b""), (200, TEI)]
    answer = ask(tmp_path)
    assert answer.output is not None, answer.error
    (found,) = read_raw(answer.output, "page", "grobid").tables
    assert found.box == Box(100, 156, 460, 300)
    assert found.table is not None
    assert [(c.text, c.row, c.col, c.colspan) for c in found.table.cells] == [
        ("Counts of things", 0, 0, 2),
        ("n", 0, 2, 1),
        ("a", 1, 0, 1),
        ("b", 1, 1, 1),
        ("3", 1, 2, 1),
    ]
    form = grobid.asked[-1]
    assert b'name="consolidateHeader"\r\n\r\n0' in form and b"%PDF" in form


def test_the_box_of_the_whole_figure(grobid: type[Grobid], tmp_path: Path) -> None:
    grobid.answers = [(200, TEI)]
    answer = ask(tmp_path, "grobid(box=figure)")
    (found,) = read_raw(answer.output or b"", "page", "grobid").tables
    assert found.box == Box(90, 140, 470, 310)


def test_numbers_that_are_none_cost_themselves(grobid: type[Grobid], tmp_path: Path) -> None:
    broken = TEI.replace(b'<table coords="1,100.0,156.0,180.0,144.0;', b'<table coords="1,100.0,x;;1,2;')
    grobid.answers = [(200, broken.replace(b'cols="2"', b'cols="two"'))]
    (found,) = read_raw(ask(tmp_path).output or b"", "page", "grobid").tables
    assert found.box == Box(280, 156, 460, 300)
    assert found.table is not None and found.table.n_cols == 3


def test_nothing_found_a_failing_server_and_a_hostile_one(grobid: type[Grobid], tmp_path: Path) -> None:
    grobid.answers = [(204, b""), (500, b"oops"), (200, b"<TEI"), (200, BOMB)]
    assert read_raw(ask(tmp_path).output or b"", "page", "grobid").tables == ()
    assert "500" in (ask(tmp_path).error or "")
    assert "XMLSyntaxError" in (ask(tmp_path).error or "")
    bomb = ask(tmp_path)
    assert bomb.error or b"haha" not in (bomb.output or b""), "entities are not expanded"
