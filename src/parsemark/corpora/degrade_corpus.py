"""Writes a degraded copy of a corpus: one image-only PDF per page."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from parsemark.corpora.base import Corpus, load_corpus
from parsemark.corpora.degrade import DegradeOptions, damage_picture, damage_truth, draw_damage
from parsemark.corpora.files import write_manifest, write_page
from parsemark.corpora.render import page_image
from parsemark.corpora.schema import CorpusFile
from parsemark.errors import CorpusError
from parsemark.pdf import save_picture_pdf
from parsemark.system import make_folder
from parsemark.system.scratch import in_new_folder


@in_new_folder
def degrade_corpus(
    spec: str,
    out: Path,
    options: DegradeOptions,
    *,
    severities: Sequence[int] = (),
    workers: int | None = None,
    progress: Callable[[int], None] | None = None,
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
    make_folder(out / "pdfs")
    work = partial(_degrade_page, corpus, options, tuple(severities), out)
    count = min(workers or os.cpu_count() or 1, len(corpus))
    if count <= 1:
        for key in corpus.keys:
            work(key)
            _report(progress)
    else:
        with ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn")) as pool:
            for done in as_completed([pool.submit(work, key) for key in corpus.keys]):
                done.result()
                _report(progress)
    return write_manifest(
        out,
        name=f"{corpus.name}-degraded",
        version=corpus.version,
        licence=corpus.licence,
        description=f"{corpus.name} as bad scans.",
        generator="parsemark degrade 2",
        seed=options.seed,
        settings={
            **asdict(options),
            **({"severities": list(severities)} if severities else {}),
            "corpus": corpus.name,
            "corpus_hash": corpus.hash,
        },
    )


def _degrade_page(
    corpus: Corpus, options: DegradeOptions, severities: tuple[int, ...], out: Path, key: str
) -> None:
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


def _report(progress: Callable[[int], None] | None) -> None:
    if progress is not None:
        progress(1)
