"""Every command is one call of the package, with the same parameters and the same defaults."""

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import parsemark
from parsemark.cli.main import app

TWINS = {
    "report": "build_report",  # `parsemark.report` is the package that renders
    "try": "try_",  # a word of Python
    "list": "list_",  # a type of Python
}
"""Commands whose call has another name than the command with `_` between its words."""
SERVED = {"annotate", "study rate"}
"""They serve web pages until they are stopped, so a call would never return."""
COMMAND_ONLY = {
    "as_json": "prints; in Python the result is an object, and `parsemark.schemas.as_json` writes it",
    "as_csv": "prints; in Python the rows are there",
    "browser": "opens a browser",
    "corpus_too": "another spelling of CORPUS",
    "old_too": "another spelling of --old",
    "bench report": "`build_report(run)` in Python",
    "bench cpu_hour_usd": "of the printed verdict; `api.verdict(run, cpu_hour_usd=…)` in Python",
    "score task": "another kind of result: `score_task` in Python",
    "choose annotate": "opens the browser app",
    "compare fail_below": "the exit code; `result.drops(-0.01)` in Python",
    "check maximum": "the exit code; `result.over(limits)` in Python",
    "check json": "prints; `result.to_json()` in Python",
    "check out": "where the pages about a folder go",
    "check html": "`parsemark.report.check_page` writes it",
    "check ocr": "a switch; `auto` or `off` in Python",
    "gate outs": "writes the printed result to files",
    "gate pictures": "draws the pages of `result.worse`",
    "gate link": "where printed links lead",
    "corpus info pages": "prints `load_corpus(spec).samples()`",
    "corpus info tags": "prints the structure tree of a PDF",
    "corpus info picture": "draws a page",
    "corpus info out": "the file of the drawn page",
    "corpus info croissant": "`corpus_calls.croissant(corpus)` in Python",
}
"""Parameters that only a command has, each with the reason."""
CALL_ONLY = {"events", "progress", "received", "tell"}
"""Parameters of calls that receive progress, which commands show."""


def commands() -> Iterator[tuple[str, Any]]:
    def walk(command: Any, path: list[str]) -> Iterator[tuple[str, Any]]:
        below = getattr(command, "commands", None)
        if below is None:
            yield " ".join(path), command
        for name, sub in (below or {}).items():
            yield from walk(sub, [*path, name])

    return walk(typer.main.get_command(app), [])


COMMANDS = dict(commands())


def plain(default: Any) -> Any:
    """A default without its type: a path is its text, and an empty list of a command is no list."""
    value = default() if callable(default) else default
    value = getattr(value, "value", value)
    return str(value) if isinstance(value, Path) else value or None


def call_of(command: str) -> Any:
    return getattr(parsemark, TWINS.get(command, command.replace(" ", "_")))


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - SERVED))
def test_a_command_has_a_call_with_its_parameters_and_defaults(name: str) -> None:
    call = call_of(name)
    parameters = dict(inspect.signature(call).parameters)
    own = {p.name: p for p in COMMANDS[name].params if p.name != "help"}
    excused = {p for p in own if p in COMMAND_ONLY or f"{name} {p}" in COMMAND_ONLY}
    assert own.keys() - excused == parameters.keys() - CALL_ONLY - excused
    for parameter in own.keys() - excused:
        default = parameters[parameter].default
        if own[parameter].required:
            assert default is inspect.Parameter.empty, parameter
        else:
            assert plain(own[parameter].default) == plain(default), parameter
    documented = inspect.getdoc(call) or ""
    many = len(parameters) > 3
    assert not [p for p in parameters if many and f"{p}:" not in documented], (
        "each has a line in the docstring"
    )


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_an_option_is_spelt_as_its_parameter(name: str) -> None:
    """One that may be given several times is singular as an option and plural as a parameter."""
    spelt_otherwise = {
        "minimum": "--min",
        "maximum": "--max",
        "as_csv": "--csv",
        "as_json": "--json",
    }
    spelt_otherwise |= {"origin": "--from", "corpora": "--corpus", "corpus_too": "--corpus"}
    for parameter in COMMANDS[name].params:
        if parameter.param_type_name != "option" or parameter.name == "help":
            continue
        spelling = spelt_otherwise.get(parameter.name, "--" + parameter.name.replace("_", "-"))
        singular = spelling.removesuffix("s") if parameter.multiple else spelling
        assert {spelling, singular} & set(parameter.opts), parameter.name


def test_the_lists_of_exceptions_name_what_there_is() -> None:
    there = {p.name for command in COMMANDS.values() for p in command.params}
    there |= {f"{name} {p.name}" for name, command in COMMANDS.items() for p in command.params}
    assert COMMAND_ONLY.keys() <= there
    assert TWINS.keys() | SERVED <= COMMANDS.keys()


def test_the_surface_stays_small() -> None:
    root: Any = typer.main.get_command(app)
    options = [
        p
        for command in [root, *COMMANDS.values()]
        for p in command.params
        if p.param_type_name == "option" and not p.hidden and p.name != "help"
    ]
    assert len(root.commands) <= 24 and len(COMMANDS) <= 45 and len(options) <= 220
