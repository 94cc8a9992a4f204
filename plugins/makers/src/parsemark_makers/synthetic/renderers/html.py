"""Sets documents as web pages and prints them with Chromium; boxes come from the browser's own layout."""

import json
import shutil
import sys
from html import escape
from pathlib import Path
from typing import Any

from parsemark.errors import MakingError
from parsemark.model import Box, Category
from parsemark.system import ScratchFolder
from parsemark.system.processes import run_on_jobs, tool_rights
from parsemark_makers.synthetic.document import (
    DocumentDraft,
    FigureBlock,
    FlowingBlock,
    TableBlock,
    TextBlock,
    flowing_blocks,
)
from parsemark_makers.synthetic.looks import BOOKTABS, FULL, PARTIAL
from parsemark_makers.synthetic.pieces import Piece
from parsemark_makers.synthetic.renderers.fonts import families, font_files, require_glyphs
from parsemark_makers.synthetic.table_draft import Placed
from parsemark_makers.synthetic.truth import Place, Rendered

LIMITS = {"cpu_s": 600, "memory_mb": 4096, "file_mb": 1024}
PlacesOfPage = list[tuple[str, int, float, float, float, float]]
"""Key, page and box of everything that the browser set."""
SCRIPT = Path(__file__).with_name("paginate.js")
ARGUMENTS = ["--no-sandbox", "--font-render-hinting=none", "--disable-gpu"]
_STYLE = Path(__file__).with_name("page.css").read_text(encoding="utf-8")


def render(drafts: list[DocumentDraft], folder: Path) -> list[Rendered]:
    """Set documents, each as a PDF in `folder`, in one browser."""
    pages = []
    for draft in drafts:
        require_glyphs(draft)
        font_files(families(draft))
        pages.append(
            {
                "html": document(draft, paged=True),
                "height": draft.look.page_size[1],
                "head": draft.running_head,
                "numbered": draft.page_numbers,
                "pdf": str((folder / f"{draft.name}.pdf").resolve()),
            }
        )
    places = print_pages(pages, folder)
    return [
        Rendered(
            draft,
            folder / f"{draft.name}.pdf",
            tuple(Place(key, page, Box(x0, y0, x1, y1)) for key, page, x0, y0, x1, y1 in found),
            source=document(draft, paged=False).encode(),
            source_suffix=".html",
        )
        for draft, found in zip(drafts, places, strict=True)
    ]


def print_pages(pages: list[dict[str, object]], folder: Path) -> list[PlacesOfPage]:
    """Print pages of HTML as PDFs in `folder`; where everything stands, for drafts."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        raise MakingError("Chromium is missing; install it: apt-get install chromium")
    jobs = {"chromium": chromium, "pages": pages}
    read = [str(Path(chromium).resolve().parent)]
    with ScratchFolder("parsemark-") as work:
        rights = tool_rights(read, [str(work), str(folder)], **LIMITS)
        found: list[PlacesOfPage] = run_on_jobs("Chromium", __name__, jobs, rights, work)
    return found


def main() -> None:
    """Print each page of the jobs that stand on stdin, and say where everything stands.

    A process, because playwright allows one instance per thread, and the caller may have its own.
    """
    from playwright.sync_api import sync_playwright

    jobs: dict[str, Any] = json.load(sys.stdin)
    results = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=jobs["chromium"], args=ARGUMENTS)
        context = browser.new_context(offline=True)
        script = SCRIPT.read_text(encoding="utf-8")
        for job in jobs["pages"]:
            page = context.new_page()
            page.set_content(job["html"], wait_until="load")
            page.evaluate("() => document.fonts.ready.then(() => true)")
            is_draft = "height" in job  # else a page that is printed as it is
            places = page.evaluate(script, [job["height"], job["head"], job["numbered"]]) if is_draft else []
            tagged = job.get("tagged", False)
            page.pdf(path=job["pdf"], prefer_css_page_size=True, print_background=True, tagged=tagged)
            page.close()
            results.append(places)
        browser.close()
    json.dump(results, sys.stdout)


def document(draft: DocumentDraft, *, paged: bool) -> str:
    """Return the draft as HTML: with pages and keys for printing, or plain, for parsers that read HTML."""
    look = draft.look
    width, height = look.page_size
    fonts = ", ".join(f"'{family}'" for family in families(draft))
    style = (
        f"@page {{ size: {width}pt {height}pt; margin: 0; }}"
        f".page {{ width: {width}pt; height: {height - 1}pt; }}"
        f".body {{ left: {look.margin_x}pt; right: {look.margin_x}pt; top: {look.margin_y}pt; "
        f"height: {height - 2 * look.margin_y}pt; }}"
        f".head {{ top: {look.margin_y / 2 - 4}pt; }} .number {{ bottom: {look.margin_y / 2 - 6}pt; }}"
        f"body {{ font-family: {fonts}; font-size: {look.size}pt; line-height: 1.42; }}"
        f"p {{ text-align: {'justify' if look.justified else 'start'}; }}"
        f"h1, h2 {{ color: {look.accent}; }}"
        f"h1 {{ text-align: {'center' if look.centred_title else 'start'}; }}"
    )
    writer = _HtmlWriter(draft, paged)
    blocks = "\n".join(writer.block(index, block) for index, block in flowing_blocks(draft))
    direction = "rtl" if draft.words.right_to_left else "ltr"
    title = next((b.text for b in draft.blocks if isinstance(b, TextBlock)), draft.name)
    return (
        f'<!DOCTYPE html>\n<html lang="{draft.words.code}" dir="{direction}"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title><style>{_STYLE}{style}</style></head>\n"
        f'<body><div id="draft">\n{blocks}\n</div></body></html>\n'
    )


class _HtmlWriter:
    def __init__(self, draft: DocumentDraft, paged: bool) -> None:
        self.draft, self.paged = draft, paged

    def key(self, key: str) -> str:
        return f' data-key="{key}"' if self.paged else ""

    def block(self, index: int, block: FlowingBlock) -> str:
        if isinstance(block, TableBlock):
            return self._table_block(index, block)
        if isinstance(block, FigureBlock):
            return self._bars(index, block)
        key = self.key(str(index))
        if block.category == Category.TITLE:
            tag = "h1" if block.level == 0 else "h2"
            return f"<{tag}{key}>{_content(block.lines[0])}</{tag}>"
        if block.marks:
            pairs = zip(map(escape, block.marks), map(_content, block.lines), strict=True)
            items = (f"<li><span>{mark}</span><span>{line}</span></li>" for mark, line in pairs)
            return f"<ul{key}>{''.join(items)}</ul>"
        return f"<p{key}>{'<br>'.join(map(_content, block.lines))}</p>"

    def _beside(self, index: int, part: str, piece: Piece) -> str:
        said = f'<div class="{part}"{self.key(f"{index}.{part}")}>{_content(piece)}</div>'
        return said if piece.runs else ""

    def _bars(self, index: int, block: FigureBlock) -> str:
        accent = self.draft.look.accent
        bars = "".join(
            f'<div><div style="height: {70 * share:.2f}pt; background: {accent}"></div>{escape(label)}</div>'
            for label, share in zip(block.labels, block.shares, strict=True)
        )
        caption = self._beside(index, "caption", block.caption)
        return f'<div class="figure"><div class="bars"{self.key(str(index))}>{bars}</div>{caption}</div>'

    def _table_block(self, index: int, block: TableBlock) -> str:
        written = {part: self._beside(index, part, getattr(block, part)) for part in ("caption", "notes")}
        written["table"] = self._table(index, block)
        parts = "".join(written[part] for part in block.parts)
        return f'<div class="table{" long" if block.long else ""}">{parts}</div>'

    def _table(self, index: int, block: TableBlock) -> str:
        look, layout = block.look, block.layout
        head = layout.draft.header_rows
        rows: list[list[str]] = [[] for _ in range(layout.n_rows)]
        for (row, _), cell in sorted(layout.cells.items()):
            rows[row].append(self._cell(index, block, cell))
        written = []
        for number, cells in enumerate(rows):
            background = f' style="background: {colour}"' if (colour := block.fill(number)) else ""
            written.append(f"<tr{background}>{''.join(cells)}</tr>")
        width = "width: 100%;" if look.full_width or block.has_text else ""
        rule = "border-top: 1.2px solid #000; border-bottom: 1.2px solid #000;"
        edges = rule if look.line in (BOOKTABS, PARTIAL) else ""
        return (
            f'<table style="font-size: {look.size}pt; {width}{edges}">'
            f"<thead>{''.join(written[:head])}</thead><tbody>{''.join(written[head:])}</tbody></table>"
        )

    def _cell(self, index: int, block: TableBlock, cell: Placed) -> str:
        look, draft = block.look, block.layout.draft
        in_head = cell.row < draft.header_rows
        side = {"l": "start", "r": "end", "c": "center"}[block.side(cell)]
        style = [f"padding: {look.pad_y}pt {look.pad_x}pt", f"text-align: {side}", *_borders(block, cell)]
        if draft.alignments[cell.col].startswith(("l", "r", "c")) and cell.colspan == 1:
            style.append("white-space: nowrap")
        if in_head and look.head_white:
            style.append("color: #fff")
        sizes = {"rowspan": cell.rowspan, "colspan": cell.colspan}
        spans = "".join(f' {name}="{size}"' for name, size in sizes.items() if size > 1)
        tag = "th" if in_head else "td"
        key = self.key(f"{index}.{cell.row}.{cell.col}")
        return f'<{tag}{spans}{key} style="{"; ".join(style)}">{_content(cell.piece)}</{tag}>'


def _borders(block: TableBlock, cell: Placed) -> list[str]:
    """Return the lines of a cell; thick ones are those of the table."""
    thin = "0.6px solid #000"
    if block.look.line == FULL:
        return [f"border: {thin}"]
    sides = [side for side, thick in block.borders(cell).items() if not thick]
    return [f"border-{'inline-end' if side == 'right' else side}: {thin}" for side in sides]


def _content(piece: Piece) -> str:
    content = ""
    for run in piece.runs:
        body = escape(run.text)
        body = f"<sup>{body}</sup>" if run.raised else body
        body = f"<i>{body}</i>" if run.italic else body
        content += f"<b>{body}</b>" if run.bold else body
    return content


if __name__ == "__main__":
    main()
