"""The facts that a page's exact truth yields, each one that its own truth answers, and only one way."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from parsemark.formats.document.write import heading_level
from parsemark.model import Category, Element, Fact, Page, Table
from parsemark.plain_words import counted
from parsemark.protocols.answers.ask import ask
from parsemark.protocols.answers.output import SIDE, AskedOutput, said_words, shown, value_of, words_of
from parsemark.protocols.page_elements import in_order

RULES = "answers"
MAX_OF_A_KIND = 300  # facts of one kind on a page; of more, every second, third, … is taken
_ORDER_WORDS, _BULLETS = 8, "•–-*◦▪· "
_EDGES = frozenset({Category.HEADER, Category.FOOTER, Category.PAGE_NUMBER, Category.ABANDON})
"""What is no part of the text, and must not stand in it."""
_PROSE = frozenset(
    {Category.TEXT_BLOCK, Category.LIST_GROUP, Category.PAGE_FOOTNOTE, Category.TABLE_FOOTNOTE}
)
_NAME = re.compile(r"[^\W\d_][^\W\d_]{2,}")
_WITHOUT_NUMBERS = re.compile(r"(?:(?<!\S)[^\s\d]++(?:\s++|$))++")
_SENTENCES = re.compile(r"(?<=[.!?:])\s")
BESIDE_ELEMENTS = frozenset({"outline", "link annotation", "form field"})
"""How facts are found that documents carry beside what their pages say."""
_Draft = tuple[str, Element, dict[str, Any]]


def facts_of_page(page: Page) -> tuple[Fact, ...]:
    """Return the facts of a page: those that it carries, else those that its elements yield.

    What a document says in its outline, links and forms stands beside its elements, and not for them.
    """
    stated = tuple(fact for fact in page.facts if fact.rules == RULES)
    beside = tuple(fact for fact in stated if fact.derivation in BESIDE_ELEMENTS)
    if len(stated) > len(beside) or page.only_facts or not page.elements:
        return stated
    elements = tuple(e for e in in_order(page) if e.category not in _EDGES)
    output = AskedOutput(elements)
    drafts: dict[str, list[tuple[Element, dict[str, Any]]]] = {}
    for kind, element, arguments in _drafts(output, page):
        partial = {} if page.covers(element.category) else {"partial": True}
        drafts.setdefault(kind, []).append((element, {**arguments, **partial}))
    facts: list[Fact] = []
    for kind, listed in drafts.items():
        n = 0
        for element, arguments in listed[:: 1 + len(listed) // MAX_OF_A_KIND]:
            name, how = f"{kind.replace(' ', '-')}-{n}", element.derivation or "truth"
            fact = Fact(name, kind, RULES, arguments, derivation=how, box=element.box)
            # A question with two answers, or with none, is no question.
            if ask(fact, output).state == "right":
                facts.append(fact)
                n += 1
    return (*beside, *facts)


def _drafts(output: AskedOutput, page: Page) -> Iterator[_Draft]:
    for element, words in zip(output.elements, output.blocks, strict=True):
        if element.table is not None:
            yield from _cells(element, element.table)
        elif element.category == Category.EQUATION_ISOLATED and element.latex:
            yield "formula", element, {"latex": element.latex}
        elif words and element.category in _PROSE:
            yield from _in_sentences(element)
    if not page.only_tables:
        yield from _orders(output)
        yield from _headings(output)
    if page.covers(Category.TEXT_BLOCK):
        outside = [e for e in page.elements if e.category in _EDGES and words_of(e.text or "")]
        yield from (("absent", element, {"text": element.text}) for element in outside)
    yield from _captions(output)


def _cells(element: Element, table: Table) -> Iterator[_Draft]:
    """Yield each value below its header rows and right of its labels; the first row and column of each by
    default.
    """
    table = _names_first(table)
    grid = table.text_rows()
    said = {(c.row, c.col): bool(c.header) for c in table.cells}
    values = {row for (row, _), header in said.items() if not header}
    n_header = max(1, min(values, default=table.n_rows))
    # A row that names the section below it is above no other section.
    while n_header > 1 and set(grid[n_header - 1]) - {""} == {grid[n_header - 1][0]}:
        n_header -= 1
    for cell in table.cells:
        if cell.row < n_header or cell.col == 0 or cell.header or not value_of(cell.text):
            continue
        labels = 1 + next((c for c in range(cell.col - 1, 0, -1) if said.get((cell.row, c))), 0)
        arguments = {
            "row": _distinct(grid[cell.row][:labels]),
            "column": _distinct(line[cell.col] for line in grid[:n_header]),
            "answer": cell.text,
        }
        if arguments["row"] and arguments["column"]:
            kind = "cell number" if any(map(str.isdigit, cell.text)) else "cell text"
            yield kind, element, arguments


def _names_first(table: Table) -> Table:
    """Return the table with its names above and on the left; some have them below or on the right."""

    def are_names(row: int | None, col: int | None) -> bool:
        """Return whether a line is of headers, beside what is one in the other direction too."""
        crossing = full_columns if col is None else full_rows
        own = [
            cell
            for cell in table.cells
            if (cell.row <= row < cell.row + cell.rowspan if row is not None else cell.row not in crossing)
            and (cell.col <= col < cell.col + cell.colspan if col is not None else cell.col not in crossing)
        ]
        return bool(own) and all(cell.header for cell in own)

    full_rows = {c.row for c in table.cells} - {c.row for c in table.cells if not c.header}
    full_columns = {c.col for c in table.cells} - {c.col for c in table.cells if not c.header}
    below = not are_names(0, None) and are_names(table.n_rows - 1, None)
    right = not are_names(None, 0) and are_names(None, table.n_cols - 1)
    cells = table.cells
    if below:
        cells = tuple(replace(c, row=table.n_rows - c.row - c.rowspan) for c in cells)
    if right:
        cells = tuple(replace(c, col=table.n_cols - c.col - c.colspan) for c in cells)
    return replace(table, cells=cells) if below or right else table


def _distinct(texts: Any) -> list[str]:
    found: list[str] = []
    for text in texts:
        if text.strip() and text not in found[-1:]:
            found.append(text)
    return found


def _in_sentences(element: Element) -> Iterator[_Draft]:
    """Yield numbers, and names inside of sentences, with the words around them."""
    words = words_of(element.text or "")
    sentences = [(part, said) for part in _SENTENCES.split(element.text or "") if (said := words_of(part))]
    begins = {said[0] for _, said in sentences}
    for k, word in enumerate(words):
        before, after = words[max(k - SIDE, 0) : k], words[k + 1 : k + 1 + SIDE]
        if any(map(str.isdigit, word)):
            kind = "number"
        elif word[0].isupper() and _NAME.fullmatch(word) and not word.isupper() and word not in begins:
            kind = "name"
        else:
            continue
        if SIDE not in (len(before), len(after)):
            continue
        arguments = {"before": shown(before), "answer": shown([word]), "after": shown(after)}
        around = (*before[-1:], word, *after[:1])
        for sentence, said in sentences:
            if any(said[at : at + len(around)] == around for at in range(len(said))):
                arguments["sentence"] = " ".join(sentence.split())
                break
        yield kind, element, arguments


def _orders(output: AskedOutput) -> Iterator[_Draft]:
    listed = []
    for element in output.elements:
        line = (element.text or "").strip().partition("\n")[0].lstrip(_BULLETS)
        # A wrong digit is one wrong answer: no number stands in what is looked for.
        parts = (" ".join(run.split()[:_ORDER_WORDS]) for run in _WITHOUT_NUMBERS.findall(line))
        start = next((part for part in parts if len(words_of(part)) >= SIDE), "")
        if element.order is not None and start:
            listed.append((element, start))
    for (one, first), (_, second) in pairwise(listed):
        if all(len(output.starts(said_words(start))) == 1 for start in (first, second)):
            yield "order", one, {"before": first, "after": second}


def _headings(output: AskedOutput) -> Iterator[_Draft]:
    titles: list[tuple[Element, dict[str, Any]]] = []
    below: dict[str, Any] = {}
    for element, words in zip(reversed(output.elements), reversed(output.blocks), strict=True):
        if words and element.category == Category.TITLE:
            titles.append((element, {"text": element.text, **below}))
        elif words and element.category in _PROSE:
            below = {"below": " ".join(words[:_ORDER_WORDS])}
    titles.reverse()
    for title, arguments in titles:
        yield "heading", title, arguments
    for (one, arguments), (other, _) in pairwise(titles):
        levels = heading_level(one), heading_level(other)
        answer = "above" if levels[0] < levels[1] else "below" if levels[0] > levels[1] else "beside"
        yield "level", one, {**arguments, "other": other.text, "answer": answer}


def _captions(output: AskedOutput) -> Iterator[_Draft]:
    for k, caption in enumerate(output.elements):
        beside = [j for j, _ in output.tables if abs(j - k) == 1]
        if caption.category == Category.TABLE_CAPTION and len(beside) == 1 and output.blocks[k]:
            table = output.elements[beside[0]].table
            assert table is not None
            cells = [cell.text for cell in table.cells if cell.text.strip()][:40]
            yield "caption", caption, {"text": caption.text, "cells": cells}


def question(fact: Fact) -> str:
    """Return the fact as one would ask for it."""
    lists = {k: v for k, v in fact.arguments.items() if isinstance(v, Sequence) and not isinstance(v, str)}
    try:
        joined = {key: " / ".join(parts) for key, parts in lists.items()}
        return _QUESTIONS[fact.kind].format(**{**fact.arguments, **joined})
    except (KeyError, TypeError):
        return f"{fact.kind} with {counted(len(fact.arguments), 'argument')}"


_IN_TEXT = "What stands in “{before} … {after}”?"
_IN_TABLE = "What is the value of “{row}” under “{column}”?"
_QUESTIONS = {
    "cell number": _IN_TABLE,
    "cell text": _IN_TABLE,
    "number": _IN_TEXT,
    "name": _IN_TEXT,
    "order": "Does “{before}” come before “{after}”?",
    "heading": "Is “{text}” a heading?",
    "level": "Does the heading “{text}” stand {answer} “{other}”?",
    "formula": "Is there the formula {latex}?",
    "caption": "Which table does “{text}” belong to?",
    "absent": "Is “{text}” left out?",
    "link": "Where does “{text}” lead?",
    "field": "What is filled in at “{field}”?",
}
