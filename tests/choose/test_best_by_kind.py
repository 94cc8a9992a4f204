import numpy as np
import pytest

from parsemark.choose import Choice, ParserCandidate, in_words
from parsemark.choose.choice import KindStanding, best_by_kind
from parsemark.model import Element, Prediction
from parsemark.pdf.page_kinds import NO_LAYER
from parsemark.protocols.run_data.unread_pages import unread_scans


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
