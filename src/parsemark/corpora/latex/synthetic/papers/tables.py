"""Tables that belong to their paper: its methods, measures and units, with captions that speak of them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from parsemark.corpora.latex.synthetic.content import OwnTable
from parsemark.corpora.latex.synthetic.papers.writing import Writer
from parsemark.corpora.synthetic.draft import Draft, DraftRow, RowGroup, lay_out, one_level
from parsemark.corpora.synthetic.pieces import EMPTY, Piece, formula, plain, raised
from parsemark.corpora.synthetic.table_kinds import KINDS
from parsemark.corpora.synthetic.variations import varied


@dataclass(frozen=True)
class PaperTable:
    """A table that is ready to be set."""

    content: OwnTable
    caption: str
    notes: tuple[str, ...] = ()
    speaks: str = ""
    """A sentence about it for the text; `@T@` stands for its name there."""

    @property
    def estimated_width(self) -> float:
        """In characters: the widest cell of each column."""
        table, total = self.content.table, 0.0
        turned = {
            (c.row, c.col) for c in self.content.layout.cells.values() if any(r.turned for r in c.piece.runs)
        }
        for col in range(table.n_cols):
            texts = [
                c.text
                for c in table.cells
                if c.col == col and c.colspan == 1 and (c.row, c.col) not in turned
            ]
            total += max((len(t.replace("$", "").replace("\\", "")) for t in texts), default=1) + 2.2
        return total


def draw_table(writer: Writer, lines: dict[str, float], cite: Callable[[], str], room: float) -> PaperTable:
    """A table of the paper's field, at most about `room` characters wide."""
    rng = writer.rng
    for _ in range(6):
        make = rng.choices(list(_KINDS), weights=[w for _, w in _KINDS.values()])[0]
        table = _KINDS[make][0](writer, cite)
        if table.estimated_width <= room:
            break
    names, weights = zip(*sorted(lines.items()), strict=True)
    line = rng.choices(names, weights)[0]
    content = replace(table.content, line=line)
    if not content.layout.draft.row_groups and rng.random() < 0.16:
        content = replace(content, shade=rng.choice(["stripes", "stripes", "head", "total"]))
    return replace(table, content=content)


# ---- kinds


def _results(writer: Writer, cite: Callable[[], str]) -> PaperTable:
    """Rows against measures; the best bold, the second underlined, arrows in the header."""
    rng, words = writer.rng, writer.field_words
    measures = rng.sample(words["columns"], k=rng.randint(2, 4))
    groups = rng.sample(words["groups"], k=rng.choice([1, 1, 2, 3]))
    names = rng.sample(words["rows"], k=rng.randint(4, min(14, len(words["rows"]))))
    arrows, turned = rng.random() < 0.45, len(groups) == 1 and len(measures) > 3 and rng.random() < 0.35
    spread = rng.choice(["", "", "", "", "pm", "sub", "change"])
    columns = [measure for _ in groups for measure in measures]
    grid = [[_value(rng, column) for column in columns] for _ in names]
    if rng.random() < 0.5:  # ours is the best in most columns
        for col, column in enumerate(columns):
            if column[2] and rng.random() < 0.75:
                grid[-1][col] = (max if column[2] == "up" else min)(row[col] for row in grid)
        names[-1] = rng.choice(["Ours", f"{names[-1]} (ours)", "Proposed"])
    with_cites = rng.random() < 0.3
    body = []
    for name, values in zip(names, grid, strict=True):
        label = plain(name) + (
            plain(f" {cite()}") if with_cites and "urs" not in name and "Prop" not in name else EMPTY
        )
        pieces = [label]
        for col, value in enumerate(values):
            pieces.append(_ranked(rng, value, col, grid, columns[col], spread))
        body.append(DraftRow(tuple(pieces)))
    heads = [_measure_head(m, arrows) for m in columns]
    heads = [h.looking(turned=True) for h in heads] if turned else heads
    levels: tuple[tuple[RowGroup, ...], ...] = (tuple(RowGroup(h) for h in heads),)
    if len(groups) > 1:
        levels = (tuple(RowGroup(plain(g), len(measures)) for g in groups), *levels)
    stub = plain(rng.choice(["Method", "Model", "Approach", "System", "Variant", ""]))
    draft = Draft("results", (stub,), levels, tuple(body), ("l", *("c" * len(columns))))
    if rng.random() < 0.35:
        draft = _with_turned_labels(rng, varied(rng, draft, "english"))
    measured = _listed([str(m[0]) for m in measures])
    on = _listed(groups)
    best = names[-1]
    caption = rng.choice(
        [
            f"{measured} of the methods compared on {on}.",
            f"Comparison on {on}. We report {measured}; the best result of each column is in bold, the second best underlined.",
            f"{writer.phrase('head_result')}: {measured} for {len(names)} systems. Higher is better unless marked otherwise.",
            f"Results on {on} in terms of {measured}. Bold marks the best value. All entries are means of {rng.randint(3, 10)} runs.",
        ]
    )
    speaks = rng.choice(
        [
            f"@T@ compares {best} with {len(names) - 1} alternatives in terms of {measured}.",
            f"As @T@ shows, {best} compares well with the others in {measures[0][0]}.",
            f"The values of {measured} are listed in @T@.",
        ]
    )
    return _table(draft, caption, (), speaks)


def _matrix(writer: Writer, cite: Callable[[], str]) -> PaperTable:
    """Works against properties: ✓ and ✗, with citations."""
    rng, words = writer.rng, writer.field_words
    works = [cite() for _ in range(rng.randint(4, 9))]
    heads = [*words["parts"], *(str(c[0]) for c in words["columns"][:3])]
    heads = rng.sample(heads, k=rng.randint(3, min(6, len(heads))))
    crosses, turned = rng.random() < 0.7, rng.random() < 0.4
    body = []
    for work in [*works, "This work"]:
        share = 0.9 if work == "This work" else 0.45
        marks = [plain("✓") if rng.random() < share else plain("✗") if crosses else EMPTY for _ in heads]
        body.append(DraftRow((plain(work), *marks)))
    pieces = [plain(h).looking(turned=turned) for h in heads]
    draft = Draft(
        "matrix",
        (plain(rng.choice(["Reference", "Study", "Work"])),),
        one_level(pieces),
        tuple(body),
        ("l", *("c" * len(heads))),
    )
    caption = rng.choice(
        [
            f"Properties of earlier studies: {_listed(heads)}.",
            "Overview of related work. A check mark means that the aspect is covered.",
            f"How this work differs from earlier ones with respect to {_listed(heads[:3])}.",
        ]
    )
    return _table(
        draft,
        caption,
        (),
        rng.choice(
            ["@T@ gives an overview of earlier studies.", "Earlier studies differ in many respects (@T@)."]
        ),
    )


def _summary(writer: Writer, cite: Callable[[], str]) -> PaperTable:
    """Rows against measures with units, in the header, below it, or in a row of their own."""
    rng, words = writer.rng, writer.field_words
    measures = rng.sample(words["columns"], k=rng.randint(3, 6))
    names = rng.sample(words["rows"], k=rng.randint(4, min(16, len(words["rows"]))))
    body = [DraftRow((plain(n), *(plain(_shown(_value(rng, m), m)) for m in measures))) for n in names]
    style = rng.choice(["inline", "stacked", "row"])
    if style == "row":
        levels: tuple[tuple[RowGroup, ...], ...] = (
            tuple(RowGroup(plain(str(m[0]))) for m in measures),
            tuple(RowGroup(plain(f"({m[1]})" if m[1] else "–")) for m in measures),
        )
    else:
        gap = "\n" if style == "stacked" else " "
        levels = one_level([plain(f"{m[0]}{gap}({m[1]})" if m[1] else str(m[0])) for m in measures])
    draft = Draft(
        "summary",
        (plain(rng.choice(["Sample", "Case", "Item", "Type", ""])),),
        levels,
        tuple(body),
        ("l", *(rng.choice("rc") * len(measures))),
    )
    with_unit = [f"{m[0]} in {m[1]}" if m[1] else str(m[0]) for m in measures]
    unit = rng.choice(words["unit"])
    caption = rng.choice(
        [
            f"Summary of the {unit}: {_listed(with_unit)}.",
            f"Main characteristics of the {len(names)} {unit} used in this study. Columns give {_listed(with_unit)}.",
            f"Measured values of {_listed([str(m[0]) for m in measures])} for all {unit}.",
        ]
    )
    return _table(draft, caption, (), f"The {unit} are characterised in @T@.")


def _counts(writer: Writer, cite: Callable[[], str]) -> PaperTable:
    """Counts by group, with sums in the last row and, often, the last column."""
    rng, words = writer.rng, writer.field_words
    groups = rng.sample(words["groups"], k=rng.randint(2, min(5, len(words["groups"]))))
    names = rng.sample(words["rows"], k=rng.randint(3, 10))
    grid = [[rng.randint(3, 940) for _ in groups] for _ in names]
    total_column = rng.random() < 0.6
    heads = [plain(g) for g in groups] + ([plain("Total")] if total_column else [])

    def row(label: Piece, values: Sequence[int], kind: str = "data") -> DraftRow:
        shown = [*values, *([sum(values)] if total_column else [])]
        pieces = [plain(f"{v:,}") for v in shown]
        return DraftRow((label, *(p.bold() if kind == "total" else p for p in pieces)), kind)

    body = [row(plain(n), v) for n, v in zip(names, grid, strict=True)]
    body.append(row(plain("Total").bold(), [sum(c) for c in zip(*grid, strict=True)], "total"))
    draft = Draft("counts", (EMPTY,), one_level(heads), tuple(body), ("l", *("r" * len(heads))))
    unit = rng.choice(words["unit"])
    caption = rng.choice(
        [
            f"Number of {unit} by group.",
            f"Distribution of the {sum(map(sum, grid)):,} {unit} over {_listed(groups)}.",
        ]
    )
    return _table(draft, caption, (), f"How the {unit} are distributed is shown in @T@.")


def _regression(writer: Writer, cite: Callable[[], str]) -> PaperTable:
    """Estimates with stars, and their errors in parentheses in the row below."""
    rng, words = writer.rng, writer.field_words
    models = rng.randint(2, 5)
    names = rng.sample(words["rows"], k=rng.randint(3, 8))
    body = []
    for name in names:
        estimates, errors = [plain(name)], [EMPTY]
        for _ in range(models):
            if rng.random() < 0.18:
                estimates.append(EMPTY)
                errors.append(EMPTY)
                continue
            error = rng.uniform(0.01, 0.4)
            estimate = rng.gauss(0, 0.6)
            strength = abs(estimate) / error
            stars = "***" if strength > 3.3 else "**" if strength > 2.6 else "*" if strength > 2 else ""
            sign = "−" if estimate < 0 else ""
            estimates.append(plain(f"{sign}{abs(estimate):.3f}") + (raised(stars) if stars else EMPTY))
            errors.append(plain(f"({error:.3f})"))
        body += [DraftRow(tuple(estimates)), DraftRow(tuple(errors))]
    for part in rng.sample(words["parts"], k=min(2, len(words["parts"]))):
        body.append(
            DraftRow(
                (plain(part), *(plain(rng.choice(["Yes", "No"])) for _ in range(models))),
                "total" if part else "data",
            )
        )
    body.append(
        DraftRow((plain("Observations"), *(plain(f"{rng.randint(300, 48000):,}") for _ in range(models))))
    )
    body.append(DraftRow((plain("R²"), *(plain(f"{rng.uniform(0.04, 0.8):.2f}") for _ in range(models)))))
    draft = Draft(
        "regression",
        (EMPTY,),
        one_level([plain(f"({i + 1})") for i in range(models)]),
        tuple(body),
        ("l", *("c" * models)),
    )
    outcome = writer.rng.choice(words["quantity"])
    caption = rng.choice(
        [
            f"Regression results. The dependent variable is {outcome}.",
            f"Determinants of {outcome}: estimates of {models} models.",
        ]
    )
    note = rng.choice(
        [
            "Standard errors in parentheses. * p < 0.05, ** p < 0.01, *** p < 0.001.",
            "Robust standard errors in parentheses. *** p < 0.001, ** p < 0.01, * p < 0.05.",
        ]
    )
    return _table(draft, caption, (note,), f"Estimates for {outcome} are given in @T@.")


def _large(writer: Writer, cite: Callable[[], str]) -> PaperTable:
    """Many rows and columns of numbers."""
    rng, words = writer.rng, writer.field_words
    measures = [*words["columns"]][: rng.randint(7, 11)]
    count = rng.randint(18, 40)
    prefix = rng.choice(["S", "A", "No. ", "P-", "T"])
    body = []
    for index in range(count):
        values = [plain(_shown(_value(rng, m), m)) for m in measures]
        body.append(DraftRow((plain(f"{prefix}{index + 1}"), *values)))
    levels = one_level([plain(f"{m[0]} ({m[1]})" if m[1] and len(m[1]) < 4 else str(m[0])) for m in measures])
    draft = Draft("large", (plain("ID"),), levels, tuple(body), ("l", *("r" * len(measures))))
    unit = rng.choice(words["unit"])
    return _table(
        draft, f"Individual values of all {count} {unit}.", (), "Individual values are listed in @T@."
    )


def _known(writer: Writer, cite: Callable[[], str]) -> PaperTable:
    """A table of one of the kinds that all makers have."""
    rng = writer.rng
    kind = rng.choice(
        {
            "history": ["finance", "inventory"],
            "chemistry": ["chemistry"],
            "economics": ["finance", "statistics"],
        }.get(writer.field_name, ["statistics", "ablation"])
    )
    draft = varied(rng, KINDS[kind](rng, "english", rng.randint(3, 12), rng.randint(3, 6)), "english")
    notes = tuple(note.text for note in draft.notes)
    caption = f"{writer.phrase('head_result')}: {_listed([g.piece.text for g in draft.levels[-1] if re.match(r'[A-Za-z]{3}', g.piece.text)][:4]) or 'overview'}."
    return _table(draft, caption, notes, "Further figures are given in @T@.")


_KINDS: dict[str, tuple[Callable[[Writer, Callable[[], str]], PaperTable], float]] = {
    "results": (_results, 4),
    "matrix": (_matrix, 1),
    "summary": (_summary, 3),
    "counts": (_counts, 1.5),
    "regression": (_regression, 1.2),
    "large": (_large, 0.6),
    "known": (_known, 1.2),
}


# ---- values


def _table(draft: Draft, caption: str, notes: tuple[str, ...], speaks: str) -> PaperTable:
    return PaperTable(OwnTable(lay_out(draft), "booktabs"), caption, notes, speaks)


def _value(rng: random.Random, column: Sequence[Any]) -> float:
    low, high, decimals = column[3], column[4], column[5]
    return float(round(rng.uniform(low, high), decimals))


def _shown(value: float, column: Sequence[Any]) -> str:
    text = f"{abs(value):,.{column[5]}f}" if abs(value) >= 10_000 else f"{abs(value):.{column[5]}f}"
    return f"−{text}" if value < 0 else text


def _ranked(
    rng: random.Random, value: float, col: int, grid: list[list[float]], column: Sequence[Any], spread: str
) -> Piece:
    text = _shown(value, column)
    tail = EMPTY
    if spread and column[5] > 0:
        error = f"{rng.uniform(0.1, 2) * 10 ** (1 - column[5]):.{column[5]}f}"
        if spread == "change":
            up = rng.random() < 0.6
            is_good = up == (column[2] == "up")
            colour = "green!45!black" if is_good else "red!75!black"
            tail = plain(f" ({'+' if up else '−'}{error})").looking(colour=colour)
        else:
            tail = plain(f" ± {error}") if spread == "pm" else _lowered(f"±{error}")
    if not column[2]:
        return plain(text) + tail
    ordered = sorted({row[col] for row in grid}, reverse=column[2] == "up")
    if value == ordered[0]:
        return plain(text).bold() + tail
    return (
        plain(text).looking(underlined=True) if len(ordered) > 2 and value == ordered[1] else plain(text)
    ) + tail


def _with_turned_labels(rng: random.Random, draft: Draft) -> Draft:
    """Labels of groups of rows from bottom to top, where all groups are tall enough for them."""
    groups = draft.row_groups
    if not groups or rng.random() < 0.5 or any(count * 2 < len(piece.text) for piece, count in groups):
        return draft
    return replace(draft, row_groups=tuple((piece.looking(turned=True), count) for piece, count in groups))


def _lowered(text: str) -> Piece:
    return formula(f"_{{{text.replace('±', chr(92) + 'pm ')}}}")


def _measure_head(column: Sequence[Any], arrows: bool) -> Piece:
    arrow = {"up": " ↑", "down": " ↓", "": ""}[column[2]] if arrows else ""
    return plain(f"{column[0]}{arrow}")


def _listed(names: Sequence[str]) -> str:
    names = [n.replace("\n", " ") for n in names]
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
