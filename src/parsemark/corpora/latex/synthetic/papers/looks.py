"""The looks of publishers: class, fonts, geometry, headings, captions, citations, running heads.

Where Debian has a publisher's class it is used; the others (ICML, NeurIPS, ACL, MDPI) are set in `article`
with their geometry and fonts, and so is REVTeX, whose page builder has no place for front matter of ours. The
front matter is ours in all of them (`front.py`), so that each word has its mark.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

PACKAGES = r"""
\usepackage[T1]{fontenc}\usepackage[utf8]{inputenc}\usepackage{textcomp}
\let\Bbbk\relax\usepackage{amsmath,amssymb,array,booktabs,multirow,longtable,graphicx,etoolbox,pifont,tikz,colortbl}
\usetikzlibrary{arrows.meta}
\input{glyphtounicode}\pdfgentounicode=1
"""
_GEOMETRY = r"\usepackage[{}]{{geometry}}"
_PLAIN_ARTICLE = r"\makeatletter\setlength\abovecaptionskip{6pt}\setlength\belowcaptionskip{6pt}\makeatother"


@dataclass(frozen=True)
class PaperLook:
    """How the papers of one publisher look."""

    name: str
    document_class: str
    columns: int
    preamble: str
    """Class and packages, which are precompiled."""
    front: str
    """Which front matter of `front.py`."""
    cite: str
    """`ieee`, `numeric`, `author` or `raised`."""
    entry: str
    """Style of the reference list: `ieee`, `plain`, `apa`, `nature`, `physics`."""
    numbering: str
    """Of headings: `roman`, `arabic`, `dotted` or `none`."""
    font: str
    size: int
    paper: str
    opening: str = ""
    table_label: str = "Table {}:"
    figure_label: str = "Figure {}:"
    """As the class writes them; `{}` is the number."""
    roman_tables: bool = False
    upper_headings: bool = False
    table_caption_below: bool = False
    head: str = "journal"
    """Running heads: `journal`, `authors`, `conference`, `thesis`, `foot` or `none`."""
    alphabetical: bool = True
    is_thesis: bool = False
    title_case: bool = False
    """Capitals in Titles and Headings."""
    languages: tuple[str, ...] = ("english",)
    """In which papers have this look."""
    sizes: tuple[str, ...] = (r"\small", r"\footnotesize", r"\footnotesize", r"\scriptsize")
    """Of the fonts of tables, by how full they are."""

    @property
    def words_per_page(self) -> int:
        """About how many words of text a page has."""
        if self.columns == 2:
            return {8: 1050, 9: 950, 10: 850}.get(self.size, 780)
        return 330 if self.is_thesis else {10: 480, 11: 500}.get(self.size, 390)


def _class(name: str, options: str, more: str = "") -> str:
    before = r"\PassOptionsToPackage{table}{xcolor}"
    return f"{before}\\documentclass[{options}]{{{name}}}{PACKAGES}{more}"


def _times(more: str) -> str:
    return r"\usepackage{mathptmx}\usepackage[scaled=.92]{helvet}" + more


def _article(options: str, geometry: str, more: str) -> str:
    return _class("article", options, _GEOMETRY.format(geometry) + _PLAIN_ARTICLE + more)


_BOLD_LABELS = r"""\makeatletter\long\def\@makecaption#1#2{\vskip\abovecaptionskip{\small\sbox\@tempboxa{\textbf{#1}SEP #2}%
\ifdim\wd\@tempboxa>\hsize \noindent\textbf{#1}SEP #2\par\else\global\@minipagefalse\hb@xt@\hsize{\hfil\box\@tempboxa\hfil}\fi}%
\vskip\belowcaptionskip}\makeatother"""
_ITALIC_LABELS = r"""\makeatletter\long\def\@makecaption#1#2{\vskip 8pt{\small\sbox\@tempboxa{{\itshape #1.} #2}%
\ifdim\wd\@tempboxa>\hsize {\itshape #1.} #2\par\else\hb@xt@\hsize{\hfil\box\@tempboxa\hfil}\fi}\vskip 6pt}\makeatother"""
_SECTIONS = r"""\makeatletter\def\section{\@startsection{section}{1}{\z@}{-2ex plus -.5ex minus -.2ex}{1.2ex plus .2ex}{%s}}
\def\subsection{\@startsection{subsection}{2}{\z@}{-1.6ex plus -.4ex minus -.2ex}{.8ex plus .2ex}{%s}}\makeatother"""

_ALL = ("english", "french")

LOOKS: dict[str, PaperLook] = {
    look.name: look
    for look in (
        PaperLook(
            "ieee-conference",
            "IEEEtran",
            2,
            _class("IEEEtran", "conference"),
            "ieee",
            "ieee",
            "ieee",
            "roman",
            "times",
            10,
            "letter",
            table_label="TABLE {}",
            figure_label="Fig. {}.",
            roman_tables=True,
            head="none",
            alphabetical=False,
            title_case=True,
        ),
        PaperLook(
            "ieee-journal",
            "IEEEtran",
            2,
            _class("IEEEtran", "journal"),
            "ieee",
            "ieee",
            "ieee",
            "roman",
            "times",
            10,
            "letter",
            table_label="TABLE {}",
            figure_label="Fig. {}.",
            roman_tables=True,
            alphabetical=False,
            title_case=True,
        ),
        PaperLook(
            "acm",
            "acmart",
            2,
            r"\PassOptionsToPackage{draft}{microtype}" + _class("acmart", "sigconf,nonacm"),
            "acm",
            "numeric",
            "plain",
            "arabic",
            "libertine",
            9,
            "letter",
            head="conference",
            title_case=True,
        ),
        PaperLook(
            "llncs",
            "llncs",
            1,
            _class("llncs", "runningheads"),
            "llncs",
            "numeric",
            "plain",
            "arabic",
            "computer modern",
            10,
            "letter",
            table_label="Table {}.",
            figure_label="Fig. {}.",
            head="authors",
            title_case=True,
        ),
        PaperLook(
            "icml",
            "article",
            2,
            _article(
                "twocolumn,10pt",
                "letterpaper,textwidth=6.75in,textheight=9in,top=1in,columnsep=.25in,headsep=12pt",
                _times("")
                + _ITALIC_LABELS
                + _SECTIONS % (r"\large\bfseries\raggedright", r"\normalsize\bfseries"),
            ),
            "icml",
            "author",
            "apa",
            "dotted",
            "times",
            10,
            "letter",
            table_label="Table {}.",
            figure_label="Figure {}.",
            head="conference",
            title_case=True,
        ),
        PaperLook(
            "neurips",
            "article",
            1,
            _article(
                "10pt",
                "letterpaper,textwidth=5.5in,textheight=9in,top=1in",
                _times("")
                + _SECTIONS % (r"\large\bfseries\raggedright", r"\normalsize\bfseries\raggedright"),
            ),
            "neurips",
            "numeric",
            "plain",
            "arabic",
            "times",
            10,
            "letter",
            head="foot",
            title_case=True,
        ),
        PaperLook(
            "acl",
            "article",
            2,
            _article(
                "twocolumn,11pt",
                "a4paper,textwidth=16cm,textheight=24.7cm,top=2.5cm,columnsep=.6cm",
                _times("")
                + _SECTIONS % (r"\large\bfseries\raggedright", r"\normalsize\bfseries\raggedright"),
            ),
            "acl",
            "author",
            "apa",
            "arabic",
            "times",
            11,
            "a4",
            head="foot",
            table_caption_below=True,
            title_case=True,
            languages=_ALL,
        ),
        PaperLook(
            "elsevier",
            "elsarticle",
            2,
            _class("elsarticle", "5p,twocolumn,times"),
            "elsevier",
            "numeric",
            "plain",
            "dotted",
            "times",
            8,
            "a4",
            figure_label="Figure {}:",
        ),
        PaperLook(
            "elsevier-preprint",
            "elsarticle",
            1,
            _class("elsarticle", "preprint,12pt"),
            "elsevier",
            "author",
            "apa",
            "dotted",
            "computer modern",
            12,
            "a4",
            figure_label="Figure {}:",
            head="preprint",
        ),
        PaperLook(
            "mdpi",
            "article",
            1,
            _article(
                "10pt",
                "a4paper,left=5.1cm,right=1.3cm,top=2.6cm,bottom=2.2cm,headsep=18pt",
                r"\usepackage{mathpazo}"
                + _BOLD_LABELS.replace("SEP", ".")
                + _SECTIONS % (r"\normalsize\bfseries\raggedright", r"\normalsize\itshape\raggedright"),
            ),
            "mdpi",
            "numeric",
            "plain",
            "dotted",
            "palatino",
            10,
            "a4",
            table_label="Table {}.",
            figure_label="Figure {}.",
            alphabetical=False,
        ),
        PaperLook(
            "revtex",
            "article",
            2,
            _article(
                "twocolumn,10pt",
                "letterpaper,textwidth=7in,textheight=9.4in,top=.8in,columnsep=.25in",
                r"\makeatletter\def\fnum@table{TABLE \thetable}\def\fnum@figure{FIG. \thefigure}\def\thetable{\Roman{table}}%"
                "\n"
                r"\long\def\@makecaption#1#2{\vskip8pt{\small\noindent #1. #2\par}\vskip6pt}\makeatother"
                + _SECTIONS
                % (r"\normalsize\bfseries\centering", r"\normalsize\bfseries\centering"),
            ),
            "revtex",
            "numeric",
            "physics",
            "roman",
            "computer modern",
            10,
            "letter",
            table_label="TABLE {}.",
            figure_label="FIG. {}.",
            roman_tables=True,
            upper_headings=True,
            head="journal",
            alphabetical=False,
        ),
        PaperLook(
            "ams",
            "amsart",
            1,
            _class(
                "amsart",
                "11pt,a4paper",
                _SECTIONS % (r"\normalfont\scshape\centering", r"\normalfont\bfseries"),
            ),
            "ams",
            "numeric",
            "plain",
            "dotted",
            "computer modern",
            11,
            "a4",
            table_label="Table {}.",
            figure_label="Figure {}.",
            head="authors",
            languages=_ALL,
        ),
        PaperLook(
            "preprint",
            "article",
            1,
            _article("11pt", "letterpaper,margin=1in", r"\usepackage{lmodern}"),
            "article",
            "author",
            "apa",
            "arabic",
            "latin modern",
            11,
            "letter",
            head="foot",
            languages=_ALL,
        ),
        PaperLook(
            "preprint-two-column",
            "article",
            2,
            _article(
                "twocolumn,10pt", "a4paper,margin=1.9cm,columnsep=.7cm", _BOLD_LABELS.replace("SEP", ":")
            ),
            "article",
            "raised",
            "nature",
            "arabic",
            "computer modern",
            10,
            "a4",
            head="foot",
            alphabetical=False,
            languages=_ALL,
        ),
        PaperLook(
            "thesis",
            "report",
            1,
            _class(
                "report",
                "12pt,a4paper",
                _GEOMETRY.format("left=3.5cm,right=2.5cm,top=3cm,bottom=3cm,headheight=15pt")
                + r"\linespread{1.3}",
            ),
            "chapter",
            "numeric",
            "plain",
            "arabic",
            "computer modern",
            12,
            "a4",
            head="thesis",
            is_thesis=True,
            languages=_ALL,
        ),
        PaperLook(
            "thesis-book",
            "scrreprt",
            1,
            _class("scrreprt", "11pt,a4paper,DIV=12", r"\usepackage{mathpazo}"),
            "chapter",
            "author",
            "apa",
            "arabic",
            "palatino",
            11,
            "a4",
            head="thesis",
            is_thesis=True,
            table_caption_below=True,
            languages=_ALL,
        ),
    )
}


def looks_for(columns: int, language: str, names: Iterable[str]) -> list[str]:
    """Those of the looks that have so many columns, and papers in that language."""
    return sorted(n for n in names if LOOKS[n].columns == columns and language in LOOKS[n].languages)


def choose_look(rng: random.Random, columns: int, names: Iterable[str], language: str) -> PaperLook:
    """One of them."""
    return LOOKS[rng.choice(looks_for(columns, language, names))]


def heading_number(look: PaperLook, path: tuple[int, ...]) -> str:
    """`II.`, `A.`, `3`, `3.1.`: the number of a heading as the look writes it; empty if it has none."""
    if look.numbering == "none":
        return ""
    if look.numbering == "roman":
        return f"{roman(path[0])}." if len(path) == 1 else f"{chr(64 + path[-1])}."
    number = ".".join(map(str, path))
    return f"{number}." if look.numbering == "dotted" else number


def roman(value: int) -> str:
    """A Roman number."""
    out = ""
    for size, letters in ((10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")):
        while value >= size:
            out, value = out + letters, value - size
    return out


_SMALL_WORDS = frozenset(
    ["a", "an", "and", "as", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "under", "with"]
)


def title_case(text: str) -> str:
    """Capitals for all words but the small ones."""
    words = text.split(" ")
    after = ["", *words]  # behind a colon another title begins
    return " ".join(
        w if i and w in _SMALL_WORDS and not after[i].endswith(":") else w[:1].upper() + w[1:]
        for i, w in enumerate(words)
    )
