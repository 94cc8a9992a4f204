"""The same visible pages in other files: what a parser makes of them must not change in meaning.

Each rewriting leaves a page as it looks, which is checked: no pixel may differ by more than anybody sees. A
page that would look otherwise, or that a rewriting has nothing to do for, is left out and said.
"""

from __future__ import annotations

import io
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parsemark.corpora.base import Corpus, Remark
from parsemark.corpora.making import Progress, silent
from parsemark.corpora.render import with_pdf
from parsemark.errors import CorpusError, PdfError, require_known
from parsemark.extras import require
from parsemark.model import Sample
from parsemark.pdf import count_pages, in_child, render_page
from parsemark.pdf.document import page_alone, repainted
from parsemark.pdf.visible import CONTRAST
from parsemark.system import file_sha256, make_folder, write_bytes
from parsemark.system.processes import run_program, tool_environment, tool_rights
from parsemark.system.scratch import ScratchFolder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ORIGINAL, AGAIN, THREADS, SPLIT, PRINTED = "original", "again", "threads", "split", "printed"
VARIANTS = {
    AGAIN: "the same file once more",
    THREADS: "the same file, read with another number of threads",
    "objects": "the objects of the file in another order",
    "painting": "its lines of text painted from the last to the first",
    "streams": "without compression and without streams of objects",
    "fonts": "TrueType fonts subset again, with other tags",
    SPLIT: "the page taken out of its document",
    "claim": "the file names another producer",
    PRINTED: "written by another producer: Ghostscript, where it is installed",
    "rotated": "drawn turned by a quarter, and turned back by the page",
}
"""Description of every way to rewrite a page."""
CHECK_DPI = 100
MAX_BYTES = 200 * 2**20  # larger documents are not rewritten
_LIMITS = {"cpu_s": 300, "memory_mb": 2048, "file_mb": 1024}
_TIMEOUT_S = 600.0
_OTHER_TAG, _OTHER_PRODUCER = "PMSUBS", "Another Writer 1.0"


@dataclass(frozen=True, slots=True)
class LeftOutVariant:
    """A page that has no such variant."""

    sample: str
    variant: str
    why: str


@dataclass(frozen=True)
class RewrittenCorpus:
    """Pages and their variants as one corpus, and which is whose."""

    corpus: Corpus
    origin: Mapping[str, tuple[str, str]]
    """Id in the corpus to the page that it is a variant of, and the variant's name."""
    documents: Mapping[str, str]  # of each page, its document
    left_out: tuple[LeftOutVariant, ...]


def rewrite_corpus(
    corpus: Corpus,
    keys: Sequence[str],
    folder: Path,
    variants: Sequence[str] = (),
    progress: Progress = silent,
) -> RewrittenCorpus:
    """Write some variants of some pages, all of `VARIANTS` by default, into a folder.

    Files that are there already are taken as they are. CorpusError if none of the pages can be read.
    """
    require("stable", "Rewriting pages")
    for name in variants:
        require_known("variant", name, VARIANTS)
    make_folder(folder)
    samples, remarks, left_out = list[Sample](), list[Remark](), list[LeftOutVariant]()
    origin, documents = dict[str, tuple[str, str]](), dict[str, str]()
    for key in keys:
        sample = _readable(corpus, key)
        if isinstance(sample, Remark):
            remarks.append(sample)
            continue
        documents[key] = sample.document
        for name, made in _variants(sample, folder, variants or tuple(VARIANTS)):
            if isinstance(made, str):
                left_out.append(LeftOutVariant(key, name, made))
            else:
                samples.append(made)
                origin[made.id] = key, name
        progress(1)
    if not samples:
        raise CorpusError(f"No page of {corpus.name} can be rewritten: {remarks[0]}")
    whole = Corpus.of(
        f"{corpus.name}-stable",
        samples,
        root=folder,
        version=corpus.version,
        licence=corpus.licence,
        remarks=remarks,
    )
    return RewrittenCorpus(whole, origin, documents, tuple(left_out))


def _readable(corpus: Corpus, key: str) -> Sample | Remark:
    found = corpus.try_read(key)
    try:
        sample = with_pdf(found) if isinstance(found, Sample) else found
    except CorpusError as error:
        return Remark(key, f"is left out: {error}")
    if isinstance(sample, Sample) and (sample.pdf is None or not sample.pdf.is_file()):
        return Remark(key, "is left out: it has no PDF")
    return sample


def _variants(sample: Sample, folder: Path, names: Sequence[str]) -> Iterator[tuple[str, Sample | str]]:
    """Yield the page itself and each variant, or why there is none."""
    assert sample.pdf is not None
    yield ORIGINAL, sample
    try:
        pixels = _pixels(sample.pdf, sample.page_number)
    except PdfError as error:
        yield from ((name, str(error)) for name in names if name not in (AGAIN, THREADS))
        names = [name for name in names if name in (AGAIN, THREADS)]
    for name in names:
        made = replace(sample, id=f"{sample.id}--{name}", document=f"{sample.document}--{name}", aliases=())
        why = ""
        if name not in (AGAIN, THREADS):
            try:
                pdf = _file(sample, folder, name)
                made = replace(made, pdf=pdf, page_number=1 if name == SPLIT else sample.page_number)
                same = looks_same(pixels, _pixels(pdf, made.page_number))
                why = "" if same else "it would look different"
            except PdfError as error:
                why = str(error)
        yield name, why or made


def _pixels(pdf: Path, number: int) -> NDArray[np.int16]:
    import numpy as np

    return np.asarray(render_page(pdf, number, CHECK_DPI, forms=True)).astype(np.int16)


def looks_same(one: NDArray[np.int16], other: NDArray[np.int16]) -> bool:
    """Return whether two pictures are of one size and differ nowhere by more than anybody sees."""
    return one.shape == other.shape and bool((abs(one - other) < CONTRAST).all())


def _file(sample: Sample, folder: Path, variant: str) -> Path:
    """Return the rewritten document, named by what it was made of; a page that is split off has its own."""
    pdf = sample.pdf
    assert pdf is not None
    if pdf.stat().st_size > MAX_BYTES:
        raise PdfError(f"{pdf} has more than {MAX_BYTES >> 20} MB")
    page = f"-p{sample.page_number}" if variant == SPLIT else ""
    target = folder / f"{file_sha256(pdf)[:24]}{page}-{variant}.pdf"
    if not target.is_file():
        write_bytes(target, rewrite_pdf(pdf, variant, sample.page_number))
    return target


def rewrite_pdf(pdf: Path, variant: str, page_number: int = 1) -> bytes:
    """Return a document written again; of `split`, one page of it. Raise PdfError where there is nothing to
    do.
    """
    if variant == SPLIT:
        if count_pages(pdf) == 1:
            raise PdfError("its document has one page")
        return page_alone(pdf, page_number)
    if variant == PRINTED:
        return _with_boxes(pdf, _printed(pdf))
    return repainted(pdf) if variant == "painting" else _rewritten(pdf, variant)


# --- in the process that opens PDFs -------------------------------------------------------------------------


@in_child(cpu_s=600)
def _rewritten(pdf: Path, variant: str) -> bytes:
    import pikepdf

    plain = {
        "compress_streams": False,
        "stream_decode_level": pikepdf.StreamDecodeLevel.generalized,
        "object_stream_mode": pikepdf.ObjectStreamMode.disable,
    }
    how: dict[str, Any] = {"objects": {"linearize": True}, "streams": plain}.get(variant, {})
    changes = {"claim": _claim, "fonts": _subset_fonts, "rotated": _rotate}
    written = io.BytesIO()
    try:
        with pikepdf.open(pdf) as document:
            if variant in changes:
                changes[variant](document)
            document.save(written, deterministic_id=True, **how)
    except (pikepdf.PdfError, ValueError, TypeError, KeyError) as error:
        raise PdfError(f"it cannot be rewritten: {error}") from error
    return written.getvalue()


def _claim(document: Any) -> None:
    document.docinfo["/Producer"] = document.docinfo["/Creator"] = _OTHER_PRODUCER
    if "/Metadata" in document.Root:
        del document.Root["/Metadata"]


def _subset_fonts(document: Any) -> None:
    """Subset TrueType fonts to the glyphs that they still draw, and give all fonts other tags."""
    import pikepdf
    from fontTools import subset
    from fontTools.ttLib import TTFont, TTLibError

    options = subset.Options(
        retain_gids=True, notdef_outline=True, glyph_names=True, legacy_cmap=True, symbol_cmap=True,
        passthrough_tables=True, drop_tables=[], recalc_timestamp=False, name_IDs=["*"],
    )  # fmt: skip
    n_done = 0
    for item in document.objects:
        if not isinstance(item, pikepdf.Dictionary):
            continue
        for key in ("/BaseFont", "/FontName"):
            if key in item and str(item[key])[7:8] == "+":
                item[key] = pikepdf.Name(f"/{_OTHER_TAG}{str(item[key])[7:]}")
        if not isinstance(item.get("/FontFile2"), pikepdf.Stream):
            continue
        stream = item["/FontFile2"]
        try:
            font = TTFont(io.BytesIO(stream.read_bytes()), lazy=False)
            drawn = [name for name in font.getGlyphOrder() if font["glyf"][name].numberOfContours]
            subsetter = subset.Subsetter(options)
            subsetter.populate(glyphs=drawn)
            subsetter.subset(font)
            written = io.BytesIO()
            font.save(written)
        except (TTLibError, AssertionError, LookupError, AttributeError) as error:
            raise ValueError(f"a font cannot be read ({error})") from error
        stream.write(written.getvalue())
        stream["/Length1"], n_done = len(written.getvalue()), n_done + 1
    if not n_done:
        raise ValueError("it has no TrueType font")


def _rotate(document: Any) -> None:
    """Draw each page turned to the left, and have it shown turned to the right."""
    import pikepdf

    for page in document.pages:
        x0, y0, x1, y1 = (float(side) for side in page.mediabox)

        def turned(box: Any, left: float = x0, top: float = y1) -> Any:
            a, b, c, d = (float(side) for side in box)
            return pikepdf.Array([top - d, a - left, top - b, c - left])

        page.contents_add(f"q 0 1 -1 0 {y1} {-x0} cm".encode(), prepend=True)
        page.contents_add(b"Q")
        crop = turned(page.cropbox)
        page.obj["/MediaBox"], page.obj["/CropBox"] = pikepdf.Array([0, 0, y1 - y0, x1 - x0]), crop
        page.obj["/Rotate"] = (int(page.obj.get("/Rotate", 0)) + 90) % 360
        for note in page.obj.get("/Annots", []):
            if "/Rect" in note:
                note["/Rect"] = turned(note["/Rect"])


@in_child(cpu_s=600)
def _with_boxes(pdf: Path, written: bytes) -> bytes:
    """Return a document with the boxes of another: to round them would change the size of its pictures."""
    import pikepdf

    out = io.BytesIO()
    try:
        with pikepdf.open(pdf) as old, pikepdf.open(io.BytesIO(written)) as new:
            for before, after in zip(old.pages, new.pages, strict=True):
                for key, box in (("/MediaBox", before.mediabox), ("/CropBox", before.cropbox)):
                    after.obj[key] = pikepdf.Array([float(side) for side in box])
            new.save(out, deterministic_id=True)
    except (pikepdf.PdfError, ValueError, TypeError) as error:
        raise PdfError(f"Ghostscript's output is unreadable: {error}") from error
    return out.getvalue()


# --- by another program -------------------------------------------------------------------------------------


def _printed(pdf: Path) -> bytes:
    """Return a document as rewritten by Ghostscript, which subsets all fonts again."""
    program = shutil.which("gs")
    if program is None:
        raise PdfError("Ghostscript is not installed")
    with ScratchFolder("parsemark-rewrite-") as folder:
        source, target = folder / "in.pdf", folder / "out.pdf"
        shutil.copyfile(pdf, source)
        command = [
            *(program, "-q", "-dSAFER", "-dBATCH", "-dNOPAUSE", "-sDEVICE=pdfwrite", "-r7200"),
            *("-dAutoRotatePages=/None", f"-sOutputFile={target}", str(source)),
        ]
        rights = tool_rights(["/etc/ghostscript", "/var/lib/ghostscript"], [str(folder)], **_LIMITS)
        env = tool_environment(folder)
        try:
            done = run_program(command, rights, cwd=folder, env=env, timeout_s=_TIMEOUT_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise PdfError(f"Ghostscript returned no output: {error}") from error
        if done.returncode or not target.is_file():
            raise PdfError(f"Ghostscript failed with exit code {done.returncode}")
        return target.read_bytes()
