from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel


class TableFormerMode(StrEnum):
    FAST = "fast"
    ACCURATE = "accurate"


class TableStructureOptions(BaseModel):
    mode: TableFormerMode


class PdfPipelineOptions(BaseModel):
    artifacts_path: Path
    do_ocr: bool
    do_table_structure: bool
    table_structure_options: TableStructureOptions
