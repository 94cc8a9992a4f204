"""A report of a run in which everything that comes from outside is an attack."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lxml.html
import polars as pl
import pytest
from lxml import etree
from tests.report.conftest import complete
from tests.store.fabricate import fabricate_run

from parsemark.report import build_report
from parsemark.report.charts.catalogue import all_sections
from parsemark.report.charts.paper import save_chart
from parsemark.report.source import RunSource
from parsemark.store import Run, RunFolder

ATTACKS = (
    "<script>window.pwned = 1</script>",
    '"><img src=x onerror="window.pwned = 2">',
    "</script><script>window.pwned = 3</script>",
    "<svg onload=window.pwned=4><animate onbegin=window.pwned=5>",
    "<a href='javascript:window.pwned=6'>click</a>",
    "javascript:window.pwned=7",
    "\u202etxet desrever\u202c \u2066isolate",
    "{{ 7 * 7 }} ${7*7} $\\frac{1}{0}$",
    "__proto__",
    '=HYPERLINK("http://evil.example","x")',
    "\ud800 lone surrogate".encode("utf-8", "replace").decode(),
    "\x00\x07\x1b[31m control",
)
PARSERS = (
    "<script>window.pwned = 10</script>",
    '"><img src=x onerror=window.pwned=11>',
    "../../../etc/passwd",
    "__proto__",
    "constructor",
    "javascript:window.pwned=12",
    "\u202eevil $x^2$ \"quoted\" 'single' `tick`",
)
HUGE = "A" * 10_000_000


def poison(run: Run) -> None:
    """Put attacks into everything that a parser or a corpus says."""
    attack = _cycle(ATTACKS)
    rows = []
    for row in run.table("predictions").iter_rows(named=True):
        data = json.loads(row["prediction"])
        for element in data["elements"]:
            element["html"] = f"<table><tr><td>{attack()}</td></tr></table>"
            element["text"] = attack()
            for cell in element["table"]["cells"]:
                cell["text"] = attack()
        if row["sample"] == "page-002" and data["elements"]:
            data["elements"][0]["table"]["cells"][0]["text"] = HUGE
        data["message"] = attack()
        rows.append({**row, "prediction": json.dumps(data)})
    RunFolder.of(run).write_table("predictions", pl.DataFrame(rows, schema=run.table("predictions").schema))
    parses = [
        {
            **row,
            "error": attack() if row["status"] != "ok" else None,
            "stderr_tail": attack() if row["status"] != "ok" else None,
            "blob": RunFolder.of(run).blobs.put(("</script>" + attack() + "<!--").encode()),
        }
        for row in run.table("parses").iter_rows(named=True)
    ]
    RunFolder.of(run).write_table("parses", pl.DataFrame(parses, schema=run.table("parses").schema))
    samples = []
    for row in run.table("samples").iter_rows(named=True):
        truth = json.loads(row["truth"])
        attributes = {"<b>": attack(), "constructor": attack(), "scan": attack()}
        for element in truth["elements"]:
            element["attributes"] = {"</script>": attack()}
            element["table"]["cells"][0]["text"] = attack()
        changed = {"document": attack(), "attributes": json.dumps(attributes)}
        samples.append({**row, **changed, "truth": json.dumps({**truth, "attributes": attributes})})
    RunFolder.of(run).write_table("samples", pl.DataFrame(samples, schema=run.table("samples").schema))


def _cycle(values: tuple[str, ...]) -> Callable[[], str]:
    state = iter(range(10**9))
    return lambda: values[next(state) % len(values)]


@pytest.fixture(scope="module")
def hostile_run(tmp_path_factory: pytest.TempPathFactory, blank_pdf: Path) -> Run:
    run = fabricate_run(tmp_path_factory.mktemp("hostile") / "run", 8, PARSERS, pdf=blank_pdf, seed=3)
    poison(run)
    names = {f"page-{i:03d}": f"page{i}<img src=x onerror=window.pwned=20>" for i in range(2)}
    for table in ("samples", "parses", "predictions", "matches", "scores"):
        frame = run.table(table).with_columns(pl.col("sample").replace(names))
        if table == "predictions":
            text = pl.col("prediction").str.replace_many(
                list(names), [json.dumps(v)[1:-1] for v in names.values()]
            )
            frame = frame.with_columns(text)
        RunFolder.of(run).write_table(table, frame)
    entry = run.manifest.parsers[0]
    hostile = {ATTACKS[0]: ATTACKS[1]}
    entry = entry.model_copy(
        update={"versions": hostile, "settings": hostile, "weights": hostile, "licence": ATTACKS[2]}
    )
    RunFolder.of(run).update_manifest(
        lambda m: m.with_parser(entry).model_copy(update={"command": ["parsemark", ATTACKS[0]]})
    )
    complete(run)
    return run


@pytest.fixture(scope="module")
def hostile_site(hostile_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_report(hostile_run.path, tmp_path_factory.mktemp("hostile-site")).parent


def test_no_file_is_named_by_an_attacker(hostile_site: Path) -> None:
    for path in hostile_site.rglob("*"):
        assert re.fullmatch(r"[A-Za-z0-9_.-]+", path.name), path
        assert path.resolve().is_relative_to(hostile_site.resolve())


def test_no_attack_is_markup_in_any_file(hostile_site: Path) -> None:
    for path in hostile_site.glob("*.html"):
        tree = lxml.html.parse(str(path))
        for node in tree.iter(etree.Element):
            assert not [name for name in node.attrib if name.startswith("on")], path
            link = node.get("href") or node.get("src") or ""
            assert not link.lower().strip().startswith("javascript:"), path
            if node.tag == "script":
                assert node.get("src", "").startswith("assets/js/"), path
                assert not node.text


def test_a_ten_megabyte_cell_stays_small(hostile_site: Path) -> None:
    assert max(p.stat().st_size for p in (hostile_site / "data").rglob("*.js")) < 300_000


def test_paper_figures_survive_hostile_names(hostile_run: Run, tmp_path: Path) -> None:
    source = RunSource(hostile_run)
    charts = [chart for section in all_sections(source) for chart in section.charts]
    for chart in charts[:4]:
        save_chart(chart, source.colours, tmp_path / f"{chart.key}.svg")
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.browser
def test_nothing_runs_and_nothing_breaks(open_page: Callable[..., Any], hostile_site: Path) -> None:
    for path in sorted(hostile_site.glob("*.html")):
        page = open_page(path.as_uri())
        if path.name not in ("provenance.html", "tables.html"):  # these have no scripts
            page.wait_for_selector("html[data-ready]", state="attached")
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        page.wait_for_timeout(100)
        assert page.evaluate("window.pwned") is None, path
        assert page.locator("img[onerror], [onload], a[href^='javascript']").count() == 0
        page.context.close()


@pytest.mark.browser
def test_the_viewer_shows_attacks_as_text(open_page: Callable[..., Any], hostile_site: Path) -> None:
    page = open_page(f"{hostile_site.as_uri()}/viewer.html#queue=all")
    page.wait_for_selector("html[data-ready]", state="attached")
    seen = ""
    for number in range(len(PARSERS)):
        before = page.evaluate("document.documentElement.dataset.ready")
        if page.locator("#parser").input_value() != str(number):
            page.locator("#parser").select_option(str(number))
            page.wait_for_function("b => document.documentElement.dataset.ready !== b", arg=before)
        page.get_by_text("Raw output of the parser").click()
        page.locator(".raw-output pre, .raw-output p").first.wait_for()
        seen += page.locator("main").inner_text()
        assert page.evaluate("window.pwned") is None
    assert "<script>window.pwned = 1</script>" in seen
    assert "⟨U+202E⟩" in seen
    assert "more characters" in seen
    assert page.locator("main script, main iframe, main object").count() == 0


@pytest.mark.browser
def test_hostile_downloads_are_data(open_page: Callable[..., Any], hostile_site: Path) -> None:
    page = open_page(f"{hostile_site.as_uri()}/index.html", accept_downloads=True)
    page.wait_for_selector("html[data-ready]", state="attached")
    with page.expect_download() as waiting:
        page.locator(".controls").get_by_role("button", name="CSV").click()
    lines = Path(waiting.value.path()).read_text().splitlines()
    assert len(lines) == len(PARSERS) + 1
    assert page.evaluate("parsemark.toCsv([['=1+1', -2, '+x']])") == "'=1+1,-2,'+x\n"
