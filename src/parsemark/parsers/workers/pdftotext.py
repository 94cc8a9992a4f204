# /// script
# dependencies = []
# [tool.parsemark]
# about = "poppler's pdftotext -layout, with lines of text split into columns at white space"
# licence = "GPL-2.0"
# homepage = "https://poppler.freedesktop.org"
# gives = ["cells", "text"]
# needs = ["poppler"]
# ///
"""The baseline without any table model: neighbouring lines with the same wide gaps are rows of a table."""

import re
import subprocess

from parsemark_worker import elements_output, serve, table

PIECE = re.compile(r"\S+(?: \S+)*")  # words with single spaces between them: what two spaces end
MIN_ROWS = 2
MAX_MEAN_PIECE = 30  # longer pieces on average are prose in columns, not cells
OCCUPIED = 0.15  # a position is inside a column if more than this share of the rows has text there


def parse(pdf, page, options):
    done = subprocess.run(
        ["pdftotext", "-layout", "-enc", "UTF-8", "-f", str(page), "-l", str(page), pdf, "-"],
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode("utf-8", "replace").strip())
    text = done.stdout.decode("utf-8", "replace").replace("\f", "")
    return elements_output((table(rows) for rows in find_tables(text)), text=text)


def find_tables(text):
    """Rows of cells of each block of lines that looks like a table."""
    for block in _blocks(text):
        pieces = [piece for row in block for piece in row]
        if len(block) < MIN_ROWS or sum(len(t) for _, _, t in pieces) > MAX_MEAN_PIECE * len(pieces):
            continue
        columns = _columns(block)
        if len(columns) > 1:
            yield [_split(row, columns) for row in block]


def _blocks(text):
    """Runs of lines with at least two pieces each; one empty line does not end a run."""
    block, gap = [], 0
    for line in text.splitlines():
        row = [(m.start(), m.end(), m.group()) for m in PIECE.finditer(line)]
        if len(row) > 1:
            block.append(row)
            gap = 0
        elif row or gap:
            yield block
            block = []
        else:
            gap += 1
    yield block


def _columns(block):
    """(start, end) of the ranges of positions that enough rows share."""
    width = max(end for row in block for _, end, _ in row)
    counts = [0] * (width + 1)
    for start, end, _ in (piece for row in block for piece in row):
        for position in range(start, end):
            counts[position] += 1
    threshold = max(1, OCCUPIED * len(block)) if len(block) > 3 else 0
    columns, start = [], None
    for position, count in enumerate(counts):
        if count > threshold and start is None:
            start = position
        elif count <= threshold and start is not None:
            columns.append((start, position))
            start = None
    return columns


def _split(row, columns):
    """The row's pieces, each in the column that it overlaps most or is nearest to."""
    cells = [[] for _ in columns]
    for start, end, text in row:
        nearest = max(range(len(columns)), key=lambda i: min(end, columns[i][1]) - max(start, columns[i][0]))
        cells[nearest].append(text)
    return [" ".join(cell) for cell in cells]


serve(parse, programs={"pdftotext": ["pdftotext", "-v"]})
