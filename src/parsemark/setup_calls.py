"""The commands for setting up as calls, with the same parameters: init, list, doctor and `parsers`."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from parsemark import api
from parsemark.errors import ParsemarkError, ParserError, UsageError, require_known
from parsemark.extras import DISTRIBUTIONS, EXTRAS, Installed, is_installed
from parsemark.specs import own_plugins

if TYPE_CHECKING:
    from parsemark.config import SettingsFile
    from parsemark.specs import Available as Available


@dataclass(frozen=True, slots=True)
class NewSettings:
    """A settings file that was written, and what it names that does not exist yet."""

    path: Path
    absent: Sequence[str]


def init(
    corpus: str = api.CORPUS,
    *,
    parsers: Sequence[str] | None = None,
    protocols: Sequence[str] | None = None,
    out: str | Path = "parsemark.toml",
    overwrite: bool = False,
) -> NewSettings:
    """Write a commented parsemark.toml, so that `bench` and `gate` need no options in this folder.

    Args:
        corpus: A corpus as commands take it.
        parsers: Specs of parsers; by default a fast set.
        protocols: Specs of protocols; by default `tables`, with `evidence` before it if no page has truth.
        out: File to write.
        overwrite: Replace an existing file.
    """
    from parsemark.config import read_settings, settings_text
    from parsemark.corpora.base import find_loader
    from parsemark.parsers import DEFAULT_PARSERS, get_parser
    from parsemark.protocols import DEFAULT_PROTOCOLS, canonical_specs
    from parsemark.system.files import write_text

    target = Path(out)
    if target.exists() and not overwrite:
        raise UsageError(f"{out} already exists. Edit it, or replace it with --overwrite.")
    _, path = find_loader(corpus)
    absent = [] if path is None or path.exists() else [f"{path} does not exist yet."]
    for spec in parsers or DEFAULT_PARSERS:
        try:
            get_parser(spec)
        except ParserError as error:  # a script that is yet to be written
            absent.append(str(error))
    if protocols is None and not absent and path is not None:
        protocols = api.default_protocols(api.open_corpus(corpus))
    text = settings_text(
        corpus=corpus,
        parsers=parsers or DEFAULT_PARSERS,
        protocols=canonical_specs(protocols or DEFAULT_PROTOCOLS),
        name=Path(corpus.rpartition(":")[2]).name or "run",
    )
    write_text(target, text)
    trust(target, read_settings(target))
    return NewSettings(target, absent)


def scripts_of(settings: SettingsFile) -> list[str]:
    """Return the parsers of a settings file that run code of its author: scripts, and commits to build."""
    return [spec for spec in settings.bench.parsers or () if ".py" in spec or "@git:" in spec]


def is_trusted(path: Path, settings: SettingsFile) -> bool:
    """Return whether this user has agreed to what the file runs; with other parsers it is another file."""
    return not scripts_of(settings) or _trust_mark(path, settings).is_file()


def trust(path: Path, settings: SettingsFile) -> None:
    """Remember that this user agrees to what the file runs."""
    from parsemark.system import make_folder, write_text

    mark = _trust_mark(path, settings)
    make_folder(mark.parent)
    write_text(mark, f"{path.resolve()}\n")


def _trust_mark(path: Path, settings: SettingsFile) -> Path:
    from parsemark.system import cache_folder

    named = "\0".join([str(path.resolve()), *scripts_of(settings)])
    return cache_folder("trusted") / hashlib.sha256(named.encode()).hexdigest()[:32]


def list_(kind: str | None = None, name: str | None = None) -> list[Available]:
    """List names to use in commands: metrics, protocols, corpora, parsers, makers, judges, JSON Schemas.

    Args:
        kind: One of these; by default a list of the kinds.
        name: Only this one.
    """
    from parsemark import available

    if kind is None:
        return available.kinds()
    entries = available.available(kind)
    if name is None:
        return entries
    require_known(kind, name, [entry.name for entry in entries])
    return [entry for entry in entries if entry.name == name]


_PROGRAMS = (
    ("pdflatex", "synthetic pages and LaTeX corpora (parsemark corpus make)", "make system"),
    ("pdftotext", "the parser pdftotext", "apt-get install poppler-utils"),
    ("tesseract", "parsers that read scanned pages with Tesseract", "apt-get install tesseract-ocr"),
    ("java", "the parser tabula", "apt-get install default-jre-headless"),
    ("chromium", "the browser tests of the report", "apt-get install chromium"),
)


def doctor() -> list[Installed]:
    """Return which libraries and programs are installed, and what each missing one would enable."""
    return list(_everything())


def _everything() -> Iterator[Installed]:
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


def parsers_list() -> list[Available]:
    """List the parsers with licence, what they return, what they need, and whether they can run here."""
    from parsemark.available import available

    return available("parsers")


def parsers_install(
    names: Sequence[str],
    *,
    lock: bool = False,
    accept_licence: bool = False,
    weights_from: str | Path | None = None,
    progress: Callable[[str, str], None] | None = None,
    received: Callable[[int, int], None] | None = None,
) -> list[str]:
    """Fetch the weights of parsers and build their environments now; return those that failed.

    Args:
        names: Parsers or worker scripts, or `all`.
        lock: Instead, write versions of packages and hashes of fetched weights to lock files beside each
            script.
        accept_licence: Accept licences that limit the use of weights.
        weights_from: Local folder of weights to use instead of downloads: `OWNER/NAME/…` or a cache of the
            Hugging Face Hub.
        progress: Called with a parser and what is done for it.
        received: Called with the number of bytes that have arrived, and with their total.
    """
    from parsemark.parsers import get_parser, parser_names
    from parsemark.parsers.trial import require_usable
    from parsemark.parsers.weights import ACCEPT, FETCH, FROM

    consent = {FETCH: "1"}
    if accept_licence:
        consent[ACCEPT] = "1"
    if weights_from is not None:
        consent[FROM] = str(Path(weights_from).expanduser().absolute())
    tell = progress or (lambda parser, what: None)
    selected = parser_names() if list(names) == ["all"] else list(names)
    with _variables(consent):
        if lock:
            _write_locks(selected, tell)
            return []
        chosen = [get_parser(name) for name in selected]
        failed = []
        for number, parser in enumerate(chosen, start=1):
            label = f"[{number}/{len(chosen)}] {parser.name}"
            try:
                require_usable(parser)
                parser.install(partial(tell, label), received)
                tell(label, "ready")
            except ParserError as error:
                failed.append(parser.name)
                tell(label, str(error))
        return failed


def absent_weights(names: Sequence[str]) -> dict[str, str]:
    """Return licence and size of the weights that consent alone would download, by parser."""
    from parsemark.parsers import get_parser

    by_parser = {}
    for name in names:
        try:
            parser = get_parser(name)
        except ParsemarkError:
            continue  # not the spec of one parser: the command that uses it says so
        if parser.weights is not None and parser.weights.to_fetch:
            by_parser[parser.name] = parser.weights.to_fetch
    return by_parser


def allow_downloads() -> None:
    """Let this process, and those that it starts, download weights, as `--yes` does."""
    from parsemark.parsers.weights import FETCH

    os.environ[FETCH] = "1"


@contextmanager
def _variables(values: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for one call only: consent to one download does not cover later ones."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _write_locks(names: Sequence[str], tell: Callable[[str, str], None]) -> None:
    from parsemark.parsers import get_parser
    from parsemark.parsers.catalogue import find_script
    from parsemark.parsers.declaration import read_declaration
    from parsemark.parsers.environment import write_lock
    from parsemark.parsers.weights import write_pins

    for name in names:
        script = find_script(name)
        path = write_lock(script, read_declaration(script))
        tell(name, f"locked in {path}" if path is not None else "nothing to lock: its list is complete")
        weights = get_parser(name).weights
        if weights is not None and (pins := write_pins(script, weights)):
            tell(name, f"weights pinned in {pins}")


def parsers_versions(name: str, *, pre: bool = False) -> tuple[str, ...]:
    """Return the releases of a parser that support this Python version, the oldest first.

    Args:
        name: A parser, or the path of a worker script.
        pre: Include pre-releases.
    """
    from parsemark.parsers import get_parser
    from parsemark.parsers.releases import own_package, releases

    return releases(own_package(get_parser(name)).name, pre=pre)
