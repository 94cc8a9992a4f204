"""Documents that are the same, kinds of documents, and documents that decide: what a ranking says of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from parsemark.corpora.render import look_at
from parsemark.model import Sample
from parsemark.pdf import extract_page
from parsemark.protocols.figures.aggregate import figure_of, mean_statistic
from parsemark.protocols.figures.figure import FigureInfo, FigureSums
from parsemark.protocols.figures.pair_verdicts import rank
from parsemark.protocols.run_data.tables import Places

INFO = FigureInfo(name="score", label="Score", definition="d", denominator="tables")
DEMO = Path(__file__).parents[2] / "src/parsemark/corpora/demo/pdfs"


def places(rows: list[dict[str, object]]) -> Places:
    return Places.of(pl.DataFrame(rows))


def row(sample: str, **more: object) -> dict[str, object]:
    plain = {"sample": sample, "document": sample, "page_number": 1, "pdf_sha256": f"hash of {sample}"}
    return {**plain, "attributes": None, "identity": None, **more}


def test_copies_are_one_document() -> None:
    text, taken = json.dumps({"text": "t"}), json.dumps({"taken_from": "s"})
    same = [
        row("a", pdf_sha256="x"),
        row("b", pdf_sha256="x"),
        row("c", identity=text),
        row("d", identity=text),
    ]
    found = places([*same, row("e", identity=taken), row("f", identity=taken), row("g")])
    assert found.documents == ("a", "a", "c", "c", "e", "e", "g")
    assert found.n_copies == 3


def test_documents_that_share_only_a_page_are_two() -> None:
    def page(sample: str, document: str, number: int, text: str) -> dict[str, object]:
        return row(
            sample,
            document=document,
            page_number=number,
            identity=json.dumps({"text": text}),
            pdf_sha256=document,
        )

    cover = [page("a1", "a", 1, "cover"), page("b1", "b", 1, "cover")]
    assert places(cover).n_copies == 1
    assert places([*cover, page("a2", "a", 2, "one"), page("b2", "b", 2, "two")]).n_copies == 0


def test_kinds_are_what_the_corpus_says_or_else_the_maker() -> None:
    named = json.dumps({"producer": "pdfTeX"})
    said = [row("a", attributes='{"template": "x"}', identity=named), row("b", identity=named)]
    assert places(said).kinds == {"template": ("x", "(b)")}
    assert places([row("a", identity=named), row("b")]).kinds == {"producer": ("pdfTeX", "(b)")}
    assert places([row("a"), row("b")]).kinds == {}


def test_a_page_that_was_taken_from_a_pdf_remembers_it(tmp_path: Path) -> None:
    source = sorted(DEMO.glob("*.pdf"))[0]
    for name in ("one.pdf", "two.pdf"):
        extract_page(source, 1, tmp_path / name)
    one, two = (look_at(Sample(n, n, 1, None, tmp_path / f"{n}.pdf")).identity for n in ("one", "two"))
    assert one["taken_from"] == two["taken_from"] and len(one["taken_from"]) == 64
    assert "taken_from" not in look_at(Sample("s", "s", 1, None, source)).identity
    assert one["text"] == look_at(Sample("s", "s", 1, None, source)).identity["text"]


def figure(values: dict[str, np.ndarray], tables: np.ndarray, kinds: list[str] | None = None) -> FigureSums:
    names = tuple(f"d{k:02d}" for k in range(len(tables)))
    sums = {parser: np.stack([own * tables, tables], axis=1) for parser, own in values.items()}
    return FigureSums(
        INFO, names, names, sums, mean_statistic, kinds={"template": tuple(kinds)} if kinds else {}
    )


def test_the_document_that_decides_is_named() -> None:
    rng = np.random.default_rng(0)
    tables = np.array([60.0] + [1.0] * 19)
    a, b = rng.uniform(0.5, 0.6, 20), rng.uniform(0.6, 0.7, 20)
    a[0], b[0] = 0.9, 0.2
    found = rank(figure({"a": a, "b": b}, tables))
    assert found.best == "a" and found.by_document["b"] > found.by_document["a"]
    assert max(found.leverage, key=lambda name: found.leverage[name]) == "d00"
    warning = next(note for note in found.notes if "d00 holds 76 %" in note)
    assert "Without it b would be first, not a." in warning
    assert all(v.state == "not_resolved" for v in found.verdicts)
    assert not any("holds" in note for note in rank(figure({"a": a, "b": b}, np.ones(20))).notes)


def test_few_kinds_that_matter_answer_for_themselves_alone() -> None:
    rng = np.random.default_rng(1)
    kinds = [f"t{k % 3}" for k in range(30)]
    gap = np.array([0.5, 0.3, -0.1])[np.arange(30) % 3]
    b = rng.uniform(0.3, 0.35, 30)
    values = {"a": b + gap, "b": b}
    found = rank(figure(values, np.ones(30), kinds))
    (verdict,) = found.verdicts
    assert (verdict.state, verdict.here, found.kinds, found.n_kinds) == (
        "not_resolved",
        "better",
        "template",
        3,
    )
    assert verdict.seen_from("b").here == "worse"
    assert any("Not decidable for new kinds: 3 are too few (6 are needed)" in note for note in found.notes)
    plain = rank(figure(values, np.ones(30)))
    assert plain.verdicts[0].state == "better" and plain.verdicts[0].here is None


def test_intervals_are_over_kinds_where_they_matter() -> None:
    kinds = [f"t{k % 4}" for k in range(40)]
    values = np.array([0.2, 0.4, 0.6, 0.8])[np.arange(40) % 4] + np.random.default_rng(0).normal(0, 0.02, 40)
    over_kinds = figure_of(figure({"a": values}, np.ones(40), kinds), "a")
    over_documents = figure_of(figure({"a": values}, np.ones(40)), "a")
    assert over_kinds.value == pytest.approx(over_documents.value)
    assert over_kinds.high - over_kinds.low > 2 * (over_documents.high - over_documents.low)


def test_no_difference_is_named_that_the_figure_cannot_have() -> None:
    from parsemark.protocols.figures.pair_verdicts import _ranking_notes

    said = "30 documents: differences of any size in Score are mostly not resolved."
    assert _ranking_notes(INFO, 30, 2.67, None) == [said]
    assert "under 0.21 in Score" in _ranking_notes(INFO, 30, 0.21, None)[0]
    of_ten = INFO.model_copy(update={"largest": 10.0})
    assert "under 2.67 in Score" in _ranking_notes(of_ten, 30, 2.67, None)[0]


def test_documents_that_add_nothing_are_not_counted() -> None:
    names = tuple(f"d{k}" for k in range(9))
    sums = {p: np.array([[v, 1.0]] * 4 + [[0.0, 0.0]] * 5) for p, v in {"one": 0.9, "two": 0.4}.items()}
    found = rank(FigureSums(INFO, names, names, sums, mean_statistic))
    assert found.n_documents == 4
    assert any("Fewer than 6 documents" in note for note in found.notes)
