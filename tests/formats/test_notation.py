"""The same content folds to the same string; different content never does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsemark.formats.latex import latex_to_text
from parsemark.formats.latex.symbols import _table as symbols_by_name
from parsemark.formats.latex.symbols import symbol
from parsemark.formats.notation import fold_notation, is_placeholder

SAME = [
    ("lone tilde", ["~/bin", "˜/bin", r"\~{}/bin"]),
    (
        "alpha",
        [
            r"$\alpha$",
            "α",
            "&alpha;",
            r"\(\alpha\)",
            r"$ \alpha $",
            r"$\boldsymbol{\alpha}$",
            "**α**",
            r"\alpha",
        ],
    ),
    ("bold number", [r"\textbf{91.2\%}", "<b>91.2%</b>", "**91.2%**", r"$\mathbf{91.2}\%$", "91.2 %"]),
    (
        "plus minus",
        [r"$0.72 \pm 0.03$", "0.72 ± 0.03", "0.72±0.03", "0.72 &plusmn; 0.03", r"0.72 $\pm$ 0.03"],
    ),
    ("power", ["$10^{-3}$", "10<sup>-3</sup>", "10⁻³", "10<sup>−3</sup>", "10^{-3}", "$10^{\\text{-}3}$"]),
    ("subscript", ["$x_{12}$", "x<sub>12</sub>", "x₁₂", "x_{12}", r"$x_{\mathrm{12}}$", "x_12"]),
    ("order of scripts", ["$t_a^*$", "$t^*_a$", "t<sub>a</sub>*", "t<sub>a</sub><sup>*</sup>", "t^∗_a"]),
    ("minus", ["−2.8", "-2.8", "$-2.8$", "–2.8", "$-$2.8", r"\textminus 2.8"]),
    ("thousands", ["1,234,567", "1{,}234{,}567", r"1\,234\,567", "1\u202f234\u202f567", "1234567"]),
    ("less", ["$p<0.05$", "p &lt; 0.05", "p < 0.05", r"p \textless 0.05"]),
    ("fraction", [r"$\frac{1}{2}$", r"$\dfrac12$", "1/2", "½", r"\nicefrac{1}{2}"]),
    ("fraction in scripts", ["<sup>1</sup>&frasl;<sub>8</sub>", "1/8", "¹/₈"]),
    ("star as operator", ["λ<sup>∗</sup>", "$\\lambda^*$", "λ*"]),
    ("mixed number", [r"$3\frac{1}{2}$", "3½", "3 1/2"]),
    ("line break", [r"\makecell{Top-1\\ Acc.}", "Top-1<br>Acc.", "Top-1 Acc.", "Top-1 <br/> Acc."]),
    ("accent", [r"Erd\H{o}s", "Erdős"]),
    ("umlaut", [r"M\"uller", r"M\"{u}ller", "Müller", "M&uuml;ller"]),
    ("hat", [r"$\hat{x}$", "x̂", r"$\widehat x$"]),
    ("mark", [r"\checkmark", "✓", "✔", r"\ding{51}", r"\cmark"]),
    ("degrees", [r"$90^\circ$", "90°", r"$90^{\circ}$", "90\\textdegree"]),
    ("product", [r"$3\times 3$", "3×3", "3 x 3", "3x3", "3 &times; 3"]),
    ("stars", ["0.5***", "$0.5^{***}$", "0.5<sup>***</sup>", "**0.5*****"]),
    ("arrow", [r"Acc. $\uparrow$", "Acc. ↑", "Acc.↑"]),
    ("interval", ["(0, 3)", "(0,3)", "$(0,3)$", "( 0 , 3 )"]),
    ("color", [r"\textcolor{red}{5.1}", "5.1", r"\cellcolor[gray]{.9}5.1", r"{\color{blue} 5.1}"]),
    ("blackboard", [r"$\mathbb{R}^n$", "ℝⁿ", "R<sup>n</sup>"]),
    ("delimiters", [r"$\left| x \right|$", "|x|", r"$\lvert x\rvert$", r"$\vert x \vert$"]),
    ("dollar", [r"\$5", "$5"]),
    ("ligature", ["ﬁeld", "field"]),
    ("root", [r"$\sqrt{2}$", "√2"]),
    ("dots", [r"\ldots", "…", "..."]),
    ("not", [r"$\neq$", "≠", r"$\not=$"]),
    ("text in math", [r"$F_{\text{max}}$", "F<sub>max</sub>", "F_max", r"$F_\mathrm{max}$"]),
    ("underscore", [r"snake\_case", "snake_case"]),
    ("quotes", ["``yes''", "“yes”", '"yes"']),
]

DIFFERENT = [
    ("1.12", "112"),
    ("−2.8", "2.8"),
    ("$\\alpha$", "a"),
    ("$10^{-3}$", "$10^3$"),
    ("$10^{3}$", "103"),
    ("10<sup>-3</sup>", "10-3"),
    ("$x_{12}$", "$x_1 2$"),
    ("$x_1$", "$x^1$"),
    ("1,5", "15"),
    ("0,300", "300"),
    ("[68,400, 595,000]", "[68,400,595,000]"),
    ("1 234", "1234"),
    ("3½", "31/2"),
    ("<0.05", "0.05"),
    ("≤ 5", "≥ 5"),
    ("Dev^a", "Deva"),
    ("5%", "5"),
    ("5*", "5"),
    ("↑", "↓"),
    ("✓", "✗"),
    ("$\\foo$", "$\\bar{}$"),
    ("|E|", "||"),
    ("σ", "Σ"),
    ("a b", "ab"),
    ("±5", "5"),
    ("0.5", "0.50"),
    ("$\\hat{x}$", "x"),
]


@pytest.mark.parametrize(("name", "ways"), SAME, ids=[name for name, _ in SAME])
def test_the_same_content_folds_to_one_string(name: str, ways: list[str]) -> None:
    folded = {way: fold_notation(way) for way in ways}
    assert len(set(folded.values())) == 1, folded


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_content_stays_different(one: str, other: str) -> None:
    assert fold_notation(one) != fold_notation(other)


@pytest.mark.parametrize(
    "text", ["—", "-", "--", "N/A", "n/a", "", " ", "$-$", "–", r"\textemdash", "NaN", "…"]
)
def test_placeholders_are_empty_when_asked(text: str) -> None:
    assert is_placeholder(fold_notation(text))


@pytest.mark.parametrize("text", ["0", "-1", "no", "x", "✗"])
def test_values_are_no_placeholders(text: str) -> None:
    assert not is_placeholder(fold_notation(text))


PIECES = [*"aα1.,-−^_{}$\\*<>&;|~`' \t²₁½", "\\frac", "\\textbf{", "<sup>"]


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_any_text_folds_without_failing(text: str) -> None:
    assert isinstance(fold_notation(text), str)


@given(st.from_regex(r"[a-zA-Zα-ω]{1,6}([ _]?[a-z0-9]{1,4})?|-?[0-9]{1,3}\.[0-9]{1,3}%?", fullmatch=True))
def test_folding_twice_is_folding_once(text: str) -> None:
    once = fold_notation(text)
    assert fold_notation(once) == once


def test_deep_nesting_is_bounded() -> None:
    assert isinstance(fold_notation("{" * 20_000 + "x" + "}" * 20_000), str)
    assert isinstance(fold_notation("\\frac" * 5_000), str)
    assert isinstance(fold_notation("x" + "^{x" * 5_000), str)


@pytest.mark.parametrize("around", ["${}$", "{}", "a {} b", r"\textbf{{{}}}", r"$x_{{{}}}$", r"\({} y\)"])
def test_folding_the_text_of_latex_is_folding_the_latex(around: str) -> None:
    """One table of symbols for both: what a page shows folds like its source."""
    is_script = "_{" in around
    for name in symbols_by_name():
        shown = symbol(name)
        if shown == "\\" or (is_script and shown in tuple("&_${}~^")):
            continue  # what it prints is LaTeX again
        source = around.format(f"\\{name} " if name.isalpha() else f"\\{name}")
        assert fold_notation(latex_to_text(source)) == fold_notation(source), source


@given(
    st.lists(
        st.sampled_from(
            [*'@ABNSTZaeinst0259:;" -.', "\\:t", "\\*r", "\\;R", "\\~E", "\\textbf{S}", "\\textesh "]
        ),
        max_size=12,
    ),
    st.sampled_from(["\\textipa{{{}}}", "/a\\textipa{{{}}}N/", "\\textit{{x\\textipa{{\\textipa{{{}}}}}}}"]),
)
def test_folding_the_text_of_phonetic_letters_is_folding_their_latex(letters: list[str], around: str) -> None:
    source = around.format("".join(letters))
    assert fold_notation(latex_to_text(source)) == fold_notation(source)


NESTED = ["x", "y", "12", "3.5", "n", "+", "-", "=", "(", ")", ",", "<", "|", "'"]
PRINTABLE = [
    name
    for name in symbols_by_name()
    if name.isalpha() and (symbol(name) or "").strip() and not set(symbol(name) or "") & set("\\{}_^$&~`<")
]
WRAPPERS = ["hat", "bar", "vec", "mathbf", "mathrm", "mathcal", "text", "operatorname", "overline", "sqrt"]
LEAF = st.one_of(st.sampled_from(NESTED), st.sampled_from(PRINTABLE).map(lambda name: f"\\{name} "))


def _nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    group = st.lists(inner, min_size=1, max_size=3).map("".join)
    base = st.sampled_from(["x", "A", "\\alpha "])
    fraction = st.sampled_from(["frac", "dfrac", "nicefrac"])
    mark = st.sampled_from(["_", "^", " _ ", " ^"])
    return st.one_of(
        group,
        st.tuples(base, mark, group).map(lambda t: f"{t[0]}{t[1]}{{{t[2]}}}"),
        st.tuples(base, group, group).map(lambda t: f"{t[0]}_{{{t[1]}}}^{{{t[2]}}}"),
        st.tuples(base, st.sampled_from("_^"), inner).map(lambda t: f"{t[0]}{t[1]}{t[2]}"),
        st.tuples(fraction, group, group).map(lambda t: f"\\{t[0]}{{{t[1]}}}{{{t[2]}}}"),
        st.tuples(st.sampled_from(WRAPPERS), group).map(lambda t: f"\\{t[0]}{{{t[1]}}}"),
        group.map(lambda g: f"\\left({g}\\right)"),
        st.tuples(st.sampled_from(["overset", "underset"]), group, base).map(
            lambda t: f"\\{t[0]}{{{t[1]}}}{{{t[2]}}}"
        ),
    )


@given(st.recursive(LEAF, _nested, max_leaves=8), st.sampled_from(["${}$", "a ${}$ b", r"\textbf{{${}$}}"]))
def test_folding_the_text_of_a_nested_formula_is_folding_the_formula(formula: str, around: str) -> None:
    source = around.format(formula)
    assert fold_notation(latex_to_text(source)) == fold_notation(source)


@pytest.mark.parametrize(
    "ways",
    [
        ["$H_2O$", "H_2O", "H<sub>2</sub>O", "H₂O", r"H\textsubscript{2}O", r"$\mathrm{H_2O}$"],
        ["$x_i y$", "x<sub>i</sub>y", "xᵢy", r"$x_{i}\mathrm{y}$"],
        ["$x^2y_1$", "x^2y_1", "$x^{2}y_{1}$", "$x ^{2} y _{1}$", "x<sup>2</sup>y<sub>1</sub>", "x²y₁"],
        [r"$\sin^2\theta_{12}$", r"\(\sin ^{2} \theta _{12}\)", "sin^2 θ_12", r"$\sin ^2 \theta_{12}$"],
        ["$10^{-5}eV^2$", "10^-5eV^2", "10^{−5}eV^2", r"$10^{-5}\mathrm{eV}^{2}$", "10⁻⁵eV²"],
        ["$m^2_{21}$", "$m_{21}^{2}$", "m_21^2", "m<sup>2</sup><sub>21</sub>"],
        ["$90{}^\\circ$", "$90{ }^{\\circ}$", "90°", "$90 ^ \\circ$"],
        ["$0.5^*$", "0.5*", "$0.5$$^{*}$"],
    ],
)
def test_a_script_is_written_alike_whatever_follows(ways: list[str]) -> None:
    assert len({fold_notation(way) for way in ways}) == 1, [fold_notation(way) for way in ways]


def test_operators_behind_commands_are_kept() -> None:
    assert fold_notation(r"$\alpha*\beta$") == "α*β"


@pytest.mark.parametrize("text", ["Name: ____", "a_ b", "x ^ y", "~5", "$5 to $6", "50% & more"])
def test_text_that_is_no_latex_is_kept(text: str) -> None:
    assert fold_notation(text).replace(" ", "").casefold() == text.replace(" ", "").casefold()
