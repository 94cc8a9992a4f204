# /// script
# dependencies = ["httpx==0.28.1", "pypdfium2==5.14.0"]
# [tool.parsemark]
# network = true
# variables = ["MISTRAL_URL"]
# about = "Mistral OCR: a page as Markdown"
# licence = "proprietary service"
# homepage = "https://docs.mistral.ai/capabilities/document_ai/basic_ocr/"
# gives = ["markdown"]
# needs = ["env:MISTRAL_API_KEY"]
# paid = true
# paper = "OmniDocBench, Horn & Keuper: Mistral OCR"
# options.usd_per_page.default = 0.002
# options.usd_per_page.about = "The price of a page in US dollars, for the cost that is recorded"
# options.model.default = "mistral-ocr-latest"
# options.model.about = "Name the dated model for results that can be repeated"
# options.tables.default = "inline"
# options.tables.choices = ["inline", "html", "markdown"]
# options.tables.about = "As Markdown inside of the text, or apart (table_format); only HTML has spans"
# ///
"""mistral-ocr: `v1/ocr` on the single page."""

import base64
import os
import re

from parsemark_http import call
from parsemark_pages import single_page
from parsemark_worker import add_cost, serve, text_output

SERVER = os.environ.get("MISTRAL_URL", "https://api.mistral.ai").rstrip("/")


def parse(pdf, page, options):
    document = "data:application/pdf;base64," + base64.b64encode(single_page(pdf, page)).decode()
    answer = call(
        "POST",
        f"{SERVER}/v1/ocr",
        headers={"Authorization": f"Bearer {os.environ['MISTRAL_API_KEY']}"},
        json={
            "model": options["model"],
            "document": {"type": "document_url", "document_url": document},
            **({} if options["tables"] == "inline" else {"table_format": options["tables"]}),
        },
    ).json()
    add_cost(options["usd_per_page"] * ((answer.get("usage_info") or {}).get("pages_processed") or 1))
    return text_output("markdown", "\n\n".join(map(read, answer["pages"])))


def read(part):
    """A page's Markdown, with tables that are given apart, `[tbl-0.html](tbl-0.html)`, in their places."""
    tables = {item["id"]: item["content"] for item in part.get("tables") or []}
    links, text = r"\[([^\]\s]{1,80})\]\(\1\)", part.get("markdown") or ""
    return re.sub(links, lambda link: tables.get(link[1], link[0]), text)


if __name__ == "__main__":
    serve(parse, versions=["httpx"])
