"""`omni-parse-bench:DIR`: yes/no tests on single pages (Datalab).

    DIR/manifest.parquet       page_id, document, suite, doc_path, gt_path, outputs
    DIR/pages/PAGE.pdf         or .png
    DIR/gold/PAGE.json         {"tests": [{"id", "test_type", "output_type", "derivation", "tags", …}]}

Tests become facts; suites are attributes of pages. Without a manifest every gold file is a page of its own.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from parsemark.corpora import Corpus, Remark
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
from parsemark_boards.omni_parse.truth import KINDS, RULES, GoldTest
from parsemark_boards.refused_lines import RefusedLines

_COLUMNS = ("page_id", "document", "suite")
_MAX_ROWS = 200_000
_MAX_MANIFEST_BYTES = 64 * 2**20
_MAX_NAME = 500


def load(root: Path) -> Corpus:
    """Load Omni Parse Bench: documents with yes/no tests of their content.

    Tests that the benchmark would refuse are left out.
    """
    remarks: list[Remark] = []
    gold = files_inside(
        require_inside(root, root / "gold"), "*.json", remarks, of="a folder of Omni Parse Bench"
    )
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
        rows = pl.scan_parquet(require_inside(root, path))
        columns = [name for name in _COLUMNS if name in rows.collect_schema().names()]
        n_rows, n_bytes = rows.select(pl.len()).collect().item(), path.stat().st_size
        if n_rows > _MAX_ROWS or n_bytes > _MAX_MANIFEST_BYTES:
            raise CorpusError(
                f"{path} has {n_rows:,} rows in {n_bytes:,} bytes; at most {_MAX_ROWS:,} are read."
            )
        table = rows.select(pl.col(columns).cast(pl.String).str.slice(0, _MAX_NAME)).collect()
        return {row["page_id"]: row for row in table.iter_rows(named=True)}
    except (pl.exceptions.PolarsError, KeyError, OSError) as error:
        raise CorpusError(f"{path} cannot be read: {error}") from error
    except BaseException as error:
        if type(error).__name__ == "PanicException":  # how polars' Rust code gives up on a file
            raise CorpusError(f"{path} cannot be read: {error}") from error
        raise


def _sample(
    root: Path, path: Path, row: Mapping[str, Any], ids: SampleIds, seen: set[str], remarks: list[Remark]
) -> Sample:
    data = read_json(path)
    tests = data.get("tests") if isinstance(data, dict) else None
    if not isinstance(tests, list):
        raise CorpusError('it must have the form {"tests": […]}')
    pages = {suffix: root / "pages" / f"{path.stem}{suffix}" for suffix in (".pdf", ".png")}
    files = {s: require_inside(root, page) for s, page in pages.items() if page.is_file()}
    pdf = files.get(".pdf")
    width, height = first_page_size(pdf)
    refused = RefusedLines(f"gold/{path.name}", KINDS)
    facts = []
    for number, test in enumerate(tests, 1):
        if refused.kind_of(test, "test_type", number) is None:
            continue
        if (line := refused.read(test, GoldTest, number)) is None:
            continue
        if line.id in seen:
            refused.add("its id occurs more than once", number)
            continue
        seen.add(line.id)
        facts.append(_fact(line, width, height))
    remarks += refused.remarks()
    identifier = ids.make(path.stem)
    attributes = {"suite": str(row["suite"])} if row.get("suite") else {}
    truth = Page(identifier, width, height, attributes=attributes, facts=tuple(facts), only_facts=True)
    return Sample(identifier, str(row.get("document") or path.stem), 1, truth, pdf, files.get(".png"))


def _fact(test: GoldTest, width: float, height: float) -> Fact:
    content = test.args.get("content") or test.args.get("cell") or {}
    boxes = content.get("place", [])
    box = None
    if boxes:
        x0, y0, x1, y1 = (list(side) for side in zip(*boxes, strict=True))
        box = Box(min(x0) * width, min(y0) * height, max(x1) * width, max(y1) * height)
    arguments = {"args": test.args, "settings": test.settings}
    tags = tuple(str(tag) for tag in test.tags)
    return Fact(test.id, test.test_type, RULES, arguments, derivation=test.derivation, tags=tags, box=box)
