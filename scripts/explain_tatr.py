"""Draws what each query of the detector of `tatr` looks at: `python scripts/explain_tatr.py page.pdf`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from parsemark.cli import options as opt
from parsemark.plain_words import counted

if TYPE_CHECKING:
    from PIL import Image

_WIDTH = 260
_COLUMNS = 5


def tatr(
    pdf: Annotated[Path, typer.Argument(help="A PDF file.")],
    page: Annotated[int, typer.Option(help="The page, counted from 1.")] = 1,
    out: Annotated[Path, typer.Option(help="The picture to write.")] = Path("queries.png"),
    timeout_s: opt.TrialTimeoutS = opt.TRIAL_TIMEOUT_S,
) -> None:
    """Draw the attention of each query of Table Transformer's detector (Soric et al., appendix A.3).

    One small page for each query: warm where the last decoder layer looks, with the query's box and its
    probability of a table.
    """
    import json

    from PIL import Image

    from parsemark.parsers import get_parser
    from parsemark.parsers.trial import try_parser
    from parsemark.pdf import render_page

    trial = try_parser(get_parser("tatr(attention=true)"), pdf, page, timeout_s=timeout_s)
    looks: list[dict[str, Any]] = json.loads(trial.answer.output or b"{}").get("attention") or []
    whole = render_page(pdf, page, 72)
    small = [_drawn(whole, look, number) for number, look in enumerate(looks)]
    rows = -(-len(small) // _COLUMNS)
    height = small[0].height if small else 0
    sheet = Image.new("RGB", (_COLUMNS * _WIDTH, rows * height), "white")
    for number, picture in enumerate(small):
        sheet.paste(picture, (number % _COLUMNS * _WIDTH, number // _COLUMNS * height))
    sheet.save(out, format="PNG")
    typer.echo(f"{counted(len(looks), 'query')} in {out}")


def _drawn(whole: Image.Image, look: dict[str, Any], number: int) -> Image.Image:
    """Return the page in a query's eyes."""
    import numpy as np
    from PIL import Image, ImageDraw

    scale = (_WIDTH - 10) / whole.width
    page = whole.resize((_WIDTH - 10, round(whole.height * scale)))
    heat = np.asarray(look["map"], dtype=np.float32)
    mask = Image.fromarray((np.clip(heat, 0, 1) * 190).astype(np.uint8)).resize(page.size)
    warm = Image.composite(Image.new("RGB", page.size, (230, 70, 20)), page, mask)
    pen = ImageDraw.Draw(warm)
    x0, y0, x1, y1 = (float(v) * scale for v in look["box"])
    sure = float(look["score"]) > 0.5
    corners = (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
    pen.rectangle(corners, outline=(20, 60, 200) if sure else (120, 120, 120), width=2 if sure else 1)
    framed = Image.new("RGB", (_WIDTH, page.height + 24), "white")
    framed.paste(warm, (5, 20))
    ImageDraw.Draw(framed).text((6, 4), f"query {number + 1}: table {look['score']:.2f}", fill="black")
    return framed


if __name__ == "__main__":
    typer.run(tatr)
