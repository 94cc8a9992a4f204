"""Equivalent forms of a table stay at the top; graded damage takes it down step by step."""

from __future__ import annotations

import json
import math
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from tests.metrics.reader.forms import GRADED, equivalent_forms

from parsemark import load_corpus
from parsemark.formats import read_table
from parsemark.metrics import TableInput, score
from parsemark.model import Table

LEAST = 9.5
STEPS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)

OWN = {
    "plain": r"""
\begin{tabular}{lrrr}
\toprule
Model & Params (M) & Top-1 & Loss $\downarrow$ \\
\midrule
ResNet-18 & 11.7 & 69.8\% & $1.24 \pm 0.02$ \\
ResNet-50 & 25.6 & 76.1\% & $0.96 \pm 0.01$ \\
ViT-B/16 & 86.6 & 81.1\% & $0.83 \pm 0.04$ \\
DeiT-S & 22.1 & 79.9\% & $0.88 \pm 0.03$ \\
\bottomrule
\end{tabular}""",
    "groups": r"""
\begin{tabular}{l|cc|cc}
\hline
\multirow{2}{*}{Method} & \multicolumn{2}{c|}{Urban} & \multicolumn{2}{c}{Rural} \\
\cline{2-5}
 & $\sigma=15$ & $\sigma=25$ & $\sigma=15$ & $\sigma=25$ \\
\hline
BM3D & 33.9 & 31.4 & 33.5 & 30.7 \\
DnCNN & 33.0 & 30.8 & 33.9 & 31.2 \\
Ours & 35.1 & 33.0 & 34.5 & 31.9 \\
\hline
\end{tabular}""",
    "names": r"""
\begin{tabular}{llcc}
\toprule
Environment & Method & ED & SS \\
\midrule
\multirow{2}{*}{Breakout} & GIA & 0.284 & 0.32 \\
 & RGIA & 0.108 & 0.71 \\
\midrule
\multirow{2}{*}{Seaquest} & GIA & 0.264 & 0.31 \\
 & RGIA & 0.118 & 0.69 \\
\bottomrule
\end{tabular}""",
    "sections": r"""
\begin{tabular}{lccc}
\toprule
Settings & EPM & STU & REC \\
\midrule
\multicolumn{4}{l}{\textit{Cacher ratio}} \\
$R=85\%$ & 54.9 & 45.5 & 24.5 \\
$R=75\%$ & 52.2 & 42.7 & 24.9 \\
\midrule
\multicolumn{4}{l}{\textit{Joint ratios}} \\
$R=50\%$ & 51.5 & 46.1 & 25.6 \\
$R=25\%$ & 50.8 & 46.2 & 26.9 \\
\bottomrule
\end{tabular}""",
    "words": r"""
\begin{tabular}{lll}
\hline
Symbol & Meaning & Unit \\
\hline
$\lambda$ & wavelength & nm \\
$E_{\max}$ & largest energy & eV \\
$\hat{n}$ & normal vector & -- \\
$k_B$ & Boltzmann constant & J/K \\
\hline
\end{tabular}""",
    "gains": r"""
\begin{tabular}{l|cc}
\toprule
Unit & GAUC & $\Delta$ \\
\midrule
Target attention & 0.6301 & +0.12\% \\
Tiers & 0.6345 & +0.70\% \\
Target attention + tiers & 0.6361 & +0.95\% \\
Pairs & 0.6377 & +1.21\% \\
\bottomrule
\end{tabular}""",
    "records": r"""
\begin{tabular}{ll}
\toprule
Case & bank\_river \\
Context & river \\
Top feature & Unit 1556 \\
Concept & Place \\
\midrule
Case & bank\_river \\
Context & water \\
Top feature & Unit 2193 \\
Concept & Liquid \\
\midrule
Case & bank\_money \\
Context & money \\
Top feature & Unit 948 \\
Concept & Finance \\
\midrule
Case & bank\_money \\
Context & went \\
Top feature & Unit 155 \\
Concept & Movement \\
\bottomrule
\end{tabular}""",
}


@pytest.mark.parametrize("name", OWN)
def test_equivalent_forms_lose_nothing(name: str) -> None:
    truth = TableInput(OWN[name])
    for form in equivalent_forms(truth.table):
        result = score(truth, form(truth.table), metrics=["reader"])["reader"]
        assert result.value is not None
        assert result.value >= LEAST, (form.__name__, result.details["errors"])


@pytest.mark.parametrize("damage", GRADED, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("name", ["plain", "groups", "names", "words"])
def test_graded_damage_falls_monotonically(name: str, damage: object) -> None:
    truth = TableInput(OWN[name])
    assert callable(damage)
    values = [_value(truth, damage(truth.table, step)) for step in STEPS]
    assert values[0] >= LEAST
    assert all(a >= b - 1e-9 for a, b in pairwise(values)), values
    assert values[-1] < 6, values


def _value(truth: TableInput, pred: Table) -> float:
    found = score(truth, pred, metrics=["reader"])["reader"].value
    assert found is not None
    return found


UNREADABLE = {("078", 5, "plain_text")}
"""Lines that begin with an absolute value, |x|, are read as the rows of a Markdown table."""


def test_synthetic_tables_stay_at_the_top_in_every_equivalent_form() -> None:
    tables = [
        e.table
        for sample in load_corpus("demo").samples()
        for e in (sample.truth.tables if sample.truth else ())
        if e.table is not None and min(e.table.n_rows, e.table.n_cols) > 1
    ][::6]
    below = [
        (k, form.__name__)
        for k, table in enumerate(tables)
        for form in equivalent_forms(table)
        if _value(TableInput(table), form(table)) < LEAST
    ]
    assert len(tables) >= 8
    assert below == []


@pytest.mark.conformance
def test_published_tables_stay_at_the_top_in_every_equivalent_form(reference_data: Path) -> None:
    below = []
    n_pairs = 0
    for file in sorted((reference_data / "pdf-parse-bench-tables/ground_truth").glob("*.json")):
        for index, block in enumerate(json.loads(file.read_text())):
            if block["type"] != "table":
                continue
            table = read_table(block["data"])
            if table.n_rows < 2 or table.n_cols < 2:
                continue
            truth = TableInput(block["data"])
            for form in equivalent_forms(table):
                n_pairs += 1
                value = score(truth, form(table), metrics=["reader"])["reader"].value
                if value is None or value < LEAST:
                    below.append((file.stem, index, form.__name__))
    assert n_pairs > 3700
    assert set(below) <= UNREADABLE


EXTENTS = (0.15, 0.4, 0.9)
SLACK = 0.05
"""A larger share of a small table may touch no more cells than a smaller one."""


@pytest.mark.parametrize("damage", GRADED, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("name", ["plain", "groups", "names", "words"])
def test_an_event_costs_less_than_its_extent(name: str, damage: object) -> None:
    truth = TableInput(OWN[name])
    assert callable(damage)
    costs = [-math.log(max(_value(truth, damage(truth.table, share)), 1e-9) / 10) for share in EXTENTS]
    assert costs == sorted(costs)
    for (small, cost), (large, more) in pairwise(zip(EXTENTS, costs, strict=True)):
        if cost > 0.2 and large < 0.5:  # near the whole table nothing is left, whatever it costs
            assert more < large / small * cost + SLACK


@pytest.mark.parametrize("name", ["plain", "groups", "names"])
def test_a_mixture_is_never_better_than_its_parts(name: str) -> None:
    truth = TableInput(OWN[name])
    for first, second in combinations(GRADED, 2):
        one, other = first(truth.table, 0.3), second(truth.table, 0.3)
        both = second(first(truth.table, 0.3), 0.3)
        parts = min(_value(truth, one), _value(truth, other))
        assert _value(truth, both) <= parts + SLACK, (first.__name__, second.__name__)


@pytest.mark.conformance
def test_damage_to_published_tables_costs_more_the_further_it_reaches(reference_data: Path) -> None:
    steps = {damage.__name__: [0, 0] for damage in GRADED}
    for file in sorted((reference_data / "pdf-parse-bench-tables/ground_truth").glob("*.json"))[::3]:
        for block in json.loads(file.read_text()):
            if block["type"] != "table":
                continue
            table = read_table(block["data"])
            spans = any(c.rowspan > 1 or c.colspan > 1 for c in table.cells)
            if spans or table.n_rows < 4 or table.n_cols < 3:
                continue
            truth = TableInput(block["data"])
            for damage in GRADED:
                values = [_value(truth, damage(table, share)) for share in EXTENTS]
                steps[damage.__name__][0] += values == sorted(values, reverse=True)
                steps[damage.__name__][1] += 1
    assert all(total > 10 and falls >= 0.95 * total for falls, total in steps.values()), steps
