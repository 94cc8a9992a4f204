"""A one-page PDF with one ruled table at a known place, on sheets that are cropped and rotated."""

from pathlib import Path

MEDIA = (10, 20, 622, 812)
CROP = (40, 60, 600, 780)
TABLE = (100, 156, 460, 300)
"""Where the table is on the page as it is shown, from the top left."""
ROWS, COLUMNS = 6, 4


def write_page(path: Path, *, rotation: int = 0, cropped: bool = False, inherited: bool = False) -> Path:
    """Write the page; `inherited` gives its boxes and rotation to the parent node, as xdvipdfmx does."""
    x0, y0, x1, y1 = CROP if cropped else MEDIA
    height = x1 - x0 if rotation in (90, 270) else y1 - y0
    frame = {
        0: (1, 0, 0, 1, x0, y0),
        90: (0, 1, -1, 0, x1, y0),
        180: (-1, 0, 0, -1, x1, y1),
        270: (0, -1, 1, 0, x0, y1),
    }[rotation]
    content = f"q {' '.join(map(str, frame))} cm\n{_drawing(height)}\nQ".encode()
    crop = f"/CropBox[{' '.join(map(str, CROP))}]" if cropped else ""
    sheet = f"/MediaBox[{' '.join(map(str, MEDIA))}]{crop}/Rotate {rotation}"
    of_parent, own = (sheet, "") if inherited else ("", sheet)
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[3 0 R]/Count 1{of_parent}>>".encode(),
        f"<</Type/Page/Parent 2 0 R{own}/Resources<</Font<</F1 5 0 R>>>>/Contents 4 0 R>>".encode(),
        b"<</Length %d>>stream\n%s\nendstream" % (len(content), content),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    path.write_bytes(_assemble(objects))
    return path


def _drawing(height: float) -> str:
    left, top, right, bottom = TABLE[0], height - TABLE[1], TABLE[2], height - TABLE[3]
    row, column = (top - bottom) / ROWS, (right - left) / COLUMNS
    lines = [f"{left} {bottom + i * row} m {right} {bottom + i * row} l S" for i in range(ROWS + 1)]
    lines += [f"{left + i * column} {bottom} m {left + i * column} {top} l S" for i in range(COLUMNS + 1)]
    lines += [
        f"BT /F1 11 Tf {left + c * column + 6} {top - (r + 1) * row + 8} Td (cell {r}{c}) Tj ET"
        for r in range(ROWS)
        for c in range(COLUMNS)
    ]
    lines.append(f"BT /F1 11 Tf {left} {height - 60} Td (A line above the table) Tj ET")
    return "\n".join(lines)


def _assemble(objects: list[bytes]) -> bytes:
    body, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    entries = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    table = b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, entries)
    trailer = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, len(body))
    return body + table + trailer
