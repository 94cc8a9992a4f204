"""What commands share: options (the defaults of those that the API has too are in `api.py`), and plain help.

Help drawn with rich would start half as fast, and read worse in a pipe.
"""

from collections.abc import Callable, Mapping
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, TypeVar

from typer import Argument, Option
from typer.core import TyperGroup

_WHOLE_SENTENCE = 200


class Commands(TyperGroup):
    """A group that lists its commands with whole sentences instead of cutting them at the line's end."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands."""
        listed = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        rows = [(name, command.get_short_help_str(_WHOLE_SENTENCE)) for name, command in listed if command]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


Made = TypeVar("Made")


def fill(make: Callable[..., Made], given: Mapping[str, Any], **others: Any) -> Made:
    """Call something with the options of a command that are called like its parameters, and with `others`."""
    own = {name: given[name] for name in signature(make).parameters if name in given}
    return make(**{**own, **others})


Corpus = Annotated[
    str, Option("--corpus", "-c", help="`demo`, a corpus folder, or LOADER:PATH (`icdar2013:DIR`).")
]
Parsers = Annotated[
    list[str] | None,
    Option(
        "--parser",
        "-p",
        help="Repeatable; with settings: `camelot(flavor=stream)`; or a worker script of yours.",
        show_default="a fast set",
    ),
]
PAGES = "Subset: `7` (the first 7), `7-7` (the 7th alone), `5-9`, or ids with `*`, separated by commas."
Pages = Annotated[str | None, Option(help=PAGES)]
Workers = Annotated[int | None, Option(min=1, help="At a time.", show_default="one per CPU")]
TimeoutS = Annotated[float, Option("--timeout-s", min=0.1, help="Per page, in seconds.")]
TrialTimeoutS = Annotated[float, Option(min=0.1, help="Seconds that the page may take.")]
TRIAL_TIMEOUT_S = 300  # more than in a run: a parser may load its models on the first page
MemoryMb = Annotated[int, Option("--memory-mb", min=64, help="Per worker with its children, in MB.")]
MaxCost = Annotated[
    float | None, Option("--max-cost", min=0, help="In USD: parsers that are paid by the page stop.")
]
Out = Annotated[Path | None, Option("--out", "-o", help="Run directory.", show_default="runs/CORPUS")]
Executor = Annotated[str, Option(help="`local` or `ray`.")]
Address = Annotated[str | None, Option(help="Of a Ray cluster; `auto` for the one of this machine.")]
Protocols = Annotated[
    list[str] | None,
    Option(
        "--protocol",
        help="Repeatable: how outputs are scored; with settings: `tables(match=content)`.",
        show_default="tables, with evidence where there is no truth",
    ),
]
Match = Annotated[
    str | None,
    Option(
        "--match",
        help="How tables are matched: `bbox` (by place), `content` or `ngrams` (by text), or `auto`.",
        show_default="auto",
    ),
]
Metrics = Annotated[
    list[str] | None,
    Option(
        "--metric",
        "-m",
        help="Repeatable: what pairs are scored with, see `parsemark metrics`.",
        show_default="of the protocol",
    ),
]
RankBy = Annotated[
    str | None, Option("--rank-by", help="Metric that ranks the leaderboard.", show_default="of the protocol")
]
Cache = Annotated[
    bool, Option("--cache/--no-cache", help="Use parses of other runs; without, parse every page anew.")
]
Overwrite = Annotated[bool, Option("--overwrite", help="Remove the run that OUT holds and start anew.")]
Strict = Annotated[bool, Option("--strict", help="Refuse a corpus of which something cannot be read.")]
CorpusArgument = Annotated[str, Argument(metavar="CORPUS", help="A folder, `demo`, or `loader:PATH`.")]
NewCorpus = Annotated[Path, Option("--out", help="Folder of the new corpus.")]
Processes = Annotated[int | None, Option(help="Processes; all cores if not given.")]
