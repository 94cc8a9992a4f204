"""`parsemark corpus make` and `reveal` (of pages that nobody knows beforehand), `sample` and `import`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from typer import Argument, Option

from parsemark.cli import options as opt
from parsemark.cli.options import Commands
from parsemark.cli.printing import page_progress, plain_console, say, warning
from parsemark.errors import UsageError, require_known
from parsemark.plain_words import counted, visible

if TYPE_CHECKING:
    from parsemark.corpora.fresh import Secret
    from parsemark.corpora.synthetic.options import DocumentOptions, SyntheticOptions

make_app = typer.Typer(name="make", cls=Commands, help="Make a corpus.", no_args_is_help=True)

_Pages = Annotated[int | None, Option(min=1, help="How many pages.")]
_Seed = Annotated[int | None, Option(help="The same seed gives the same corpus.", show_default="0")]
OptionsT = TypeVar("OptionsT")
Commit = Annotated[
    Path | None,
    Option(
        help="Write a hash of seed, generator and pages here, to publish before, and FILE.secret.json, to "
        "publish after. Without --seed one is drawn."
    ),
]
Reveal = Annotated[
    Path | None,
    Option(
        help="Make the pages of FILE.secret.json again and show that they are those of the commitment "
        "(FILE.json beside it, or --commit). Takes the place of all other options."
    ),
]


@dataclass(frozen=True)
class Fresh:
    """What a maker was asked to commit to or to reveal."""

    commit: Path | None
    reveal: Path | None

    def __post_init__(self) -> None:
        """Refuse to lose the secret of an earlier commitment, before anything is made."""
        from parsemark.corpora.fresh import require_free

        if self.commit is not None and self.reveal is None:
            require_free(self.commit)

    def secret(self, renderer: str) -> Secret | None:
        """What was revealed of pages that were made with a renderer."""
        from parsemark.corpora.fresh import read_secret

        if self.reveal is None:
            return None
        secret = read_secret(self.reveal)
        made_with = secret.settings.get("renderer", secret.settings.get("maker", "latex"))
        if made_with != renderer:
            raise UsageError(f"{self.reveal} is of pages made with {made_with}, but this makes {renderer}.")
        return secret

    def seed(self, given: int | None) -> int:
        """The seed to use: as given, or drawn where pages are committed to, or 0."""
        from parsemark.corpora.fresh import draw_seed

        if given is not None:
            return given
        return draw_seed() if self.commit is not None else 0

    def options(self, secret: Secret, kind: Callable[..., OptionsT], generator: str) -> OptionsT:
        """The options of a maker as the secret has them."""
        if secret.generator != generator:
            raise UsageError(f"{self.reveal} is of {secret.generator!r}, but this makes {generator!r}.")
        settings = {k: tuple(v) if isinstance(v, list) else v for k, v in secret.settings.items()}
        settings.pop("replaced", None)
        try:
            return kind(**{**settings, "seed": secret.seed, "name": secret.name})
        except (TypeError, AttributeError) as error:
            raise UsageError(
                f"{self.reveal} has settings that this generator does not know: {error}"
            ) from error

    def finish(self, out: Path) -> None:
        """Write the commitment, or say whether the pages are those that were committed to."""
        from parsemark.corpora.fresh import commit, commitment_path

        if self.reveal is not None:
            show_reveal(out, self.reveal, self.commit or commitment_path(self.reveal))
        elif self.commit is not None:
            public, kept = commit(out, self.commit)
            print(f"{self.commit}: publish this now: {public.commitment}")
            print(f"{kept}: keep this secret, and publish it with the results")


def show_reveal(root: Path, secret: Path, commitment: Path) -> None:
    """Print whether the pages in a folder are those of a commitment; exit code 1 if not."""
    from parsemark.corpora.fresh import differences, read_secret, same_pdfs

    revealed = read_secret(secret)
    found = list(differences(root, revealed, commitment))
    for difference in found:
        print(visible(f"✗ {difference}"))
    if found:
        raise typer.Exit(1)
    pdfs = "PDFs too" if same_pdfs(root, revealed) else "their PDFs have other bytes: they were set anew"
    print(f"✓ {root}: the pages that were committed to in {commitment} ({pdfs})")


@make_app.command()
def synthetic(
    *,
    pages: _Pages = None,
    out: opt.NewCorpus,
    seed: _Seed = None,
    name: Annotated[str, Option(help="Name of the corpus, and start of its ids.")] = "synthetic",
    empty: Annotated[float, Option(help="Share of pages without tables.")] = 0.3,
    double_column: Annotated[float, Option(help="Share of documents with two columns.")] = 0.35,
    french: Annotated[float, Option(help="Share of documents in French.")] = 0.25,
    rotated: Annotated[float, Option(help="Share of table pages with a table turned by ±90°.")] = 0.1,
    long: Annotated[float, Option(help="Share of pages of tables that run over pages.")] = 0.08,
    document_pages: Annotated[int, Option(min=1, help="The most pages of one document.")] = 4,
    lines: Annotated[
        str, Option(help="Weights of the line styles.")
    ] = "full=0.25,booktabs=0.4,partial=0.2,none=0.15",
    tables_per_page: Annotated[
        float | None,
        Option(help="Mean number of tables on pages that have any.", show_default="one to three"),
    ] = None,
    workers: opt.Processes = None,
    commit: Commit = None,
    reveal: Reveal = None,
) -> None:
    """Make pages of our own, with exact truth for every element, table and cell."""
    from parsemark.corpora.synthetic.options import GENERATOR, SyntheticOptions, read_line_weights

    fresh = Fresh(commit, reveal)
    if (secret := fresh.secret("latex")) is not None:
        options = fresh.options(secret, SyntheticOptions, f"parsemark {GENERATOR}")
    else:
        settings = {"pages": _required(pages), "seed": fresh.seed(seed), "lines": read_line_weights(lines)}
        options = opt.fill(SyntheticOptions, locals(), **settings)
    _make(options, out, fresh, workers)


def _make(
    options: SyntheticOptions | DocumentOptions, out: Path, fresh: Fresh, workers: int | None = None
) -> None:
    """Make the pages, say what was made, and commit to them or reveal them."""
    from parsemark.corpora.synthetic.make import make_synthetic

    with page_progress("Making pages", options.pages) as progress:
        manifest = make_synthetic(options, out, workers=workers, progress=progress)
    print(f"{out}: {options.pages} pages, hash {manifest.hash[:16]}")
    for document, reason in manifest.settings.get("replaced", {}).items():
        print(f"{document} was {reason}")
    fresh.finish(out)


def _document_maker(renderer: str, summary: str) -> None:
    """A command of `corpus make` for one of the programs that set documents."""

    def make(
        *,
        pages: _Pages = None,
        out: opt.NewCorpus,
        seed: _Seed = None,
        name: Annotated[str, Option(help="Name of the corpus, and start of its ids.")] = renderer,
        languages: Annotated[
            str, Option(help="Languages, separated by commas; `all` for all of them.")
        ] = "all" if renderer == "typst" else "english,french",
        kinds: Annotated[
            str, Option(help="Kinds of documents: report, invoice, form, statement, laboratory.")
        ] = "all",
        document_pages: Annotated[float, Option(help="About how long reports are, in pages.")] = 1.5,
        long: Annotated[float, Option(help="Share of reports with a table over pages.")] = 0.1,
        commit: Commit = None,
        reveal: Reveal = None,
    ) -> None:
        from parsemark.corpora.synthetic.document_kinds import DOCUMENT_KINDS
        from parsemark.corpora.synthetic.language import LANGUAGES
        from parsemark.corpora.synthetic.options import GENERATOR, DocumentOptions

        fresh = Fresh(commit, reveal)
        if (secret := fresh.secret(renderer)) is not None:
            options = fresh.options(secret, DocumentOptions, f"parsemark {GENERATOR}")
        else:
            settings = {
                "languages": LANGUAGES if languages == "all" else tuple(languages.split(",")),
                "kinds": tuple(DOCUMENT_KINDS if kinds == "all" else kinds.split(",")),
                "seed": fresh.seed(seed),
            }
            pages = _required(pages)
            options = opt.fill(DocumentOptions, {**locals(), "renderer": renderer}, **settings)
        _make(options, out, fresh)

    make.__doc__ = summary
    make_app.command(renderer)(make)


_document_maker("typst", "Make pages with Typst, in nine languages.")
_document_maker("html", "Make web pages and print them with Chromium; the HTML is kept beside the PDFs.")
_document_maker("docx", "Make Word documents, set by LibreOffice; the DOCX is kept beside the PDFs.")


@make_app.command()
def latex(
    more: Annotated[list[Path] | None, Argument(help="More of them.", show_default=False)] = None,
    *,
    sources: Annotated[list[Path], Option(help="LaTeX files, folders, or .tar.gz and .zip archives.")],
    out: opt.NewCorpus,
    name: Annotated[str, Option(help="Name of the corpus.")] = "latex",
    licence: Annotated[str, Option(help="Licence of documents without a licence file.")] = "unknown",
    workers: opt.Processes = None,
) -> None:
    """Make pages from real documents: unmodified LaTeX sources, tables located by TeX itself."""
    from parsemark.corpora.latex.documents.make import REPORT, make_documents
    from parsemark.corpora.latex.sources import locate

    sources += more or []
    with page_progress("Making documents", len(locate(sources))) as progress:
        manifest, report = opt.fill(make_documents, locals())
    used = [d for d in report.documents if d.problem is None]
    n_pages, n_tables = sum(d.pages for d in used), sum(d.tables for d in used)
    print(
        f"{out}: {counted(len(used), 'document')}, {counted(n_pages, 'page')}, "
        f"{counted(n_tables, 'table')}, hash {manifest.hash[:16]}"
    )
    for document in report.failed:
        print(f"left out {document.document}: {document.problem}")
    unused = [d for d in report.documents if d.other_mains]
    if unused:
        count = counted(sum(len(d.other_mains) for d in unused), "other main file")
        of = ", ".join(f"{d.origin} is {d.main}" for d in unused[:3]) + (", …" if len(unused) > 3 else "")
        print(f"not used: {count}, for a folder is one document ({of}); name the files to have them all")
    n_notes = sum(len(d.notes) for d in report.documents)
    if n_notes:
        print(f"{out / REPORT}: {counted(n_notes, 'note')}")


@make_app.command()
def features(
    *,
    out: opt.NewCorpus,
    makers: Annotated[
        str, Option(help="Programs that set the pages, separated by commas.")
    ] = "docx,html,latex,typst",
    only: Annotated[str, Option(help="Names of features, separated by commas.", show_default="all")] = "",
    folder: Annotated[
        Path | None, Option(help="Your own files of features (NAME.toml), in place of ours.")
    ] = None,
) -> None:
    """Make pairs of pages, one with a feature and one without: strikethrough, footnotes, columns and more."""
    from parsemark.corpora.features.make import FEATURES, count_documents, make_features

    wanted = [[name.strip() for name in text.split(",") if name.strip()] for text in (makers, only)]
    chosen = wanted[0], wanted[1], folder or FEATURES
    with page_progress("Making documents", count_documents(*chosen)) as progress:
        manifest = make_features(out, *chosen, progress=progress)
    n = len(manifest.settings["features"])
    print(f"{out}: {counted(n, 'feature')}, hash {manifest.hash[:16]}")


def _required(pages: int | None) -> int:
    if pages is None:
        raise UsageError("Say how many pages: --pages N.")
    return pages


def reveal(
    corpus: Annotated[Path, Argument(help="Folder of the corpus that was used.")],
    secret: Annotated[Path, Argument(help="FILE.secret.json, which was kept until now.")],
    commitment: Annotated[
        Path | None, Argument(help="What was published before.", show_default="FILE.json beside it")
    ] = None,
) -> None:
    """Show that a corpus is the one that was committed to before. Exit code 1 if it is not."""
    from parsemark.corpora.fresh import commitment_path

    show_reveal(corpus, secret, commitment or commitment_path(secret))


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
