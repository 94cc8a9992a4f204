# /// script
# dependencies = ["pdf-oxide==0.3.78"]
# [tool.parsemark]
# about = "Fast native Markdown from the text layer"
# licence = "MIT or Apache-2.0"
# homepage = "https://github.com/yfedoseev/pdf_oxide"
# gives = ["markdown"]
# ///
"""pdf-oxide: `to_markdown` of one page."""

from parsemark_worker import serve, text_output
from pdf_oxide import PdfDocument


def parse(pdf, page, options):
    return text_output("markdown", PdfDocument(pdf).to_markdown(page - 1))


serve(parse, versions=["pdf-oxide"])
