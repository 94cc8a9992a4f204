"""parsemark: the benchmark for PDF parsers.

The names below are the public interface. They are imported on first use, so that `import parsemark` stays
fast and loads no heavy library.
"""

import importlib
from typing import TYPE_CHECKING, Any

from parsemark.version import __version__

_PUBLIC = {
    "Box": "parsemark.model",
    "Cell": "parsemark.model",
    "Element": "parsemark.model",
    "Page": "parsemark.model",
    "Prediction": "parsemark.model",
    "Sample": "parsemark.model",
    "Score": "parsemark.model",
    "Status": "parsemark.model",
    "Table": "parsemark.model",
    "FormatError": "parsemark.errors",
    "ParsemarkError": "parsemark.errors",
    "read_document": "parsemark.formats",
    "read_table": "parsemark.formats",
    "read_tables": "parsemark.formats",
    "write_document": "parsemark.formats",
    "write_table": "parsemark.formats",
    "get_metric": "parsemark.metrics",
    "grits": "parsemark.metrics",
    "list_metrics": "parsemark.metrics",
    "score": "parsemark.metrics",
    "teds": "parsemark.metrics",
    "load_corpus": "parsemark.corpora",
    "get_parser": "parsemark.parsers",
    "Run": "parsemark.store",
    "bench": "parsemark.api",
    "build_report": "parsemark.api",
    "calibrate": "parsemark.api",
    "board": "parsemark.api",
    "gate": "parsemark.api",
    "score_predictions": "parsemark.api",
    "bundle_run": "parsemark.api",
    "compare": "parsemark.api",
    "ensemble": "parsemark.api",
    "estimate_confidence": "parsemark.api",
    "score_run": "parsemark.api",
    "verify_bundle": "parsemark.api",
    "bisect": "parsemark.version_history",
    "history": "parsemark.version_history",
}
_OF_BENCH = (
    "parsemark.api",
    "parsemark.version_history",
    "parsemark.corpora",
    "parsemark.parsers",
    "parsemark.store",
)
"""What `pip install parsemark` alone cannot do."""

__all__ = ["__version__", *_PUBLIC]  # noqa: PLE0604 - the names are the keys of the table above

if TYPE_CHECKING:
    from parsemark.api import bench as bench
    from parsemark.api import board as board
    from parsemark.api import build_report as build_report
    from parsemark.api import bundle_run as bundle_run
    from parsemark.api import calibrate as calibrate
    from parsemark.api import compare as compare
    from parsemark.api import ensemble as ensemble
    from parsemark.api import estimate_confidence as estimate_confidence
    from parsemark.api import gate as gate
    from parsemark.api import score_predictions as score_predictions
    from parsemark.api import score_run as score_run
    from parsemark.api import verify_bundle as verify_bundle
    from parsemark.corpora import load_corpus as load_corpus
    from parsemark.errors import FormatError as FormatError
    from parsemark.errors import ParsemarkError as ParsemarkError
    from parsemark.formats import read_document as read_document
    from parsemark.formats import read_table as read_table
    from parsemark.formats import read_tables as read_tables
    from parsemark.formats import write_document as write_document
    from parsemark.formats import write_table as write_table
    from parsemark.metrics import get_metric as get_metric
    from parsemark.metrics import grits as grits
    from parsemark.metrics import list_metrics as list_metrics
    from parsemark.metrics import score as score
    from parsemark.metrics import teds as teds
    from parsemark.model import Box as Box
    from parsemark.model import Cell as Cell
    from parsemark.model import Element as Element
    from parsemark.model import Page as Page
    from parsemark.model import Prediction as Prediction
    from parsemark.model import Sample as Sample
    from parsemark.model import Score as Score
    from parsemark.model import Status as Status
    from parsemark.model import Table as Table
    from parsemark.parsers import get_parser as get_parser
    from parsemark.store import Run as Run
    from parsemark.version_history import bisect as bisect
    from parsemark.version_history import history as history


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        if _PUBLIC[name] in _OF_BENCH:
            from parsemark.extras import require

            require("bench", f"parsemark.{name}")
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'parsemark' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
