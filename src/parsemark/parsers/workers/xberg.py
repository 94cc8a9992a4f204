# /// script
# dependencies = ["xberg==1.3.9", "pypdfium2==5.14.0"]
# [tool.parsemark]
# about = "Native Markdown with tables from the text layer, without its OCR and models"
# licence = "MIT"
# homepage = "https://github.com/xberg-io/xberg"
# gives = ["markdown"]
# ///
"""xberg: `extract` of the single page of a PDF, because it reads whole documents only."""

import asyncio

import xberg
from parsemark_pages import single_page
from parsemark_worker import serve, text_output

CONFIG = xberg.ExtractionConfig(
    use_cache=False, disable_ocr=True, output_format=xberg.OutputFormat("markdown")
)


def parse(pdf, page, options):
    asked = xberg.ExtractInput(
        kind=xberg.ExtractInputKind.BYTES, bytes=single_page(pdf, page), mime_type="application/pdf"
    )
    found = asyncio.run(xberg.extract(asked, CONFIG))
    if not found.results:
        raise RuntimeError("; ".join(str(error) for error in found.errors) or "xberg returned no document")
    return text_output("markdown", found.results[0].content)


serve(parse, versions=["xberg", "pypdfium2"])
