"""How tables degrade with the boxes of a structure model: jitter, loss and duplication, on the demo corpus.

GriTS of content against the table that perfect boxes give, averaged over all tables. A curve that falls
steadily is graceful; each is measured with and without the filling of gaps, which is a rule of ours.
"""

import random
from collections.abc import Callable, Iterator
from functools import cache

from bench._ideal_parts import ideal_parts
from parsemark import load_corpus
from parsemark.metrics import TableInput, get_metric
from parsemark.model import Box, Table
from parsemark.pdf import page_glyphs
from parsemark.structure import Frame, Part, PartKind, Rules, Word, build_table, join_glyphs

LEVELS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)
LINES = (PartKind.ROW, PartKind.COLUMN)
AIMS = {"jitter": (0.1, 0.95), "loss": (0.1, 0.85), "duplication": (0.5, 0.97)}
"""At this level the mean is to be at least this."""


@cache
def all_tables() -> list[tuple[Table, Frame, list[Word]]]:
    return list(tables())


def tables() -> Iterator[tuple[Table, Frame, list[Word]]]:
    for sample in load_corpus("demo").samples():
        if sample.truth is None or sample.pdf is None or not sample.truth.tables:
            continue
        words = list(join_glyphs(page_glyphs(sample.pdf, sample.page_number)))
        for element in sample.truth.tables:
            if element.table is not None and element.box is not None:
                turned = int(element.attributes.get("rotated") or 0) % 360
                yield element.table, Frame(element.box, turned), words


def jitter(parts: list[Part], level: float, dice: random.Random) -> list[Part]:
    """Move each edge of each box by a normal error, in units of the table's mean row height."""
    heights = [p.box.height for p in parts if p.kind is PartKind.ROW]
    error = level * sum(heights) / max(1, len(heights))
    moved = []
    for part in parts:
        x0, y0, x1, y1 = (v + dice.gauss(0, error) for v in part.box.as_tuple())
        moved.append(Part(part.kind, Box(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)), part.score))
    return moved


def lose(parts: list[Part], level: float, dice: random.Random) -> list[Part]:
    """Remove rows, columns and spans."""
    return [p for p in parts if p.kind is PartKind.TABLE or dice.random() >= level]


def duplicate(parts: list[Part], level: float, dice: random.Random) -> list[Part]:
    """Add rows and columns a second time, a little off and with less confidence."""
    again = [Part(p.kind, p.box, 0.6) for p in parts if p.kind in LINES and dice.random() < level]
    return parts + jitter(again, 0.15, dice)


def curve(
    damage: Callable[[list[Part], float, random.Random], list[Part]], level: float, rules: Rules
) -> float:
    metric = get_metric("grits_con")
    values = []
    for number, (truth, frame, words) in enumerate(all_tables()):
        parts = ideal_parts(truth, frame)
        whole = build_table(parts, words, frame)
        damaged = build_table(damage(parts, level, random.Random(number)), words, frame, rules)
        values.append(metric.score(TableInput(whole), TableInput(damaged)).value or 0.0)
    return sum(values) / len(values)


def main() -> bool:
    met = True
    print(f"{'damage':>12} {'gaps':>7} " + " ".join(f"{level:>6.0%}" for level in LEVELS))
    for name, damage in (("jitter", jitter), ("loss", lose), ("duplication", duplicate)):
        for rules in (Rules(), Rules(fill_gaps=False)) if damage is not duplicate else (Rules(),):
            values = [curve(damage, level, rules) for level in LEVELS]
            filled = "filled" if rules.fill_gaps else "left"
            print(f"{name:>12} {filled:>7} " + " ".join(f"{v:6.3f}" for v in values))
            if rules.fill_gaps:
                at, least = AIMS[name]
                met &= values[0] == 1.0 and values[LEVELS.index(at)] >= least
    return met
