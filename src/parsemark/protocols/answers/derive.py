"""The facts that a page's exact truth yields, each one that its own truth answers, and only one way."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from parsemark.formats.document.write import heading_level
from parsemark.model import Category, Element, Fact, Page, Table
from parsemark.plain_words import counted
from parsemark.protocols.answers.ask import ask
from parsemark.protocols.answers.output import SIDE, AskedOutput, filled_grid, value_of, words_of
from parsemark.protocols.measured import in_order

RULES = "answers"
MAX_OF_A_KIND = 300
"""Facts of one kind on a page; of more, every second, third, … is taken."""
_ORDER_WORDS, _BULLETS = 8, "•–-*◦▪· "
_EDGES = frozenset({Category.HEADER, Category.FOOTER, Category.PAGE_NUMBER, Category.ABANDON})
"""What is no part of the text, and must not stand in it."""
_PROSE = frozenset(
    {Category.TEXT_BLOCK, Category.LIST_GROUP, Category.PAGE_FOOTNOTE, Category.TABLE_FOOTNOTE}
)
_NAME = re.compile(r"[^\W\d_][^\W\d_]{2,}")
_SENTENCES = re.compile(r"(?<=[.!?:])\s")
_Draft = tuple[str, Element, dict[str, Any]]


def facts_of_page(page: Page) -> tuple[Fact, ...]:
    """The facts of a page: those that it carries, else those that its elements yield."""
    carried = tuple(fact for fact in page.facts if fact.rules == RULES)
    if carried or page.only_facts or not page.elements:
        return carried
    elements = tuple(e for e in in_order(page) if e.category not in _EDGES)
    output = AskedOutput(elements)
    drafts: dict[str, list[_Draft]] = {}
    for kind, element, arguments in _drafts(output, page):
        partial = {} if page.covers(element.category) else {"partial": True}
        drafts.setdefault(kind, []).append((kind, element, {**arguments, **partial}))
    facts: list[Fact] = []
    for kind, listed in drafts.items():
        for kept, element, arguments in listed[:: 1 + len(listed) // MAX_OF_A_KIND]:
            n = sum(fact.kind == kind for fact in facts)
            how = element.derivation or "truth"
            fact = Fact(
                f"{kind.replace(' ', '-')}-{n}", kept, RULES, arguments, derivation=how, box=element.box
            )
            # A question with two answers, or with none, is no question.
            if ask(fact, output).state == "right":
                facts.append(fact)
    return tuple(facts)


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
        yield from (
            (("absent", e, {"text": e.text})) for e in page.elements if e.category in _EDGES and e.text
        )
    yield from _captions(output)


def _cells(element: Element, table: Table) -> Iterator[_Draft]:
    """Each value below its header rows and right of its labels; the first of each, where nobody says."""
    grid = filled_grid(table)
    said = {(c.row, c.col): bool(c.header) for c in table.cells}
    values = {row for (row, _), header in said.items() if not header}
    n_header = max(1, min(values, default=table.n_rows))
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


def _distinct(texts: Any) -> list[str]:
    found: list[str] = []
    for text in texts:
        if text.strip() and text not in found[-1:]:
            found.append(text)
    return found


def _in_sentences(element: Element) -> Iterator[_Draft]:
    """Numbers, and names inside of sentences, with the words around them."""
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
        arguments = {"before": " ".join(before), "answer": word, "after": " ".join(after)}
        around = (*before[-1:], word, *after[:1])
        if sentence := next((part for part, said in sentences if _holds(said, around)), None):
            arguments["sentence"] = " ".join(sentence.split())
        yield kind, element, arguments


def _holds(words: tuple[str, ...], part: tuple[str, ...]) -> bool:
    return any(words[k : k + len(part)] == part for k in range(len(words) - len(part) + 1))


def _orders(output: AskedOutput) -> Iterator[_Draft]:
    listed = []
    for element in output.elements:
        line = (element.text or "").strip().partition("\n")[0].lstrip(_BULLETS)
        start = " ".join(line.split()[:_ORDER_WORDS])
        if element.order is not None and len(words_of(start)) >= SIDE:
            listed.append((element, start))
    for (one, first), (_, second) in pairwise(listed):
        if all(len(output.starts(words_of(start))) == 1 for start in (first, second)):
            yield "order", one, {"before": first, "after": second}


def _headings(output: AskedOutput) -> Iterator[_Draft]:
    titles = [e for e in output.elements if e.category == Category.TITLE and words_of(e.text or "")]
    for title in titles:
        yield "heading", title, {"text": title.text}
    for one, other in pairwise(titles):
        levels = heading_level(one), heading_level(other)
        answer = "above" if levels[0] < levels[1] else "below" if levels[0] > levels[1] else "beside"
        yield "level", one, {"text": one.text, "other": other.text, "answer": answer}


def _captions(output: AskedOutput) -> Iterator[_Draft]:
    for k, caption in enumerate(output.elements):
        beside = [j for j, _ in output.tables if abs(j - k) == 1]
        if caption.category == Category.TABLE_CAPTION and len(beside) == 1 and output.blocks[k]:
            table = output.elements[beside[0]].table
            assert table is not None
            cells = [cell.text for cell in table.cells if cell.text.strip()][:40]
            yield "caption", caption, {"text": caption.text, "cells": cells}


def question(fact: Fact) -> str:
    """The fact as one would ask for it."""
    said: Mapping[str, Any] = fact.arguments
    try:
        return _QUESTIONS[fact.kind].format(
            **{
                key: " / ".join(v) if isinstance(v, Sequence) and not isinstance(v, str) else v
                for key, v in said.items()
            }
        )
    except (KeyError, TypeError):
        return f"{fact.kind} with {counted(len(said), 'argument')}"


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
}
