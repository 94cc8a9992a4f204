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
            "ensemble estimate_confidence make_corpus score_run verify_bundle"
        ),
        "version_history": "bisect history",
    }.items()
    for name in names.split()
}
_OF_BENCH = [f"parsemark.{room}" for room in ("api", "version_history", "corpora", "parsers", "store")]
"""What `pip install parsemark` alone cannot do."""

__all__ = [
    "Box", "Cell", "Element", "FormatError", "Page", "ParsemarkError", "Prediction", "Run", "Sample", "Score",
    "Status", "Table", "__version__", "bench", "bisect", "board", "build_report", "bundle_run", "calibrate",
    "compare", "ensemble", "estimate_confidence", "gate", "get_metric", "get_parser", "grits", "history",
    "list_metrics", "load_corpus", "make_corpus", "read_document", "read_table", "read_tables", "score",
    "score_predictions", "score_run", "teds", "verify_bundle", "write_document", "write_table",
]  # fmt: skip

if TYPE_CHECKING:
    from parsemark.api import (
        bench,
        board,
        build_report,
        bundle_run,
        calibrate,
        compare,
        ensemble,
        estimate_confidence,
        gate,
        make_corpus,
        score_predictions,
        score_run,
        verify_bundle,
    )
    from parsemark.corpora import load_corpus
    from parsemark.errors import FormatError, ParsemarkError
    from parsemark.formats import read_document, read_table, read_tables, write_document, write_table
    from parsemark.metrics import get_metric, grits, list_metrics, score, teds
    from parsemark.model import Box, Cell, Element, Page, Prediction, Sample, Score, Status, Table
    from parsemark.parsers import get_parser
    from parsemark.store import Run
    from parsemark.version_history import bisect, history


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        if _PUBLIC[name] in _OF_BENCH:
            from parsemark.extras import require

            require("bench", f"parsemark.{name}")
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'parsemark' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
