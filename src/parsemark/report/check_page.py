"""What `parsemark check` found: a page with the PDF beside the output, and the summary of a folder."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from parsemark.errors import ParsemarkError, PdfError
from parsemark.extras import require
from parsemark.pdf import TRAITS, page_jpegs
from parsemark.plain_words import counted, visible
from parsemark.system.files import write_text
from parsemark.verdicts.check import KINDS, CheckedPage, CheckFinding, PdfCheck, check
from parsemark.verdicts.check.batch import BatchSummary

_DPI, _FRAME = 110, (900, 1300)
_MAX_PICTURES = 300
"""Pages of which a picture is shown: each takes about 100 kB."""
_MOST_PAGES = 20
"""Pages of a batch's worst documents that are written."""
_MAX_TEXT, _MAX_WORDS = 60_000, 200
"""Characters of an output, and of a finding, that are shown."""
_SCRIPT = """
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-f]");
  if (!link) return;
  event.preventDefault();
  for (const old of document.querySelectorAll(".now")) old.classList.remove("now");
  const all = document.querySelectorAll(`[data-f="${link.dataset.f}"]`);
  for (const one of all) {
    one.classList.add("now");
    const panel = one.closest(".panel");
    if (panel && one !== link) {
      const place = one.getBoundingClientRect(), frame = panel.getBoundingClientRect();
      panel.scrollTop += place.top - frame.top - panel.clientHeight / 3;
    }
  }
});
"""


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of an output, with the number of the finding that it belongs to."""

    text: str
    finding: int | None = None
    kind: str = ""
    is_gap: bool = False
    """Whether the finding is text that should stand behind it."""


def check_page(found: PdfCheck, pdf: Path) -> str:
    """Return a self-contained page without anything that is loaded from elsewhere."""
    require("bench", "A page of findings", only=["jinja2", "PIL"])
    from parsemark.report.site import standalone_page

    is_short = len(found.pages) <= _MAX_PICTURES
    pages: list[dict[str, Any]] = []
    number = n_pictures = 0
    for page, text in zip(found.pages, found.texts, strict=True):
        numbered = list(enumerate(page.findings, start=number))
        number += len(numbered)
        is_shown = (is_short or bool(numbered)) and n_pictures < _MAX_PICTURES
        n_pictures += is_shown
        pages.append(
            {
                "number": page.number,
                "judged_by": visible(page.judged_by),
                "picture": _picture(pdf, page) if is_shown else None,
                "boxes": list(_boxes(page, numbered)),
                "pieces": list(_pieces(text[:_MAX_TEXT], numbered)),
                "is_cut": len(text) > _MAX_TEXT,
                "findings": [_row(k, finding) for k, finding in numbered],
                "title": counted(len(numbered), "finding") if numbered else "no finding",
            }
        )
    digest = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
    return standalone_page(
        "check.html",
        verdict=found.verdict,
        hidden=f"{counted(found.hidden, 'finding')} under certainty {found.certain:g} hidden."
        if found.hidden
        else "",
        pdf=visible(Path(found.pdf).name),
        output=visible(Path(found.output).name),
        pages=pages,
        kinds=KINDS,
        script=_SCRIPT,
        digest=digest,
    )


def _picture(pdf: Path, page: CheckedPage) -> str | None:
    try:
        (jpeg,) = page_jpegs(pdf, page.number, _DPI, [_FRAME])
    except PdfError:
        return None
    return f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode()}"


def _row(number: int, finding: CheckFinding) -> dict[str, Any]:
    return {
        "number": number,
        "kind": finding.kind,
        "name": f"{finding.kind} {finding.detail}"
        if finding.kind in ("cell", "table")
        else finding.detail or " ".join((finding.kind.replace("_", " "), finding.region)).strip(),
        "certainty": f"{100 * finding.certainty:.0f} %",
        "text": visible(finding.text[:_MAX_WORDS]),
        "output": visible(finding.output[:_MAX_WORDS]),
        "severity": finding.severity,
        "line": finding.line,
    }


def _boxes(page: CheckedPage, numbered: Sequence[tuple[int, CheckFinding]]) -> Iterator[dict[str, Any]]:
    """Yield places of findings in per cent of the page."""
    if not page.width or not page.height:
        return
    for number, finding in numbered:
        for x0, y0, x1, y1 in finding.boxes:
            yield {
                "number": number,
                "kind": finding.kind,
                "title": visible(f"{finding.kind}: {finding.text[:_MAX_WORDS]}"),
                "left": round(100 * x0 / page.width, 2),
                "top": round(100 * y0 / page.height, 2),
                "width": round(100 * (x1 - x0) / page.width, 2),
                "height": round(100 * (y1 - y0) / page.height, 2),
            }


def _pieces(text: str, numbered: Sequence[tuple[int, CheckFinding]]) -> Iterator[TextPiece]:
    """Yield the text in pieces; of findings at the same place the first is marked."""
    placed = [(finding.span, number, finding) for number, finding in numbered if finding.span is not None]
    placed.sort(key=lambda one: (one[0][1 if one[2].kind == "lost" else 0], one[1]))
    at = 0
    for (start, end), number, finding in placed:
        is_gap = finding.kind == "lost"
        begin = end if is_gap else start
        if begin < at or begin > len(text):
            continue
        if begin > at:
            yield TextPiece(visible(text[at:begin]))
        shown = "⟨…⟩" if is_gap else visible(text[begin:end])
        yield TextPiece(shown, number, finding.kind, is_gap)
        at = begin if is_gap else end
    yield TextPiece(visible(text[at:]))


def write_batch_pages(
    summary: BatchSummary,
    pdfs: Path,
    outputs: Mapping[str, Path],
    out: Path,
    *,
    ocr: Literal["auto", "off"] = "auto",
    certain: float = 0.75,
) -> Path:
    """Write the summary of a batch as `index.html`, and the pages of its worst documents beside it."""
    from parsemark.report.site import standalone_page
    from parsemark.system import make_folder

    data = summary.to_json()
    make_folder(out, "worst")
    data["worst"] = [{**entry, "document": visible(entry["document"])} for entry in data["worst"]]
    for number, entry in enumerate(summary.worst[:_MOST_PAGES], start=1):
        document = entry["document"]
        try:
            found = check(pdfs / document, outputs[document], ocr=ocr, certain=certain)
        except ParsemarkError:
            continue  # it has changed since
        name = f"worst/{number}.html"
        write_text(out / name, check_page(found, pdfs / document))
        data["worst"][number - 1]["page"] = name
    data["failed"] = [{name: visible(value) for name, value in entry.items()} for entry in data["failed"]]
    page = out / "index.html"
    kinds = [kind for kind in KINDS if data["counts"].get(kind)]
    own = {"statuses": summary.statuses_in_words(), "kinds": kinds, "types": _telling_types(data)}
    write_text(page, standalone_page("check_summary.html", s=data, **own))
    return page


def _telling_types(data: Mapping[str, Any]) -> dict[str, Mapping[str, int]]:
    """Return the sums by page type, of traits in which pages differ."""
    return {
        visible(f"{TRAITS[trait]}: {value}"): own
        for trait, by_value in data["by_type"].items()
        if len(by_value) > 1
        for value, own in by_value.items()
    }
