"""What every metric promises. A metric that is added is held to this without a line here."""

import dataclasses
import itertools
import pickle
from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import parsemark.metrics as room
from parsemark.errors import UnknownNameError, UsageError
from parsemark.metrics import METRICS, Metric, TableInput, get_metric, list_metrics, score
from parsemark.model import Status

from .table_examples import EMPTY, EXAMPLES, html_tables


def _variants(metric: Metric[Any]) -> list[Metric[Any]]:
    """The metric with every combination of its options."""
    hints = get_type_hints(type(metric))
    fields = dataclasses.fields(metric)
    choices = [(True, False) if hints[f.name] is bool else get_args(hints[f.name]) for f in fields]
    return [
        type(metric)(**dict(zip((f.name for f in fields), values, strict=True)))
        for values in itertools.product(*choices)
    ]


def _value(metric: Metric[Any], truth: TableInput, pred: TableInput) -> float:
    """The value alone, of metrics that explain it too."""
    result = metric.compute(truth, pred)
    return result[0] if isinstance(result, tuple) else result


TABLE_METRICS = [v for m in list_metrics() if m.metadata.kind == "table" for v in _variants(m)]
every = pytest.mark.parametrize("metric", TABLE_METRICS, ids=str)


def test_none_forgotten() -> None:
    """Every metric class of the room is registered under its name."""
    classes = set()
    for path in METRICS.builtin.values():
        module, _, name = path.partition(":")
        classes.add((module, name))
    for module in {module for module, _ in classes}:
        contents = vars(__import__(module, fromlist=["x"]))
        for name, thing in contents.items():
            if isinstance(thing, type) and issubclass(thing, Metric) and thing.__module__ == module:
                assert (module, name) in classes, f"{name} is not registered"
    assert all(METRICS.load(name).name == name for name in METRICS.builtin)
    families = {p.split(":")[0] for p in METRICS.builtin.values()}
    for module in (
        "teds",
        "grits",
        "bags",
        "text",
        "reader.metric",
    ):
        assert f"{room.__name__}.{module}" in families


@every
def test_a_name_is_an_identity(metric: Metric[Any]) -> None:
    assert get_metric(str(metric)) == metric
    assert pickle.loads(pickle.dumps(metric)) == metric


@every
def test_facts_are_told(metric: Metric[Any]) -> None:
    metadata = metric.metadata
    assert metadata.title and metadata.citation and metadata.reference
    assert metadata.range[0] < metadata.range[1]
    doc = type(metric).__doc__ or ""
    for part in ("Empty cases:", "Differences from the reference", ">>>"):
        assert part in doc


@every
@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_a_table_is_like_itself(metric: Metric[Any], example: str) -> None:
    best = metric.metadata.range[1] if metric.metadata.higher_is_better else metric.metadata.range[0]
    assert _value(metric, TableInput(example), TableInput(example)) == pytest.approx(best, abs=1e-12)


@every
def test_empty_cases(metric: Metric[Any]) -> None:
    for empty in ("", EMPTY, None, "no table here"):
        assert _value(metric, TableInput(empty), TableInput(EMPTY)) == metric.metadata.both_empty
        for example in EXAMPLES.values():
            assert _value(metric, TableInput(example), TableInput(empty)) == metric.metadata.one_empty
            assert _value(metric, TableInput(empty), TableInput(example)) == metric.metadata.one_empty


@every
@settings(max_examples=25)
@given(a=html_tables(), b=html_tables())
def test_range_and_symmetry(metric: Metric[Any], a: str, b: str) -> None:
    low, high = metric.metadata.range
    there = _value(metric, TableInput(a), TableInput(b))
    assert low - 1e-9 <= there <= high + 1e-9
    if metric.metadata.symmetric:
        assert _value(metric, TableInput(b), TableInput(a)) == pytest.approx(there, abs=1e-9)


@every
def test_inputs_are_prepared_once_and_not_changed(metric: Metric[Any]) -> None:
    truth, pred = TableInput(EXAMPLES["spanned"]), TableInput(EXAMPLES["plain"])
    first = metric.compute(truth, pred)
    table = pickle.dumps(truth.table)
    assert metric.compute(truth, pred) == first
    assert pickle.dumps(truth.table) == table
    assert metric.compute(pickle.loads(pickle.dumps(truth)), TableInput(EXAMPLES["plain"])) == first


def test_unknown_names_get_help() -> None:
    with pytest.raises(UnknownNameError, match="teds"):
        get_metric("ted")
    with pytest.raises(UsageError, match="structure_only"):
        get_metric("teds(structur_only=true)")
    with pytest.raises(UsageError, match="soric"):
        get_metric("teds(normalize=all)")


def test_score_uses_canonical_names() -> None:
    assert list(score("", "", metrics=["teds(normalize=soric)", "grits_con( mode = exact )"])) == [
        "teds",
        "grits_con(mode=exact)",
    ]


@settings(max_examples=50)
@given(text=st.text(max_size=200) | html_tables())
def test_any_text_has_a_score_or_a_message(text: str) -> None:
    for result in score(EXAMPLES["plain"], text, metrics=METRICS.builtin).values():
        assert (result.value is None) == (result.status is Status.METRIC_FAILED)
