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


_ITALIC, _BOLD = r"\textit{{}}", r"\textbf{{}}"


def entry_tokens(work: Reference, style: str, setter: Setter, labels: Mapping[str, str]) -> list[PaperToken]:
    """An entry of the list, without its label."""
    parts = [*_head(work, style), *_WHERE.get(work.kind, _alone)(work, style, labels)]
    return [token for text, look in parts for token in setter(text, look=look)]


_Parts = list[tuple[str, str]]
"""Texts and their looks."""


def _head(work: Reference, style: str) -> _Parts:
    """Who wrote it and what it is called; physicists leave out the titles of papers."""
    if style in ("ieee", "physics"):
        names = _joined([f"{given[0]}. {family}" for given, family in work.authors])
    elif style == "plain":
        names = _joined([f"{given} {family}" for given, family in work.authors], work.conjunction)
    else:
        names = _joined([f"{family}, {given[0]}." for given, family in work.authors], _ampersand(work))
    before = {"ieee": f"{names},", "physics": f"{names},", "plain": f"{names}.", "nature": names}
    who = before.get(style, f"{names} ({work.year}).")
    if work.kind == "book":
        return [(who, "{}"), (f"{work.title}," if style == "physics" else work.sentence, _ITALIC)]
    if style == "physics":
        return [(who, "{}")]
    return [(f"{who} “{work.title},”" if style == "ieee" else f"{who} {work.sentence}", "{}")]


def _in_journal(work: Reference, style: str, labels: Mapping[str, str]) -> _Parts:
    (first, last), number = work.pages, f"({work.issue})" if work.issue else ""
    if style == "ieee":
        issue = f"no. {work.issue}, " if work.issue else ""
        tail = f"vol. {work.volume}, {issue}pp. {first}–{last}, {work.year}."
        return [(f"{work.venue},", _ITALIC), (tail, "{}")]
    if style == "nature":
        return [(work.venue, _ITALIC), (f"{work.volume},", _BOLD), (f"{first}–{last} ({work.year}).", "{}")]
    if style == "physics":
        return [(work.venue, "{}"), (f"{work.volume},", _BOLD), (f"{first} ({work.year}).", "{}")]
    year = "" if style == "apa" else f", {work.year}"
    tail = f"{work.volume}{number}:{first}–{last}{year}.{_doi(work)}"
    return [(f"{work.venue},", _ITALIC), (tail, "{}")]


def _in_proceedings(work: Reference, style: str, labels: Mapping[str, str]) -> _Parts:
    first, last = work.pages
    tails = {
        "ieee": f"{work.year}, pp. {first}–{last}.",
        "apa": f"pp. {first}–{last}.",
        "plain": f"pages {first}–{last}, {work.year}.{_doi(work)}",
    }
    into = labels["in"].lower() if style in ("ieee", "nature", "physics") else labels["in"]
    return [
        (into, "{}"),
        (f"{work.venue},", _ITALIC),
        (tails.get(style, f"{first}–{last} ({work.year})."), "{}"),
    ]


def _alone(work: Reference, style: str, labels: Mapping[str, str]) -> _Parts:
    """A book, a thesis or a preprint, which stand in nothing larger."""
    what = f"{labels['thesis']}, {work.venue}" if work.kind == "thesis" else work.venue
    if style == "apa":
        return [(f"{what}.", "{}")]
    return [(f"({what}, {work.year})." if style in ("nature", "physics") else f"{what}, {work.year}.", "{}")]


_WHERE = {"article": _in_journal, "talk": _in_proceedings}


def _ampersand(work: Reference) -> str:
    """As styles with `&` join the authors; other languages have a word for it."""
    return "&" if work.conjunction == "and" else work.conjunction


def _doi(work: Reference) -> str:
    return f" {work.doi}." if work.doi else ""


def _joined(names: Sequence[str], word: str = "and") -> str:
    if len(names) == 1:
        return names[0]
    if len(names) == 2:
        return f"{names[0]} {word} {names[1]}"
    comma = "," if word in ("and", "&") else ""
    return f"{', '.join(names[:-1])}{comma} {word} {names[-1]}"
