"""A report of a fabricated run, and a browser to look at it."""

import functools
import http.server
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from PIL import Image
from tests.store.fabricate import fabricate_run

from parsemark.protocols.tables import TablesProtocol
from parsemark.report import build_report
from parsemark.report.source import Source
from parsemark.store import Run
from parsemark.system import file_sha256

PARSERS = ("good", "fair", "camelot(flavor=stream)", "poor")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def complete(run: Run, pdf: Path) -> None:
    """Put the PDF's true hash and the protocol's own summary into a fabricated run."""
    run.write_table(
        "samples", run.table("samples").with_columns(pl.lit(file_sha256(pdf)).alias("pdf_sha256"))
    )
    run.write_summary(TablesProtocol().summarise(run.run_tables("tables")))


@pytest.fixture(scope="session")
def blank_pdf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pdf") / "page.pdf"
    Image.new("RGB", (595, 842), "white").save(path, resolution=72)
    return path


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory, blank_pdf: Path) -> Run:
    run = fabricate_run(tmp_path_factory.mktemp("run") / "run", 24, PARSERS, pdf=blank_pdf)
    complete(run, blank_pdf)
    return run


@pytest.fixture(scope="session")
def source(run: Run) -> Source:
    return Source(run)


@pytest.fixture(scope="session")
def site(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_report(run.path, tmp_path_factory.mktemp("site")).parent


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    program = next((p for name in BROWSERS if (p := shutil.which(name))), None)
    if program is None:
        pytest.skip("no Chromium here; install it with: apt-get install chromium")
    from playwright.sync_api import sync_playwright

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


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open an address in a fresh context; anything that a page complains about fails the test."""
    contexts, complaints = [], []

    def open_one(address: str, **options: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda e: complaints.append(str(e)))
        page.on("dialog", lambda d: (complaints.append(f"dialog {d.message}"), d.dismiss()))
        page.on("requestfailed", lambda r: complaints.append(f"request failed: {r.url}"))
        page.goto(address)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="session")
def server(site: Path) -> Iterator[str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site)) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_address[1]}"
        httpd.shutdown()
