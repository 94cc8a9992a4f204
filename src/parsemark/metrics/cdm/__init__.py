"""CDM: formulas compared by what is drawn of them. Its lists of commands are in `commands.toml`."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def cdm_table(name: str) -> dict[str, Any]:
    """Return a table of `commands.toml`."""
    data = tomllib.loads(files("parsemark.metrics.cdm").joinpath("commands.toml").read_text("utf-8"))
    return dict(data[name])


@cache
def listed(name: str) -> frozenset[str]:
    """Return a list of names without their backslash."""
    return frozenset(cdm_table("all")[name].split())
