# /// script
# dependencies = ["openparse==0.7.0", "pymupdf==2.0", "pypdfium2==5.14.0"]
# [tool.parsemark]
# about = "Open Parse's basic pipeline: text of pdfminer, tables of PyMuPDF, joined to chunks"
# licence = "MIT (PyMuPDF: AGPL-3.0)"
# homepage = "https://github.com/Filimoa/open-parse"
# engine = "mupdf"
# gives = ["markdown"]
# needs = ["folder:OPENPARSE_WEIGHTS"]
# weight-files = ["9b5ad71b2ce5302211f9c61530b329a4922fc6a4"]
# [[tool.parsemark.weights]]
# source = "pypi:llama-index-core==0.14.25"
# files = ["llama_index/core/_static/tiktoken_cache/9b5ad71b2ce5302211f9c61530b329a4922fc6a4"]
# licence = "MIT"
# size-mb = 1.7
# sha256 = { "9b5ad71b2ce5302211f9c61530b329a4922fc6a4" = "223921b76ee99bde995b7ff738513eef" }
# ///
"""openparse: `DocumentParser.parse` of the single page; its chunks in reading order, tables as HTML.

It drops chunks of fewer than 50 tokens of cl100k_base, whose list tiktoken would else download.
"""

import os
import tempfile
from pathlib import Path

os.environ["TIKTOKEN_CACHE_DIR"] = os.environ["OPENPARSE_WEIGHTS"]

from openparse import DocumentParser
from parsemark_pages import single_page
from parsemark_worker import serve, text_output

PARSER = DocumentParser(table_args={"parsing_algorithm": "pymupdf", "table_output_format": "html"})


def parse(pdf, page, options):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.pdf"
        path.write_bytes(single_page(pdf, page))
        nodes = PARSER.parse(path).nodes
    return text_output("markdown", "\n\n".join(node.text for node in nodes))


serve(parse, versions=["openparse", "pymupdf", "pypdfium2"])
