"""`parsemark.toml`: what a project measures, in one file, so that commands need no flags.

Pydantic at the border: an unknown key, a wrong type or a wrong limit is an error that names its place. Values
here take the place of defaults; a flag overrides them.
"""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from parsemark.errors import UsageError
from parsemark.plain_words import first_problem


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class BenchSettings(_Section):
    """What `parsemark bench` runs."""

    corpus: str | None = None
    parsers: list[str] | None = Field(default=None, min_length=1)
    protocols: list[str] | None = Field(default=None, min_length=1)
    pages: str | None = None
    out: str | None = None
    workers: int | None = Field(default=None, ge=1)
    timeout_s: float | None = Field(default=None, ge=0.1)
    memory_mb: int | None = Field(default=None, ge=64)
    max_cost: float | None = Field(default=None, ge=0)
    cache: bool | None = None
    strict: bool | None = None
    report: bool | None = None


class GateSettings(_Section):
    """What `parsemark gate` allows."""

    baseline: str | None = None
    min: dict[str, float] = Field(default_factory=dict)
    max_drop: float | None = Field(default=None, ge=0)
    interval: bool | None = None
    regressions: bool | None = None
    max_failures: int | None = Field(default=None, ge=0)
    max_slowdown: float | None = Field(default=None, ge=1)
    max_memory: float | None = Field(default=None, ge=1)
    max_lost_tables: int | None = Field(default=None, ge=0)
    max_page_drop: float | None = Field(default=None, ge=0)
    parsers: list[str] | None = Field(default=None, min_length=1)
    protocol: str | None = None


class SettingsFile(_Section):
    """The whole file."""

    bench: BenchSettings = BenchSettings()
    gate: GateSettings = GateSettings()


def read_settings(path: Path) -> SettingsFile:
    """Read a settings file; UsageError names the key that is not valid."""
    if not path.is_file():
        raise UsageError(f"{path} is not a file.")
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    try:
        return SettingsFile.model_validate(data)
    except ValidationError as error:
        raise UsageError(f"{path}, {first_problem(error)}. `parsemark init` shows every key.") from error


def defaults_of_commands(settings: SettingsFile) -> dict[str, dict[str, Any]]:
    """Return the settings as defaults of flags, by command and parameter."""
    bench = {k: v for k, v in settings.bench.model_dump().items() if v is not None}
    limits = {k: v for k, v in settings.gate.model_dump().items() if v is not None}
    baseline, least = limits.pop("baseline", None), limits.pop("min")
    gate: dict[str, Any] = dict(limits)
    if least:
        gate["minimum"] = [f"{name}={value}" for name, value in least.items()]
    if baseline is not None:
        gate["old"] = baseline
    return {"bench": bench, "gate": gate}


def settings_text(*, corpus: str, parsers: Sequence[str], protocols: Sequence[str], name: str) -> str:
    """Return a commented file with these values; every other key is there as a comment."""
    listed = ", ".join(_quoted(parser) for parser in parsers)
    recipes = ", ".join(_quoted(protocol) for protocol in protocols)
    template = Path(__file__).with_name("parsemark.toml.template").read_text(encoding="utf-8")
    out = _quoted(f"runs/{name}")
    return template.format(corpus=_quoted(corpus), parsers=listed, protocols=recipes, out=out)


def _quoted(text: str) -> str:
    """Return a TOML string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + '"'
