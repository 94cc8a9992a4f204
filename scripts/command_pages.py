"""The reference page of all commands, written from their own help texts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any
from unittest import mock

import typer
from typer.testing import CliRunner

from parsemark.cli.main import app

PAGE = "reference/commands.md"


def commands_page() -> str:
    """Return the page: the help of each command, in the order of `parsemark --help`."""
    parts = ["# Commands", "Each command is also [a call in Python](api.md).", _help([])]
    for words in _commands(typer.main.get_command(app), []):
        parts += [f"## {' '.join(words)}", _help(words)]
    return "\n\n".join(parts) + "\n"


def _commands(group: Any, words: list[str]) -> Iterator[list[str]]:
    """Yield the words that call each command below a group."""
    for name in group.list_commands(None):
        below = group.commands[name]
        if hasattr(below, "list_commands"):
            yield from _commands(below, [*words, name])
        else:
            yield [*words, name]


def _help(words: list[str]) -> str:
    with mock.patch.dict(os.environ, {"COLUMNS": "80", "TERMINAL_WIDTH": "80"}):
        text = CliRunner().invoke(app, [*words, "--help"], prog_name="parsemark").output
    return f"```text\n{text.strip()}\n```"
