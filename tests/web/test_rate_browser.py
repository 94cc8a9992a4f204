"""Rating as a person does it: with the keyboard alone, on a phone, in the dark."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import expect
from tests.accessible import accessible
from tests.web.serve import PAIRS, served, write_pairs
from tests.web.test_rate import ORGANISER, RATERS, exported

pytestmark = pytest.mark.browser

HOSTILE = (
    "<table><tr><th>Method</th><th>Score</th></tr><tr><td>&lt;script&gt;alert(1)&lt;/script&gt;</td>"
    '<td><img src=x onerror="alert(2)"></td></tr></table><script>alert(3)</script>'
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    Image.new("RGB", (600, 800), "white").save(tmp_path / "page.png")
    pairs = [dict(pair, picture="page.png", region=[0.1, 0.2, 0.9, 0.5]) for pair in PAIRS[:3]]
    return write_pairs(tmp_path, [*pairs, dict(PAIRS[3], pred=HOSTILE)])


def enter(page: Any, name: str) -> None:
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    page.wait_for_selector("#truth table, #truth pre")


def test_formulas_are_drawn(tmp_path: Path, open_page: Callable[..., Any]) -> None:
    pair = {"id": "f", "truth": r"\frac{a}{b}", "pred": r"$\frac{a}{$"}
    file = tmp_path / "f.json"
    file.write_text(json.dumps({"kind": "formula", "pairs": [pair]}))
    with served("study", "rate", str(file), "--port", "0") as (links, _):
        page = open_page(links[RATERS])
        page.keyboard.type("Ada")
        page.keyboard.press("Enter")
        page.wait_for_selector("#truth math mfrac")
        accessible(page)
        page.keyboard.press("r")
        expect(page.locator("#truth pre.raw")).to_have_text(r"\frac{a}{b}")


def test_the_keyboard_alone_is_enough(file: Path, open_page: Callable[..., Any], screenshot: Any) -> None:
    with served("study", "rate", str(file), "--port", "0", "--repeats", "0") as (links, _):
        page = open_page(links[RATERS])
        accessible(page)
        enter(page, "Ada Lovelace")
        accessible(page)
        press = page.keyboard.press
        press("d")
        page.wait_for_selector("#marks table.diff")
        press("r")
        page.wait_for_selector("#truth pre.raw")
        press("r")
        if page.is_visible("#show-picture"):
            press("p")
            page.wait_for_selector("#picture-image")
        press("?")
        page.wait_for_selector("#help:not([hidden])")
        screenshot(page, "rate-all-open")
        press("?")
        for keys in ("1", "0"):
            press(keys)
        assert page.get_attribute('[data-score="10"]', "aria-checked") == "true"
        press("c")
        page.keyboard.type("looks 1 good u")
        press("Escape")
        press("Enter")
        expect(page.locator("#count")).to_have_text("1 of 4")
        press("7")
        press("Enter")
        expect(page.locator("#count")).to_have_text("2 of 4")
        press("u")
        page.wait_for_selector('[data-score="7"][aria-checked="true"]')
        press("3")
        press("Enter")
        expect(page.locator("#saved")).to_have_text("Saved: 3.")
        for done in ("2 of 4", "3 of 4"):  # the next pair is there: a score for the last one would be gone
            expect(page.locator("#count")).to_have_text(done)
            press("5")
            with page.expect_response("**/api/answer"):
                press("Enter")
        page.wait_for_selector("#done:not([hidden])")
        screenshot(page, "rate-done")
        organiser = open_page(links[ORGANISER])
        assert "Ada Lovelace" in organiser.content()
        accessible(organiser)
        screenshot(organiser, "rate-organiser")
    pairs = exported(file)
    assert sorted(p["ratings"][0] for p in pairs) == [3.0, 5.0, 5.0, 10.0]  # type: ignore[index]
    assert "Ada Lovelace: looks 1 good u" in json.dumps(pairs)


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1280, "dark")])
def test_it_fits_a_phone_and_the_dark(
    file: Path, open_page: Callable[..., Any], screenshot: Any, width: int, scheme: str
) -> None:
    with served("study", "rate", str(file), "--port", "0") as (links, _):
        page = open_page(links[RATERS], viewport={"width": width, "height": 800}, color_scheme=scheme)
        enter(page, "Bo")
        accessible(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.click('[data-score="8"]')
        screenshot(page, f"rate-{width}-{scheme}")
        page.click("#save")
        expect(page.locator("#count")).to_contain_text("1 of")


def test_a_lost_connection_loses_nothing(file: Path, browser: Any) -> None:
    with served("study", "rate", str(file), "--port", "0", "--repeats", "0") as (links, _):
        page = browser.new_context().new_page()
        page.goto(links[RATERS])
        enter(page, "Cy")
        refused = []

        def fail_twice(route: Any) -> None:
            refused.append(route.request.url)
            if len(refused) <= 2:
                route.fulfill(status=503, body="busy")
            else:
                route.continue_()

        page.route("**/api/answer", fail_twice)
        page.keyboard.press("9")
        page.keyboard.press("Enter")
        page.wait_for_selector("#message:not([hidden])")
        assert "Not saved yet" in page.inner_text("#message")
        expect(page.locator("#count")).to_have_text("1 of 4")
        assert len(refused) == 3
    assert [p["ratings"] for p in exported(file)] == [[9.0]]


def test_the_bar_never_says_saved_of_what_is_not(file: Path, browser: Any) -> None:
    with served("study", "rate", str(file), "--port", "0", "--repeats", "0") as (links, _):
        page = browser.new_context(viewport={"width": 390, "height": 500}).new_page()
        # One route that asks each time: routes put in and out again can miss the call that follows at once.
        lost: set[str] = set()
        page.route(
            "**/api/*",
            lambda route: (
                route.abort() if route.request.url.rpartition("/")[2] in lost else route.continue_()
            ),
        )
        page.goto(links[RATERS])
        enter(page, "Di")
        bar = page.locator("#saved")
        page.keyboard.press("Enter")
        expect(bar).to_have_text("Choose a score first.")
        page.keyboard.press("6")
        page.keyboard.press("Enter")
        expect(bar).to_have_text("Saved: 6.")
        lost.add("answer")
        page.keyboard.press("7")
        page.keyboard.press("Enter")
        expect(bar).to_contain_text("No connection. Not saved yet")
        page.evaluate("window.scrollTo(0, document.body.scrollHeight / 2)")
        expect(bar).to_be_in_viewport()
        lost.clear()
        expect(bar).to_have_text("Saved: 7.")
        lost.add("mark")
        page.keyboard.press("d")
        expect(bar).to_contain_text("No connection")
        lost.clear()
        expect(bar).to_have_text("")
        expect(page.locator("#message")).to_be_hidden()
    assert sorted(p["ratings"][0] for p in exported(file)) == [6.0, 7.0]  # type: ignore[index]
