"""`formula_reader` on structure: notation costs nothing, and any change of what is said costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsemark.metrics import score


def value(truth: str, pred: str) -> float:
    found = score(truth, pred, metrics=["formula_reader"])["formula_reader"].value
    assert found is not None
    return found


@dataclass(frozen=True)
class Notation:
    """How structure is written."""

    fraction: Callable[[str, str], str]
    matrix: Callable[[str], str]
    binomial: Callable[[str, str], str]
    transposed: str
    bracket: tuple[str, str]


PLAIN = Notation(
    lambda a, b: rf"\frac{{{a}}}{{{b}}}",
    lambda body: rf"\begin{{pmatrix}}{body}\end{{pmatrix}}",
    lambda n, k: rf"\binom{{{n}}}{{{k}}}",
    r"^{T}",
    ("(", ")"),
)
OTHER = Notation(
    lambda a, b: rf"{{({a})/({b})}}",
    lambda body: rf"\left[\begin{{array}}{{ccc}}{body}\end{{array}}\right]",
    lambda n, k: rf"{{{n} \choose {k}}}",
    r"^\top",
    (r"\left(", r"\right)"),
)
CASES = r"\begin{cases}1&x>0\\0&x\le 0\end{cases}"
LETTERS = "abcxyz"
Formula = Callable[[Notation], str]


def _sum(one: Formula, sign: str, other: Formula) -> Formula:
    return lambda n: f"{n.bracket[0]}{one(n)}{sign}{other(n)}{n.bracket[1]}"


def _matrix(entries: list[Formula]) -> Formula:
    half = len(entries) // 2
    return lambda n: n.matrix(
        r"\\".join("&".join(e(n) for e in row) for row in (entries[:half], entries[half:]))
    )


ATOMS = st.sampled_from(LETTERS + "123").map(lambda letter: lambda _: letter)
FORMULAS: st.SearchStrategy[Formula] = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.builds(_sum, inner, st.sampled_from("+-="), inner),
        st.builds(lambda a, b: lambda n: n.fraction(a(n), b(n)), inner, inner),
        st.builds(lambda a, b: lambda n: n.binomial(a(n), b(n)), inner, inner),
        st.builds(lambda a, b: lambda n: f"{{{a(n)}}}_{{{b(n)}}}", ATOMS, inner),
        st.builds(lambda a, b: lambda n: f"{{{a(n)}}}^{{{b(n)}}}", ATOMS, inner),
        st.builds(lambda a: lambda n: f"{{{a(n)}}}{n.transposed}", ATOMS),
        st.builds(_matrix, st.lists(inner, min_size=4, max_size=4)),
    ),
    max_leaves=8,
)


@given(FORMULAS)
def test_notation_alone_costs_nothing(formula: Formula) -> None:
    assert value(formula(PLAIN), formula(OTHER)) == 10.0
    assert value(formula(OTHER), formula(PLAIN)) == 10.0


@given(FORMULAS, st.data())
def test_any_other_symbol_sign_or_script_costs(formula: Formula, data: st.DataObject) -> None:
    truth = formula(PLAIN)
    signs = {"+": "-", "-": "+", "=": "+", "^": "_", "_": "^"} | dict.fromkeys("xyz123", "w")
    at = data.draw(st.sampled_from([k for k, c in enumerate(truth) if c in signs] or [-1]))
    # A letter of a command's name is no symbol, and a raised T is a mark of its own.
    if at < 0 or truth[at : at + 4] == "^{T}" or (at and truth[at - 1].isalpha()):
        return
    assert value(truth, truth[:at] + signs[truth[at]] + truth[at + 1 :]) < 9.5


@given(st.lists(FORMULAS, min_size=4, max_size=4), st.sampled_from(["pmatrix", "vmatrix", "array"]))
def test_breaks_of_rows_and_columns_cost(entries: list[Formula], name: str) -> None:
    a, b, c, d = (entry(PLAIN) for entry in entries)
    begin = f"\\begin{{{name}}}" + ("{cc}" if name == "array" else "")
    truth = rf"{begin}{a}&{b}\\{c}&{d}\end{{{name}}}"
    assert value(truth, rf"{begin}{a}&{b}&{c}&{d}\end{{{name}}}") < 9.5
    assert value(truth, rf"{begin}{a}{b}\\{c}{d}\end{{{name}}}") < 9.5
    assert value(truth, rf"{begin}{a}\\{b}\\{c}\\{d}\end{{{name}}}") < 9.5


@given(FORMULAS)
def test_a_minus_that_is_lost_costs(formula: Formula) -> None:
    inner = formula(PLAIN)
    assert value(f"q=-{inner}", f"q={inner}") < 7


@pytest.mark.parametrize(
    ("truth", "pred"),
    [
        (r"\frac{\mathrm{d}y}{\mathrm{d}x}", "dy/dx"),
        (r"e^{-\frac{x^2}{2\sigma^2}}", r"e^{-x^2/2\sigma^2}"),
        (r"\frac12 mv^2", "1/2 mv^2"),
        (r"a \over b", r"\dfrac ab"),
        (CASES, r"\left\{\begin{array}{ll}1,&x>0\\0,&x\le 0\end{array}\right."),
        (CASES, r"\left\{\begin{aligned}1&\quad x>0\\0&\quad x\le 0\end{aligned}\right."),
        (r"\begin{aligned}a&=b\\&=c\end{aligned}", "a=b=c"),
        (r"\begin{aligned}a&=b\\c&=d\end{aligned}", r"a=b,\quad c=d"),
        (r"\ce{2H2 + O2 -> 2H2O}", r"2\mathrm{H}_2+\mathrm{O}_2\rightarrow 2\mathrm{H}_2\mathrm{O}"),
        (r"\ce{A <=> B}", r"A \rightleftharpoons B"),
        (r"{}^{14}_{6}\mathrm{C}", r"\prescript{14}{6}{C}"),
        (r"\genfrac{(}{)}{0pt}{}{n}{k}", r"\left(\begin{array}{c}n\\k\end{array}\right)"),
        (r"\sum_{\substack{i\\j}}", r"\sum_{\begin{matrix}i\\j\end{matrix}}"),
        (r"\pmatrix{a & b \cr c & d}", r"\begin{bmatrix}a & b \\ c & d\end{bmatrix}"),
        (r"A^{\intercal}", r"A^{\mathsf{T}}"),
        (r"\sideset{_a^b}{_c^d}\prod", r"{}_a^b\prod_c^d"),
    ],
)
def test_the_same_in_another_notation(truth: str, pred: str) -> None:
    assert value(truth, pred) == value(pred, truth) == 10.0


@pytest.mark.parametrize(
    ("truth", "pred", "most"),
    [
        (r"{n \choose k}", r"\frac{n}{k}", 5),
        (r"\binom{n}{k}", r"\left(\frac{n}{k}\right)", 6),
        (r"\frac{ab}{c}", r"\frac{a}{bc}", 6),
        (r"x/(y+z)", r"x/y+z", 6),
        (r"\begin{vmatrix}a&b\\c&d\end{vmatrix}", r"\begin{pmatrix}a&b\\c&d\end{pmatrix}", 7),
        (r"\sum_{\substack{i\\j}} x", r"\sum_{ij} x", 7),
        (r"\begin{aligned}a&=b\\c&=d\end{aligned}", "a=bc=d", 8),
        (r"a/b", r"\frac{a}{c}", 7),
        (r"x=-b+c", "x=b+c", 4.5),
    ],
)
def test_another_structure_costs(truth: str, pred: str, most: float) -> None:
    assert value(truth, pred) < most
