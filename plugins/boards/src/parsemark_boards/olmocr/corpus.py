r"""`olmocr-bench:DIR`: unit tests on pages (Allen AI).

    DIR/*.jsonl            {"pdf": "sub/a.pdf", "page": 1, "id": "…", "type": "present", "text": "…", …}
    DIR/pdfs/sub/a.pdf

Every page of a PDF is a sample, with its tests as facts; a PDF without a baseline test gets one, as upstream
does it. Where the PDFs are missing, the pages that tests name are samples whose outputs can be imported.
Candidates' folders are imported as they are: `sub/a_pg1_repeat1.md`.
"""

from pathlib import Path
from typing import Any

from parsemark.corpora import Corpus, Remark
from parsemark.corpora.loaders import (
    SampleIds,
    files_inside,
    read_text,
    require_inside,
    require_some,
    skip_with_remark,
)
from parsemark.errors import CorpusError
from parsemark.model import Fact, Page, Sample
from parsemark.pdf import page_shapes
from parsemark_boards.olmocr.truth import BASELINE, KINDS, RULES, baseline_of, read_test
from parsemark_boards.refused_lines import RefusedLines, unknown_pages, why_outside

_PLACE = ("pdf", "page", "id", "type")
FactsByPage = dict[tuple[str, int], list[Fact]]


def load(root: Path) -> Corpus:
    """Load olmOCR-bench: pages with yes/no tests of their content.

    Tests that the benchmark would refuse are left out.
    """
    remarks: list[Remark] = []
    tests = _tests(root, remarks)
    found = files_inside(require_inside(root, root / "pdfs"), "*.pdf", remarks)
    pdfs = {path.relative_to(root / "pdfs").as_posix(): path for path in found}
    named = dict.fromkeys([*pdfs, *(test["pdf"] for test, _ in tests)])
    based = {test["pdf"] for test, _ in tests if test["type"] == BASELINE}
    tests += [(baseline_of(pdf), BASELINE) for pdf in named if pdf not in based]
    by_page: FactsByPage = {}
    for test, group in tests:
        arguments = {key: value for key, value in test.items() if key not in _PLACE}
        identifier = f"{group.removesuffix('.jsonl')}/{test['id']}"  # ids repeat between files
        fact = Fact(identifier, test["type"], RULES, arguments, test["page"], group=group)
        by_page.setdefault((test["pdf"], test["page"]), []).append(fact)
    ids = SampleIds()
    samples: list[Sample] = []
    for pdf in sorted(named):
        with skip_with_remark(remarks, root, root / "pdfs" / pdf):
            samples += _samples(pdf, pdfs.get(pdf), by_page, ids, remarks)
    require_some(samples, remarks, root)
    missing = [pdf for pdf in named if pdf not in pdfs]
    if not pdfs:
        remarks.append(Remark("pdfs", "has no PDF: outputs can be imported, not parsed.", left_out=False))
    elif missing:
        listed = ", ".join(missing[:3]) + (", …" if len(missing) > 3 else "")
        why = f"{len(missing)} of {len(named)} PDFs are not there ({listed}): they cannot be parsed."
        remarks.append(Remark("pdfs", why, left_out=False))
    return Corpus.of(RULES, samples, root=root, version="1", licence="ODC-BY-1.0", remarks=remarks)


def _tests(root: Path, remarks: list[Remark]) -> list[tuple[dict[str, Any], str]]:
    """Return the tests that can be used, each with its file's name."""
    paths = files_inside(root, "*.jsonl", remarks, of="a folder of olmOCR-bench", deep=False)
    found: list[tuple[dict[str, Any], str]] = []
    for path in paths:
        refused = RefusedLines(path.name, KINDS)
        seen: set[str] = set()
        for number, test in refused.json_lines(read_text(path)):
            if refused.kind_of(test, "type", number) is None:
                continue
            try:
                read_test(test)
            except CorpusError as error:
                refused.add(str(error), number)
                continue
            if why := _unanswerable(test) or (
                "its id occurs more than once" if str(test["id"]) in seen else ""
            ):
                refused.add(why, number)
                continue
            seen.add(str(test["id"]))
            found.append((test, path.name))
        remarks += refused.remarks()
    return found


def _unanswerable(test: dict[str, Any]) -> str:
    """Return why no output can answer a test; upstream loads it and fails it for everyone."""
    page, pdf = test["page"], test["pdf"]
    if type(page) is not int or page < 1:
        return f"its page must be a whole number from 1; got {str(page)[:40]!r}"
    return why_outside(pdf)


def _samples(
    pdf: str, path: Path | None, facts: FactsByPage, ids: SampleIds, remarks: list[Remark]
) -> list[Sample]:
    named = sorted(page for name, page in facts if name == pdf)
    shapes = {n: (s.width, s.height) for n, s in enumerate(page_shapes(path), 1)} if path else {}
    if shapes:
        remarks += unknown_pages(pdf, named, len(shapes))
    samples = []
    stem = pdf.removesuffix(".pdf")
    for page in sorted(shapes) or named:
        identifier = ids.make(stem, page)
        width, height = shapes.get(page, (1.0, 1.0))
        own = tuple(facts.get((pdf, page), ()))
        truth = Page(identifier, width, height, facts=own, only_facts=True)
        aliases = (f"{stem}_pg{page}_repeat1", f"{stem.rpartition('/')[2]}_pg{page}_repeat1")
        samples.append(Sample(identifier, stem, page, truth, path, aliases=aliases))
    return samples
