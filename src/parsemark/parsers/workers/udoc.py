# /// script
# dependencies = ["udoc==0.1.0a1"]
# [tool.parsemark]
# about = "Fast native extraction of many document formats"
# licence = "Apache-2.0 or MIT"
# homepage = "https://pypi.org/project/udoc"
# gives = ["cells", "markdown"]
# ///
"""udoc: the tables of a page's content."""

import udoc
from parsemark_worker import cell, elements_output, serve, table


def parse(pdf, page, options):
    document = udoc.extract(pdf, pages=[page - 1])
    tables = (table(cells=list(_cells(t))) for t in document.tables())
    return elements_output(tables, markdown=document.to_markdown(with_anchors=False))


def _cells(found):
    """Place each cell at the first free position of its row, as HTML does."""
    taken = set()
    for row, line in enumerate(found.rows):
        col = 0
        for item in line.cells:
            while (row, col) in taken:
                col += 1
            colspan = next((n for n in range(1, item.col_span) if (row, col + n) in taken), item.col_span)
            taken.update((row + r, col + c) for r in range(item.row_span) for c in range(colspan))
            yield cell(row, col, item.text, rowspan=item.row_span, colspan=colspan)


serve(parse, versions=["udoc"])
