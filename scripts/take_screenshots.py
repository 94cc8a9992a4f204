"""Takes the README's screenshots from a report of the demo: python scripts/take_screenshots.py RUN/report."""

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

OUT = Path(__file__).parent.parent / "docs" / "images"
VIEWS = {
    "leaderboard": ("index.html", 1280, 960),
    "viewer": ("viewer.html#page=demo-0003-p1&parser=pymupdf4llm&table=2", 1440, 1080),
}


def take(page: Page, site: Path, name: str) -> None:
    """Save one view as a small PNG."""
    address, width, height = VIEWS[name]
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{site.resolve().as_uri()}/{address}")
    page.wait_for_selector("html[data-ready]", state="attached")
    page.wait_for_load_state("networkidle")
    picture = Image.open(io.BytesIO(page.screenshot()))
    # 255 colours are enough for text and lines, and a third of the size.
    picture.convert("RGB").quantize(255).save(OUT / f"{name}.png", optimize=True)


def main() -> None:
    """Save all views."""
    OUT.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(color_scheme="light")
        for name in VIEWS:
            take(page, Path(sys.argv[1]), name)
        browser.close()


main()
