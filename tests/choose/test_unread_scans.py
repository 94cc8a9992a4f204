import pytest

from parsemark.model import Element, Prediction
from parsemark.pdf.page_kinds import NO_LAYER
from parsemark.protocols.run_data.unread_pages import unread_scans


def test_scans_that_nobody_reads_are_a_warning() -> None:
    kinds = {"scan": {"layer": NO_LAYER}, "page": {"layer": "text"}}
    silent = {(s, "p"): Prediction(s, "p") for s in kinds}
    assert "1 page without a text layer" in (unread_scans(kinds, silent) or "")
    read = {**silent, ("scan", "ocr"): Prediction("scan", "ocr", elements=(Element("e", "text", text="x"),))}
    assert unread_scans(kinds, read) is None
    assert unread_scans({"page": {"layer": "text"}}, silent) is None


@pytest.mark.parametrize(
    "text", ["```markdown\n```", "```\n\n```\n", "![](page.png)", "<!-- page 1 -->\n", "  "]
)
def test_a_fence_or_a_picture_alone_reads_no_scan(text: str) -> None:
    kinds = {"scan": {"layer": NO_LAYER}}
    assert unread_scans(kinds, {("scan", "p"): Prediction("scan", "p", text=text)}) is not None
    assert unread_scans(kinds, {("scan", "p"): Prediction("scan", "p", text=f"{text}\n\nword")}) is None
