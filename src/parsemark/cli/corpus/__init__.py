"""`parsemark corpus`: make, describe, check and show corpora; a module per thing to do with them."""

import typer

from parsemark.cli.corpus import check, describe, make
from parsemark.cli.options import Commands

app = typer.Typer(
    name="corpus", cls=Commands, help="Make, describe, check and show corpora.", no_args_is_help=True
)
# In the order of `corpus --help`.
app.command("make", cls=make.MakeCommand, no_args_is_help=True)(make.make)
app.command("info")(describe.info)
app.command("list")(describe.list_pages)
app.command("pages")(describe.write_pages)
app.command("facts")(describe.facts)
app.command("show")(describe.show)
app.command("check")(check.check)
app.command("tags")(check.tags)
app.command("audit")(check.audit)
app.command("correct")(check.correct)
app.command("schema")(describe.schema)
app.command("sample")(make.sample)
app.command("import")(make.import_truth)
app.command("crops")(make.crops)
