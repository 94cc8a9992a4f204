"""Templates, assets and the frame that all pages share, and how much a report holds."""

from __future__ import annotations

import base64
import io
import re
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from parsemark.errors import WriteError
from parsemark.plain_words import FILTERS, format_value, visible, visible_value
from parsemark.protocols.run_scores.notes import names_another_leader
from parsemark.report.chunks import cut
from parsemark.report.colours import stylesheet
from parsemark.report.names import viewer_link
from parsemark.report.source import Older, RunSource
from parsemark.system import make_folder, remove_tree
from parsemark.system.files import locked_folder
from parsemark.system.scratch import ScratchFolder
from parsemark.verdicts.error_types import Errors, find_errors

if TYPE_CHECKING:
    from PIL import Image

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'"
)
"""Nothing from elsewhere, nothing inline: a parser's output cannot run even if it got into a page."""
CHART_SCRIPTS = (
    "js/download.js",
    *(f"js/charts/{name}.js" for name in ("scales", "marks", "legend", "tools", "chart")),
)
STYLESHEETS = [f"css/{name}.css" for name in ("base", "table", "chart", "viewer", "document", "parsers")]


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Limits that keep the report of a large run small and quick to make."""

    max_images: int = 2_000  # runs with more pages get no page images; boxes are then drawn on an empty page
    max_raw_outputs: int = 20_000  # runs with more page × parser pairs get none; the run directory keeps them
    max_explanations: int = 2_000  # matched tables explained by metrics that explain themselves, worst first
    image_dpi: int = 110
    against: Path | None = None  # an older run to compare with
    also: tuple[Path, ...] = ()  # runs of the same parsers on other corpora, to choose on the leaderboard
    home: str | None = None  # the page that the report belongs to, where it is one of many: a relative link


@dataclass(frozen=True, slots=True)
class Link:
    """An entry of the navigation."""

    key: str
    href: str
    label: str


@dataclass(frozen=True, slots=True)
class ReportPage:
    """A page of the report, declared as `PAGE` where it is written; `build.PAGES` lists them in order."""

    key: str  # name of its file, without its ending
    write: Callable[[Site], None]
    label: str = ""  # in the navigation; empty for pages that other pages link to
    under: str = ""  # the page in whose part of the report it stands; empty for entries of the navigation
    also: tuple[str, ...] = ()  # patterns of the names of more files that it writes
    is_there: Callable[[Site], bool] = lambda _: True  # whether this report has it

    def holds(self, name: str) -> bool:
        """Return whether a file is of this page."""
        return any(fnmatchcase(name, pattern) for pattern in (self.key, *self.also))


def with_code(sentence: str) -> Markup:
    """Return a sentence of ours in which what stands in backticks is code."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(visible(sentence)))))


def standalone_page(template: str, **values: Any) -> str:
    """Return a page that needs nothing else and loads nothing; all values are escaped."""
    environment = Environment(loader=PackageLoader("parsemark.report"), autoescape=True)
    environment.filters |= FILTERS | {"code": with_code}
    return environment.get_template(template).render(**values)


def data_uri(picture: Image.Image, kind: str, **how: Any) -> str:
    """Return a picture as an address that holds it, for pages that load nothing."""
    stream = io.BytesIO()
    picture.save(stream, format=kind, **how)
    return f"data:image/{kind};base64,{base64.b64encode(stream.getvalue()).decode()}"


@contextmanager
def new_site(out: Path, mark: str, command: str, old: Callable[[], Iterable[Path]]) -> Iterator[Path]:
    """A new folder in which a site is made before it is put into its place `out`, under a lock, with a file
    `mark` that says which command wrote it. `old` checks that the place may be changed, and says what in it
    is replaced. WriteError if the disk is full, or the folder cannot be written to.
    """
    old()
    try:
        make_folder(out.parent)
        with ScratchFolder(f".{out.name}-", out.parent) as scratch:
            made = make_folder(scratch, "site")
            yield made
            (made / mark).write_text(f"The pages here were written by {command}.\n", encoding="utf-8")
            out.mkdir(exist_ok=True)
            with locked_folder(out):
                for path in list(old()):
                    remove_tree(path)
                for path in sorted(made.iterdir(), key=lambda p: p.name != mark):
                    path.replace(out / path.name)
    except OSError as error:
        raise WriteError(out, error) from error


class SitePages(ABC):
    """A folder of pages that look alike: templates, stylesheets and scripts, and the frame around each."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.written: set[str] = set()
        self.templates = Environment(
            loader=PackageLoader("parsemark.report"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            finalize=visible_value,
        )
        self.templates.filters |= FILTERS | {"cut": cut, "value": format_value, "code": with_code}
        self.templates.globals["viewer_link"] = viewer_link
        self.templates.tests["other_leader"] = names_another_leader

    def page(self, name: str, *, scripts: tuple[str, ...] = (), **values: Any) -> None:
        """Render the template of a page, `NAME.html` unless `template` says otherwise, and write it."""
        template = self.templates.get_template(values.pop("template", f"{name}.html"))
        loaded = {"csp": CSP, "scripts": list(scripts), "stylesheets": STYLESHEETS}
        frame = {"navigation": self.navigation(), "current": self.entry_of(name), "run": self.footer()}
        frame |= {"part": self.part_of(name), "here": name}
        text = template.render(**loaded, **frame, **values)
        (self.root / f"{name}.html").write_text(text, encoding="utf-8", errors="replace")
        self.written.add(name)

    def write_assets(self) -> None:
        """Copy stylesheets and scripts; what an older parsemark left there goes."""
        target = self.root / "assets"
        shutil.rmtree(target, ignore_errors=True)
        with as_file(files("parsemark.report") / "assets") as folder:
            shutil.copytree(folder, target)
        (target / "css" / "parsers.css").write_text(stylesheet(), encoding="utf-8")

    @abstractmethod
    def navigation(self) -> list[Link]:
        """Return the pages that all pages link to."""

    def entry_of(self, name: str) -> str:
        """Return the entry of the navigation to which a page belongs."""
        return name

    def part_of(self, name: str) -> list[Link]:
        """Return the pages that share an entry of the navigation with a page."""
        return []

    def footer(self) -> dict[str, Any] | None:
        """Return the run that the pages are about, if it is one."""
        return None


class Site(SitePages):
    """The folder that a report is written to, and what its pages are made of."""

    def __init__(
        self, root: Path, sources: Sequence[RunSource], options: ReportOptions, pages: Sequence[ReportPage]
    ) -> None:
        super().__init__(root)
        self.sources = tuple(sources)  # one for each protocol of the run
        self.source = self.sources[0]
        self.options = options
        self.pages = [page for page in pages if page.is_there(self)]
        self.images: set[int] = set()  # the numbers of the pages that have a picture

    @cached_property
    def errors(self) -> list[Errors]:
        """Return the errors of each protocol."""
        return [find_errors(source, self.options.max_explanations) for source in self.sources]

    @cached_property
    def older(self) -> Older | None:
        """Return the older run that this one is compared with."""
        return Older.of(self.source, self.options.against) if self.options.against else None

    def write(self) -> None:
        """Write every page that this report has."""
        for page in self.pages:
            page.write(self)
        missing = [page.key for page in self.pages if page.label and page.key not in self.written]
        if missing:
            raise RuntimeError(f"The report links to pages that were not written: {', '.join(missing)}.")

    def entry_of(self, name: str) -> str:
        """Return the entry of the navigation under which a file stands; refuse undeclared pages."""
        page = next((page for page in self.pages if page.holds(name)), None)
        if page is None:
            raise RuntimeError(f"{name}.html is written and no page of the report declares it.")
        return page.under or page.key

    def navigation(self) -> list[Link]:
        """Return the parts of this report."""
        home = [Link("home", self.options.home, "All leaderboards")] if self.options.home else []
        return home + [_link_to(page) for page in self.pages if page.label and not page.under]

    def part_of(self, name: str) -> list[Link]:
        """Return the pages that share an entry of the navigation with a page."""
        entry = self.entry_of(name)
        return [_link_to(page) for page in self.pages if page.label and entry in (page.key, page.under)]

    @cached_property
    def page_viewer(self) -> RunSource | None:
        """Return the run under the first protocol that shows whole pages."""
        return next((source for source in self.sources if source.shown.pages is not None), None)

    @cached_property
    def profiled(self) -> list[RunSource]:
        """Return the run under each profile of the first protocol that has several of them."""
        having = [source for source in self.sources if source.shown.profile is not None]
        return [source for source in having if source.recipe.name == having[0].recipe.name]

    def title(self, source: RunSource) -> str:
        """Return a protocol in words; where several have the same ones, with what tells it apart."""
        words = source.recipe.title
        same = [s for s in self.sources if s.recipe.title == words]
        if len(same) < 2:
            return words
        profiles = {s.summary.protocol: s.shown.profile for s in same}
        own = profiles[source.summary.protocol]
        if own is not None and len({p and p.name for p in profiles.values()}) == len(same):
            return f"{words}, {own.name}"
        return f"{words}, {source.summary.protocol}"

    def footer(self) -> dict[str, Any]:
        """Return the run."""
        manifest = self.source.manifest
        return {
            "corpus": f"{manifest.corpus.name} {manifest.corpus.version}",
            "n_pages": self.source.summary.counts.get("pages", len(self.source.samples)),
            "n_parsers": len(self.source.parsers),
            "created": manifest.created[:10],
            "code_version": manifest.code_version,
        }


def _link_to(page: ReportPage) -> Link:
    return Link(page.key, f"{page.key}.html", page.label)
