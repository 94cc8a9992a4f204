"""Options shared by commands, and plain help texts. Defaults that the API shares are in `api.py`.

Help rendered with rich would take twice as long to start, and be harder to read in a pipe.
"""

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, TypeVar

from typer import Argument, Option
from typer.core import TyperCommand, TyperGroup

from parsemark.errors import UsageError

_WHOLE_SENTENCE = 200
EXAMPLE = "Example: "
ANYWHERE = "Options of every command (see parsemark --help): -q, -v, -y, --allow-local-builds, --config."


_MEANT = {
    "--metric": '--protocol "tables(metrics=NAME)"',
    "--metrics": '--protocol "tables(metrics=NAME)"',
    "--match": '--protocol "tables(match=content)"',
    "--rank-by": '--protocol "tables(rank_by=NAME)"',
    "--against": "--old",
    "--baseline": "--old",
    "--output": "--out",
    "--parsers": "--parser",
    "--protocols": "--protocol",
    "--timeout": "--timeout-s",
    "--jobs": "--workers",
    "--threshold": "--max-drop",
}
"""What people mean who write an option of other tools."""


class Command(TyperCommand):
    """A command whose help ends with the examples of its docstring, one unbroken line each.

    In a docstring, paragraphs that begin with `Example: ` are examples, and paragraphs whose lines begin with
    `- NAME: ` are lists.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Name the option that is probably meant by an unknown one."""
        names = {name for parameter in self.params for name in parameter.opts}
        for word in args[: args.index("--") if "--" in args else len(args)]:
            option = word.partition("=")[0]
            meant = _MEANT.get(option)
            if meant and option not in names and meant.partition(" ")[0] in names:
                raise UsageError(f"No such option: {option}. Write {meant}.")
        return super().parse_args(ctx, args)

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """Write the docstring without its examples."""
        formatter.write_paragraph()
        with formatter.indentation():
            for number, text in enumerate(_paragraphs(self)):
                if text.startswith(EXAMPLE):
                    continue
                if number:
                    formatter.write_paragraph()
                if text.startswith("- "):
                    items = (item.partition(": ") for item in text.removeprefix("- ").split("\n- "))
                    formatter.write_dl([(name, " ".join(what.split())) for name, _, what in items])
                else:
                    formatter.write_text(text)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, with a line about those of every command."""
        super().format_options(ctx, formatter)
        formatter.write_paragraph()
        formatter.write_text(ANYWHERE)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples."""
        examples = [text for text in _paragraphs(self) if text.startswith(EXAMPLE)]
        if examples:
            with formatter.section("Examples" if len(examples) > 1 else "Example"):
                for text in examples:
                    formatter.write(f"{'':>{formatter.current_indent}}{text.removeprefix(EXAMPLE)}\n")
        super().format_epilog(ctx, formatter)


def _paragraphs(command: TyperCommand) -> list[str]:
    return (command.help or "").split("\n\n")


class Commands(TyperGroup):
    """A group that lists its commands by panel, each with its whole first sentence, and gives examples."""

    example_of: Sequence[str] = ()  # commands whose example is shown; all if empty

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the first example of a few commands."""
        examples = []
        for name in self.example_of or self.list_commands(ctx):
            command = self.get_command(ctx, name)
            texts = _paragraphs(command) if isinstance(command, TyperCommand) else []
            examples += [text.removeprefix(EXAMPLE) for text in texts if text.startswith(EXAMPLE)][:1]
        if examples:
            with formatter.section("Examples"):
                for text in examples:
                    formatter.write(f"{'':>{formatter.current_indent}}{text}\n")
            formatter.write_paragraph()
        formatter.write_text("COMMAND --help shows the options and examples of a command.")

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is None:
                continue
            panel = getattr(command, "rich_help_panel", None)
            rows = panels.setdefault(panel if isinstance(panel, str) else "Commands", [])
            rows.append((name, command.get_short_help_str(_WHOLE_SENTENCE)))
        for title, rows in panels.items():
            with formatter.section(title):
                formatter.write_dl(rows, col_max=12)


Made = TypeVar("Made")


def fill(make: Callable[..., Made], given: Mapping[str, Any], **others: Any) -> Made:
    """Call `make` with those options of a command that are its parameters, and with `others`."""
    own = {name: given[name] for name in signature(make).parameters if name in given}
    return make(**{**own, **others})


CORPUS = (
    "Documents to use: a folder of PDFs, one PDF, `demo`, a folder that `parsemark corpus` wrote, or "
    "LOADER:PATH (`parsemark list corpora` names the loaders). If you give a run directory, its corpus is "
    "used. A folder of PDFs may contain truth files, with the correct content of pages."
)
Corpus = Annotated[str, Option("--corpus", "-c", help=CORPUS)]
CorpusArgument = Annotated[str, Argument(metavar="CORPUS", help=CORPUS)]
# Commands whose main argument is a corpus also accept it as `--corpus`, like the other commands.
CorpusToo = Annotated[str | None, Option("--corpus", "-c", hidden=True)]
Parsers = Annotated[
    list[str] | None,
    Option(
        "--parser",
        "-p",
        help="Parser to run; repeatable. Give a name, a name with options such as `camelot(flavor=stream)`, "
        "or the path of a script that runs your own parser (guide: docs/how-to/parsers.md).",
        show_default="eight that are fast to install and to run",
    ),
]
PAGES = (
    "Pages to use: `7` (the first 7), `7-7` (the 7th), `5-9` (the 5th to 9th), or page ids. Ids may contain "
    "the wildcard `*`. Separate several with commas."
)
Pages = Annotated[str | None, Option(help=PAGES)]
Workers = Annotated[int | None, Option(min=1, help="Number of parallel workers.", show_default="one per CPU")]
TimeoutS = Annotated[float, Option("--timeout-s", min=0.1, help="Time limit per page, in seconds.")]
MemoryMb = Annotated[
    int, Option("--memory-mb", min=64, help="Memory limit per worker and its children, in MB.")
]
MaxCost = Annotated[float | None, Option("--max-cost", min=0, help="Stop paid parsers at this cost, in USD.")]
CpuHourUsd = Annotated[
    float | None,
    Option(
        "--cpu-hour-usd",
        min=0,
        help="Price of one CPU hour in USD, used to calculate the cost of a million pages.",
    ),
]
Out = Annotated[Path | None, Option("--out", "-o", help="Run directory.", show_default="runs/CORPUS")]
RunArgument = Annotated[
    Path,
    Argument(
        metavar="RUN",
        help="Run directory, or the name of its corpus: `demo` stands for runs/demo.",
        show_default=False,
    ),
]
Protocol = Annotated[
    str | None, Option("--protocol", help="Protocol whose scores are used.", show_default="the run's first")
]
Old = Annotated[Path | None, Option("--old", help="Older run to compare with.")]
# A second run may also stand behind the first one.
OldToo = Annotated[Path | None, Argument(metavar="OLD", help="Older run, as with --old.", show_default=False)]
Json = Annotated[
    bool, Option("--json", help="Print the result as JSON. `parsemark list schemas` lists the formats.")
]
Executor = Annotated[
    str,
    Option(help="Where to run: `local`, `ray`, or the address of a Ray cluster such as `ray:HOST:6379`."),
]
_PROTOCOLS = (
    "Protocol (set of scores and rules) to score with; repeatable. `parsemark list protocols` lists them. "
    "Options stand in brackets: `tables(match=content,metrics=teds+reader)`."
)
Protocols = Annotated[
    list[str] | None,
    Option(
        "--protocol",
        help=_PROTOCOLS,
        show_default="tables; also evidence, if no page has truth",
    ),
]
TableProtocols = Annotated[list[str] | None, Option("--protocol", help=_PROTOCOLS, show_default="tables")]
ScoreProtocols = Annotated[
    list[str] | None,
    Option(
        "--protocol",
        help=_PROTOCOLS,
        show_default="those of the run; for a new run: tables, and also evidence if no page has truth",
    ),
]
Cache = Annotated[bool, Option("--cache/--no-cache", help="Reuse outputs of earlier runs.")]
Overwrite = Annotated[bool, Option("--overwrite", help="Delete the run in OUT and start again.")]
Strict = Annotated[bool, Option("--strict", help="Fail if any part of the corpus is unreadable.")]


Browser = Annotated[bool, Option("--browser/--no-browser", help="Open the result in a browser.")]
NewCorpus = Annotated[Path, Option("--out", "-o", help="Folder of the new corpus.")]
Processes = Annotated[int | None, Option(help="Number of processes.", show_default="one per CPU")]
