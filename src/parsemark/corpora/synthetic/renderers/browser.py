"""Runs Chromium in a process of its own: reads jobs as JSON from stdin, prints where everything stands.

A process, because playwright allows one instance per thread, and the caller may have its own.
"""

import json
import sys
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).with_name("paginate.js")
ARGUMENTS = ["--no-sandbox", "--font-render-hinting=none", "--disable-gpu"]


def main() -> None:
    """Set each page of the jobs that stand on stdin."""
    from playwright.sync_api import sync_playwright

    jobs: dict[str, Any] = json.load(sys.stdin)
    results = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=jobs["chromium"], args=ARGUMENTS)
        context = browser.new_context(offline=True)
        script = SCRIPT.read_text(encoding="utf-8")
        for job in jobs["pages"]:
            page = context.new_page()
            page.set_content(job["html"], wait_until="load")
            page.evaluate("() => document.fonts.ready.then(() => true)")
            is_draft = "height" in job  # else a page that is printed as it is
            places = page.evaluate(script, [job["height"], job["head"], job["numbered"]]) if is_draft else []
            tagged = job.get("tagged", False)
            page.pdf(path=job["pdf"], prefer_css_page_size=True, print_background=True, tagged=tagged)
            page.close()
            results.append(places)
        browser.close()
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
