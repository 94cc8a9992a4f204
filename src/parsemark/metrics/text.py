"""Metrics that compare the HTML of two tables as text: BLEU-4, and OmniDocBench's edit distance."""

import math
import re
import unicodedata
from collections.abc import Iterator

from parsemark.formats import write_table
from parsemark.formats.html.markup import Tag, replace_elements, replace_tags, unescape
from parsemark.kernels import kernel
from parsemark.metrics.base import MAX_CHARACTER_PAIRS, Metadata, Metric, check_pairs
from parsemark.metrics.bleu import token_ngrams
from parsemark.metrics.table_input import TableInput

_WORD = re.compile(r"\w+|[^\w\s]")
_MAX_ORDER = 4


class Bleu4(Metric[TableInput]):
    """BLEU-4 of the tables' HTML, truth as the only reference.

    Tokens are `<tr>`, `</tr>`, `<td>` (with its spans), `</td>`, and the words and single punctuation
    marks of the texts; th is td and other markup does not count. Precisions of orders 2 to 4 are smoothed
    by adding one to matches and candidates (Lin and Och 2004), so that small tables have a value.

    Empty cases: two empty tables are equal (1). An empty table against another has 0.

    Differences from the reference: papers on table recognition give BLEU-4 without tokenisation or
    smoothing; both are fixed here.

    >>> from parsemark.metrics import score
    >>> truth = "<table><tr><td>a</td><td>b</td></tr></table>"
    >>> pred = "<table><tr><th>a</th><th>c</th></tr></table>"
    >>> round(score(truth, pred, metrics=["bleu4"])["bleu4"].value, 3)
    0.658
    """

    name = "bleu4"
    metadata = Metadata(
        title="BLEU-4 of the HTML",
        citation="Papineni et al. 2002, BLEU; smoothing of Lin and Och 2004",
        reference="the papers' definitions; brute force in the tests",
    )

    def compute(self, truth: TableInput, pred: TableInput) -> float:
        """Return the value for one pair."""
        wanted, given = list(_tokens(truth)), list(_tokens(pred))
        if not wanted or not given:
            return float(not wanted and not given)
        logs = 0.0
        for order in range(1, _MAX_ORDER + 1):
            expected, found = token_ngrams(wanted, order), token_ngrams(given, order)
            matches, candidates = (expected & found).total(), found.total()
            if order > 1:
                matches, candidates = matches + 1, candidates + 1
            if matches == 0:
                return 0.0
            logs += math.log(matches / candidates)
        brevity = min(0.0, 1 - len(wanted) / len(given))
        return math.exp(brevity + logs / _MAX_ORDER)


class TableEdit(Metric[TableInput]):
    """OmniDocBench's table edit distance: Levenshtein distance of the normalised HTML over the longer length.

    Normalised as OmniDocBench v1.0 and v1.5 do: th becomes td; thead, tbody and span are unwrapped; math
    becomes its alternative text; entities are resolved, NFKC, no newlines; style, size, alignment and
    class attributes go; white space is collapsed; the tags of sup, sub, div and p and whole colgroups go.

    Empty cases: two missing tables have 0. A missing one against another has 1.

    Differences from the reference: tables that are not HTML are written as HTML by parsemark first.

    >>> from parsemark.metrics import score
    >>> truth, pred = "<table><tr><th>ab</th></tr></table>", "<table><tr><td>ac</td></tr></table>"
    >>> round(score(truth, pred, metrics=["table_edit"])["table_edit"].value, 4)
    0.0137
    """

    name = "table_edit"
    metadata = Metadata(
        title="Table edit distance (OmniDocBench)",
        higher_is_better=False,
        symmetric=True,
        citation="Ouyang et al. 2025, OmniDocBench (CVPR)",
        reference="OmniDocBench v1.0 and v1.5",
        both_empty=0.0,
        one_empty=1.0,
    )

    def compute(self, truth: TableInput, pred: TableInput) -> float:
        """Return the value for one pair."""
        if truth.is_absent or pred.is_absent:
            return float(truth.is_absent != pred.is_absent)
        written = (write_table(s.table, "html") if s.html is None else s.html for s in (truth, pred))
        a, b = map(normalised_html, written)
        check_pairs("characters", len(a), len(b), MAX_CHARACTER_PAIRS)
        return float(kernel.levenshtein(a, b)) / max(len(a), len(b))


def _tokens(table: TableInput) -> Iterator[str]:
    cells = table.lossless_row_cells
    for row in cells.rows():
        yield "<tr>"
        for index in row:
            spans = " {} {}".format(*cells.spans[index]) if index in cells.spans else ""
            yield f"<td{spans}>"
            yield from _WORD.findall(cells.texts[index])
            yield "</td>"
        yield "</tr>"


_ATTRIBUTES = re.compile(r' (?:style|height|width|align|class)="[^"]*"')
_UNWRAPPED = re.compile(r"</?(?:sup|sub|div|p)>")
_TABLE_START = re.compile(r"<table\b", re.IGNORECASE)
_TABLE_END = re.compile(r"</table>", re.IGNORECASE)


def normalised_html(source: str) -> str:
    """Return the HTML of a table as OmniDocBench normalises it."""
    text = replace_elements(source, "math", lambda tag: f"${tag.attributes().get('alttext', '')}$")
    text = replace_tags(text, _plain_tag)
    text = unicodedata.normalize("NFKC", unescape(text).replace("\n", "")).strip()
    inner = _ATTRIBUTES.sub("", _inside_table(text)).replace("<tbody>", "").replace("</tbody>", "")
    inner = re.sub(r"\s+", " ", inner).replace("> <", "><")
    inner = _without("<colgroup>", "</colgroup>", _UNWRAPPED.sub("", inner))
    return f'<html><body><table border="1" >{inner.strip()}</table></body></html>'


def _plain_tag(tag: Tag) -> str | None:
    if tag.name == "th":
        return f"<{'/' * tag.closes}td{tag.inside}>"
    if tag.name in ("thead", "span"):
        return ""
    if tag.name in ("br", "hr", "img", "col") and not tag.closes:
        return f"<{' '.join([tag.name, *tag.inside.removesuffix('/').split()])}/>"
    return None


def _inside_table(text: str) -> str:
    """Return the text between the first `<table>` and the last `</table>`, or all of it."""
    last_end = max((found.start() for found in _TABLE_END.finditer(text)), default=-1)
    opening = _TABLE_START.search(text)
    start = text.find(">", opening.end()) + 1 if opening else 0
    return text[start:last_end] if 0 < start <= last_end else text


def _without(opening: str, closing: str, text: str) -> str:
    """Return the text without everything from each `opening` to the next `closing`."""
    pieces: list[str] = []
    position = 0
    while (start := text.find(opening, position)) >= 0 and (end := text.find(closing, start)) >= 0:
        pieces.append(text[position:start])
        position = end + len(closing)
    return "".join([*pieces, text[position:]])
