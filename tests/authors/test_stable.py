"""`stable`: pages rewritten so that they look the same, and who says something else of them."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from jsonschema import validate
from tests.pdf.test_visible import SEEN, with_field, written

from parsemark import api
from parsemark.cli.stable import _stability_parts
from parsemark.corpora import Corpus, load_corpus
from parsemark.corpora.stable_variants import CHECK_DPI, VARIANTS, looks_same, rewrite_corpus, rewrite_pdf
from parsemark.errors import PdfError, UnknownNameError
from parsemark.model import Box, Element, Page, Prediction, Sample, Status, Table
from parsemark.pdf import count_pages, page_words, producer, render_page, seen_page
from parsemark.schemas import json_schemas
from parsemark.verdicts.stability import Stability, likeness

WORKER = """\
# /// script
# requires-python = ">=3.11"
# dependencies = []
#
# [tool.parsemark]
# licence = "MIT"
# gives = ["markdown"]
# ///
import os
from pathlib import Path

from parsemark_worker import serve, text_output

def parse(pdf, page, options):
    data = Path(pdf).read_bytes()
    if b"Another Writer" in data:
        raise ValueError("an unknown producer")
    rows = ["| a | b |", "|---|---|", "| 1 | 2 |"]
    if b"/Rotate 90" in data:
        rows[2] = "| 1 | |"
    word = "beta" if os.environ["OMP_NUM_THREADS"] == "1" else "gamma"
    return text_output("markdown", "\\n".join([f"alpha {word} delta", "", *rows]))

serve(parse)
"""
REWRITTEN = ("objects", "painting", "streams", "split", "claim", "rotated")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A document of two pages with several texts each."""
    pdf = tmp_path_factory.mktemp("stable") / "two.pdf"
    content = b"".join(SEEN % (400 - 20 * k, b"line %d of the page" % k) for k in range(5))
    written(pdf, content, content)
    return pdf


@pytest.fixture(scope="module")
def found(pages: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Stability, Path]:
    """A parser that depends on the file: on its producer, on /Rotate and on the number of threads."""
    folder = tmp_path_factory.mktemp("run")
    worker = folder / "moody.py"
    worker.write_text(WORKER)
    table = Table.from_rows([["a", "b"], ["1", "2"]])
    truth = Page("two-p1", 600, 800, (Element("t0", "table", Box(10, 10, 200, 100), table=table),))
    samples = [Sample("two-p1", "two", 1, truth, pages), Sample("two-p2", "two", 2, None, pages)]
    corpus = Corpus.of("two", samples, root=folder, version="1", licence="CC0")
    mute = folder / "mute.py"
    mute.write_text(WORKER.replace('b"Another Writer" in data', "True"))
    stability, run = api.stable(corpus, [str(mute), str(worker)], out=folder / "out", workers=1)
    assert len(run.records()) == 2 * len(run.table("samples"))
    return stability, run.path


@pytest.mark.parametrize("variant", REWRITTEN)
def test_rewritten_pages_look_the_same_and_are_other_files(pages: Path, variant: str, tmp_path: Path) -> None:
    out = tmp_path / "out.pdf"
    out.write_bytes(rewrite_pdf(pages, variant, 2))
    number = 1 if variant == "split" else 2
    one, other = (
        np.asarray(render_page(pdf, n, CHECK_DPI)).astype(np.int16) for pdf, n in ((pages, 2), (out, number))
    )
    assert looks_same(one, other) and out.read_bytes() != pages.read_bytes()
    seen = [sorted(w.text for w in seen_page(pdf, n).words) for pdf, n in ((pages, 2), (out, number))]
    assert seen[0] == seen[1]
    assert not looks_same(one, 255 - other) and not looks_same(one, other[:-1])


def test_each_variant_does_what_it_says(pages: Path, tmp_path: Path) -> None:
    made = {name: tmp_path / f"{name}.pdf" for name in REWRITTEN}
    for name, path in made.items():
        path.write_bytes(rewrite_pdf(pages, name))
    assert count_pages(made["split"]) == 1
    assert producer(made["claim"]) != producer(pages)
    assert b"/Linearized" in made["objects"].read_bytes()
    assert b"/Rotate 90" in made["rotated"].read_bytes()
    assert b"FlateDecode" not in made["streams"].read_bytes()
    assert [w.text for w in page_words(made["painting"], 1)] != [w.text for w in page_words(pages, 1)]


def test_fonts_are_subset_again(tmp_path: Path) -> None:
    demo = load_corpus("demo")
    typst = demo.read(next(key for key in demo.keys if key.startswith("demo-web"))).pdf
    assert typst is not None
    (tmp_path / "out.pdf").write_bytes(rewrite_pdf(typst, "fonts"))
    assert [w.text for w in page_words(tmp_path / "out.pdf", 1)] == [w.text for w in page_words(typst, 1)]


def test_a_variant_that_squashes_fields_is_left_out(tmp_path: Path) -> None:
    painted = b"/Tx BMC BT /F 9 Tf 0 g 2 5 Td (Jane Doe) Tj ET EMC"
    pdf = with_field(tmp_path / "form.pdf", SEEN % (400, b"Name of the pupil"), painted)
    corpus = Corpus.of("x", [Sample("f", "f", 1, None, pdf)], root=tmp_path, version="1", licence="CC0")
    made = rewrite_corpus(corpus, ["f"], tmp_path / "out", ["streams", "rotated"])
    assert [(one.variant, one.why) for one in made.left_out] == [("rotated", "it would look different")]
    plain, whole = (np.asarray(render_page(pdf, 1, CHECK_DPI, forms=forms)) for forms in (False, True))
    assert (plain != whole).any(), "only pictures that ask for it show what was filled in"


def test_what_cannot_be_rewritten_is_said(pages: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.4 no document")
    with pytest.raises(PdfError, match="no TrueType font"):
        rewrite_pdf(pages, "fonts")
    corpus = Corpus.of("x", [Sample("b", "b", 1, None, broken)], root=tmp_path, version="1", licence="CC0")
    made = rewrite_corpus(corpus, ["b"], tmp_path / "out")
    assert {variant for _, variant in made.origin.values()} == {"original", "again", "threads"}
    assert {one.variant for one in made.left_out} == set(VARIANTS) - {"again", "threads"}
    with pytest.raises(UnknownNameError, match="painting"):
        rewrite_corpus(corpus, ["b"], tmp_path / "out", ["paintings"])


def test_moves_are_named_and_nothing_is_lost(found: tuple[Stability, Path]) -> None:
    stability, folder = found
    own, mute = stability.parsers
    assert (mute.moved.value, mute.failed.value) == (0, 1), "who always fails is last, however steady"
    assert own.failed.value == 1 and all(row.status == "parser_failed" for row in mute.rows)
    assert (own.moved.value, own.moved.n, own.changed.value) == (1.0, 2, 1.0)
    by_variant = own.by_variant()
    assert by_variant["again"] == by_variant["objects"] == by_variant["streams"] == (0, 0, 2)
    assert by_variant["claim"] == (2, 2, 2), "a failure is a move"
    assert by_variant["rotated"] == (2, 2, 2), "a cell is lost"
    assert by_variant["threads"] == (1, 2, 2), "words are no part of the score of the page with a truth"
    assert own.worst is not None and own.worst.variant == "claim" and own.worst.move == 1.0
    rows = pl.read_parquet(folder / "stability.parquet")
    assert len(rows) == len(own.rows) + len(mute.rows) == 2 * sum(n for *_, n in by_variant.values())
    assert set(rows.filter(variant="claim")["status"]) == {"parser_failed"}
    assert {one.variant for one in stability.left_out} <= {"fonts", "printed"}
    figures = json.loads((folder / "stability.json").read_text())
    validate(figures, json_schemas()["stable.schema.json"])
    assert figures["parsers"][own.parser]["worst"]["variant"] == "claim"


def test_the_terminal_names_the_worst_page(found: tuple[Stability, Path]) -> None:
    lines = [part for part in _stability_parts(found[0]) if isinstance(part, str)]
    assert any(
        "variant fonts on 2 pages: it cannot be rewritten: it has no TrueType font" in line for line in lines
    )


def test_likeness_is_that_of_words_and_tables() -> None:
    def output(text: str | None, status: Status = Status.OK) -> Prediction:
        table = Element("t", "table", table=Table.from_rows([["x", "y"]]))
        return Prediction("s", "p", status, (table,) if text is None else (), text)

    assert likeness(output("one two"), output("**One** two")) == 1
    assert likeness(output("one two three four"), output("one two four")) == pytest.approx(6 / 7)
    assert likeness(output("one"), output(None, Status.PARSER_FAILED)) == 0
    assert likeness(output(None, Status.PARSER_FAILED), output(None, Status.PARSER_FAILED)) == 1
    assert likeness(output(None), output("x y")) == 0, "the table is gone"
