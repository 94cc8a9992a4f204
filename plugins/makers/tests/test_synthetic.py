"""The generator: shares are kept, truth is reproducible and faithful."""

import re
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsemark import corpus_make
from parsemark.corpora import load_corpus
from parsemark.corpora.check import check_corpus
from parsemark.corpora.files import read_manifest
from parsemark.errors import LatexError, MakingError, UsageError
from parsemark.formats import read_table
from parsemark_makers.latex.documents.make import Latex
from parsemark_makers.synthetic import Documents, Synthetic, Typst
from parsemark_makers.synthetic.plan import stream
from parsemark_makers.synthetic.renderers import latex
from parsemark_makers.synthetic.table_draft import lay_out
from parsemark_makers.synthetic.table_kinds import KINDS

needs_latex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
SMALL = Synthetic(pages=6, seed=11, empty=0.2, long=0.34, rotated=0.4, double_column=0.5)


@settings(max_examples=60)
@given(
    pages=st.integers(1, 200),
    seed=st.integers(0, 5),
    empty=st.floats(0, 1),
    long=st.floats(0, 0.5),
    rotated=st.floats(0, 1),
)
def test_plans_have_the_asked_number_of_pages_and_shares(pages, seed, empty, long, rotated) -> None:
    options = Synthetic(pages=pages, seed=seed, empty=empty, long=long, rotated=rotated)
    plans = options.plans
    flat = [page for plan in plans for page in plan.pages]
    long_pages = sum(len(plan.pages) for plan in plans if plan.long)
    assert len(flat) == pages
    assert abs(long_pages - long * pages) <= 1.5
    assert sum(page.tables == 0 for page in flat) == min(pages - long_pages, round(empty * pages))
    assert all(len(plan.pages) >= 2 for plan in plans if plan.long)
    assert len({plan.name for plan in plans}) == len(plans)
    assert plans == replace(options).plans


@settings(max_examples=60)
@given(
    kind=st.sampled_from(sorted(KINDS)),
    language=st.sampled_from(["english", "french"]),
    rows=st.integers(2, 60),
    cols=st.integers(2, 15),
    seed=st.integers(0, 50),
)
def test_every_kind_of_table_fills_its_grid(kind, language, rows, cols, seed) -> None:
    draft = KINDS[kind](stream(seed), language, rows, cols)
    table = lay_out(draft).table()
    assert table.holes == ()
    assert table.n_cols == draft.n_cols
    assert table.n_rows >= rows - 2


def test_options_are_checked() -> None:
    for name in ("../x", "Ü b", "", "a/b", ".x"):
        makers: list[Callable[[str], object]] = [
            lambda name: Synthetic(pages=1, name=name),
            lambda name: Typst(pages=1, name=name),
            lambda name: Latex(name=name),
        ]
        for make in makers:
            with pytest.raises(UsageError, match="A corpus cannot be called"):
                make(name)
    with pytest.raises(UsageError, match="from 0 to 1"):
        Synthetic(pages=3, empty=1.5)
    with pytest.raises(UsageError, match="1 to 8"):
        Synthetic(pages=3, tables_per_page=0.5)
    with pytest.raises(UsageError, match="line styles"):
        Synthetic(pages=3, lines=("wavy:1",))
    with pytest.raises(UsageError, match="Cannot read"):
        Synthetic(pages=3, lines=("full",))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("small") / "corpus"
    corpus_make(SMALL, out, workers=2)
    return out


@pytest.mark.latex
@needs_latex
def test_the_same_seed_gives_the_same_bytes(small: Path, tmp_path: Path) -> None:
    again = corpus_make(SMALL, tmp_path / "again", workers=1)
    assert again.manifest.files == read_manifest(small).files
    with pytest.raises(UsageError, match="not empty"):
        corpus_make(SMALL, small)


@pytest.mark.latex
@needs_latex
@pytest.mark.parametrize(("failing", "how"), [(8, "another of the same plan"), (16, "a simpler document")])
def test_a_document_that_cannot_be_made_is_replaced_and_listed(tmp_path, monkeypatch, failing, how) -> None:
    render = latex.render
    draws = Counter[str]()

    def fail(drafts, folder):
        draws[drafts[0].name] += 1
        if drafts[0].name == "synthetic-0001" and draws["synthetic-0001"] <= failing:
            raise LatexError("A page overflows.")
        return render(drafts, folder)

    monkeypatch.setattr(latex, "render", fail)
    options = Synthetic(pages=3, seed=4, document_pages=1, long=0, rotated=0)
    made = corpus_make(options, tmp_path / "corpus", workers=1)
    manifest = made.manifest
    assert made.notes == (f"synthetic-0001 was {manifest.settings['replaced']['synthetic-0001']}",)
    assert len(load_corpus(str(tmp_path / "corpus"))) == 3
    assert list(manifest.settings["replaced"]) == ["synthetic-0001"]
    assert how in manifest.settings["replaced"]["synthetic-0001"]
    assert f"A page overflows ({failing}×)" in manifest.settings["replaced"]["synthetic-0001"]
    draws.clear()
    again = corpus_make(options, tmp_path / "again", workers=1)
    assert again.manifest.files == manifest.files


@pytest.mark.latex
@needs_latex
def test_what_cannot_be_made_at_all_says_why(tmp_path, monkeypatch) -> None:
    def fail(drafts, folder):
        raise LatexError(f"Never {drafts[0].look.columns}.")

    monkeypatch.setattr(latex, "render", fail)
    with pytest.raises(
        MakingError, match=r"2 of the documents.*synthetic-0001.*24 draws.*Never.*another seed"
    ):
        corpus_make(Synthetic(pages=2, seed=4, document_pages=1, long=0), tmp_path / "corpus", workers=1)


@pytest.mark.latex
@needs_latex
def test_truth_is_what_the_pdf_shows(small: Path) -> None:
    report = check_corpus(load_corpus(str(small)))
    assert report.problems == []
    assert report.tables == report.tables_at_ink > 0
    assert re.search(r"grids equal to TeX's own: (\d+) of \1 ", report.measured[0])
    assert report.glyphs_inside >= 0.999 * report.glyphs > 0
    assert report.cells_equal >= 0.99 * report.cells > 0
    assert report.elements_found == report.elements > 0


@given(seed=st.integers(0, 500), rows=st.integers(2, 150), language=st.sampled_from(["english", "french"]))
def test_timetables_end_in_the_evening(seed: int, rows: int, language: str) -> None:
    draft = KINDS["schedule"](stream(seed), language, rows, 5)
    labels = [row.pieces[0].text for row in draft.rows if row.kind != "section"]
    assert len(set(labels)) == len(labels) == rows - (rows > 3)
    weeks: dict[str, int] = {}
    for label in labels:
        week, hours, minutes, end, rest = re.fullmatch(
            r"(\(\d+\) )?(\d+)(?:[:]| h )(\d\d)–(\d+)(?:[:]| h )(\d\d)", label
        ).groups()
        first, last = int(hours) * 60 + int(minutes), int(end) * 60 + int(rest)
        assert max(8 * 60, weeks.get(week, 0)) <= first < last <= 20 * 60
        weeks[week] = last


@given(pages=st.integers(4, 60), mean=st.floats(1, 8), seed=st.integers(0, 5))
def test_pages_with_tables_have_as_many_as_asked(pages: int, mean: float, seed: int) -> None:
    options = Synthetic(pages=pages, seed=seed, long=0, rotated=0, empty=0.25, tables_per_page=mean)
    tables = [page.tables for plan in options.plans for page in plan.pages if page.tables]
    assert sum(tables) == round(mean * len(tables))
    assert max(tables) - min(tables) <= 1


@pytest.mark.latex
@needs_latex
def test_dense_pages_have_all_their_tables(tmp_path: Path) -> None:
    options = Synthetic(pages=2, seed=5, empty=0, long=0, rotated=0, tables_per_page=4.5)
    corpus_make(options, tmp_path / "corpus", workers=1)
    corpus = load_corpus(str(tmp_path / "corpus"))
    assert sum(len(sample.truth.tables) for sample in corpus.samples()) == 9
    assert check_corpus(corpus).is_faithful


@pytest.mark.latex
@needs_latex
def test_latex_sets_the_drafts_of_all_renderers(tmp_path: Path) -> None:
    class Drafts(Documents):
        renderer, family = "latex", "latex"

    kinds_set = ("invoice", "laboratory", "form")
    options = Drafts(pages=4, seed=2, name="drafts", languages=("english",), kinds=kinds_set)
    corpus_make(options, tmp_path / "corpus")
    corpus = load_corpus(str(tmp_path / "corpus"))
    assert check_corpus(corpus).is_faithful
    kinds = {t.attributes["kind"] for sample in corpus.samples() for t in sample.truth.tables}
    assert kinds == {"invoice", "laboratory", "form"}


@pytest.mark.latex
@needs_latex
def test_parts_of_a_long_table_carry_their_own_latex(small: Path) -> None:
    parts = [t for s in load_corpus(str(small)).samples() for t in s.truth.tables if t.attributes["long"]]
    assert {part.attributes["part"] for part in parts} >= {1, 2}
    for part in parts:
        assert read_table(part.latex, "latex").text_rows() == part.table.text_rows()
