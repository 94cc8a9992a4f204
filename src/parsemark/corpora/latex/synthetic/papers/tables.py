"""Tables of a paper, drawn from the quantities of its subject, and the facts that its text takes from them.

An exhibit draws its values once, so that tables, captions and sentences agree. Better methods are better by and
large, what is left out costs something, totals are sums, intervals follow from sizes and spreads.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from parsemark.corpora.latex.synthetic.content import OwnTable
from parsemark.corpora.latex.synthetic.papers.subject import common, with_formulas
from parsemark.corpora.synthetic.draft import Draft, DraftRow, RowGroup, lay_out, one_level
from parsemark.corpora.synthetic.pieces import EMPTY, Piece, formula, plain, raised

if TYPE_CHECKING:
    from parsemark.corpora.latex.synthetic.papers.writing import Writer

_Z = 1.96
"""Standard errors from the middle to the ends of a 95 % interval."""


@dataclass(frozen=True)
class PaperTable:
    """A table that is ready to be set."""

    content: OwnTable
    caption: str
    notes: tuple[str, ...] = ()

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


@dataclass(frozen=True)
class Measure:
    """Something that is measured: its values for the weakest and the strongest row."""

    name: str
    unit: str
    better: str
    """`up`, `down`, or nothing for what is neither good nor bad."""
    low: float
    high: float
    decimals: int

    @property
    def is_wide(self) -> bool:
        """Whether its values span orders of magnitude."""
        return min(self.low, self.high) > 0 and max(self.low, self.high) > 30 * min(self.low, self.high)

    def at(self, level: float) -> float:
        """The value at a level between 0 (weakest) and 1 (strongest), rounded as it is shown."""
        if self.is_wide:
            value = self.low * (self.high / self.low) ** level
        else:
            value = self.low + (self.high - self.low) * level
        least, most = min(self.low, self.high), max(self.low, self.high)
        if least >= 0:  # shares and counts stay what they are
            top = 99.7 if self.unit == "%" else 1 - 10.0**-self.decimals if most <= 1 else math.inf
            value = min(max(top, most), max(0.3 * least, value))
        return float(round(value, self.decimals))

    def shown(self, value: float) -> str:
        """As it is written."""
        return number(value, self.decimals)

    def head(self, gap: str = " ") -> str:
        """Name with unit."""
        gap = " " if "$" in self.name + self.unit or "⟦" in self.name else gap  # formulas are not stacked
        return f"{self.name}{gap}({self.unit})" if self.unit else self.name


def number(value: float, decimals: int) -> str:
    """A number with a true minus sign, and commas from 10,000 on."""
    value = round(value, decimals)
    text = f"{abs(value):,.{decimals}f}" if abs(value) >= 10_000 else f"{abs(value):.{decimals}f}"
    return f"−{text}" if value < 0 else text


class Exhibit(ABC):
    """A table of the paper: its values, the facts in them, and how it is laid out."""

    stubs: tuple[str, ...] = ("",)

    def __init__(self, writer: Writer, name: str, spec: dict[str, Any]) -> None:
        self.writer, self.name, self.spec, self.rng = writer, name, spec, writer.rng
        self.draw()

    @abstractmethod
    def draw(self) -> None:
        """Draw the values."""

    @abstractmethod
    def draft(self) -> Draft:
        """Lay the values out."""

    @abstractmethod
    def fact(self, words: str) -> str:
        """What it shows, for a slot of the text."""

    def notes(self) -> tuple[str, ...]:
        """Below the table."""
        note = self.spec.get("note")
        return (self.say(note),) if note else ()

    def say(self, text: str) -> str:
        """A text with the facts of this exhibit as `{it:…}`."""
        return self.writer.fill(text, self.fact)

    def caption(self) -> str:
        """What the table is, at times with a sentence on how to read it."""
        text = self.say(self.rng.choice(self.spec["caption"]))
        more = self.writer.unsaid(common()["read"].get(self.spec["kind"], []))
        if more and self.rng.random() < 0.4:
            chosen = self.rng.choice(more)
            self.writer.said.add(chosen)
            text = f"{text} {self.say(chosen)}"
        return text

    def stub(self) -> str:
        """The head of the first column."""
        return str(self.rng.choice(self.spec.get("stub", self.stubs)))

    def table(self, lines: dict[str, float]) -> PaperTable:
        """Ready to be set."""
        rng = self.rng
        names, weights = zip(*sorted(lines.items()), strict=True)
        content = OwnTable(lay_out(self.draft()), rng.choices(names, weights)[0])
        if not content.layout.draft.row_groups and rng.random() < 0.16:
            content = replace(content, shade=rng.choice(["stripes", "stripes", "head", "total"]))
        return PaperTable(content, self.caption(), self.notes())

    def measures(self, specs: Sequence[str | list[Any]]) -> list[Measure]:
        """Measures by name or as they are given."""
        known = self.writer.subject.data.get("measures", {})
        return [Measure(*(known[s] if isinstance(s, str) else s)) for s in specs]


# ---- kinds


class Results(Exhibit):
    """Methods against measures, on one or several sets of data; the last method is the paper's own."""

    stubs = ("Method", "Method", "Approach", "Model", "")

    def draw(self) -> None:
        """Draw a grid in which levels of methods show, and the own one is the best in the first measure."""
        rng, spec = self.rng, self.spec
        rows = self.writer.methods
        if len(rows) > 6:  # not all papers compare with the same others
            kept = sorted(rng.sample(range(1, len(rows) - 1), k=rng.randint(4, len(rows) - 2)))
            rows = [rows[0], *(rows[i] for i in kept), rows[-1]]
        self.rows = rows
        self.columns = self.measures(spec["measures"])
        self.sets: list[str] = [self.writer.fill(s) for s in spec.get("over", [""])]
        shifts = spec.get("shift", [0.0] * len(self.sets))
        levels = [float(r["level"]) + rng.gauss(0, 0.035) for r in rows]
        self.values: list[list[list[float]]] = []  # set, row, measure
        for shift in shifts:
            grid = []
            for row, level in zip(rows, levels, strict=True):
                cells = []
                for m in self.columns:
                    cost = row.get("cost", 0.5) + rng.gauss(0, 0.03)
                    at = level + shift + rng.gauss(0, 0.05) if m.better else cost + 0.2 * shift
                    cells.append(m.at(at))
                grid.append(cells)
            first = self.columns[0]
            others = [cells[0] for cells in grid[:-1]]
            step = max(3 * 10.0**-first.decimals, abs(first.high - first.low) * rng.uniform(0.03, 0.11))
            own = (
                max(*others, grid[-1][0]) + step if first.better == "up" else min(*others, grid[-1][0]) - step
            )
            grid[-1][0] = round(own, first.decimals)
            if first.better == "down" and own <= 0:
                grid[-1][0] = round(min(others) * 0.9, first.decimals)
            if first.unit == "%" and own > 99.8:
                grid[-1][0] = 99.8
            self.values.append(grid)
        self.spread = rng.choice(["", "", "", "pm", "sub"]) if spec.get("spread", True) else ""
        self.arrows, self.cited, self.with_year = (rng.random() < p for p in (0.45, 0.35, 0.15))
        self.own_bold, self.own_note = rng.random() < 0.4, rng.choice(["", "", " (ours)"])
        self.families = rng.choice(["", "", "sections", "sections", "beside", "turned"])
        self.head = self.stub()

    def _pick(self, words: str) -> tuple[str, int, int]:
        """What is asked for, the set of data, the measure."""
        what, at, which = "ours", 0, 0
        names = [s if isinstance(s, str) else s[0] for s in self.spec["measures"]]
        for word in words.split():
            if word.isdigit():
                at = min(int(word), len(self.sets)) - 1
            elif word in names:
                which = names.index(word)
            else:
                what = word
        return what, at, which

    def fact(self, words: str) -> str:
        """`ours`, `rival`, `rival-value`, `gain`, `base`, `base-value`, `lift`, `relative`, `data`, `count`."""
        what, at, which = self._pick(words)
        m = self.columns[which]
        column = [cells[which] for cells in self.values[at]]
        best = (min if m.better == "down" else max)(column[:-1])
        answers = {
            "ours": m.shown(column[-1]),
            "rival": self.rows[column.index(best)]["name"],
            "rival-value": m.shown(best),
            "gain": m.shown(abs(column[-1] - best)),
            "base": self.rows[0]["name"],
            "base-value": m.shown(column[0]),
            "lift": m.shown(abs(column[-1] - column[0])),
            "relative": f"{100 * abs(column[-1] - column[0]) / (abs(column[0]) or 1):.0f}",
            "data": self.sets[at],
            "measure": m.name,
            "count": str(len(self.rows)),
            "others": str(len(self.rows) - 1),
        }
        return str(answers[what])

    def draft(self) -> Draft:
        """All sets of data beside each other, under heads of their own."""
        return self.draft_of(range(len(self.sets)))

    def draft_of(self, sets: Sequence[int]) -> Draft:
        """Some sets of data beside each other."""
        rng = self.rng
        turned = len(sets) == 1 and len(self.columns) > 4 and rng.random() < 0.5
        rows: list[DraftRow] = []
        for index, method in enumerate(self.rows):
            label = plain(method["name"])
            if self.cited and "work" in method:
                label += plain(" " + self.writer.cite(self.writer.cell_cite, [method["work"]]))
            elif self.with_year and "year" in method:
                label += plain(f" ({method['year']})")
            if index == len(self.rows) - 1:
                label = (label + plain(self.own_note)).looking(bold=self.own_bold)
            pieces = [self._cell(s, index, m) for s in sets for m in range(len(self.columns))]
            rows.append(DraftRow((label, *pieces)))
        arrow = {"up": " ↑", "down": " ↓", "": ""}
        names = [m.head() if len(sets) == 1 else m.name for m in self.columns]
        marks = [arrow[m.better] if self.arrows else "" for m in self.columns]
        heads = [shown(name + mark) for name, mark in zip(names, marks, strict=True)] * len(sets)
        heads = [h.looking(turned=True) for h in heads] if turned else heads
        levels: tuple[tuple[RowGroup, ...], ...] = (tuple(RowGroup(h) for h in heads),)
        if len(sets) > 1 and len(self.columns) > 1:
            levels = (tuple(RowGroup(plain(self.sets[s]), len(self.columns)) for s in sets), *levels)
        elif len(sets) > 1:
            levels = one_level([plain(self.sets[s]) for s in sets])
        draft = Draft("results", (shown(self.head),), levels, tuple(rows), ("l", *("c" * len(heads))))
        return self._with_families(draft)

    def _with_families(self, draft: Draft) -> Draft:
        """Methods of a family under a head of their own, or beside its name."""
        families = [str(r.get("family", "")) for r in self.rows]
        if not all(families) or not self.families:
            return draft
        runs: list[tuple[str, int]] = []
        for family in families:
            if runs and runs[-1][0] == family:
                runs[-1] = (family, runs[-1][1] + 1)
            else:
                runs.append((family, 1))
        rows = iter(draft.rows)
        if self.families == "sections" or any(count < 2 for _, count in runs[:-1]):
            body: list[DraftRow] = []
            for family, count in runs:
                body.append(DraftRow((plain(family).italic(),), "section"))
                body += [next(rows) for _ in range(count)]
            return replace(draft, rows=tuple(body))
        turned = all(count * 2 >= len(family) for family, count in runs) and self.families == "turned"
        return replace(
            draft,
            stub=(EMPTY, *draft.stub),
            rows=tuple(DraftRow((EMPTY, *row.pieces), row.kind) for row in draft.rows),
            alignments=("l", *draft.alignments),
            row_groups=tuple((plain(family).looking(turned=turned), count) for family, count in runs),
        )

    def _cell(self, at: int, row: int, which: int) -> Piece:
        m = self.columns[which]
        column = [cells[which] for cells in self.values[at]]
        text, tail = plain(m.shown(column[row])), EMPTY
        if self.spread and m.better and m.decimals > 0:
            error = abs(m.high - m.low) * (0.015 + 0.02 * ((row * 7 + which * 3 + at) % 5) / 4)
            spread = f"{max(error, 10.0**-m.decimals):.{m.decimals}f}"
            tail = plain(f" ± {spread}") if self.spread == "pm" else formula(rf"_{{\pm {spread}}}")
        if not m.better:
            return text
        ordered = sorted(set(column), reverse=m.better == "up")
        if column[row] == ordered[0]:
            return text.bold() + tail
        is_second = len(ordered) > 3 and column[row] == ordered[1] and self.spec.get("second", True)
        return (text.looking(underlined=True) if is_second else text) + tail


class Ablation(Exhibit):
    """What each part of the method is worth: all of it, and with a part left out, one by one or step by step."""

    stubs = ("Variant", "Configuration", "Setting", "")

    def draw(self) -> None:
        """Draw what each part costs; the whole has the value of the main table."""
        main = self.writer.tables[self.spec["of"]]
        assert isinstance(main, Results)
        self.measure = main.columns[0]
        self.full = main.values[0][-1][0]
        self.data = main.sets[0]
        self.parts = [
            (self.writer.fill(name), cost * self.rng.uniform(0.75, 1.3)) for name, cost in self.spec["parts"]
        ]
        sign = -1 if self.measure.better == "up" else 1
        self.without = [round(self.full + sign * cost, self.measure.decimals) for _, cost in self.parts]
        self.none = round(self.full + sign * 0.9 * sum(c for _, c in self.parts), self.measure.decimals)

    def fact(self, words: str) -> str:
        """`most`, `most-drop`, `least`, `full`, `none`, `drop 2`, `count`."""
        what, _, index = words.partition(" ")
        m = self.measure
        drops = [abs(self.full - v) for v in self.without]
        at = int(index) - 1 if index else drops.index(max(drops))
        answers: dict[str, str] = {
            "most": self.parts[at][0],
            "most-drop": m.shown(max(drops)),
            "drop": m.shown(drops[at]),
            "least": self.parts[drops.index(min(drops))][0],
            "least-drop": m.shown(min(drops)),
            "full": m.shown(self.full),
            "none": m.shown(self.none),
            "count": str(len(self.parts)),
            "data": self.data,
            "measure": m.name,
        }
        return answers[what]

    def draft(self) -> Draft:
        """With marks of what is there, or with names of what is not."""
        m, rng = self.measure, self.rng
        names = [name for name, _ in self.parts]
        head = m.head()
        if rng.random() < 0.5:
            absent = rng.choice([EMPTY, plain("✗"), plain("–")])
            grid = [[False] * len(names)]
            grid += [[i != left for i in range(len(names))] for left in range(len(names))]
            values = [self.none, *self.without]
            rows = [
                DraftRow((*(plain("✓") if on else absent for on in flags), plain(m.shown(value))))
                for flags, value in zip(grid, values, strict=True)
            ]
            rows.append(DraftRow((*(plain("✓") for _ in names), plain(m.shown(self.full)).bold())))
            short = [plain(name[0].upper() + name[1:]) for name in names]
            return Draft(
                "ablation",
                tuple(short[:1]),
                one_level([*short[1:], shown(head)]),
                tuple(rows),
                tuple("c" * (len(names) + 1)),
            )
        rows = [
            DraftRow(
                (
                    plain("Full model" if rng.random() < 0.5 else self.writer.methods[-1]["name"]),
                    plain(m.shown(self.full)).bold(),
                    plain("–"),
                )
            )
        ]
        for name, value in zip(names, self.without, strict=True):
            rows.append(
                DraftRow((plain(f"without {name}"), plain(m.shown(value)), plain(self._change(value))))
            )
        rows.append(
            DraftRow(
                (plain("without all of them"), plain(m.shown(self.none)), plain(self._change(self.none)))
            )
        )
        return Draft(
            "ablation",
            (shown(self.stub()),),
            one_level([shown(head), plain("Change")]),
            tuple(rows),
            ("l", "c", "c"),
        )

    def _change(self, value: float) -> str:
        change = round(value - self.full, self.measure.decimals)
        return ("+" if change > 0 else "") + number(change, self.measure.decimals)


class Samples(Exhibit):
    """Things that were measured, with units; values go along with each other where the subject says so."""

    stubs = ("Sample", "Sample", "")

    def draw(self) -> None:
        """Draw a level for each row, along the rows or by chance, and values from it."""
        rng, spec = self.rng, self.spec
        if isinstance(spec["rows"], dict):
            first, last = spec["rows"]["count"]
            step, start = spec["rows"].get("step", 1), spec["rows"].get("start", 1)
            pattern = spec["rows"]["name"]
            self.rows = [pattern.replace("#", str(start + i * step)) for i in range(rng.randint(first, last))]
        else:
            self.rows = [self.writer.fill(r) for r in spec["rows"]]
        self.columns = [Measure(self.writer.fill(c[0]), c[1], "", *c[2:5]) for c in spec["columns"]]
        modes = [c[5] if len(c) > 5 else "along" for c in spec["columns"]]
        count = len(self.rows)
        levels = (
            [i / max(1, count - 1) for i in range(count)]
            if spec.get("along")
            else [rng.random() for _ in range(count)]
        )
        noise = spec.get("noise", 0.05)
        self.values = []
        for level in levels:
            cells = []
            for m, mode in zip(self.columns, modes, strict=True):
                at = (
                    rng.random()
                    if mode == "free"
                    else level + (rng.gauss(0, noise) if mode == "along" else 0)
                )
                at = min(1.0, max(0.0, at))
                cells.append(m.at(at))
            self.values.append(cells)

    def fact(self, words: str) -> str:
        """`first 1`, `last 1`, `max 2`, `min 2`, `mean 2`, `change 1` (in percent), `best 2`, `worst 2`, `count`."""
        what, _, index = words.partition(" ")
        at = int(index or 1) - 1
        m = self.columns[at]
        column = [cells[at] for cells in self.values]
        answers: dict[str, str] = {
            "first": m.shown(column[0]),
            "last": m.shown(column[-1]),
            "max": m.shown(max(column)),
            "min": m.shown(min(column)),
            "mean": m.shown(sum(column) / len(column)),
            "change": f"{100 * abs(column[-1] - column[0]) / (abs(column[0]) or 1):.0f}",
            "ratio": f"{max(column) / (min(column) or 1):.1f}",
            "best": self.rows[column.index(max(column))],
            "worst": self.rows[column.index(min(column))],
            "count": str(len(self.rows)),
        }
        return answers[what]

    def draft(self) -> Draft:
        """Units in the head, below it, or in a row of their own."""
        rng = self.rng
        style = rng.choice(["inline", "stacked", "row"]) if any(m.unit for m in self.columns) else "inline"
        if style == "row":
            levels: tuple[tuple[RowGroup, ...], ...] = (
                tuple(RowGroup(shown(m.name)) for m in self.columns),
                tuple(RowGroup(shown(f"({m.unit})" if m.unit else "–")) for m in self.columns),
            )
        else:
            levels = one_level([shown(m.head("\n" if style == "stacked" else " ")) for m in self.columns])
        groups = self.spec.get("groups")  # names of runs of columns
        if groups and style != "row":
            levels = (tuple(RowGroup(plain(name) if name else EMPTY, span) for name, span in groups), *levels)
        rows = [
            DraftRow((shown(name), *(plain(m.shown(v)) for m, v in zip(self.columns, cells, strict=True))))
            for name, cells in zip(self.rows, self.values, strict=True)
        ]
        if self.spec.get("mean") and rng.random() < 0.7:
            means = [sum(c[i] for c in self.values) / len(self.values) for i in range(len(self.columns))]
            rows.append(
                DraftRow(
                    (plain("Mean"), *(plain(m.shown(v)) for m, v in zip(self.columns, means, strict=True))),
                    "total",
                )
            )
        kind = "large" if len(self.rows) > 16 else "summary"
        return Draft(
            kind, (shown(self.stub()),), levels, tuple(rows), ("l", *(rng.choice("rc") * len(self.columns)))
        )


class Counts(Exhibit):
    """How many there are of each, with sums that are sums."""

    stubs = ("",)

    def draw(self) -> None:
        """Spread a number over rows and columns by their shares."""
        total = int(self.writer.amounts[self.spec["total"]])
        self.rows = [(self.writer.fill(n), s) for n, s in self.spec["rows"]]
        self.columns = [(self.writer.fill(n), s) for n, s in self.spec["columns"]]
        whole = sum(s for _, s in self.rows) * sum(s for _, s in self.columns)
        self.values = [
            [max(1, round(total * a * b / whole * self.rng.uniform(0.8, 1.25))) for _, b in self.columns]
            for _, a in self.rows
        ]
        rest = total - sum(map(sum, self.values))  # the largest cells take what rounding left
        order = sorted(
            ((v, r, c) for r, row in enumerate(self.values) for c, v in enumerate(row)), reverse=True
        )
        for share, (_, r, c) in zip((0.6, 0.4), order, strict=False):
            self.values[r][c] += round(rest * share)
        self.values[order[0][1]][order[0][2]] += total - sum(map(sum, self.values))

    def fact(self, words: str) -> str:
        """`total`, `top` (the largest row), `top-count`, `share`, `row 2`, `column 1`."""
        what, _, index = words.partition(" ")
        sums = [sum(row) for row in self.values]
        at = int(index) - 1 if index else sums.index(max(sums))
        columns = [sum(column) for column in zip(*self.values, strict=True)]
        answers: dict[str, str] = {
            "total": f"{sum(sums):,}",
            "top": self.rows[at % len(sums)][0],
            "top-count": f"{max(sums):,}",
            "share": f"{100 * sums[at % len(sums)] / sum(sums):.0f}",
            "row": f"{sums[at % len(sums)]:,}",
            "column": f"{columns[at % len(columns)]:,}",
            "count": str(len(self.rows)),
        }
        return answers[what]

    def draft(self) -> Draft:
        """A row of totals, often a column of them, at times shares."""
        rng = self.rng
        with_total = len(self.columns) > 1 and rng.random() < 0.7
        with_share = rng.random() < 0.35
        whole = sum(map(sum, self.values))

        def row(label: Piece, values: Sequence[int], kind: str = "data") -> DraftRow:
            texts = [f"{v:,}" for v in values]
            texts += [f"{sum(values):,}"] if with_total else []
            texts += [f"{100 * sum(values) / whole:.1f}"] if with_share else []
            pieces = [plain(text) for text in texts]
            return DraftRow((label, *(p.bold() if kind == "total" else p for p in pieces)), kind)

        rows = [row(shown(n), v) for (n, _), v in zip(self.rows, self.values, strict=True)]
        sums = [sum(c) for c in zip(*self.values, strict=True)]
        rows.append(row(plain("Total").bold(), sums, "total"))
        heads = (
            [n for n, _ in self.columns]
            + (["Total"] if with_total else [])
            + (["Share (%)"] if with_share else [])
        )
        draft = Draft(
            "counts",
            (shown(self.stub()),),
            one_level([shown(h) for h in heads]),
            tuple(rows),
            ("l", *("r" * len(heads))),
        )
        over = self.spec.get("over")
        if over and len(self.columns) > 1:
            tops = [
                RowGroup(plain(over), len(self.columns)),
                *(RowGroup(EMPTY) for _ in range(len(heads) - len(self.columns))),
            ]
            draft = replace(draft, levels=(tuple(tops), *draft.levels))
        return draft


class Outcomes(Exhibit):
    """Two groups compared: means, differences with intervals, and p values that follow from sizes and spreads."""

    stubs = ("Outcome", "Measure", "")

    def draw(self) -> None:
        """Draw what was observed around the true effects."""
        self.arms = [self.writer.fill(a) for a in self.spec["arms"]]
        self.sizes = [int(self.writer.amounts[s]) for s in self.spec["sizes"]]
        self.rows = []
        for name, mean, sd, effect, decimals in self.spec["rows"]:
            error = sd * math.sqrt(1 / self.sizes[0] + 1 / self.sizes[1])
            control = round(mean + self.rng.gauss(0, 0.3) * sd / math.sqrt(self.sizes[1]), decimals)
            treated = round(control + effect + self.rng.gauss(0, 0.25) * error, decimals)
            spreads = [round(sd * self.rng.uniform(0.93, 1.07), decimals) for _ in range(2)]
            self.rows.append((name, treated, control, spreads, error, decimals))

    def fact(self, words: str) -> str:
        """`diff 1`, `ci 1`, `p 1`, `treated 1`, `control 1`, `name 1`, of a row."""
        what, _, index = words.partition(" ")
        name, treated, control, _, error, decimals = self.rows[int(index or 1) - 1]
        answers: dict[str, str] = {
            "diff": number(abs(treated - control), decimals),
            "ci": self._interval(treated - control, error, decimals),
            "p": f"$p {_p_value((treated - control) / error).replace('<', '< ')}$",
            "treated": number(treated, decimals),
            "control": number(control, decimals),
            "name": name,
            "effect": f"{abs(treated - control) / (error / math.sqrt(1 / self.sizes[0] + 1 / self.sizes[1])):.2f}",
        }
        return answers[what]

    def _interval(self, difference: float, error: float, decimals: int) -> str:
        low, high = (number(difference + sign * _Z * error, decimals) for sign in (-1, 1))
        return f"{low} to {high}"

    def draft(self) -> Draft:
        """Groups, their difference, and p."""
        rows = []
        for name, treated, control, spreads, error, decimals in self.rows:
            cells = [
                f"{number(v, decimals)} ({s:.{decimals}f})"
                for v, s in zip((treated, control), spreads, strict=True)
            ]
            difference = treated - control
            interval = f"{number(difference, decimals)} ({self._interval(difference, error, decimals)})"
            p = _p_value(difference / error)
            rows.append(
                DraftRow((shown(name), *map(plain, cells), plain(interval), plain(p.removeprefix("= "))))
            )
        gap = self.rng.choice([" ", "\n"])
        heads = [plain(f"{a}{gap}(n = {n:,})") for a, n in zip(self.arms, self.sizes, strict=True)]
        heads += [plain(f"Difference{gap}(95% CI)"), plain("p").italic()]
        return Draft(
            "outcomes", (shown(self.stub()),), one_level(heads), tuple(rows), ("l", "c", "c", "c", "c")
        )

    def notes(self) -> tuple[str, ...]:
        """What the numbers are."""
        return (
            self.rng.choice(
                [
                    "Values are means (standard deviations).",
                    "Mean (SD) unless stated otherwise. CI: confidence interval.",
                ]
            ),
        )


class Baseline(Exhibit):
    """Who takes part: means with spreads, counts with shares, and levels under a head, by group."""

    stubs = ("Characteristic", "Variable", "")

    def draw(self) -> None:
        """Draw what was counted and measured in each group."""
        rng = self.rng
        self.arms = [self.writer.fill(a) for a in self.spec["arms"]]
        self.sizes = [int(self.writer.amounts[s]) for s in self.spec["sizes"]]
        self.rows: list[tuple[str, list[str]]] = []
        self.values: list[list[float]] = []
        for name, *entry in self.spec["rows"]:
            if isinstance(entry[0], list):
                counts = [self._levels([share for _, share in entry], n) for n in self.sizes]
                self.rows.append((name, []))
                self.values.append([])
                for index, (level, _) in enumerate(entry):
                    cells = [counts[a][index] for a in range(len(self.arms))]
                    self._count(f"\xa0\xa0{level}", cells)
            elif len(entry) == 1:
                self._count(
                    name, [round(n * min(0.99, entry[0] * rng.uniform(0.92, 1.08))) for n in self.sizes]
                )
            else:
                mean, sd, decimals = entry
                means = [mean + rng.gauss(0, 1) * sd / math.sqrt(n) for n in self.sizes]
                self.values.append(means)
                self.rows.append(
                    (
                        name,
                        [
                            f"{number(m, decimals)} ± {sd * rng.uniform(0.93, 1.07):.{decimals}f}"
                            for m in means
                        ],
                    )
                )

    def _levels(self, shares: Sequence[float], count: int) -> list[int]:
        drawn = [round(count * s / sum(shares) * self.rng.uniform(0.9, 1.1)) for s in shares]
        drawn[0] += count - sum(drawn)
        return drawn

    def _count(self, name: str, counts: Sequence[int]) -> None:
        shares = [100 * c / n for c, n in zip(counts, self.sizes, strict=True)]
        self.values.append(shares)
        self.rows.append((name, [f"{c:,} ({s:.1f})" for c, s in zip(counts, shares, strict=True)]))

    def fact(self, words: str) -> str:
        """`value 1` of a row (in the first group), `other 1` (in the second)."""
        what, _, index = words.partition(" ")
        values = self.values[int(index or 1) - 1]
        return f"{values[0] if what == 'value' else values[-1]:.1f}"

    def draft(self) -> Draft:
        """Levels stand under their head."""
        rows = [
            DraftRow(
                (
                    plain(name.strip("\xa0") if not cells else name),
                    *map(plain, cells or [""] * len(self.arms)),
                )
            )
            for name, cells in self.rows
        ]
        heads = [plain(f"{a} (n = {n:,})") for a, n in zip(self.arms, self.sizes, strict=True)]
        return Draft(
            "baseline", (shown(self.stub()),), one_level(heads), tuple(rows), ("l", *("c" * len(heads)))
        )

    def notes(self) -> tuple[str, ...]:
        """What the numbers are."""
        return ("Values are mean ± standard deviation or number (%).",)


class Regression(Exhibit):
    """Estimates with their errors below them, over nested models."""

    stubs = ("",)

    def draw(self) -> None:
        """Draw estimates around the true ones; later models have more terms and explain more."""
        rng = self.rng
        self.terms = self.spec["terms"]
        self.models = rng.randint(3, min(5, len(self.terms)))
        self.total = int(self.writer.amounts[self.spec["total"]])
        self.estimates = []
        base = [coefficient + rng.gauss(0, 0.2) * error for _, coefficient, error in self.terms]
        for model in range(self.models):
            present = 1 + round(model * (len(self.terms) - 1) / (self.models - 1))
            drift = 1 + 0.22 * (self.models - 1 - model) / self.models
            self.estimates.append([
                (base[i] * drift + rng.gauss(0, 0.08) * error, error * rng.uniform(0.92, 1.1)) if i < present else None
                for i, (_, _, error) in enumerate(self.terms)
            ])  # fmt: skip
        first, last = self.spec["fit"]
        self.fits = [first + (last - first) * (m / (self.models - 1)) ** 0.7 for m in range(self.models)]

    def fact(self, words: str) -> str:
        """`coef 1`, `se 1`, `name 1` in the last model; `first`, `n`, `fit`, `models`."""
        what, _, index = words.partition(" ")
        at = int(index or 1) - 1
        last = self.estimates[-1][at]
        first = self.estimates[0][0]
        assert last is not None
        assert first is not None
        answers: dict[str, str] = {
            "coef": number(last[0], 3),
            "size": f"{abs(last[0]):.3f}",
            "percent": f"{100 * abs(last[0]):.1f}",
            "se": f"{last[1]:.3f}",
            "name": self.terms[at][0],
            "first": number(first[0], 3),
            "n": f"{self.total:,}",
            "fit": f"{self.fits[-1]:.2f}",
            "models": str(self.models),
        }
        return answers[what]

    def draft(self) -> Draft:
        """Stars by strength; controls and sizes below."""
        rows = []
        for i, (name, _, _) in enumerate(self.terms):
            top, below = [shown(self.writer.fill(name))], [EMPTY]
            for model in self.estimates:
                estimate = model[i]
                if estimate is None:
                    top.append(EMPTY)
                    below.append(EMPTY)
                    continue
                strength = abs(estimate[0]) / estimate[1]
                stars = (
                    "***" if strength > 2.58 else "**" if strength > _Z else "*" if strength > 1.645 else ""
                )
                top.append(plain(number(estimate[0], 3)) + (raised(stars) if stars else EMPTY))
                below.append(plain(f"({estimate[1]:.3f})"))
            rows += [DraftRow(tuple(top)), DraftRow(tuple(below))]
        controls = self.spec.get("controls", [])
        for index, control in enumerate(controls):
            since = round((index + 1) * self.models / (len(controls) + 1))
            marks = [plain("Yes" if m >= since else "No") for m in range(self.models)]
            rows.append(DraftRow((plain(control), *marks), "total" if index == 0 else "data"))
        rows.append(
            DraftRow((plain("Observations"), *(plain(f"{self.total:,}") for _ in range(self.models))))
        )
        rows.append(
            DraftRow((plain(self.spec.get("fit_name", "R²")), *(plain(f"{f:.2f}") for f in self.fits)))
        )
        heads = one_level([plain(f"({i + 1})") for i in range(self.models)])
        return Draft("regression", (EMPTY,), heads, tuple(rows), ("l", *("c" * self.models)))

    def notes(self) -> tuple[str, ...]:
        """What the marks are."""
        own = self.spec.get("note", "Standard errors in parentheses.")
        return (
            f"{self.say(own)} {self.rng.choice(['* p < 0.10, ** p < 0.05, *** p < 0.01.', '*** p < 0.01, ** p < 0.05, * p < 0.10.'])}",
        )


class Settings(Exhibit):
    """What is given: parameters, constants, materials, as the subject lists them."""

    stubs = ("Parameter",)

    def draw(self) -> None:
        """Draw the variants of its cells."""
        self.rows = [[self.writer.fill(cell) for cell in row] for row in self.spec["rows"]]

    def fact(self, words: str) -> str:
        """`2 3`: the cell of a row and column."""
        row, column = (int(word) - 1 for word in words.split())
        return self.rows[row][column]

    def draft(self) -> Draft:
        """As listed; long texts break."""
        heads = [self.writer.fill(head) for head in self.spec["heads"]]
        longest = [max(len(row[i]) for row in self.rows) for i in range(len(heads))]
        aligned = [f"p{{{min(6.0, length * 0.11):.1f}cm}}" if length > 34 else "l" for length in longest]
        rows = [DraftRow(tuple(shown(self.writer.recite(cell)) for cell in row)) for row in self.rows]
        return Draft(
            "settings",
            (shown(heads[0]),),
            one_level([shown(h) for h in heads[1:]]),
            tuple(rows),
            tuple(aligned),
        )


class Matrix(Exhibit):
    """Works against properties, with the paper itself below them."""

    stubs = ("Study", "Work", "Reference")

    def draw(self) -> None:
        """Nothing is left to chance."""
        self.works: dict[str, str] = self.spec["rows"]
        self.heads: list[str] = self.spec["heads"]

    def fact(self, words: str) -> str:
        """`count` of works."""
        return str(len(self.works))

    def draft(self) -> Draft:
        """✓ where a work has it, and nothing or ✗ where not."""
        rng = self.rng
        absent, turned = rng.choice([EMPTY, plain("✗"), plain("–")]), rng.random() < 0.3
        rows = []
        for key, flags in [*self.works.items(), ("", "1" * len(self.heads))]:
            label = plain(self.writer.cite("citet", [key])) if key else plain("This work")
            rows.append(DraftRow((label, *(plain("✓") if f == "1" else absent for f in flags))))
        heads = [plain(h).looking(turned=turned) for h in self.heads]
        return Draft(
            "matrix", (shown(self.stub()),), one_level(heads), tuple(rows), ("l", *("c" * len(heads)))
        )


TABLES: dict[str, type[Exhibit]] = {
    "results": Results,
    "ablation": Ablation,
    "samples": Samples,
    "counts": Counts,
    "outcomes": Outcomes,
    "baseline": Baseline,
    "regression": Regression,
    "settings": Settings,
    "matrix": Matrix,
}


def _p_value(z: float) -> str:
    p = math.erfc(abs(z) / math.sqrt(2))
    return "<0.001" if p < 0.001 else f"= {p:.3f}" if p < 0.1 else f"= {p:.2f}"


def shown(text: str) -> Piece:
    """Text with formulas in it."""
    piece = EMPTY
    for part, is_formula in with_formulas(text):
        piece += formula(part) if is_formula else plain(part)
    return piece
