"""The kit's helper for document tools: labels, boxes, HTML."""

import importlib
import sys
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsemark.model import Category
from parsemark.parsers.parser import KIT


@pytest.fixture(scope="module")
def layout() -> ModuleType:
    sys.path.insert(0, str(KIT.parent))
    try:
        return importlib.import_module("parsemark_layout")
    finally:
        sys.path.remove(str(KIT.parent))


@pytest.mark.parametrize(
    ("label", "text", "category"),
    [
        ("Section-header", None, Category.TITLE),
        ("paragraph_title", None, Category.TITLE),
        ("plain text", None, Category.TEXT_BLOCK),
        ("isolate_formula", None, Category.EQUATION_ISOLATED),
        ("Page-Footer", None, Category.FOOTER),
        ("caption", "Table 3: x", Category.TABLE_CAPTION),
        ("Caption", "Tab. 3", Category.TABLE_CAPTION),
        ("Caption", "Tableau", Category.FIGURE_CAPTION),
        ("Caption", None, Category.FIGURE_CAPTION),
        ("a label of next year", None, Category.TEXT_BLOCK),
    ],
)
def test_labels(layout: ModuleType, label: str, text: str | None, category: str) -> None:
    assert layout.category_of(label, text) == category


def test_every_category_is_ours(layout: ModuleType) -> None:
    assert set(layout._CATEGORY_OF.values()) <= {str(c) for c in Category}


def test_boxes(layout: ModuleType) -> None:
    assert layout.corners((1, 2, 3, 4)) == (1, 2, 3, 4)
    assert layout.corners([(3, 4), (1, 4), (1, 2), (3, 2)]) == (1, 2, 3, 4)
    assert layout.corners([1, 2, 3, 2, 3, 4, 1, 4]) == (1, 2, 3, 4)
    assert layout.on_page(((0.5, 0.25), (1, 0.5)), 600, 800) == (300, 200, 600, 400)
    with pytest.raises(ValueError, match="corners"):
        layout.corners((1, 2, 3))


def test_html(layout: ModuleType) -> None:
    inner = "<table><tr><td><table><tr><td>in</td></tr></table></td></tr></table>"
    page = f"<p>x</p><div>{inner}</div><table></table>"
    assert layout.first_table(page) == inner
    assert layout.first_table("<p>none</p>") is None
    assert layout.first_table("<TABLE><tr><td>open") == "<TABLE><tr><td>open"
    said = layout.plain_text("<h1>A &amp; B</h1><p>see <math>x^2</math><br>next</p><script>no</script>")
    assert said == "A & B\nsee $x^2$\nnext"


@given(st.text(alphabet="<>/tableTABLE !-'\"&;x \n", max_size=200))
def test_any_markup_is_read(text: str) -> None:
    sys.path.insert(0, str(KIT.parent))
    try:
        module = importlib.import_module("parsemark_layout")
    finally:
        sys.path.remove(str(KIT.parent))
    assert isinstance(module.plain_text(text), str)
    found = module.first_table(text)
    assert found is None or found in text
    element = module.layout_element("table", html=text, box=(0, 0, 1, 1))
    assert element["category"] == "table"


def test_a_formula_may_come_as_text(layout: ModuleType) -> None:
    element = layout.layout_element("formula", text="$$ x^2 $$", box=(2, 2, 4, 4), scale=0.5)
    assert element["latex"] == "x^2" and element["text"] is None and element["box"] == [1, 1, 2, 2]
