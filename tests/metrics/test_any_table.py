"""Rows as lists and DataFrames are tables, too."""

import polars as pl
import pytest

import parsemark as pm
from parsemark.errors import FormatError
from parsemark.metrics.table_input import as_input

HTML = "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>x</td></tr><tr><td></td><td>y</td></tr></table>"


@pytest.mark.parametrize(
    "table",
    [
        [["a", "b"], [1, "x"], [None, "y"]],
        (("a", "b"), (1, "x"), (float("nan"), "y")),
        pl.DataFrame({"a": [1, None], "b": ["x", "y"]}),
    ],
    ids=["lists", "tuples", "polars"],
)
def test_rows_and_frames_are_read_as_tables(table: object) -> None:
    assert pm.teds(HTML, table) == 1
    assert pm.score_pair(table, HTML, ["grits_con"])["grits_con"].value == pytest.approx(1)


def test_a_list_that_is_no_table_is_refused() -> None:
    with pytest.raises(FormatError, match="list of lists"):
        as_input(["a", "b"])
