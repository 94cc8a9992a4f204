"""The `parsemark` command: its commands, put together here."""

import contextlib
import copy
import errno
import io
import itertools
import os
import shlex
import shutil
import sys
import textwrap
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer import Option

from parsemark import __version__, api
from parsemark.cli import (
    bench,
    bundle,
    check,
    choose,
    compare,
    corpus,
    export,
    listing,
    pairs,
    parsers,
    printing,
    report,
    score,
    setup,
    stable,
    study,
    version_history,
    web_apps,
)
from parsemark.cli.options import Command, Commands
from parsemark.errors import ParsemarkError, UsageError
from parsemark.extras import needed_for
from parsemark.plain_words import visible

EVERYWHERE = frozenset(
    {"-q", "--quiet", "-v", "--verbose", "-y", "--yes", "--allow-local-builds", "--trust-config"}
)
"""Options of `parsemark` that may also stand behind the command."""


class Root(Commands):
    """All commands, in the order of `COMMANDS`."""

    example_of = ("try", "bench", "choose", "compare", "check", "gate", "annotate", "list")

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Move options that every command takes in front of it, up to a `--`."""
        end = args.index("--") if "--" in args else len(args)
        front: list[str] = []
        rest: list[str] = []
        words = iter(args[:end])
        for word in words:
            if word in EVERYWHERE or word.startswith("--config="):
                front.append(word)
            elif word == "--config":
                front += [word, *itertools.islice(words, 1)]
            else:
                rest.append(word)
        return super().parse_args(ctx, [*front, *rest, *args[end:]])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Answer a path in the place of a command with the commands that take it."""
        path = Path(args[0])
        if args[0] not in self.commands and path.exists():
            name = shlex.quote(args[0])
            uses = _USES["run" if _is_run(path) else "folder" if path.is_dir() else "file"]
            commands = "; or ".join(f"{why}: parsemark {use.format(name)}" for why, use in uses.items())
            raise UsageError(f"{path} is not a command. {commands}")
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names in the order of the help."""
        order = [name for commands in COMMANDS.values() for name in commands]
        return sorted(super().list_commands(ctx), key=order.index)


_USES = {
    "run": {"To write its report": "report {}", "to score it again": "score {}"},
    "folder": {
        "To run parsers on its documents": "bench {}",
        "to describe it as a corpus": "corpus info {}",
        "to make one page of the runs in it": "report {}",
    },
    "file": {
        "To run all installed parsers on it": "try {}",
        "to run parsers on it and score them": "bench {}",
        "to compare an output with it": "check {} OUTPUT",
    },
}
"""What people want who write a path for a command."""


def _is_run(path: Path) -> bool:
    return (path / api.MANIFEST).is_file()


app = typer.Typer(
    name="parsemark",
    cls=Root,
    help="The benchmark for PDF parsers: which one is better, by how much, with what uncertainty, and why.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"parsemark {__version__}")
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    config: Annotated[
        Path | None, Option(help="File with settings for `bench` and `gate`.", show_default="parsemark.toml")
    ] = None,
    trust_config: Annotated[
        bool,
        Option(
            "--trust-config", help="Allow the parsemark.toml in this folder to run the scripts that it lists."
        ),
    ] = False,
    quiet: Annotated[
        bool, Option("--quiet", "-q", help="Print only the main result, without progress, notes or tables.")
    ] = False,
    verbose: Annotated[
        bool,
        Option(
            "--verbose",
            "-v",
            help="Print more details: all notes, complete lists, scores by type of page or table, and "
            "tracebacks of errors.",
        ),
    ] = False,
    yes: Annotated[
        bool,
        Option("--yes", "-y", help="Download missing parser weights without asking."),
    ] = False,
    allow_local_builds: Annotated[
        bool,
        Option(
            "--allow-local-builds",
            help="Allow building parser packages from local folders or repositories, which runs their code.",
        ),
    ] = False,
    version: Annotated[
        bool, Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """The benchmark for PDF parsers: which one is better, by how much, with what uncertainty, and why."""
    if quiet and verbose:
        raise UsageError("Give --quiet or --verbose, not both.")
    printing.set_detail(verbose - quiet)
    consents = {"PARSEMARK_FETCH_WEIGHTS": yes, "PARSEMARK_ALLOW_LOCAL_BUILDS": allow_local_builds}
    for variable, is_given in consents.items():
        if is_given:
            os.environ[variable] = "1"  # also for the processes that we start
    path = config or Path("parsemark.toml")
    is_there = config is not None or path.is_symlink() or path.exists()
    if context.invoked_subcommand in ("bench", "gate") and is_there:
        from parsemark.cli.trust import require_trust
        from parsemark.config import defaults_of_commands, read_settings

        settings = read_settings(path)
        if config is None and context.invoked_subcommand != "gate":
            require_trust(path, settings, is_given=trust_config)
        context.default_map = defaults_of_commands(settings)
        if context.default_map.get(context.invoked_subcommand):
            typer.echo(f"Settings: {path}", err=True)


COMMANDS: dict[str, dict[str, Callable[..., None] | typer.Typer]] = {
    "Measure": {
        "try": bench.try_file,
        "bench": bench.bench,
        "score": score.score,
        "choose": choose.choose,
        "stable": stable.stable,
    },
    "Look": {
        "report": report.report,
        "compare": compare.compare,
        "export": export.export,
        "query": report.query,
    },
    "Guard": {
        "check": check.check,
        "gate": compare.gate,
        "history": version_history.history,
        "bisect": version_history.bisect,
        "bundle": bundle.bundle,
        "verify": bundle.verify,
        "site": bundle.site,
    },
    "Truth": {"annotate": web_apps.annotate, "corpus": corpus.app},
    "Parsers": {"parsers": parsers.parsers},
    "Research": {"pairs": pairs.pairs, "study": study.app},
    "Set-up": {"init": setup.init, "list": listing.list_names, "doctor": setup.doctor},
}
"""The commands in the order of the help, by panel."""

for panel, commands in COMMANDS.items():
    for name, command in commands.items():
        if isinstance(command, typer.Typer):
            app.add_typer(command, rich_help_panel=panel)
        else:
            app.command(name, cls=Command, rich_help_panel=panel)(command)


def run() -> None:
    """Entry point: a user's error is one line on stderr, so is a full disk; a bug is a traceback."""
    for name in ("stdout", "stderr"):
        if (stream := getattr(sys, name)) is not None and stream is getattr(sys, f"__{name}__"):
            raw = io.BufferedWriter(_Stream(stream.fileno(), "w", closefd=False))
            # A character that the terminal cannot show must not lose the result.
            own = {"encoding": stream.encoding, "errors": "replace", "line_buffering": stream.line_buffering}
            setattr(sys, name, io.TextIOWrapper(raw, **own))
    if os.environ.get("COLUMNS", "1").strip("0 ") == "":
        del os.environ["COLUMNS"]  # no width: what asks for it would print nothing
    warnings.formatwarning = lambda message, *_, **__: f"! {message}\n"  # without the line of our code
    try:
        with needed_for("This command"), _importing_nothing_of_this_folder():
            try:
                _app_for(sys.argv[1:2])()
            finally:
                sys.stdout.flush()
    except ParsemarkError as error:
        if printing.is_verbose():
            traceback.print_exc()
        _fail(str(error))
    except KeyboardInterrupt:  # before a command began; commands themselves say what is kept
        sys.exit(130)
    except OSError as error:
        if error.errno not in _OUTSIDE:
            raise
        place = f"{error.filename}: " if error.filename else ""
        _fail(f"{place}{error.strerror}. Finished work is kept; fix this and run the same command again.")


class _Stream(io.FileIO):
    """A standard stream. When its reader has closed it, as `head` does, what follows is lost and all goes on:
    the exit code says what a command found, not who has read of it.
    """

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            return len(data)
        except OSError:  # a full disk: what follows would fail again, at the latest at the end
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            raise


@contextlib.contextmanager
def _importing_nothing_of_this_folder() -> Iterator[None]:
    """Have our processes import what is installed: a `re.py` may lie beside somebody's documents."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        os.environ.pop("PYTHONSAFEPATH")
        if before is not None:
            os.environ["PYTHONSAFEPATH"] = before


def _app_for(words: Sequence[str]) -> typer.Typer:
    """Return the application, without the commands that were not asked for: to build them all takes a
    while.
    """
    named = [c for c in app.registered_commands if [c.name] == list(words)]
    if not named:
        return app
    short = copy.copy(app)
    short.registered_commands, short.registered_groups = named, []
    return short


def _fail(message: str) -> NoReturn:

    said = f"parsemark: {visible(message)}"
    if sys.stderr.isatty():  # paths and commands stay whole, to be copied
        width = shutil.get_terminal_size().columns
        said = textwrap.fill(said, width, break_long_words=False, break_on_hyphens=False)
    sys.stderr.write(f"{said}\n")
    sys.exit(2)


_OUTSIDE = frozenset(
    {
        *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO),
        *(errno.EMFILE, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG),
    }
)
"""What the machine refuses, and no bug of ours."""
