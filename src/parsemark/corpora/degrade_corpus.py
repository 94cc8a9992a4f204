"""Writes a degraded copy of a corpus: one image-only PDF per page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from parsemark.corpora.base import Corpus, load_corpus
from parsemark.corpora.degrade import DegradeOptions, damage_picture, damage_truth, draw_damage
from parsemark.corpora.files import write_page
from parsemark.corpora.making import Progress, in_processes, new_folder, silent, write_copy_manifest
from parsemark.corpora.render import page_image
from parsemark.corpora.schema import CorpusFile
from parsemark.errors import CorpusError
from parsemark.pdf import save_picture_pdf
from parsemark.system.scratch import made_whole


@made_whole
def degrade_corpus(
    spec: str,
    out: Path,
    options: DegradeOptions,
    *,
    severities: Sequence[int] = (),
    workers: int | None = None,
    progress: Progress = silent,
) -> CorpusFile:
    """Degrade all pages of a corpus that have truth.

    Args:
        spec: As for `load_corpus`.
        out: Folder of the new corpus; new or empty.
        options: Which damages, how often, how bad.
        severities: Write each page once at each of these (as `ID-s1`, `ID-s2`, …), for a curve.
        workers: Processes; all cores if None.
        progress: Called with the number of pages that were finished.
    """
    corpus = load_corpus(spec)
    new_folder(out, "pdfs")
    work = partial(_degrade_page, corpus, options, tuple(severities), out)
    for key, done in in_processes(work, corpus.keys, workers):
        if done is None:
            raise CorpusError(f"Sample {key} ends the program that degrades it.")
        progress(1)
    settings = {**asdict(options), **({"severities": list(severities)} if severities else {})}
    about = {"generator": "parsemark degrade 2", "seed": options.seed}
    return write_copy_manifest(out, corpus, "degraded", "as bad scans", settings, **about)


def _degrade_page(
    corpus: Corpus, options: DegradeOptions, severities: tuple[int, ...], out: Path, key: str
) -> str:
    sample = corpus.read(key)
    if sample.truth is None:
        raise CorpusError(f"Sample {key} has no truth; only pages with truth can be degraded.")
    clean = page_image(sample, options.dpi)
    for severity in severities or (options.severity,):
        name = f"{key}-s{severity}" if severities else key
        damage = draw_damage(replace(options, severity=severity), key)
        picture = damage_picture(clean, damage, key)
        pdf = out / "pdfs" / f"{name}.pdf"
        width, height = (side * 72 / options.dpi for side in picture.size)
        save_picture_pdf(picture, pdf, (width, height), quality=damage.quality, producer="parsemark degrade")
        truth = replace(
            damage_truth(sample.truth, damage), id=name, width=round(width, 2), height=round(height, 2)
        )
        scan = replace(sample, id=name, truth=truth, pdf=pdf, page_number=1)
        write_page(out, scan, f"pdfs/{name}.pdf")
    return key
