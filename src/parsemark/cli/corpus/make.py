"""`parsemark corpus make`, `sample` and `import`: new corpora."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from parsemark import api, corpus_calls
from parsemark.cli import options as opt
from parsemark.cli import running
from parsemark.cli.printing import page_progress, plain_console, say, warning
from parsemark.plain_words import counted, listed, visible


class MakeCommand(opt.Command):
    """The command with a list of makers in its help; `make MAKER --help` describes that one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Remember which maker is named: `--help` is answered before arguments are read."""
        ctx.meta["maker"] = next((word for word in args if not word.startswith("-")), "").partition("(")[0]
        return super().parse_args(ctx, args)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the makers, with the options of the named one."""
        makers = {maker.name: maker for maker in corpus_calls.makers()}
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
    out: opt.NewCorpus = Path(corpus_calls.NEW_CORPUS),
    pages: Annotated[int | None, Option(min=1, help="Number of pages.")] = None,
    seed: Annotated[int | None, Option(help="Random seed; the same seed gives the same corpus.")] = None,
    corpus: Annotated[str | None, Option("--corpus", "-c", help="Corpus to copy with changes.")] = None,
    workers: opt.Processes = None,
) -> None:
    """Make a corpus: synthetic pages, pages of LaTeX sources, or changed copies of another corpus."""
    loaded = None if corpus is None else running.load(corpus)
    with page_progress("Making pages", None) as progress:
        made = opt.fill(corpus_calls.corpus_make, locals(), sources=sources or (), corpus=loaded)
    reasons: dict[str, list[str]] = {}
    for remark in made.left_out:
        reasons.setdefault(remark.message, []).append(remark.where)
    messages = [f"{listed(ids)}: {why}" for why, ids in reasons.items()]
    running.say_remarks(messages, plain_console(stderr=True))
    print(f"{out}: {counted(made.n_pages, 'page')}, hash {made.manifest.hash[:16]}")
    for note in made.notes:
        print(visible(note))


def sample(
    pdfs: Annotated[list[Path], Argument(metavar="PDFS...", help="PDFs, or folders of them.")],
    *,
    pages: Annotated[int, Option(min=1, help="Number of pages to choose.")],
    out: Annotated[
        Path,
        Option("--out", "-o", help="Folder for the chosen pages, a list of them, and a picture per cluster."),
    ] = Path(corpus_calls.SAMPLE),
    clusters: Annotated[
        int | None, Option(min=1, help="Number of page types.", show_default="depends on the number of pages")
    ] = None,
    encoder: Annotated[
        str | None,
        Option(
            help="Neural network that compares pages: `resnet50` (needs torchvision) or `MODULE:FUNCTION`."
        ),
    ] = None,
) -> None:
    """Sample representative pages from many PDFs, balanced over page types and documents.

    The same PDFs give the same pages. `sheets/` has a picture per cluster, with the chosen pages framed.

    Example: parsemark corpus sample archive/ --pages 60 --out sample/
    """
    console = plain_console()
    with console.status("Looking at the pages") as status:

        def progress(done: int, total: int) -> None:
            status.update(f"Looking at the pages: {done} of {total} PDFs")

        found = opt.fill(corpus_calls.corpus_sample, locals())
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
    out: Annotated[
        Path | None,
        Option(
            "--out",
            "-o",
            help="Corpus folder to write; resumes an interrupted import.",
            show_default="DIR-corpus",
        ),
    ] = None,
    origin: Annotated[
        str,
        Option(
            "--from",
            help="Source of the truth: `embedded` (everything in the PDF), `tagged` (PDF tags) or "
            "`source-pairs` (source files beside the PDFs).",
        ),
    ] = "embedded",
    workers: opt.Processes = None,
    executor: opt.Executor = api.EXECUTOR,
) -> None:
    """Make a corpus whose truth comes from the PDFs, such as their tags, or from source files beside them.

    Example: parsemark corpus import my-pdfs/ --from tagged --out my-corpus
    """
    with page_progress("Reading documents", None) as progress:
        found = opt.fill(corpus_calls.corpus_import, locals())
    states = ("new", "changed", "unchanged", "removed")
    print(f"{found.folder}: {', '.join(f'{found.changes.get(state, 0):,} {state}' for state in states)}")
    for group, counts in found.statistics.items():
        print(f"{group}: {', '.join(f'{name} {n:,}' for name, n in counts.items())}")
    for file, outcome, why in found.left_out:
        print(f"{file} ({outcome}): {why}")
