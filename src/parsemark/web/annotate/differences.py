"""What differs between two versions of a page, in words, place by place."""

from __future__ import annotations

from dataclasses import dataclass

from parsemark.model import Element, Page, Table

_LONGEST = 120


@dataclass(frozen=True, slots=True)
class ParserDifference:
    """One thing that is not the same."""

    element: str
    what: str
    before: str
    after: str


def differences(before: Page, after: Page) -> list[ParserDifference]:
    """All differences, in the order of the first page's elements, then what was added."""
    old, new = ({e.id: e for e in page.elements} for page in (before, after))
    found: list[ParserDifference] = []
    for name, element in old.items():
        if name not in new:
            found.append(ParserDifference(name, "removed", _short(_content(element)), ""))
        else:
            found += _of_element(element, new[name])
    found += [
        ParserDifference(name, "added", "", _short(_content(element)))
        for name, element in new.items()
        if name not in old
    ]
    orders = [
        [
            e.id
            for e in sorted(page.elements, key=lambda e: (e.order is None, e.order or 0))
            if e.id in old and e.id in new
        ]
        for page in (before, after)
    ]
    if orders[0] != orders[1]:
        found.append(ParserDifference("", "order", " ".join(orders[0]), " ".join(orders[1])))
    return found


def _of_element(before: Element, after: Element) -> list[ParserDifference]:
    found = []
    if before.category != after.category:
        found.append(ParserDifference(before.id, "category", before.category, after.category))
    if before.box != after.box:
        found.append(ParserDifference(before.id, "box", _box(before), _box(after)))
    if before.table is not None and after.table is not None:
        found += _of_tables(before.id, before.table, after.table)
    elif _content(before) != _content(after):
        found.append(ParserDifference(before.id, "text", _short(_content(before)), _short(_content(after))))
    return found


def _of_tables(name: str, before: Table, after: Table) -> list[ParserDifference]:
    shapes = [f"{t.n_rows} × {t.n_cols}" for t in (before, after)]
    if shapes[0] != shapes[1]:
        return [ParserDifference(name, "shape", *shapes)]
    old, new = ({(c.row, c.col): c for c in table.cells} for table in (before, after))
    found = []
    for place in sorted(old.keys() | new.keys()):
        a, b = old.get(place), new.get(place)
        where = f"row {place[0] + 1}, column {place[1] + 1}"
        if a is None or b is None:
            found.append(
                ParserDifference(
                    name, f"{where}: cell", a.text if a else "covered", b.text if b else "covered"
                )
            )
            continue
        if a.text != b.text:
            found.append(ParserDifference(name, f"{where}: text", _short(a.text), _short(b.text)))
        if (a.rowspan, a.colspan) != (b.rowspan, b.colspan):
            spans = [f"{c.rowspan} × {c.colspan}" for c in (a, b)]
            found.append(ParserDifference(name, f"{where}: span", *spans))
        if bool(a.header) != bool(b.header):
            words = ["header" if c.header else "body" for c in (a, b)]
            found.append(ParserDifference(name, f"{where}: role", *words))
    return found


def _content(element: Element) -> str:
    if element.table is not None:
        return f"table of {element.table.n_rows} × {element.table.n_cols}"
    return element.latex or element.text or ""


def _box(element: Element) -> str:
    return "none" if element.box is None else " ".join(f"{edge:g}" for edge in element.box.as_tuple())


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
