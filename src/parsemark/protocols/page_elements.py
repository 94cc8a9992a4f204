"""Elements as protocols take them: truths in reading order, outputs read as elements, tables as HTML."""

from parsemark.model import Element, Page


def in_order(page: Page) -> list[Element]:
    """Return the elements of a page as they are read; those outside of the reading order stay where they
    stand.
    """
    listed = [element for element in page.elements if not element.ignore]
    ordered = iter(sorted((e for e in listed if e.order is not None), key=lambda e: e.order or 0))
    return [next(ordered) if element.order is not None else element for element in listed]


def html_of(element: Element) -> str:
    """Return a table as HTML."""
    from parsemark.formats import write_table

    return (
        write_table(element.table, "html") if element.html is None and element.table else element.html or ""
    )


def text_of(element: Element) -> str:
    """Return the content of an element, as text or else as LaTeX."""
    return (element.text if element.text is not None else element.latex) or ""
