"""`parsemark corpus`: make, import, check, describe, sample and export corpora."""

import typer

from parsemark.cli.corpus import check, describe, make
from parsemark.cli.options import Command, Commands

app = typer.Typer(
    name="corpus",
    cls=Commands,
    help="Make, import, check, describe, sample and export corpora.",
    no_args_is_help=True,
)
app.command("make", cls=make.MakeCommand, no_args_is_help=True)(make.make)
app.command("import", cls=Command)(make.import_truth)
app.command("check", cls=Command)(check.check)
app.command("info", cls=Command)(describe.info)
app.command("sample", cls=Command)(make.sample)
app.command("export", cls=Command)(describe.export)
