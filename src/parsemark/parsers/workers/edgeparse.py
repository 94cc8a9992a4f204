# /// script
# dependencies = ["edgeparse==0.3.2"]
# [tool.parsemark]
# about = "Fast native layout analysis; tables from lines, or from clusters of text"
# licence = "Apache-2.0"
# homepage = "https://github.com/raphaelmansuy/edgeparse"
# gives = ["markdown"]
# [tool.parsemark.options]
# table_method = { default = "default", choices = ["default", "cluster"], about = "How tables are sought" }
# ///
"""edgeparse: `convert` to Markdown, without OCR."""

import edgeparse
from parsemark_worker import serve, text_output


def parse(pdf, page, options):
    method = options["table_method"]
    found = edgeparse.convert(pdf, pages=str(page), table_method=method, raster_table_ocr=False)
    return text_output("markdown", found)


serve(parse, versions=["edgeparse"])
