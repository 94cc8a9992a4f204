"""CDM: tokens, colours, pairs, and what happens to formulas that cannot be drawn."""

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parsemark.metrics.cdm import render
from parsemark.metrics.cdm.colours import colour, colour_of, normalise
from parsemark.metrics.cdm.render import draws_only
from parsemark.metrics.cdm.score import DrawnFormula, cdm_scores, count_pairs, equivalent
from parsemark.metrics.cdm.tokens import is_costly, tokenise
from parsemark.protocols.document.omnidocbench.normalise import latex_to_text

DATA = Path(os.environ.get("PARSEMARK_DATA", ""))
EXAMPLES = DATA.parent / "reference" / "omnidocbench-examples.json"
needs_tex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")


@pytest.mark.parametrize(
    ("formula", "tokens"),
    [
        ("x^2_1", "x _ { 1 } ^ { 2 }"),
        ("f''(x)", "f ^ { \\prime \\prime } ( x )"),
        ("\\frac12", "\\frac 1 2"),
        ("\\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix}",
         "\\left( \\begin{array} { l l } { a } & { b } \\\\ { c } & { d } \\end{array} \\right)"),
        ("\\operatorname*{argmax}_x", "\\operatorname * { a r g m a x } _ { x }"),
        ("a \\text{ if } b", "a \\mathrm { ~ i f ~ } b"),
        ("\\begin{align}\\begin{aligned}a\\end{aligned}&b\\end{align}",
         "\\begin{array} { r l } { \\begin{array} { r } { a } \\end{array} } & { { } b } \\end{array}"),
        ("x + \\frac{a}", "x + \\frac { a }"),
    ],
)  # fmt: skip
def test_tokens(formula: str, tokens: str) -> None:
    assert tokenise(formula) == tokens


def test_every_sign_has_its_own_colour() -> None:
    coloured = colour(normalise(tokenise("\\frac{a}{b}+c")))
    assert coloured.tokens == ("\\frac", "a", "b", "+", "c")
    assert len({colour_of(i) for i in range(1, 5832)}) == 5831


def test_what_stands_in_an_optional_argument_is_in_braces_of_its_own() -> None:
    shown = colour(normalise(tokenise("\\sqrt[\\frac{1}{2}]{x}"))).latex
    shown = re.sub(r"\\mathcolor\[RGB\]\{[0-9,]*\}", "C", shown).replace(" ", "")
    assert shown == "C{\\sqrt[{C{\\frac{{C{1}}}{{C{2}}}}}]{C{x}}}"


def _row(tokens: str, dx: int = 0, dy: int = 0) -> DrawnFormula:
    boxes = tuple((20 * i + dx, 10 + dy, 20 * i + 15 + dx, 30 + dy) for i in range(len(tokens)))
    return DrawnFormula(tuple(tokens), boxes, 20 * len(tokens), 40)


def test_equal_pictures_agree_and_a_shift_does_not_matter() -> None:
    assert count_pairs(_row("abcdef"), _row("abcdef")).f1 == 1
    assert count_pairs(_row("abcdef"), _row("abcdef", 7, 5)).f1 == 1
    assert count_pairs(_row("abcdef"), _row("abcxef")).f1 == round(10 / 12, 3)
    assert count_pairs(_row("abc"), DrawnFormula((), (), 1, 1)).f1 == 0


def test_the_value_does_not_depend_on_numpys_global_state() -> None:
    rng = np.random.default_rng(1)
    letters = "".join(rng.choice(list("abcxyz"), 40))
    other = "".join(rng.choice(list("abcxyz"), 37))
    values = set()
    for seed in range(3):
        np.random.seed(seed)
        values.add(count_pairs(_row(letters), _row(other)).f1)
    assert len(values) == 1


@pytest.mark.latex
@needs_tex
def test_scores_and_reasons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PARSEMARK_CACHE", str(tmp_path))
    pairs = [
        ("a+b=c", "a+b=c"),
        ("a+b=c", "a+b=d"),
        ("\\left( x \\right)", "(x)"),
        ("a+b=c", ""),
        ("a+b=c", "\\input{/etc/passwd}"),
        ("x_1", "\\undefinedcommand"),
        ("\\begin{matrix} 1 & 2 \\end{matrix}", "\\begin{matrix} 1 & 2"),
    ]
    scores = cdm_scores(pairs)
    assert [s.value for s in scores[:4]] == [1, 0.8, 1, 0]
    assert all(s.reason for s in scores if s.value == 0 and s.counts is None)
    assert "empty" in (scores[3].reason or "")
    assert cdm_scores(pairs) == scores  # from the cache


@pytest.mark.parametrize("nested", ["\\sqrt[" * 40, "{\\sqrt[" * 40 + "}" * 40, "\\sqrt [ " * 2000])
def test_brackets_that_never_close_are_refused_at_once(nested: str) -> None:
    """pylatexenc would read what follows each of them twice, so twice as often for each further one."""
    assert is_costly(nested)
    assert tokenise(nested) == nested  # as it came, as every formula that cannot be parsed
    assert latex_to_text(nested) is None


def test_brackets_that_close_cost_nothing() -> None:
    assert not is_costly("\\sqrt[3]{x} " * 2000)
    assert not is_costly("a \\\\ [0, 1) " * 6)


HOSTILE = (
    r"x \gdef\alpha{}",
    r"x \global\let\alpha\beta",
    r"x \global\mathcode`\+=0",
    r"\text{\globaldefs=1 \catcode`\a=13 }x",
    r"x \end{displaymath}\def\alpha{}\begin{displaymath}",
    r"x \^^67def\alpha{}",
    r"x \csname gdef\endcsname\alpha{}",
    r"x \aftergroup\def\aftergroup\alpha",
    r"x \setcounter{page}{7}",
    r"x \fontdimen8\textfont3=9pt",
)


def test_only_formulas_that_leave_nothing_share_a_run() -> None:
    assert not any(map(draws_only, HOSTILE))
    for fine in (
        r"\frac{\alpha}{2}",
        r"\left( x \right) \leq \hat { y }",
        r"\begin{array} {c} a \\ b \end{array}",
    ):
        assert draws_only(fine)


@pytest.mark.latex
@needs_tex
@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_formula_cannot_change_another(
    hostile: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARSEMARK_CACHE", str(tmp_path))
    truth = r"\alpha + 1 = \gamma"
    pairs = [(truth, hostile), (truth, truth), (r"\frac{a}{b} + \alpha", r"\frac{a}{b} + \alpha")]
    assert [s.value for s in cdm_scores(pairs)][1:] == [1, 1]
    assert [s.value for s in cdm_scores(pairs)][1:] == [1, 1]  # nor from the cache


@pytest.mark.latex
@needs_tex
def test_a_run_whose_sentinel_changes_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARSEMARK_CACHE", str(tmp_path))
    monkeypatch.setattr(render, "draws_only", lambda latex: True)
    pairs = [(r"\alpha + 1", r"x \gdef\alpha{}"), (r"\alpha + 1", r"\alpha + 1")]
    assert cdm_scores(pairs)[1].value == 1


@pytest.mark.conformance
def test_examples_of_the_reference() -> None:
    if not EXAMPLES.is_file():
        pytest.skip("needs the reference data")
    for example in json.loads(EXAMPLES.read_text()):
        if example["id"].startswith("Ex-39"):
            _check_example(example["input"], example["output"])
        elif example["id"] == "Ex-49":
            assert [[t, equivalent(t)] for t in example["input"]] == example["output"]
        elif example["id"] == "Ex-40":
            assert [list(colour_of(i)) for i in (1, 17, 18, 324, 325, 5800)] == example["output"]


def _check_example(formula: str, expected: Any) -> None:
    tokenised = tokenise(formula)
    normalised = normalise(tokenised)
    coloured = colour(normalised)
    named = re.sub(
        r"<color_(\d+)>", lambda m: ",".join(map(str, colour_of(int(m[1]) + 1))), expected["coloured"]
    )
    assert tokenised == expected["tokenised"]
    assert normalised == expected["normalised"]
    assert coloured.latex == named
    assert list(coloured.tokens) == expected["tokens"]


@pytest.mark.conformance
@needs_tex
def test_demo_formulas() -> None:
    """All but one are equal; that one differs because another program made the picture."""
    folder = DATA / "omnidocbench-demo" / "reference" / "v1_6_cdm"
    records = json.loads((folder / "display_formula_result.json").read_text())
    scores = [s.value for s in cdm_scores([(r["gt_cdm"], r["pred_cdm"]) for r in records])]
    expected = [r["metric"]["CDM"] for r in records]
    different = [(a, b) for a, b in zip(scores, expected, strict=True) if abs(a - b) > 1e-9]
    assert len(different) <= 1 and all(abs(a - b) < 0.015 for a, b in different)
    assert abs(np.mean(scores) - np.mean(expected)) < 0.001


@needs_tex
def test_what_no_paper_is_wide_enough_for_counts_where_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARSEMARK_CACHE", str(tmp_path))
    long = "+".join(f"x_{{{k}}}" for k in range(200))
    half, wrong = (
        long[: long.index("+x_{100}")],
        long[: long.index("x_{100}")] + long[long.index("x_{100}") :].replace("x", "y"),
    )
    pairs = [(long, long), (long, half), (long, wrong), (half[:40], long)]
    assert [s.value for s in cdm_scores(pairs)][:3] == [1, 1, 1], (
        "as published: nothing of it is on the paper"
    )
    same, halved, other, added = cdm_scores(pairs, whole=True)
    n, n_half = (sum(len(str(k)) + 2 for k in range(m)) - 1 for m in (200, 100))
    assert same.value == 1 and halved.value == pytest.approx(2 * n_half / (n + n_half), abs=0.001)
    assert other.value == pytest.approx(1 - 100 / n, abs=0.001) and added.value < 0.1
    assert halved.reason is not None and "fit on no paper" in halved.reason
