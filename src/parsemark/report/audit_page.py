"""The page of an audit: each suspicious cell beside its picture, and corrections to accept."""

import json
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from parsemark.choosing.audit import Audit, Suspicion
from parsemark.corpora import Corpus
from parsemark.errors import PdfError
from parsemark.model import Sample
from parsemark.pdf import render_page
from parsemark.plain_words import INTERVAL
from parsemark.report.site import data_uri, standalone_page
from parsemark.system.files import make_folder, write_text

SHOWN = 200  # cells with a picture; the corrections file has them all
DPI = 110
_MARGIN_PT = 12.0


def write_audit(corpus: Corpus, audit: Audit, folder: Path) -> list[Path]:
    """Write `audit.html` and `corrections.json`; returns their paths."""
    make_folder(folder)
    rows = [{"suspicion": s, "picture": _picture(corpus.read(s.sample), s)} for s in audit.suspicions[:SHOWN]]
    values = {"corpus": corpus, "audit": audit, "rows": rows, "interval": INTERVAL}
    write_text(folder / "audit.html", standalone_page("audit.html", **values))
    corrections = json.dumps(_corrections(corpus, audit.suspicions), indent=2, ensure_ascii=False)
    write_text(folder / "corrections.json", corrections + "\n")
    return [folder / "audit.html", folder / "corrections.json"]


def _corrections(corpus: Corpus, suspicions: Iterable[Suspicion]) -> list[dict[str, Any]]:
    """Return corrections in the ICDAR loader's format, with the sample and the element for all other
    corpora.
    """
    by_table: dict[tuple[str, str], dict[str, Any]] = {}
    for s in suspicions:
        entry = by_table.get((s.sample, s.element))
        if entry is None:
            sample = corpus.read(s.sample)
            entry = {"document": sample.document, "sample": s.sample, "element": s.element, "changes": []}
            by_table[s.sample, s.element] = entry
        entry["changes"].append(
            {"cell": [s.row, s.col], "was": s.truth, "set": {"text": s.consensus}, "strength": s.strength}
        )
    return list(by_table.values())


def _picture(sample: Sample, suspicion: Suspicion) -> str | None:
    """Return the table on its page with the cell marked, as a data URI; None where there is nothing to
    show.
    """
    if sample.pdf is None or sample.truth is None:
        return None
    element = next((e for e in sample.truth.elements if e.id == suspicion.element), None)
    try:
        page = _page(sample.pdf, sample.page_number).copy()
    except PdfError:
        return None
    scale = DPI / 72
    cells = element.table.cells if element and element.table else ()
    place = (suspicion.row, suspicion.col)
    cell = next((c.box for c in cells if (c.row, c.col) == place), None)
    if cell is not None:
        ImageDraw.Draw(page).rectangle([v * scale for v in cell.as_tuple()], outline=(200, 30, 30), width=2)
    around = element.box if element else None
    if around is not None:
        x0, y0, x1, y1 = around.as_tuple()
        left, upper = (x0 - _MARGIN_PT) * scale, (y0 - _MARGIN_PT) * scale
        right, lower = (x1 + _MARGIN_PT) * scale, (y1 + _MARGIN_PT) * scale
        page = page.crop((int(left), int(upper), int(right), int(lower)))
    return data_uri(page, "jpeg", quality=70)


@lru_cache(maxsize=4)
def _page(pdf: Path, number: int) -> Image.Image:
    return render_page(pdf, number, DPI)
