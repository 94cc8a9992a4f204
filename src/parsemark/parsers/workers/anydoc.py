# /// script
# dependencies = ["firecrawl-anydoc==0.2.4", "pypdfium2==5.14.0"]
# [tool.parsemark]
# about = "Fast native Markdown of office documents and PDFs from the text layer"
# licence = "MIT"
# homepage = "https://github.com/firecrawl/anydoc"
# engine = "pdf-inspector"
# package = "firecrawl-anydoc"
# gives = ["markdown"]
# reads = ["pdf", "docx"]
# ///
"""anydoc: `to_markdown_bytes` of the single page of a PDF, because it reads whole documents only."""

from pathlib import Path

from anydoc import to_markdown, to_markdown_bytes
from parsemark_pages import single_page
from parsemark_worker import serve, text_output


def parse(pdf, page, options):
    if Path(pdf).suffix == ".docx":
        return text_output("markdown", to_markdown(pdf))
    return text_output("markdown", to_markdown_bytes(single_page(pdf, page), "pdf"))


serve(parse, versions=["firecrawl-anydoc", "pypdfium2"])
