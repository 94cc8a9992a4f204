# /// script
# dependencies = [
#   "markitdown[docx,pdf]==0.1.8", "pdfplumber==0.11.10", "pdfminer.six==20260107", "pypdfium2==5.14.0",
# ]
# [tool.parsemark]
# about = "Markdown for language models from the text layer"
# licence = "MIT"
# homepage = "https://github.com/microsoft/markitdown"
# engine = "pdfminer"
# gives = ["markdown"]
# reads = ["pdf", "docx", "html"]
# ///
"""markitdown: `convert` on the single page of a PDF, because it reads whole documents only."""

import tempfile
from pathlib import Path

from markitdown import MarkItDown
from parsemark_pages import single_page
from parsemark_worker import serve, text_output

converter = MarkItDown(enable_plugins=False)


def parse(pdf, page, options):
    if Path(pdf).suffix in (".docx", ".html"):
        return text_output("markdown", converter.convert(pdf).markdown)
    with tempfile.TemporaryDirectory() as folder:
        single = Path(folder) / "page.pdf"
        single.write_bytes(single_page(pdf, page))
        return text_output("markdown", converter.convert(single).markdown)


serve(parse, versions=["markitdown", "pdfplumber", "pdfminer.six"])
