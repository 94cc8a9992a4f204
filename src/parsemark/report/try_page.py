"""One document as several parsers read it, side by side: what others do not have is marked."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from markupsafe import Markup

from parsemark.corpora import Corpus
from parsemark.errors import FormatError, PdfError
from parsemark.formats.document import predicted_elements
from parsemark.model import Category, Element, Prediction, Status, Table
from parsemark.parsers import read_raw
from parsemark.pdf import render_page
from parsemark.pdf.page_kinds import TRAITS
from parsemark.protocols.run_data.unread_pages import run_kinds
from parsemark.report.site import data_uri, standalone_page
from parsemark.store import ParseRecord, Run
from parsemark.system.files import write_text

_DPI = 90
_MAX_CHARS = 20_000  # of one parser on one page; the rest is left out, and said
_WORD = re.compile(r"\w+(?:[.,'’-]\w+)*|\S")


@dataclass(frozen=True)
class TriedOutput:
    """What one parser made of one page."""

    parser: str
    seconds: float | None
    body: Markup
    n_tables: int
    n_alone: int  # words that most of the others do not have
    missing: tuple[str, ...]  # words that most of the others have and this one does not
    failed: str | None = None


def write_try(run: Run, corpus: Corpus, path: Path) -> Path:
    """Write the page; it needs nothing else and loads nothing."""
    table = run.table("samples")
    records = {(r.sample, r.parser): r for r in run.records()}
    parsers = run.manifest.parser_names
    pages = []
    kinds = run_kinds(run.run_tables())
    for sample, pdf, number in zip(table["sample"], table["pdf"], table["page_number"], strict=True):
        own = {p: records[sample, p] for p in parsers if (sample, p) in records}
        page = {"title": f"Page {number}", "picture": _picture(pdf, number), "outputs": _outputs(run, own)}
        traits = [(TRAITS[trait], value) for trait, value in kinds.get(sample, {}).items()]
        pages.append(page | {"kinds": traits})
    title = Path(table["pdf"][0] or corpus.name).name
    write_text(path, standalone_page("try.html", title=title, pages=pages))
    return path


def _picture(pdf: str | None, number: int) -> str | None:
    try:
        return data_uri(render_page(Path(pdf or ""), number, _DPI), "png", optimize=True)
    except (PdfError, OSError):
        return None


def _outputs(run: Run, records: dict[str, ParseRecord]) -> tuple[TriedOutput, ...]:
    read = {
        parser: read_raw(run.raw(record.blob), record.sample, parser)
        for parser, record in records.items()
        if record.blob is not None
    }
    given = {parser: p for parser, p in read.items() if p.status is Status.OK}
    shown = {parser: _elements(p) for parser, p in given.items()}
    words = {parser: Counter(folded(said(e))) for parser, e in shown.items()}
    tabled = {p: Counter(folded(said([e for e in own if e.table]))) for p, own in shown.items()}
    cells = {parser: Counter(_cells(e)) for parser, e in shown.items()}
    # Many parsers give tables alone: they say nothing of the other words of a page.
    texts = {p: words[p] for p, own in shown.items() if any(e.table is None and _content(e) for e in own)}
    made = []
    for parser, record in records.items():
        if parser not in given:
            problem = record.error or "no output"
            made.append(TriedOutput(parser, record.cpu_s, Markup(), 0, 0, (), problem))
            continue
        usual, missing = compare_words(parser, texts if parser in texts else tabled)
        usual_cells = compare_words(parser, cells)[0]
        body, alone = _Marked(usual, usual_cells, compare_words(parser, words)[0]).body(shown[parser])
        tables = sum(element.table is not None for element in shown[parser])
        made.append(TriedOutput(parser, record.cpu_s, body, tables, alone, missing))
    return tuple(made)


def _elements(prediction: Prediction) -> Sequence[Element]:
    """Return all that an output says; a text that cannot be read is one block."""
    try:
        return predicted_elements(prediction)
    except FormatError:
        return (Element("text", Category.TEXT_BLOCK, text=prediction.text),)


def said(elements: Sequence[Element]) -> str:
    """Return all text of elements."""
    return "\n".join(map(_content, elements))


def _cells(elements: Sequence[Element]) -> list[str]:
    """Return the texts of all cells, as they are compared."""
    tables = [element.table for element in elements if element.table is not None]
    return [" ".join(folded(cell.text)) for table in tables for cell in table.cells]


def _content(element: Element) -> str:
    if element.table is not None:
        return "\n".join(" ".join(row) for row in element.table.text_rows())
    return element.text or element.latex or ""


def folded(text: str) -> list[str]:
    """Return words as they are compared."""
    return [word.casefold() for word in _WORD.findall(text[:_MAX_CHARS])]


def compare_words(parser: str, words: dict[str, Counter[str]]) -> tuple[set[str] | None, tuple[str, ...]]:
    """Return the words that at least half of the other parsers have (None without others), and those that
    miss here.

    Others that say nothing at all do not count: many parsers give tables alone.
    """
    others = [own for name, own in words.items() if name != parser and own]
    if not others:
        return None, ()
    often = Counter(word for own in others for word in own)
    usual = {word for word, n in often.items() if 2 * n >= len(others)}
    own, most = words[parser], [w for w in sorted(usual) if 2 * often[w] > len(others)]
    missing = [word for word in most if word not in own and word.isalnum()]
    return usual, tuple(missing) if words[parser] else ()


class _Marked:
    """Renders an output with the words and cells marked that others do not have."""

    def __init__(self, usual: set[str] | None, cells: set[str] | None, tabled: set[str] | None) -> None:
        self.usual, self.cells, self.tabled, self.alone = usual, cells, tabled, 0

    def body(self, elements: Sequence[Element]) -> tuple[Markup, int]:
        """Return its HTML, and the number of marked words."""
        return Markup("\n".join(map(self._element, elements))), self.alone  # every text in it is escaped

    def _element(self, element: Element) -> str:
        if element.table is not None:
            return self._table(element.table)
        return f"<p>{self._text(_content(element), self.usual)}</p>"

    def _table(self, table: Table) -> str:
        rows: list[list[str]] = [[] for _ in range(table.n_rows)]
        for cell in sorted(table.cells, key=lambda c: (c.row, c.col)):
            spans = (f' rowspan="{cell.rowspan}"' if cell.rowspan > 1 else "") + (
                f' colspan="{cell.colspan}"' if cell.colspan > 1 else ""
            )
            if self.cells is not None and (own := " ".join(folded(cell.text))) and own not in self.cells:
                spans += ' class="own"'
            rows[cell.row].append(f"<td{spans}>{self._text(cell.text, self.tabled)}</td>")
        return "<table>" + "".join(f"<tr>{''.join(row)}</tr>" for row in rows) + "</table>"

    def _text(self, text: str, usual: set[str] | None) -> str:
        if len(text) > _MAX_CHARS:
            text = text[:_MAX_CHARS] + " …"
        return "".join(self._word(part, usual) for part in re.split(f"({_WORD.pattern})", text) if part)

    def _word(self, part: str, usual: set[str] | None) -> str:
        if usual is None or part.casefold() in usual or not any(c.isalnum() for c in part):
            return escape(part)
        self.alone += 1
        return f"<mark>{escape(part)}</mark>"
