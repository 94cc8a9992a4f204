r"""`parsebench:DIR`: rules on documents (LlamaIndex).

    DIR/*.jsonl            {"pdf": "docs/text/a.pdf", "category": "text_content", "id": "…", "type": "order",
                            "rule": "{…}", "page": 1, "expected_markdown": "…", "tags": […]}
    DIR/docs/text/a.pdf

Every PDF is a sample, its first page; its rules are facts, grouped by category. Where the PDFs are missing,
outputs can be imported.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from parsemark.corpora import Corpus, Remark
from parsemark.corpora.loaders import (
    SampleIds,
    files_inside,
    first_page_size,
    read_text,
    require_inside,
    require_some,
    skip_with_remark,
)
from parsemark.model import Box, Fact, Page, Sample
from parsemark_boards.parsebench.protocol import KINDS, is_known
from parsemark_boards.parsebench.truth import CASES, LAYOUT, RULES, CaseFlags, LayoutRule, RuleLine
from parsemark_boards.reference_pages import benchmark_corpus
from parsemark_boards.refused_lines import RefusedLines, why_outside

_MARKDOWN = "expected_markdown"  # the type of lines that have no rule
_FLAGS = tuple(CaseFlags.model_fields)


class NumberedRule(NamedTuple):
    """A line of a file."""

    number: int
    category: str
    line: RuleLine


def load(root: Path) -> Corpus:
    """Load ParseBench: documents with rules about tables, charts, text and layout.

    Lines that cannot be read are left out.
    """
    remarks: list[Remark] = []
    paths = files_inside(root, "*.jsonl", remarks, of="a folder of ParseBench", deep=False)
    rules: dict[str, list[NumberedRule]] = {}
    for path in paths:
        refused = RefusedLines(path.name, KINDS)
        for rule in _rules(path, refused):
            rules.setdefault(rule.line.pdf, []).append(rule)
        remarks += refused.remarks()
    ids = SampleIds()
    samples: list[Sample] = []
    for pdf, own in sorted(rules.items()):
        with skip_with_remark(remarks, root, root / pdf):
            samples.append(_sample(root, pdf, own, ids))
    require_some(samples, remarks, root)
    return benchmark_corpus(RULES, samples, root, remarks, "Apache-2.0")


def _rules(path: Path, refused: RefusedLines) -> Iterator[NumberedRule]:
    for number, data in refused.json_lines(read_text(path)):
        line = refused.read(data, RuleLine, number)
        if line is not None and (why := why_outside(line.pdf)):
            refused.add(why, number)
            continue
        if line is None or refused.read(_flags(line.rule), CaseFlags, number) is None:
            continue
        if line.type == LAYOUT:
            if refused.read(line.rule, LayoutRule, number) is None:
                continue
        elif line.type != _MARKDOWN and not is_known(line.type):
            refused.unknown(line.type, number)
            continue
        yield NumberedRule(number, line.category or path.stem, line)


def _flags(rule: dict[str, Any]) -> dict[str, Any]:
    return {key: rule[key] for key in _FLAGS if key in rule}


def _sample(root: Path, pdf: str, rules: list[NumberedRule], ids: SampleIds) -> Sample:
    path: Path | None = require_inside(root, root / pdf)
    if path is None or not path.is_file() or path.suffix.lower() != ".pdf":
        path = None
    width, height = first_page_size(path)
    cases: dict[str, dict[str, Any]] = {}
    facts = []
    for number, category, line in rules:
        case = cases.setdefault(category, {"flags": {}})
        case["flags"] |= _flags(line.rule)
        if line.expected_markdown and "expected_markdown" not in case:
            case["expected_markdown"] = line.expected_markdown
        if line.type == _MARKDOWN:
            continue
        box = None
        if line.type == LAYOUT:
            x, y, w, h = line.rule["bbox"]
            box = Box(x, y, x + w, y + h).scaled(width, height)
        arguments = {key: value for key, value in line.rule.items() if key not in ("type", *_FLAGS)}
        if line.page is not None:
            arguments["page"] = line.page
        tags = tuple(str(tag) for tag in line.tags or ())
        identifier = f"{category}/{number}"
        facts.append(Fact(identifier, line.type, RULES, arguments, 1, group=category, tags=tags, box=box))
    stem = pdf.removesuffix(".pdf")
    page = Page(ids.make(stem), width, height, annotation={CASES: cases}, facts=tuple(facts), only_facts=True)
    return Sample(page.id, stem, 1, page, path, aliases=(stem, stem.rpartition("/")[2]))
