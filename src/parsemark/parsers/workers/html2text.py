# /// script
# dependencies = ["html2text==2025.4.15"]
# [tool.parsemark]
# about = "html2text: an HTML file as Markdown"
# licence = "GPL-3.0-or-later"
# homepage = "https://github.com/Alir3z4/html2text"
# gives = ["markdown"]
# reads = ["html"]
# ///
"""html2text: `handle` on the whole document, with tables as Markdown and no line ends of its own."""

from pathlib import Path

import html2text
from parsemark_worker import serve, text_output


def parse(document, page, options):
    reader = html2text.HTML2Text(bodywidth=0)
    reader.ignore_images = True
    return text_output("markdown", reader.handle(Path(document).read_text(encoding="utf-8")))


serve(parse, versions=["html2text"])
