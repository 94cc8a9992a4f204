"""The extras: which library comes with which, what each enables, and the error that names the missing one.

`pip install parsemark` gives metrics, formats and matching; everything that touches a PDF, a run or a report
comes with `parsemark[bench]`. pyproject.toml lists the packages; a test holds both lists together.
"""

import importlib.util
import sys
import tomllib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from parsemark.errors import MissingDependencyError


@dataclass(frozen=True, slots=True)
class InstallExtra:
    """What `pip install 'parsemark[name]'` adds."""

    name: str
    enables: str
    modules: tuple[str, ...]  # as they are imported; the first one tells whether the extra is installed

    @property
    def install(self) -> str:
        """Return the command that gets it."""
        return f"pip install 'parsemark[{self.name}]'"


@dataclass(frozen=True, slots=True)
class Installed:
    """One library or program: whether it is here, what it is for, how to get it."""

    name: str
    found: bool
    version: str
    enables: str
    install: str


EXTRAS = tuple(
    InstallExtra(name, extra["enables"], tuple(extra["modules"]))
    for name, extra in tomllib.loads(Path(__file__).with_name("extras.toml").read_text("utf-8")).items()
)
"""In the order in which `parsemark doctor` shows them."""

DISTRIBUTIONS = {
    "PIL": "pillow",
    "bs4": "beautifulsoup4",
    "docx": "python-docx",
    "fontTools": "fonttools",
    "genai_prices": "genai-prices",
    "sklearn": "scikit-learn",
}
"""Modules whose package has another name."""


def is_installed(module: str) -> bool:
    """Return whether a module could be imported, without importing it."""
    try:
        return importlib.util.find_spec(module) is not None
    except ValueError:  # it is in sys.modules and says nothing about itself
        return sys.modules.get(module) is not None


def require(extra: str, purpose: str, only: Collection[str] | None = None) -> None:
    """Refuse to go on without an extra, or these modules of it; the message begins with the purpose."""
    (wanted,) = (one for one in EXTRAS if one.name == extra)
    missing = [module for module in wanted.modules if only is None or module in only]
    missing = [module for module in missing if not is_installed(module)]
    if missing:
        names = ", ".join(DISTRIBUTIONS.get(module, module) for module in missing)
        raise MissingDependencyError(names, purpose, wanted.install)


@contextmanager
def needed_for(purpose: str, prefer: str | None = None) -> Iterator[None]:
    """Imports inside that fail for want of an extra say so: what needs which library, and how to get it. The
    message begins with the purpose, and names the extra `prefer` where several hold the library.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        module = (error.name or "").partition(".")[0]
        holding = [extra for extra in EXTRAS if module in extra.modules]
        if not holding:
            raise
        extra = next((extra for extra in holding if extra.name == prefer), holding[0])
        raise MissingDependencyError(DISTRIBUTIONS.get(module, module), purpose, extra.install) from error
