"""What holds for any two tables."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.metrics.reader.reading import value

from parsemark.formats import write_table
from parsemark.metrics import score
from parsemark.model import Table

WORDS = st.sampled_from(
    ["a", "Acc.", "1.2", "-3", "", "—", "10%", "σ=15", "R<sub>1</sub>", "|x|", "Total", "2024", "{", "^"]
)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    n_cols = draw(st.integers(1, 5))
    rows = draw(st.lists(st.lists(WORDS, min_size=n_cols, max_size=n_cols), min_size=1, max_size=6))
    return Table.from_rows(rows, header_rows=draw(st.none() | st.integers(0, 2)))


@settings(max_examples=100)
@given(tables())
def test_a_table_says_all_of_itself(table: Table) -> None:
    assert value(table, table) == 10.0


@settings(max_examples=60)
@given(tables())
def test_so_does_its_html(table: Table) -> None:
    assert value(table, write_table(table, "html")) == 10.0


@settings(max_examples=100)
@given(tables(), tables())
def test_values_and_costs_fit_together(truth: Table, pred: Table) -> None:
    result = score(truth, pred, metrics=["reader"])["reader"]
    assert result.value is not None
    assert 0.0 <= result.value <= 10.0
    errors = result.details["errors"]
    assert all(error["cost"] >= 0 and error["message"] for error in errors)
    if result.value < 9.99 and result.details["n_errors"] <= len(errors) and errors:
        assert abs(sum(error["cost"] for error in errors) - (10 - result.value)) < 0.01
