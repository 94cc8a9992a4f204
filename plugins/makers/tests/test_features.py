"""The feature matrix: spellings, verdicts on pairs, and what terminal and report show of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rich.console import Console

from parsemark import corpus_make
from parsemark.corpora import load_corpus
from parsemark.engine.import_outputs import import_predictions
from parsemark.engine.scoring.score import score_run
from parsemark.errors import CorpusError, UsageError
from parsemark.model import Category, Element, Prediction, Table
from parsemark.protocols.facts import TooHardError
from parsemark.report.build import build_site
from parsemark.report.terminal_leaderboard import leaderboard
from parsemark_makers.features.make import (
    FEATURES,
    MAKERS,
    docx_of,
    read_features,
)
from parsemark_makers.features.protocol import MAX_CHARACTERS, ReadOutput, check_spelling, decide

GOOD = {
    "text-strikethrough": [
        "costs ~~40 crowns~~ 55",
        "costs <del>40 crowns</del> 55",
        r"costs \sout{40 crowns} 55",
    ],
    "text-superscript": ["about 10<sup>6</sup> seeds", "about 10⁶ seeds", "about $10^{6}$ seeds"],
    "text-subscript": ["that log<sub>2</sub>8 is", "that log₂8 is", "that $\\log_2 8$ is"],
    "text-link": [
        "the [order form](https://example.org/forms/17) first",
        "order form (https://example.org/forms/17)",
    ],
    "text-footnote": [
        "41[^1] ewes\n\n[^1]: By lamp light",
        "41<sup>1</sup> ewes\n\n<sup>1</sup> By lamp light",
        "41¹ ewes\n\n¹ By lamp",
    ],
    "list-nested": ["- Birds\n  - Owls\n  - Larks\n- Hares", "<ul><li>Birds<ul><li>Owls</li></ul></li></ul>"],
    "list-check-boxes": ["- [x] Water\n- [ ] Power", "☒ Water\n\n☐ Power"],
    "code-indentation": [
        "```\ndef count(rows):\n    for row in rows:\n        if row:\n            yield row\n```"
    ],
    "layout-running-head": ["all of the herd crossed the\n\nwide river without"],
    "table-merged-header": [
        '<table><tr><th>Farm</th><th colspan="2">Sheep</th><th colspan="2">Goats</th></tr></table>',
    ],
    "table-sparse-rows": ["| Farm | Sheep | Goats |\n|---|---|---|\n| Birch |  | 27 |\n| Cedar | 9 |  |"],
    "script-right-to-left": ["שלום עולם גדול"],
    "hidden-white": ["# Survey of the northern meadows\n\nMay.\n\nthe archive of the society"],
}
"""Outputs that keep the meaning, each of another kind."""
CHANGED = {
    "text-strikethrough": "The tour costs 40 crowns 55 crowns with a guide",
    "text-superscript": "about 106 seeds",
    "text-footnote": "counted 411 ewes",
    "list-nested": "- Birds\n- Owls\n- Larks\n- Hares",
    "code-indentation": "def count(rows):\nfor row in rows:\nif row:\nyield row",
    "layout-heading-levels": "# Yearly report\n\n# Methods\n\n# Plots\n\n# Results",
    "layout-running-head": "herd crossed the\n\n16\n\nAnnals of the Society\n\nwide river",
    "table-sparse-rows": "| Farm | Sheep | Goats |\n|---|---|---|\n| Birch | 27 |  |\n| Cedar | 9 |  |",
    "script-right-to-left": "לודג םלוע םולש",
    "hidden-white": "northern meadows every bid was refused archive of the society",
}


def verdict(name: str, text: str, format: str = "markdown", *, control: bool = False) -> str:
    (fact,) = read_features()[name].facts(name, control=control)
    return decide(fact, ReadOutput(Prediction("page", "parser", text=text, format=format))).found


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in GOOD.items() for text in texts])
def test_every_reasonable_spelling_counts(name: str, text: str) -> None:
    assert verdict(name, text) == "kept"


@pytest.mark.parametrize("name", CHANGED)
def test_a_changed_meaning_is_told_from_a_loss(name: str) -> None:
    assert verdict(name, CHANGED[name]) == "changed"
    assert verdict(name, "Something else.") == "lost"


MARKED_TOO_FAR = {
    "text-underline": [
        "the first, <u>second or third one? The answer is underlined.</u>",
        "the <u>first</u>, <u>second</u> or <u>third</u> one?",
        "the *first*, *second* or *third* one?",
        "s\u0332e\u0332c\u0332o\u0332n\u0332d\u0332 o\u0332r\u0332 t\u0332h\u0332i\u0332r\u0332d\u0332",
    ],
    "text-bold": [
        "heated: Oak, <b>Beech, Elm and Willow. All rooms have a bath.</b>",
        r"heated: Oak, \textbf{Beech, Elm and Willow.}",
        "heated: **Oak**, **Beech**, **Elm** and **Willow**.",
    ],
    "text-strikethrough": [
        "costs <s>40 crowns 55 crowns</s> with",
        r"costs \sout{40 crowns 55 crowns} with",
        "costs ~~40 crowns~~ ~~55 crowns~~ with",
        "costs 4\u03360\u0336 c\u0336r\u0336 5\u03365\u0336 crowns with",
    ],
}
"""The mark covers more than on the page: it no longer tells which is meant."""


@pytest.mark.parametrize(
    ("name", "text"), [(n, text) for n, texts in MARKED_TOO_FAR.items() for text in texts]
)
def test_a_mark_that_reaches_too_far_is_another_meaning(name: str, text: str) -> None:
    assert verdict(name, text) == "changed"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("text-underline", "the first, <u>second</u> or third one?"),
        ("text-underline", "the first, _second_ or third one?"),
        ("text-underline", "the first, s\u0332e\u0332c\u0332o\u0332n\u0332d\u0332 or third one?"),
        ("text-bold", "heated: Oak, **Beech**, Elm and Willow."),
        ("text-bold", "<p>heated: Oak, <strong>Beech,</strong> Elm and Willow.</p>"),
        ("text-strikethrough", "costs 4\u03360\u0336 c\u0336r\u0336 55 crowns"),
    ],
)
def test_a_mark_of_its_own_word_alone_is_kept(name: str, text: str) -> None:
    assert verdict(name, text) == "kept"


def test_a_format_that_cannot_say_it_is_no_loss() -> None:
    assert verdict("text-strikethrough", CHANGED["text-strikethrough"], "text") == "unsupported"
    only_tables = Prediction(
        "page", "parser", elements=(Element("t", Category.TABLE, table=Table.from_rows([["a"]])),)
    )
    (fact,) = read_features()["layout-two-columns"].facts("x", control=False)
    assert decide(fact, ReadOutput(only_tables)).found == "unsupported"


def test_what_is_written_without_the_feature_too_is_no_sign_of_it() -> None:
    assert verdict("text-bold", "Oak, **Beech**, Elm", control=True) == "changed"
    assert verdict("text-bold", "Oak, Beech, Elm", control=True) == "kept"
    assert verdict("layout-two-columns", "whatever", control=True) == "kept"


def test_the_plain_words_of_a_page_never_pass_for_its_marks() -> None:
    """The page without the feature, read perfectly as plain text, is not spelled as one with it."""
    for name, feature in read_features().items():
        if not feature.is_mark or "docx" not in feature.makers:
            continue
        plain = re.sub(r"<[^>]*>|\{[^|{}]*\||[{}]", "", feature.makers["docx"].half(1)[1])
        assert decide(
            feature.facts(name, control=True)[0], ReadOutput(Prediction("p", "p", text=plain))
        ).passed, name


@pytest.mark.parametrize("pattern", ["a*", "(a|b)+", "(?:a{0,50}){0,50}", r"(a)\1", "(", "x{2,}"])
def test_patterns_that_could_take_long_are_refused(pattern: str) -> None:
    with pytest.raises(CorpusError):
        check_spelling(pattern)


def test_an_endless_output_is_not_looked_at() -> None:
    output = ReadOutput(Prediction("page", "parser", text="word " * MAX_CHARACTERS))
    with pytest.raises(TooHardError):
        output.says("word")


def test_all_files_are_whole_and_name_their_makers() -> None:
    features = read_features()
    assert len(features) >= 40
    assert {maker for feature in features.values() for maker in feature.makers} == set(MAKERS)


def test_a_bad_file_is_named(tmp_path: Path) -> None:
    data = (FEATURES / "text-bold.toml").read_text(encoding="utf-8")
    for old, new, says in (
        ("⟦<b>Beech</b>‖Beech⟧", "Beech", "both pages are the same"),
        ("[makers.docx]", "[makers.word]", "word"),
        ("title =", "titel =", "title: is missing"),
        ("'\\\\(?:textbf|mathbf)\\{Beech,?\\}'", "'.*'", "repeats too much"),
    ):
        assert old in data
        (tmp_path / "own.toml").write_text(data.replace(old, new, 1), encoding="utf-8")
        with pytest.raises(CorpusError, match=says) as refused:
            read_features(tmp_path)
        assert "own.toml" in str(refused.value)
    with pytest.raises(UsageError, match="has no feature file"):
        read_features(tmp_path / "empty")


def test_a_page_in_words_shorthand_is_a_word_document(tmp_path: Path) -> None:
    import docx

    path = tmp_path / "page.docx"
    path.write_bytes(
        docx_of(
            "[Heading1] Title\n\nA {b|bold} & {link=https://x.org|y}\n\n| a | 2>b\n| v>c | d | e\n| ^ | f | g"
        )
    )
    document = docx.Document(str(path))
    heading, paragraph = document.paragraphs
    assert (heading.style.name, paragraph.runs[1].bold, paragraph.text) == ("Heading 1", True, "A bold & ")
    assert [[cell.text for cell in row.cells] for row in document.tables[0].rows] == [
        ["a", "b", "b"],
        ["c", "d", "e"],
        ["c", "f", "g"],
    ]


def test_matrix_in_terminal_and_report(tmp_path: Path) -> None:
    """One pair of pages, three parsers: kept, changed, and a mark on both pages, which says nothing."""
    corpus_make("features(makers=typst,only=text-bold)", tmp_path / "corpus")
    outputs = {
        "marks": ("**Beech**", "Beech"),
        "plain": ("Beech", "Beech"),
        "always": ("**Beech**", "**Beech**"),
    }
    for parser, texts in outputs.items():
        (tmp_path / parser).mkdir()
        for half, text in zip(("with", "without"), texts, strict=True):
            (tmp_path / parser / f"text-bold-typst-{half}.md").write_text(
                f"heated: Oak, {text}, Elm", "utf-8"
            )
        run = import_predictions(
            tmp_path / "run", load_corpus(str(tmp_path / "corpus")), tmp_path / parser, protocols=["features"]
        )
    (summary,) = score_run(run, n_workers=1)
    assert {p: f["kept"].value for p, f in summary.parsers.items()} == {
        "marks": 1.0,
        "plain": 0.0,
        "always": 0.0,
    }
    matrix = summary.details["matrix"]
    assert {p: cells[0]["typst"] for p, cells in matrix["cells"].items()} == {
        "marks": "kept",
        "plain": "lost",
        "always": "changed",
    }
    console = Console(width=80, record=True)
    console.print(leaderboard(summary, 80))
    shown = console.export_text()
    assert re.search(r"Bold that carries meaning +● +[✗○] +[✗○]", shown)
    assert max(map(len, shown.splitlines())) <= 80
    site = build_site(run.path, tmp_path / "site").parent
    page = (site / "matrix.html").read_text("utf-8")
    assert 'class="state changed" href="viewer.html#page=text-bold-typst-with&amp;parser=always"' in page


def test_a_run_without_features_has_an_empty_matrix(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    corpus = load_corpus("demo")
    (tmp_path / "one" / f"{corpus.keys[0]}.md").write_text("text", "utf-8")
    run = import_predictions(tmp_path / "run", corpus, tmp_path / "one", pages="1", protocols=["features"])
    (summary,) = score_run(run, n_workers=1)
    assert summary.details["matrix"]["rows"] == []
