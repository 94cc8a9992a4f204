"""A report in one file: it opens from disk, within its size, and nothing of a parser can run in it."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.accessible import accessible

from parsemark.errors import UsageError
from parsemark.report import build_report
from parsemark.store import Run

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def single(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_report(run.path, tmp_path_factory.mktemp("single") / "report.html", single_file=True)


def ready(page: Any) -> Any:
    page.wait_for_selector("html[data-ready]", state="attached")
    return page


def test_it_is_one_file_that_allows_only_its_own_scripts(single: Path) -> None:
    assert [path.name for path in single.parent.iterdir()] == ["report.html"]
    text = single.read_text(encoding="utf-8")
    found = re.search(r'Content-Security-Policy" content="(.*?)"', text)
    assert found is not None
    policy = found[1].replace("&#x27;", "'")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy and "http" not in policy
    assert not re.search(r'(src|href)="(https?:|assets/)', text)


@pytest.mark.browser
def test_pages_links_and_pictures_work_from_disk(open_page: Open, single: Path) -> None:
    page = ready(open_page(single.as_uri()))
    assert page.locator("#board tbody tr").count() == 4
    accessible(page)
    page.get_by_role("link", name="Compare leader and runner-up").click()
    page.wait_for_selector(".sheet img")
    assert "?p=viewer" in page.url
    assert page.locator(".sheet img").evaluate("image => image.decode().then(() => image.naturalWidth)") > 100
    page.get_by_role("link", name="Compare").click()
    page.wait_for_selector("#comparison details")
    page.go_back()
    page.wait_for_selector(".sheet img")
    assert "This file holds 24 of 24 pages." in page.locator(".site-footer").inner_text()


@pytest.mark.browser
def test_what_does_not_fit_is_left_out_and_named(open_page: Open, run: Run, single: Path) -> None:
    allowed = single.stat().st_size / 1e6 - 0.1
    out = single.with_name("small.html")
    small = build_report(run.path, out, single_file=True, max_mb=allowed)
    assert small.stat().st_size / 1e6 <= allowed
    page = ready(open_page(f"{small.as_uri()}?p=viewer"))
    kept = page.evaluate("parsemark.load('pages').then((pages) => pages.kept.length)")
    assert 0 < kept < 24
    assert f"This file holds {kept} of 24 pages: the worst ones" in page.locator(".site-footer").inner_text()
    small.unlink()
    with pytest.raises(UsageError, match="without any page"):
        build_report(run.path, out, single_file=True, max_mb=0.01)
