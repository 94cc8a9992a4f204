"""Annotating as a person does it: with the keyboard alone, on a phone, in the dark."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.accessible import accessible
from tests.waiting import wait_until
from tests.web.serve import served
from tests.web.test_annotate import LINK, Annotator, first_sample, folder, runs_of, truth

pytestmark = pytest.mark.browser
__all__ = ["folder"]


def begin(page: Any, name: str) -> None:
    page.focus("#name")
    page.keyboard.type(name)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    saved(page)


def saved(page: Any) -> None:
    expect(page.locator("#status")).to_contain_text("Saved")


def shown(page: Any) -> list[list[str]]:
    """The texts of the grid, as the person sees them."""
    found: list[list[str]] = page.eval_on_selector_all(
        ".grid.editing tr", "rows => rows.map(r => [...r.cells].map(c => c.innerText.trim()))"
    )
    return found


def test_a_table_is_made_with_the_keyboard_alone(
    folder: Path, open_page: Callable[..., Any], screenshot: Any
) -> None:
    with served("annotate", f"folder:{folder}", "--port", "0") as (links, _):
        page = open_page(links[LINK])
        begin(page, "Ada")
        press, write = page.keyboard.press, page.keyboard.type
        press("Alt+t")
        page.wait_for_selector(".grid.editing td.chosen")
        write("Method")
        press("Tab")
        write("Score")
        press("ArrowDown")
        write("1.12")
        press("ArrowLeft")
        write("ours")
        press("Enter")
        saved(page)
        assert shown(page) == [["Method", "Score"], ["ours", "1.12"]]
        press("Alt+i")  # a row below
        expect(page.locator(".grid.editing tr")).to_have_count(3)
        press("ArrowDown")
        press("Shift+ArrowRight")
        press("Alt+m")
        expect(page.locator('.grid.editing td[colspan="2"]')).to_have_count(1)
        press("Enter")
        write("<script>alert(1)</script>")
        press("Enter")
        saved(page)
        press("Control+z")
        press("Alt+o")
        expect(page.locator(".grid.editing tr:first-child td")).to_have_count(3)
        press("Control+z")
        expect(page.locator(".grid.editing tr:first-child td")).to_have_count(2)
        press("Alt+b")
        for _ in range(5):
            press("ArrowRight")
        press("Escape")
        press("Alt+f")
        page.wait_for_selector("#block")
        write("\\frac{a}{b} + x^2")
        page.wait_for_selector(".formula math mfrac")
        press("Escape")
        press("Alt+Slash")
        saved(page)
        screenshot(page, "annotate-formula")
        press("Alt+ArrowUp")
        page.wait_for_selector(".grid.editing td.chosen")
        accessible(page)
        screenshot(page, "annotate-table")
        assert truth(folder, 1) is None
        press("Alt+a")
        expect(page.locator("#status")).to_contain_text("accepted by Ada")
    found = truth(folder, 1)
    rows = found.tables[0].table.text_rows()
    assert rows[:2] == [["Method", "Score"], ["ours", "1.12"]]
    assert found.tables[0].table.n_rows == 3
    assert found.tables[0].box is not None
    formula = next(e for e in found.elements if e.category == "equation_isolated")
    assert formula.latex == "\\frac{a}{b} + x^2"


def test_typing_on_a_chosen_cell_writes_into_it(folder: Path, open_page: Callable[..., Any]) -> None:
    """No letter is a command: `maxi` once deleted a row and inserted another."""
    with served("annotate", f"folder:{folder}", "--port", "0") as (links, _):
        page = open_page(f"{links[LINK]}page/{first_sample(folder)}")
        saved(page)
        press, write = page.keyboard.press, page.keyboard.type
        for letter in "tefabgnxz0[]{}?":
            press(letter)
        saved(page)
        assert page.locator("#elements li").count() == 0
        press("Alt+t")
        page.wait_for_selector(".grid.editing td.chosen")
        write("maxi")
        press("Tab")
        write("i o x h")
        press("Enter")
        saved(page)
        assert shown(page) == [["maxi", "i o x h"], ["", ""]]
        write("no")
        press("Escape")
        saved(page)
        expect(page.locator(".grid.editing")).not_to_contain_text("no"), "Escape leaves a cell as it was"
        press("F2")
        write("kept")
        press("ArrowLeft")  # inside of the text: it was opened, not typed over
        write("!")
        press("Enter")
        saved(page)
        assert shown(page)[1][1] == "kep!t"
        press("Control+z")
        saved(page)
        expect(page.locator(".grid.editing")).not_to_contain_text("kep!t")
        press("ArrowUp")
        press("Delete")
        saved(page)
        assert shown(page)[0] == ["maxi", ""]


def test_cells_are_pasted_from_a_spreadsheet(folder: Path, open_page: Callable[..., Any]) -> None:
    with served("annotate", f"folder:{folder}", "--port", "0") as (links, _):
        page = open_page(f"{links[LINK]}page/{first_sample(folder)}")
        saved(page)
        page.keyboard.press("Alt+t")
        page.wait_for_selector(".grid.editing td.chosen")
        page.evaluate(PASTE, 'a\tb\tc\r\n"two\nlines"\t"say ""x"""\t3\r\n4\t5\t6\r\n')
        expect(page.locator(".grid.editing tr")).to_have_count(3)
        saved(page)
        assert shown(page) == [["a", "b", "c"], ["two\nlines", 'say "x"', "3"], ["4", "5", "6"]]
        copied = page.evaluate(COPY)
        assert copied == 'a\tb\tc\n"two\nlines"\t"say ""x"""\t3\n4\t5\t6'
        page.keyboard.press("Control+z")
        expect(page.locator(".grid.editing tr")).to_have_count(2)


PASTE = """text => {
  const data = new DataTransfer();
  data.setData("text/plain", text);
  const event = { clipboardData: data, bubbles: true, cancelable: true };
  document.activeElement.dispatchEvent(new ClipboardEvent("paste", event));
}"""
COPY = """() => {
  const data = new DataTransfer();
  const event = { clipboardData: data, bubbles: true, cancelable: true };
  document.activeElement.dispatchEvent(new ClipboardEvent("copy", event));
  return data.getData("text/plain");
}"""


def test_a_parsers_table_is_taken_in_few_actions(
    folder: Path, tmp_path: Path, open_page: Callable[..., Any], screenshot: Any
) -> None:
    """A table of 9 × 6 that camelot has right, and others not: five actions, the name included."""
    right = [[f"r{row}c{col}" for col in range(6)] for row in range(9)]
    wrong = [[" ".join(row)] for row in right]
    tables = {"camelot": right, "pdfplumber": wrong, "docling": wrong}
    runs = runs_of(folder, tmp_path / "outputs", tables)
    with served("annotate", f"folder:{folder}", *runs, "--port", "0") as (links, _):
        page = open_page(f"{links[LINK]}page/{first_sample(folder)}")
        saved(page)
        assert page.locator("#elements li").count() <= 1
        page.select_option("#offer", label="camelot: 9 × 6")  # two actions: open, choose
        expect(page.locator(".grid.editing tr")).to_have_count(9)
        page.click("#accept")
        page.fill("#ask-name", "Ada")
        screenshot(page, "annotate-name")
        page.keyboard.press("Enter")
        expect(page.locator("#status")).to_contain_text("accepted by Ada")
        assert page.locator(".doubt-count").count() == 0 and page.is_hidden("#settle")
        screenshot(page, "annotate-taken")
        assert truth(folder, 1).tables[0].table.text_rows() == right
        page.click("#withdraw")
        expect(page.locator("#status")).to_contain_text("no truth yet")
        page.click('[data-do="transpose"]')
        expect(page.locator(".grid.editing tr")).to_have_count(6)
        before = page.locator("#picture").bounding_box()
        page.click('[data-do="turn"]')
        turned = page.locator("#picture").bounding_box()
        assert before["width"] < before["height"] and turned["width"] > turned["height"]
        page.click('[data-do="zoom-in"]')
        assert page.locator("#picture").bounding_box()["width"] > turned["width"]


def test_stepping_through_elements_writes_nothing(folder: Path, open_page: Callable[..., Any]) -> None:
    sample = first_sample(folder)
    with served("annotate", f"folder:{folder}", "--port", "0") as (links, _):
        person = Annotator(links[LINK], "Ada", sample)
        person.edit(do="add", category="text_block")
        person.edit(do="content", element="b1", text="First")
        person.edit(do="add", category="table")
        person.edit(do="add", category="equation_isolated")
        person.edit(do="content", element="b2", text="a+b")
        before = person.get(person.path)["page"]
        page = open_page(links[LINK])
        begin(page, "Ben")
        press = page.keyboard.press
        chosen = page.locator('#elements [aria-pressed="true"]')
        for key, name in zip("UUUDDDD", ("b1", "b2", "t1", "b2", "b1", "t1", "b2"), strict=True):
            press("Alt+ArrowUp" if key == "U" else "Alt+ArrowDown")
            expect(chosen).to_have_attribute("data-element", name)
        press("Alt+ArrowDown")
        for key in ("i", "x", "h"):  # b1 is shown, and none of its keys is a letter of it
            press(key)
        expect(chosen).to_have_attribute("data-element", "b1")
        press("Alt+a")
        expect(page.locator("#status")).to_contain_text("accepted by Ben")
        assert person.get(person.path)["page"] == before
        press("Enter")  # the list was drawn anew, and the person is still in it
        expect(page.locator("#block")).to_be_focused()
        press("End")
        page.keyboard.type("!")
        press("Escape")
        saved(page)
        assert {e.text for e in truth(folder, 1).elements} == {"First", None}, "what was accepted is truth"
        press("Alt+a")
        expect(page.locator("#status")).not_to_contain_text("edited since")
        assert {e.text for e in truth(folder, 1).elements} == {"First!", None}


def test_a_box_stays_on_the_page(folder: Path, open_page: Callable[..., Any]) -> None:
    with served("annotate", f"folder:{folder}", "--port", "0") as (links, _):
        person = Annotator(links[LINK], "Ada", first_sample(folder))
        person.edit(do="add", category="table", box=[5, 700, 105, 790])
        page = open_page(links[LINK])
        begin(page, "Ben")
        press = page.keyboard.press
        press("Alt+b")
        for key in ("ArrowLeft", "ArrowDown"):
            for _ in range(8):
                press(key)
        saved(page)
        assert person.get(person.path)["page"]["elements"][0]["box"] == [0, 710, 100, 800]
        for _ in range(60):
            press("Shift+ArrowLeft")
        saved(page)
        assert person.get(person.path)["page"]["elements"][0]["box"] == [0, 710, 2, 800]
        assert page.is_hidden("#message")


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_it_fits_a_phone_and_the_dark(
    folder: Path, open_page: Callable[..., Any], screenshot: Any, width: int, scheme: str
) -> None:
    sample = first_sample(folder)
    with served("annotate", f"folder:{folder}", "--port", "0") as (links, _):
        page = open_page(
            f"{links[LINK]}page/{sample}",
            viewport={"width": width, "height": 800},
            color_scheme=scheme,
            has_touch=width < 1000,
        )
        saved(page)
        page.click('[data-do="table"]')
        page.wait_for_selector(".grid.editing td")
        accessible(page)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
        assert page.is_visible("#scope")
        if width == 390:
            sizes = page.eval_on_selector_all(
                ".tools button, .tools .button, .tools select",
                "bs => bs.map(b => b.getBoundingClientRect()).map(r => Math.min(r.width, r.height))",
            )
            assert all(size >= 44 for size in sizes if size), "fingers hit them"
            page.tap('[data-do="row-below"]')
            expect(page.locator(".grid.editing tr")).to_have_count(3)
        screenshot(page, f"annotate-{width}-{scheme}")
        page.goto(links[LINK])
        # A name is read across, not letter by letter.
        assert page.evaluate("() => document.querySelector('.page-list td.text').offsetWidth") > 100
        accessible(page)
        screenshot(page, f"annotate-list-{width}-{scheme}")


def test_every_keystroke_is_kept(folder: Path, open_page: Callable[..., Any]) -> None:
    sample = first_sample(folder)
    with served("annotate", f"folder:{folder}", "--port", "0") as (links, _):
        page = open_page(f"{links[LINK]}page/{sample}")
        saved(page)
        page.keyboard.press("Alt+t")
        page.wait_for_selector(".grid.editing td.chosen")
        page.keyboard.type("half a wor")
        saved(page)
        person = Annotator(links[LINK], "Bo", sample)
        # The person never leaves the cell: the tab is closed in the middle of a word.
        wait_until(lambda: person.rows()[0][0] == "half a wor")
        page.close()
        assert person.rows()[0][0] == "half a wor"


@pytest.mark.parametrize("delay_ms", [0, 120])
def test_who_types_into_a_page_that_has_changed_overwrites_nothing(
    folder: Path, browser: Any, delay_ms: int
) -> None:
    sample = first_sample(folder)
    with served("annotate", f"folder:{folder}", "--port", "0") as (links, _):
        one = Annotator(links[LINK], "Ada", sample)
        one.edit(do="add", category="table")
        page = browser.new_page()
        try:
            page.goto(f"{links[LINK]}page/{sample}")
            page.wait_for_selector(".grid.editing td.chosen")
            one.edit(do="text", element="t1", row=0, col=0, text="first")
            page.keyboard.type("second", delay=delay_ms)
            expect(page.locator("#message")).to_contain_text("another tab")
            saved(page)
            assert shown(page)[0][0] == one.rows()[0][0] == "first"
            page.click(".grid.editing td >> nth=1")
            page.keyboard.type("x")  # a cell that is chosen anew, on the page as it is, is written into
            wait_until(lambda: one.rows()[0] == ["first", "x"])
        finally:
            page.close()


def test_a_block_shows_what_it_has_become_and_has_buttons(folder: Path, browser: Any) -> None:
    sample = first_sample(folder)
    with served("annotate", f"folder:{folder}", "--port", "0") as (links, _):
        one = Annotator(links[LINK], "Ada", sample)
        page = browser.new_page()  # which complains of the edit that is refused
        try:
            page.goto(f"{links[LINK]}page/{sample}")
            saved(page)
            page.keyboard.press("Alt+e")
            page.wait_for_selector("#block:focus")
            page.keyboard.type("x^2")
            saved(page)
            page.select_option("#category", "table")
            expect(page.locator("#message")).to_contain_text("cannot change its category")
            expect(page.locator("#category")).to_have_value("text_block")
            page.select_option("#category", "equation_isolated")
            page.wait_for_selector(".formula math msup")
            one.edit(do="add", category="text_block")
            page.reload()
            page.wait_for_selector("#element-tools >> visible=true")
            page.click("[data-do=later]")
            wait_until(lambda: one.get(one.path)["page"]["elements"][0]["order"] == 2)
            page.click("[data-do=remove]")
            wait_until(lambda: len(one.get(one.path)["page"]["elements"]) == 1)
        finally:
            page.close()


def test_affiliation_and_attributes_reach_the_truth(folder: Path, open_page: Callable[..., Any]) -> None:
    with served("annotate", f"folder:{folder}", "--port", "0") as (links, _):
        page = open_page(links[LINK])
        begin(page, "Ada")
        page.keyboard.press("Alt+t")
        page.wait_for_selector(".grid.editing td.chosen")
        page.keyboard.press("Alt+e")
        page.wait_for_selector("#block")
        page.keyboard.type("Table 1. Ma")
        page.click("#more summary")
        page.select_option("#belongs", "t1")
        saved(page)
        page.fill("#element-attributes", "text_language: en\nrotated: false")
        page.fill("#page-attributes", "layout: single_column")
        page.locator("#page-attributes").blur()
        saved(page)
        accessible(page)
        page.keyboard.press("Alt+a")
        expect(page.locator("#status")).to_contain_text("accepted by Ada")
    found = truth(folder, 1)
    caption = next(e for e in found.elements if e.table is None)
    assert caption.attributes == {"text_language": "en", "rotated": False}
    assert found.attributes["layout"] == "single_column"
    assert [(r.kind, r.target) for r in found.relations] == [("parent_son", caption.id)]
