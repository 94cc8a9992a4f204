# /// script
# dependencies = ["pdfminer.six==20260107"]
# [tool.parsemark]
# about = "Text of the page, its lines grouped to boxes by pdfminer's layout analysis"
# licence = "MIT"
# homepage = "https://github.com/pdfminer/pdfminer.six"
# package = "pdfminer.six"
# gives = ["text"]
# ///
"""pdfminer: `extract_text` with the default `LAParams`."""

from parsemark_worker import serve, text_output
from pdfminer.high_level import extract_text


def parse(pdf, page, options):
    return text_output("text", extract_text(pdf, page_numbers=[page - 1]).replace("\f", ""))


serve(parse, versions=["pdfminer.six"])
