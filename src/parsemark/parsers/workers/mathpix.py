# /// script
# dependencies = ["httpx==0.28.1", "pypdfium2==5.14.0"]
# [tool.parsemark]
# network = true
# variables = ["MATHPIX_URL"]
# about = "Mathpix: a page as Markdown with LaTeX formulas and tables"
# licence = "proprietary service"
# homepage = "https://docs.mathpix.com"
# gives = ["markdown", "latex"]
# needs = ["env:MATHPIX_APP_ID", "env:MATHPIX_APP_KEY"]
# paid = true
# paper = "OmniDocBench: Mathpix; Horn & Keuper: Mathpix"
# options.usd_per_page.default = 0.005
# options.usd_per_page.about = "The price of a page in US dollars, for the cost that is recorded"
# ///
"""mathpix: `v3/pdf`, asked until it is done, then the Mathpix Markdown."""

import os

from parsemark_http import call, poll
from parsemark_pages import single_page
from parsemark_worker import add_cost, serve, text_output

SERVER = os.environ.get("MATHPIX_URL", "https://api.mathpix.com").rstrip("/")
DELIMITERS = '{"math_inline_delimiters": ["$", "$"], "math_display_delimiters": ["$$", "$$"]}'


def parse(pdf, page, options):
    keys = {"app_id": os.environ["MATHPIX_APP_ID"], "app_key": os.environ["MATHPIX_APP_KEY"]}
    sent = call(
        "POST",
        f"{SERVER}/v3/pdf",
        headers=keys,
        files={"file": ("page.pdf", single_page(pdf, page), "application/pdf")},
        data={"options_json": DELIMITERS},
    ).json()
    if "pdf_id" not in sent:
        raise ValueError(f"Mathpix took no document: {str(sent.get('error'))[:300]}")
    add_cost(options["usd_per_page"])
    poll(lambda: done(sent["pdf_id"], keys))
    return text_output("markdown", call("GET", f"{SERVER}/v3/pdf/{sent['pdf_id']}.mmd", headers=keys).text)


def done(number, keys):
    state = call("GET", f"{SERVER}/v3/pdf/{number}", headers=keys).json()
    if state.get("status") == "error":
        raise ValueError(f"Mathpix failed: {str(state.get('error'))[:300]}")
    return True if state.get("status") == "completed" else None


if __name__ == "__main__":
    serve(parse, versions=["httpx"])
