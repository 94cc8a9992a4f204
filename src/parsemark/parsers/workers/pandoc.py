# /// script
# dependencies = ["pypandoc_binary==1.17"]
# [tool.parsemark]
# about = "Pandoc: HTML from a DOCX or HTML file"
# licence = "GPL-2.0-or-later"
# homepage = "https://pandoc.org"
# gives = ["html"]
# reads = ["docx", "html"]
# ///
"""Pandoc: the whole document as HTML, in its sandbox (it reads no other file)."""

from pathlib import Path

import pypandoc
from parsemark_worker import serve, text_output


def parse(document, page, options):
    kind = Path(document).suffix[1:]
    return text_output("html", pypandoc.convert_file(document, "html", format=kind, sandbox=True))


serve(parse, versions=["pypandoc_binary"])
