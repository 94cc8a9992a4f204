from collections.abc import Sequence

import numpy as np
import pytest

from parsemark.choose import Choice, ParserCandidate, in_words
from parsemark.choose.kinds import (
    NO_LAYER,
    TRAITS,
    KindStanding,
    best_by_kind,
    corpus_kinds,
    ink_kinds,
    text_kinds,
    unread_scans,
)
from parsemark.corpora import load_corpus
from parsemark.model import Box, Element, Prediction
from parsemark.pdf import Glyph, PageInk


def ink(glyphs: list[Box], boxes: Sequence[Box] = (), width: float = 600, height: float = 800) -> PageInk:
    return PageInk(width, height, tuple(Glyph("x", box) for box in glyphs), tuple(boxes))


def lines(x0: float, x1: float, n: int = 40) -> list[Box]:
    return [Box(x, 50 + 15 * k, x + 5, 60 + 15 * k) for k in range(n) for x in np.arange(x0, x1, 6)]


def test_columns_of_text_are_counted_and_those_of_tables_are_not() -> None:
    assert ink_kinds(ink(lines(50, 550)))["columns"] == "1"
    assert ink_kinds(ink(lines(50, 290) + lines(310, 550)))["columns"] == "2"
    narrow = [box for x in (50, 170, 290, 410, 520) for box in lines(x, x + 20)]
    assert ink_kinds(ink(narrow))["columns"] == "1"


def test_lines_shape_and_direction_are_seen() -> None:
    lying = [Box(50, 100 + 20 * k, 500, 101 + 20 * k) for k in range(8)]
    upright = [Box(50 + 90 * k, 100, 51 + 90 * k, 240) for k in range(5)]
    assert ink_kinds(ink([], lying))["lines"] == "lines"
    assert ink_kinds(ink([], lying + upright))["lines"] == "grid"
    assert ink_kinds(ink([], lying[:2]))["lines"] == "none"
    assert ink_kinds(ink([], width=800, height=600))["shape"] == "landscape"
    down = [Box(100, 50 + 6 * k, 110, 55 + 6 * k) for k in range(50)]
    assert ink_kinds(ink(down))["turned"] == "turned"
    assert ink_kinds(ink(lines(50, 550)))["turned"] == "upright"


def test_words_tell_language_numbers_formulas_and_whether_the_layer_can_be_trusted() -> None:
    english = text_kinds(
        "The share of the cost in the field is for those that are with us, and by this. " * 10
    )
    assert (english["language"], english["layer"], english["numbers"]) == ("English", "text", "few")
    assert text_kinds("1 2 3 12.5 77 alpha 8 9 10 11 4,5 19")["numbers"] == "many"
    assert text_kinds("表格 的 内容 是 数字 和 文字 " * 10)["language"] == "Chinese"
    assert text_kinds("таблица содержит числа и слова " * 5)["language"] == "Cyrillic"
    assert text_kinds("\ue001\ue002\ue003 abc \ue004\ue005 " * 20)["layer"] == "doubtful"
    assert text_kinds("  \n ")["layer"] == NO_LAYER
    assert text_kinds("sum ∑ of ∫ f ≤ g over x " * 10)["formulas"] == "some"


def test_every_page_of_the_demo_has_every_trait() -> None:
    corpus = load_corpus("demo")
    (kinds,) = corpus_kinds(corpus, corpus.keys[:1]).values()
    assert set(kinds) == set(TRAITS) and kinds["layer"] == "text"


def test_the_best_parser_of_a_kind_may_be_another_one() -> None:
    kinds = {f"s{k}": {"layer": "text" if k < 4 else NO_LAYER} for k in range(8)}
    guesses = np.array([[0.9] * 4 + [0.1] * 4, [0.5] * 4 + [0.8] * 4])
    unknown = np.full((2, 8), np.nan)
    by = {k.value: k for k in best_by_kind(kinds, list(kinds), ["a", "b"], "a", unknown, guesses)}
    assert (by["text"].parser, by[NO_LAYER].parser, by[NO_LAYER].n_labels) == ("a", "b", 0)
    labels = np.where(np.arange(8) >= 4, np.array([[1.0], [0.0]]), np.nan)
    by = {k.value: k for k in best_by_kind(kinds, list(kinds), ["a", "b"], "a", labels, guesses)}
    assert (by[NO_LAYER].parser, by[NO_LAYER].n_labels) == (
        "a",
        4,
    )  # what is measured counts, not what is guessed


def test_scans_that_nobody_reads_are_a_warning() -> None:
    kinds = {"scan": {"layer": NO_LAYER}, "page": {"layer": "text"}}
    silent = {(s, "p"): Prediction(s, "p") for s in kinds}
    assert "1 page without a text layer" in (unread_scans(kinds, silent) or "")
    read = {**silent, ("scan", "ocr"): Prediction("scan", "ocr", elements=(Element("e", "text", text="x"),))}
    assert unread_scans(kinds, read) is None
    assert unread_scans({"page": {"layer": "text"}}, silent) is None


def test_a_kind_on_which_another_parser_is_far_ahead_is_named() -> None:
    def standing(value: str, n_pages: int, score: float) -> KindStanding:
        return KindStanding("text layer", value, n_pages, 0, "ocr", score, 0.2)

    best = ParserCandidate("fast", ("fast",), 0.8, None, None, 1.0, None, 0)
    kinds = (standing("none (scan)", 5, 0.7), standing("text", 28, 0.9), standing("doubtful", 5, 0.25))
    choice = Choice("tables", "TE F1", (best,), 30, 9, (), (), 10, False, by_kind=kinds)
    said = [s for s in in_words(choice) if s.startswith("On pages")]
    assert said == [
        "On pages with text layer = none (scan) (5 pages) ocr does better: 0.70 against 0.20 (a guess)."
    ]


@pytest.mark.parametrize(
    "text", ["```markdown\n```", "```\n\n```\n", "![](page.png)", "<!-- page 1 -->\n", "  "]
)
def test_a_fence_or_a_picture_alone_reads_no_scan(text: str) -> None:
    kinds = {"scan": {"layer": NO_LAYER}}
    assert unread_scans(kinds, {("scan", "p"): Prediction("scan", "p", text=text)}) is not None
    assert unread_scans(kinds, {("scan", "p"): Prediction("scan", "p", text=f"{text}\n\nword")}) is None
