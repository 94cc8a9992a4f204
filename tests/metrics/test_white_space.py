"""One rule for white space, wherever tables are compared; and elements inside of cells."""

import json

import pytest

from parsemark.formats import read_table
from parsemark.metrics import get_metric, score
from parsemark.metrics.pair_files import score_lines
from parsemark.metrics.table_input import TableInput

TRUTH = "<table><tr><th>é</th><th>y</th></tr><tr><td>81 237</td><td>some words</td></tr></table>"
WRITTEN = {
    "no-break": TRUTH.replace("81 237", "81&nbsp;237"),
    "narrow": TRUTH.replace("81 237", "81\u202f237"),
    "thin": TRUTH.replace("81 237", "81\u2009237"),
    "lines": TRUTH.replace("some words", "\n      some\n      words\n    "),
    "accent of its own": TRUTH.replace("é", "e\u0301"),
    "unseen": TRUTH.replace("81", "\u200b81\ufeff").replace(
        "some words", "so\u00adme\u2060 wo\u200erds\u2063"
    ),
    "tab": TRUTH.replace("some words", "some\t words"),
}
METRICS = ("teds", "grits_con", "grits_top", "reader", "cell_f1", "row_f1")


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
@pytest.mark.parametrize("metric", METRICS)
def test_pairs_api_and_tables_of_a_run_agree(metric: str, written: str) -> None:
    best = get_metric(metric).metadata.range[1]
    line = json.dumps({"id": 1, "truth": TRUTH, "pred": written})
    (in_pairs,) = score_lines([line], [metric])
    as_tables = get_metric(metric).score(TableInput(read_table(TRUTH)), TableInput(read_table(written)))
    assert in_pairs.score.value == score(TRUTH, written, [metric])[metric].value == as_tables.value == best


@pytest.mark.parametrize("metric", ["teds", "grits_con"])
def test_raw_reading_is_an_option(metric: str) -> None:
    line = json.dumps({"id": 1, "truth": TRUTH, "pred": WRITTEN["no-break"]})
    (raw,) = score_lines([line], [metric], raw=True)
    assert raw.score.value is not None and raw.score.value < 1


def test_elements_inside_of_cells_count_only_where_the_reference_counts_them() -> None:
    wrong = TRUTH.replace("some words", "xxxxxxxxxx")
    padded = wrong.replace("xxxxxxxxxx", "xxxxxxxxxx" + "<i></i>" * 1000)
    teds, raw = get_metric("teds"), get_metric("teds(normalize=none)")

    def value(metric: object, pred: str) -> float:
        return metric.score(TableInput(TRUTH), TableInput(pred)).value  # type: ignore[attr-defined,no-any-return]

    assert value(teds, padded) == value(teds, wrong) < 0.9
    assert value(raw, wrong) < 0.9 < 0.99 < value(raw, padded), "as in PubTabNet's metric.py"


def test_details_are_in_the_output_of_pairs() -> None:
    line = json.dumps({"id": 1, "truth": TRUTH, "pred": TRUTH.replace("81 237", "1")})
    (found,) = score_lines([line], ["reader"])
    row = json.loads(found.as_json())
    assert row["errors"] and row["details"]["counts"]
