"""The published profiles against worked examples and result files of the reference programs."""

import json
import math
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from parsemark.protocols.document.omnidocbench import (
    cdm,
    formulas,
    normalise,
    quick_match,
    records,
    rows,
    table_html,
)
from parsemark.protocols.document.omnidocbench.extract import extract
from parsemark.protocols.document.omnidocbench.measures import (
    MeasuredRecords,
    measure_pages,
    measure_table,
    measure_text,
    metric_result,
)
from parsemark.protocols.document.omnidocbench.normalise import safe_text
from parsemark.protocols.document.omnidocbench.page import page_records, reading_order
from parsemark.protocols.document.omnidocbench.profile import PROFILES, Profile
from parsemark.protocols.document.omnidocbench.records import MarkdownItem, Record, Truth

pytestmark = pytest.mark.conformance

DATA = Path(os.environ.get("PARSEMARK_DATA", ""))
EXAMPLES = DATA.parent / "reference" / "omnidocbench-examples.json"
DEMO = DATA / "omnidocbench-demo"
FIELDS = (
    "gt_idx", "pred_idx", "gt", "pred", "norm_gt", "norm_pred", "edit", "gt_position", "pred_position",
    "gt_category_type", "pred_category_type",
)  # fmt: skip


def _examples() -> list[Any]:
    if not EXAMPLES.is_file():
        return []
    listed = json.loads(EXAMPLES.read_text())
    return [
        pytest.param(example, PROFILES[version], id=f"{example['id']}-{version}-{number}")
        for number, example in enumerate(listed)
        for version in example["version"].split(", ")
        if _runner(example["step"]) is not None
    ]


def _page(data: Any) -> dict[str, Any]:
    dets = (
        data if isinstance(data, list) else data.get("layout_dets", data.get("layout_dets (anno_id = index)"))
    )
    relation = [] if isinstance(data, list) else data.get("relation", [])
    return {
        "layout_dets": [{"anno_id": i, "ignore": False, "attribute": {}, **d} for i, d in enumerate(dets)],
        "extra": {"relation": relation},
        "page_info": {"image_path": "p.jpg"},
    }


def _extract(markdown: str, profile: Profile) -> Any:
    groups: dict[str, list[Any]] = {}
    for item in extract(markdown, profile):
        entry: dict[str, Any] = {"position": [item.start, item.end], "content": item.content}
        if item.fine:
            entry["fine_category_type"] = item.fine
        groups.setdefault(item.cat, []).append(entry)
    return groups


def _records(records: list[Record]) -> list[dict[str, Any]]:
    return [{name: getattr(record, name) for name in FIELDS} for record in records]


def _match(data: Any, profile: Profile) -> Any:
    truths = [
        Truth(t["category_type"], t.get("text") or t.get("latex"), t["order"], t["attribute"])
        for t in data["truth"]
    ]
    items = [
        MarkdownItem(p["category_type"], p["content"], *p["position"], p.get("fine_category_type"))
        for p in data["prediction"]
    ]
    kind = "mixed" if profile.mixes_formulas else data["kind"]
    return _records(quick_match.quick_match(truths, items, profile, kind))


def _whole_page(data: Any, profile: Profile) -> Any:
    found = page_records(_page(data), data["markdown"], profile)
    return {
        "text": _records(found.text),
        "formula": _records(found.formulas),
        "table_latex": _records(found.latex_tables),
        "table_html": _records(found.tables),
        "order": None if found.order is None else asdict(found.order),
    }


def _order(data: Any, profile: Profile) -> Any:
    records = [Record([0], [0], gt_position=r["gt_position"], pred_position=r["pred_position"]) for r in data]
    order = reading_order(records, "p.jpg")
    assert order is not None
    return asdict(order)


def _teds(data: Any, profile: Profile) -> Any:
    measured = measure_table(Record([0], [0], gt=data["truth"], pred=data["prediction"]), profile)
    values = {name: {"all": measured.metric[name]} for name in ("TEDS", "TEDS_structure_only")}
    return values if "x" in data["truth"] else [value["all"] for value in values.values()]


def _results(records: Any, attributes: dict[str, Any]) -> MeasuredRecords:
    measured = []
    for data in records:
        names = ("gt", "pred", "norm_gt", "norm_pred", "img_id", "gt_attribute")
        given = {name: data[name] for name in names if name in data}
        measured.append(measure_text(Record([0], [0], **given)))
    return MeasuredRecords({"text_block": measured}, attributes, {})


def _over_all(data: Any, profile: Profile) -> Any:
    return metric_result(_results(data, {}), profile)["text_block"]["all"]


def _tables(data: Any, profile: Profile) -> Any:
    result = metric_result(_results(data["records"], data["page_attribute"]), profile)["text_block"]
    return json.loads(json.dumps({k: result[k] for k in ("group", "page")}).replace("NaN", '"NaN"'))


RUNNERS = {
    "Edit_dist aggregation": _over_all,
    "group and page tables": _tables,
    "truth elements": lambda data, profile: [
        [t.category, t.order, t.raw] for t in records.page_truth(_page(data), profile).text
    ],
    "extraction": _extract,
    "text normalisation": normalise.norm_text,
    "formula normalisation": normalise.norm_formula,
    "table normalisation": table_html.norm_table,
    "safe LaTeX": lambda data, _: [safe_text(x, x) for x in data],
    "row splitting of a truth": lambda data, profile: [
        [t.raw, t.order] for t in rows.split_truths([Truth("equation_isolated", data, 7)], profile)
    ],
    "row splitting of a predicted": lambda data, profile: [
        [i.content, [i.start, i.end]]
        for i in rows.split_items([MarkdownItem("equation_isolated", data, 100, 100 + len(data))], profile)
    ],
    "quick_match": _match,
    "page: truth": _whole_page,
    "reading order": _order,
    "logic-brace": lambda data, _: formulas.rewrite_logic_braces(data),
    "CDM variants": lambda data, _: list(cdm.cdm_variants(data["gt"], data["pred"])),
    "TEDS": _teds,
}


def _runner(step: str) -> Any:
    return next((run for start, run in RUNNERS.items() if step.startswith(start)), None)


def test_every_worked_example_is_tried() -> None:
    """Here, or with the metric CDM, whose steps have examples of their own."""
    steps = {example["step"] for example in json.loads(EXAMPLES.read_text())}
    assert {step for step in steps if _runner(step) is None and not step.startswith("CDM ")} == set()


@pytest.mark.parametrize(("example", "profile"), _examples())
def test_worked_examples(example: Any, profile: Profile) -> None:
    expected = example["output"]
    found = _runner(example["step"])(example["input"], profile)
    if example["id"] == "Ex-45" and profile.name == "v1.5":
        # The example shows the record before it is moved to the text, which happens after all pages.
        assert found.pop("formula") == []
        expected = {k: v for k, v in expected.items() if k != "formula"}
    assert found == expected


def _same(found: Any, expected: Any, where: str) -> None:
    if isinstance(expected, dict):
        listed = {key for key in expected if key != "workers"}
        assert isinstance(found, dict) and {*found} - {"workers"} == listed, where
        for key in listed:
            _same(found[key], expected[key], f"{where}/{key}")
    elif isinstance(expected, list):
        assert isinstance(found, list) and len(found) == len(expected), where
        for index, (a, b) in enumerate(zip(found, expected, strict=True)):
            _same(a, b, f"{where}/{index}")
    elif isinstance(expected, float):
        both_missing = math.isnan(expected) and math.isnan(found)
        assert both_missing or math.isclose(found, expected, abs_tol=1e-9, rel_tol=0), where
    else:
        assert found == expected, where


@pytest.mark.parametrize(
    ("version", "folder"),
    [
        ("v1.0", DEMO / "reference" / "v1_0"),
        ("v1.5", DEMO / "reference" / "v1_5"),
        ("v1.6", DEMO / "reference" / "v1_6"),
        ("v1.6-fixed", DEMO / "reference" / "v1_6_bugs_fixed"),
        ("v1.7", DEMO.parent / "rules" / "omnidocbench-1.7" / "demo"),
    ],
)
def test_demo_results(version: str, folder: Path) -> None:
    """Every field of every record, and every mean."""
    profile = PROFILES[version]
    pages = []
    for page in json.loads((DEMO / "OmniDocBench_demo.json").read_text()):
        name = page["page_info"]["image_path"]
        markdown = (DEMO / "predictions" / f"{name[:-4]}.md").read_text(encoding="utf-8")
        pages.append((page, page_records(page, markdown, profile)))
    results = measure_pages(pages, profile)
    for element, measured in results.elements.items():
        expected = json.loads((folder / f"{element}_result.json").read_text())
        _same([m.to_json() for m in measured], expected, element)
    expected = json.loads((folder / "metric_result.json").read_text())
    elements = {k: {p: v for p, v in expected[k].items() if p != "metric_debug"} for k in results.elements}
    _same(metric_result(results, profile), elements, "metric_result")


def test_made_pages_of_v1_7() -> None:
    """Every record of pages whose tables and texts answer each other, and the orders that they give."""
    profile, n_pages = PROFILES["v1.7"], 0
    for path in sorted((DEMO.parent / "rules" / "omnidocbench-1.7").glob("pages-*.jsonl")):
        for line in path.read_text().splitlines()[1:]:
            example = json.loads(line)
            page, markdown = example["input"]["page"], example["input"]["markdown"]
            results = measure_pages([(page, page_records(page, markdown, profile))], profile)
            for element, expected in example["v1.7"].items():
                if element not in results.elements:
                    continue
                written = [measured.to_json() for measured in results.elements[element]]
                listed = expected if isinstance(expected, list) else [expected] if expected else []
                assert len(written) == len(listed), example["id"]
                for own, theirs in zip(written, listed, strict=True):
                    _same({key: own[key] for key in theirs}, theirs, f"{example['id']}/{element}")
            n_pages += 1
    assert n_pages >= 48


def test_exported_demo(tmp_path: Path) -> None:
    """What the commands write, every file and field that the reference has, all profiles in one run."""
    from typer.testing import CliRunner

    from parsemark.cli.main import app

    folders = {"v1.0": "v1_0", "v1.5": "v1_5", "v1.6": "v1_6", "v1.6-fixed": "v1_6_bugs_fixed"}
    inputs = ["--corpus", f"omnidocbench:{DEMO / 'OmniDocBench_demo.json'}"]
    inputs += [str(DEMO / "predictions")]
    protocols = [f"--protocol=document(profile={version})" for version in folders]
    run, out = str(tmp_path / "run"), tmp_path / "out"
    for arguments in (
        ["score", *inputs, *protocols, "--out", run],
        ["export", run, "--format", "omnidocbench", "--out", str(out)],
    ):
        assert CliRunner().invoke(app, arguments, catch_exceptions=False).exit_code == 0
    for version, folder in folders.items():
        for path in (DEMO / "reference" / folder).glob("*.json"):
            written = json.loads((out / version / f"predictions_quick_match_{path.name}").read_text())
            _same(written, json.loads(path.read_text()), f"{version}/{path.name}")
    _compare_paper_tables(Path(run))


def _compare_paper_tables(run: Path) -> None:
    """Tables 2 to 5 and 7 of the report, under v1.0, with the means that the published program writes."""
    from parsemark.report.paper_tables import run_tables

    reference = json.loads((DEMO / "reference" / "v1_0" / "metric_result.json").read_text())
    text, order = (reference[element]["page"] for element in ("text_block", "reading_order"))
    found: dict[str, dict[tuple[str, str], float | None]] = {}
    for table in run_tables([run], "document(profile=v1.0)").found:
        cells = table.rows[0].cells
        found[table.key] = {
            (column.group, column.label): None if cell is None else cell.value
            for column, cell in zip(table.columns, cells, strict=True)
        }
    for language in ("english", "simplified_chinese"):
        value = found["omnidocbench-2"]["Text edit", language]
        assert value == pytest.approx(text["Edit_dist"][f"language: {language}"], abs=1e-9)
    for label, value in text["Edit_dist"].items():
        if label.startswith("data_source: "):
            assert found["omnidocbench-3"]["", label[13:]] == pytest.approx(value, abs=1e-9)
    assert found["omnidocbench-3"]["", "all"] == pytest.approx(text["Edit_dist"]["ALL"], abs=1e-9)
    for ours, theirs in (("fuzzy_scan", "fuzzy_scan"), ("colorful_background", "colorful_backgroud")):
        for kind, name in (("mean", "Edit_dist"), ("variance", "Edit_dist_var")):
            assert found["omnidocbench-4"][ours, kind] == pytest.approx(text[name][theirs], abs=1e-9)
    for layout in ("single_column", "double_column", "three_column", "other_layout"):
        value = found["omnidocbench-5"][layout, "mean"]
        assert value == pytest.approx(order["Edit_dist"][f"layout: {layout}"], abs=1e-9)
    teds = reference["table"]["group"]["TEDS"]
    for ours, theirs in (
        (("language", "english"), "language: table_en"), (("frame", "full_line"), "line: full_line"),
        (("merged cells", "true"), "with_span: True"), (("formula", "false"), "include_equation: False"),
        (("colour", "true"), "include_background: True"),
    ):  # fmt: skip
        assert found["omnidocbench-7"][ours] == pytest.approx(teds[theirs], abs=1e-9)
