# /// script
# dependencies = ["mammoth==1.13.0"]
# [tool.parsemark]
# about = "HTML from the paragraphs and tables of a DOCX file"
# licence = "BSD-2-Clause"
# homepage = "https://github.com/mwilliamson/python-mammoth"
# gives = ["html"]
# reads = ["docx"]
# ///
"""mammoth: `convert_to_html` on the whole document; pictures are left out."""

from pathlib import Path

import mammoth
from parsemark_worker import serve, text_output

NO_PICTURES = mammoth.images.img_element(lambda image: {"src": ""})


def parse(document, page, options):
    with Path(document).open("rb") as file:
        found = mammoth.convert_to_html(file, convert_image=NO_PICTURES, external_file_access=False)
    return text_output("html", found.value)


serve(parse, versions=["mammoth"])
