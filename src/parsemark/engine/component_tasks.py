"""Component tasks: one component of a parser on its own (OmniDocBench's Tables 7 to 9, and layout).

The elements are cut out of their pages once, as a corpus; parsers run on it as on any other, and what each
made of a crop becomes the key `pred` of its annotation, which is the form in which components are scored.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from parsemark.corpora import Corpus
from parsemark.corpora.crops import FILE, CropKind, write_crops
from parsemark.engine.scoring.chunk import read_record
from parsemark.errors import FormatError, UsageError
from parsemark.formats import read_output, read_tables, write_table
from parsemark.model import Category, Prediction, Status
from parsemark.protocols import get_protocol
from parsemark.protocols.document.annotation import annotation_of
from parsemark.protocols.document.component_scores import TASKS, TaskResult, component_task, layout_task
from parsemark.protocols.document.protocol import DocumentProtocol
from parsemark.protocols.document.published.profile import STRICT_COMPONENTS, get_profile
from parsemark.store import Run
from parsemark.system import remove_tree, write_text

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
    """For each parser the annotation of its crops, with what it made of them as `pred`, empty if failed."""
    pages: Sequence[Mapping[str, Any]] = json.loads(annotation.read_bytes())
    named = {sample.image.name: sample.id for sample in crops.samples() if sample.image is not None}
    given = set(run.table("samples")["sample"].to_list())
    pictures = ((page, named.get(str(page["page_info"]["image_path"]))) for page in pages)
    asked = [(page, sample) for page, sample in pictures if sample in given]
    made: dict[str, dict[str, str]] = {}
    for record in run.records():
        made.setdefault(record.parser, {})[record.sample] = _content(read_record(run, record), task)
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


def _content(prediction: Prediction, task: CropTask) -> str:
    """What a parser says that the element is: HTML of a table, LaTeX of a formula, or text."""
    if prediction.status is not Status.OK:
        return ""
    try:
        if task == "table":
            tables = [e.table for e in prediction.tables if e.table is not None]
            if not tables and prediction.text is not None:
                tables = [found.table for found in read_tables(prediction.text)]
            return write_table(max(tables, key=lambda table: table.n_cells), "html") if tables else ""
        return _formula(prediction) if task == "formula" else _predicted_text(prediction)
    except FormatError:
        return ""


def _predicted_text(prediction: Prediction) -> str:
    if prediction.text is not None:
        return prediction.text
    return "\n".join(e.text or e.latex or "" for e in prediction.elements)


def _formula(prediction: Prediction) -> str:
    """The formulas of the output, else its text."""
    elements = prediction.elements
    if not any(e.latex for e in elements) and prediction.text is not None:
        elements = read_output(prediction.text, prediction.format).elements
    formulas = [e.latex for e in elements if e.category == Category.EQUATION_ISOLATED and e.latex]
    return " ".join(formulas) if formulas else _predicted_text(prediction)


def score_task(
    task: str, predictions: Path, corpus: Callable[[], Corpus], protocol: str = "document"
) -> TaskResult:
    """Score a file of predictions of one component, as `api.score_task` says."""
    chosen = next((name for name in TASKS if name == task), None)
    if chosen is None:
        raise UsageError(f"There is no task {task!r}; choose one of: {', '.join(TASKS)}.")
    try:
        data = json.loads(predictions.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise FormatError(f"{predictions} cannot be read as JSON: {error}") from error
    if chosen == "layout":
        document_protocol(protocol)
        pages = [annotation_of(s.truth) for s in corpus().samples() if s.truth is not None]
        return layout_task(pages, data)
    return score_component(chosen, data, protocol)


def score_component(task: CropTask, pages: Any, protocol: str = "document") -> TaskResult:
    """Score an annotation with a key `pred` in its elements."""
    how = document_protocol(protocol)
    if not isinstance(pages, list):
        raise UsageError("The predictions must be OmniDocBench's list of pages, with `pred` in the elements.")
    strict = how.profile == "strict"
    profile = STRICT_COMPONENTS if strict else get_profile(how.profile)
    return component_task(pages, task, counts_missing=strict, cdm=how.cdm, profile=profile)


def document_protocol(spec: str) -> DocumentProtocol:
    """The protocol `document` with its settings; UsageError for another one."""
    protocol = get_protocol(spec)
    if not isinstance(protocol, DocumentProtocol):
        raise UsageError(f"--task goes with the protocol `document`, not with {protocol}.")
    return protocol


def crop_task(task: str) -> CropTask:
    """The task of that name; UsageError if there is none that is done on crops."""
    for name in CROP_TASKS:
        if name == task:
            return name
    raise UsageError(f"There is no task {task!r} on crops; choose one of: {', '.join(CROP_TASKS)}.")


def score_crops(
    run: Run, crops: Corpus, annotation: Path, task: CropTask, protocol: str = "document"
) -> dict[str, TaskResult]:
    """What each parser of a run made of crops, scored; its annotation is written beside the run."""
    found = {}
    for parser, pages in sorted(answered(run, crops, annotation, task).items()):
        text = json.dumps(pages, indent=1, ensure_ascii=False) + "\n"
        write_text(run.path.parent / f"{parser}.json", text)
        found[parser] = score_component(task, pages, protocol)
    return found
