"""Makes a whole synthetic corpus, on all cores."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from parsemark.corpora.files import write_manifest, write_page
from parsemark.corpora.latex.synthetic.content import usable_entries
from parsemark.corpora.latex.synthetic.document import make_document
from parsemark.corpora.latex.synthetic.options import GENERATOR, SyntheticOptions
from parsemark.corpora.latex.synthetic.plan import DocumentPlan, plan_documents
from parsemark.corpora.latex.synthetic.style import CLASSES, preamble
from parsemark.corpora.schema import CorpusFile
from parsemark.errors import LatexError, UsageError
from parsemark.system import make_folder, write_bytes
from parsemark.system.pdflatex import precompiled, require_pdflatex

LICENCE = "CC0-1.0"

Progress = Callable[[int], None]
"""Called with the number of pages that were finished."""


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What became of one document."""

    document: str
    pages: int
    replaced: str | None = None
    failure: str | None = None


def make_synthetic(
    options: SyntheticOptions, out: Path, *, workers: int | None = None, progress: Progress | None = None
) -> CorpusFile:
    """Make a corpus in the folder `out`, which must be new or empty.

    The same options give the same truth, byte for byte, at any number of workers. Documents that could not be
    made as they were drawn first are replaced, and listed with the reason in the settings of the corpus.
    Raises LatexError, after all others were tried, if a document cannot be made at all.
    """
    require_pdflatex("Making synthetic pages")
    if out.exists() and any(out.iterdir()):
        raise UsageError(f"{out} is not empty; give a new folder, or remove it first.")
    for name in ("pdfs", "truth"):
        make_folder(out / name)
    plans = plan_documents(options)
    for document_class in CLASSES:
        for harvested in {options.pool is not None and not plan.long for plan in plans}:
            precompiled(preamble(document_class, harvested=harvested))
    outcomes = []
    for outcome in _make_all(plans, partial(_make_one, options, out), workers):
        outcomes.append(outcome)
        if progress is not None:
            progress(outcome.pages)
    failures = sorted(o.failure for o in outcomes if o.failure is not None)
    if failures:
        raise LatexError(f"{len(failures)} of {len(plans)} documents failed. {' '.join(failures[:3])}")
    replaced = {o.document: o.replaced for o in outcomes if o.replaced is not None}
    return write_manifest(
        out,
        name=options.name,
        licence=_licence(options),
        description="Synthetic pages with exact truth.",
        generator=f"parsemark {GENERATOR}",
        seed=options.seed,
        settings={**options.settings(), **({"replaced": dict(sorted(replaced.items()))} if replaced else {})},
    )


def _make_all(
    plans: Sequence[DocumentPlan], work: Callable[[DocumentPlan], _Outcome], workers: int | None
) -> Iterator[_Outcome]:
    count = min(workers or os.cpu_count() or 1, len(plans))
    if count == 1:
        yield from map(work, plans)
        return
    with ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn")) as pool:
        for done in as_completed([pool.submit(work, plan) for plan in plans]):
            yield done.result()


def _licence(options: SyntheticOptions) -> str:
    """Ours, and those of the harvested tables (each table's `origin` says which)."""
    if options.pool is None:
        return LICENCE
    licences = sorted({entry.licence for entry in usable_entries(options.pool)})
    return f"{LICENCE}; harvested tables: {', '.join(licences)}"


def _make_one(options: SyntheticOptions, out: Path, plan: DocumentPlan) -> _Outcome:
    with tempfile.TemporaryDirectory(prefix="parsemark-") as work:
        try:
            made = make_document(options, plan, Path(work))
        except LatexError as error:
            return _Outcome(plan.name, len(plan.pages), failure=str(error))
        write_bytes(out / "pdfs" / f"{plan.name}.pdf", made.pdf.read_bytes())
        for sample in made.samples:
            write_page(out, sample, f"pdfs/{plan.name}.pdf")
    return _Outcome(plan.name, len(made.samples), made.replaced)
