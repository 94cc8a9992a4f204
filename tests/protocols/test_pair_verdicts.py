"""Documents that are the same, document types, and documents that decide: what a ranking says of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from parsemark.corpora.render import look_at
from parsemark.model import Sample
from parsemark.pdf import extract_page
from parsemark.protocols.run_scores.aggregate import figure_of, mean_statistic
from parsemark.protocols.run_scores.notes import names_another_leader
from parsemark.protocols.run_scores.pair_verdicts import rank
from parsemark.protocols.run_scores.sums import FigureSums
from parsemark.stats.document_types import Division
from parsemark.stats.intervals import jackknife_interval
from parsemark.store.run_tables import Places
from parsemark.store.summary import FigureInfo

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


def test_types_are_what_the_corpus_says_or_else_the_producer() -> None:
    named = json.dumps({"producer": "pdfTeX"})
    said = [row(name, attributes='{"template": "x"}', identity=named) for name in "ab"]
    said.append(row("c", identity=named))
    assert places(said).division == Division("template", ("x", "x", "(c)"))
    by_producer = [row("a", identity=named), row("b", identity=named), row("c")]
    assert places(by_producer).division == Division("producer", ("pdfTeX", "pdfTeX", "(c)"))
    assert places([row("a"), row("b")]).division is None
    assert places(by_producer).among(["c", "a"]).division == Division("producer", ("(c)", "pdfTeX"))


def test_types_are_chosen_by_documents_not_by_pages() -> None:
    """Nine pages of three documents of a template are three documents."""
    rows = [
        row(f"{d}{page}", document=d, pdf_sha256=d, attributes=json.dumps({"maker": m, "template": d[0]}))
        for d, m in (("x1", "m"), ("y1", "m"), ("z1", "n"), ("z2", "n"), ("x2", "m"), ("z3", "n"))
        for page in range(1, 4)
    ]
    found = places(rows).division
    assert found is not None and found.attribute == "maker"


def test_a_page_that_was_taken_from_a_pdf_remembers_it(tmp_path: Path) -> None:
    source = sorted(DEMO.glob("*.pdf"))[0]
    for name in ("one.pdf", "two.pdf"):
        extract_page(source, 1, tmp_path / name)
    one, two = (look_at(Sample(n, n, 1, None, tmp_path / f"{n}.pdf")).identity for n in ("one", "two"))
    assert one["taken_from"] == two["taken_from"] and len(one["taken_from"]) == 64
    assert "taken_from" not in look_at(Sample("s", "s", 1, None, source)).identity
    assert one["text"] == look_at(Sample("s", "s", 1, None, source)).identity["text"]


def figure(values: dict[str, np.ndarray], tables: np.ndarray, types: list[str] | None = None) -> FigureSums:
    names = tuple(f"d{k:02d}" for k in range(len(tables)))
    sums = {parser: np.stack([own * tables, tables], axis=1) for parser, own in values.items()}
    division = Division("template", tuple(types)) if types else None
    return FigureSums(INFO, names, names, sums, mean_statistic, division=division)


def test_where_nothing_is_left_without_a_document_nobody_would_be_first() -> None:
    tables = np.array([60.0] + [1.0] * 9)
    only_there = np.array([0.9] + [0.0] * 9)
    found = rank(figure({"zero": np.zeros(10), "best": only_there, "half": only_there / 2}, tables))
    assert found.best == "best" and any("has 87 % of the weight" in note for note in found.notes)
    assert not any("would lead" in note for note in found.notes)


def test_the_document_that_decides_is_named() -> None:
    rng = np.random.default_rng(0)
    tables = np.array([60.0] + [1.0] * 19)
    a, b = rng.uniform(0.5, 0.6, 20), rng.uniform(0.6, 0.7, 20)
    a[0], b[0] = 0.9, 0.2
    found = rank(figure({"a": a, "b": b}, tables))
    assert found.best == "a" and found.by_document["b"] > found.by_document["a"]
    assert max(found.largest_shares, key=lambda name: found.largest_shares[name]) == "d00"
    warning = next(note for note in found.notes if "d00, has 76 %" in note)
    assert "Without it b would lead, not a." in warning
    assert [note for note in found.notes if names_another_leader(note)] == [warning]
    assert all(v.state == "not_significant" for v in found.verdicts)
    assert not any("holds" in note for note in rank(figure({"a": a, "b": b}, np.ones(20))).notes)


def unlike(n_types: int) -> tuple[dict[str, np.ndarray], list[str]]:
    """A is far ahead of B on all types but the third, on which it is a little behind."""
    rng, of = np.random.default_rng(1), np.arange(60) % n_types
    gap = np.where(of == 2, -0.1, 0.5)
    b = rng.uniform(0.3, 0.35, 60)
    return {"a": b + gap, "b": b}, [f"t{k}" for k in of]


def test_a_verdict_is_about_documents_like_these_and_open_for_a_fourth_type() -> None:
    values, types = unlike(3)
    found = rank(figure(values, np.ones(60), types))
    (verdict,) = found.verdicts
    assert (verdict.state, verdict.new_types, verdict.n_documents) == ("better", "not_significant", 60)
    assert verdict.also_for_new_types == "open" and verdict.seen_from("b").also_for_new_types == "open"
    assert found.leaders == {"a"} and found.ranks == {"a": (1, 1), "b": (2, 2)}
    assert found.new_types is not None and not found.new_types.is_answered
    low, high = found.new_types.scores["a"]
    assert low < 0.3 and high > 0.8, "the range over these types"
    assert any(
        note.startswith(
            "The documents come from 3 templates (t0, t1, t2), so no conclusion is possible about documents "
            "from other templates. a scores "
        )
        for note in found.notes
    )
    plain = rank(figure(values, np.ones(60)))
    assert plain.verdicts[0].also_for_new_types is None and plain.new_types is None


def test_from_six_types_on_a_verdict_can_hold_for_new_ones() -> None:
    values, types = unlike(12)
    found = rank(figure(values, np.ones(60), types))
    assert found.verdicts[0].also_for_new_types == "yes" and found.new_types is not None
    sums = np.array([[values["a"][np.array(types) == t].sum(), 5.0] for t in dict.fromkeys(types)])
    by_hand = jackknife_interval(sums, mean_statistic, weights=sums[:, 1])
    assert found.new_types.scores["a"] == pytest.approx(by_hand)
    (note,) = [
        note for note in found.notes if note.startswith("For documents from other templates, a scores")
    ]
    assert "(95 % CI, from 12 templates)" in note
    barely = {"a": values["a"], "b": values["a"] - np.where(np.arange(60) % 12 < 2, 0.3, 0.0)}
    (open_,) = rank(figure(barely, np.ones(60), types)).verdicts
    assert (open_.state, open_.also_for_new_types) == ("better", "open")


def test_scores_and_verdicts_have_one_sampling_unit() -> None:
    """Single scores sampled types, verdicts documents: .52 to .97 stood beside a verdict of −.88 to −.42."""
    types = [f"t{k % 4}" for k in range(40)]
    noise = np.random.default_rng(0).normal(0, 0.02, 40)
    values = np.array([0.2, 0.4, 0.6, 0.8])[np.arange(40) % 4] + noise
    typed = figure({"a": values, "b": np.full(40, 0.1)}, np.ones(40), types)
    score, (verdict,) = figure_of(typed, "a"), rank(typed).verdicts
    plain = figure_of(figure({"a": values}, np.ones(40)), "a")
    assert score.value == pytest.approx(plain.value)
    assert score.high - score.low < 0.3 * (plain.high - plain.low)
    assert verdict.high - verdict.low < 2.5 * (score.high - score.low)


def test_too_few_documents_have_no_interval_and_a_sentence() -> None:
    values = {"a": np.full(5, 0.9), "b": np.full(5, 0.1)}
    few = figure(values, np.ones(5), ["x", "x", "x", "y", "y"])
    found = rank(few)
    assert figure_of(few, "a").interval is None and figure_of(few, "a").value == pytest.approx(0.9)
    assert [v.state for v in found.verdicts] == ["not_significant"] and found.leaders == frozenset()
    assert found.notes == ["5 documents: confidence intervals and verdicts need at least 6."]


def test_no_difference_is_named_that_the_figure_cannot_have() -> None:
    from parsemark.protocols.run_scores.notes import resolution_notes

    said = "30 documents: differences of any size in Score are mostly not significant."
    assert resolution_notes(INFO, 30, 2.67) == [said]
    assert "under 0.21 in Score" in resolution_notes(INFO, 30, 0.21)[0]
    of_ten = INFO.model_copy(update={"largest": 10.0})
    assert "under 2.67 in Score" in resolution_notes(of_ten, 30, 2.67)[0]


def test_documents_that_add_nothing_are_not_counted() -> None:
    names = tuple(f"d{k}" for k in range(9))
    sums = {p: np.array([[v, 1.0]] * 4 + [[0.0, 0.0]] * 5) for p, v in {"one": 0.9, "two": 0.4}.items()}
    found = rank(FigureSums(INFO, names, names, sums, mean_statistic))
    assert found.n_documents == 4
    assert any(
        note.startswith("4 of 9 documents could be scored: confidence intervals and verdicts need")
        for note in found.notes
    )
