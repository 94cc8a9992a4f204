# /// script
# dependencies = ["docling-parse==7.23.1"]
# [tool.parsemark]
# about = "Lines of the text layer by Docling's own PDF parser, without its models"
# licence = "MIT"
# homepage = "https://github.com/docling-project/docling-parse"
# gives = ["text"]
# ///
"""docling-parse: the text lines of a page in the order in which the page draws them."""

from docling_parse.pdf_parser import DoclingPdfParser
from parsemark_worker import serve, text_output


def parse(pdf, page, options):
    document = DoclingPdfParser(loglevel="fatal").load(pdf)
    try:
        return text_output("text", "\n".join(cell.text for cell in document.get_page(page).textline_cells))
    finally:
        document.unload()


serve(parse, versions=["docling-parse"])
