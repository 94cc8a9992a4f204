"""Every metric says what its values earn: a perfect table all, an empty one nothing."""

import pytest

from parsemark.metrics import get_metric, list_metrics, score

TABLE = "<table><tr><td>city</td><td>people</td></tr><tr><td>Lisbon</td><td>545796</td></tr></table>"
TABLE_METRICS = [str(metric) for metric in list_metrics() if metric.metadata.kind == "table"]


@pytest.mark.parametrize("name", TABLE_METRICS)
def test_a_perfect_copy_earns_all_and_nothing_earns_nothing(name: str) -> None:
    credit = get_metric(name).metadata.credit
    perfect = score(TABLE, TABLE, [name])[name].value
    empty = score(TABLE, "", [name])[name].value
    assert credit(perfect) == 1
    assert credit(empty) == 0


@pytest.mark.parametrize("metric", list_metrics(), ids=str)
def test_credit_stays_between_0_and_1(metric) -> None:
    low, high = metric.metadata.range
    values = [metric.metadata.credit(v) for v in (low - 1, low, (low + high) / 2, high, high + 1)]
    assert all(0 <= v <= 1 for v in values)
    assert sorted(values, reverse=not metric.metadata.higher_is_better) == values
