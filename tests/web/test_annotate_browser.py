"""Annotating as a person does it: with the keyboard alone, on a phone, in the dark."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.waiting import wait_until
from tests.web.serve import served
from tests.web.test_annotate import LINK, Annotator, first_sample, folder, truth
from tests.web.test_rate_browser import accessible

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


def test_a_table_is_made_with_the_keyboard_alone(
    folder: Path, open_page: Callable[..., Any], screenshot: Any
) -> None:
    with served("annotate", f"folder:{folder}", "--port", "0") as (links, _):
        page = open_page(links[LINK])
        accessible(page)
        screenshot(page, "annotate-list")
        begin(page, "Ada")
        press, write = page.keyboard.press, page.keyboard.type
        press("t")
        page.wait_for_selector(".grid.editing td")
        saved(page)
        for text in ("Method", "Score", "ours", "1.12"):
            press("Enter")
            write(text)
            press("Tab")
        saved(page)
        press("i")  # a row below
        expect(page.locator(".grid.editing tr")).to_have_count(3)
        press("ArrowDown")
        press("ArrowLeft")
        press("Shift+ArrowRight")
        press("m")
        expect(page.locator('.grid.editing td[colspan="2"]')).to_have_count(1)
        press("Enter")
        write("<script>alert(1)</script>")
        press("Escape")
        saved(page)
        press("z")
        press("o")
        expect(page.locator(".grid.editing tr:first-child td")).to_have_count(3)
        press("z")
        expect(page.locator(".grid.editing tr:first-child td")).to_have_count(2)
        press("b")
        for _ in range(5):
            press("ArrowRight")
        press("Escape")
        press("f")
        page.wait_for_selector("#block")
        write("\\frac{a}{b} + x^2")
        page.wait_for_selector(".formula math mfrac")
        press("Escape")
        press("?")
        saved(page)
        screenshot(page, "annotate-formula")
        press("[")
        page.wait_for_selector(".grid.editing td.chosen")
        accessible(page)
        screenshot(page, "annotate-table")
        press("a")
        expect(page.locator("#status")).to_contain_text("accepted by Ada")
    found = truth(folder, 1)
    rows = found.tables[0].table.text_rows()
    assert rows[:2] == [["Method", "Score"], ["ours", "1.12"]]
    assert found.tables[0].table.n_rows == 3
    assert found.tables[0].box is not None
    formula = next(e for e in found.elements if e.category == "equation_isolated")
    assert formula.latex == "\\frac{a}{b} + x^2"


def test_stepping_through_elements_writes_nothing(folder: Path, open_page: Callable[..., Any]) -> None:
    sample = first_sample(folder)
    with served("annotate", f"folder:{folder}", "--port", "0") as (links, _):
        person = Annotator(links[LINK], "Ada", sample)
        person.edit(do="add", category="text_block")
        person.edit(do="content", element="b1", text="First")
        person.edit(do="add", category="table")
        person.edit(do="add", category="equation_isolated")
        person.edit(do="content", element="b2", text="a+b")
        before = truth(folder, 1)
        page = open_page(links[LINK])
        begin(page, "Ben")
        press = page.keyboard.press
        chosen = page.locator('#elements [aria-pressed="true"]')
        for key, name in zip("[[[]]]]", ("b1", "b2", "t1", "b2", "b1", "t1", "b2"), strict=True):
            press(key)
            expect(chosen).to_have_attribute("data-element", name)
        for key in ("i", "x", "h", "]"):  # b1 is shown, and none of its keys is a letter of it
            press(key)
        expect(chosen).to_have_attribute("data-element", "b1")
        press("a")
        expect(page.locator("#status")).to_contain_text("accepted by Ben")
        assert truth(folder, 1) == before
        press("Enter")  # the list was drawn anew, and the person is still in it
        expect(page.locator("#block")).to_be_focused()
        press("End")
        page.keyboard.type("!")
        press("Escape")
        saved(page)
        assert {e.text for e in truth(folder, 1).elements} == {"First!", None}


def test_a_box_stays_on_the_page(folder: Path, open_page: Callable[..., Any]) -> None:
    with served("annotate", f"folder:{folder}", "--port", "0") as (links, _):
        Annotator(links[LINK], "Ada", first_sample(folder)).edit(
            do="add", category="table", box=[5, 700, 105, 790]
        )
        page = open_page(links[LINK])
        begin(page, "Ben")
        press = page.keyboard.press
        press("b")
        for key in ("ArrowLeft", "ArrowDown"):
            for _ in range(8):
                press(key)
        saved(page)
        assert truth(folder, 1).tables[0].box.as_tuple() == (0, 710, 100, 800)
        for _ in range(60):
            press("Shift+ArrowLeft")
        saved(page)
        assert truth(folder, 1).tables[0].box.as_tuple() == (0, 710, 2, 800)
        assert page.is_hidden("#message")


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "dark"), (390, "light")])
def test_it_fits_a_phone_and_the_dark(
    folder: Path, open_page: Callable[..., Any], screenshot: Any, width: int, scheme: str
) -> None:
    sample = first_sample(folder)
    with served("annotate", f"folder:{folder}", "--port", "0") as (links, _):
        page = open_page(
            f"{links[LINK]}page/{sample}", viewport={"width": width, "height": 800}, color_scheme=scheme
        )
        saved(page)
        page.click('[data-key="t"]')
        page.wait_for_selector(".grid.editing td")
        accessible(page)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
        assert page.is_visible("#scope")
        screenshot(page, f"annotate-{width}-{scheme}")
        page.goto(links[LINK])
        # A name is read across, not letter by letter.
        assert page.evaluate("() => document.querySelector('.page-list td.text').offsetWidth") > 100
        screenshot(page, f"annotate-list-{width}-{scheme}")


def test_every_keystroke_is_kept(folder: Path, open_page: Callable[..., Any]) -> None:
    with served("annotate", f"folder:{folder}", "--port", "0") as (links, _):
        page = open_page(f"{links[LINK]}page/{first_sample(folder)}")
        saved(page)
        page.keyboard.press("t")
        page.wait_for_selector(".grid.editing td")
        page.keyboard.press("Enter")
        page.keyboard.type("half a wor")
        saved(page)
        # The person never leaves the cell: the tab is closed in the middle of a word.
        wait_until(lambda: _first_cell(folder) == "half a wor")
        page.close()
    assert _first_cell(folder) == "half a wor"


def _first_cell(folder: Path) -> str:
    return truth(folder, 1).tables[0].table.text_rows()[0][0]
