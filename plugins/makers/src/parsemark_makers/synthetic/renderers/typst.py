"""Sets documents with Typst, which tells positions: the PDF that is measured is the one published."""

import json
import sys
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from parsemark.model import Box, Category
from parsemark.pdf import is_right_to_left
from parsemark.system import write_bytes, write_text
from parsemark.system.processes import run_on_jobs, tool_rights
from parsemark_makers.synthetic.document import (
    DocumentDraft,
    FigureBlock,
    FlowingBlock,
    TableBlock,
    TextBlock,
    flowing_blocks,
)
from parsemark_makers.synthetic.pieces import Piece
from parsemark_makers.synthetic.renderers.fonts import families, font_files, require_glyphs
from parsemark_makers.synthetic.table_draft import Placed
from parsemark_makers.synthetic.truth import Place, Rendered

_MARKS = Path(__file__).with_name("marks.typ").read_text(encoding="utf-8")
_PLACES = "\n#context [#metadata(query(<mark>).map(m => (..m.value, m.location().position())))<places>]\n"
THICK, THIN = "0.9pt + black", "0.4pt + black"
LIMITS = {"cpu_s": 600, "memory_mb": 4096, "file_mb": 256}
_SET_AT = 0  # when pages say they were set, in seconds of Unix: the same seed gives the same bytes


def render(drafts: list[DocumentDraft], folder: Path) -> list[Rendered]:
    """Set documents, each as a PDF in `folder`, in one process that sees nothing else."""
    folder = folder.resolve()
    jobs = []
    for draft in drafts:
        require_glyphs(draft)
        source = folder / f"{draft.name}.typ"
        write_text(source, _document(draft))
        fonts = sorted({str(path.parent) for path in font_files(families(draft))})
        jobs.append([draft.name, str(source), fonts])
    found = set_sources(jobs, folder)
    return [
        Rendered(draft, folder / f"{draft.name}.pdf", tuple(_places(draft, places)))
        for draft, places in zip(drafts, found, strict=True)
    ]


def set_sources(jobs: list[list[Any]], folder: Path) -> list[Any]:
    """Typeset each source as a PDF beside it and return its metadata `<places>`.

    A job is a name, a path and folders of fonts.
    """
    import_module("typst")  # says that it is missing, where it is
    found: list[Any] = run_on_jobs("Typst", __name__, jobs, tool_rights((), [str(folder)], **LIMITS), folder)
    return found


def main() -> None:
    """Set each document of the jobs that stand on stdin, and print where everything stands."""
    typst: Any = import_module("typst")  # its stubs are wrong
    found = []
    for name, source, folders in json.load(sys.stdin):
        path = Path(source)
        try:
            compiler = typst.Compiler(path, root=path.parent, font_paths=_fonts(tuple(folders)))
            pdf = compiler.compile(format="pdf", timestamp=_SET_AT)
            found.append(json.loads(compiler.query("<places>", field="value", one=True)))
        except (typst.TypstError, RuntimeError) as error:
            sys.exit(f"{name}: {str(error)[:250]}")
        write_bytes(path.with_suffix(".pdf"), pdf)
    json.dump(found, sys.stdout)


@lru_cache(maxsize=4)
def _fonts(folders: tuple[str, ...]) -> Any:
    """Return the fonts of some folders; to find them costs as much as to set a page."""
    fonts = import_module("typst").Fonts
    return fonts(include_system_fonts=False, font_paths=list(folders))


def _places(draft: DocumentDraft, found: list[tuple[str, int, dict[str, Any]]]) -> list[Place]:
    starts: dict[tuple[str, int], list[tuple[float, float]]] = defaultdict(list)
    places = []
    for key, end, at in found:
        where = (float(at["x"].removesuffix("pt")), float(at["y"].removesuffix("pt")))
        if not end:
            starts[key, at["page"]].append(where)
            continue
        x, y = starts[key, at["page"]].pop()
        box = Box.of_points((x, where[0]), (y, where[1]))
        index, _, cell = key.partition(".")
        if cell and cell[0].isdigit():
            block = draft.blocks[int(index)]
            assert isinstance(block, TableBlock)
            pad_x, pad_y = block.look.pad_x, block.look.pad_y
            box = Box(box.x0 - pad_x, box.y0 - pad_y, box.x1 + pad_x, box.y1 + pad_y)
        places.append(Place(key, at["page"], box))
    return places


def _document(draft: DocumentDraft) -> str:
    look = draft.look
    width, height = look.page_size
    fonts = ", ".join(f'"{family}"' for family in families(draft))
    head = f'area("head", block(width: 100%, text(size: 8pt, {_string(draft.running_head)})))'
    number = 'area("number", block(width: 100%, align(center, context counter(page).display("1"))))'
    tall = draft.words.code == "ar"  # with long strokes above and below the line
    lines = [
        _MARKS,
        f"#set page(width: {width}pt, height: {height}pt, "
        f"margin: (x: {look.margin_x}pt, y: {look.margin_y}pt), "
        f"header: {head if draft.running_head else 'none'}, "
        f"footer: {number if draft.page_numbers else 'none'}, columns: {look.columns})",
        f'#set text(font: ({fonts}), lang: "{draft.words.code}", size: {look.size}pt, fallback: false'
        + (', top-edge: "ascender", bottom-edge: "descender")' if tall else ")"),
        f"#set par(justify: {'true' if look.justified else 'false'}, "
        f"leading: {0.3 if tall else 0.62}em, spacing: 0.9em)",
        "#set block(spacing: 0.95em)",
    ]
    for index, block in flowing_blocks(draft):
        lines.append(f"#{_TypstWriter(draft, index).block(block)}")
    return "\n".join([*lines, _PLACES])


@dataclass(frozen=True)
class _TypstWriter:
    """Writes one block as an expression of Typst's."""

    draft: DocumentDraft
    index: int

    def block(self, block: FlowingBlock) -> str:
        if isinstance(block, FigureBlock):
            return self._bars(block)
        return self._text(block) if isinstance(block, TextBlock) else self._table_block(block)

    def _text(self, block: TextBlock) -> str:
        look = self.draft.look
        if block.category == Category.TITLE:
            size = look.size * (1.7 if block.level == 0 else 1.2)
            style = f'size: {size:.2f}pt, weight: "bold", fill: rgb("{look.accent}")'
            body = f"text({style}, {_content(block.lines[0])})"
            if look.centred_title and block.level == 0:
                body = f"align(center, {body})"
            return f"block(width: 100%, breakable: false, sticky: true, above: 1.4em, {{{self._area(body)}}})"
        if block.marks:
            pairs = zip(block.marks, block.lines, strict=True)
            items = ", ".join(f"{_string(mark)}, {_content(line)}" for mark, line in pairs)
            body = f"grid(columns: (1.6em, 1fr), row-gutter: 0.65em, {items})"
        else:
            body = f"par({' + linebreak() + '.join(map(_content, block.lines))})"
        return f"block(width: 100%, breakable: false, {{{self._area(body)}}})"

    def _bars(self, block: FigureBlock) -> str:
        accent = self.draft.look.accent
        bars = ", ".join(
            f'align(bottom, rect(width: 60%, height: {70 * share:.2f}pt, fill: rgb("{accent}")))'
            for share in block.shares
        )
        labels = ", ".join(f"text(size: 7pt, {_string(label)})" for label in block.labels)
        columns = f"columns: (1fr,) * {len(block.labels)}"
        grid = f"grid({columns}, row-gutter: 3pt, align: center, {bars}, {labels})"
        drawing = f"block(width: 60%, {{{self._area(grid)}}})"
        caption = self._beside("caption", block.caption, 0.9)
        return f"block(width: 100%, breakable: false, {{align(center, {drawing}); {caption}}})"

    def _beside(self, part: str, piece: Piece, scale: float) -> str:
        size = self.draft.look.size * scale
        body = self._area(f"text(size: {size:.2f}pt, {_content(piece)})", part)
        return f"block(width: 100%, breakable: false, spacing: 0.7em, {{{body}}})" if piece.runs else ""

    def _table_block(self, block: TableBlock) -> str:
        written = {
            "caption": self._beside("caption", block.caption, 0.92),
            "table": f"align(center, {self._table(block)})",
            "notes": self._beside("notes", block.notes, 0.82),
        }
        parts = "; ".join(written[part] for part in block.parts)
        breakable = "true" if block.long else "false"
        return f"block(width: 100%, breakable: {breakable}, above: 1.3em, below: 1.3em, {{{parts}}})"

    def _table(self, block: TableBlock) -> str:
        look, head = block.look, block.layout.draft.header_rows
        cells = [c for _, c in sorted(block.layout.cells.items())]
        header = ", ".join(self._cell(block, c) for c in cells if c.row < head)
        body = ", ".join(self._cell(block, c) for c in cells if c.row >= head)
        repeated = f"table.header({header}), " if header else ""
        inset = f"inset: (x: {look.pad_x}pt, y: {look.pad_y}pt)"
        table = f"table(columns: ({', '.join(_columns(block))},), {inset}, {repeated}{body})"
        return f"{{set text(size: {look.size}pt); set par(justify: false); {table}}}"

    def _cell(self, block: TableBlock, cell: Placed) -> str:
        look, draft = block.look, block.layout.draft
        content = _content(cell.piece)
        if self.draft.words.right_to_left and not any(is_right_to_left(run.text) for run in cell.piece.runs):
            content = f"text(dir: ltr, {content})"  # codes and signed numbers keep their order
        in_head = cell.row < draft.header_rows
        if in_head:
            fill = "white" if look.head_white else "black"
            content = f'text(weight: "bold", fill: {fill}, {content})'
        area = self._area(content, cell.row, cell.col)
        side = {"l": "start", "r": "end", "c": "center"}[block.side(cell)]
        fill = f'rgb("{colour}")' if (colour := block.fill(cell.row)) else "none"
        return (
            f"table.cell(x: {cell.col}, y: {cell.row}, colspan: {cell.colspan}, rowspan: {cell.rowspan}, "
            f"align: {side} + horizon, fill: {fill}, stroke: {self._stroke(block, cell)}, {{{area}}})"
        )

    def _area(self, body: str, *part: str | int) -> str:
        return f'area("{".".join(map(str, (self.index, *part)))}", {body})'

    def _stroke(self, block: TableBlock, cell: Placed) -> str:
        names = {"right": "left", "left": "right"} if self.draft.words.right_to_left else {}
        sides = {names.get(side, side): thick for side, thick in block.borders(cell).items()}
        strokes = ", ".join(f"{side}: {THICK if thick else THIN}" for side, thick in sides.items())
        return f"({strokes})" if strokes else "none"


def _columns(block: TableBlock) -> list[str]:
    """Share the remaining width among columns of text; a table over the full width stretches its first column
    of words.
    """
    alignments = block.layout.draft.alignments
    widths = ["1fr" if a.startswith("p") else "auto" for a in alignments]
    if block.look.full_width and "1fr" not in widths:
        widths[alignments.index("l") if "l" in alignments else 0] = "1fr"
    return widths


def _content(piece: Piece) -> str:
    runs = []
    for run in piece.runs:
        text = _string(run.text)
        body = f"super(typographic: false, {text})" if run.raised else f"text({text})"
        body = f'text(style: "italic", {body})' if run.italic else body
        runs.append(f"strong({body})" if run.bold else body)
    return " + ".join(runs) or "[]"


def _string(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


if __name__ == "__main__":
    main()
