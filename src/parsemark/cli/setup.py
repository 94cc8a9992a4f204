"""`parsemark init` and `parsemark doctor`: the settings of a project in one file, and what is installed."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from parsemark import api
from parsemark.cli import options as opt
from parsemark.cli.printing import plain_console, plain_table
from parsemark.errors import ParserError, UsageError
from parsemark.extras import DISTRIBUTIONS, EXTRAS, is_installed
from parsemark.specs import own_plugins
from parsemark.system.files import write_text


def init(
    *,
    corpus: opt.Corpus = api.CORPUS,
    parser: opt.Parsers = None,
    protocol: opt.Protocols = None,
    out: Annotated[Path, Option("--out", "-o", help="The file.")] = Path("parsemark.toml"),
    overwrite: Annotated[bool, Option("--overwrite", help="Replace a file that is there.")] = False,
) -> None:
    """Write a commented parsemark.toml: corpus, parsers, protocols, limits of the gate.

    A name that nothing has is refused; a folder or a script that is not there yet is said.
    `bench`, `parse` and `gate` read the one of the folder in which they are called. Flags override it.
    """
    from parsemark.config import read_settings, settings_text
    from parsemark.corpora.base import find_loader
    from parsemark.parsers import DEFAULT_PARSERS, get_parser
    from parsemark.protocols import DEFAULT_PROTOCOLS, canonical_specs

    if out.exists() and not overwrite:
        raise UsageError(f"{out} is there already. Edit it, or replace it with --overwrite.")
    _, path = find_loader(corpus)
    absent = [] if path is None or path.exists() else [f"{path} does not exist yet."]
    for spec in parser or DEFAULT_PARSERS:
        try:
            get_parser(spec)
        except ParserError as error:  # a script that is yet to be written
            absent.append(str(error))
    stem = Path(corpus.rpartition(":")[2]).name or "run"
    text = settings_text(
        corpus=corpus,
        parsers=parser or DEFAULT_PARSERS,
        protocols=canonical_specs(protocol or DEFAULT_PROTOCOLS),
        name=stem,
    )
    write_text(out, text)
    read_settings(out)
    for remark in absent:
        typer.echo(remark, err=True)
    typer.echo(f"{out}: edit it, then run: parsemark bench")


@dataclass(frozen=True, slots=True)
class Installed:
    """One library or program: whether it is here, what it is for, how to get it."""

    name: str
    found: bool
    version: str
    enables: str
    install: str


_PROGRAMS = (
    ("pdflatex", "synthetic pages and LaTeX corpora (parsemark corpus make)", "make system"),
    ("pdftotext", "the parser pdftotext", "apt-get install poppler-utils"),
    ("tesseract", "parsers that read scanned pages with Tesseract", "apt-get install tesseract-ocr"),
    ("java", "the parser tabula", "apt-get install default-jre-headless"),
    ("chromium", "the browser tests of the report", "apt-get install chromium"),
)


def everything() -> Iterator[Installed]:
    """Yield the kernel, the optional libraries, the plug-in distributions and the optional programs."""
    import importlib.metadata

    from parsemark.kernels import is_native
    from parsemark.system.pdflatex import FONTS_EXTRA, has_tex_file

    how = "install a C++ compiler, then reinstall"
    yield Installed("C++ kernel", is_native(), "", "metrics at full speed", how)
    for extra in EXTRAS:
        absent = [module for module in extra.modules if not is_installed(module)]
        package = DISTRIBUTIONS.get(extra.modules[0], extra.modules[0])
        shown = ", ".join(DISTRIBUTIONS.get(module, module) for module in absent) or package
        version = "" if absent else importlib.metadata.version(package)
        yield Installed(f"[{extra.name}] {shown}", not absent, version, extra.enables, extra.install)
    for distribution, groups in own_plugins().items():
        names = (f"{group.partition('.')[2]} {', '.join(names)}" for group, names in sorted(groups.items()))
        try:
            version = importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            version = ""
        install = f"pip install {distribution}"
        yield Installed(distribution, bool(version), version, "; ".join(names), install)
    for name, enables, install in _PROGRAMS:
        yield Installed(name, shutil.which(name) is not None, "", enables, install)
    fonts = "the LaTeX documents that want fonts such as newtx, libertine and dsfont"
    yield Installed("texlive-fonts-extra", has_tex_file("dsfont.sty"), "", fonts, FONTS_EXTRA)


def doctor() -> None:
    """Show what is installed here, and what each missing thing would enable."""
    from rich.text import Text

    console, rows, missing = plain_console(), [], 0
    for item in everything():
        missing += not item.found
        mark = Text("✓", "green") if item.found else Text("–", "yellow")
        name = f"{item.name} {item.version}".strip()
        rows.append((mark, name, item.enables, "" if item.found else item.install))
    console.print(plain_table(("", "what", "enables", "how to get it"), rows, words=4))
    console.print(f"\n{missing} optional things are missing." if missing else "\nEverything is here.")
