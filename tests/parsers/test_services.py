"""Services and vision-language models against a server of our own that answers as they document it."""

import base64
import io
import json
import os
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.parsers.pages import write_page

from parsemark.errors import ParserError
from parsemark.parsers import get_parser
from parsemark.parsers.trial import Trial, try_parser

pytestmark = pytest.mark.parsers

SECRET = "secret-0123456789"
MARKDOWN = "# Title\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
HTML = "<table><tr><td>a</td><td>b</td></tr></table>"


class _Server(BaseHTTPRequestHandler):
    seen: list[dict[str, Any]]
    busy: int
    refuse: bool
    answer: str | Callable[[dict[str, Any]], str]
    azure: str
    google: dict[str, Any]

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        body = self.rfile.read(length)
        self.seen.append({"path": self.path, "headers": dict(self.headers), "body": body})
        cls = type(self)
        if cls.refuse:
            self._send(401, {"error": "wrong key"})
        elif cls.busy > 0:
            cls.busy -= 1
            self._send(429, {"error": "slow down"}, {"Retry-After": "0"})
        else:
            self._send(*self._posted(body))

    def do_GET(self) -> None:
        self.seen.append({"path": self.path, "headers": dict(self.headers), "body": b""})
        if self.path.endswith(".mmd"):
            self._send(200, MARKDOWN)
        elif self.path.startswith("/v3/pdf/"):
            asked = sum(s["path"] == self.path for s in self.seen)
            self._send(200, {"status": "completed" if asked > 1 else "processing"})
        elif self.path.endswith("/result/markdown"):
            self._send(200, {"markdown": MARKDOWN})
        elif self.path.startswith("/api/parsing/job/"):
            self._send(200, {"id": "j", "status": "SUCCESS"})
        elif self.path.startswith("/operations/"):
            asked = sum(s["path"] == self.path for s in self.seen)
            state = type(self).azure if asked > 1 else "running"
            self._send(200, {"status": state, "analyzeResult": AZURE, "error": {"code": "x"}})
        else:
            self._send(404, {"error": self.path})

    def _posted(self, body: bytes) -> tuple[Any, ...]:
        if self.path == "/v1/chat/completions":
            usage = {"prompt_tokens": 1000, "completion_tokens": 500}
            answer = type(self).__dict__["answer"]
            said = answer if isinstance(answer, str) else answer(json.loads(body))
            message = {"role": "assistant", "content": said}
            return 200, {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}
        if self.path == "/v3/pdf":
            return 200, {"pdf_id": "p1"}
        if self.path == "/v1/ocr":
            page: dict[str, Any] = {"index": 0, "markdown": MARKDOWN}
            if json.loads(body).get("table_format") == "html":
                page = {"markdown": "# T\n\n[tbl-0.html](tbl-0.html)\n\n[a](a)", "tables": [MISTRAL_TABLE]}
            return 200, {"pages": [page], "usage_info": None}
        if self.path == "/api/parsing/upload":
            return 200, {"id": "j", "status": "PENDING"}
        if self.path == "/v1/convert/file":
            return 200, {"status": "success", "errors": [], "document": DOCLING}
        if self.path.startswith("/documentintelligence/"):
            host = self.headers["host"]
            return 202, {}, {"Operation-Location": f"http://{host.upper()}/operations/1"}
        if self.path.endswith(":process"):
            return 200, {"document": type(self).google}
        if self.headers.get("x-amz-target") == "Textract.AnalyzeDocument":
            return 200, {"Blocks": TEXTRACT, "DocumentMetadata": {"Pages": 1}}
        return 404, {"error": self.path}

    def _send(self, status: int, content: Any, headers: dict[str, str] | None = None) -> None:
        data = content.encode() if isinstance(content, str) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        return


MISTRAL_TABLE = {
    "id": "tbl-0.html",
    "content": "<table><tr><td colspan=2>h</td></tr><tr><td>1</td><td>2</td></tr></table>",
    "format": "html",
}
AZURE = {
    "content": MARKDOWN,
    "pages": [{"pageNumber": 1, "unit": "inch", "width": 8.5, "height": 11}],
    "tables": [
        {
            "rowCount": 2,
            "columnCount": 2,
            "boundingRegions": [
                {"pageNumber": 1, "polygon": [1, 2, 5, 2, 5, 3, 1, 3]},
                {"pageNumber": 1, "polygon": [1, 3, 5, 3, 5, 4, 1, 4]},
            ],
            "cells": [
                {"kind": "columnHeader", "rowIndex": 0, "columnIndex": 0, "columnSpan": 2, "content": "head"},
                {"rowIndex": 1, "columnIndex": 0, "content": "1 :selected:"},
                {"rowIndex": 1, "columnIndex": 1, "content": "2", "boundingRegions": [{"polygon": [1, 2]}]},
            ],
        }
    ],
}


def _docling_cell(row: int, col: int, text: str, width: int = 1) -> dict[str, Any]:
    return {
        "start_row_offset_idx": row,
        "end_row_offset_idx": row + 1,
        "start_col_offset_idx": col,
        "end_col_offset_idx": col + width,
        "text": text,
    }


DOCLING = {
    "md_content": MARKDOWN,
    "json_content": {
        "pages": {"1": {"size": {"width": 612, "height": 792}, "page_no": 1}},
        "tables": [
            {
                "prov": [
                    {
                        "page_no": 1,
                        "bbox": {"l": 72, "t": 648, "r": 360, "b": 504, "coord_origin": "BOTTOMLEFT"},
                    }
                ],
                "data": {
                    "table_cells": [
                        _docling_cell(0, 0, "head", 2),
                        _docling_cell(1, 0, "1"),
                        _docling_cell(1, 1, "2"),
                    ]
                },
            }
        ],
    },
}
TEXT = "head\n1\n2\n"


def _google(start: int, end: int, span: int = 1) -> dict[str, Any]:
    anchor = {"textSegments": [{"startIndex": str(start), "endIndex": str(end)}]}
    one_corner = {"normalizedVertices": [{"x": 0.1, "y": 0.2}]}  # costs its box, not the page
    return {"layout": {"textAnchor": anchor, "boundingPoly": one_corner}, "rowSpan": 1, "colSpan": span}


GOOGLE = {
    "text": TEXT,
    "pages": [
        {
            "dimension": {"width": 1700, "height": 2200},
            "tables": [
                {
                    "layout": {
                        "confidence": 0.9,
                        "boundingPoly": {
                            "normalizedVertices": [
                                {"x": 0.1, "y": 0.2},
                                {"x": 0.5, "y": 0.2},
                                {"x": 0.5, "y": 0.4},
                            ]
                        },
                    },
                    "headerRows": [{"cells": [_google(0, 5, 2)]}],
                    "bodyRows": [{"cells": [_google(5, 7), _google(7, 9)]}],
                }
            ],
        }
    ],
}


def _block(number: str, kind: str, **more: Any) -> dict[str, Any]:
    box = {"Left": 0.1, "Top": 0.2, "Width": 0.4, "Height": 0.2}
    return {"Id": number, "BlockType": kind, "Geometry": {"BoundingBox": box}, "Confidence": 90.0, **more}


def _of(kind: str, *ids: str) -> dict[str, Any]:
    return {"Type": kind, "Ids": list(ids)}


TEXTRACT = [
    _block("t", "TABLE", Relationships=[_of("CHILD", "c1", "c2", "c3", "c4"), _of("MERGED_CELL", "m")]),
    _block("c1", "CELL", RowIndex=1, ColumnIndex=1, Relationships=[_of("CHILD", "w1")]),
    _block("c2", "CELL", RowIndex=1, ColumnIndex=2),
    _block("c3", "CELL", RowIndex=2, ColumnIndex=1, Relationships=[_of("CHILD", "w2", "s")]),
    _block("c4", "CELL", RowIndex=2, ColumnIndex=2, Relationships=[_of("CHILD", "w3")]),
    _block(
        "m", "MERGED_CELL", RowIndex=1, ColumnIndex=1, ColumnSpan=2, Relationships=[_of("CHILD", "c1", "c2")]
    ),
    _block("w1", "WORD", Text="head"),
    _block("w2", "WORD", Text="1"),
    _block("s", "SELECTION_ELEMENT", SelectionStatus="SELECTED"),
    _block("w3", "WORD", Text="2"),
    _block("l1", "LINE", Text="head"),
]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[_Server]]:
    class Handler(_Server):
        seen: list[dict[str, Any]] = []  # noqa: RUF012 - one list for each test
        busy = 0
        refuse = False
        answer = f"```html\n{HTML}\n```"
        azure = "succeeded"
        google = GOOGLE

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{httpd.server_address[1]}"
    for name, value in {
        "PARSEMARK_WAIT_S": "0.01",
        "VLM_BASE_URL": f"{address}/v1",
        "VLM_API_KEY": SECRET,
        "OPENAI_API_KEY": SECRET,
        "MATHPIX_URL": address,
        "MATHPIX_APP_ID": "me",
        "MATHPIX_APP_KEY": SECRET,
        "MISTRAL_URL": address,
        "MISTRAL_API_KEY": SECRET,
        "LLAMAPARSE_URL": address,
        "LLAMA_CLOUD_API_KEY": SECRET,
        "DOCLING_SERVE_URL": address,
        "AZURE_DI_ENDPOINT": address,
        "AZURE_DI_KEY": SECRET,
        "GOOGLE_DOCUMENTAI_URL": address,
        "GOOGLE_DOCUMENTAI_PROCESSOR": "projects/1/locations/eu/processors/2",
        "GOOGLE_ACCESS_TOKEN": SECRET,
        "AWS_TEXTRACT_URL": address,
        "AWS_ACCESS_KEY_ID": "me",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_DEFAULT_REGION": "eu-west-1",
        "TEST_SERVER": f"{address}/v1",
    }.items():
        monkeypatch.setenv(name, value)
    yield Handler
    httpd.shutdown()
    thread.join()


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return write_page(tmp_path / "page.pdf")


def _run(spec: str, page: Path) -> Trial:
    return try_parser(get_parser(spec), page, timeout_s=120)


@pytest.mark.parametrize(
    ("spec", "cost"), [("mathpix", 0.005), ("mistral-ocr", 0.002), ("llamaparse(usd_per_page=0.01)", 0.01)]
)
def test_services_that_give_markdown(spec: str, cost: float, server: type[_Server], page: Path) -> None:
    trial = _run(spec, page)
    (found,) = trial.prediction.tables
    assert found.table is not None and found.table.text_rows() == [["a", "b"], ["1", "2"]]
    assert trial.answer.cost_usd == pytest.approx(cost)


@pytest.mark.parametrize(
    ("spec", "cost"),
    [
        ("docling-serve", None),
        ("azure-document-intelligence", 0.01),
        ("google-document-ai", 0.03),
        ("aws-textract", 0.015),
    ],
)
def test_services_that_give_tables_with_places(
    spec: str, cost: float | None, server: type[_Server], page: Path
) -> None:
    trial = _run(spec, page)
    (found,) = trial.prediction.tables
    assert found.table is not None
    ticked = " ☒" if spec in ("aws-textract", "azure-document-intelligence") else ""
    assert [(c.row, c.col, c.colspan, c.text) for c in found.table.cells] == [
        (0, 0, 2, "head"),
        (1, 0, 1, f"1{ticked}"),
        (1, 1, 1, "2"),
    ]
    assert found.box is not None
    width, height = (612, 792)
    expected = (72, 144, 360, 288) if "aws" not in spec and "google" not in spec else None
    if expected is None:
        expected = (0.1 * width, 0.2 * height, 0.5 * width, 0.4 * height)  # type: ignore[assignment]
    assert found.box.as_tuple() == pytest.approx(expected, abs=1.0)
    assert trial.answer.cost_usd == (None if cost is None else pytest.approx(cost))


def test_an_operation_that_ends_otherwise_is_a_failure(server: type[_Server], page: Path) -> None:
    server.azure = "canceled"
    with pytest.raises(ParserError, match="canceled"):
        _run("azure-document-intelligence", page)


def test_tables_that_are_given_apart_return_to_their_places(server: type[_Server], page: Path) -> None:
    found = _run("mistral-ocr(tables=html)", page).prediction
    (table,) = found.tables
    assert table.table is not None and table.table.text_rows()[1] == ["1", "2"]
    assert (
        found.text is not None and found.text.startswith("# T\n\n<table>") and found.text.endswith("[a](a)")
    )


def _text_block(text: str, *inside: dict[str, Any]) -> dict[str, Any]:
    return {"textBlock": {"text": text, "type": "paragraph", "blocks": list(inside)}}


def test_googles_layout_parser_gives_blocks_in_place_of_pages(server: type[_Server], page: Path) -> None:
    rows = [
        {"cells": [{"blocks": [_text_block("head")], "colSpan": 2}]},
        {"cells": [{"blocks": [_text_block("1")]}, {"blocks": [_text_block("2"), _text_block("x")]}]},
    ]
    inner = {"tableBlock": {"headerRows": rows[:1], "bodyRows": rows[1:]}, "pageSpan": {"pageStart": 1}}
    listed = {"listBlock": {"listEntries": [{"blocks": [_text_block("an entry")]}], "type": "unordered"}}
    server.google = {
        "documentLayout": {"blocks": [_text_block("Title", _text_block("Words"), inner), listed]}
    }
    found = _run("google-document-ai", page).prediction
    (table,) = found.tables
    assert table.table is not None and table.table.text_rows() == [["head", "head"], ["1", "2 x"]]
    assert found.text == "Title\nWords\nhead\n1\t2 x\nan entry"


def test_google_gives_pixels_where_it_gives_no_shares(server: type[_Server], page: Path) -> None:
    server.google = json.loads(json.dumps(GOOGLE))
    layout = server.google["pages"][0]["tables"][0]["layout"]
    layout["boundingPoly"] = {"vertices": [{"x": 170}, {"x": 850, "y": 880}]}
    (table,) = _run("google-document-ai", page).prediction.tables
    assert table.box is not None and table.box.as_tuple() == pytest.approx((61.2, 0, 306, 316.8), abs=1.0)


def test_a_model_gets_picture_and_prompt_and_its_tokens_are_priced(server: type[_Server], page: Path) -> None:
    trial = _run(f"vlm(base_url={os.environ['TEST_SERVER']})", page)
    (found,) = trial.prediction.tables
    assert found.table is not None and found.table.text_rows() == [["a", "b"]]
    assert trial.answer.cost_usd == pytest.approx((1000 * 0.15 + 500 * 0.60) / 1e6)
    sent = json.loads(server.seen[-1]["body"])
    kinds = [part["type"] for part in sent["messages"][0]["content"]]
    assert kinds == ["image_url", "text"] and sent["model"] == "gpt-4o-mini" and sent["temperature"] == 0
    assert server.seen[-1]["headers"]["Authorization"] == f"Bearer {SECRET}"


def test_a_models_json_becomes_elements(server: type[_Server], page: Path) -> None:
    items = [
        {"bbox": [100, 100, 900, 160], "category": "Title", "text": "# T"},
        {"bbox": [100, 200, 900, 600], "category": "Table", "text": HTML},
        {"bbox": [100, 700, 900, 900], "category": "Picture"},
    ]
    server.answer = json.dumps(items)
    trial = _run("vlm(preset=dots.ocr)", page)
    assert [e.category for e in trial.prediction.elements] == ["title", "table", "figure"]
    assert [e.order for e in trial.prediction.elements] == [0, 1, 2]
    assert trial.prediction.tables[0].box is not None
    assert trial.answer.cost_usd is None, "nobody knows the price of one's own server"


def _prompt(body: dict[str, Any]) -> str:
    return next(p["text"] for p in body["messages"][-1]["content"] if p["type"] == "text")


def _picture(body: dict[str, Any]) -> Image.Image:
    (url,) = (p["image_url"]["url"] for p in body["messages"][-1]["content"] if p["type"] == "image_url")
    return Image.open(io.BytesIO(base64.b64decode(url.split(",", 1)[1])))


def _mineru(body: dict[str, Any]) -> str:
    """MinerU2.5: the layout of the whole page, then the content of each block."""
    assert body["skip_special_tokens"] is False and body["messages"][0]["role"] == "system"
    prompt, picture = _prompt(body), _picture(body)
    if prompt == "\nLayout Detection:":
        assert picture.size == (1036, 1036)
        return (
            "<|box_start|>100 100 900 110<|box_end|><|ref_start|>title<|ref_end|><|rotate_up|>\n"
            "<|box_start|>100 200 200 800<|box_end|><|ref_start|>table<|ref_end|><|rotate_left|>\n"
            "<|box_start|>100 850 900 900<|box_end|><|ref_start|>equation<|ref_end|><|rotate_up|>\n"
            "<|box_start|>100 910 900 950<|box_end|><|ref_start|>image<|ref_end|><|rotate_up|>\n"
        )
    if prompt == "\nTable Recognition:":
        assert picture.width > picture.height, "the table lies on its side and is turned"
        return "<fcel>a<fcel>b<nl><fcel>1<ecel><nl>"
    assert picture.width > picture.height >= 28
    return "\\[ x^2 \\]" if prompt == "\nFormula Recognition:" else "Results"


def test_a_model_of_two_steps_is_asked_for_the_layout_and_for_each_block(
    server: type[_Server], page: Path
) -> None:
    server.answer = _mineru
    found = _run("vlm(preset=mineru2.5)", page).prediction
    assert len(server.seen) == 4, "no content is asked for a picture"
    assert [e.category for e in found.elements] == ["title", "table", "equation_isolated", "figure"]
    assert found.elements[0].text == "Results" and found.elements[2].latex == "x^2"
    (table,) = found.tables
    assert table.table is not None and table.table.text_rows() == [["a", "b"], ["1", ""]]
    assert table.box is not None
    assert table.box.as_tuple() == pytest.approx((61.2, 158.4, 122.4, 633.6), abs=0.1)
    assert found.text == (
        "# Results\n\n<table><tr><td>a</td><td>b</td></tr><tr><td>1</td><td></td></tr></table>\n\n$$\nx^2\n$$"
    )


def test_models_are_asked_as_their_authors_do(server: type[_Server], page: Path) -> None:
    server.answer = "---\nprimary_language: en\nis_table: True\n---\n" + MARKDOWN
    assert len(_run("vlm(preset=olmocr-2)", page).prediction.tables) == 1
    sent = json.loads(server.seen[-1]["body"])
    assert [p["type"] for p in sent["messages"][0]["content"]] == ["text", "image_url"]
    assert max(_picture(sent).size) == 1288

    server.answer = "<|ref|>table<|/ref|><|det|>[[100, 100, 900, 500]]<|/det|>\n" + HTML
    assert _run("vlm(preset=deepseek-ocr)", page).prediction.tables[0].box is not None
    assert json.loads(server.seen[-1]["body"])["skip_special_tokens"] is False

    server.answer = "[]"
    _run("vlm(preset=dots.ocr)", page)
    sent = json.loads(server.seen[-1]["body"])
    assert _prompt(sent).startswith("<|img|><|imgpad|><|endofimg|>Please output")
    assert [side % 28 for side in _picture(sent).size] == [0, 0], "boxes are in the model's own pixels"

    server.answer = f'<div data-bbox="[102, 102, 512, 512]" data-label="Table">{HTML}</div>'
    assert _run("vlm(preset=chandra)", page).prediction.tables[0].box is not None

    server.answer = HTML
    own = f"vlm(preset=soric,base_url={os.environ['VLM_BASE_URL']})"
    assert len(_run(own, page).prediction.tables) == 1
    asked = _prompt(json.loads(server.seen[-1]["body"]))
    assert asked.startswith("Examine the image for any tables. If tables are present, write the HTML code")
    assert "Avoid using line breaks (\\n) or additional text." in asked, "as it is printed"

    server.answer = "<fcel>a<fcel>b<nl>"
    (found,) = _run("vlm(preset=paddleocr-vl-table)", page).prediction.tables
    assert found.table is not None and found.table.text_rows() == [["a", "b"]]
    assert _prompt(json.loads(server.seen[-1]["body"])) == "Table Recognition:"


def test_a_busy_service_is_asked_again_and_a_refusal_names_no_key(server: type[_Server], page: Path) -> None:
    server.busy = 2
    assert len(_run("vlm(preset=olmocr-2)", page).prediction.tables) == 1
    server.refuse = True
    with pytest.raises(ParserError, match="401") as refused:
        _run("mistral-ocr", page)
    assert SECRET not in str(refused.value)
    server.refuse, server.busy = False, 10**6
    with pytest.raises(ParserError, match="busy or broken: 429"):
        _run("mistral-ocr", page)


def test_an_unset_key_is_named(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "VLM_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ParserError, match="OPENAI_API_KEY"):
        _run("vlm(preset=gpt-5)", page)
    with pytest.raises(ParserError, match="VLM_BASE_URL"):
        _run("vlm(preset=paddleocr-vl)", page)
