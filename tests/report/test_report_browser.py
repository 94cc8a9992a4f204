"""The site in a real browser: every page loads without complaint, and what can be clicked works."""

import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.accessible import accessible
from tests.report.test_choice_page import many_alike
from tests.store.fabricate import fabricate_run

from parsemark.protocols.tables import TablesProtocol
from parsemark.report import build_report
from parsemark.report.choice_page import write_choice
from parsemark.report.comparison_text import comparison_markdown
from parsemark.report.names import safe_name
from parsemark.store import Run, RunFolder
from parsemark.verdicts.comparison import compare_parsers

pytestmark = pytest.mark.browser

PAGES = (
    "index.html",
    "charts.html",
    "viewer.html",
    "compare.html",
    "tables.html",
    "provenance.html",
    f"parser-{safe_name('poor')}.html",
)
WITHOUT_SCRIPTS = ("provenance.html", "tables.html")
Open = Callable[..., Any]


def ready(page: Any) -> Any:
    page.wait_for_selector("html[data-ready]", state="attached")
    return page


def rows(page: Any) -> list[str]:
    return [name.strip() for name in page.locator("#board tbody th").all_inner_texts()]


def column(page: Any, key: str) -> list[float]:
    return [float(c.get_attribute("data-value")) for c in page.locator(f'#board td[data-key="{key}"]').all()]


@pytest.mark.parametrize("name", PAGES)
def test_pages_load_from_disk_and_from_a_server_and_are_accessible(
    open_page: Open, site: Path, server: str, name: str
) -> None:
    for address in (f"{site.as_uri()}/{name}", f"{server}/{name}"):
        page = open_page(address)
        if name not in WITHOUT_SCRIPTS:
            ready(page)
        assert page.locator("h1").count() == 1
        policy = page.locator('meta[http-equiv="Content-Security-Policy"]').get_attribute("content")
        assert policy.startswith("default-src 'none'; script-src 'self'")
        assert "unsafe" not in policy
    accessible(page)


@pytest.mark.parametrize("name", PAGES)
def test_pages_fit_a_phone_and_their_links_lead_somewhere(open_page: Open, site: Path, name: str) -> None:
    page = open_page(f"{site.as_uri()}/{name}", viewport={"width": 360, "height": 740}, has_touch=True)
    if name not in WITHOUT_SCRIPTS:
        ready(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    links = page.locator("a[href], link[href]").evaluate_all("all => all.map(a => a.getAttribute('href'))")
    for address in set(links):
        target = address.partition("#")[0]
        assert not target or (site / target).is_file(), address


def test_long_pages_are_folded_on_a_phone_and_whole_in_print(open_page: Open, site: Path) -> None:
    phone = {"viewport": {"width": 390, "height": 800}, "has_touch": True}
    charts = ready(open_page(f"{site.as_uri()}/charts.html", **phone))
    groups = charts.locator("details.fold")
    closed = groups.evaluate_all("all => all.map(group => group.open)")
    assert closed == [True] + [False] * (len(closed) - 1) and len(closed) > 2
    last = charts.locator("nav .contents a").last
    last.click()
    assert groups.last.evaluate("group => group.open"), "a link opens the group to which it leads"
    charts.emulate_media(media="print")
    assert groups.nth(1).locator(".chart-grid").evaluate("grid => grid.getBoundingClientRect().height") > 0
    assert all(
        ready(open_page(f"{site.as_uri()}/charts.html"))
        .locator("details.fold")
        .evaluate_all("all => all.map(group => group.open)")
    )
    parser = ready(open_page(f"{site.as_uri()}/parser-{safe_name('poor')}.html", **phone))
    folded = parser.locator("details.fold", has_text="more number")
    assert folded.count() == 1 and not folded.evaluate("fold => fold.open")
    assert parser.locator("#numbers ~ .table-frame tbody tr").count() > 0


def test_sorting_by_mouse_and_keyboard(open_page: Open, site: Path) -> None:
    page = ready(open_page(f"{site.as_uri()}/index.html"))
    page.get_by_role("button", name="Detection F1", exact=True).click()
    values = column(page, "td_f1")
    assert values == sorted(values, reverse=True)
    assert page.locator('th[data-key="td_f1"]').get_attribute("aria-sort") == "descending"
    page.get_by_role("button", name="Detection F1", exact=True).press("Enter")
    assert column(page, "td_f1") == sorted(values)
    page.get_by_role("button", name="Parser", exact=True).click()
    assert rows(page) == sorted(rows(page))
    page.reload()
    ready(page)
    assert rows(page) == sorted(rows(page)), "the address keeps the order"


def test_a_slice_changes_the_numbers_and_the_address(open_page: Open, site: Path) -> None:
    page = ready(open_page(f"{site.as_uri()}/index.html"))
    before = column(page, "te_f1_con")
    page.locator("#slice").select_option("scan=yes")
    after = column(page, "te_f1_con")
    assert after != before
    assert "slice=scan" in page.url
    assert page.locator("#headline").inner_text().startswith("scan: yes: "), (
        "the first line follows the filter"
    )
    again = ready(open_page(page.url))
    assert column(again, "te_f1_con") == after


def test_columns_are_explained_where_they_stand(open_page: Open, site: Path) -> None:
    page = ready(open_page(f"{site.as_uri()}/index.html"))
    assert page.locator("#about-td_f1").is_hidden()
    page.get_by_role("button", name="What is Detection F1?").press("Enter")
    assert page.locator("#about-td_f1").is_visible()
    assert "Taken over" in page.locator("#about-td_f1").inner_text()
    page.keyboard.press("Escape")
    assert page.locator("#about-td_f1").is_hidden()
    explained = page.locator("#board thead .explain").count()
    assert explained == page.locator("#board thead th").count() - 1, "every column but the name"


@pytest.mark.parametrize("width", [390, 1280])
def test_columns_without_room_are_folded_under_a_button(open_page: Open, site: Path, width: int) -> None:
    page = ready(open_page(f"{site.as_uri()}/index.html", viewport={"width": width, "height": 844}))
    frame = "document.getElementById('board').parentElement"
    assert page.evaluate(f"{frame}.scrollWidth <= {frame}.clientWidth"), "nothing is cut"
    if width == 1280:
        boxes = [page.locator(f".first-screen {box}").bounding_box() for box in (".verdict", "figure")]
        assert boxes[0]["y"] == boxes[1]["y"] and abs(boxes[0]["height"] - boxes[1]["height"]) < 1
    questions = page.locator("#verdict dt").all_inner_texts()
    assert questions[:2] == ["Which parser?", "How sure?"] and questions[-1] == "What next?"
    assert page.locator("#verdict div").last.bounding_box()["y"] < 844, "the first screen answers them all"
    shown = page.locator("#board thead th:visible")
    assert {"name", "rank", "te_f1_con", "failures"} <= {h.get_attribute("data-key") for h in shown.all()}
    hidden = page.locator("#board thead th").count() - shown.count()
    button = page.get_by_role("button", name="All columns")
    assert button.inner_text() == f"All columns ({hidden} more)"
    button.click()
    assert shown.count() == page.locator("#board thead th").count()
    page.set_viewport_size({"width": 20_000, "height": 844})
    button.click()
    assert page.locator('th[data-key="cpu_s_per_page"]').is_visible(), "a wider window has room for more"


@pytest.mark.parametrize(
    ("button", "begins"), [("CSV", "Parser,Rank,"), ("Markdown", "| Parser | Rank |"), ("LaTeX", "% needs")]
)
def test_downloads(open_page: Open, site: Path, button: str, begins: str) -> None:
    page = ready(open_page(f"{site.as_uri()}/index.html", accept_downloads=True))
    with page.expect_download() as waiting:
        page.locator(".controls").get_by_role("button", name=button).click()
    text = Path(waiting.value.path()).read_text()
    assert text.startswith(begins)
    assert "camelot(flavor=stream)" in text.replace("\\", "")


def test_the_theme_can_be_chosen_and_is_kept(open_page: Open, server: str) -> None:
    page = ready(open_page(f"{server}/index.html", color_scheme="light"))
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    toggle = page.get_by_role("button", name="Colour theme")
    toggle.click()
    assert page.evaluate(paper) == light
    toggle.click()
    dark = page.evaluate(paper)
    assert dark != light
    page.reload()
    assert page.evaluate(paper) == dark


def test_charts_can_be_read_as_tables_and_taken_away(open_page: Open, site: Path) -> None:
    page = ready(open_page(f"{site.as_uri()}/charts.html", accept_downloads=True))
    figure = page.locator("#figure-quality-time")
    figure.get_by_role("button", name="Numbers").click()
    assert figure.locator(".chart-data tbody tr").count() >= 4
    with page.expect_download() as waiting:
        figure.get_by_role("button", name="SVG").click()
    drawing = Path(waiting.value.path()).read_text()
    assert drawing.startswith("<svg")
    assert "var(--" not in drawing
    legend = figure.get_by_role("button", name="good")
    legend.click()
    assert figure.locator('g[data-series="good"]').evaluate("g => getComputedStyle(g).display") == "none"


def test_no_label_of_a_chart_is_struck_through(open_page: Open, site: Path) -> None:
    page = open_page(f"{site.as_uri()}/index.html")
    ready(page)
    struck = """() => {
        const chart = {key: 'x', title: '', caption: '', labelled: true, guides: [],
            x: {label: '', low: 0, high: 1}, y: {label: '', low: 0, high: 1}, series: [
            {name: 'front', mark: 'line', x: [0.2, 0.8, 0.8], y: [0.4, 0.4, 0.9]},
            {name: 'first', mark: 'points', x: [0.2], y: [0.4]}]};
        const drawn = document.body.appendChild(parsemark.drawChart(chart, {}));
        const [, level] = drawn.querySelector('.mark-line').getAttribute('d').match(/^M\\S+ ([\\d.]+)L/);
        return [...drawn.querySelectorAll('.point-label')].map((l) => Math.abs(l.getAttribute('y') - level));
    }"""
    assert min(page.evaluate(struck)) > 9


def test_skip_link_comes_first(open_page: Open, site: Path) -> None:
    page = ready(open_page(f"{site.as_uri()}/index.html"))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"


def test_print_is_light_and_has_no_tables_on_each_other(open_page: Open, site: Path) -> None:
    page = open_page(f"{site.as_uri()}/viewer.html#parser=good&with=poor", color_scheme="dark")
    ready(page)
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(253, 253, 252)"
    sides = [side.bounding_box() for side in page.locator(".three-sides > *").all()]
    assert len(sides) == 3
    assert all(one["y"] + one["height"] <= two["y"] for one, two in itertools.pairwise(sides))


def test_comparison(open_page: Open, site: Path, run: Run) -> None:
    page = open_page(f"{site.as_uri()}/compare.html#a=good&b=poor")
    page.wait_for_selector("#comparison table")
    before = page.locator("#answer").inner_text()
    page.get_by_role("button", name="Swap").click()
    page.wait_for_function("document.querySelector('#a').selectedOptions[0].textContent === 'poor'")
    swapped = page.locator("#answer").inner_text()
    assert swapped.startswith("good is better than poor: TE F1 Con ") and swapped == before
    assert "a=poor" in page.url
    failures = page.locator("#comparison tr", has_text="Failures").first.locator("td").all_inner_texts()
    assert all(re.fullmatch(r"[+−]?\d+", text) for text in failures), "counts have no decimals"
    main = [info.label for info in run.summary().shown() if info.main]
    assert page.locator("#comparison tbody th:visible").all_inner_texts() == main, "the others are folded"
    page.locator("summary", has_text="More scores").click()
    assert page.locator("#comparison tbody th:visible").count() > len(main)
    assert swapped == comparison_markdown(compare_parsers(run, "poor", "good")).splitlines()[0]


def test_a_run_of_one_parser_without_truth(open_page: Open, tmp_path: Path) -> None:
    run = fabricate_run(tmp_path / "run", 3, ("only",))
    unknown = [pl.lit(None).alias(c) for c in ("truth", "n_tables", "attributes", "width", "height")]
    RunFolder.of(run).write_table("samples", run.table("samples").with_columns(unknown))
    for table in ("matches", "scores"):
        RunFolder.of(run).write_table(table, run.table(table).clear())
    RunFolder.of(run).write_summary(TablesProtocol().summarise(run.run_tables("tables")))
    site = build_report(run.path, tmp_path / "site").parent
    for path in site.glob("*.html"):
        page = open_page(path.as_uri())
        if path.name not in WITHOUT_SCRIPTS:
            ready(page)
        page.context.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_names_of_a_choice_can_be_read_and_no_column_is_cut(
    open_page: Open, tmp_path: Path, width: int
) -> None:
    path = write_choice(many_alike(), "folder:mine", tmp_path)
    page = open_page(path.as_uri(), viewport={"width": width, "height": 844})
    cut = "all => all.filter(f => f.scrollWidth > f.clientWidth).length"
    assert page.locator(".scroll").evaluate_all(cut) == 0
    assert page.get_by_text("Behind the leader", exact=True).is_visible()
    boxes = [text.bounding_box() for text in page.locator("svg circle ~ text").all()]
    assert all(box["height"] >= 12 for box in boxes)
    names = [(b["x"], b["y"] + 2, b["x"] + b["width"], b["y"] + b["height"] - 2) for b in boxes]
    pairs = itertools.combinations(names, 2)
    assert not any(a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3] for a, b in pairs)
    accessible(page)


def test_the_page_of_versions_is_accessible(open_page: Open, tmp_path: Path) -> None:
    run = fabricate_run(tmp_path / "run", 6, ("mine@1.0", "mine@1.1", "mine@1.2"))
    page = ready(open_page(build_report(run.path, tmp_path / "site").with_name("versions.html").as_uri()))
    assert page.locator(".chart-grid svg").count() > 1
    accessible(page)
