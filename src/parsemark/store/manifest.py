"""The manifest: what a run is made of, so that it can be repeated and compared."""

from __future__ import annotations

import contextlib
import json
import secrets
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError, field_validator

from parsemark.errors import StoreError, WriteError
from parsemark.plain_words import first_problem, is_control
from parsemark.specs import tool_of
from parsemark.system import cache_folder, write_bytes

SCHEMA_VERSION = 2  # raised whenever a reader of the former version would misread the run


class _StrictModel(BaseModel, extra="forbid"):
    """A part of the manifest; a key that it does not have is an error."""


class CorpusEntry(_StrictModel):
    """The corpus that was run."""

    name: str
    version: str
    hash: str
    spec: str
    n_samples: int
    issues: str | None = Field(default=None, pattern=r"^https://[^\s\"'<>]+$", max_length=500)
    """Address of the page where errors of the truth are reported."""


class ParserEntry(_StrictModel):
    """One parser as it ran."""

    name: str
    fingerprint: str
    worker: str | None = None  # hash of the script that ran; None for outputs that were made elsewhere
    spec: str | None = None  # of a script, its path with settings: how it is found again on this machine
    settings: dict[str, str | int | float | bool | None] = Field(default_factory=dict)
    versions: dict[str, str] = Field(default_factory=dict)
    weights: dict[str, str] = Field(default_factory=dict)
    licence: str | None = None
    gives: list[str] = Field(default_factory=list)
    confined: bool | None = None  # whether workers saw no truths, other pages or network; None: not known
    engine: str = ""  # what it stands on; parsers of one engine share one vote; older runs do not say it
    installed_mb: float | None = None  # of its environment; None where it was not there

    @field_validator("name")
    @classmethod
    def _can_be_shown(cls, name: str) -> str:
        if any(map(is_control, name)):  # it would speak to terminals and logs
            raise ValueError(f"{name[:60]!r} cannot be a parser's name: it has control characters")
        return name

    @property
    def confined_in_words(self) -> str:
        """Return whether it was confined: yes, no, or not known."""
        return {True: "yes", False: "no", None: "not known"}[self.confined]


class RunLimits(_StrictModel):
    """What one page may cost."""

    timeout_s: float
    memory_mb: int


class Manifest(_StrictModel):
    """What a run directory says about itself."""

    schema_version: int = SCHEMA_VERSION
    command: list[str]
    created: str
    code_version: str
    corpus: CorpusEntry
    parsers: list[ParserEntry] = Field(default_factory=list)
    protocols: list[str] = Field(default_factory=list)  # specs of the protocols by which it is scored
    parsing_anew: dict[str, float] = Field(default_factory=dict)
    """Parsers of which every page is being parsed anew (`--no-cache`), with the first record's sequence."""
    origin: str = ""  # mark of the machine that made it; only there is its corpus looked for at its path
    seed: int = 0
    limits: RunLimits | None = None
    machine: dict[str, str | int | float | None] = Field(default_factory=dict)

    def parser(self, name: str) -> ParserEntry | None:
        """Return the entry of one parser, if it took part."""
        return next((p for p in self.parsers if p.name == name), None)

    @property
    def parser_names(self) -> list[str]:
        """Return the parsers that took part, in their order."""
        return [entry.name for entry in self.parsers]

    @cached_property
    def engines(self) -> dict[str, str]:
        """Return the engine of each parser; its name where the run does not have it."""
        return {entry.name: entry.engine or tool_of(entry.name) for entry in self.parsers}

    def with_protocols(self, specs: Iterable[str]) -> Manifest:
        """Return a copy that has these protocols too."""
        return self.model_copy(update={"protocols": list(dict.fromkeys([*self.protocols, *specs]))})

    def with_parser(self, entry: ParserEntry) -> Manifest:
        """Return a copy in which `entry` is new or takes the place of the one with its name."""
        names = [p.name for p in self.parsers]
        parsers = [entry if p.name == entry.name else p for p in self.parsers]
        return self.model_copy(update={"parsers": parsers if entry.name in names else [*parsers, entry]})


def read_manifest(path: Path) -> Manifest:
    """Read `manifest.json`; raise StoreError if the folder holds no run, or a damaged or newer one."""
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        what = f"is not a run directory: it has no {path.name}" if path.parent.exists() else "does not exist"
        raise StoreError(f"{path.parent} {what}. Make a run with: parsemark bench --out DIR") from error
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error}") from error
    return parse_manifest(data, str(path))


class NewerError(StoreError):
    """What a newer parsemark wrote, and this one would misread."""


def parse_manifest(text: bytes, where: str) -> Manifest:
    """Read the bytes of a manifest, which lie at `where`; raise StoreError if they are none that we can
    read.
    """
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{where} cannot be read: {error}") from error
    version = data.get("schema_version") if isinstance(data, dict) else None
    if not isinstance(version, int):
        raise StoreError(f"{where} has no schema_version, so it is not a parsemark manifest.")
    if version > SCHEMA_VERSION:
        raise NewerError(
            f"{where} was written by a newer parsemark (schema {version}; this one reads up to "
            f"{SCHEMA_VERSION}). Upgrade with: pip install --upgrade parsemark"
        )
    if version == 1:  # one protocol, whose tables lay beside the others; scoring again makes them anew
        protocols = [data.pop("protocol")] if "protocol" in data else []
        data = {**data, "schema_version": SCHEMA_VERSION, "protocols": protocols}
    try:
        return Manifest.model_validate(data)
    except ValidationError as error:
        raise StoreError(f"{where} is not valid: {first_problem(error)}.") from error


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Write `manifest.json` whole or not at all."""
    write_bytes(path, (manifest.model_dump_json(indent=2) + "\n").encode())


def origin_mark() -> str:
    """Return the mark of runs made here: random, and stored where only this user's runs have access."""
    path = cache_folder("origin")
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        with contextlib.suppress(WriteError):
            write_bytes(path, secrets.token_hex(16).encode())
            return path.read_text(encoding="ascii").strip()
        return ""
