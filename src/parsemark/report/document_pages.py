"""Whole pages to look at: matches drawn on the page, reading order as a path, and each text's difference.

Written for the strict profile of `document`: one page of HTML for each page and parser, without scripts. What
a parser wrote is only ever text; formulas become MathML made of a short list of harmless tags.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from parsemark.model import Box, Element, Page, Prediction, Status
from parsemark.protocols import Summary, get_protocol
from parsemark.protocols.document.protocol import DocumentProtocol
from parsemark.protocols.document.published.profile import Profile, get_profile, switch_sentences
from parsemark.report.mathml import mathml
from parsemark.report.names import page_file, safe_name
from parsemark.report.site import Site
from parsemark.report.source import Source

MAX_PAGES = 400
"""Pages times parsers of a report; larger runs are looked at with fewer pages or parsers."""
MAX_DIFF = 6_000
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Row:
    """One match, as it is shown."""

    kind: str
    category: str
    number: int | None
    similarity: float | None
    truth: str
    pred: str
    diff: tuple[tuple[str, str], ...]
    truth_formula: Markup | None
    pred_formula: Markup | None


def write_document_pages(site: Site, images: set[int]) -> None:
    """Write `document.html` and a page for each page and parser, if a protocol of the run asks for them."""
    source = next((s for s in site.sources if _is_strict(s)), None)
    if source is None:
        return
    samples = source.samples
    links: list[dict[str, Any]] = []
    parsers = [p for p in source.parsers if p.name not in source.summary.details.get("left_out", ())]
    n_pages = max(1, MAX_PAGES // max(1, len(parsers)))
    for row in samples.head(n_pages).iter_rows(named=True):
        truth = source.run.truth(row["sample"])
        if truth is None:
            continue
        entry: dict[str, Any] = {"sample": row["sample"], "parsers": []}
        for parser in parsers:
            prediction = source.run.prediction(row["sample"], parser.name)
            name = f"document-{page_file(row['page']).replace('/', '-')}-{safe_name(parser.name)}"
            view = _view(truth, prediction, source)
            image = f"images/{page_file(row['page'])}.webp" if row["page"] in images else None
            site.page(
                name, current="document", template="document_page.html", view=view, image=image,
                sample=row["sample"], parser=parser, page=truth,
            )  # fmt: skip
            entry["parsers"].append({"name": parser.name, "href": f"{name}.html", "text": view["text_edit"]})
        links.append(entry)
    site.page(
        "document",
        current="document",
        links=links,
        parsers=parsers,
        n_left=max(0, len(samples) - n_pages),
    )


def write_profiles(site: Site) -> None:
    """Write `profiles.html` where a run was scored under several profiles: what differs, and why."""
    sources = [s for s in site.sources if isinstance(get_protocol(s.summary.protocol), DocumentProtocol)]
    if len(sources) < 2:
        return
    names = list(dict.fromkeys(info.name for s in sources for info in s.summary.shown() if info.main))
    labels = {info.name: info.label for s in sources for info in s.summary.figures}
    rows = [
        {
            "parser": parser,
            "spec": source.summary.protocol,
            "values": [_shown(source.summary, parser, name) for name in names],
        }
        for parser in sorted({p for s in sources for p in s.summary.parsers})
        for source in sources
    ]
    profiles = [p for s in sources if (p := _published(s)) is not None]
    switches = [
        {"name": name, "sentence": sentence, "values": [_word(getattr(p, name)) for p in profiles]}
        for name, sentence in switch_sentences().items()
        if len({getattr(p, name) for p in profiles}) > 1
    ]
    site.page(
        "profiles",
        current="profiles",
        figures=[labels[name] for name in names],
        rows=rows,
        profiles=[p.name for p in profiles],
        switches=switches,
    )


def _published(source: Source) -> Profile | None:
    protocol = get_protocol(source.summary.protocol)
    assert isinstance(protocol, DocumentProtocol)
    return None if protocol.profile == "strict" else get_profile(protocol.profile)


def _shown(summary: Summary, parser: str, name: str) -> str:
    figure = summary.figure(parser, name)
    if figure is None or figure.value is None:
        return "–"
    return f"{figure.value:g}" if summary.info(name).style == "count" else f"{figure.value:.3f}"


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "any" if value is None else str(value)


def _is_strict(source: Source) -> bool:
    protocol = get_protocol(source.summary.protocol)
    return isinstance(protocol, DocumentProtocol) and protocol.profile == "strict"


def _view(truth: Page, prediction: Prediction, source: Source) -> dict[str, Any]:
    from parsemark.errors import FormatError
    from parsemark.metrics.coverage import text_coverage
    from parsemark.protocols.document.strict.page import Side, match_page, pred_side, truth_side

    message = prediction.message
    try:
        pred = pred_side(prediction) if prediction.status is Status.OK else Side()
    except FormatError as error:
        pred, message = Side(), str(error)
    left = truth_side(truth)
    page = match_page(left, pred)
    boxes: list[dict[str, Any]] = []
    rows: list[Row] = []
    placed: list[tuple[float, Box]] = []
    for match in page.blocks:
        truths = [left.blocks[t].element for t in match.truths]
        preds = [pred.blocks[p].element for p in match.preds]
        texts = (
            "".join(left.blocks[t].text for t in match.truths),
            "".join(pred.blocks[p].text for p in match.preds),
        )
        similarity = _similarity(*texts) if truths and preds else None
        kind = _kind(truths, preds, match.is_moved)
        number = len(rows) + 1 if truths else None
        rows.append(_row(kind, number, similarity, truths, preds))
        for element in truths:
            if element.box is not None:
                boxes.append({"box": element.box, "kind": kind, "number": number})
                if preds and preds[0].order is not None and element.order is not None:
                    placed.append((preds[0].order, element.box))
    true_tables, pred_tables = ({e.id: e for e in side.tables} for side in (left, pred))
    for found in page.tables.matching.matches:
        kind = "miss" if not found.pred else "extra" if not found.truth else "pair"
        number = len(rows) + 1 if found.truth else None
        shown = (
            [true_tables[t] for t in found.truth if t in true_tables],
            [pred_tables[p] for p in found.pred if p in pred_tables],
        )
        texts = _table_text(shown[0]), _table_text(shown[1])
        rows.append(Row(kind, "table", number, found.overlap, *texts, (), None, None))
        for element in shown[0]:
            if element.box is not None:
                boxes.append({"box": element.box, "kind": kind, "number": number})
                if shown[1] and shown[1][0].order is not None:
                    placed.append((shown[1][0].order, element.box))
    cover = text_coverage([b.text for b in left.blocks], [b.text for b in pred.blocks])
    edits = get_protocol("document").score_page(truth, prediction, None).scores
    values = {s.metric: s.value for s in edits if s.element == "" and s.value is not None}
    ordered = sorted((e for e in truth.elements if e.order is not None and e.box), key=lambda e: e.order or 0)
    return {
        "boxes": boxes,
        "rows": rows,
        "true_path": _path([e.box for e in ordered if e.box is not None]),
        "pred_path": _path([box for _, box in sorted(placed, key=lambda pair: pair[0])]),
        "message": message,
        "status": str(prediction.status),
        "lost": [left.blocks[b].text[start:end] for b, start, end in cover.lost_places][:40],
        "figures": [(i.label, values[i.name]) for i in source.summary.figures if i.name in values],
        "text_edit": f"{values['text_edit']:.3f}" if "text_edit" in values else "–",
    }


def _kind(truths: Sequence[Element], preds: Sequence[Element], moved: bool) -> str:
    if not preds:
        return "miss"
    if not truths:
        return "extra"
    if moved:
        return "moved"
    return "pair" if len(truths) == len(preds) == 1 else "split" if len(truths) == 1 else "merge"


def _similarity(a: str, b: str) -> float:
    from parsemark.matching.adjacency import ned

    return 1 - ned(a, b)


def _content(elements: Sequence[Element]) -> str:
    return "\n".join(e.text or e.latex or "" for e in elements)[:MAX_DIFF]


def _table_text(elements: Sequence[Element]) -> str:
    cells = [c.text for e in elements if e.table is not None for c in e.table.cells]
    return " | ".join(cells)[:600]


def _row(
    kind: str,
    number: int | None,
    similarity: float | None,
    truths: Sequence[Element],
    preds: Sequence[Element],
) -> Row:
    a, b = _content(truths), _content(preds)
    is_formula = any(e.latex and not e.text for e in (*truths, *preds))
    return Row(
        kind,
        str((truths or preds)[0].category),
        number,
        similarity,
        a,
        b,
        tuple(_diff(a, b)) if truths and preds else (),
        mathml(a) if is_formula and a else None,
        mathml(b) if is_formula and b else None,
    )


def _diff(a: str, b: str) -> Iterator[tuple[str, str]]:
    """Runs of words that are equal, only in the truth, or only in the prediction."""
    left, right = _WORDS.findall(a), _WORDS.findall(b)
    for tag, i0, i1, j0, j1 in difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag == "equal":
            yield "same", "".join(left[i0:i1])
            continue
        if i1 > i0:
            yield "lost", "".join(left[i0:i1])
        if j1 > j0:
            yield "new", "".join(right[j0:j1])


def _path(boxes: Sequence[Box]) -> str:
    return " ".join(f"{(b.x0 + b.x1) / 2:.1f},{(b.y0 + b.y1) / 2:.1f}" for b in boxes)
