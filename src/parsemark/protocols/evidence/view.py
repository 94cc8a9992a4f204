"""A page to look at: lost words on the page, invented ones in the output's text."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, pairwise
from typing import Any

from parsemark.formats import markdown_of
from parsemark.matching.page_evidence import EXTRAS, PAGE_STATUSES
from parsemark.model import Box, Prediction, Status
from parsemark.protocols.presentation import PageMatch, PageView
from parsemark.protocols.run_data.rows import PAGE_LEVEL

_KINDS = {
    **dict.fromkeys(("lost", "missing_page"), "miss"),
    **dict.fromkeys(("moved", "order", "cell"), "moved"),
    **dict.fromkeys(("altered", "number", "joined", "split", "table"), "split"),
    **dict.fromkeys(EXTRAS, "extra"),
}
"""Findings as the viewer draws them: lost words in red."""
MAX_TEXT = 20_000  # characters of an output that are shown
_GROUPING = "[,\u2009\u202f\u00a0]?"


def found_on(rows: Sequence[Mapping[str, Any]]) -> list[PageMatch]:
    """Return the findings on one page of a parser for the viewer; findings of other protocols are left
    out.
    """
    matches = []
    for row in rows:
        kind = row["category"]
        if row["element"] == PAGE_LEVEL or kind not in _KINDS:
            continue
        try:
            entry = json.loads(row["message"])
            if not entry.keys() & {"text", "said"}:
                continue
            text, said = str(entry.get("text", "")), str(entry.get("said", ""))
            boxes = tuple(Box(*map(float, box)) for box in entry.get("boxes", ()))
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            continue  # the run may come from a bundle
        matches.append(PageMatch(_KINDS[kind], kind.replace("_", " "), text, said, boxes=boxes))
    return matches


def page_view(rows: Sequence[Mapping[str, Any]], prediction: Prediction) -> PageView:
    """Return the findings on one page of a parser, from its rows."""
    counts = {row["metric"]: row["value"] for row in rows if row["element"] == PAGE_LEVEL}
    told = {row["metric"]: row["message"] for row in rows if row["element"] == PAGE_LEVEL}
    matches = found_on(rows)
    page = json.loads(told.get("words") or "{}") if counts.get("words") is not None else {}
    message = prediction.message if prediction.status is not Status.OK else None
    if page.get("judged_by", "text layer") != "text layer":
        message = "; ".join(filter(None, (message, f"judged by {page['judged_by']}")))
    if counts.get("words") is None:
        message = f"not judged: {told.get('words')}"
    shares = {
        name: counts[name] / of
        for name in (*PAGE_STATUSES, *EXTRAS)
        if (of := counts.get("said" if name in EXTRAS else "words"))
    }
    extra = [match.pred for match in matches if match.category in EXTRAS]
    marked = tuple(_marked(markdown_of(prediction)[:MAX_TEXT], extra))
    size = (page["width"], page["height"]) if "width" in page else None
    return PageView(tuple(matches), (), (), (), 0, shares, message, marked, size)


def _marked(text: str, extra: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the text in pieces: `same`, or `new` for the last place at which each extra stretch stands."""
    taken: list[tuple[int, int]] = []
    for words in extra:
        # Before words were folded, digits may have been grouped.
        grouped = (_GROUPING.join(w) if w.isdigit() else re.escape(w) for w in words.split()[:60])
        pattern = r"\W+".join(grouped)
        places = [m.span() for m in re.finditer(rf"(?<!\w){pattern}(?!\w)", text, re.IGNORECASE)]
        free = [(a, b) for a, b in places if all(b <= c or a >= d for c, d in taken)]
        taken += free[-1:]
    ends = [0, *(end for span in sorted(taken) for end in span), len(text)]
    pieces = zip(cycle(("same", "new")), pairwise(ends), strict=False)
    yield from ((kind, text[start:end]) for kind, (start, end) in pieces if start < end)
