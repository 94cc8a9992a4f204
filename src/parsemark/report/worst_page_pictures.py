"""The pages that got worst, as pictures: what is on them, what was found before and what is found now."""

from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw

from parsemark.corpora.render import corpus_pictures, render_sample
from parsemark.report.names import safe_name
from parsemark.store import Run
from parsemark.system.files import make_folder
from parsemark.verdicts.gate_checks import WorsePage

MOST_PICTURES = 5
DPI = 80
_TRUTH, _FOUND = (0, 120, 60), (200, 40, 30)
_HEAD = 18  # pixels above each picture, for its words


def write_worst_pages(new: Run, old: Run | None, worse: Sequence[WorsePage], folder: Path) -> list[Path]:
    """Write one picture for each of the worst pages: the tables of the truth green, those found red.

    The old outputs stand on the left where they are at hand; a baseline has none. A page without a PDF that
    can be drawn has no picture.
    """
    if not worse:
        return []
    make_folder(folder)
    samples = {row["sample"]: row for row in new.table("samples").drop("truth").iter_rows(named=True)}
    without_pdf = {name for name, row in samples.items() if not row["pdf"]}
    corpus = new.manifest.corpus
    scans = corpus_pictures(corpus.spec, corpus.hash, without_pdf)
    written = []
    for page in sorted(worse, key=lambda page: (-abs(page.new - page.old), page.sample))[:MOST_PICTURES]:
        drawn = render_sample(samples[page.sample], DPI, scans.get(page.sample))
        if drawn is None:
            continue
        sides = [("new", new, page.new)]
        if old is not None and not old.is_baseline:
            sides.insert(0, ("old", old, page.old))
        parts = [_part(drawn, f"{name} {value:.3f}", run, page) for name, run, value in sides]
        path = folder / f"{safe_name(page.sample)}-{safe_name(page.parser)}.png"
        _beside(parts).save(path)
        written.append(path)
    return written


def _part(picture: Image.Image, words: str, run: Run, page: WorsePage) -> Image.Image:
    """Draw one output on the page."""
    truth, prediction = run.truth(page.sample), run.prediction(page.sample, page.parser)
    whole = Image.new("RGB", (picture.width, picture.height + _HEAD), "white")
    whole.paste(picture.convert("RGB"), (0, _HEAD))
    pen = ImageDraw.Draw(whole)
    pen.text((4, 3), words, fill="black")
    drawn = [(e.box, _TRUTH, 4) for e in truth.tables] if truth else []
    for box, colour, width in (*drawn, *((e.box, _FOUND, 2) for e in prediction.tables)):
        if box is not None and box.x0 <= box.x1 and box.y0 <= box.y1:
            x0, y0, x1, y1 = (value * DPI / 72 for value in box.as_tuple())
            pen.rectangle([x0, y0 + _HEAD, x1, y1 + _HEAD], outline=colour, width=width)
    return whole


def _beside(parts: Sequence[Image.Image]) -> Image.Image:
    whole = Image.new("RGB", (sum(p.width for p in parts), max(p.height for p in parts)), "white")
    at = 0
    for part in parts:
        whole.paste(part, (at, 0))
        at += part.width
    return whole
