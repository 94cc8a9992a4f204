# /// script
# dependencies = ["httpx==0.28.1", "pypdfium2==5.14.0"]
# [tool.parsemark]
# network = true
# variables = ["LLAMAPARSE_URL"]
# about = "LlamaParse: a page as Markdown with HTML tables"
# licence = "proprietary service"
# homepage = "https://docs.cloud.llamaindex.ai/llamaparse"
# gives = ["markdown"]
# needs = ["env:LLAMA_CLOUD_API_KEY"]
# paid = true
# paper = "Horn & Keuper: LlamaParse"
# options.usd_per_page.default = 0.003
# options.usd_per_page.about = "The price of a page in US dollars, for the cost that is recorded"
# options.mode = { default = "parse_page_with_llm", about = "LlamaParse's parse_mode" }
# ///
"""llamaparse: upload the single page, ask until it is done, take the Markdown."""

import os

from parsemark_http import call, poll
from parsemark_pages import single_page
from parsemark_worker import add_cost, serve, text_output

SERVER = os.environ.get("LLAMAPARSE_URL", "https://api.cloud.llamaindex.ai").rstrip("/") + "/api/parsing"


def parse(pdf, page, options):
    key = {"Authorization": f"Bearer {os.environ['LLAMA_CLOUD_API_KEY']}"}
    job = call(
        "POST",
        f"{SERVER}/upload",
        headers=key,
        files={"file": ("page.pdf", single_page(pdf, page), "application/pdf")},
        data={"parse_mode": options["mode"], "output_tables_as_HTML": "true"},
    ).json()
    add_cost(options["usd_per_page"])
    poll(lambda: done(job["id"], key))
    found = call("GET", f"{SERVER}/job/{job['id']}/result/markdown", headers=key).json()
    return text_output("markdown", found["markdown"])


def done(number, key):
    state = call("GET", f"{SERVER}/job/{number}", headers=key).json()
    if state["status"] in ("ERROR", "CANCELED", "CANCELLED"):
        raise ValueError(f"LlamaParse failed: {str(state.get('error_message') or state['status'])[:300]}")
    return True if state["status"] in ("SUCCESS", "PARTIAL_SUCCESS") else None


if __name__ == "__main__":
    serve(parse, versions=["httpx"])
