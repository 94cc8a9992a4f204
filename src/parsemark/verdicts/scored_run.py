"""A run under one protocol, as errors, gates and reports read it."""

import warnings

import polars as pl

from parsemark.errors import (
    MissingDependencyError,
    MissingPluginError,
    PluginError,
    UnknownNameError,
    UsageError,
)
from parsemark.plain_words import unbroken
from parsemark.protocols import PageProtocol, Presentation, get_protocol
from parsemark.protocols.presentation import ScoredTables
from parsemark.store import Run, RunFolder


def readable_protocols(run: Run) -> tuple[list[str], dict[str, str]]:
    """Return the protocols of a run whose code is here, and why each other one cannot be used.

    Raises:
        UsageError: None can be used.
    """
    here: list[str] = []
    missing: dict[str, str] = {}
    for spec in run.protocols:
        try:
            get_protocol(spec)
            here.append(spec)
        except (MissingDependencyError, MissingPluginError, PluginError) as error:
            missing[spec] = str(error)
        except UnknownNameError:
            missing[spec] = "No installed package provides it."
    if missing and not here:
        reasons = " ".join(dict.fromkeys(missing.values()))
        again = f"parsemark score {run.path} --protocol NAME"
        only = f"{run.path} was scored only by {', '.join(missing)}."
        raise UsageError(f"{only} {reasons} Or score it with another protocol: {again}")
    return here, missing


def _presentation(recipe: PageProtocol) -> Presentation:
    """Return the presentation of a protocol, with a warning if another package's code fails to give it."""
    try:
        return recipe.presentation()
    except Exception as error:
        if type(recipe).__module__.startswith("parsemark."):
            raise
        message = unbroken(f"{type(error).__name__}: {error}")[:200]
        warnings.warn(f"{recipe.name}: its presentation could not be made ({message}).", stacklevel=2)
        return Presentation()


class ScoredRun(ScoredTables):
    """A run, read once, under one of its protocols."""

    def __init__(self, run: Run, protocol: str | None = None) -> None:
        self.run = run
        self.manifest = run.manifest
        self.protocol = protocol or next(iter(run.protocols), None)
        summary = run.summary(self.protocol)
        self.recipe: PageProtocol = get_protocol(summary.protocol)

        def scan(name: str) -> pl.LazyFrame:
            path = RunFolder.of(run).files.path_of(name, summary.protocol)
            return pl.scan_parquet(path) if path.exists() else run.table(name, self.protocol).lazy()

        super().__init__(summary, _presentation(self.recipe), scan)
