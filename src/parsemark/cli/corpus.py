"""`parsemark corpus`: make, describe, check, show and degrade corpora."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from parsemark.cli.fresh import Commit, Fresh, Reveal, reveal
from parsemark.cli.options import Strict
from parsemark.cli.plain_help import Commands
from parsemark.system import make_folder, write_text

if TYPE_CHECKING:
    from parsemark.model import Sample

app = typer.Typer(
    name="corpus", cls=Commands, help="Make, describe, check, show and degrade corpora.", no_args_is_help=True
)
make_app = typer.Typer(name="make", cls=Commands, help="Make a corpus.", no_args_is_help=True)
app.add_typer(make_app)

CorpusArgument = Annotated[str, typer.Argument(metavar="CORPUS", help="A folder, `demo`, or `loader:PATH`.")]
OutOption = Annotated[Path, typer.Option("--out", help="Folder of the new corpus.")]
PagesOption = Annotated[int | None, typer.Option(min=1, help="How many pages.")]
SeedOption = Annotated[
    int | None, typer.Option(help="The same seed gives the same corpus.", show_default="0")
]
app.command("reveal")(reveal)


def _required(pages: int | None) -> int:
    from parsemark.errors import UsageError

    if pages is None:
        raise UsageError("Say how many pages: --pages N.")
    return pages


def register(root: typer.Typer) -> None:
    """Add the command."""
    root.add_typer(app)


@make_app.command()
def synthetic(
    *,
    pages: PagesOption = None,
    out: OutOption,
    seed: SeedOption = None,
    name: Annotated[str, typer.Option(help="Name of the corpus, and start of its ids.")] = "synthetic",
    empty: Annotated[float, typer.Option(help="Share of pages without tables.")] = 0.3,
    double_column: Annotated[float, typer.Option(help="Share of documents with two columns.")] = 0.35,
    french: Annotated[float, typer.Option(help="Share of documents in French.")] = 0.25,
    rotated: Annotated[float, typer.Option(help="Share of table pages with a table turned by ±90°.")] = 0.1,
    long: Annotated[float, typer.Option(help="Share of pages of tables that run over pages.")] = 0.08,
    document_pages: Annotated[int, typer.Option(min=1, help="The most pages of one document.")] = 4,
    lines: Annotated[
        str, typer.Option(help="Weights of the line styles.")
    ] = "full=0.25,booktabs=0.4,partial=0.2,none=0.15",
    pool: Annotated[Path | None, typer.Option(help="Harvested tables, for half of the tables.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes; all cores if not given.")] = None,
    commit: Commit = None,
    reveal: Reveal = None,
) -> None:
    """Make pages of our own, with exact truth for every element, table and cell."""
    from parsemark.cli.page_progress import page_progress
    from parsemark.corpora.latex.synthetic.make import make_synthetic
    from parsemark.corpora.latex.synthetic.options import GENERATOR, SyntheticOptions, read_line_weights

    fresh = Fresh(commit, reveal)
    if (secret := fresh.secret()) is not None:
        options = fresh.options(secret, SyntheticOptions, f"parsemark {GENERATOR}", pool=pool)
    else:
        options = SyntheticOptions(
            pages=_required(pages),
            seed=fresh.seed(seed),
            name=name,
            empty=empty,
            double_column=double_column,
            french=french,
            rotated=rotated,
            long=long,
            document_pages=document_pages,
            lines=read_line_weights(lines),
            pool=pool,
        )
    with page_progress("Making pages", options.pages) as progress:
        manifest = make_synthetic(options, out, workers=workers, progress=progress)
    print(f"{out}: {options.pages} pages, hash {manifest.hash[:16]}")
    for document, reason in manifest.settings.get("replaced", {}).items():
        print(f"{document} was {reason}")
    fresh.finish(out)


def _story_maker(maker: str, summary: str) -> None:
    """A command of `corpus make` for one of the programs that set stories."""

    def make(
        *,
        pages: PagesOption = None,
        out: OutOption,
        seed: SeedOption = None,
        name: Annotated[str, typer.Option(help="Name of the corpus, and start of its ids.")] = maker,
        languages: Annotated[
            str, typer.Option(help="Languages, separated by commas; `all` for all of them.")
        ] = "all" if maker == "typst" else "english,french",
        kinds: Annotated[
            str, typer.Option(help="Kinds of documents: report, invoice, form, statement, laboratory.")
        ] = "all",
        document_pages: Annotated[float, typer.Option(help="About how long reports are, in pages.")] = 1.5,
        long: Annotated[float, typer.Option(help="Share of reports with a table over pages.")] = 0.1,
        commit: Commit = None,
        reveal: Reveal = None,
    ) -> None:
        from parsemark.cli.page_progress import page_progress
        from parsemark.corpora.synthetic.language import LANGUAGES
        from parsemark.corpora.synthetic.make import GENERATOR, StoryOptions, make_stories
        from parsemark.corpora.synthetic.tell import TELLERS

        fresh = Fresh(commit, reveal)
        if (secret := fresh.secret()) is not None:
            options = fresh.options(secret, StoryOptions, f"parsemark {GENERATOR}")
        else:
            options = StoryOptions(
                maker,
                _required(pages),
                seed=fresh.seed(seed),
                name=name,
                languages=LANGUAGES if languages == "all" else tuple(languages.split(",")),
                kinds=tuple(TELLERS) if kinds == "all" else tuple(kinds.split(",")),
                document_pages=document_pages,
                long=long,
            )
        with page_progress("Making pages", options.pages) as progress:
            manifest = make_stories(options, out, progress=progress)
        print(f"{out}: {options.pages} pages, hash {manifest.hash[:16]}")
        for document, reason in manifest.settings.get("replaced", {}).items():
            print(f"{document} was {reason}")
        fresh.finish(out)

    make.__doc__ = summary
    make_app.command(maker)(make)


_story_maker("typst", "Make pages with Typst, in nine languages.")
_story_maker("html", "Make web pages and print them with Chromium; the HTML is kept beside the PDFs.")
_story_maker("docx", "Make Word documents, set by LibreOffice; the DOCX is kept beside the PDFs.")


@make_app.command()
def latex(
    *,
    sources: Annotated[list[Path], typer.Option(help="LaTeX files, folders, or .tar.gz archives.")],
    out: OutOption,
    name: Annotated[str, typer.Option(help="Name of the corpus.")] = "latex",
    licence: Annotated[str, typer.Option(help="Licence of documents without a licence file.")] = "unknown",
    latexml: Annotated[bool, typer.Option(help="Ask LaTeXML for a second opinion on the tables.")] = False,
    workers: Annotated[int | None, typer.Option(help="Processes; all cores if not given.")] = None,
) -> None:
    """Make pages from real documents: unmodified LaTeX sources, tables located by TeX itself."""
    from parsemark.cli.page_progress import page_progress
    from parsemark.corpora.latex.documents.make import REPORT, make_documents
    from parsemark.corpora.latex.sources import locate

    with page_progress("Making documents", len(locate(sources))) as progress:
        manifest, report = make_documents(
            sources, out, name=name, licence=licence, latexml=latexml, workers=workers, progress=progress
        )
    used = [d for d in report.documents if d.problem is None]
    n_pages, n_tables = sum(d.pages for d in used), sum(d.tables for d in used)
    print(f"{out}: {len(used)} documents, {n_pages} pages, {n_tables} tables, hash {manifest.hash[:16]}")
    for document in report.failed:
        print(f"left out {document.document}: {document.problem}")
    n_notes = sum(len(d.notes) + len(d.disagreements) for d in report.documents)
    if n_notes:
        print(f"{out / REPORT}: {n_notes} notes")


@app.command()
def info(
    corpus: CorpusArgument,
    full: Annotated[
        bool, typer.Option(help="List all values of an attribute, not the first twelve.")
    ] = False,
    strict: Strict = False,
) -> None:
    """Print what a corpus consists of."""
    from rich.console import Console
    from rich.table import Table

    from parsemark.cli import running
    from parsemark.corpora.info import corpus_info

    found = corpus_info(running.load(corpus, strict=strict))
    table = Table(title=f"{found.name} (version {found.version}, {found.licence})", show_header=False)
    for label, value in (
        ("Documents", found.documents),
        ("Pages", found.pages),
        ("Positive pages", found.positive_pages),
        ("Tables", found.tables),
        ("Cells", found.cells),
        ("Pages without truth", found.without_truth),
        ("Left out", len(found.left_out)),
    ):
        table.add_row(label, str(value))
    for label, counts in (
        ("Languages", found.languages),
        ("Producers", found.producers),
        ("Elements", found.categories),
        *((f"Page: {key}", counts) for key, counts in sorted(found.page_attributes.items())),
        *((f"Table: {key}", counts) for key, counts in sorted(found.table_attributes.items())),
    ):
        more = f", and {len(counts) - 12} more" if len(counts) > 12 and not full else ""
        shown = counts.most_common(None if full else 12)
        table.add_row(label, ", ".join(f"{key} {n}" for key, n in shown) + more)
    Console().print(table)


@app.command("list")
def list_pages(corpus: CorpusArgument, strict: Strict = False) -> None:
    """List the pages of a corpus: id, document, page, and what is known about it."""
    from parsemark.cli import running

    loaded = running.load(corpus, strict=strict)
    rows = [(s.id, s.document, str(s.page_number), _truth_status(s)) for s in loaded.samples()]
    widths = [max(len(row[column]) for row in rows) for column in range(3)] if rows else [0, 0, 0]
    for identifier, document, page, status in rows:
        print(f"{identifier:<{widths[0]}}  {document:<{widths[1]}}  {page:>{widths[2]}}  {status}")
    n_known = sum(row[3] != NO_TRUTH for row in rows)
    print(f"{len(rows)} pages, {n_known} with truth")


@app.command("pages")
def write_pages(
    corpus: CorpusArgument,
    out: Annotated[Path, typer.Option("--out", help="Folder for pictures, words and the list of images.")],
    dpi: Annotated[int, typer.Option(min=36, max=300, help="Of the pictures; VGT takes 72.")] = 72,
) -> None:
    """Write what a detector that runs elsewhere needs: pictures, words with boxes, a list of images.

    Its answer, a COCO file, is read by the parser `tatr(detect=file)` (see docs/parsers.md).
    """
    from parsemark.cli import running
    from parsemark.corpora.detector_input import write_detector_input

    print(f"{write_detector_input(running.load(corpus).samples(), out, dpi)} pages in {out}")


NO_TRUTH = "no truth"


def _truth_status(sample: Sample) -> str:
    if sample.truth is None:
        return NO_TRUTH
    n_tables, n_others = len(sample.truth.tables), len(sample.truth.elements) - len(sample.truth.tables)
    tables = "no tables" if n_tables == 0 else f"{n_tables} table{'s' if n_tables > 1 else ''}"
    return f"{tables}, {n_others} other elements" if n_others else tables


@app.command()
def show(
    corpus: CorpusArgument,
    page: Annotated[str, typer.Argument(help="Id of the page.")],
    out: Annotated[Path | None, typer.Option("--out", help="The PNG; PAGE.png if not given.")] = None,
    dpi: Annotated[int, typer.Option(min=20, max=600)] = 110,
) -> None:
    """Write a picture of a page with the boxes of its truth."""
    from parsemark.cli import running
    from parsemark.corpora.base import sample_of
    from parsemark.corpora.show import draw_truth

    target = out or Path(f"{page}.png")
    draw_truth(sample_of(running.load(corpus), page), dpi).save(target)
    print(target)


@app.command()
def harvest(
    sources: Annotated[list[Path], typer.Argument(help="LaTeX files, folders, or .tar.gz archives.")],
    out: Annotated[Path, typer.Option("--out", metavar="POOL", help="The pool, a file of JSON lines.")],
    licence: Annotated[str, typer.Option(help="Licence of sources without a licence file.")] = "unknown",
) -> None:
    """Collect tables from LaTeX sources into a pool; what does not compile alone is listed."""
    from parsemark.cli.page_progress import page_progress
    from parsemark.corpora.latex.harvest import harvest as harvest_tables
    from parsemark.corpora.latex.harvest import rejected_path
    from parsemark.corpora.latex.sources import locate

    with page_progress("Harvesting documents", len(locate(sources))) as progress:
        result = harvest_tables(sources, out, licence=licence, progress=progress)
    print(f"{out}: {len(result.entries)} tables from {result.documents} documents")
    for origin, problem in result.problems.items():
        print(f"could not read {origin}: {problem}")
    for entry in result.skipped:
        print(f"passed over {entry}")
    if result.rejected:
        print(f"{rejected_path(out)}: {len(result.rejected)} tables were left out")
        for reason, count in result.reasons().most_common():
            print(f"  {count} {reason}")


@app.command()
def check(
    corpus: CorpusArgument,
    limit: Annotated[int, typer.Option(min=0, help="How many disagreements to list; 0 is all.")] = 20,
    strict: Strict = False,
) -> None:
    """Verify hashes and boxes, and measure how faithful the truth is to the PDFs.

    What was left out of the corpus, and what looks wrong in it, is said first and counted in the end.
    """
    from parsemark.cli import running
    from parsemark.cli.page_progress import page_progress
    from parsemark.corpora.check import check_corpus

    found = running.load(corpus, strict=strict)
    with page_progress("Checking pages", len(found)) as progress:
        report = check_corpus(found, progress)
    for line in report.problems:
        print(f"PROBLEM {line}")
    for line in report.disagreements[: limit or None]:
        print(line)
    if 0 < limit < len(report.disagreements):
        print(f"and {len(report.disagreements) - limit} more; --limit 0 lists all")
    for cause, count in report.causes.most_common():
        print(f"{count:6d}  {cause}")
    for line in report.summary():
        print(line)
    if found.remarks:
        print(f"remarks: {len(found.remarks)}, of them {len(found.left_out)} left out")
    if not report.is_faithful:
        raise typer.Exit(1)


@app.command()
def audit(
    corpus: CorpusArgument,
    *,
    run: Annotated[Path, typer.Option("--run", help="A run of several parsers on it.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for `audit.html` (with pictures) and corrections.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many cells to list.")] = 20,
    strict: Strict = False,
) -> None:
    """Find errors of the truth: cells where independent parsers agree against it, worst first."""
    from parsemark.choose.audit import audit_run
    from parsemark.cli import running
    from parsemark.cli.page_progress import page_progress
    from parsemark.report.audit_page import write_audit
    from parsemark.store import Run

    loaded = running.load(corpus, strict=strict)
    with page_progress("Auditing pages", len(loaded)) as progress:
        found = audit_run(loaded, Run.open(run), progress)
    for s in found.suspicions[:limit]:
        where = f"{s.sample} {s.element} row {s.row} column {s.col}"
        print(f"{s.strength:.2f}  {where}: {s.truth!r} → {s.consensus!r}")
        print(f"      {', '.join(s.against)} against {', '.join(s.for_truth) or 'none'}")
    print(f"{len(found.suspicions)} of {found.n_cells} cells on {found.n_pages} pages are worth a look")
    if out is not None:
        for path in write_audit(loaded, found, out):
            print(path)
        if found.suspicions:
            print("Delete from corrections.json what you do not accept, then apply it to a copy:")
            print(f"  {shlex.join(_correct_command(corpus, out))}")


def _correct_command(corpus: str, audit_folder: Path) -> list[str]:
    file = str(audit_folder / "corrections.json")
    return ["parsemark", "corpus", "correct", corpus, "--corrections", file, "--out", "CORRECTED"]


@app.command()
def correct(
    corpus: CorpusArgument,
    *,
    corrections: Annotated[
        Path,
        typer.Option("--corrections", help="The file that `corpus audit --out` wrote, as you edited it."),
    ],
    out: OutOption,
) -> None:
    """Write a copy with corrected cells; what you deleted from the file stays as it is."""
    from parsemark.cli import running
    from parsemark.cli.page_progress import page_progress
    from parsemark.corpora.correct import correct_corpus

    loaded = running.load(corpus)
    with page_progress("Copying pages", len(loaded)) as progress:
        found = correct_corpus(loaded, corrections, out, progress)
    print(
        f"{out}: {found.n_cells} cells of {found.n_tables} tables corrected, hash {found.manifest.hash[:16]}"
    )
    if found.without_truth:
        print(f"{found.without_truth} pages without truth are not in the copy")


@app.command()
def degrade(
    corpus: CorpusArgument,
    *,
    out: OutOption,
    seed: Annotated[int, typer.Option(help="The same seed gives the same damages.")] = 0,
    dpi: Annotated[int, typer.Option(min=50, max=600, help="Resolution of the scans.")] = 150,
    skew: Annotated[float, typer.Option(help="Share of pages that are turned a little.")] = 0.7,
    blur: Annotated[float, typer.Option(help="Share of blurred pages.")] = 0.5,
    noise: Annotated[float, typer.Option(help="Share of noisy pages.")] = 0.5,
    jpeg: Annotated[float, typer.Option(help="Share of strongly compressed pages.")] = 0.8,
    watermark: Annotated[float, typer.Option(help="Share of pages with a watermark.")] = 0.2,
    background: Annotated[float, typer.Option(help="Share of pages on coloured paper.")] = 0.2,
    low_contrast: Annotated[float, typer.Option(help="Share of faded pages.")] = 0.2,
    bleed_through: Annotated[float, typer.Option(help="Share of pages whose back shines through.")] = 0.2,
    shadow: Annotated[float, typer.Option(help="Share of pages with a shadow at an edge.")] = 0.2,
    fold: Annotated[float, typer.Option(help="Share of pages with a crease.")] = 0.15,
    stamp: Annotated[float, typer.Option(help="Share of pages with a stamp.")] = 0.1,
    handwriting: Annotated[float, typer.Option(help="Share of pages with handwriting over the print.")] = 0.1,
    low_ink: Annotated[float, typer.Option(help="Share of pages printed with little ink.")] = 0.15,
    severity: Annotated[
        str | None,
        typer.Option(
            help="One strength for all damages, 1 to 5; random if not given. Several (1-5 or 1,3,5): each "
            "page at each of them, for a curve in the report."
        ),
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Processes; all cores if not given.")] = None,
) -> None:
    """Write a copy whose pages are bad scans; the boxes of the truth follow."""
    from parsemark.cli.page_progress import page_progress
    from parsemark.corpora import load_corpus
    from parsemark.corpora.degrade import DegradeOptions, read_severities
    from parsemark.corpora.degrade_corpus import degrade_corpus

    severities = read_severities(severity) if severity is not None else ()
    options = DegradeOptions(
        seed=seed,
        dpi=dpi,
        skew=skew,
        blur=blur,
        noise=noise,
        jpeg=jpeg,
        watermark=watermark,
        background=background,
        low_contrast=low_contrast,
        bleed_through=bleed_through,
        shadow=shadow,
        fold=fold,
        stamp=stamp,
        handwriting=handwriting,
        low_ink=low_ink,
        severity=severities[0] if len(severities) == 1 else None,
    )
    several = severities if len(severities) > 1 else ()
    count = len(load_corpus(corpus))
    with page_progress("Degrading pages", count) as progress:
        manifest = degrade_corpus(
            corpus, out, options, severities=several, workers=workers, progress=progress
        )
    print(f"{out}: {count * max(1, len(several))} pages, hash {manifest.hash[:16]}")


@app.command()
def schema(
    out: Annotated[Path, typer.Option("--out", help="Folder for the JSON schemas.")],
) -> None:
    """Write the JSON schemas of the corpus format."""
    import json

    from parsemark.corpora.schema import json_schemas

    make_folder(out)
    for name, content in json_schemas().items():
        write_text(out / name, json.dumps(content, indent=2) + "\n")
        print(out / name)


@app.command()
def sample(
    pdfs: Annotated[list[Path], typer.Argument(metavar="PDFS...", help="PDFs, or folders of them.")],
    *,
    pages: Annotated[int, typer.Option(min=1, help="How many pages to choose.")],
    out: Annotated[Path, typer.Option(help="Folder for the pages, their list, and a sheet per cluster.")],
    clusters: Annotated[
        int | None,
        typer.Option(min=1, help="How many kinds of pages.", show_default="by the number of pages"),
    ] = None,
) -> None:
    """Choose pages that stand for many: by what they look like, balanced over kinds and documents.

    The same PDFs give the same pages. `sheets/` has a picture per cluster, chosen pages framed.
    """
    from rich.console import Console

    from parsemark.corpora.sample_pages import sample_pages

    console = Console()
    with console.status("Looking at the pages") as status:
        found = sample_pages(
            pdfs,
            pages,
            out,
            clusters=clusters,
            progress=lambda done, total: status.update(f"Looking at the pages: {done} of {total} PDFs"),
        )
    for problem in found.unreadable:
        console.print(f"[yellow]![/] {problem}", highlight=False, soft_wrap=True)
    n_clusters = len({page.cluster for page in found.pages})
    console.print(
        f"{len(found.chosen)} of {len(found.pages)} pages chosen from {n_clusters} clusters: {out}",
        highlight=False,
    )


@app.command()
def crops(
    corpus: CorpusArgument,
    *,
    kind: Annotated[str, typer.Option(help="What to cut out: table, formula or text.")],
    out: OutOption,
) -> None:
    """Cut the tables, formulas or text blocks out of their pages, as a corpus for parsers of elements.

    The new corpus is in OmniDocBench's form, one page per crop: `omnidocbench:OUT/crops.json`.
    """
    from rich.console import Console

    from parsemark.cli.running import load
    from parsemark.corpora.crops import KINDS, write_crops
    from parsemark.errors import UsageError

    chosen = next((name for name in KINDS if name == kind), None)
    if chosen is None:
        raise UsageError(f"There is no kind {kind!r}; choose one of: {', '.join(KINDS)}.")
    console = Console()
    loaded = load(corpus)
    done = 0
    with console.status("Cutting out") as status:

        def progress() -> None:
            nonlocal done
            done += 1
            status.update(f"Cutting out: {done} of {len(loaded)} pages")

        found = write_crops(loaded, out, chosen, progress=progress)
    left = f", {found.n_left_out} left out (no box, too small, or no picture)" if found.n_left_out else ""
    console.print(f"{found.n_crops} crops{left}: omnidocbench:{found.file}", highlight=False, soft_wrap=True)


@app.command()
def lie(
    corpus: CorpusArgument,
    *,
    out: OutOption,
    kinds: Annotated[
        str, typer.Option(help="Which lies, in turn: shifted,ligatures,invisible,off_page,white,instruction.")
    ] = "shifted,ligatures,invisible,off_page,white,instruction",
) -> None:
    """Write a copy that looks the same, with text layers that say something else."""
    from parsemark.cli.page_progress import page_progress
    from parsemark.corpora import load_corpus
    from parsemark.corpora.lies import lie_corpus

    count = len(load_corpus(corpus))
    with page_progress("Changing text layers", count) as progress:
        wanted = [kind.strip() for kind in kinds.split(",") if kind.strip()]
        manifest = lie_corpus(corpus, out, kinds=wanted, progress=progress)
    print(f"{out}: {count} pages, hash {manifest.hash[:16]}")
