"""`parsemark stable`: does a parser say the same of the same visible page?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from parsemark import api
from parsemark.cli import options as opt
from parsemark.cli import running
from parsemark.cli.printing import page_progress, plain_console, plain_table
from parsemark.plain_words import counted, percent, rounded

if TYPE_CHECKING:
    from rich.table import Table

    from parsemark.api import Figure, Stability

_MOST_REASONS = 10


def stable(
    corpus: opt.CorpusArgument = api.CORPUS,
    *,
    corpus_too: opt.CorpusToo = None,
    parsers: opt.Parsers = None,
    variants: Annotated[
        list[str] | None,
        Option(
            "--variant",
            help="Variant of the pages; repeatable: `again` (the same file), `threads` (the same file, read "
            "with another number of threads), `objects`, `painting`, `streams`, `fonts`, `split`, `claim`, "
            "`printed` or `rotated` (explained in docs/reference/stable.md).",
            show_default="all ten",
        ),
    ] = None,
    pages: opt.Pages = None,
    protocols: opt.TableProtocols = None,
    workers: opt.Workers = None,
    out: Annotated[
        Path | None, Option("--out", "-o", help="Run directory.", show_default="runs/stable-CORPUS")
    ] = None,
) -> None:
    """Test whether a parser's output changes when a page is encoded differently but looks the same.

    Example: parsemark stable my-documents/ --parser pdfplumber --pages 10

    Each page is parsed in ten visually identical variants. The table shows how many scores change, and how
    many outputs differ in words or tables. OUT/stability.parquet has one row per page and variant.
    """
    console = plain_console()
    with running.stoppable(console) as events, page_progress("Rewriting pages", None) as progress:
        loaded = running.load(corpus_too or corpus)
        found, run = opt.fill(api.stable, locals(), corpus=loaded, variants=variants or ())
    for part in _stability_parts(found):
        console.print(part)
    console.print(f"\nAll numbers: {run.path / 'stability.json'}", soft_wrap=True)
    running.require_some_success(run, [own.parser for own in found.parsers], console)


def _stability_parts(found: Stability) -> Iterator[Table | str]:
    """Yield the tables of stable parsers, of variants that change scores, and of what was left out."""
    rows = []
    for own in found.parsers:
        worst = own.worst
        said = "" if worst is None else f"{worst.sample}, {worst.variant}"
        shares = (_share(own.moved), _share(own.changed), percent(own.failed.value))
        rows.append([own.parser, *shares, "" if worst is None else rounded(worst.move, 2), said])
    score = found.figure or "likeness"
    heads = ("parser", f"{score} changes", "output changes", "fails", "largest change", "page and variant")
    yield plain_table(heads, rows)
    names = list(dict.fromkeys(name for own in found.parsers for name in own.by_variant()))
    counts = [own.by_variant() for own in found.parsers]
    by_variant = [[name, *("/".join(map(str, own[name])) for own in counts)] for name in names]
    yield f"\nPages by variant: {score} changes / output changes / all"
    yield plain_table(("variant", *(own.parser for own in found.parsers)), by_variant)
    left_out = Counter((one.variant, one.why) for one in found.left_out)
    for (name, why), n in left_out.most_common(_MOST_REASONS):
        yield f"Left out: variant {name} on {counted(n, 'page')}: {why}."


def repeat_parts(found: Stability) -> Iterator[Table | str]:
    """Yield how far parses of the same pages differ: whose outputs change, and by how much its score."""
    rows = []
    for own in found.parsers:
        if own.scores:
            scores = rounded(min(own.scores), 3), rounded(max(own.scores), 3), rounded(own.spread, 4)
            rows.append([own.parser, str(len(own.scores)), _share(own.changed), _share(own.moved), *scores])
    if rows:
        heads = ("parser", "parses", "output changes", "score changes", "lowest", "highest", "SD")
        yield f"\n{found.figure} over several parses of the same pages:"
        yield plain_table(heads, rows)


def _share(figure: Figure) -> str:
    between = "–".join(percent(end).removesuffix(" %") for end in figure.interval or ())
    return f"{percent(figure.value)} [{between}]" if between else percent(figure.value)
