"""`omni-parse-bench:DIR`: yes/no tests on single pages (Datalab).

    DIR/manifest.parquet       page_id, document, suite, doc_path, gt_path, outputs
    DIR/pages/PAGE.pdf         or .png
    DIR/gold/PAGE.json         {"tests": [{"id", "test_type", "output_type", "derivation", "tags", …}]}

Tests become facts; suites are attributes of pages. Without a manifest every gold file is a page of its own.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from parsemark.corpora import MALFORMED, Corpus, Remark
from parsemark.corpora.loaders import (
    SampleIds,
    files_inside,
    first_page_size,
    read_each,
    read_json,
    require_inside,
)
from parsemark.errors import CorpusError
from parsemark.model import Box, Fact, Page, Sample
from parsemark_boards.omni_parse.rules import DERIVATIONS, KINDS, RULES, check_test
from parsemark_boards.refused_lines import FactLines


def load(root: Path) -> Corpus:
    """Load the tests of the folder; one that upstream would refuse costs itself."""
    remarks: list[Remark] = []
    gold = files_inside(root / "gold", "*.json", remarks, of="a folder of Omni Parse Bench")
    rows = _manifest(root)
    seen: set[str] = set()

    def read(path: Path, ids: SampleIds) -> list[Sample]:
        return [_sample(root, path, rows.get(path.stem, {}), ids, seen, remarks)]

    samples = read_each(root, gold, read, remarks)
    known = {path.stem for path in gold}
    remarks += [Remark(f"gold/{key}.json", "is not there.") for key in rows if key not in known]
    return Corpus.of(RULES, samples, root=root, version="1", licence="per source", remarks=remarks)


def _manifest(root: Path) -> dict[str, Mapping[str, Any]]:
    path = root / "manifest.parquet"
    if not path.is_file():
        return {}
    import polars as pl

    try:
        table = pl.read_parquet(require_inside(root, path))
        return {str(row["page_id"]): row for row in table.iter_rows(named=True)}
    except (pl.exceptions.PolarsError, KeyError) as error:
        raise CorpusError(f"{path} cannot be read: {error}") from error


def _sample(
    root: Path, path: Path, row: Mapping[str, Any], ids: SampleIds, seen: set[str], remarks: list[Remark]
) -> Sample:
    data = read_json(path)
    tests = data.get("tests") if isinstance(data, dict) else None
    if not isinstance(tests, list):
        raise CorpusError('it is not of the form {"tests": […]}')
    pages = {suffix: root / "pages" / f"{path.stem}{suffix}" for suffix in (".pdf", ".png")}
    files = {s: require_inside(root, page) for s, page in pages.items() if page.is_file()}
    pdf = files.get(".pdf")
    width, height = first_page_size(pdf)
    lines = FactLines(f"gold/{path.name}", KINDS)
    facts = []
    for number, test in enumerate(tests, 1):
        if lines.kind_of(test, "test_type", number) is None:
            continue
        try:
            facts.append(_fact(test, seen, width, height))
        except (CorpusError, *MALFORMED) as error:
            lines.refused(error, number)
    remarks += lines.remarks()
    identifier = ids.make(path.stem)
    attributes = {"suite": str(row["suite"])} if row.get("suite") else {}
    truth = Page(identifier, width, height, attributes=attributes, facts=tuple(facts), only_facts=True)
    return Sample(identifier, str(row.get("document") or path.stem), 1, truth, pdf, files.get(".png"))


def _fact(test: Mapping[str, Any], seen: set[str], width: float, height: float) -> Fact:
    kind, args, settings = test["test_type"], test["args"], test["settings"]
    if test["derivation"] not in DERIVATIONS or not isinstance(test["id"], str) or test["id"] in seen:
        raise CorpusError("its derivation is unknown, or its id is no text or occurs more than once")
    check_test(kind, args, settings)
    seen.add(test["id"])
    content = args.get("content") or args.get("cell") or {}
    boxes = content.get("place", []) if isinstance(content, dict) else []
    box = None
    if boxes:
        x0, y0, x1, y1 = (list(side) for side in zip(*boxes, strict=True))
        box = Box(min(x0) * width, min(y0) * height, max(x1) * width, max(y1) * height)
    arguments = {"args": args, "settings": settings}
    tags = tuple(str(tag) for tag in test["tags"])
    return Fact(test["id"], kind, RULES, arguments, derivation=test["derivation"], tags=tags, box=box)
