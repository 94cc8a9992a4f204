"""Formulas that are set differently and say the same read the same; others do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsemark.errors import FormatError
from parsemark.formats.latex.formula import MAX_FORMULA_CHARS, read_formula

SAME = [
    [
        r"$\frac{a}{b}$",
        r"$$\dfrac{a}{b}$$",
        r"\tfrac ab",
        r"{a \over b}",
        r"{\frac {a}{b}}",
        r"\(\frac{a}{b}\)",
    ],
    [r"\left(x\right)", "(x)", r"\bigl(x\bigr)", r"{\biggl (}x{\biggr )}"],
    [r"\sin x", r"\mathrm{sin}\,x", r"\operatorname{sin} x", r"\text{sin} x"],
    ["x_1^2", "x^2_1", "x_{1}^{2}", r"{x}_{1}\!^{2}"],
    ["f'", r"f^{\prime}", "f^\\prime"],
    [r"a \leq b", r"a\le b", "a≤b"],
    [r"a \to b", r"a\rightarrow b", r"a \longrightarrow b"],
    [r"\begin{pmatrix}a&b\\c&d\end{pmatrix}", r"\left(\begin{array}{ll}a & b \\ c & d\end{array}\right)"],
    [r"\begin{cases}a&b\\c&d\end{cases}", r"\left\{\begin{array}{ll}a&b\\c&d\end{array}\right."],
    [r"\begin{aligned}a&=b\\&=c\end{aligned}", "a=b=c", r"\begin{align*}a&=b\\&=c\end{align*}"],
    [r"\ce{2H2 + O2 -> 2H2O}", r"2\mathrm{H}_2+\mathrm{O}_2 \longrightarrow 2 \mathrm{H}_2\mathrm{O}"],
    [r"10{,}5", "10,5"],
    [r"\overline{x}", r"\bar x"],
    [r"x=1.", "x=1", r"x=1\,,"],
    [r"\not=", r"\neq", "≠"],
    [r"\dots", r"\ldots", r"\cdots", "…"],
    [r"\mathbb{R}", "ℝ", "R"],
]

DIFFERENT = [
    ("x^2", "x_2"),
    ("x^{12}", "x^1 2"),
    (r"\alpha", "a"),
    (r"\frac{a}{b}", r"\frac{b}{a}"),
    (r"\sqrt{a}b", r"\sqrt{ab}"),
    (r"\hat{x}", "x"),
    ("-x", "x"),
    (r"\begin{pmatrix}a&b\end{pmatrix}", r"\begin{pmatrix}a\\b\end{pmatrix}"),
    (r"a \sim b", "a - b"),
    ("1.5", "15"),
]


@pytest.mark.parametrize("ways", SAME, ids=[ways[0] for ways in SAME])
def test_presentation_is_folded(ways: list[str]) -> None:
    assert len({read_formula(way) for way in ways}) == 1, [read_formula(way) for way in ways]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_meaning_is_not(one: str, other: str) -> None:
    assert read_formula(one) != read_formula(other)


PIECES = [
    "\\frac",
    "{",
    "}",
    "^",
    "_",
    "x",
    "\\left",
    "(",
    "\\begin{array}",
    "\\end{array}",
    "&",
    "\\\\",
    "\\ce{",
]


@given(st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join))
def test_broken_formulas_are_read(source: str) -> None:
    assert isinstance(read_formula(source), tuple)


def test_depth_and_length_are_bounded() -> None:
    assert isinstance(read_formula("{" * 5000 + "x" + "}" * 5000), tuple)
    assert isinstance(read_formula("\\frac" * 5000), tuple)
    assert isinstance(read_formula("x" + "^{x" * 5000), tuple)
    with pytest.raises(FormatError):
        read_formula("x" * (MAX_FORMULA_CHARS + 1))


@pytest.mark.parametrize(
    ("latex", "unicode"),
    [
        ("x^2", "x²"),
        ("x_0", "x₀"),
        ("a^{-1}", "a⁻¹"),
        (r"\sqrt{x}", "√x"),
        (r"\sqrt{x+1}", "√(x+1)"),
        (r"\frac{1}{2}", "½"),
        (r"x_{12}^{n+1}", "x₁₂ⁿ⁺¹"),
        (r"1{,}000", "1000"),
    ],
)
def test_scripts_roots_and_fractions_of_unicode_are_those_of_latex(latex: str, unicode: str) -> None:
    assert read_formula(unicode) == read_formula(latex)


@pytest.mark.parametrize(("one", "other"), [("x^2", "x2"), ("2{,}5", "25"), ("x₀", "x0"), ("½", "12")])
def test_what_differs_in_meaning_stays_apart(one: str, other: str) -> None:
    assert read_formula(one) != read_formula(other)
