# /// script
# dependencies = ["torch==2.13.0", "docling==2.143.0", "docling-core==2.104.0"]
# [tool.parsemark]
# about = "Docling's layout model and TableFormer"
# licence = "MIT"
# homepage = "https://github.com/docling-project/docling"
# gives = ["html", "boxes", "confidence", "markdown"]
# needs = ["folder:DOCLING_ARTIFACTS"]
# paper = "Soric et al.: Docling"
# options.mode = { default = "accurate", choices = ["accurate", "fast"], about = "TableFormer's mode" }
# options.ocr.default = false
# options.ocr.about = "Whether text is read from the picture where there is no text layer"
# [[tool.parsemark.weights]]
# source = "hf:docling-project/docling-layout-heron@main"
# folder = "docling-project--docling-layout-heron"
# licence = "Apache-2.0"
# [[tool.parsemark.weights]]
# source = "hf:docling-project/docling-models@v2.3.0"
# folder = "docling-project--docling-models"
# licence = "CDLA-Permissive-2.0"
# ///
"""docling: `DocumentConverter.convert`, with the confidence of its layout model for each table."""

import os
from functools import cache
from pathlib import Path

from docling.datamodel.base_models import InputFormat
from docling.datamodel.pipeline_options import PdfPipelineOptions, TableFormerMode, TableStructureOptions
from docling.document_converter import DocumentConverter, PdfFormatOption
from parsemark_worker import elements_output, serve, table

MODELS = Path(os.environ["DOCLING_ARTIFACTS"])


@cache
def converter(mode, ocr):
    options = PdfPipelineOptions(
        artifacts_path=MODELS,
        do_ocr=ocr,
        do_table_structure=True,
        table_structure_options=TableStructureOptions(mode=TableFormerMode(mode)),
    )
    return DocumentConverter(format_options={InputFormat.PDF: PdfFormatOption(pipeline_options=options)})


def prepare(options):
    converter(options["mode"], options["ocr"]).initialize_pipeline(InputFormat.PDF)


def parse(pdf, page, options):
    result = converter(options["mode"], options["ocr"]).convert(pdf, page_range=(page, page))
    document = result.document
    clusters = [c for p in result.pages if p.predictions.layout for c in p.predictions.layout.clusters]
    tables = (_read(item, document, page, clusters) for item in document.tables)
    return elements_output(tables, markdown=document.export_to_markdown())


def _read(item, document, page, clusters):
    place = next((p for p in item.prov if p.page_no == page), None)
    html = item.export_to_html(document)
    if place is None:
        return table(html=html)
    box = place.bbox.to_top_left_origin(page_height=document.pages[page].size.height)
    return table(html=html, box=(box.l, box.t, box.r, box.b), confidence=_confidence(box, clusters))


def _confidence(box, clusters):
    """That of the table cluster which the item was made from: the one that covers it best."""
    tables = [c for c in clusters if c.label in ("table", "document_index")]
    best = max(tables, key=lambda c: box.intersection_over_union(c.bbox), default=None)
    return None if best is None or box.intersection_over_union(best.bbox) < 0.5 else min(1.0, best.confidence)


weights = sorted(MODELS.rglob("*.safetensors"))
serve(parse, versions=["docling", "docling-core"], weights=weights, prepare=prepare)
