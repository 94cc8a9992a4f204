"""`parsemark metrics`: the list of metrics."""

from __future__ import annotations

import dataclasses
from typing import Any, get_args, get_type_hints

import typer


def metrics() -> None:
    """List the metrics with range, direction, options, citation, and what each was checked against."""
    from parsemark.errors import PluginError
    from parsemark.metrics import METRICS, get_metric

    for name in METRICS:
        try:
            metric = get_metric(name)
        except PluginError as error:
            typer.echo(f"{typer.style(name, bold=True)}: broken\n    {error}\n")
            continue
        facts = metric.facts
        low, high = facts.range
        better = "higher" if facts.higher_is_better else "lower"
        typer.echo(f"{typer.style(metric.name, bold=True)}: {facts.title}")
        typer.echo(f"    {facts.kind}, {low:g} to {high:g}, {better} is better")
        for option in dataclasses.fields(metric):
            typer.echo(f"    option {option.name}: {_values(metric, option)}")
        typer.echo(f"    {facts.citation}")
        typer.echo(f"    checked against: {facts.reference}\n")


def _values(metric: Any, option: dataclasses.Field[Any]) -> str:
    """The values of an option, the default first."""
    hint = get_type_hints(type(metric))[option.name]
    values = [True, False] if hint is bool else list(get_args(hint)) or [option.default]
    values.sort(key=lambda value: value != option.default)
    names = [str(value).lower() if isinstance(value, bool) else str(value) for value in values]
    return " | ".join([f"{names[0]} (default)", *names[1:]])


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(metrics)
