"""Answers every page with one table, given from the bottom left as docling gives it."""

from types import SimpleNamespace

from docling_core.types.doc import (
    BoundingBox,
    CoordOrigin,
    DocItemLabel,
    DoclingDocument,
    ProvenanceItem,
    Size,
    TableCell,
    TableData,
)


class PdfFormatOption:
    def __init__(self, pipeline_options):
        self.pipeline_options = pipeline_options


class DocumentConverter:
    def __init__(self, format_options):
        (self.options,) = (option.pipeline_options for option in format_options.values())

    def initialize_pipeline(self, format):
        self.started = format

    def convert(self, source, page_range):
        page, _ = page_range
        document = DoclingDocument(name="page")
        document.add_page(page_no=page, size=Size(width=600, height=800))
        box = BoundingBox(l=100, t=644, r=460, b=500, coord_origin=CoordOrigin.BOTTOMLEFT)
        texts = [
            ("Counts", 0, 0, 2),
            (f"page {page}", 1, 0, 1),
            (self.options.table_structure_options.mode, 1, 1, 1),
        ]
        cells = [
            TableCell(
                text=text,
                start_row_offset_idx=row,
                end_row_offset_idx=row + 1,
                start_col_offset_idx=col,
                end_col_offset_idx=col + span,
                row_span=1,
                col_span=span,
            )
            for text, row, col, span in texts
        ]
        document.add_table(
            data=TableData(table_cells=cells, num_rows=2, num_cols=2),
            prov=ProvenanceItem(page_no=page, bbox=box, charspan=(0, 0)),
        )
        clusters = [
            SimpleNamespace(label=DocItemLabel.TEXT, confidence=0.99, bbox=_top_left(100, 156, 460, 300)),
            SimpleNamespace(label=DocItemLabel.TABLE, confidence=0.87, bbox=_top_left(98, 155, 461, 301)),
            SimpleNamespace(label=DocItemLabel.TABLE, confidence=0.95, bbox=_top_left(98, 500, 461, 600)),
        ]
        predictions = SimpleNamespace(layout=SimpleNamespace(clusters=clusters))
        return SimpleNamespace(document=document, pages=[SimpleNamespace(predictions=predictions)])


def _top_left(left, top, right, bottom):
    return BoundingBox(l=left, t=top, r=right, b=bottom, coord_origin=CoordOrigin.TOPLEFT)
