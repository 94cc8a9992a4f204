"""The other tables of a paper: what was measured, counted, estimated, given, or done before."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from parsemark.corpora.latex.synthetic.papers.comparisons import Ablation, Results
from parsemark.corpora.latex.synthetic.papers.exhibits import Exhibit, Measure, shown
from parsemark.corpora.synthetic.draft import Draft, DraftRow, RowGroup, one_level
from parsemark.corpora.synthetic.pieces import EMPTY, Piece, plain, raised

_Z = 1.96
"""Standard errors from the middle to the ends of a 95 % interval."""


class Samples(Exhibit):
    """Things that were measured, with units; values go along with each other where the subject says so."""

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
        self.columns = [
            Measure(self.writer.fill(c[0]), c[1], "", *c[2:5], language=self.writer.language)
            for c in spec["columns"]
        ]
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
            "ratio": self.number(max(column) / (min(column) or 1), 1),
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
                    (
                        plain(self.labels["mean"]),
                        *(plain(m.shown(v)) for m, v in zip(self.columns, means, strict=True)),
                    ),
                    "total",
                )
            )
        kind = "large" if len(self.rows) > 16 else "summary"
        return Draft(
            kind, (shown(self.stub()),), levels, tuple(rows), ("l", *(rng.choice("rc") * len(self.columns)))
        )

    def listed(self, count: int) -> Draft:
        """Single measurements, as an appendix lists them: `count` rows that scatter around those of the table."""
        rng = self.rng
        style = rng.choice(["{:03d}", "S{:d}", "{:d}", "{:02d}", "P-{:03d}"])
        rows = []
        for index in range(count):
            base = zip(self.columns, self.values[index % len(self.values)], strict=True)
            spread = [plain(m.shown(0.8 * value + 0.2 * m.at(rng.random()))) for m, value in base]
            rows.append(
                DraftRow((plain(style.format(index + 1)), shown(self.rows[index % len(self.rows)]), *spread))
            )
        heads = [shown(m.head(" ")) for m in self.columns]
        return Draft(
            "large", (plain(self.labels["number"]), shown(self.stub() or self.labels["group"])), one_level(heads), tuple(rows),
            ("l", "l", *(rng.choice("rc") * len(heads))),
        )  # fmt: skip


class Counts(Exhibit):
    """How many there are of each, with sums that are sums."""

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
            "total": self.count(sum(sums)),
            "top": self.rows[at % len(sums)][0],
            "top-count": self.count(max(sums)),
            "share": f"{100 * sums[at % len(sums)] / sum(sums):.0f}",
            "row": self.count(sums[at % len(sums)]),
            "column": self.count(columns[at % len(columns)]),
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
            texts = [self.count(v) for v in values]
            texts += [self.count(sum(values))] if with_total else []
            texts += [self.number(100 * sum(values) / whole, 1)] if with_share else []
            pieces = [plain(text) for text in texts]
            return DraftRow((label, *(p.bold() if kind == "total" else p for p in pieces)), kind)

        rows = [row(shown(n), v) for (n, _), v in zip(self.rows, self.values, strict=True)]
        sums = [sum(c) for c in zip(*self.values, strict=True)]
        rows.append(row(plain(self.labels["total"]).bold(), sums, "total"))
        heads = (
            [n for n, _ in self.columns]
            + ([self.labels["total"]] if with_total else [])
            + ([self.labels["share"]] if with_share else [])
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
            "diff": self.number(abs(treated - control), decimals),
            "ci": self._interval(treated - control, error, decimals),
            "p": f"$p {self._p_value((treated - control) / error).replace('<', '< ').replace(',', '{,}')}$",
            "treated": self.number(treated, decimals),
            "control": self.number(control, decimals),
            "name": name,
            "effect": self.number(
                abs(treated - control) / error * math.hypot(*(n**-0.5 for n in self.sizes)), 2
            ),
        }
        return answers[what]

    def _interval(self, difference: float, error: float, decimals: int) -> str:
        low, high = (self.number(difference + sign * _Z * error, decimals) for sign in (-1, 1))
        return f"{low} {self.labels['to']} {high}"

    def _p_value(self, z: float) -> str:
        p = math.erfc(abs(z) / math.sqrt(2))
        return f"<{self.number(0.001, 3)}" if p < 0.001 else f"= {self.number(p, 3 if p < 0.1 else 2)}"

    def draft(self) -> Draft:
        """Groups, their difference, and p."""
        rows = []
        for name, treated, control, spreads, error, decimals in self.rows:
            cells = [
                f"{self.number(v, decimals)} ({self.number(s, decimals)})"
                for v, s in zip((treated, control), spreads, strict=True)
            ]
            difference = treated - control
            interval = f"{self.number(difference, decimals)} ({self._interval(difference, error, decimals)})"
            p = self._p_value(difference / error)
            rows.append(
                DraftRow((shown(name), *map(plain, cells), plain(interval), plain(p.removeprefix("= "))))
            )
        gap = self.rng.choice([" ", "\n"])
        heads = [plain(f"{a}{gap}(n = {self.count(n)})") for a, n in zip(self.arms, self.sizes, strict=True)]
        heads += [plain(f"{self.labels['difference']}{gap}({self.labels['interval']})"), plain("p").italic()]
        return Draft(
            "outcomes", (shown(self.stub()),), one_level(heads), tuple(rows), ("l", "c", "c", "c", "c")
        )

    def notes(self) -> tuple[str, ...]:
        """What the numbers are."""
        return (self.say(self.rng.choice(self.words["notes"]["outcomes"])),)


class Baseline(Exhibit):
    """Who takes part: means with spreads, counts with shares, and levels under a head, by group."""

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
                            f"{self.number(m, decimals)} ± {self.number(sd * rng.uniform(0.93, 1.07), decimals)}"
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
        cells = [f"{self.count(c)} ({self.number(s, 1)})" for c, s in zip(counts, shares, strict=True)]
        self.rows.append((name, cells))

    def fact(self, words: str) -> str:
        """`value 1` of a row (in the first group), `other 1` (in the second)."""
        what, _, index = words.partition(" ")
        values = self.values[int(index or 1) - 1]
        return self.number(values[0] if what == "value" else values[-1], 1)

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
        heads = [plain(f"{a} (n = {self.count(n)})") for a, n in zip(self.arms, self.sizes, strict=True)]
        return Draft(
            "baseline", (shown(self.stub()),), one_level(heads), tuple(rows), ("l", *("c" * len(heads)))
        )

    def notes(self) -> tuple[str, ...]:
        """What the numbers are."""
        return (self.say(self.rng.choice(self.words["notes"]["baseline"])),)


class Regression(Exhibit):
    """Estimates with their errors below them, over nested models."""

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
            "coef": self.number(last[0], 3),
            "size": self.number(abs(last[0]), 3),
            "percent": self.number(100 * abs(last[0]), 1),
            "se": self.number(last[1], 3),
            "name": self.terms[at][0],
            "first": self.number(first[0], 3),
            "n": self.count(self.total),
            "fit": self.number(self.fits[-1], 2),
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
                top.append(plain(self.number(estimate[0], 3)) + (raised(stars) if stars else EMPTY))
                below.append(plain(f"({self.number(estimate[1], 3)})"))
            rows += [DraftRow(tuple(top)), DraftRow(tuple(below))]
        controls = self.spec.get("controls", [])
        for index, control in enumerate(controls):
            since = round((index + 1) * self.models / (len(controls) + 1))
            marks = [plain(self.labels["yes" if m >= since else "no"]) for m in range(self.models)]
            rows.append(DraftRow((plain(control), *marks), "total" if index == 0 else "data"))
        sizes = [plain(self.count(self.total))] * self.models
        rows.append(DraftRow((plain(self.labels["observations"]), *sizes)))
        fits = [plain(self.number(fit, 2)) for fit in self.fits]
        rows.append(DraftRow((plain(self.spec.get("fit_name", "R²")), *fits)))
        heads = one_level([plain(f"({i + 1})") for i in range(self.models)])
        return Draft("regression", (EMPTY,), heads, tuple(rows), ("l", *("c" * self.models)))

    def notes(self) -> tuple[str, ...]:
        """What the marks are."""
        notes = self.words["notes"]
        own = self.spec.get("note") or self.rng.choice(notes["regression"])
        return (f"{self.say(own)} {self.say(self.rng.choice(notes['stars']))}",)


class Settings(Exhibit):
    """What is given: parameters, constants, materials, as the subject lists them."""

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
            label = plain(self.writer.cite("citet", [key])) if key else plain(self.labels["this"])
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
