# /// script
# dependencies = ["pypdf==7.1.0"]
# [tool.parsemark]
# about = "Text of the page's content stream"
# licence = "BSD-3-Clause"
# homepage = "https://github.com/py-pdf/pypdf"
# gives = ["text"]
# options.mode = { default = "plain", choices = ["plain", "layout"], about = "layout: as placed on the page" }
# ///
"""pypdf: `extract_text`. The script has the package's name, so its own folder is not searched for modules."""

from parsemark_worker import serve, text_output
from pypdf import PdfReader


def parse(pdf, page, options):
    return text_output("text", PdfReader(pdf).pages[page - 1].extract_text(extraction_mode=options["mode"]))


serve(parse, versions=["pypdf"])
