# /// script
# dependencies = ["pdf-inspector==1.25.2"]
# [tool.parsemark]
# about = "Fast native Markdown from the text layer"
# licence = "MIT"
# homepage = "https://github.com/firecrawl/pdf-inspector"
# gives = ["markdown"]
# ///
"""pdf-inspector: `extract_pages_markdown`, without OCR."""

import pdf_inspector
from parsemark_worker import serve, text_output


def parse(pdf, page, options):
    result = pdf_inspector.extract_pages_markdown(pdf, pages=[page - 1])
    return text_output("markdown", result.pages[0].markdown)


serve(parse, versions=["pdf-inspector"])
