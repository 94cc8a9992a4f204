"""Tables are harvested from sources into a pool of tables that stand alone."""

import json
import shutil
from pathlib import Path

import pytest

from parsemark.corpora.latex import measure as measure_module
from parsemark.corpora.latex.harvest import harvest, rejected_path
from parsemark.corpora.latex.measure import TableSource
from parsemark.corpora.latex.pool import PoolEntry, read_pool
from parsemark.corpora.latex.standalone import document_definitions, tables_of
from parsemark.errors import CorpusError
from parsemark.formats.latex import read_latex_table

needs_latex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")

PAPER = r"""
\documentclass{article}
\newcommand{\ours}[1]{Ours-#1}
\newcolumntype{Y}{>{\centering\arraybackslash}X}
\begin{document}
\begin{table}\caption{No part of it}
\begin{tabular}{lr} % a comment
\toprule Name~\cite{a} & Value \\ \midrule
\ours{one} & 1.5 \\ see Table~\ref{t} & 2 \\ \bottomrule
\end{tabular}\end{table}
\begin{tabularx}{8cm}{lYY} a & b & c \\ \multicolumn{2}{c}{d} & e \\ \end{tabularx}
\begin{longtable}{ll}\caption{Long}\label{x}\\ A & B \\ \hline \endfirsthead A & B again \\ \endhead
continued & \\ \endfoot last & row \\ \endlastfoot a & 1 \\ b & 2 \\ \end{longtable}
\begin{tabular}{ll} \undefinedcommand & 2 \\ 3 & 4 \end{tabular}
\begin{tabular}{ll} a & b \\ c & \includegraphics{x} \end{tabular}
\begin{tabular}{l} only \\ one \end{tabular}
\begin{tabular}{ll} \write18{touch x} a & b \\ \input{/etc/passwd} & d \end{tabular}
% \begin{tabular}{ll} commented & out \\ a & b \end{tabular}
\end{document}
"""


def test_tables_stand_alone() -> None:
    simple, wide, long, *_ = tables_of(PAPER, document_definitions({"main.tex": PAPER}))
    assert "cite" not in simple.latex
    assert "ref" not in simple.latex
    assert "comment" not in simple.latex
    assert read_latex_table(simple.latex).text_rows() == [
        ["Name", "Value"],
        ["Ours-one", "1.5"],
        ["see Table", "2"],
    ]
    assert simple.packages == ("booktabs",)
    assert wide.preamble == (r"\newcolumntype{Y}{>{\centering\arraybackslash}X}",)
    assert long.latex.startswith(r"\begin{tabular}{ll}")
    assert read_latex_table(long.latex).text_rows() == [["A", "B"], ["a", "1"], ["b", "2"], ["last", "row"]]


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("harvest")
    paper = folder / "paper"
    paper.mkdir()
    (paper / "main.tex").write_text(PAPER, encoding="utf-8")
    (paper / "LICENSE").write_text("CC-BY-4.0\n", encoding="utf-8")
    copy = folder / "copy.tex"
    copy.write_text(PAPER, encoding="utf-8")
    harvest([paper, copy], folder / "pool.jsonl", licence="none given")
    return folder / "pool.jsonl"


@pytest.mark.latex
@needs_latex
def test_entries(pool: Path) -> None:
    entries = read_pool(pool)
    assert [e.environment for e in entries] == ["tabular", "tabularx", "longtable"]
    assert [(e.n_rows, e.n_cols) for e in entries] == [(3, 2), (2, 3), (4, 2)]
    assert [e.complexity for e in entries] == ["simple", "moderate", "simple"]
    assert {e.licence for e in entries} == {"CC-BY-4.0"}
    assert entries[1].width_pt == pytest.approx(227.6, abs=0.5)
    assert 30 < entries[0].height_pt < 60


@pytest.mark.latex
@needs_latex
def test_rejections_say_why(pool: Path) -> None:
    lines = rejected_path(pool).read_text(encoding="utf-8").splitlines()
    reasons = [json.loads(line)["reason"] for line in lines if "copy" not in json.loads(line)["source"]]
    assert reasons[:2] == ["has pictures", "has fewer than two rows or columns"]
    assert any("Undefined control sequence" in reason for reason in reasons)
    assert sum("does not compile" in reason for reason in reasons) == 2
    copies = [json.loads(line)["reason"] for line in lines if "copy" in json.loads(line)["source"]]
    assert set(copies) == {"is there already"}


@pytest.mark.latex
@needs_latex
def test_a_table_without_end_costs_only_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure_module, "_CPU_S", 1.0)
    good = TableSource(r"\begin{tabular}{ll}a & b\\c & d\end{tabular}")
    endless = TableSource(r"\begin{tabular}{l}\loop\iftrue\repeat\end{tabular}")
    first, second, third = measure_module.measure([good, endless, good])
    assert isinstance(first, measure_module.MeasuredTable)
    assert isinstance(third, measure_module.MeasuredTable)
    assert "CPU time" in str(second)


def test_a_broken_pool_is_named_by_line(tmp_path: Path) -> None:
    path = tmp_path / "pool.jsonl"
    path.write_text('{"sha": "x"}\n', encoding="utf-8")
    with pytest.raises(CorpusError, match="line 1"):
        read_pool(path)
    with pytest.raises(CorpusError, match="cannot be read"):
        read_pool(tmp_path / "nowhere")
    assert "latex" in PoolEntry.model_fields
