"""`parsemark corpus make`, `sample`, `import` and `crops`: new corpora."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option
from typer.core import TyperCommand

from parsemark.cli import options as opt
from parsemark.cli import running
from parsemark.cli.printing import page_progress, plain_console, say, warning
from parsemark.errors import UsageError, require_known
from parsemark.plain_words import counted, listed, visible


class MakeCommand(TyperCommand):
    """The command with a list of makers in its help; `make MAKER --help` describes that one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Remember which maker is named: `--help` is answered before arguments are read."""
        ctx.meta["maker"] = next((word for word in args if not word.startswith("-")), "").partition("(")[0]
        return super().parse_args(ctx, args)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the makers, with the options of the named one."""
        from parsemark.corpora.making import list_makers

        makers = {maker.name: maker for maker in list_makers()}
        if (chosen := makers.get(ctx.meta["maker"])) is not None:
            with formatter.section(f"{chosen.name} ({chosen.distribution})"):
                formatter.write_text(f"{chosen.summary} {chosen.reads}".strip())
            if chosen.options:
                with formatter.section(f"Options in the spec, as in {chosen.name}(name=value,…)"):
                    formatter.write_dl(list(chosen.options))
            return
        rows: list[tuple[str, str]] = []
        with formatter.section("Makers"):
            for m in makers.values():
                brought = "" if m.distribution in m.summary else f" ({m.distribution})"
                rows.append((m.name, m.summary + brought))
            formatter.write_dl(rows)
        with formatter.section("Examples"):
            formatter.write_text("parsemark corpus make typst --pages 60 --out my-corpus")
            formatter.write_text("parsemark corpus make 'html(kinds=invoice+form)' --pages 40 --out forms")
            formatter.write_text("parsemark corpus make latex papers/*.tar.gz --out papers-corpus")
            formatter.write_text("parsemark corpus make 'degraded(severity=1-5)' --corpus demo --out scans")
            formatter.write_text("parsemark corpus make typst --help    (lists the options of typst)")


def make(
    maker: Annotated[str, Argument(help="Name of a maker, with options: `typst(languages=english+french)`.")],
    sources: Annotated[
        list[Path] | None,
        Argument(help="Files that the maker reads.", show_default=False),
    ] = None,
    *,
    out: opt.NewCorpus,
    pages: Annotated[int | None, Option(min=1, help="Number of pages.")] = None,
    seed: Annotated[int | None, Option(help="The same seed gives the same corpus.")] = None,
    corpus: Annotated[
        str | None, Option("--corpus", "-c", help="Corpus whose pages are copied with changes.")
    ] = None,
    workers: opt.Processes = None,
    commit: Annotated[
        Path | None,
        Option(
            help="Write a commitment to the pages, to publish before results, and its secret "
            "(FILE.secret.json), to publish after them. Draws a seed if none is given."
        ),
    ] = None,
    reveal: Annotated[
        Path | None,
        Option(
            help="Make the pages of FILE.secret.json again and compare them with the commitment (FILE.json "
            "beside it). All options come from the secret."
        ),
    ] = None,
) -> None:
    """Make a corpus: synthetic pages, pages of LaTeX sources, or changed copies of another corpus."""
    from parsemark import make_corpus

    loaded = None if corpus is None else running.load(corpus)
    with page_progress("Making pages", None) as progress:
        made = opt.fill(make_corpus, locals(), sources=sources or (), corpus=loaded)
    reasons: dict[str, list[str]] = {}
    for remark in made.left_out:
        reasons.setdefault(remark.message, []).append(remark.where)
    messages = [f"{listed(ids)}: {why}" for why, ids in reasons.items()]
    running.say_remarks(messages, plain_console(stderr=True))
    print(f"{out}: {counted(made.n_pages, 'page')}, hash {made.manifest.hash[:16]}")
    for note in made.notes:
        print(visible(note))
    for difference in made.differences:
        print(visible(f"✗ {difference}"))
    if made.differences:
        raise typer.Exit(1)


def sample(
    pdfs: Annotated[list[Path], Argument(metavar="PDFS...", help="PDFs, or folders of them.")],
    *,
    pages: Annotated[int, Option(min=1, help="How many pages to choose.")],
    out: Annotated[Path, Option(help="Folder for the pages, their list, and a sheet per cluster.")],
    clusters: Annotated[
        int | None, Option(min=1, help="How many kinds of pages.", show_default="by the number of pages")
    ] = None,
    encoder: Annotated[
        str | None,
        Option(help="Compare pages by a network: `resnet50` (needs torchvision), or `MODULE:FUNCTION`."),
    ] = None,
) -> None:
    """Choose pages that stand for many: by what they look like, balanced over kinds and documents.

    The same PDFs give the same pages. `sheets/` has a picture per cluster, chosen pages framed.
    """
    from parsemark.corpora.sample_pages import sample_pages

    console = plain_console()
    with console.status("Looking at the pages") as status:

        def progress(done: int, total: int) -> None:
            status.update(f"Looking at the pages: {done} of {total} PDFs")

        found = opt.fill(sample_pages, locals(), n_pages=pages)
    for problem in found.unreadable:
        say(console, warning(problem))
    n_clusters = len({page.cluster for page in found.pages})
    console.print(
        f"{len(found.chosen)} of {counted(len(found.pages), 'page')} chosen from "
        f"{counted(n_clusters, 'cluster')}: {out}"
    )


def import_truth(
    folder: Annotated[Path, Argument(help="A folder of PDFs.", metavar="DIR", exists=True, file_okay=False)],
    *,
    out: Annotated[Path, Option("--out", help="Corpus folder to write; resumes an interrupted import.")],
    origin: Annotated[
        str,
        Option(
            "--from", help="Origin: `embedded` (all truth in the PDF), `tagged` (its tags) or `source-pairs`."
        ),
    ] = "embedded",
    workers: opt.Processes = None,
    executor: opt.Executor = "local",
    address: opt.Address = None,
) -> None:
    """Import the truth of the PDFs of a folder, from their tags or sources, into a corpus."""
    from parsemark.corpora.loaders.embedded import ORIGINS
    from parsemark.engine.import_corpus import import_corpus, left_out

    require_known("origin of truth", origin, ORIGINS)
    changes: Counter[str] = Counter()
    with page_progress("Reading documents", None) as progress:
        statistics = opt.fill(import_corpus, locals(), root=folder)
    states = ("new", "changed", "unchanged", "removed")
    print(f"{folder}: {', '.join(f'{changes[state]:,} {state}' for state in states)}")
    for group, counts in statistics.items():
        print(f"{group}: {', '.join(f'{name} {n:,}' for name, n in counts.items())}")
    for file, outcome, why in left_out(out):
        print(f"{file} ({outcome}): {why}")


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
