"""`corpus check` compares grids with TeX's own."""

import json
import re
import shutil
from pathlib import Path

import pytest

from parsemark.corpora import load_corpus
from parsemark.corpora.check import check_corpus
from parsemark.corpora.files import write_manifest
from parsemark_makers.latex import tex_grids

pytestmark = [
    pytest.mark.latex,
    pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed"),
]


@pytest.fixture
def one(tmp_path: Path) -> Path:
    """One page with tables, as a corpus of its own."""
    demo, root = load_corpus("demo"), tmp_path / "one"
    sample = next(s for s in demo.samples() if len(s.truth.tables) > 1)
    for name in (f"truth/{sample.id}.json", f"pdfs/{sample.pdf.name}"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(demo.root / name, root / name)
    write_manifest(root, name="one")
    return root


def edit(root: Path, change) -> None:
    path = next((root / "truth").iterdir())
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
    write_manifest(root, name="one")


def table_of(data) -> dict:
    return next(e for e in data["layout_dets"] if e["category_type"] == "table")


def test_a_grid_that_is_not_tex_s_is_a_problem(one: Path) -> None:
    def change(data) -> None:
        table = table_of(data)
        table["latex"] = r"\begin{tabular}{ll} a & b \\ c & d \end{tabular}"

    edit(one, change)
    problems = check_corpus(load_corpus(str(one))).problems
    assert [p for p in problems if "differs from TeX's own" in p]


@pytest.mark.parametrize(
    ("latex", "rows"),
    [
        (r"\begin{tabular}{r@{.}lc} 12 & 5 & + \\ 3 & 25 & -- \end{tabular}", [["12.5", "+"], ["3.25", "–"]]),
        (
            r"\begin{tabular}{lll}\multicolumn{2}{l}{a} & b \\ \multicolumn{2}{l}{c} & d \end{tabular}",
            [["a", "b"], ["c", "d"]],
        ),
    ],
)
def test_columns_that_no_reader_sees_are_listed_by_their_own_cause(one: Path, latex: str, rows) -> None:
    def change(data) -> None:
        cells = [
            {"row": r, "col": c, "rowspan": 1, "colspan": 1, "text": text, "header": None, "box": None}
            for r, texts in enumerate(rows)
            for c, text in enumerate(texts)
        ]
        table_of(data).update(latex=latex, html=None, table={"n_rows": 2, "n_cols": 2, "cells": cells})

    edit(one, change)
    report = check_corpus(load_corpus(str(one)))
    assert report.problems == []
    assert report.causes["grid: normalised columns"] == 1 and report.is_faithful
    (line,) = report.measured
    n_equal, n_compared = map(int, re.findall(r"\d+", line)[:2])
    assert n_compared == n_equal + 1 and "1 more but for normalised columns" in line


def test_a_table_without_end_costs_only_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tex_grids, "CPU_S", 1.0)
    good = r"\begin{tabular}{ll}a & b\\c & d\end{tabular}"
    endless = r"\begin{tabular}{l}\loop\iftrue\repeat\end{tabular}"
    undefined = r"\begin{tabular}{ll}\undefinedcommand & 2\end{tabular}"
    found = tex_grids.tex_grids([good, endless, undefined, good])
    assert [None if grid is None else (grid.n_rows, grid.n_cols) for grid in found] == [
        (2, 2),
        None,
        None,
        (2, 2),
    ]


def test_without_tex_grids_are_not_compared_and_that_is_reported(
    one: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    report = check_corpus(load_corpus(str(one)))
    assert report.is_faithful and report.measured == []
    assert report.notes == ["pdflatex is not installed, so grids were not compared with TeX's."]
