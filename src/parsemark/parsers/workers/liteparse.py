# /// script
# dependencies = ["liteparse==2.17.0"]
# [tool.parsemark]
# about = "Markdown and layout blocks from the positions of the text"
# licence = "Apache-2.0"
# homepage = "https://github.com/run-llama/liteparse"
# gives = ["cells", "boxes", "markdown"]
# ///
"""liteparse: the layout blocks from which its Markdown is built, without OCR."""

import liteparse
from parsemark_worker import elements_output, serve, table


def parse(pdf, page, options):
    wanted = {"output_format": "markdown", "extract_blocks": True, "image_mode": "off"}
    parser = liteparse.LiteParse(target_pages=str(page), ocr_enabled=False, quiet=True, **wanted)
    result = parser.parse(pdf)
    blocks = result.pages[0].blocks or []
    return elements_output((_read(b) for b in blocks if b.kind == "table"), markdown=result.text)


def _read(block):
    rows = [row for row in [block.header, *(block.rows or [])] if row]
    box = block.bbox
    corners = None if box is None else (box.x, box.y, box.x + box.width, box.y + box.height)
    return table([[cell.text for cell in row] for row in rows], box=corners)


serve(parse, versions=["liteparse"])
