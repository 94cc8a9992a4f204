"""What real parsers wrote: 19 tables by 15 parsers, and whole pages."""

import json
from pathlib import Path

import pytest

from parsemark.formats import read_table, read_tables

pytestmark = pytest.mark.conformance


def announced_format(text: str) -> str | None:
    """The format, as a person sees at once that it is; None for an empty extraction."""
    lowered = text.lower()
    if "<table" in lowered:
        return "html"
    if "\\begin{tabular" in lowered:
        return "latex"
    return "markdown" if "|" in text else None


def test_the_format_of_every_extraction_is_found(reference_data: Path) -> None:
    tables = json.loads((reference_data / "human-ratings" / "tables.json").read_text())
    texts = [e["extracted_table"] or "" for t in tables for e in t["extractions"]]
    wrong = []
    for text in texts:
        formats = {found.format for found in read_tables(text)}
        expected = announced_format(text)
        if formats != ({expected} if expected else set()):
            wrong.append((expected, formats, text[:200]))
    assert len(texts) == 283
    assert wrong == []


def test_most_extractions_have_the_size_of_the_truth(reference_data: Path) -> None:
    tables = json.loads((reference_data / "human-ratings" / "tables.json").read_text())
    same = total = 0
    for entry in tables:
        truth = read_table(entry["gt_table_html"])
        for extraction in entry["extractions"]:
            found = read_tables(extraction["extracted_table"] or "")
            if not found:
                continue
            total += 1
            sizes = [(f.table.n_rows, f.table.n_cols) for f in found]
            same += sizes == [(truth.n_rows, truth.n_cols)]
    # The others were looked at one by one: the parsers themselves lost, added or merged rows and columns.
    assert (total, same) == (261, 204)


def test_pages_have_tables_where_their_truth_has_them(reference_data: Path) -> None:
    folder = reference_data / "omnidocbench-demo"
    pages = json.loads((folder / "OmniDocBench_demo.json").read_text())
    for page in pages:
        name = Path(page["page_info"]["image_path"]).stem
        n_truth = sum(det["category_type"] == "table" for det in page["layout_dets"])
        found = read_tables((folder / "predictions" / f"{name}.md").read_text())
        # One page has a grid of words that its truth takes for text.
        assert len(found) == n_truth or name == "jiaocaineedrop_jiaocai_needrop_en_3361"
