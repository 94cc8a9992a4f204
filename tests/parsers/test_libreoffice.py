"""LibreOffice's PDF import: its text boxes as lines, from a recorded file and from the program."""

import json
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.parsers.pages import write_page

from parsemark.errors import ParserError
from parsemark.parsers import get_parser, needs
from parsemark.parsers.parser import WORKERS
from parsemark.parsers.trial import require_usable, try_parser

BOX = """<draw:frame draw:z-index="{order}" svg:x="{x}in" svg:y="{y}in" svg:width="1in" svg:height="0.1906in">
<draw:text-box><text:p><text:span>{text}</text:span></text:p></draw:text-box></draw:frame>"""
FILE = """<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"
 xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body>{boxes}</office:body></office:document>"""
RECORDED = (
    *((3, 6.7055, 7.4319, "89.85"), (2, 1.4846, 7.43, "Hex bolt M8"), (1, 1.2665, 7.1, "8")),
    *((10, 0.8, 9.5, "Thank you"), (0, 0.8, 1.0, "Invoice")),
)


def test_boxes_at_one_height_are_a_line_in_the_order_of_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    kit = SimpleNamespace(serve=lambda *_, **__: None, text_output=None, single_page=None)
    for name in ("parsemark_worker", "parsemark_pages"):
        monkeypatch.setitem(sys.modules, name, kit)
    worker = runpy.run_path(str(WORKERS / "libreoffice.py"))
    boxes = "".join(BOX.format(order=order, x=x, y=y, text=text) for order, x, y, text in RECORDED)
    found = worker["lines"](FILE.format(boxes=boxes).encode())
    assert found == ["Invoice", "8", "Hex bolt M8 89.85", "Thank you"]


def test_without_libreoffice_one_line_names_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(needs, "held_by_confinement", tuple)
    hint = r"^libreoffice cannot run here\. Missing: libreoffice \(apt install libreoffice-writer-nogui\)\.$"
    with pytest.raises(ParserError, match=hint):
        require_usable(get_parser("libreoffice"))


@pytest.mark.parametrize(
    ("held", "is_refused"),
    [
        (("Landlock 7", "filter of system calls"), True),
        (("Landlock 7", "filter of system calls", "namespaces of users, mounts, IPC and network"), False),
        ((), False),
    ],
)
def test_what_the_confinement_refuses_without_namespaces_is_listed(
    held: tuple[str, ...], is_refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(needs, "held_by_confinement", lambda: held)
    state = str(get_parser("libreoffice").state())
    assert (
        "namespaces (confined, it cannot open a socket: allow unprivileged user namespaces" in state
    ) == is_refused


@pytest.mark.parsers
@pytest.mark.skipif(bool(get_parser("libreoffice").state().missing), reason="needs LibreOffice")
def test_the_program_reads_a_page_confined(tmp_path: Path) -> None:
    trial = try_parser(get_parser("libreoffice"), write_page(tmp_path / "page.pdf"))
    assert trial.answer.output is not None
    text = json.loads(trial.answer.output)["content"]
    assert "cell 00 cell 01 cell 02 cell 03\ncell 10" in text
