"""What each number is called, how it is defined, over what it is taken, and how it is printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Style = Literal["score", "rate", "count", "seconds", "megabytes", "dollars"]


@dataclass(frozen=True, slots=True)
class Column:
    """One number of a leaderboard."""

    key: str
    label: str
    """Short, for a table's head."""
    definition: str
    denominator: str
    style: Style = "score"
    higher_is_better: bool = True
    main: bool = False
    """Whether it is shown at first; the others come with "all columns"."""

    @property
    def direction(self) -> str:
        """In words."""
        return "higher is better" if self.higher_is_better else "lower is better"


_ALL_TABLES = (
    "true tables (recall) and predicted tables (precision) of all pages, those without tables included"
)
_PARSED = "pages for which it was measured"
_FOUND = "A table counts as found if its match overlaps it by more than one half."
_CONFIDENT = "Only for parsers that give a confidence."
_STRUCTURE = {"con": "GriTS content", "teds": "TEDS", "top": "GriTS topology"}
_SHORT = {"con": "Con", "teds": "TEDS", "top": "Top"}


def _extraction(short: str) -> list[Column]:
    """End to end and structure, for one structure metric."""
    score, label = _STRUCTURE[short], _SHORT[short]
    text = (
        f"in which a found table earns its {score} score instead of 1. Missed tables, invented tables and "
        "pages on which the parser failed earn nothing and stay in the denominator."
    )
    return [
        Column(f"te_f1_{short}", f"TE F1 {label}", f"End-to-end F1, {text}", _ALL_TABLES, main=True),
        Column(f"te_precision_{short}", f"TE P {label}", f"End-to-end precision, {text}", "predicted tables"),
        Column(f"te_recall_{short}", f"TE R {label}", f"End-to-end recall, {text}", "true tables"),
        Column(
            f"tsr_{short}",
            f"{label} if found",
            f"Mean {score} score of the tables that were found. Parsers find different tables: compare with "
            "care.",
            "true tables that were found",
        ),
        Column(
            f"ap_{short}",
            f"AP {label}",
            f"Area under the precision-recall curve {text} {_CONFIDENT}",
            "true tables",
        ),
    ]


def _expected(key: str, label: str, start: str) -> list[Column]:
    text = f"averaged over all overlap thresholds from {start} to 1 instead of at one half."
    return [
        Column(f"{key}_f1", f"{label} F1", f"Detection F1, {text}", _ALL_TABLES),
        Column(f"{key}_precision", f"{label} P", f"Detection precision, {text}", "predicted tables"),
        Column(f"{key}_recall", f"{label} R", f"Detection recall, {text}", "true tables"),
    ]


COLUMNS = (
    *_extraction("con")[:1],
    *_extraction("teds")[:1],
    *_extraction("top")[:1],
    Column(
        "td_f1",
        "Detection F1",
        f"Harmonic mean of detection precision and recall. {_FOUND}",
        _ALL_TABLES,
        main=True,
    ),
    Column(
        "false_tables_per_negative_page",
        "False tables",
        "Tables reported on pages that have none, per such page.",
        "pages without tables",
        style="rate",
        higher_is_better=False,
        main=True,
    ),
    Column(
        "failures",
        "Failures",
        "Pages on which the parser crashed, ran out of time or memory, or returned what cannot be read. They "
        "stay in every other score as pages on which nothing was found.",
        "all pages",
        style="count",
        higher_is_better=False,
        main=True,
    ),
    Column(
        "cpu_s_per_page",
        "CPU s/page",
        "Mean CPU time of the parser's process per page.",
        _PARSED,
        style="seconds",
        higher_is_better=False,
        main=True,
    ),
    Column(
        "td_precision",
        "Precision",
        f"Share of predicted tables that are true ones. {_FOUND}",
        "predicted tables",
    ),
    Column("td_recall", "Recall", f"Share of true tables that were found. {_FOUND}", "true tables"),
    *(c for short in _SHORT for c in _extraction(short)[1:4]),
    Column(
        "ap",
        "AP",
        "Average precision: the area under the precision-recall curve over the confidence, step by step. "
        f"{_CONFIDENT}",
        "true tables",
    ),
    *(_extraction(short)[4] for short in _SHORT),
    Column(
        "d_ece",
        "D-ECE",
        f"Calibration: how far confidence and precision are apart, over ten bins of confidence. {_CONFIDENT}",
        "predictions with a confidence above 0.05",
        higher_is_better=False,
    ),
    *_expected("e05", "E₀.₅", "0.5"),
    *_expected("e0", "E₀", "0"),
    Column(
        "wavg_f1",
        "WAvg F1",
        "Detection F1 at overlaps above 0.6, 0.7, 0.8 and 0.9, averaged with these thresholds as weights.",
        _ALL_TABLES,
    ),
    *(
        Column(
            f"td_f1_at_{t}",
            f"F1 at {t}",
            f"Detection F1 if a table must overlap by more than {t}.",
            _ALL_TABLES,
        )
        for t in ("0.5", "0.6", "0.7", "0.8", "0.9")
    ),
    Column(
        "content_for_bbox_precision",
        "Content→box P",
        "Of the predictions that content-Jaccard above one half calls found, the share that IoU calls found.",
        "predictions found by content",
    ),
    Column(
        "content_for_bbox_recall",
        "Content→box R",
        "Of the predictions that IoU above one half calls found, the share that content-Jaccard calls found.",
        "predictions found by place",
    ),
    Column(
        "negative_pages_with_false_tables",
        "Pages with false tables",
        "Share of the pages without tables on which the parser reports one.",
        "pages without tables",
        higher_is_better=False,
    ),
    Column(
        "invented_characters",
        "Invented text",
        "Share of the characters in the predicted tables that the page's text layer does not contain.",
        "pages with predicted text and a text layer",
        higher_is_better=False,
    ),
    Column(
        "invented_numbers",
        "Invented numbers",
        "Share of the numbers in the predicted tables that the page's text layer does not contain.",
        "pages with predicted numbers and a text layer",
        higher_is_better=False,
    ),
    Column(
        "wall_s_per_page",
        "Wall s/page",
        "Mean time that passed while the parser worked on a page.",
        _PARSED,
        style="seconds",
        higher_is_better=False,
    ),
    Column(
        "peak_memory_mb_per_page",
        "Memory MB",
        "Largest memory of the parser's process while it worked on a page, averaged over the pages.",
        _PARSED,
        style="megabytes",
        higher_is_better=False,
    ),
    Column(
        "cost_usd_per_page",
        "Cost/page",
        "What the parser's service charged per page.",
        _PARSED,
        style="dollars",
        higher_is_better=False,
    ),
)
BY_KEY = {column.key: column for column in COLUMNS}


def column_for(key: str) -> Column:
    """The column of a summary's key; one that is not described here still gets shown."""
    if key in BY_KEY:
        return BY_KEY[key]
    label = key.replace("_", " ")
    return Column(
        key, label[:1].upper() + label[1:], f"{key} as the protocol computes it.", "see the protocol"
    )


def is_figure(entry: Any) -> bool:
    """Whether an entry of a summary is a number with interval and denominator (not a curve, not a group)."""
    return isinstance(entry, Mapping) and "value" in entry and "n" in entry


def columns_of(parsers: Mapping[str, Mapping[str, Any]]) -> list[Column]:
    """The columns for which any parser has a value, in the order of `COLUMNS`, unknown ones last."""
    present = {
        key
        for figures in parsers.values()
        for key, entry in figures.items()
        if is_figure(entry) and entry["value"] is not None
    }
    known = [c for c in COLUMNS if c.key in present]
    return [*known, *(column_for(key) for key in sorted(present - set(BY_KEY)))]


def format_value(value: float | None, style: Style) -> str:
    """A number as it is printed everywhere; an en dash for what does not exist.

    >>> format_value(0.98765, "score"), format_value(None, "score"), format_value(3.0, "count")
    ('0.988', '–', '3')
    """
    if value is None:
        return "–"
    if style == "seconds":
        return f"{value:.3f}" if value < 1 else f"{value:.2f}"
    if style == "dollars":
        return f"${value:,.4f}" if value < 1 else f"${value:,.2f}"
    digits = {"count": 0, "megabytes": 0, "rate": 2, "score": 3}[style]
    return f"{value:,.{digits}f}"
