"""The words of an output, compared with those that can be seen on its page."""

import re
from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import dataclass
from itertools import groupby

from parsemark.formats.notation import fold_notation
from parsemark.matching.word_fates import Fate, PageAtom, WordFates, atoms, is_number, word_fates
from parsemark.model import Box, Element, Prediction
from parsemark.pdf import SeenPage
from parsemark.protocols.page_elements import predicted_elements

FATES = ("kept", "altered", "lost", "moved")
EXTRAS = ("doubled", "invented", "leaked")
NUMBERS = "numbers_"  # before the name of a count: the same for numbers alone
TABLES_ALONE = "tables_alone"  # 1 where an output says nothing but tables, or nothing at all
_PLACEHOLDER = re.compile(r"=+> ?picture[^\n]*?<=+|-{3,} ?(?:start|end) of picture text ?-{3,}", re.I)
"""What parsers write in place of a picture."""
_WITHIN = re.compile(r"(?<=[^\W\d_])[*~]+(?=[^\W\d_])")
"""Marks of emphasis inside of a word, which do not tear it."""
_MARKUP = re.compile(r"[$\\]|[_^]\{|<su[bp]>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class WordFinding:
    """Some words in a row with the same fate."""

    kind: str
    text: str
    said: str = ""  # what the output has in their place
    box: Box | None = None  # where they stand on the page; words that are only in the output stand nowhere
    numbers: int = 0  # how many of them are numbers


@dataclass(frozen=True)
class PageEvidence:
    """What a page says about one output."""

    counts: Counter[str]
    """`words` of the page and `said` by the output, and how many of them have which fate; numbers apart."""
    findings: tuple[WordFinding, ...]


def compare(seen: SeenPage, prediction: Prediction) -> PageEvidence:
    """Compare what can be seen on a page with what a parser made of it.

    Of a parser that gives nothing but tables, only words inside of its tables are asked for.
    """
    asked = None
    if prediction.elements and gives_tables_alone(prediction):
        asked = tuple(e.box for e in prediction.elements if e.box is not None)
    page, hidden = list[PageAtom](), list[str]()
    for word in seen.words:
        for text in atoms(word.text):
            if word.shown:
                is_unasked = asked is not None and not any(box.holds_centre(word.box) for box in asked)
                page.append(PageAtom(text, word.box, word.line, word.edge or is_unasked))
            else:
                hidden.append(text)
    known = {atom.text for atom in page}
    output = output_words(prediction, known)
    fates = word_fates(page, hidden, output, atoms(seen.beside))
    return PageEvidence(_counted(fates), tuple(_findings(fates)))


def output_words(prediction: Prediction, known: Set[str] = frozenset()) -> list[str]:
    """The words of an output as they are compared; `known` ones tell whether notation is to be folded."""
    return [text for element in predicted_elements(prediction) for text in _said(element, known)]


def gives_tables_alone(prediction: Prediction) -> bool:
    """Whether an output has no text beside tables; one of a page without tables is empty."""
    return prediction.text is None and all(e.table is not None for e in prediction.elements)


def _said(element: Element, known: Set[str]) -> Iterator[str]:
    if element.table is not None:
        texts = [cell.text for cell in element.table.cells]
    elif element.text:
        texts = _PLACEHOLDER.sub(" ", element.text).split("\n")
    else:
        texts = [f"${element.latex}$"] if element.latex else []
    for text in texts:
        yield from _folded(text, known)


def _folded(text: str, known: Set[str]) -> tuple[str, ...]:
    """The words of a text as it stands, or of what its notation means, whichever the page knows better."""
    text = _WITHIN.sub("", text)
    plain = atoms(text)
    if not _MARKUP.search(text):
        return plain
    folded = atoms(fold_notation(text))
    return max(folded, plain, key=lambda words: (sum(word in known for word in words) + 1) / (len(words) + 2))


def _counted(fates: WordFates) -> Counter[str]:
    found: Counter[str] = Counter()

    def add(name: str, is_a_number: bool, n: int) -> None:
        found[name] += n
        found[NUMBERS + name] += n * is_a_number

    moved = (i in fates.moved for i in range(len(fates.page)))
    numbers = (is_number(atom.text) for atom in fates.page)
    for (fate, number, has_moved), n in Counter(zip(fates.of_page, numbers, moved, strict=True)).items():
        if fate is not Fate.PASSED:
            for name in ("words", fate.value, *["moved"] * has_moved):
                add(name, number, n)
    for (fate, number), n in Counter(zip(fates.of_output, map(is_number, fates.output), strict=True)).items():
        if fate is not Fate.PASSED:
            for name in ("said", *[fate.value] * (fate in EXTRAS)):
                add(name, number, n)
    return found


def _findings(fates: WordFates) -> Iterator[WordFinding]:
    """Neighbours of a line with the same fate together; then the words that are only in the output."""
    kinds = [str(fate) for fate in fates.of_page]
    for i in (i for i in fates.moved if fates.of_page[i] is Fate.KEPT):
        kinds[i] = "moved"
    for (kind, _), group in groupby(range(len(kinds)), lambda i: (kinds[i], fates.page[i].line)):
        if kind in FATES[1:]:
            run = list(group)
            own = [fates.page[i] for i in run]
            said = " ".join(text for text, _ in groupby(fates.said[i] for i in run if i in fates.said))
            text = " ".join(atom.text for atom in own)
            numbers = sum(is_number(atom.text) for atom in own)
            yield WordFinding(kind, text, said, Box.hull(atom.box for atom in own), numbers)
    for fate, same in groupby(zip(fates.of_output, fates.output, strict=True), lambda pair: pair[0]):
        if fate in EXTRAS:
            extra = [word for _, word in same]
            yield WordFinding(str(fate), " ".join(extra), numbers=sum(map(is_number, extra)))
