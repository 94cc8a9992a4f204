"""The demo corpus is whole, covers what reports are broken down by, and agrees with itself."""

from collections import Counter

from parsemark.corpora import load_corpus
from parsemark.formats import read_table


def test_the_demo_corpus_is_whole_and_covers_the_attributes() -> None:
    corpus = load_corpus("demo")
    root = corpus.root
    assert sum(f.stat().st_size for f in root.rglob("*") if f.is_file()) < 3_000_000
    samples = list(corpus.samples())
    tables = [t for s in samples for t in s.truth.tables]
    assert len(samples) >= 60
    assert len({s.document for s in samples}) >= 40
    assert sum(not s.truth.tables for s in samples) >= 8
    assert {s.truth.attributes["maker"] for s in samples} == {"latex", "typst", "html", "docx"}
    seen = {key: Counter(t.attributes[key] for t in tables) for key in tables[0].attributes}
    assert set(seen["line"]) == {"full_line", "fewer_line", "less_line", "wireless_line"}
    assert set(seen["complexity"]) == {"simple", "moderate", "complex"}
    assert seen["rotated"].keys() > {0}
    assert seen["long"][True] >= 2
    assert {s.truth.attributes["language"] for s in samples} == {
        "english", "french", "simplified_chinese", "japanese", "korean", "russian", "greek"
    }  # fmt: skip
    assert {s.truth.attributes["layout"] for s in samples} == {"single_column", "double_column"}


def test_html_and_latex_of_the_demo_say_the_same_as_its_grids() -> None:
    for sample in load_corpus("demo").samples():
        for element in sample.truth.tables:
            read = read_table(element.html, "html")
            assert [(c.row, c.col, c.rowspan, c.colspan) for c in read.cells] == [
                (c.row, c.col, c.rowspan, c.colspan) for c in element.table.cells
            ]
