"""How commands begin: options that are handed on by their names alone arrive where their kind is wanted."""

import ast
import builtins
import collections.abc
import importlib
import inspect
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from types import NoneType
from typing import Any

import pytest
from tests.parsers.pages import write_page
from typer.testing import CliRunner

import parsemark.cli
from parsemark.cli import main
from parsemark.errors import UsageError

ROOT = Path(parsemark.cli.__file__).parent


def filled() -> Iterator[Any]:
    """The commands that call `fill(something, locals(), …)`, each with that call."""
    for path in sorted(ROOT.rglob("*.py")):
        module = ".".join(("parsemark.cli", *path.relative_to(ROOT).with_suffix("").parts))
        for command in ast.walk(ast.parse(path.read_text())):
            if isinstance(command, ast.FunctionDef) and command.name in vars(importlib.import_module(module)):
                for call in ast.walk(command):
                    if isinstance(call, ast.Call) and ast.unparse(call.func) in ("fill", "opt.fill"):
                        yield pytest.param(module, command, call, id=f"{module}.{command.name}")


def kinds(hint: object) -> set[type]:
    """The classes that a type may be of."""
    if typing.get_origin(hint) is typing.Annotated:
        return kinds(typing.get_args(hint)[0])
    if typing.get_origin(hint) is typing.Literal:
        return {type(value) for value in typing.get_args(hint)}
    if isinstance(hint, type) and typing.get_origin(hint) is None:
        return {hint}
    origin = typing.get_origin(hint)
    return {origin} if isinstance(origin, type) and origin.__module__ != "types" else set().union(
        *map(kinds, typing.get_args(hint))
    )  # fmt: skip


class Names(dict[str, Any]):
    """Names of types; one that is imported for type checkers alone is a type of its own."""

    def __missing__(self, name: str) -> type:
        return type(name, (), {})


def hints(of: Callable[..., Any]) -> dict[str, Any]:
    target: Any = of
    made = inspect.unwrap(target.__init__ if inspect.isclass(of) else target)
    known = vars(builtins) | vars(collections.abc) | {"Path": Path} | made.__globals__
    return typing.get_type_hints(made, localns=Names(known))


@pytest.mark.parametrize(("module", "command", "call"), list(filled()))
def test_an_option_is_of_the_kind_that_the_parameter_of_its_name_has(
    module: str, command: ast.FunctionDef, call: ast.Call
) -> None:
    names = dict(vars(importlib.import_module(module)))
    for line in ast.walk(command):
        if isinstance(line, ast.Import | ast.ImportFrom):
            exec(ast.unparse(line), names)
    target = eval(ast.unparse(call.args[0]), names)
    given = {k.arg for k in call.keywords}
    given |= {
        k.value
        for d in ast.walk(command)
        if isinstance(d, ast.Dict)
        for k in d.keys
        if isinstance(k, ast.Constant)
    }
    wanted, options = hints(target), hints(names[command.name])
    for name in (wanted.keys() & options.keys()) - given - {"return"}:
        fits = any(issubclass(a, b) for a in kinds(options[name]) - {NoneType} for b in kinds(wanted[name]))
        assert fits, f"--{name} is {options[name]}, but {target} wants {wanted[name]}"


def test_a_command_that_is_stopped_while_it_begins_says_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(words: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(main, "_app_for", stopped)
    with pytest.raises(SystemExit) as caught:
        main.run()
    assert caught.value.code == 130 and capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["report.pdf"], "parsemark try report.pdf"),
        (["report.pdf"], "parsemark check report.pdf OUTPUT"),
        (["pages"], "parsemark bench pages"),
        (["a run"], "parsemark report 'a run'"),
        (["bench", "--metric", "teds"], 'Write --protocol "tables(metrics=NAME)".'),
        (["gate", "x", "--against=y"], "Write --old."),
        (["score", "report.md", "report.pdf"], "parsemark check DOCUMENT.pdf report.md"),
        (["pairs", "report.md", "report.md", "--judge", "gpt-4o"], "openai(model=gpt-4o)"),
    ],
)
def test_a_first_guess_is_answered_with_the_command_that_is_meant(
    words: list[str], answer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_page(tmp_path / "report.pdf")
    (tmp_path / "report.md").write_text("| a |\n|---|\n| b |\n")
    (tmp_path / "pages").mkdir()
    (tmp_path / "a run").mkdir()
    (tmp_path / "a run" / "manifest.json").write_text("{}")
    refused = CliRunner().invoke(main.app, words)
    assert isinstance(refused.exception, UsageError) and answer in str(refused.exception)


def test_every_argument_of_a_usage_line_is_explained() -> None:
    shown = CliRunner().invoke(main.app, ["gate", "--help"]).output
    assert "{RUN} [OLD]" in shown and "OLD <path>  Older run, as with --old." in shown


def test_an_option_that_a_command_has_is_not_taken_for_another(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["choose", "--threshold"], ["bench", "--nonsense"], ["nonsense"]):
        refused = CliRunner().invoke(main.app, words)
        assert refused.exit_code == 2 and isinstance(refused.exception, SystemExit)
