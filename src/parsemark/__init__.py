"""parsemark: the benchmark for PDF parsers.

The names below are the public interface. They are imported on first use, so that `import parsemark` stays
fast and loads no heavy library.
"""

import importlib
from typing import TYPE_CHECKING, Any

from parsemark.version import __version__

_PUBLIC = {
    name: f"parsemark.{module}"
    for module, names in {
        "model": "Box Cell Element Page Prediction Sample Score Status Table",
        "errors": "FormatError ParsemarkError",
        "formats": "read_document read_table read_tables write_document write_table",
        "metrics": "get_metric grits list_metrics score teds",
        "corpora": "load_corpus",
        "parsers": "get_parser",
        "store": "Run",
        "api": (
            "bench build_report calibrate board gate score_predictions bundle_run compare "
            "ensemble estimate_confidence score_run verify_bundle"
        ),
        "version_history": "bisect history",
    }.items()
    for name in names.split()
}
_OF_BENCH = tuple(
    f"parsemark.{module}" for module in ("api", "version_history", "corpora", "parsers", "store")
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
