"""Headings, paragraphs, lists, formulas, figures and footnotes."""

from __future__ import annotations

import random

from parsemark.corpora.latex.synthetic.page_units import Shown, Unit, UnitGroup, paragraph_box
from parsemark.corpora.latex.synthetic.style import Style
from parsemark.corpora.synthetic import story
from parsemark.corpora.synthetic.language import heading, number, sentence, vocabulary
from parsemark.corpora.synthetic.pieces import EMPTY, Piece, formula, plain, raised
from parsemark.model import AttributeValue, Category

INLINE = (
    r"x_i + y_i",
    r"\alpha = 0.05",
    r"n \geq 30",
    r"\sigma^2",
    r"f(x) = a x^2 + b",
    r"\bar{x}",
    r"k \in \{1, \dots, n\}",
    r"O(n \log n)",
    r"\Delta T",
    r"10^{-3}",
)
DISPLAY = (
    r"y_i = \beta_0 + \beta_1 x_i + \varepsilon_i",
    r"\bar{x} = \frac{1}{n} \sum_{i=1}^{n} x_i",
    r"\frac{\partial u}{\partial t} = D \, \nabla^2 u",
    r"E = \int_{0}^{T} P(t) \, dt",
    r"s^2 = \frac{1}{n - 1} \sum_{i=1}^{n} (x_i - \bar{x})^2",
    r"\hat{\theta} = \arg\max_{\theta} \sum_{i} \log p(x_i \mid \theta)",
    r"A = \begin{pmatrix} a & b \\ c & d \end{pmatrix}",
    r"Q = -K A \frac{dh}{dl}",
    r"\mathrm{pH} = -\log_{10} [\mathrm{H}^{+}]",
    r"\| x \|_2 = \sqrt{x_1^2 + \dots + x_n^2}",
)


def text_attributes(style: Style) -> dict[str, AttributeValue]:
    """OmniDocBench's attributes of text."""
    return story.text_attributes(style.language)


def heading_group(rng: random.Random, style: Style, section: str, width: float) -> UnitGroup:
    """A numbered or plain heading."""
    words = heading(rng, style.language)
    label = f"{section} {words}" if rng.random() < 0.7 else words
    size = rng.choice([r"\large", r"\Large"]) if "." not in section else r"\normalsize"
    look = {
        "bold": r"\bfseries\raggedright",
        "caps": r"\scshape\raggedright",
        "centred": r"\bfseries\centering",
    }[style.heading]
    latex = paragraph_box(width, plain(label).latex, rf"{size}{look}\noindent\hyphenpenalty10000 ")
    return UnitGroup(
        "heading", (Unit(latex, (Shown(Category.TITLE, label, attributes=text_attributes(style)),)),)
    )


def paragraph_group(rng: random.Random, style: Style, width: float, count: int) -> UnitGroup:
    """So many sentences, of which some hold a formula, at times with a footnote."""
    piece = _sentences(rng, style, count)
    note = footnote_group(rng, style, width) if rng.random() < 0.06 else None
    mark = raised("@N@") if note else EMPTY
    before = "" if style.indent and rng.random() < 0.85 else r"\noindent "
    latex = paragraph_box(width, piece.latex + mark.latex, before)
    shown = Shown(Category.TEXT_BLOCK, piece.text + mark.text, attributes=text_attributes(style))
    return UnitGroup("text", (Unit(latex, (shown,)),), note=note)


def _sentences(rng: random.Random, style: Style, count: int) -> Piece:
    words = vocabulary(style.language).words
    pieces = []
    for _ in range(count):
        text = sentence(rng, style.language)
        if rng.random() < 0.2:
            body = plain(text[:-1] + f" ({words['see']} ") + formula(rng.choice(INLINE)) + plain(").")
        elif rng.random() < 0.12:
            body = plain(f"{text[:-1]} ({number(rng.uniform(2, 90), 1, style.language)} %).")
        else:
            body = plain(text)
        pieces.append(body)
    total = pieces[0]
    for piece in pieces[1:]:
        total = total + plain(" ") + piece
    return total


def list_group(rng: random.Random, style: Style, width: float) -> UnitGroup:
    """Items with bullets, dashes or numbers."""
    items = rng.sample(vocabulary(style.language).items, k=rng.randint(2, 5))
    marks = rng.choice(["•", "–", "1.", "(a)"])
    lines, latex = [], []
    for index, item in enumerate(items):
        mark = {"1.": f"{index + 1}.", "(a)": f"({'abcdef'[index]})"}.get(marks, marks)
        text = item + (";" if index < len(items) - 1 else ".")
        lines.append(f"{mark} {text}")
        label = rf"\hbox to18pt{{{plain(mark).latex}\hfil}}"
        latex.append(rf"\noindent\hangindent18pt\hangafter1{label}{plain(text).latex}\par")
    box = paragraph_box(width, "".join(latex))
    shown = Shown(Category.LIST_GROUP, "\n".join(lines), attributes=text_attributes(style))
    return UnitGroup("list", (Unit(box, (shown,)),))


def formula_group(rng: random.Random, width: float) -> UnitGroup:
    """A displayed formula, half of them numbered."""
    source = rng.choice(DISPLAY)
    attributes: dict[str, AttributeValue] = {"formula_type": "print", "equation_language": "equation_en"}
    body = rf"\pmblock{{@0@}}{{$\displaystyle {source}$}}"
    shown = [Shown(Category.EQUATION_ISOLATED, latex=source, attributes=attributes)]
    tag = ""
    if rng.random() < 0.5:
        tag = r"\llap{\pmblock{@1@}{(@N@)}}"
        shown.append(Shown(Category.EQUATION_CAPTION, "(@N@)", parent=0))
    latex = rf"\hbox to {width:.3f}pt{{\hss {body}\hss {tag}}}"
    return UnitGroup("formula", (Unit(latex, tuple(shown)),))


def footnote_group(rng: random.Random, style: Style, width: float) -> UnitGroup:
    """A note at the foot of the page, under a short rule that is not part of it."""
    text = sentence(rng, style.language)
    rule = r"\hbox{\vrule height0.4pt width60pt}\nointerlineskip\kern3pt"
    box = paragraph_box(width, rf"\textsuperscript{{@N@}}\,{plain(text).latex}", r"\footnotesize\noindent ")
    shown = Shown(Category.PAGE_FOOTNOTE, f"^{{@N@}} {text}", attributes=text_attributes(style))
    return UnitGroup("footnote", (Unit(rf"\vbox{{{rule}{box}}}", (shown,)),))
