"""What all tests share."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
BROWSER_PATIENCE_MS = 60_000  # A busy machine is slow, and only what never comes is wrong.

# The same examples each time, so that a failure belongs to a change; `make faults` looks for new ones.
# No deadline: a busy machine is slow, and time is bounded where it is the matter.
settings.register_profile("parsemark", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, print_blob=True)
settings.load_profile("parsemark")


@pytest.fixture(autouse=True)
def settings_of_one_test() -> Iterator[None]:
    """Undo what a command in this process leaves in the environment, such as the consent of `--yes`."""
    before = {name: value for name, value in os.environ.items() if name.startswith("PARSEMARK_")}
    yield
    for name in [name for name in os.environ if name.startswith("PARSEMARK_")]:
        if name not in before:
            del os.environ[name]
    os.environ.update(before)


@pytest.fixture(scope="session")
def reference_data() -> Path:
    """The folder with reference data; only `make conformance` sets it."""
    folder = os.environ.get("PARSEMARK_DATA")
    if not folder:
        pytest.skip("set PARSEMARK_DATA to the reference data (make conformance DATA=...)")
    return Path(folder)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One for all tests of a process: playwright allows no second one beside it."""
    program = next((p for name in BROWSERS if (p := shutil.which(name))), None)
    if program is None:
        pytest.skip("no Chromium here; install it with: apt-get install chromium")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=BROWSER_PATIENCE_MS)
    arguments = [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-dev-shm-usage",
    ]
    with sync_playwright() as playwright:
        instance = playwright.chromium.launch(executable_path=program, args=arguments)
        yield instance
        instance.close()


def failed(request: Any) -> list[str]:
    """A complaint, unless nobody waits for the answer any more: the browser fetches the icon when it likes,
    also while the test's server is stopping, and gives up what a page that is left had asked for.
    """
    is_dropped = request.url.endswith("/icon.svg") or request.failure == "net::ERR_ABORTED"
    return [] if is_dropped else [f"request failed: {request.url} ({request.failure})"]


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open an address in a fresh context; anything that a page complains about fails the test."""
    contexts, complaints = [], []

    def open_one(address: str, **options: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(BROWSER_PATIENCE_MS)
        page.on("console", lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda e: complaints.append(str(e)))
        page.on("dialog", lambda d: (complaints.append(f"dialog {d.message}"), d.dismiss()))
        page.on("requestfailed", lambda r: complaints.extend(failed(r)))
        page.goto(address)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert complaints == []
