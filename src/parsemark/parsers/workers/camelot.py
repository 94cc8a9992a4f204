# /// script
# dependencies = [
#   "camelot-py==2.0.0", "playa-pdf==1.1.0", "pypdfium2==5.14.0", "opencv-python-headless==5.0.0.93",
#   "numpy==2.4.6", "pandas==3.1.1",
# ]
# [tool.parsemark]
# about = "Tables from ruling lines (lattice) or from the alignment of text (stream, network, hybrid)"
# licence = "MIT"
# homepage = "https://github.com/camelot-dev/camelot"
# gives = ["cells", "boxes"]
# paper = "Soric et al.: Camelot"
# options.flavor.default = "lattice"
# options.flavor.choices = ["lattice", "stream", "network", "hybrid"]
# options.flavor.about = "Which of camelot's methods is used"
# ///
"""camelot: `read_pdf` with one of its flavors.

The quality that it reports for a table is not passed on as confidence: it says how well text fell into cells,
not how likely the table is one, and camelot itself returns its tables whatever it is.
"""

import camelot
import playa
import pypdfium2
from parsemark_worker import cell, crop_offset, elements_output, serve, shifted, table


def parse(pdf, page, options):
    found = camelot.read_pdf(pdf, pages=str(page), flavor=options["flavor"], suppress_stdout=True)
    with playa.open(pdf) as document:
        media = document.pages[page - 1].mediabox  # pdfium's `get_mediabox` does not see what a page inherits
    with pypdfium2.PdfDocument(pdf) as document:
        sheet = document[page - 1]
        crop, rotation = sheet.get_bbox(), sheet.get_rotation()
        size = sheet.get_size()

    def shown(t, box):
        """Camelot measures on the whole sheet, but from lines as if the shown page were stretched over it."""
        box, sheet_size = _upright(t, box)
        if options["flavor"] in ("lattice", "hybrid"):
            across, down = size[0] / sheet_size[0], size[1] / sheet_size[1]
            return (box[0] * across, box[1] * down, box[2] * across, box[3] * down)
        return shifted(box, crop_offset(media, crop, rotation))

    return elements_output(table(cells=list(_cells(t, shown)), box=shown(t, t._bbox)) for t in found)


def _cells(found, shown):
    """Cells of the grid; neighbours with no line between them are one cell that spans."""
    taken = set()
    grid = found.cells
    for row, col in ((r, c) for r in range(len(grid)) for c in range(len(grid[0]))):
        if (row, col) in taken:
            continue
        rowspan, colspan = _extent(grid, row, col, taken)
        covered = [(r, c) for r in range(row, row + rowspan) for c in range(col, col + colspan)]
        taken.update(covered)
        text = " ".join(grid[r][c].text.strip() for r, c in covered)
        first, last = grid[row][col], grid[row + rowspan - 1][col + colspan - 1]
        box = shown(found, (first.x1, last.y1, last.x2, first.y2))
        yield cell(row, col, text, rowspan=rowspan, colspan=colspan, box=box)


def _extent(grid, row, col, taken):
    colspan = 1
    while col + colspan < len(grid[0]) and (row, col + colspan) not in taken:
        if grid[row][col + colspan - 1].right or grid[row][col + colspan].left:
            break
        colspan += 1
    rowspan = 1
    columns = range(col, col + colspan)
    while row + rowspan < len(grid):
        above, below = grid[row + rowspan - 1], grid[row + rowspan]
        if any(above[c].bottom or below[c].top or (row + rowspan, c) in taken for c in columns):
            break
        if any(below[c].right or below[c + 1].left for c in columns[:-1]):
            break
        rowspan += 1
    return rowspan, colspan


def _upright(found, box):
    """From the bottom left of the sheet as camelot turned it to the top left as it is shown; and its size."""
    width, height = found.pdf_size
    x0, y0, x1, y1 = box[0], height - box[3], box[2], height - box[1]
    rotation = getattr(found, "rotation", "")  # since 2.0
    if rotation == "clockwise":
        return (height - y1, x0, height - y0, x1), (height, width)
    if rotation == "anticlockwise":
        return (y0, width - x1, y1, width - x0), (height, width)
    return (x0, y0, x1, y1), (width, height)


serve(parse, versions=["camelot-py", "playa-pdf", "pypdfium2"])
