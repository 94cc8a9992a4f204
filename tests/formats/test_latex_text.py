"""The text that LaTeX shows."""

import pytest

from parsemark.errors import FormatError
from parsemark.formats.latex import latex_to_text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"\textbf{0.72} $\pm$ 0.03", "0.72 ± 0.03"),
        (r"$x_{1}^{2}$", "x_1^2"),
        (r"$x^2_1$", "x_1^2"),
        (r"$10^{-3}$", "10^{−3}"),
        (r"m\textsuperscript{2}", "m^2"),
        (r"$t_a^*$", "t_a^*"),
        (r"$f'(x)$", "f'(x)"),
        (r"\(\sin ^{2} \theta _ {12}\)", "sin^2 θ_{12}"),
        (r"$\log _{2} x$ $\max _{i} y$ $\operatorname{rank} ^2 A$", "log_2 x max_i y rank^2 A"),
        (r"$x ^{2} (a) ^ 2$ $\lim _{x \rightarrow 0} f$", "x^2(a)^2 lim_{x→0} f"),
        (r"$x_i y$ $x_i2$ $10^2 5$", "x_{i}y x_i2 10^{2}5"),
        (r"$\frac{(a) - (b)}{c}$", "((a)−(b))/c"),
        (r"30$^{\circ}$C", "30°C"),
        (r"$a=b$ and $a  =  b$", "a = b and a = b"),
        (r"$-1.5$", "−1.5"),
        (r"$p<0.05$", "p < 0.05"),
        (r"$<0.05$", "<0.05"),
        (r"$2\times3$; 2$\times$3", "2 × 3; 2×3"),
        (r"$(\frac{1}{8}, \frac14)$", "(1/8, 1/4)"),
        (r"$\frac{a+b}{c}$", "(a+b)/c"),
        (r"$1\frac12$", "1 1/2"),
        (r"$\sqrt{2}$, $\sqrt{a+b}$, $\sqrt[3]{x}$", "√2, √(a+b), ∛x"),
        (r"$\log_2 n$ $\sin(x)$", "log_2 n sin(x)"),
        (r"$\mathbb{R}$ $\mathcal{L}$ $\mathbf{x}$", "ℝ ℒ x"),
        (r"$\bar{u}$ $\hat\theta$ na\"{\i}ve \'Ecole \v{c}", "ū θ̂ naïve École č"),
        (r"$R_\text{top k}$", "R_{top k}"),
        (r"$\left(\alpha\right.$", "(α"),
        (r"$a \neq b$ $a \not= b$", "a ≠ b a ≠ b"),
        (r"\checkmark \ding{51} \ding{55} \ding{172}", "✓✓ ✗ ①"),
        (r'\textipa{/T@ "wO:t\*r/}, \textit{to\textipa{N}-i} N@2', "/θə ˈwɔːtɹ/, toŋ-i N@2"),
        (r'\textipa{""Ed2"keIS@n}; \textipa{\~E \:t \;R \!b \:x}', "ˌɛdʌˈkeɪʃən; ɛ̃ ʈ ʀ ɓ x"),
        (r"\textipa{\textbf{S}\textipa{Z}\textschwa} \texteng\ \textopeno", "ʃʒə ŋ ɔ"),
        (r"85\% \& \#1 \$5 a\_b \{\}", "85% & #1 $5 a_b {}"),
        ("1--2 --- ``q'' a~b", "1–2 — “q” a b"),
        (r"\verb|a_b & \c|", r"a_b & \c"),
        (r"\makecell[l]{one\\two}", "one\ntwo"),
        (r"\shortstack{a\\b}", "a\nb"),
        (r"\begin{tabular}[c]{@{}c@{}}a\\b & c\end{tabular}", "a\nb c"),
        (r"\cellcolor[HTML]{DAEFF9}x \textcolor{red}{y} {\color{blue}z}", "x y z"),
        (r"\rotatebox[origin=c]{90}{up} \raisebox{-1ex}[0pt]{low}", "up low"),
        (r"\diagbox{Row}{Col} \rule{0pt}{2ex}", "Row / Col"),
        (r"\~{}/bin \texttt{\~{}user} \^{}x $\tilde{\ }$u", "~/bin ~user ˆx ~u"),
        (r"\unknown{kept}{too} \ours", "kept too ours"),
        (r"\def\s{\textsc{F}\xspace}\s (o), \s, \s~\cite{a}, \s{}a, \textbf{\s} b", "F (o), F, F , Fa, F b"),
        (r"\def\s{F\xspace}\s a \s(a) \s\textbf{b} \s\footnote{n} \s$x$ $\s x$", "F a F (a) F b F F x Fx"),
        (r"\def\etal{et al.\xspace}Smith \etal 2001, \etal) \etal-x", "Smith et al. 2001, et al.) et al.-x"),
        (r"text\footnotemark[1] A\tnote{a}", "text^1 A^a"),
        (r"Smith~\cite{smith2020} Tab.~\ref{t}", "Smith Tab."),
        (r"\href{http://x.y}{link} \url{http://a_b}", "link http://a_b"),
        ("a% comment\n b", "ab"),
        (r"{\bf bold} \small{s}", "bold s"),
        ("price: $5", "price: $5"),
        (r"a_1 x^{10}", "a_1 x^{10}"),
        (r"$\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}$", "(1 2\n3 4)"),
        (r"\phantom{0}5", "5"),
        ("", ""),
    ],
)
def test_shows(source: str, text: str) -> None:
    assert latex_to_text(source) == text


def test_math_mode_can_be_given() -> None:
    assert latex_to_text(r"\alpha _ 1", math=True) == "α_1"


@pytest.mark.parametrize("source", ["{" * 5000, "{" * 5000 + "}" * 5000, r"\hat" * 5000, r"$a \over " * 500])
def test_deep_nesting_ends(source: str) -> None:
    try:
        latex_to_text(source)
    except FormatError as error:
        assert "nested" in str(error)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"\num{1.2e-3}", "1.2 × 10^{−3}"),
        (r"\SI{9.81}{\metre\per\second\squared}", "9.81 m s^{−2}"),
        (r"\qty{5}{\kilo\gram}", "5 kg"),
        (r"\SI{20}{\percent}", "20%"),
        (r"\si{kg.m/s}", "kg m/s"),
        (r"\SIrange{1}{2}{\nano\metre}", "1 to 2 nm"),
        (r"\ang{12.5}", "12.5°"),
        (r"\ce{H2O}", "H_2O"),
        (r"\ce{SO4^2-}", "SO_4^{2−}"),
        (r"\ce{2Na+ + CO3^{2-}}", "2Na^+ + CO_3^{2−}"),
        (r"\ce{CuSO4 * 5H2O}", "CuSO_4·5H_2O"),
    ],
)
def test_units_and_chemistry(source: str, text: str) -> None:
    assert latex_to_text(source) == text


def test_own_macros_are_expanded_where_they_are_defined() -> None:
    source = r"\newcommand{\ours}[2][Our]{#1~#2} \def\x{X} \ours{net} \ours[The]{net} \x"
    assert latex_to_text(source) == "Our net The net X"


@pytest.mark.parametrize(
    "source", [r"\def\a{\a}\a", r"\def\a{\b\b}\def\b{\a\a}\a", r"\def\a#1{\a{#1#1}}\a{xx}"]
)
def test_macros_without_end_are_an_error(source: str) -> None:
    with pytest.raises(FormatError, match="without end"):
        latex_to_text(source)
