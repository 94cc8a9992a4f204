"""Citations in the text, and the entries of the list that they point to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from parsemark.corpora.latex.synthetic.papers.tokens import PaperToken, Setter
from parsemark.corpora.latex.synthetic.papers.writing import Reference, cite_numbers
from parsemark.corpora.synthetic.pieces import to_latex


@dataclass(frozen=True)
class Citations:
    """Writes citations in the style of a look."""

    style: str
    works: Sequence[Reference]
    places: Mapping[int, int]
    """From the number that a writer gave a work to its place in the list."""
    colour: str = ""
    """Of links, where they have one."""

    def __call__(self, kind: str, cited: list[int]) -> tuple[str, str]:
        """As it is set, and its truth."""
        latex, truth = self._plain(kind, cited)
        if not self.colour:
            return latex, truth
        return " ".join(rf"\textcolor{{{self.colour}}}{{{part}}}" for part in latex.split(" ")), truth

    def _plain(self, kind: str, cited: list[int]) -> tuple[str, str]:
        places = [self.places[i] for i in cited]
        numbers = [p + 1 for p in places]
        if kind == "citet":
            work = self.works[places[0]]
            if self.style == "raised":
                return (
                    rf"{_spaced(work.short)}\textsuperscript{{{numbers[0]}}}",
                    f"{work.short}^{{{numbers[0]}}}",
                )
            tail = f"({work.year})" if self.style == "author" else f"[{numbers[0]}]"
            return _spaced(f"{work.short} {tail}"), f"{work.short} {tail}"
        if self.style == "author":
            text = "; ".join(f"{self.works[p].short}, {self.works[p].year}" for p in places)
            return _spaced(f"({text})"), f"({text})"
        text = cite_numbers(numbers, self.style)
        if self.style == "raised":
            return rf"\textsuperscript{{{to_latex(text)}}}", f"^{{{text}}}"
        return _spaced(text), text


def _spaced(text: str) -> str:
    return to_latex(text)


def entry_tokens(work: Reference, style: str, setter: Setter) -> list[PaperToken]:
    """An entry of the list, without its label."""
    is_talk = work.is_talk and style in ("ieee", "apa", "plain")
    return _talk(work, style, setter) if is_talk else _article(work, style, setter)


def _article(work: Reference, style: str, setter: Setter) -> list[PaperToken]:
    """An entry of an article or a book."""
    first, last = work.pages
    if style == "ieee":
        names = _joined([f"{given[0]}. {family}" for given, family in work.authors])
        if work.is_book:
            return [
                *setter(f"{names},"),
                *setter(f"{work.title}.", look=r"\textit{{}}"),
                *setter(f"{work.venue}, {work.year}."),
            ]
        return [
            *setter(f"{names}, “{work.title},”"),
            *setter(f"{work.venue},", look=r"\textit{{}}"),
            *setter(f"vol. {work.volume}, pp. {first}–{last}, {work.year}."),
        ]
    if style == "apa":
        names = _joined([f"{family}, {given[0]}." for given, family in work.authors], "&")
        head = [
            *setter(f"{names} ({work.year}). {work.title}."),
            *setter(f"{work.venue},", look=r"\textit{{}}"),
        ]
        return (
            [*head, *setter(f"{work.volume}:{first}–{last}.{_doi(work)}")]
            if not work.is_book
            else [*head[:-1], *setter(f"{work.venue}.")]
        )
    if style == "nature":
        names = _joined([f"{family}, {given[0]}." for given, family in work.authors], "&")
        return [
            *setter(f"{names} {work.title}."),
            *setter(work.venue, look=r"\textit{{}}"),
            *setter(f"{work.volume},", look=r"\textbf{{}}"),
            *setter(f"{first}–{last} ({work.year})."),
        ]
    if style == "physics":
        names = _joined([f"{given[0]}. {family}" for given, family in work.authors])
        return [
            *setter(f"{names}, {work.venue}"),
            *setter(str(work.volume), look=r"\textbf{{}}"),
            *setter(f", {first} ({work.year})."),
        ]
    names = _joined([f"{given} {family}" for given, family in work.authors])
    tail = (
        f"{work.venue}, {work.year}."
        if work.is_book
        else f"{work.venue}, {work.volume}:{first}–{last}, {work.year}.{_doi(work)}"
    )
    return [
        *setter(f"{names}. {work.title}."),
        *setter(tail.partition(",")[0] + ",", look=r"\textit{{}}"),
        *setter(tail.partition(", ")[2]),
    ]


def _talk(work: Reference, style: str, setter: Setter) -> list[PaperToken]:
    """An entry of a paper in the proceedings of a conference, which have no volume."""
    first, last = work.pages
    venue = setter(f"{work.venue},", look=r"\textit{{}}")
    if style == "ieee":
        names = _joined([f"{given[0]}. {family}" for given, family in work.authors])
        return [*setter(f"{names}, “{work.title},” in"), *venue, *setter(f"{work.year}, pp. {first}–{last}.")]
    if style == "apa":
        names = _joined([f"{family}, {given[0]}." for given, family in work.authors], "&")
        return [*setter(f"{names} ({work.year}). {work.title}. In"), *venue, *setter(f"pp. {first}–{last}.")]
    names = _joined([f"{given} {family}" for given, family in work.authors])
    return [
        *setter(f"{names}. {work.title}. In"),
        *venue,
        *setter(f"pages {first}–{last}, {work.year}.{_doi(work)}"),
    ]


def _doi(work: Reference) -> str:
    return f" doi:{work.doi}." if work.doi else ""


def _joined(names: Sequence[str], word: str = "and") -> str:
    if len(names) == 1:
        return names[0]
    if len(names) == 2:
        return f"{names[0]} {word} {names[1]}"
    return f"{', '.join(names[:-1])}, {word} {names[-1]}"
