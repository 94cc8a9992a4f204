"""Page types of a run without truth: scans that no parser reads, and broken files survived."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence

import polars as pl

from parsemark.errors import FormatError
from parsemark.formats import read_output
from parsemark.formats.model_json import prediction_from_json
from parsemark.model import Prediction, Status
from parsemark.pdf.page_kinds import (
    DAMAGED,
    IN_NO_SCORE,
    NO_LAYER,
    OTHER_FILE,
    UNREADABLE,
    Kinds,
    stored_kinds,
)
from parsemark.plain_words import counted, listed
from parsemark.store.run_tables import RunTables

_MOST_NAMED = 3


def run_kinds(tables: RunTables) -> dict[str, Kinds]:
    """Return the kinds of each page, as they were found when it came into the run."""
    rows = tables.known("samples", "sample", "kinds")
    return {} if rows.width < 2 else {sample: stored_kinds(text) for sample, text in rows.iter_rows() if text}


def unscored(tables: RunTables) -> frozenset[str]:
    """Return pages that are in no score: of files that cannot be opened, and of which there is no truth."""
    files = [s for s, own in run_kinds(tables).items() if own.get("file") in (UNREADABLE, OTHER_FILE)]
    rows = tables.read("samples", "sample", where=pl.col("sample").is_in(files) & pl.col("truth").is_null())
    return frozenset(rows["sample"])


def scored_counts(tables: RunTables, counts: Mapping[str, int]) -> dict[str, int]:
    """Return the counts of a summary without files that are in no score, which are counted separately."""
    gone = unscored(tables)
    if not gone:
        return dict(counts)
    places = tables.places
    kept = [d for s, d in zip(places.samples, places.documents, strict=True) if s not in gone]
    real = {"documents": len(set(kept)), "pages": len(kept)}
    return {name: real.get(name, n) for name, n in counts.items()} | {"unreadable files": len(gone)}


def survived(tables: RunTables) -> pl.DataFrame:
    """Return for each parser that was run and each broken file, at its first page, whether all pages got
    outputs.

    A file is broken if it cannot be opened here, or if its objects are not where it says; one that does not
    begin as a PDF does is none.
    """
    broken = [s for s, own in run_kinds(tables).items() if own.get("file") in (DAMAGED, UNREADABLE)]
    pages = tables.read("samples", "sample", "document", where=pl.col("sample").is_in(broken))
    answered = (pl.col("status") == str(Status.OK)).all().alias("survived")
    parses = tables.read("parses", "sample", "parser", "status", where=pl.col("sample").is_in(broken))
    parses = parses.filter(pl.col("status") != str(Status.NO_PREDICTION))
    found = parses.join(pages, on="sample").group_by("parser", "document")
    return found.agg(pl.col("sample").min(), answered).sort("parser", "document")


def kind_notes(tables: RunTables) -> list[str]:
    """Return notes on the pages that hold whatever the scores are."""
    kinds, notes = run_kinds(tables), []
    if scans := [sample for sample, own in kinds.items() if own.get("layer") == NO_LAYER]:
        rows = tables.read("predictions", "prediction", where=pl.col("sample").is_in(scans))
        read = (prediction_from_json(json.loads(text)) for text in rows["prediction"] if text)
        notes += [] if any(map(says_anything, read)) else [unread_warning(len(scans))]
    files = survived(tables)
    if not files.is_empty():
        names = list(dict.fromkeys(files["document"]))
        n = Counter(files.filter("survived")["parser"])
        each = [f"{parser} survived {n[parser]} of {len(names)}" for parser in sorted(set(files["parser"]))]
        notes.append(f"{counted(len(names), 'broken file')} ({_some(names)}): {listed(each)}.")
    if others := [sample for sample in unscored(tables) if kinds[sample].get("file") == OTHER_FILE]:
        found = tables.read("samples", "document", where=pl.col("sample").is_in(others))["document"]
        are = "file is not a PDF" if len(others) == 1 else "files are not PDFs"
        notes.append(f"{len(others)} {are} ({_some(sorted(found))}): {IN_NO_SCORE}.")
    return notes


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_NAMED]) + (", …" if len(names) > _MOST_NAMED else "")


def unread_scans(kinds: Mapping[str, Kinds], predictions: Mapping[tuple[str, str], Prediction]) -> str | None:
    """Return a warning if there are pages without a text layer and no parser says anything on them."""
    scans = {sample for sample, own in kinds.items() if own.get("layer") == NO_LAYER}
    if not scans or any(says_anything(p) for (sample, _), p in predictions.items() if sample in scans):
        return None
    return unread_warning(len(scans))


def unread_warning(n_scans: int) -> str:
    """Return the advice for runs in which no parser reads pages without a text layer."""
    return (
        f"{counted(n_scans, 'page')} without a text layer (scans), and no parser returned anything there: "
        "add one with OCR, such as --parser tesseract or --parser rapid."
    )


def says_anything(prediction: Prediction) -> bool:
    """Return whether an output has words: a fence or a picture alone has none."""
    if prediction.elements:
        return True
    try:
        found = read_output(prediction.text or "", "markdown").elements
    except FormatError:
        return True
    return any(e.text or e.latex or e.table for e in found)
