"""“This truth is wrong”: the viewer writes entries, and `corpus check` and `annotate` read them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.corpora.disputes import Dispute, read_disputes
from parsemark.errors import CorpusError, ParsemarkError

Open = Callable[..., Any]


@pytest.mark.browser
def test_the_viewer_writes_a_file_that_can_be_read(open_page: Open, server: str, tmp_path: Path) -> None:
    page = open_page(f"{server}/viewer.html#page=page-001&parser=good", accept_downloads=True)
    page.wait_for_selector("html[data-ready]", state="attached")
    page.get_by_text("This truth is wrong").click()
    page.locator(".dispute select").select_option("t0")
    page.get_by_label("What is wrong?").fill("<b>1.12</b> is 1.2")
    page.get_by_role("button", name="Add", exact=True).click()
    assert "<b>1.12</b> is 1.2" in page.locator(".dispute li").inner_text(), "shown as text"
    page.reload()
    page.wait_for_selector("html[data-ready]", state="attached")
    page.get_by_text("This truth is wrong").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save 1 entry as disputes.json").click()
    path = tmp_path / "disputes.json"
    waiting.value.save_as(path)
    assert read_disputes(path) == [Dispute(sample="page-001", element="t0", what="<b>1.12</b> is 1.2")]


def test_check_lists_them_and_names_what_it_cannot_use(tmp_path: Path) -> None:
    path = tmp_path / "disputes.json"
    entry = {"sample": "demo-0001-p1", "element": "2", "what": "a cell is \x1b[31mmissing"}
    path.write_text(json.dumps({"corpus": "demo", "hash": "c0", "disputes": [entry]}))
    result = CliRunner().invoke(app, ["corpus", "check", "demo", "--disputes", str(path)])
    assert "DISPUTED demo-0001-p1, 2: a cell is " in result.output and "\x1b" not in result.output
    with pytest.raises(CorpusError, match="has no page 'demo-0001-p1'"):
        read_disputes(path, ["other"])
    path.write_text(json.dumps({"disputes": [{"sample": 1}]}))
    with pytest.raises(ParsemarkError, match="disputes"):
        read_disputes(path)
