"""Worker scripts for tests, run by this interpreter instead of an environment of their own."""

import sys
import textwrap
from pathlib import Path

from parsemark.parsers import Parser, WorkerCommand, get_parser

HEADER = """\
# /// script
# requires-python = ">=3.11"
# dependencies = []
#
# [tool.parsemark]
# licence = "MIT"
# gives = ["cells"]
#
# [tool.parsemark.options.mode]
# default = "fast"
# choices = ["fast", "slow"]
#
# [tool.parsemark.options.scale]
# default = 1.0
# ///
"""

WORKING = """
from parsemark_worker import elements_output, serve, table

def parse(pdf, page, options):
    return elements_output([table([["page", str(page)], ["mode", options["mode"]]], box=(1, 2, 3, 4))])

serve(parse)
"""


def write_worker(folder: Path, body: str = WORKING, name: str = "mine.py", fact: str = "") -> Path:
    """A worker's script; a fact is one more line of its `[tool.parsemark]`."""
    script = folder / name
    licence = '# licence = "MIT"\n'
    header = HEADER.replace(licence, f"{licence}# {fact}\n") if fact else HEADER
    script.write_text(header + textwrap.dedent(body))
    return script


def here(parser: Parser) -> WorkerCommand:
    """The parser's command with this interpreter in place of its environment's."""
    command = parser.command()
    return WorkerCommand((sys.executable, *command.argv[1:]), command.env, command.cwd)


def command_for(folder: Path, body: str = WORKING) -> WorkerCommand:
    return here(get_parser(str(write_worker(folder, body))))
