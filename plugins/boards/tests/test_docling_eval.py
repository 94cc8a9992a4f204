"""docling-eval: its own results on examples, and the protocol on pages."""

import json
from pathlib import Path
from typing import Any

import docling_programs
import docling_words as words
import pytest
from benchmark_pages import HTML, TITLE, WORDS, page, values
from reference_examples import families, same

from parsemark.errors import MissingDependencyError
from parsemark.model import Box, Cell, Element, Page, Prediction, Table
from parsemark.protocols import get_protocol
from parsemark_boards.docling_eval import items, measures

TABLE = Element("t", "table", order=1, table=Table.from_rows([["a", "b"], ["c", "d"]]))


@pytest.fixture(autouse=True)
def needs_words() -> None:
    """Skip where nobody may install Debian's `wordnet-base`; `make system`, and so `make test`, brings it."""
    try:
        get_protocol("docling-eval").preload()
    except MissingDependencyError as error:
        pytest.skip(str(error))


def own_result(family: str, given: dict[str, Any]) -> Any:
    """What we make of an example."""
    if family == "teds":
        both = {"teds": False, "teds_structure": True}
        found: dict[str, Any] = {}
        for name, only in both.items():
            value = measures.table_teds(given["true_html"], given["pred_html"], structure_only=only)
            found |= {name: value and round(value, 3), f"{name}_unrounded": value}
        return found
    if family == "table_html":
        html = items.table_html(given["table"], given["caption"])
        return {"html": html, "is_complex": docling_programs.is_complex(given["table"])}
    if family == "bbox_text":
        sides = [[(items.top_left(box, 1000), box["text"]) for box in given[k]] for k in ("true", "pred")]
        return {"matches": words.boxes_text(*sides)}
    if family == "ard":
        areas = [abs((b[2] - b[0]) * (b[3] - b[1])) for b in given["boxes"]]
        return dict(
            zip(("ard_norm", "w_ard_norm"), words.order_scores(areas, given["pred_order"]), strict=True)
        )
    if family == "ocr":
        pages = [words.word_scores(one["true"], one["pred"]) for one in given["pages"]]
        return {"pages": pages, "aggregate": words.words_of_run(pages)}
    if family.endswith("_run"):
        more = {"structure_only": True} if given.get("structure_only") else {}
        if given.get("missing_prediction_strategy") == "ignore":
            more["ignore_missing"] = True
        return getattr(docling_programs, family)(given["docs"], **more)
    simple = {
        "text": lambda: measures.text_scores(given["true_md"], given["pred_md"]),
        "markdown": lambda: {"md": items.markdown(given["items"])},
        "structure": lambda: {"edit_distance": measures.structure_distance(given["true"], given["pred"])},
        "key_value": lambda: words.key_values(given["true"], given["pred"], strict=given["strict"]),
        "stats": lambda: measures.statistics_of(
            given["values"], given["nr_bins"], 1.0 if given["max_value_is_one"] else None
        ),
    }
    return simple[family]()


@pytest.mark.conformance
def test_docling_eval_examples(reference_data: Path) -> None:
    for example in families(reference_data, "docling-eval"):
        try:
            own = own_result(example["family"], example["input"])
        except (ZeroDivisionError, TypeError) as error:
            assert f'"error": "{type(error).__name__}"' in json.dumps(example["expected"]), example["id"]
        else:
            assert same(own, example["expected"]), example["id"]


def test_the_truth_itself_is_best_as_far_as_it_can() -> None:
    truth = page(TITLE, TABLE, WORDS)
    found = values("docling-eval", truth, f"# Tides\n\n{HTML}\n\nSlack water lasts nine minutes.")
    assert found["f1_score"] == found["bleu"] == found["teds_struct"] == 1 and found["edit_distance"] == 0
    assert found["meteor"] is not None and 0.9 < found["meteor"] < 1


def test_quotes_in_cells_are_escaped_and_bins_of_nothing_reach_to_one() -> None:
    cells = [[0, 0, 1, 1, "5\" 'x'"]]
    written = items.table_html({"rows": 1, "cols": 1, "cells": cells}, None)
    assert "<td>5&quot; &#x27;x&#x27;</td>" in written
    nothing = measures.statistics_of([], 4, None)
    assert nothing["bins"] == [0, 0.25, 0.5, 0.75, 1] and nothing["total"] == sum(nothing["hist"]) == 0


def test_what_is_left_out_upstream_is_worth_nothing_on_demand() -> None:
    truth = page(TITLE, TABLE, WORDS)
    found = values("docling-eval", truth, "")
    assert found["f1_score"] is None and found["teds"] is None and found["structure"] == 3
    strict = values("docling-eval(empty_left_out=false,mismatch_left_out=false)", truth, "")
    assert strict["f1_score"] == strict["teds"] == strict["teds_struct"] == 0 and strict["edit_distance"] == 1


def test_each_table_is_a_row_and_structure_alone_on_demand() -> None:
    good, other = (
        TABLE,
        Element("u", "table", order=3, table=Table(1, 2, (Cell(0, 0, "x"), Cell(0, 1, "y")))),
    )
    changed = Element("u", "table", order=3, table=Table(1, 2, (Cell(0, 0, "x"), Cell(0, 1, "z"))))
    truth = page(good, other)
    pred = Prediction("p", "one", elements=(TITLE, good, changed))
    for spec, n_rows in (("docling-eval", 4), ("docling-eval(struct_with_content=false)", 2)):
        rows = get_protocol(spec).score_page(truth, pred, None).scores
        assert [row.value for row in rows if row.metric == "teds"] == [1, 0.75]
        own = [row.value for row in rows if row.metric == "teds_struct"]
        assert len(own) == n_rows and own[-1] == 1
    assert rows[0].element == "" and [r.element for r in rows if r.metric == "teds"] == ["1", "2"]


def test_pixels_need_boxes_and_a_perfect_page_is_below_one() -> None:
    boxed = Element("w", "text_block", Box(0, 0, 50, 50), 0, text="some words")
    truth = Page("p", 100, 100, (boxed,))
    rows = get_protocol("docling-eval").score_page(truth, Prediction("p", "one", elements=(boxed,)), None)
    found = {row.metric: row.value for row in rows.scores}
    assert found["pixel_f1"] == pytest.approx(2 / 18) and found["pixel_f1_collapsed"] == 1


def test_huge_pages_and_tables_are_refused() -> None:
    boxed = Element("w", "text_block", Box(0, 0, 50, 50), 0, text="some words")
    rows = get_protocol("docling-eval").score_page(
        Page("p", 1e6, 1e6, (boxed,)), Prediction("p", "one", text="x"), None
    )
    assert {row.value for row in rows.scores} == {0.0} and "pixels" in str(rows.scores[0].message)
    deep = "<table><tr><td>" * 400
    assert values("docling-eval", page(TABLE), deep)["structure"] == 0
    many = [measures.ClassedBox((0, 0, 1, 1), 0)] * 2000
    with pytest.raises(Exception, match="boxes"):
        measures.page_layout(measures.BoxPage("p", many, many), ["text"])
