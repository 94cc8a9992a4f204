"""A report of a fabricated run."""

import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from tests.store.fabricate import fabricate_run

from parsemark.protocols.tables import TablesProtocol
from parsemark.report import build_report
from parsemark.report.source import RunSource
from parsemark.store import Run, RunFolder

PARSERS = ("good", "fair", "camelot(flavor=stream)", "poor")


def complete(run: Run) -> None:
    """Put the protocol's own summary into a fabricated run."""
    RunFolder.of(run).write_summary(TablesProtocol().summarise(run.run_tables("tables")))


@pytest.fixture(scope="session")
def blank_pdf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pdf") / "page.pdf"
    Image.new("RGB", (595, 842), "white").save(path, resolution=72)
    return path


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory, blank_pdf: Path) -> Run:
    run = fabricate_run(tmp_path_factory.mktemp("run") / "run", 24, PARSERS, pdf=blank_pdf)
    complete(run)
    return run


@pytest.fixture(scope="session")
def source(run: Run) -> RunSource:
    return RunSource(run)


@pytest.fixture(scope="session")
def site(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_report(run.path, tmp_path_factory.mktemp("site")).parent


@pytest.fixture(scope="session")
def server(site: Path) -> Iterator[str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site)) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_address[1]}"
        httpd.shutdown()
