r"""`parsebench:DIR`: rules on documents (LlamaIndex).

    DIR/*.jsonl            {"pdf": "docs/text/a.pdf", "category": "text_content", "id": "…", "type": "order",
                            "rule": "{…}", "page": 1, "expected_markdown": "…", "tags": […]}
    DIR/docs/text/a.pdf

Every PDF is a sample, its first page; its rules are facts, grouped by category. Where the PDFs are missing,
outputs can be imported.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from parsemark.corpora import MALFORMED, Corpus, Remark
from parsemark.corpora.loaders import (
    SampleIds,
    first_page_size,
    read_text,
    require_inside,
    require_some,
    skip_with_remark,
)
from parsemark.errors import CorpusError
from parsemark.model import Box, Fact, Page, Sample
from parsemark_boards.parsebench.protocol import CASES, FLAGS, KINDS, RULES, is_known
from parsemark_boards.reference_pages import benchmark_corpus
from parsemark_boards.refused_lines import FactLines

_OTHERS = ("layout", "expected_markdown")


def load(root: Path) -> Corpus:
    """Load the rows of the folder; one that cannot be read costs itself."""
    remarks: list[Remark] = []
    paths = sorted(path for path in root.glob("*.jsonl") if path.is_file())
    if not paths:
        raise CorpusError(f"{root} has no *.jsonl. Is this a folder of ParseBench?")
    rows: dict[str, list[dict[str, Any]]] = {}
    for path in paths:
        lines = FactLines(path.name, KINDS)
        for row in _rows(path, lines):
            rows.setdefault(row["pdf"], []).append(row)
        remarks += lines.remarks()
    ids = SampleIds()
    samples: list[Sample] = []
    for pdf, own in sorted(rows.items()):
        with skip_with_remark(remarks, root, root / pdf):
            samples.append(_sample(root, pdf, own, ids))
    require_some(samples, remarks, root)
    return benchmark_corpus(RULES, samples, root, remarks, "Apache-2.0")


def _rows(path: Path, lines: FactLines) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            rule = row.get("rule") or {}
            rule = json.loads(rule) if isinstance(rule, str) else dict(rule)
            kind = str(row["type"])
            if not isinstance(row["pdf"], str) or not isinstance(rule, dict):
                raise CorpusError("its pdf or rule is not of the right form")
            if kind == "layout":
                _box(rule)
        except (CorpusError, RecursionError, *MALFORMED) as error:
            lines.refused(error, number)
            continue
        if kind not in _OTHERS and not is_known(kind):
            lines.unknown(kind, number)
            continue
        yield {**row, "rule": rule, "category": str(row.get("category") or path.stem), "number": number}


def _box(rule: dict[str, Any], width: float = 1.0, height: float = 1.0) -> Box:
    x, y, w, h = (float(v) for v in rule["bbox"])
    return Box(x, y, x + w, y + h).scaled(width, height)


def _sample(root: Path, pdf: str, rows: list[dict[str, Any]], ids: SampleIds) -> Sample:
    path: Path | None = require_inside(root, root / pdf)
    if path is None or not path.is_file() or path.suffix.lower() != ".pdf":
        path = None
    width, height = first_page_size(path)
    cases: dict[str, dict[str, Any]] = {}
    facts = []
    for row in rows:
        rule, kind, category = row["rule"], row["type"], row["category"]
        case = cases.setdefault(category, {"flags": {}})
        case["flags"] |= {key: rule[key] for key in FLAGS if key in rule}
        if row.get("expected_markdown") and "expected_markdown" not in case:
            case["expected_markdown"] = str(row["expected_markdown"])
        if kind == "expected_markdown":
            continue
        box = _box(rule, width, height) if kind == "layout" else None
        arguments = {key: value for key, value in rule.items() if key not in ("type", *FLAGS)}
        if row.get("page") is not None:
            arguments["page"] = row["page"]
        identifier = f"{category}/{row['number']}"
        tags = tuple(str(tag) for tag in row.get("tags") or ())
        facts.append(Fact(identifier, kind, RULES, arguments, 1, group=category, tags=tags, box=box))
    stem = pdf.removesuffix(".pdf")
    page = Page(ids.make(stem), width, height, annotation={CASES: cases}, facts=tuple(facts), only_facts=True)
    return Sample(page.id, stem, 1, page, path, aliases=(stem, stem.rpartition("/")[2]))
