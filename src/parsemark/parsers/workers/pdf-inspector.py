# /// script
# dependencies = ["pdf-inspector==1.25.2"]
# [tool.parsemark]
# about = "Fast native Markdown from the text layer"
# licence = "MIT"
# homepage = "https://github.com/firecrawl/pdf-inspector"
# gives = ["markdown"]
# ///
"""pdf-inspector: `process_pdf` of one page, the call that its README recommends, without OCR.

`extract_pages_markdown` gives other Markdown for about half of all pages.
"""

import pdf_inspector
from parsemark_worker import serve, text_output


def parse(pdf, page, options):
    result = pdf_inspector.process_pdf(pdf, pages=[page])
    return text_output("markdown", result.markdown or "")


serve(parse, versions=["pdf-inspector"])
