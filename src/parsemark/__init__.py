"""parsemark: the benchmark for PDF parsers.

The names below are the public interface. They are imported on first use, so that `import parsemark` stays
fast and loads no heavy library.
"""

import importlib
from typing import TYPE_CHECKING, Any

from parsemark.version import __version__

_MODULES = {
    "model": "Box Cell Element Page Prediction Sample Score Status Table",
    "errors": "FormatError ParsemarkError",
    "formats": "read_document read_table read_tables write_document write_table",
    "metrics": "get_metric grits list_metrics score_pair teds",
    "corpora": "load_corpus",
    "parsers": "get_parser",
    "store": "Run",
    "api": (
        "bench build_report bundle choose compare export gate load_run query score score_task site stable "
        "try_ verify"
    ),
    "version_history": "bisect history",
    "corpus_calls": "corpus_check corpus_export corpus_import corpus_info corpus_make corpus_sample",
    "research_calls": (
        "pairs study_agreement study_judge_answers study_judge_check study_judge_matchers study_run "
        "study_sample"
    ),
    "verdicts.check": "check",
    "setup_calls": "doctor init list_ parsers_install parsers_list parsers_versions",
}
_PUBLIC = {name: f"parsemark.{module}" for module, names in _MODULES.items() for name in names.split()}
_OF_BENCH = [
    f"parsemark.{room}" for room in ["api", "version_history", "corpus_calls", "corpora", "parsers", "store"]
]
"""What `pip install parsemark` alone cannot do."""
_NAMES_THERE = {"score_pair": "score"}
"""Names that are others in their module: `score` is the command here."""

__all__ = [
    "Box", "Cell", "Element", "FormatError", "Page", "ParsemarkError", "Prediction", "Run", "Sample",
    "Score", "Status", "Table", "__version__", "bench", "bisect", "build_report", "bundle", "check",
    "choose", "compare", "corpus_check", "corpus_export", "corpus_import", "corpus_info", "corpus_make",
    "corpus_sample", "doctor", "export", "gate", "get_metric", "get_parser", "grits", "history", "init",
    "list_", "list_metrics", "load_corpus", "load_run", "pairs", "parsers_install", "parsers_list",
    "parsers_versions", "query", "read_document", "read_table", "read_tables", "score", "score_pair",
    "score_task", "site", "stable", "study_agreement", "study_judge_answers", "study_judge_check",
    "study_judge_matchers", "study_run", "study_sample", "teds", "try_", "verify", "write_document",
    "write_table",
]  # fmt: skip

if TYPE_CHECKING:
    from parsemark.api import (
        bench,
        build_report,
        bundle,
        choose,
        compare,
        export,
        gate,
        load_run,
        query,
        score,
        score_task,
        site,
        stable,
        try_,
        verify,
    )
    from parsemark.corpora import load_corpus
    from parsemark.corpus_calls import (
        corpus_check,
        corpus_export,
        corpus_import,
        corpus_info,
        corpus_make,
        corpus_sample,
    )
    from parsemark.errors import FormatError, ParsemarkError
    from parsemark.formats import read_document, read_table, read_tables, write_document, write_table
    from parsemark.metrics import get_metric, grits, list_metrics, teds
    from parsemark.metrics import score as score_pair
    from parsemark.model import Box, Cell, Element, Page, Prediction, Sample, Score, Status, Table
    from parsemark.parsers import get_parser
    from parsemark.research_calls import (
        pairs,
        study_agreement,
        study_judge_answers,
        study_judge_check,
        study_judge_matchers,
        study_run,
        study_sample,
    )
    from parsemark.setup_calls import doctor, init, list_, parsers_install, parsers_list, parsers_versions
    from parsemark.store import Run
    from parsemark.verdicts.check import check
    from parsemark.version_history import bisect, history


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        if _PUBLIC[name] in _OF_BENCH:
            from parsemark.extras import require

            require("bench", f"parsemark.{name}")
        return getattr(importlib.import_module(_PUBLIC[name]), _NAMES_THERE.get(name, name))
    raise AttributeError(f"module 'parsemark' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
