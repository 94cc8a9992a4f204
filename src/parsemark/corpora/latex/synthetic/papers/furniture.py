"""Running heads, page numbers, feet of first pages and the stamp of a preprint server."""

from __future__ import annotations

import random
from dataclasses import dataclass

from parsemark.corpora.latex.synthetic.papers.front import Matter, written_date
from parsemark.corpora.latex.synthetic.papers.looks import PaperLook
from parsemark.corpora.latex.synthetic.papers.subject import people
from parsemark.corpora.latex.synthetic.papers.writing import Writer
from parsemark.corpora.synthetic.pieces import to_latex
from parsemark.model import Category

FURNITURE = 1_000_000
"""Numbers of what stands around the text: FURNITURE + 10 · page + its place in the list of its page."""
PAGE = "@P@"
"""Stands for the page number."""


@dataclass(frozen=True)
class MarginPiece:
    """Something in the head or the foot of a page."""

    category: Category
    text: str
    setting: str = ""


Line = tuple[MarginPiece | None, MarginPiece | None, MarginPiece | None]
"""Left, middle, right."""
NOTHING: Line = (None, None, None)
NUMBER = MarginPiece(Category.PAGE_NUMBER, PAGE)


@dataclass(frozen=True)
class PageMargins:
    """Head and foot of one kind of page."""

    head: Line
    foot: Line

    def pieces(self) -> list[MarginPiece]:
        """In the order of their numbers."""
        return [piece for piece in (*self.head, *self.foot) if piece is not None]


@dataclass(frozen=True)
class Furniture:
    """What stands around the text of a document."""

    first: PageMargins
    odd: PageMargins
    even: PageMargins
    first_number: int
    stamp: str | None = None

    def sheet(self, number: int) -> PageMargins:
        """Of a page, by its number."""
        if number == self.first_number:
            return self.first
        return self.odd if number % 2 else self.even

    def latex(self) -> str:
        """The page styles, the number of the first page, the stamp."""
        styles = (
            r"\def\ps@pmrun{" + _lines(self.odd, self.even) + "}"
            r"\def\ps@pmfirst{" + _lines(self.first, self.first) + "}"
        )
        stamp = ""
        if self.stamp is not None:
            number = FURNITURE + 9
            box = rf"\rotatebox{{90}}{{\pmblock{{{number}}}{{\fontfamily{{ptm}}\fontsize{{16}}{{16}}\selectfont\color{{black!50}}{to_latex(self.stamp)}}}}}"
            stamp = (
                (
                    r"\AddToHook{shipout/foreground}{\ifnum\value{page}=FIRST "
                    r"\put(16pt,-.72\paperheight){BOX}\fi}"
                )
                .replace("FIRST", str(self.first_number))
                .replace("BOX", box)
            )
        return (
            rf"\makeatletter{styles}\makeatother\pagestyle{{pmrun}}\setcounter{{page}}{{{self.first_number}}}"
            rf"\thispagestyle{{pmfirst}}{stamp}" + "\n"
        )


def _lines(odd: PageMargins, even: PageMargins) -> str:
    """Head and foot; classes with one-sided pages know the odd ones alone, so these look at the number."""
    heads, feet = (
        [_line(sheet, sheet.head) for sheet in (odd, even)],
        [_line(sheet, sheet.foot) for sheet in (odd, even)],
    )
    head, foot = (rf"\ifodd\value{{page}}{one}\else {two}\fi" for one, two in (heads, feet))
    return rf"\def\@oddhead{{{head}}}\let\@evenhead\@oddhead\def\@oddfoot{{{foot}}}\let\@evenfoot\@oddfoot"


def _line(sheet: PageMargins, pieces: Line) -> str:
    numbers = {id(piece): index for index, piece in enumerate(sheet.pieces())}
    parts = []
    for piece in pieces:
        if piece is None:
            parts.append("")
            continue
        text = to_latex(piece.text).replace(to_latex(PAGE), r"\thepage")
        number = rf"\number\numexpr{FURNITURE}+\value{{page}}*10+{numbers[id(piece)]}\relax"
        parts.append(rf"\pmblock{{{number}}}{{{piece.setting}{text}}}")
    return rf"\normalfont\normalcolor\small {parts[0]}\hfil\hskip1em\relax {parts[1]}\hfil\hskip1em\relax {parts[2]}"


def furnish(  # noqa: PLR0911 - one return for each kind of head
    rng: random.Random, look: PaperLook, matter: Matter, writer: Writer
) -> Furniture:
    """Heads and feet as the publisher has them."""
    journal = rng.choice(writer.subject.data["journals"])
    words = writer.words
    _, month, year = matter.day
    month_name = words["months"][month - 1]
    family = [f for _, f in matter.authors]
    short = (
        family[0]
        if len(family) == 1
        else f"{family[0]} {words['labels']['and']} {family[1]}"
        if len(family) == 2
        else f"{family[0]} et al."
    )
    most = 40 if look.name in ("ams", "ieee-journal") or look.is_thesis else 58
    title = (
        matter.title if len(matter.title) < most else matter.title[: matter.title.rfind(" ", 0, most)] + " …"
    )
    plain_foot = PageMargins(NOTHING, (None, MarginPiece(Category.PAGE_NUMBER, PAGE), None))
    bare = PageMargins(NOTHING, NOTHING)
    stamp = None
    if look.head == "none":
        first = PageMargins(
            NOTHING,
            (
                MarginPiece(
                    Category.FOOTER,
                    f"978-1-{rng.randint(1000, 9999)}-{rng.randint(1000, 9999)}-{rng.randint(0, 9)}/{year % 100:02d}/$31.00 ©{year} IEEE",
                    r"\footnotesize ",
                ),
                None,
                None,
            ),
        )
        return Furniture(first if rng.random() < 0.6 else bare, bare, bare, 1)
    if look.head == "journal":
        volume, issue = rng.randint(2, 60), rng.randint(1, 12)
        line = f"{journal}, vol. {volume}, no. {issue}, {month_name} {year}"
        line = line.upper() if look.name == "ieee-journal" else line
        small = r"\scriptsize " if look.name == "ieee-journal" else r"\footnotesize\itshape "
        start = rng.choice([1, rng.randint(11, 1900)])
        odd = PageMargins(
            (MarginPiece(Category.HEADER, line, small), None, MarginPiece(Category.PAGE_NUMBER, PAGE)),
            NOTHING,
        )
        even = PageMargins(
            (
                MarginPiece(Category.PAGE_NUMBER, PAGE),
                None,
                MarginPiece(
                    Category.HEADER,
                    f"{short.upper() if look.name == 'ieee-journal' else short}: {title}",
                    small,
                ),
            ),
            NOTHING,
        )
        notice = MarginPiece(
            Category.FOOTER,
            f"0018-{rng.randint(1000, 9999)} © {year} The authors. Published under CC BY 4.0.",
            r"\scriptsize ",
        )
        first = PageMargins(odd.head, (notice, None, None)) if rng.random() < 0.7 else odd
        return Furniture(first, odd, even, start)
    if look.head == "authors":
        upper = look.name == "ams"
        odd = PageMargins(
            (
                None,
                MarginPiece(Category.HEADER, title.upper() if upper else title, r"\footnotesize "),
                MarginPiece(Category.PAGE_NUMBER, PAGE),
            ),
            NOTHING,
        )
        even = PageMargins(
            (
                MarginPiece(Category.PAGE_NUMBER, PAGE),
                MarginPiece(Category.HEADER, short.upper() if upper else short, r"\footnotesize "),
                None,
            ),
            NOTHING,
        )
        return Furniture(bare if not upper else plain_foot, odd, even, 1)
    if look.head == "conference":
        place = f"{rng.choice(['Conf', 'Workshop', 'Symposium'])} ’{year % 100:02d}, {month_name} {year}, {rng.choice(people()['homes']['list'])[1]}"
        small = r"\footnotesize "
        if look.name == "icml":
            head = PageMargins(
                (None, MarginPiece(Category.HEADER, title, r"\footnotesize\bfseries "), None),
                (None, MarginPiece(Category.PAGE_NUMBER, PAGE), None),
            )
            note = MarginPiece(
                Category.FOOTER,
                f"Proceedings of the {rng.randint(3, 38)}th International Conference, {year}. Copyright {year} by the authors.",
                r"\footnotesize ",
            )
            return Furniture(PageMargins(NOTHING, (note, None, None)), head, head, 1)
        odd = PageMargins(
            (MarginPiece(Category.HEADER, title, small), None, MarginPiece(Category.FOOTER, place, small)),
            NOTHING,
        )
        even = PageMargins(
            (MarginPiece(Category.HEADER, place, small), None, MarginPiece(Category.FOOTER, short, small)),
            NOTHING,
        )
        first = (
            PageMargins(NOTHING, (MarginPiece(Category.FOOTER, place, small), None, None))
            if rng.random() < 0.6
            else bare
        )
        odd = PageMargins(
            (MarginPiece(Category.HEADER, title, small), None, MarginPiece(Category.HEADER, place, small)),
            NOTHING,
        )
        even = PageMargins(
            (MarginPiece(Category.HEADER, place, small), None, MarginPiece(Category.HEADER, short, small)),
            NOTHING,
        )
        return Furniture(first, odd, even, 1)
    if look.head == "thesis":
        style = rng.choice([r"\slshape ", r"\itshape ", r"\scshape "])
        label = f"{words['labels']['chapter']} {matter.chapter}. {title}"
        odd = PageMargins(
            (MarginPiece(Category.HEADER, label, style), None, MarginPiece(Category.PAGE_NUMBER, PAGE)),
            NOTHING,
        )
        even = PageMargins(
            (MarginPiece(Category.PAGE_NUMBER, PAGE), None, MarginPiece(Category.HEADER, label, style)),
            NOTHING,
        )
        run = (odd, even) if rng.random() < 0.6 else (plain_foot, plain_foot)
        return Furniture(plain_foot, *run, rng.randint(3, 140))
    if look.head == "preprint":
        foot = (
            MarginPiece(Category.FOOTER, f"Preprint submitted to {journal}", r"\footnotesize\itshape "),
            None,
            MarginPiece(Category.FOOTER, written_date(words, *matter.day), r"\footnotesize "),
        )
        return Furniture(PageMargins(NOTHING, foot), plain_foot, plain_foot, 1)
    if rng.random() < 0.55:
        stamp = _stamp(rng, matter, writer)
    return Furniture(plain_foot, plain_foot, plain_foot, 1, stamp)


def _stamp(rng: random.Random, matter: Matter, writer: Writer) -> str:
    """Of a preprint server: arXiv with the class of the subject, or HAL, which has none."""
    day, month, year = matter.day
    kept, version = rng.randint(1, 19999), rng.choice([1, 1, 2, 3])
    on = f"{day} {writer.words['months'][month - 1][:3]} {year}"
    archive = writer.subject.data.get("arxiv")
    if archive:
        return f"arXiv:{year % 100:02d}{month:02d}.{kept:05d}v{version} [{archive}] {on}"
    return f"hal-0{(year - 2005) * 10**5 + 5 * kept:07d}, version {version} – {on}"
