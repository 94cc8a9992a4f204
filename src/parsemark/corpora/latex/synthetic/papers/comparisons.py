"""Comparisons of methods: results on sets of data, and what each part of the paper's own method is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from parsemark.corpora.latex.synthetic.papers.exhibits import Exhibit, shown
from parsemark.corpora.synthetic.draft import Draft, DraftRow, RowGroup, one_level
from parsemark.corpora.synthetic.pieces import EMPTY, Piece, formula, plain


class Results(Exhibit):
    """Methods against measures, on one or several sets of data; the last method is the paper's own."""

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
        self.own_bold, self.own_note = rng.random() < 0.4, rng.choice(["", "", f" {self.labels['own']}"])
        self.families = rng.choice(["", "", "sections", "sections", "beside", "turned"])
        self.head = self.stub()

    @property
    def breadth(self) -> int:
        """Measures for each set of data."""
        return len(self.columns) * len(self.sets)

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
            name = str(method["name"])
            label = plain(name if "$" in name else name[:1].upper() + name[1:])
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
            spread = self.number(max(error, 10.0**-m.decimals), m.decimals)
            lowered = spread.replace(",", "{,}")
            tail = plain(f" ± {spread}") if self.spread == "pm" else formula(rf"_{{\pm {lowered}}}")
        if not m.better:
            return text
        ordered = sorted(set(column), reverse=m.better == "up")
        if column[row] == ordered[0]:
            return text.bold() + tail
        is_second = len(ordered) > 3 and column[row] == ordered[1] and self.spec.get("second", True)
        return (text.looking(underlined=True) if is_second else text) + tail


class Ablation(Exhibit):
    """What each part of the method is worth: all of it, and with a part left out, one by one or step by step."""

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
                    plain(self.labels["full"] if rng.random() < 0.5 else self.writer.methods[-1]["name"]),
                    plain(m.shown(self.full)).bold(),
                    plain("–"),
                )
            )
        ]
        for name, value in zip(names, self.without, strict=True):
            rows.append(
                DraftRow(
                    (
                        plain(f"{self.labels['without']} {name}"),
                        plain(m.shown(value)),
                        plain(self._change(value)),
                    )
                )
            )
        rows.append(
            DraftRow(
                (plain(self.labels["without_all"]), plain(m.shown(self.none)), plain(self._change(self.none)))
            )
        )
        return Draft(
            "ablation",
            (shown(self.stub()),),
            one_level([shown(head), plain(self.labels["change"])]),
            tuple(rows),
            ("l", "c", "c"),
        )

    def _change(self, value: float) -> str:
        change = round(value - self.full, self.measure.decimals)
        return ("+" if change > 0 else "") + self.number(change, self.measure.decimals)
