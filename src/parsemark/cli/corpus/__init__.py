"""`parsemark corpus`: make, describe, check, show and degrade corpora; a module per thing to do with them."""

import typer

from parsemark.cli.corpus import change, check, describe, make
from parsemark.cli.options import Commands

app = typer.Typer(
    name="corpus", cls=Commands, help="Make, describe, check, show and degrade corpora.", no_args_is_help=True
)
app.add_typer(make.make_app)
# In the order of `corpus --help`.
app.command("reveal")(make.reveal)
app.command("info")(describe.info)
app.command("list")(describe.list_pages)
app.command("pages")(describe.write_pages)
app.command("facts")(describe.facts)
app.command("show")(describe.show)
app.command("check")(check.check)
app.command("tags")(check.tags)
app.command("audit")(check.audit)
app.command("correct")(check.correct)
app.command("degrade")(change.degrade)
app.command("schema")(describe.schema)
app.command("sample")(make.sample)
app.command("import")(make.import_truth)
app.command("crops")(change.crops)
app.command("mislead")(change.mislead)
app.command("lie", hidden=True, help="The older name of `parsemark corpus mislead`.")(change.mislead)
