"""Speed of `parsemark check`, and the wrong text layers that it finds: `CHECK_PDFS=folder python -m bench
check_pages`.

Each PDF of the folder is checked against the output of pdftotext, with OCR and without. CPU time is that of
all processes together: the caller, the process that opens PDFs, and tesseract. Starting them is included.

`CHECK_LIES=8` then makes the first so many pages of each PDF wrong, in three ways: all fonts, the font with
most letters, or all fonts on one page in the middle, under their old names. A wrong font has a
`/ToUnicode` that shifts each letter to the next one. Counted are wrong pages that are not believed, and right
pages that are not believed: if each page is sampled (`seen_page`), and if only fonts are sampled that no page
has confirmed (`seen_document`).
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase
from typing import Any

SHIFT = str.maketrans(
    ascii_lowercase + ascii_uppercase,
    ascii_lowercase[1:] + "a" + ascii_uppercase[1:] + "A",
)
LIES = ("all fonts", "one font", "one page")


def cpu_s() -> float:
    """Return the CPU time of this process and of those that have ended."""
    from parsemark.pdf import child

    child.close()
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def speed(pdf: Path) -> tuple[int, dict[str, float]]:
    """Return the pages of a document and the CPU seconds that it takes to check, with OCR and without."""
    from parsemark.verdicts.check import check

    text = subprocess.run(["pdftotext", str(pdf), "-"], capture_output=True, check=True).stdout
    seconds, n_pages = {}, 0
    for ocr in ("off", "auto"):
        start = cpu_s()
        n_pages = len(check(pdf, text, ocr=ocr).pages)  # type: ignore[arg-type]
        seconds[ocr] = cpu_s() - start
    return n_pages, seconds


def mapping(letters: dict[int, str]) -> bytes:
    """Return a ToUnicode map of fonts with one byte for each character."""
    lines = "\n".join(f"<{code:02X}> <{ord(sign):04X}>" for code, sign in letters.items())
    return (
        "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CMapName /Wrong def\n"
        f"/CMapType 2 def\n1 begincodespacerange\n<00> <FF>\nendcodespacerange\n{len(letters)} beginbfchar\n"
        f"{lines}\nendbfchar\nendcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n"
    ).encode("latin-1")


def make_wrong(document: Any, font: Any) -> Any:
    """Return a copy of a font whose letters are extracted as the next ones, if that can be done."""
    import pikepdf

    from parsemark_makers.misleading_text_layers import SHIFTED, changed_mapping

    if isinstance(stream := font.get("/ToUnicode"), pikepdf.Stream):
        table = changed_mapping(stream.read_bytes(), SHIFTED)
    elif font.get("/Subtype") in ("/Type1", "/TrueType"):
        table = mapping({ord(sign): sign.translate(SHIFT) for sign in ascii_lowercase + ascii_uppercase})
    else:
        return font
    own = document.make_indirect(pikepdf.Dictionary(dict(font.items())))
    own["/ToUnicode"] = document.make_stream(table)
    return own


def write_wrong(pdf: Path, out: Path, lie: str, n_pages: int) -> None:
    """Write the first pages of a PDF with wrong fonts."""
    import pikepdf

    from parsemark.pdf import seen_page

    counts = Counter[str]()
    for number in range(1, n_pages + 1):
        for word in seen_page(pdf, number, ocr=True).words:
            counts[word.font] += len(word.text)
    main_font = max(counts, key=lambda font: counts[font], default="")
    with pikepdf.open(pdf) as document:
        del document.pages[n_pages:]
        for number, page in enumerate(document.pages, start=1):
            if lie == "one page" and number != n_pages // 2 + 1:
                continue
            resources = pikepdf.Dictionary(dict(page.resources.items()))
            fonts = dict(resources.get("/Font", pikepdf.Dictionary()).items())
            changed = {
                name: make_wrong(document, font)
                for name, font in fonts.items()
                if lie != "one font" or str(font.get("/BaseFont", "")).lstrip("/") == main_font
            }
            resources["/Font"] = pikepdf.Dictionary({**fonts, **changed})
            page.obj["/Resources"] = resources
        document.save(out)


def changed_share(pdf: Path, other: Path, number: int) -> float:
    """Return the share of the words of a page that another PDF does not have at their places."""
    from parsemark.pdf import page_text

    pairs = list(zip(page_text(pdf, number).split(), page_text(other, number).split(), strict=False))
    return sum(one != two for one, two in pairs) / len(pairs) if len(pairs) >= 20 else 0.5


def tally_lies(pdf: Path, n_pages: int, found: dict[str, Counter[str]]) -> None:
    """Count wrong pages, and those that are not believed; and right ones."""
    from parsemark.pdf import count_pages, seen_document, seen_page

    n_pages = min(n_pages, count_pages(pdf))
    with tempfile.TemporaryDirectory() as folder:
        for lie in LIES:
            out = Path(folder, f"{lie}.pdf")
            write_wrong(pdf, out, lie, n_pages)
            by_fonts = seen_document(out, ocr=True)
            for number in range(1, n_pages + 1):
                share = changed_share(pdf, out, number)
                if 0 < share < 0.6:
                    continue  # hardly wrong
                kind = "wrong" if share else "right"
                found[lie][kind] += 1
                found[lie][f"{kind} found by fonts"] += by_fonts[number - 1].source != "layer"
                found[lie][f"{kind} found by page"] += seen_page(out, number, ocr=True).source != "layer"


def main() -> bool:
    if not (folder := os.environ.get("CHECK_PDFS")):
        print("no CHECK_PDFS: nothing is measured")
        return True
    pdfs = sorted(Path(folder).glob("*.pdf"))
    pages, totals = 0, Counter[str]()
    for pdf in pdfs if os.environ.get("CHECK_SPEED", "1") != "0" else ():
        n_pages, seconds = speed(pdf)
        pages += n_pages
        totals.update(seconds)
        per_s = ", ".join(f"{how} {s:.2f} s, {n_pages / s:.1f} pages/s" for how, s in seconds.items())
        print(f"{pdf.name}, {n_pages} pages: OCR {per_s}", flush=True)
    if totals:
        print("all: " + ", ".join(f"OCR {how} {pages / s:.1f} pages/s" for how, s in totals.items()))
    if n_lies := int(os.environ.get("CHECK_LIES", "0")):
        found = {lie: Counter[str]() for lie in LIES}
        for pdf in pdfs:
            tally_lies(pdf, n_lies, found)
            print(pdf.name, {lie: dict(counts) for lie, counts in found.items()}, flush=True)
    return not totals or pages >= 20 * totals["auto"]
