"""Component tasks: parsers on text blocks, tables or formulas alone (OmniDocBench's Tables 7 to 9).

The elements are cut out of their pages once, as a corpus; parsers run on it as on any other, and what each
made of a crop becomes the key `pred` of its annotation, which is the form in which components are scored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from parsemark.corpora import Corpus
from parsemark.corpora.crops import FILE, CropKind, write_crops
from parsemark.errors import FormatError
from parsemark.formats import read_output, read_tables, write_table
from parsemark.model import Category, Prediction, Status
from parsemark.parsers import read_raw
from parsemark.store import Run
from parsemark.system import remove_tree

CropTask = Literal["ocr", "table", "formula"]
CROP_TASKS: tuple[CropTask, ...] = ("ocr", "table", "formula")
_KIND: dict[CropTask, CropKind] = {"ocr": "text", "table": "table", "formula": "formula"}


def crops_for(corpus: Corpus, task: CropTask, out: Path) -> Path:
    """The annotation of the crops of a corpus under `out`, made where it is not there yet."""
    folder = out / f"crops-{task}-{corpus.hash[:12]}"
    if not (folder / FILE).is_file():
        if folder.exists():
            remove_tree(folder)  # a run that was stopped while it cut
        write_crops(corpus, folder, _KIND[task])
    return folder / FILE


def answered(run: Run, crops: Corpus, annotation: Path, task: CropTask) -> dict[str, list[dict[str, Any]]]:
    """For each parser the annotation of the crops that it was given, with what it made of them as `pred`.

    A crop that the parser failed on has an empty `pred`.

    Args:
        run: The outputs of parsers on the crops.
        crops: The corpus of the crops.
        annotation: Its file.
        task: What is asked for.
    """
    pages: Sequence[Mapping[str, Any]] = json.loads(annotation.read_bytes())
    named = {sample.image.name: sample.id for sample in crops.samples() if sample.image is not None}
    given = set(run.table("samples")["sample"].to_list())
    asked = [(page, sample) for page in pages if (sample := named.get(_picture(page))) in given]
    made: dict[str, dict[str, str]] = {}
    for record in run.records():
        read = Prediction(record.sample, record.parser, record.status, message=record.error)
        if record.blob is not None:
            read = read_raw(run.raw(record.blob), record.sample, record.parser)
        made.setdefault(record.parser, {})[record.sample] = _content(read, task)
    return {
        parser: [
            {
                **page,
                "layout_dets": [{**det, "pred": texts.get(str(sample), "")} for det in page["layout_dets"]],
            }
            for page, sample in asked
        ]
        for parser, texts in made.items()
    }


def _picture(page: Mapping[str, Any]) -> str:
    return str(page["page_info"]["image_path"])


def _content(prediction: Prediction, task: CropTask) -> str:
    """What a parser says that the element is: HTML of a table, LaTeX of a formula, or text."""
    if prediction.status is not Status.OK:
        return ""
    try:
        if task == "table":
            return _table(prediction)
        return _formula(prediction) if task == "formula" else _text(prediction)
    except FormatError:
        return ""


def _text(prediction: Prediction) -> str:
    if prediction.text is not None:
        return prediction.text
    return "\n".join(e.text or e.latex or "" for e in prediction.elements)


def _table(prediction: Prediction) -> str:
    """The largest table of the output."""
    tables = [e.table for e in prediction.tables if e.table is not None]
    if not tables and prediction.text is not None:
        tables = [found.table for found in read_tables(prediction.text)]
    return write_table(max(tables, key=lambda table: table.n_cells), "html") if tables else ""


def _formula(prediction: Prediction) -> str:
    """The formulas of the output, else its text."""
    elements = prediction.elements
    if not any(e.latex for e in elements) and prediction.text is not None:
        elements = read_output(prediction.text, prediction.format).elements
    formulas = [e.latex for e in elements if e.category == Category.EQUATION_ISOLATED and e.latex]
    return " ".join(formulas) if formulas else _text(prediction)
