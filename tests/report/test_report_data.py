"""What the site shows equals what the run holds."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from tests.store.fabricate import fabricate_run

from parsemark.corpora import load_corpus
from parsemark.corpora.render import corpus_pictures
from parsemark.errors import UsageError
from parsemark.plain_words import format_value
from parsemark.report import build_report
from parsemark.report.charts import chart_to_json
from parsemark.report.charts.catalogue import all_sections, pareto_front
from parsemark.report.chunks import MAX_CELL_CHARACTERS, MAX_CELLS, decode, prediction_json, write_chunk
from parsemark.report.drawing import Chart, Series
from parsemark.report.names import page_file, safe_name
from parsemark.report.page_chunks import _scores
from parsemark.report.presentations.tables.charts import N_BINS
from parsemark.report.source import RunSource, page_values
from parsemark.report.viewer import element_table, write_images
from parsemark.store import Run
from parsemark.system import file_sha256


def chunk(site: Path, name: str) -> dict:
    return decode((site / "data" / f"{name}.js").read_text())


def charts(source: RunSource) -> dict[str, Chart]:
    return {chart.key: chart for section in all_sections(source) for chart in section.charts}


def series_of(chart: Chart, name: str, **facts: object) -> Series:
    found = [s for s in chart.series if s.name == name and all(getattr(s, k) == v for k, v in facts.items())]
    assert len(found) == 1, [s.name for s in chart.series]
    return found[0]


def test_every_number_of_the_leaderboard_is_in_the_summary(site: Path, run: Run) -> None:
    rows = chunk(site, "leaderboards/1")["slices"][""]["rows"]
    summary = run.summary()
    assert set(rows) == set(summary.parsers)
    checked = 0
    for name, row in rows.items():
        for key, cell in row["cells"].items():
            assert cell["value"] == summary.parsers[name][key].value
            assert cell["text"] == format_value(cell["value"], summary.info(key).style)
            checked += 1
    assert checked > 100


def test_slices_have_the_protocol_s_numbers(site: Path, run: Run) -> None:
    slices = chunk(site, "leaderboards/1")["slices"]
    (scans,) = [s for s in run.summary().slices if (s.attribute, s.value) == ("scan", "true")]
    for name in run.summary().parsers:
        expected = scans.figures[name]["te_f1_con"].value
        assert slices["scan=yes"]["rows"][name]["cells"]["te_f1_con"]["value"] == expected
    samples = run.table("samples").filter(pl.col("attributes").str.contains('"scan": true'))
    assert slices["scan=yes"]["n_pages"] == samples.height


def test_failures_of_a_slice_are_counted(site: Path, run: Run) -> None:
    row = chunk(site, "leaderboards/1")["slices"]["tables=without tables"]["rows"]["poor"]["cells"]
    negative = run.table("samples").filter(pl.col("n_tables") == 0)["sample"].implode()
    own = run.table("parses").filter((pl.col("parser") == "poor") & pl.col("sample").is_in(negative))
    assert row["failures"]["value"] == (own["status"] != "ok").sum()


def test_precision_recall_figures_equal_the_store(source: RunSource, run: Run) -> None:
    chart = charts(source)["pr-bbox"]
    for name, by_rule in run.summary().details["by_rule"].items():
        own, curves = by_rule["bbox"], run.summary().details["curves"][name].get("bbox")
        if curves:
            solid = series_of(chart, name, dash=False)
            assert list(zip(solid.x, solid.y, strict=True)) == [(p[0], p[1]) for p in curves["thresholded"]]
            dashed = series_of(chart, name, dash=True)
            assert list(zip(dashed.x, dashed.y, strict=True)) == [(p[0], p[1]) for p in curves["expected"]]
        else:
            point = series_of(chart, name, faint=False)
            assert (point.x[0], point.y[0]) == (own["td_recall"]["value"], own["td_precision"]["value"])


def test_weighted_curves_and_bands_equal_the_store(source: RunSource, run: Run) -> None:
    chart = charts(source)["pr-bbox-teds"]
    curves = run.summary().details["curves"]["fair"]["bbox"]
    band = series_of(chart, "fair", mark="band")
    assert list(zip(band.base_x, band.base, strict=True)) == [(p[0], p[1]) for p in curves["teds"]]
    assert list(zip(band.x, band.y, strict=True)) == [(p[0], p[1]) for p in curves["thresholded"]]


def test_every_rule_has_its_bars(source: RunSource, run: Run) -> None:
    chart = charts(source)["rules"]
    by_rule = run.summary().details["by_rule"]
    for parser in by_rule:
        values = {rule: own["te_f1_con"]["value"] for rule, own in by_rule[parser].items()}
        bars = series_of(chart, parser)
        assert [round(y, 9) for y in bars.y] == [
            round(values[rule], 9) for rule in ("bbox", "content", "ngrams") if values.get(rule) is not None
        ]


def test_structure_bars_equal_the_store(source: RunSource, run: Run) -> None:
    chart = charts(source)["structure"]
    for name, figures in run.summary().parsers.items():
        bars = series_of(chart, name)
        entries = [figures[f"tsr_{short}"] for short in ("con", "teds", "top")]  # the ranking's first
        assert bars.y == tuple(e.value for e in entries)
        assert bars.low == tuple(e.low for e in entries)


def test_reliability_equals_the_store(source: RunSource, run: Run) -> None:
    chart = charts(source)[f"reliability-{safe_name('fair')}"]
    bins = run.summary().details["reliability"]["fair"]
    assert series_of(chart, "precision").y == tuple(
        b["precision"] for b in bins if b["precision"] is not None
    )
    shares = series_of(chart, "share of predictions").y
    assert sum(shares) == pytest.approx(1)
    assert shares == tuple(b["n"] / sum(b["n"] for b in bins) for b in bins)


def test_risk_over_coverage_ends_at_all_predictions(source: RunSource, run: Run) -> None:
    chart = charts(source)["risk-coverage"]
    found = run.summary().details["risk_coverage"]
    sure = [parser.name for parser in source.parsers if found[parser.name]]
    assert sure and [s.parser for s in chart.series] == sure
    for line in chart.series:
        assert line.x[-1] == 1.0 and list(line.x) == sorted(line.x)
        precision = 1 - line.y[-1]
        bins = run.summary().details["reliability"][line.parser]
        hits = sum(b["n"] * b["precision"] for b in bins if b["precision"] is not None)
        assert precision == pytest.approx(hits / sum(b["n"] for b in bins))


def test_histograms_count_every_true_table(source: RunSource, run: Run) -> None:
    chart = charts(source)["histogram-teds"]
    n_tables = run.table("samples")["n_tables"].sum()
    rows = run.table("scores").filter((pl.col("rule") == source.rule) & (pl.col("metric") == "teds"))
    for parser in source.parsers:
        shares = np.array(series_of(chart, parser.name).y)
        assert len(shares) == N_BINS
        assert shares.sum() == pytest.approx(1)
        own = rows.filter((pl.col("parser") == parser.name) & (pl.col("status") != "no_truth"))
        assert own.height == n_tables
        lowest = (own["value"].fill_null(0) < 1 / N_BINS).sum()
        assert shares[0] * n_tables == pytest.approx(lowest)


def test_content_against_iou_equals_the_matches(source: RunSource, run: Run) -> None:
    points = series_of(charts(source)["content-iou"], "good")
    matches = run.table("matches").filter((pl.col("parser") == "good") & (pl.col("kind") == "pair"))
    by_box = matches.filter(pl.col("rule") == "bbox").sort("sample", "pred")
    assert points.x == tuple(by_box["overlap"])


def test_attribute_bars_equal_the_store(source: RunSource, run: Run) -> None:
    chart = charts(source)["by-table-lines"]
    groups = {s.value: s.figures["good"] for s in run.summary().slices if s.attribute == "lines"}
    bars = series_of(chart, "good")
    assert bars.y == tuple(groups[v]["te_recall_con"].value for v in chart.x.categories)


def test_time_is_the_median_of_the_parses(source: RunSource, run: Run) -> None:
    chart = charts(source)["time"]
    for name, times in run.table("parses").group_by("parser").agg(pl.col("cpu_s")).iter_rows():
        assert series_of(chart, name).y[0] == pytest.approx(float(np.median(times)))


def test_page_values_give_back_the_headline_of_pages_with_one_truth_each(source: RunSource, run: Run) -> None:
    values = page_values(source, "good")
    assert len(values) == run.table("samples").height
    negative = run.table("samples").with_row_index().filter(pl.col("n_tables") == 0)
    assert all(values[i] in (0.0, 1.0) for i in negative["index"])


def test_lists_hold_every_match(source: RunSource, run: Run, site: Path) -> None:
    matches = run.table("matches").filter(pl.col("rule") == source.rule)
    numbers = source.samples.select("sample", "page")
    listed = [element_table(source, parser.name, numbers).height for parser in source.parsers]
    assert sum(listed) == matches.height
    for number, parser in enumerate(source.parsers):
        listed = chunk(site, f"lists/0/{number}")
        kinds = [listed["kinds"][k] for k in listed["kind"]]
        own = matches.filter(pl.col("parser") == parser.name)
        assert kinds.count("miss") == (own["kind"] == "miss").sum()
        failed = run.table("parses").filter((pl.col("parser") == parser.name) & (pl.col("status") != "ok"))
        assert len(listed["failed"]) == failed.height


def test_a_page_chunk_holds_truth_predictions_scores_and_raw_output(
    site: Path, run: Run, source: RunSource
) -> None:
    page = chunk(site, f"pages/{page_file(1)}")
    sample = run.table("samples")["sample"][1]
    assert page["id"] == sample
    assert page["truth"] == json.loads(run.table("samples")["truth"][1])
    for number, parser in enumerate(source.parsers):
        data = page["parsers"][number]
        stored = run.prediction(sample, parser.name)
        assert [e["id"] for e in data["prediction"]["elements"]] == [e.id for e in stored.elements]
        scores = run.table("scores").filter(
            (pl.col("sample") == sample) & (pl.col("parser") == parser.name) & (pl.col("rule") == "bbox")
        )
        assert [row[3] for row in data["scored"][0]["scores"]["bbox"]] == [
            None if v is None else round(v, 4) for v in scores["value"]
        ]
    raw = chunk(site, f"raw/{page_file(1)}")
    parse = run.table("parses").filter((pl.col("sample") == sample) & (pl.col("parser") == "good"))
    number = [p.name for p in source.parsers].index("good")
    assert raw[number]["text"] == run.raw(parse["blob"][0]).decode()


def test_pages_are_reported_again_without_leftovers(run: Run, tmp_path: Path) -> None:
    build_report(run.path, tmp_path)
    (tmp_path / "data" / "old.js").write_text("old")
    (tmp_path / "parser-gone-00000000.html").write_text("old")
    (tmp_path / "mine.txt").write_text("keep")
    build_report(run.path, tmp_path)
    assert not (tmp_path / "data" / "old.js").exists()
    assert not (tmp_path / "parser-gone-00000000.html").exists()
    assert (tmp_path / "mine.txt").read_text() == "keep"


def test_folders_of_others_are_never_removed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "precious.csv").write_text("1")
    with pytest.raises(UsageError, match="Choose another --out"):
        build_report(run.path, tmp_path)
    assert (tmp_path / "data" / "precious.csv").read_text() == "1"


def test_other_corpora_can_be_chosen(run: Run, tmp_path: Path) -> None:
    other = fabricate_run(tmp_path / "other", 6, ("good", "unknown here"), seed=5)
    build_report(run.path, tmp_path / "site", also=[other.path])
    found = chunk(tmp_path / "site", "leaderboards/1")["slices"]
    (key,) = [k for k in found if k.startswith("corpus=")]
    assert found[key]["n_pages"] == 6
    assert set(found[key]["rows"]) == {"good"}
    expected = other.summary().parsers["good"]["te_f1_con"].value
    assert found[key]["rows"]["good"]["cells"]["te_f1_con"]["value"] == expected


def test_no_picture_of_a_pdf_that_has_changed_since(tmp_path: Path, blank_pdf: Path) -> None:
    samples = pl.DataFrame(
        {
            "page": [0, 1, 2],
            "sample": ["a", "b", "c"],
            "document": ["d"] * 3,
            "page_number": [1] * 3,
            "pdf": [str(blank_pdf), str(blank_pdf), str(tmp_path / "gone.pdf")],
            "pdf_sha256": [file_sha256(blank_pdf), "0" * 64, None],
        }
    )
    assert write_images(tmp_path, samples, 50) == {0}
    assert [p.name for p in (tmp_path / "images").rglob("*.jpg")] == ["00000.jpg"]


def test_pages_that_are_only_pictures_are_shown(tmp_path: Path) -> None:
    images = tmp_path / "corpus" / "images"
    images.mkdir(parents=True)
    Image.new("RGB", (40, 60), "white").save(images / "scan_1.jpg")
    info = {"image_path": "scan_1.jpg", "page_no": 1, "width": 40, "height": 60, "page_attribute": {}}
    pages = [{"layout_dets": [], "page_info": info, "extra": {"relation": []}}]
    (tmp_path / "corpus" / "pages.json").write_text(json.dumps(pages))
    spec = f"omnidocbench:{tmp_path / 'corpus' / 'pages.json'}"
    known = load_corpus(spec).hash
    pictures = corpus_pictures(spec, known, {"scan_1"})
    assert pictures == {"scan_1": images / "scan_1.jpg"}
    assert corpus_pictures(spec, "another", {"scan_1"}) == {}
    assert corpus_pictures("omnidocbench:gone", known, {"scan_1"}) == {}
    samples = pl.DataFrame(
        {"page": [0, 1], "sample": ["scan_1", "b"], "document": ["d"] * 2, "page_number": [1] * 2},
    ).with_columns(pdf=pl.lit(None, pl.String), pdf_sha256=pl.lit(None, pl.String))
    assert write_images(tmp_path, samples, 50, pictures) == {0}


def test_every_found_table_is_explained(site: Path, source: RunSource) -> None:
    explained = 0
    for page in range(source.samples.height):
        for parser in chunk(site, f"pages/{page_file(page)}")["parsers"]:
            data = parser["scored"][0]
            pairs = [m for m in data["matches"].get(source.rule, []) if m[2] == "pair"]
            assert set(data["explained"]) == {m[0][0] for m in pairs}
            explained += len(pairs)
            for entry in data["explained"].values():
                assert entry["title"] == "reader 10.0 of 10" or entry["errors"]
    assert explained > 20


def test_comparison_with_an_older_run_is_shown(run: Run, tmp_path: Path) -> None:
    build_report(run.path, tmp_path, against=run.path)
    text = (tmp_path / "compare.html").read_text()
    assert "Older run of" in text
    rows = re.findall(r'<td class="">0\.000</td>.*?<td class="text">(\w+)</td>', text)
    assert rows and set(rows) == {"equal"}


@given(st.text())
def test_safe_names_are_safe(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9](?:[a-z0-9-]*)", safe_name(name))
    assert safe_name(name + "x") != safe_name(name)


@settings(max_examples=40)
@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), lambda v: st.lists(v, max_size=3)))
def test_chunks_round_trip_and_hold_nothing_but_base64(
    tmp_path_factory: pytest.TempPathFactory, value: object
) -> None:
    root = tmp_path_factory.mktemp("chunk")
    write_chunk(root, "a/b", value)
    text = (root / "data" / "a" / "b.js").read_text()
    assert re.fullmatch(r'parsemark\.chunk\("a/b","[A-Za-z0-9+/=]*"\);\n', text)
    decode(text)


def test_large_predictions_are_cut_and_say_so() -> None:
    cells = [{"row": i, "col": 0, "text": "x"} for i in range(MAX_CELLS + 5)]
    cells[0]["text"] = "y" * 10_000_000
    stored = json.dumps(
        {
            "elements": [
                {"id": "p", "category": "table", "table": {"n_rows": 20005, "n_cols": 1, "cells": cells}}
            ]
        }
    )
    small = prediction_json(stored)
    table = json.loads(small)["elements"][0]["table"]
    assert len(small) < 2_000_000
    assert len(table["cells"]) == MAX_CELLS
    assert table["cells_left_out"] == 5
    assert table["cells"][0]["text"].endswith(f"[{10_000_000 - MAX_CELL_CHARACTERS:,} more characters]")


def test_not_a_number_does_not_reach_the_browser() -> None:
    assert json.loads(prediction_json('{"elements": [{"confidence": NaN}]}'))["elements"] == [
        {"confidence": None}
    ]


@given(st.lists(st.tuples(st.floats(0.001, 10), st.floats(0, 1)), min_size=1, max_size=20))
def test_nobody_beats_the_front(points: list[tuple[float, float]]) -> None:
    front = pareto_front(points)
    for time, score in points:
        assert any(t <= time and s >= score for t, s in front)
    for time, score in front:
        assert not any((t < time and s >= score) or (t <= time and s > score) for t, s in points)


def test_charts_as_json_are_plain(source: RunSource) -> None:
    for chart in charts(source).values():
        assert re.fullmatch(r"[a-z0-9-]+", chart.key)
        data = chart_to_json(chart)
        json.dumps(data, allow_nan=False)
        for axis, shown in ((chart.x, data["x"]), (chart.y, data["y"])):
            assert shown.get("low") == axis.low, "a limit of 0 is a limit"
        for series, shown in zip(chart.series, data["series"], strict=True):
            assert shown["y"] == pytest.approx(series.y, abs=1e-4)
            assert shown.get("parser") == series.parser


def test_details_of_metrics_are_in_the_data_of_a_page(run: Run) -> None:
    told = ('{"counts": {"row_lost": 2}}', "no JSON", "[" * 4_000, None)
    frame = (
        run.table("scores").filter((pl.col("rule") == "bbox") & (pl.col("status") == "ok")).head(len(told))
    )
    of_box = frame.with_columns(details=pl.Series(told, dtype=pl.String))
    # What several rules say about a pair is there once.
    both = pl.concat([of_box, of_box.head(1).with_columns(rule=pl.lit("content"))])
    tables, _, details = _scores(both, ["bbox", "content"])
    for rule, expected in (("bbox", [[None, None, 0], [], [], []]), ("content", [[None, None, 0]])):
        assert [row[4:] for by_rule in tables.values() for row in by_rule.get(rule, ())] == expected
    (texts,) = (list(own) for own in details.values() if own)
    assert texts == ['{"counts": {"row_lost": 2}}']
