"""`parsemark corpus degrade`, `mislead` and `crops`: a new corpus out of the pages of another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from typer import Option

from parsemark.cli import options as opt
from parsemark.cli import running
from parsemark.cli.printing import page_progress, plain_console
from parsemark.errors import UsageError
from parsemark.plain_words import counted, listed

if TYPE_CHECKING:
    from parsemark.corpora.base import Remark


def degrade(
    corpus: opt.CorpusArgument,
    *,
    out: opt.NewCorpus,
    seed: Annotated[int, Option(help="The same seed gives the same damages.")] = 0,
    dpi: Annotated[int, Option(min=50, max=600, help="Resolution of the scans.")] = 150,
    skew: Annotated[float, Option(help="Share of pages that are turned a little.")] = 0.7,
    blur: Annotated[float, Option(help="Share of blurred pages.")] = 0.5,
    noise: Annotated[float, Option(help="Share of noisy pages.")] = 0.5,
    jpeg: Annotated[float, Option(help="Share of strongly compressed pages.")] = 0.8,
    watermark: Annotated[float, Option(help="Share of pages with a watermark.")] = 0.2,
    background: Annotated[float, Option(help="Share of pages on coloured paper.")] = 0.2,
    low_contrast: Annotated[float, Option(help="Share of faded pages.")] = 0.2,
    bleed_through: Annotated[float, Option(help="Share of pages whose back shines through.")] = 0.2,
    shadow: Annotated[float, Option(help="Share of pages with a shadow at an edge.")] = 0.2,
    fold: Annotated[float, Option(help="Share of pages with a crease.")] = 0.15,
    stamp: Annotated[float, Option(help="Share of pages with a stamp.")] = 0.1,
    handwriting: Annotated[float, Option(help="Share of pages with handwriting over the print.")] = 0.1,
    low_ink: Annotated[float, Option(help="Share of pages printed with little ink.")] = 0.15,
    severity: Annotated[
        str | None,
        Option(
            help="One strength for all damages, 1 to 5; random if not given. Several (1-5 or 1,3,5): each "
            "page at each of them, for a curve in the report."
        ),
    ] = None,
    workers: opt.Processes = None,
) -> None:
    """Write a copy whose pages are bad scans; the boxes of the truth follow."""
    from parsemark.corpora import load_corpus
    from parsemark.corpora.degrade import DegradeOptions, degrade_corpus, read_severities

    severities = read_severities(severity) if severity is not None else ()
    one = severities[0] if len(severities) == 1 else None
    options = opt.fill(DegradeOptions, locals(), severity=one)
    several = severities if len(severities) > 1 else ()
    count = len(load_corpus(corpus))
    left_out: list[Remark] = []
    with page_progress("Degrading pages", count) as progress:
        manifest = degrade_corpus(
            corpus, out, options, severities=several, workers=workers, progress=progress, tell=left_out.append
        )
    count -= _say_left_out(left_out)
    print(f"{out}: {counted(count * max(1, len(several)), 'page')}, hash {manifest.hash[:16]}")


def mislead(
    corpus: opt.CorpusArgument,
    *,
    out: opt.NewCorpus,
    kinds: Annotated[
        str,
        Option(
            help="Which lies, in turn: shifted,ligatures,invisible,off_page,white,instruction,"
            "stale_ocr,visual_order."
        ),
    ] = "shifted,ligatures,invisible,off_page,white,instruction",
) -> None:
    """Write a copy that looks the same, with text layers that say something else."""
    from parsemark.corpora import load_corpus
    from parsemark.corpora.misleading_text_layers import mislead_corpus

    count = len(load_corpus(corpus))
    left_out: list[Remark] = []
    with page_progress("Changing text layers", count) as progress:
        wanted = [kind.strip() for kind in kinds.split(",") if kind.strip()]
        manifest = mislead_corpus(corpus, out, kinds=wanted, progress=progress, tell=left_out.append)
    count -= _say_left_out(left_out)
    print(f"{out}: {counted(count, 'page')}, hash {manifest.hash[:16]}")


def _say_left_out(left_out: Sequence[Remark]) -> int:
    """Name the pages that are not in a copy; gives how many."""
    reasons: dict[str, list[str]] = {}
    for remark in left_out:
        reasons.setdefault(remark.message, []).append(remark.where)
    said = [f"{listed(pages)}: {why}" for why, pages in reasons.items()]
    running.say_remarks(said, plain_console(stderr=True))
    return len(left_out)


def crops(
    corpus: opt.CorpusArgument,
    *,
    kind: Annotated[str, Option(help="What to cut out: table, formula or text.")],
    out: opt.NewCorpus,
) -> None:
    """Cut the tables, formulas or text blocks out of their pages, as a corpus for parsers of elements.

    The new corpus is in OmniDocBench's form, one page per crop: `omnidocbench:OUT/crops.json`.
    """
    from parsemark.corpora.crops import FILE, KINDS, write_crops

    chosen = next((name for name in KINDS if name == kind), None)
    if chosen is None:
        raise UsageError(f"There is no kind {kind!r}; choose one of: {', '.join(KINDS)}.")
    loaded = running.load(corpus)
    with page_progress("Cutting out", len(loaded)) as progress:
        found = write_crops(loaded, out, chosen, progress=progress)
    left = f", {found.n_left_out} left out (no box, too small, or no picture)" if found.n_left_out else ""
    print(f"{counted(found.n_crops, 'crop')}{left}: omnidocbench:{out / FILE}")
