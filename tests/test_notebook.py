"""Objects show themselves in notebooks, and no text of a parser or a corpus becomes markup."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.store.fabricate import fabricate_run

import parsemark as pm
from parsemark.notebook import html_lines, html_table

HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(2)>'


def parsed(html: str) -> ElementTree.Element:
    """The markup, which must be well-formed, and holds nothing that runs."""
    tree = ElementTree.fromstring(f"<body>{html}</body>")
    assert not [e for e in tree.iter() if e.tag.rpartition("}")[2] in ("script", "img", "iframe")]
    assert not [k for e in tree.iter() for k in e.attrib if k.startswith("on")]
    return tree


def test_texts_are_escaped() -> None:
    tree = parsed(html_table([HOSTILE, "n"], [[HOSTILE, HOSTILE]], HOSTILE) + html_lines([HOSTILE]))
    assert [e.text for e in tree.iter() if e.text == HOSTILE] == [HOSTILE] * 5


def test_a_page_is_drawn_with_its_boxes() -> None:
    elements = (
        pm.Element("a", HOSTILE, pm.Box(10, 20, 110, 40), text=HOSTILE),
        pm.Element("b", "table", pm.Box(10, 50, 110, 90), table=pm.Table.from_rows([["1", "2"]])),
        pm.Element("c", "title", text="nowhere"),
    )
    html = pm.Page(HOSTILE, 600, 800, elements)._repr_html_()
    tree = parsed(html)
    boxes = [e for e in tree.iter() if e.tag.endswith("rect")]
    assert [(float(b.get("x", 0)), float(b.get("width", 0))) for b in boxes] == [(10, 100), (10, 100)]
    titles = [e.text for e in tree.iter() if e.tag.endswith("title")]
    assert titles == [f"{HOSTILE}: {HOSTILE}"[: len(HOSTILE) * 2 + 2], "table: 1 × 2"]
    assert "elements without a box: 1" in html


def test_a_run_a_summary_and_a_comparison_show_their_numbers(tmp_path: Path) -> None:
    run = fabricate_run(tmp_path / "run", 12, ("good", "fair"))
    summary = run.summary()
    shown = run._repr_html_()
    parsed(shown)
    best = summary.ordered()[0]
    figure = summary.figure(best, summary.primary)
    assert figure is not None and figure.value is not None
    assert best in shown and f"{figure.value:.3f}" in shown and summary.protocol in shown
    compared = pm.compare(run, *summary.ordered()[:2])
    html = compared._repr_html_()
    parsed(html)
    assert all(name in html for name in summary.ordered()[:2])
    hostile = summary.model_copy(update={"notes": [HOSTILE], "parsers": {HOSTILE: summary.parsers[best]}})
    tree = parsed(hostile._repr_html_())
    assert sum(HOSTILE in (e.text or "") for e in tree.iter()) == 2


def test_a_run_that_is_not_scored_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = fabricate_run(tmp_path / "run", 2, ("good",))
    monkeypatch.setattr(pm.Run, "protocols", property(lambda self: []))
    assert "not scored" in run._repr_html_()
