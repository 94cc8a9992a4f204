"""Variations that turn a draft into another one: grouped headers, sections, empty cells, marks of notes."""

import random
from collections.abc import Sequence
from dataclasses import replace

from parsemark.corpora.synthetic.language import vocabulary
from parsemark.corpora.synthetic.pieces import EMPTY, plain, raised
from parsemark.corpora.synthetic.table_draft import DraftRow, RowGroup, TableDraft


def varied(rng: random.Random, draft: TableDraft, language: str) -> TableDraft:
    """Add what real tables have: groups of rows, sections, empty cells, marks of notes."""
    if draft.kind in ("results", "statistics", "chemistry", "geology"):
        if rng.random() < 0.25 and len(draft.rows) >= 4:
            draft = _with_row_groups(rng, draft, language)
        elif rng.random() < 0.25 and len(draft.rows) >= 4:
            draft = _with_sections(rng, draft, language)
    if len(draft.levels) == 1 and len(draft.levels[0]) >= 4 and rng.random() < 0.45:
        draft = _with_header_groups(rng, draft, language)
        if len(draft.levels[0]) >= 2 and rng.random() < 0.3:
            draft = _with_top_header(rng, draft, language)
    if rng.random() < 0.25:
        draft = _with_empty_cells(rng, draft)
    if rng.random() < 0.15:
        draft = _with_marked_note(rng, draft, language)
    return draft


def _with_header_groups(rng: random.Random, draft: TableDraft, language: str) -> TableDraft:
    """A header level above the columns: groups of two or three, and columns that stand alone."""
    names = rng.sample(vocabulary(language).lists[rng.choice(["groups", "regions", "seasons"])], k=4)
    top: list[RowGroup] = []
    left = len(draft.levels[0])
    while left:
        span = min(left, rng.choice([1, 2, 2, 3]))
        top.append(RowGroup(plain(names[len(top) % 4]) if span > 1 else EMPTY, span))
        left -= span
    return replace(draft, levels=(tuple(top), *draft.levels))


def _with_top_header(rng: random.Random, draft: TableDraft, language: str) -> TableDraft:
    """A third level over all columns."""
    title = plain(rng.choice(vocabulary(language).headings))
    span = sum(group.span for group in draft.levels[0])
    return replace(draft, levels=((RowGroup(title, span),), *draft.levels))


def _with_row_groups(rng: random.Random, draft: TableDraft, language: str) -> TableDraft:
    counts = _split(rng, len(draft.rows))
    names = vocabulary(language).lists[rng.choice(["groups", "seasons", "regions", "sites"])]
    groups = tuple((plain(names[i % len(names)]), count) for i, count in enumerate(counts))
    rows = tuple(DraftRow((EMPTY, *row.pieces), row.kind) for row in draft.rows)
    stub, alignments = (EMPTY, *draft.stub), ("l", *draft.alignments)
    return replace(draft, stub=stub, rows=rows, alignments=alignments, row_groups=groups)


def _with_sections(rng: random.Random, draft: TableDraft, language: str) -> TableDraft:
    names = vocabulary(language).lists[rng.choice(["groups", "regions", "sites"])]
    rows: list[DraftRow] = []
    position = 0
    for index, count in enumerate(_split(rng, len(draft.rows))):
        rows.append(DraftRow((plain(names[index % len(names)]).italic(),), "section"))
        rows += draft.rows[position : position + count]
        position += count
    return replace(draft, rows=tuple(rows))


def _with_empty_cells(rng: random.Random, draft: TableDraft) -> TableDraft:
    share, blank = rng.uniform(0.05, 0.25), rng.choice([EMPTY, EMPTY, plain("–")])
    stub = len(draft.stub)

    def thin(row: DraftRow) -> DraftRow:
        if row.kind != "data":
            return row
        kept = (p if i < stub or rng.random() > share else blank for i, p in enumerate(row.pieces))
        return DraftRow(tuple(kept), row.kind)

    return replace(draft, rows=tuple(thin(row) for row in draft.rows))


def _with_marked_note(rng: random.Random, draft: TableDraft, language: str) -> TableDraft:
    *above, last = draft.levels
    target = rng.randrange(len(last))
    marked = RowGroup(last[target].piece + raised("a"), last[target].span)
    note = plain("a " + rng.choice(vocabulary(language).notes))
    levels = (*above, (*last[:target], marked, *last[target + 1 :]))
    return replace(draft, levels=levels, notes=(*draft.notes, note))


def _split(rng: random.Random, count: int) -> Sequence[int]:
    """Two or three parts of at least two rows each."""
    parts = 3 if count >= 6 and rng.random() < 0.5 else 2
    cuts = [2] * parts
    for _ in range(count - 2 * parts):
        cuts[rng.randrange(parts)] += 1
    return cuts
