"""ParseBench: its own results on examples, its loader, and the protocol on documents."""

import json
from pathlib import Path
from typing import Any

import parsebench_programs
import pytest
from reference_examples import families, same

from parsemark.corpora import load_corpus
from parsemark.engine.import_outputs import import_predictions
from parsemark.engine.scoring.score import score_run
from parsemark.errors import CorpusError
from parsemark.model import Box, Element, Fact, Page, Prediction, Sample, Status
from parsemark.protocols import get_protocol
from parsemark.report.outputs import export_board
from parsemark.store import Run
from parsemark_boards.parsebench import (
    charts,
    content,
    emphasis,
    grids,
    layout,
    text,
)

pytest.importorskip("fuzzysearch")
pytest.importorskip("unidecode")
HEADLINES = {
    "table": ("tables", "avg_grits_trm_composite"),
    "chart": ("charts", "avg_rule_pass_rate"),
    "text_content": ("content_faithfulness", "avg_content_faithfulness"),
    "text_formatting": ("semantic_formatting", "avg_semantic_formatting"),
    "layout": ("grounding", "avg_layout_element_rule_pass_rate"),
}
"""Group of a run to our figure and theirs."""
BESIDE = {
    "grounding_map": "avg_mAP@[.50:.95]",
    "grounding_order": "avg_layout_reading_order_pass_rate",
    "grounding_lap": "avg_lap",
    "grounding_lar": "avg_lar",
    "grounding_af1": "avg_af1",
}


def grid_of(grid: grids.HeadedGrid) -> dict[str, Any]:
    return {
        "data": grid.data or ([] if text.is_september() else [[]]),
        "header_rows": sorted(grid.header_rows),
        "header_cols": sorted(grid.header_cols),
        "header_cells": [list(cell) for cell in sorted(grid.header_cells)],
        "col_headers": {str(c): [list(e) for e in own] for c, own in grid.col_headers.items()},
        "row_headers": {str(r): [list(e) for e in own] for r, own in grid.row_headers.items()},
        "context_before": grid.context,
        "spanned_cells": [list(cell) for cell in sorted(grid.spanned)],
        **{f"{name}_rows": sorted(grid.section(name)) for name in ("thead", "tbody", "tfoot")},
        "column_scope_rows": sorted(grid.column_scope_rows),
        "row_scope_rows": sorted(grid.row_scope_rows),
        "caption": grid.caption,
    }


def own_result(family: str, given: dict[str, Any]) -> Any:
    if family == "normalise":
        own = given["text"]
        return {
            "normalize_text": text.norm(own),
            "normalize_text_light": text.norm_light(own),
            "normalize_cell_text": text.norm_cell(own),
            "trm_cell": text.norm_record(own),
            "sentence_fragment": content.fragment(own),
        }
    if family == "leaders":
        return {"stripped": text.without_leaders(given["a"]), "equal": text.same_cell(given["a"], given["b"])}
    if family == "number":
        same_numbers = charts.same_number(given["a"], given["b"], 0.01)
        return {"value": text.number(given["a"]), "same": same_numbers}
    if family == "text_content_projection":
        return {"text": grids.with_table_lines(given["markdown"])}
    if family == "emphasis":
        return {"spans": [list(span) for span in emphasis.emphasis_spans(given["markdown"], given["kind"])]}
    if family == "mermaid":
        return parsebench_programs.mermaid(given["source"])
    if family == "normalise_layout":
        own = layout.norm_layout(given["text"], images=given["image_markup"])
        return {"text": own, "tokens": layout.tokens(own)}
    if family == "html_tables":
        found = grids.html_grids(given["content"])
        return {"slices": grids.table_slices(given["content"]), "grids": [grid_of(grid) for grid in found]}
    if family == "pipe_tables":
        return {"grids": [grid_of(grid) for grid in grids.pipe_grids(given["content"])]}
    if family == "bags":
        asked = content.AskedMarkdown(given["content"])
        units = ("sentence", "word")
        bags = {f"{u}s{'_with_cells' * c}": dict(asked.bag(u, bool(c))) for u in units for c in (0, 1)}
        return {
            **bags,
            "digits": dict(asked.digits()),
            "full_text": asked.full_text,
            "full_word_text": asked.word_text,
        }
    if family == "rule":
        beside = given.get("parse_output") or {}, given.get("raw_output") or {}
        result = parsebench_programs.run_rule(given["rule"], given["markdown"], *beside)
        return {**result, "rule_pass_rate": 1.0} if "not_applicable" in result else result
    if family == "teds":
        return {"teds": parsebench_programs.teds(given["expected_markdown"], given["markdown"])}
    if family == "tables":
        return parsebench_programs.table_metrics(
            given["expected_markdown"], given["markdown"], given["flags"]
        )
    if family == "document":
        in_text = given.get("group") == "text_content" and text.is_september()
        markdown = grids.with_table_lines(given["markdown"]) if in_text else given["markdown"]
        return parsebench_programs.document_metrics(given["rules"], markdown)
    return parsebench_programs.layout_metrics(given)


def result_of(sample: Sample, results: dict[str, Any]) -> Prediction:
    """What the board's program has of a document, as a prediction."""
    found = next((own for name, own in results.items() if sample.document.endswith(Path(name).name)), None)
    if found is None:
        return Prediction(sample.id, "one", Status.NO_PREDICTION)
    elements = []
    for own in found["output"].get("layout_pages") or ():
        for number, item in enumerate(own["items"]):
            x, y, w, h = (item["bbox"][key] / own["width"] for key in "xywh")
            box = Box(x, y, x + w, y + h)
            elements.append(Element(str(number), "text_block", box, text=item["value"], confidence=0.9))
    return Prediction(sample.id, "one", elements=tuple(elements), text=found["output"]["markdown"])


@pytest.mark.conformance
def test_means_of_runs_with_failures_are_the_boards(reference_data: Path, tmp_path: Path) -> None:
    examples = [e for e in families(reference_data, "parsebench") if e["family"] == "run"]
    assert examples
    for example in examples:
        given, folder = example["input"], tmp_path / example["id"]
        folder.mkdir()
        for name, rows in given["files"].items():
            (folder / name).write_text("\n".join(map(json.dumps, rows)))
        own, theirs = HEADLINES[given["group"]]
        compared = {own: theirs, **(BESIDE if own == "grounding" else {})}
        found: dict[str, list[float]] = {name: [] for name in compared}
        for sample in load_corpus(f"parsebench:{folder}").samples():
            assert sample.truth is not None
            measured = values(sample.truth, result_of(sample, given["results"]))
            for name in compared:
                value = measured[name]
                found[name] += [] if value is None else [value]
        for name, theirs in compared.items():
            mean = sum(found[name]) / len(found[name])
            assert mean == pytest.approx(example["output"]["aggregate"][theirs]), (example["id"], name)


BESIDE_RUNS = ("text_similarity", "tables_paged", "metadata")
"""Families that no run of the benchmark reaches: its loader does not read what they need."""


@pytest.mark.conformance
@pytest.mark.parametrize("version", text.VERSIONS)
def test_parsebench_examples(reference_data: Path, version: str) -> None:
    for example in examples_of(reference_data, version):
        family, given, expected = example["family"], example["input"], example["output"]
        if family == "run" or family in BESIDE_RUNS:
            continue
        with text.rules_of(version):
            if "crash" in expected:
                with pytest.raises((ValueError, charts.TablesValuesError)):
                    own_result(family, given)
                continue
            for grid in expected.get("grids", ()):
                del grid["context_after"]
            assert same(own_result(family, given), expected, 1e-9), example["id"]


def examples_of(folder: Path, version: str) -> list[dict[str, Any]]:
    """Return the examples of a version, here and kept back."""
    if version == text.AUGUST:
        return families(folder, "parsebench")
    files = sorted((folder / "rules" / f"parsebench-{version}").glob("*.jsonl"))
    examples = [json.loads(line) for path in files for line in path.read_text().splitlines()[1:]]
    assert examples
    return examples


HTML = "<table><tr><th>Port</th><th>Ships</th></tr><tr><td>Riga</td><td>12</td></tr></table>"


def rule(kind: str, group: str, **arguments: Any) -> Fact:
    return Fact(f"{group}/{kind}", kind, "parsebench", arguments, group=group)


ORDER = rule("order", "text_content", before="one", after="two")
BOLD = rule("is_bold", "text_formatting", text="two")
POINT = rule("chart_data_point", "chart", value="12", labels=["Riga", "Ships"])


def place(name: str, top: float, order: int | None) -> Fact:
    """A line of text at a height."""
    said = {"content": {"type": "text", "text": name}, "canonical_class": "Text", "page": 1}
    return rule("layout", "layout", bbox=[0.1, top, 0.4, 0.2], **said, ro_index=order)


PLACES = (place("one", 0.1, 0), place("two", 0.5, 1))
BLOCKS = tuple(
    Element(name, "text_block", Box(10, top, 50, top + 20), text=name)
    for name, top in (("one", 10.0), ("two", 50.0))
)


def test_versions_of_the_rules_score_the_same_output_differently() -> None:
    styled = rule("is_sup", "text_formatting", text="2"), rule("is_sup", "text_formatting", text="3")
    truth = Page("p", 100, 100, facts=styled, only_facts=True)
    half = Prediction("p", "one", text="a<sup>2</sup>")
    august = values(truth, half, "parsebench(version=2026-08)")["semantic_formatting"]
    assert august == pytest.approx(1.25 * 0.5 / (1 + 0.25 * 0.5))
    assert values(truth, half)["semantic_formatting"] == pytest.approx(1.25 * 0.5 / (0.25 + 0.5))
    protocols = [get_protocol(f"parsebench(version={version})") for version in text.VERSIONS]
    assert list(map(str, protocols)) == ["parsebench(version=2026-08)", "parsebench"]
    assert get_protocol("parsebench").version == text.SEPTEMBER  # type: ignore[attr-defined]


def test_an_upper_case_table_counts() -> None:
    cases = {"parsebench_cases": {"table": {"expected_markdown": HTML, "flags": {}}}}
    truth = Page("p", 100, 100, annotation=cases, only_facts=True)
    loud = HTML.replace("table>", "TABLE>")
    for spec in ("parsebench", "parsebench(version=2026-08)"):
        assert values(truth, Prediction("p", "one", text=loud), spec)["tables"] == 1


def test_a_rule_that_asks_for_nothing_is_left_out() -> None:
    asked = rule("is_bold", "text_formatting", text="two"), rule("is_bold", "text_formatting", text="**")
    truth = Page("p", 100, 100, facts=asked, only_facts=True)
    bold = Prediction("p", "one", text="**two**")
    assert values(truth, bold)["semantic_formatting"] == 1
    assert values(truth, bold, "parsebench(version=2026-08)")["semantic_formatting"] < 1  # type: ignore[operator]


def test_a_span_is_its_own_neighbour() -> None:
    cell = {"type": "table_no_below", "cell": "Riga"}
    spanned = "<table><tr><td rowspan=2>Riga</td><td>1</td></tr><tr><td>2</td></tr></table>"
    assert not parsebench_programs.run_rule(cell, spanned, {}, {})["passed"]
    assert parsebench_programs.run_rule({**cell, "cell": "2"}, spanned, {}, {})["passed"]


def values(truth: Page, prediction: Prediction, spec: str = "parsebench") -> dict[str, float | None]:
    return {row.metric: row.value for row in get_protocol(spec).score_page(truth, prediction, None).scores}


def test_a_perfect_document_passes_in_every_dimension() -> None:
    cases = {"parsebench_cases": {"table": {"expected_markdown": HTML, "flags": {}}}}
    truth = Page("p", 100, 100, facts=(ORDER, BOLD, POINT, *PLACES), annotation=cases, only_facts=True)
    good = Prediction("p", "one", text=f"one\n\n**two**\n\n{HTML}", elements=BLOCKS)
    assert set(values(truth, good).values()) == {1.0}
    nothing = values(truth, Prediction("p", "one", text=""))
    grounding = [nothing.pop(name) for name in [*nothing] if name.startswith("grounding")]
    assert len(grounding) == 6 and set(grounding) == {None} and set(nothing.values()) == {0.0}


def test_order_and_detection_stand_beside_grounding() -> None:
    truth = Page("p", 100, 100, facts=PLACES, only_facts=True)
    swapped = values(truth, Prediction("p", "one", text="", elements=BLOCKS[::-1]))
    assert swapped["grounding"] == swapped["grounding_map"] == 1 and swapped["grounding_order"] == 0
    half = values(truth, Prediction("p", "one", text="", elements=BLOCKS[:1]))
    assert half["grounding"] == half["grounding_lar"] == 0.5 and half["grounding_lap"] == 1
    assert half["grounding_map"] == 1, "upstream's average precision does not see what is missed"
    twice = (*BLOCKS, Element("x", "text_block", Box(60, 60, 90, 90), text="more and more"))
    assert values(truth, Prediction("p", "one", text="", elements=twice))["grounding_lap"] == 0.4


def layout_rule(
    text: str, page: int = 1, top: float = 0.1, kind: str = "Text", **more: Any
) -> dict[str, Any]:
    content = {"type": "text", "text": text}
    place = {"bbox": [0.1, top, 0.4, 0.2], "page": page, "ro_index": 0}
    return {"canonical_class": kind, "content": content, **place, **more}


def layout_block(text: str, page: int = 1, label: str = "Text", score: float = 1.0) -> dict[str, Any]:
    return {
        "bbox": [10, 10, 50, 30],
        "label": label,
        "page": page,
        "score": score,
        "content": {"type": "text", "text": text},
        "provider_metadata": {"order_index": 0},
    }


def test_grounding_treats_pages_as_upstream_does() -> None:
    other = layout.layout_metrics([layout_rule("one two")], [layout_block("one two", 2)], "basic", 100, 100)
    assert other["mAP@[.50:.95]"] == 1, "average precision pools pages"
    assert other["layout_element_rule_pass_rate"] == 0
    extra = [layout_block("one two"), layout_block("three four", 2)]
    assert layout.layout_metrics([layout_rule("one two")], extra, "basic", 100, 100)["lap"] == 1
    second = Page("p", 100, 100, facts=(rule("layout", "layout", **layout_rule("one", 2)),), only_facts=True)
    assert values(second, Prediction("p", "one", text="one", elements=BLOCKS[:1]))["grounding"] == 1


def test_what_an_element_says_counts_though_its_class_is_dropped() -> None:
    found = layout.layout_metrics(
        [layout_rule("one two")], [layout_block("one two", label="Form")], "core", 100, 100
    )
    [element] = found["elements"]
    assert element["attribution_pass"] and not element["localization_pass"]
    missed = [layout_rule("one two three", attributes={"content": "explicit"})]
    [element] = layout.layout_metrics(missed, [layout_block("one")], "basic", 100, 100)["elements"]
    assert element["attribution_reason"] == "explicit_recall_below_threshold"


def test_images_and_bindings_are_read_as_upstream_reads_them() -> None:
    assert layout.norm_layout("<img alt=one src=x>", images=True) == "one"
    order = {"type": "order", "before": "one", "after": "two"}
    for bindings, passed in (({"before": "a", "after": "b"}, True), ({"around": "a"}, False)):
        bound = {**order, "layout_bindings": bindings}
        assert parsebench_programs.run_rule(bound, "one two", {}, {})["passed"] is passed


def test_a_truth_without_order_leaves_grounding_out_as_upstream_does() -> None:
    truth = Page("p", 100, 100, facts=(place("one", 0.1, None), place("two", 0.5, None)), only_facts=True)
    output = Prediction("p", "one", text="", elements=BLOCKS)
    assert values(truth, output)["grounding"] is None
    assert values(truth, output, "parsebench(crashes_left_out=false)")["grounding_order"] == 1


@pytest.mark.parametrize(
    ("label", "value", "kind", "markdown", "passed"),
    [
        ("Port", "Riga", "text", "**Shipper:** Maren **Port:** Riga", True),
        ("Port", "Oslo", "text", "**Shipper:** Maren **Port:** Riga", False),
        ("Cargo", "rope, sail", "text", "**Cargo:**\n- rope\n- sail\n", True),
        ("Qty (row 2)", "7", "text", "| Item | Qty |\n|--|--|\n| rope | 5 |\n| sail | 7 |", True),
        ("Agent", "", "text", "nothing here", False),
        ("Frozen", "no", "checkbox", "☑ Fragile ☐ Frozen", True),
        ("Signature", "M. Holt", "signature", "Signature: M. H.", True),
    ],
)
def test_fields_of_forms_are_found(label: str, value: str, kind: str, markdown: str, passed: bool) -> None:
    rule = {"type": "form_field", "label": label, "value": value, "value_type": kind}
    assert parsebench_programs.run_rule(rule, markdown, {}, {})["passed"] is passed
    blanks = parsebench_programs.run_rule(rule, "** " + " " * 50_000 + markdown, {}, {})
    assert not blanks["passed"] and "too many blanks" in blanks["why"]


@pytest.mark.parametrize(
    ("rule", "markdown"),
    [
        ({"label": "Name", "value": "Ada", "label_max_diffs": 2}, "Narne: Ada"),
        ({"label": "Name", "value": "Ada", "value_max_diffs": 1}, "Name: Adda"),
        ({"label": "Agree", "value": True, "value_type": "checkbox"}, "| Agree | ☑ |\n|-|-|\n| Other | ☐ |"),
        ({"label": "TO (row 2)", "value": "35"}, "FROM 10 TO 20\nFROM 20 TO 35"),
        ({"label": "County", "value": "Erie"}, "Well No. **14** in the County **Erie**"),
        ({"label": "Date", "value": "May 5 1948"}, "Date **May 5** 19 **48**"),
        (
            {"label": ["Riga", "Ships"], "value": "12"},
            f"<table>{'<tr><th>Port</th><th>Ships</th></tr>'}<tr><td>Riga</td><td>12</td></tr></table>",
        ),
        (
            {"label": ["Riga", "Shipz"], "label_max_diffs": [0, 1], "value": "12"},
            "| Port | Ships |\n|-|-|\n| Riga | 12 |",
        ),
        (
            {"label": ["Resident", "No"], "value": False, "value_type": "checkbox"},
            "Visitor Yes ☐ No ☑\nResident Yes ☑ No ☐",
        ),
    ],
)
def test_fields_may_differ_in_some_characters_since_september(rule: dict[str, Any], markdown: str) -> None:
    for version, passed in ((text.SEPTEMBER, True), (text.AUGUST, False)):
        with text.rules_of(version):
            result = parsebench_programs.run_rule({"type": "form_field", **rule}, markdown, {}, {})
        assert result["passed"] is passed, version


def test_a_field_with_several_labels_needs_all_of_them() -> None:
    pipes = "| Port | Ships | Crew |\n|-|-|-|\n| Riga | 12 | 31 |\n| Oslo | 9 | 8 |"
    for label, value, passed in (
        (["Riga", "Crew"], "31", True),
        (["Riga", "Crew"], "12", False),
        (["Riga", "Flag"], "31", False),
        (["Oslo", "Riga"], "9", False),
        (["", ""], "9", False),
    ):
        rule = {"type": "form_field", "label": label, "value": value}
        assert parsebench_programs.run_rule(rule, pipes, {}, {})["passed"] is passed, label
    no_label = {"type": "form_field", "label": "and the rest of", "value": "Erie"}
    assert not parsebench_programs.run_rule(no_label, "and the rest of **Erie**", {}, {})["passed"]


def test_what_leaves_upstreams_means_is_worth_nothing_on_demand() -> None:
    cases = {"parsebench_cases": {"table": {"expected_markdown": HTML, "flags": {}}}}
    truth = Page("p", 100, 100, facts=PLACES, annotation=cases, only_facts=True)
    wrong = Prediction("p", "one", text=HTML.replace("<td>", "<td colspan='x'>"))
    assert values(truth, wrong)["tables"] is None and values(truth, wrong)["grounding"] is None
    strict = values(truth, wrong, "parsebench(crashes_left_out=false,no_boxes_left_out=false)")
    assert strict["tables"] == strict["grounding"] == 0


def test_hostile_documents_and_rules_are_bounded() -> None:
    truth = Page("p", 100, 100, facts=(ORDER, BOLD, POINT), only_facts=True)
    for hostile in (
        "<table>" * 3000,
        "<table><tr><td colspan=99999999>a</td></tr></table>",
        "|" * 20_000,
        "*" * 5000,
    ):
        found = values(truth, Prediction("p", "one", text=hostile))
        assert found["tables"] is None and found["charts"] == 0
    broken = (rule("order", "text_content", before=5), rule("is_bold", "text_formatting", text=["x"]))
    assert values(Page("p", 1, 1, facts=broken, only_facts=True), Prediction("p", "one", text="x"))


def test_folders_of_the_board_are_loaded_scored_and_exported(tmp_path: Path) -> None:
    folder = tmp_path / "bench"
    folder.mkdir()
    order = {"pdf": "docs/text/a.pdf", "type": "order", "rule": json.dumps({"before": "one", "after": "two"})}
    table = {"pdf": "docs/table/b.pdf", "type": "expected_markdown", "expected_markdown": HTML}
    unknown = {"pdf": "docs/text/a.pdf", "type": "is_blinking", "rule": "{}"}
    broken = {"pdf": "docs/text/a.pdf", "type": "order", "rule": "{"}
    (folder / "text_content.jsonl").write_text("\n".join(map(json.dumps, (order, unknown, broken))))
    (folder / "table.jsonl").write_text(json.dumps(table))
    corpus = load_corpus(f"parsebench:{folder}")
    said = " ".join(str(remark) for remark in corpus.remarks)
    assert "is_blinking" in said and "2 of 2 PDFs" in said and "text_content.jsonl" in said
    outputs = tmp_path / "out"
    outputs.mkdir()
    (outputs / "a.md").write_text("one and two")
    (outputs / "b.md").write_text(HTML)
    run = import_predictions(tmp_path / "run", corpus, outputs, protocols=("parsebench",))
    score_run(run, n_workers=1)
    figures = Run.open(run.path).summary("parsebench").parsers["out"]
    assert figures["tables"].value == figures["content_faithfulness"].value == figures["overall"].value == 1
    export_board(run.path, "parsebench", tmp_path / "files")
    written = json.loads((tmp_path / "files/out/docs/text/a.result.json").read_text())
    assert written["output"]["markdown"] == "one and two"
    with pytest.raises(CorpusError, match="Is this"):
        load_corpus(f"parsebench:{outputs}")
