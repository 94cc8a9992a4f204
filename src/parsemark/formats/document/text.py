"""Plain text as a document: blank lines part its blocks, and tables are found as everywhere."""

import re

from parsemark.formats.cell_text import clean, without_controls
from parsemark.formats.document.elements import Block, table_block
from parsemark.formats.found_table import TextLine, blocks, split_lines
from parsemark.formats.hidden_text import seen
from parsemark.formats.markdown.fences import blanked
from parsemark.formats.tables import find_marked_up_tables, find_text_tables
from parsemark.model import Category

_ITEM = re.compile(r"\s*+(?:[-*•–·▪◦‣]|\(?[0-9a-zA-Z]{1,3}[.)])\s")


def read_text_blocks(text: str) -> list[Block]:
    """Return the blocks of a plain text."""
    source = seen(without_controls(text))
    found = find_marked_up_tables(source, leave_out=True)
    source = blanked(source, [(f.start, f.end) for f in found])
    found += find_text_tables(source)
    source = blanked(source, [(f.start, f.end) for f in found])
    texts = [_block(lines) for lines in blocks(split_lines(source))]
    return [table_block(f) for f in found] + texts


def _block(lines: list[TextLine]) -> Block:
    is_list = len(lines) > 1 and _ITEM.match(lines[0].text) is not None
    if is_list:
        items: list[str] = []
        for line in lines:
            if _ITEM.match(line.text) or not items:
                items.append(line.text)
            else:
                items[-1] += f" {line.text}"
        text = "\n".join(clean(item) for item in items)
    else:
        text = clean(" ".join(line.text for line in lines))
    first, last = lines[0], lines[-1]
    start = first.start + len(first.text) - len(first.text.lstrip())
    category = Category.LIST_GROUP if is_list else Category.TEXT_BLOCK
    return Block(category, start, last.end - (len(last.text) - len(last.text.rstrip())), text=text)
