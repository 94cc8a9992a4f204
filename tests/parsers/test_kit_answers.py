"""Answers of vision-language models, in the forms that their authors document, whole and broken."""

import importlib
import json
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import N_SHAPES, excess, inputs

from parsemark.formats import read_tables
from parsemark.model import Prediction, Status
from parsemark.parsers.parser import KIT
from parsemark.parsers.raw import read_raw

PAGE = (612.0, 792.0)
TABLE = "<table><tr><td>a</td><td>b</td></tr></table>"


def _module() -> ModuleType:
    sys.path.insert(0, str(KIT.parent))
    try:
        return importlib.import_module("parsemark_answers")
    finally:
        sys.path.remove(str(KIT.parent))


@pytest.fixture(scope="module")
def answers() -> ModuleType:
    return _module()


def _read(output: dict[str, Any]) -> Prediction:
    found = read_raw(json.dumps(output).encode(), "s", "p")
    assert found.status is Status.OK, found.message
    return found


def _rows(html: str) -> list[list[list[str]]]:
    return [found.table.text_rows() for found in read_tables(html, "html")]


# --- dots.ocr -------------------------------------------------------------------------------------------

DOTS = [
    {"bbox": [170, 40, 900, 60], "category": "Page-header", "text": "Journal of Things"},
    {"bbox": [170, 100, 1500, 160], "category": "Section-header", "text": "## 2 Results"},
    {"bbox": [170, 200, 1500, 260], "category": "Formula", "text": "$$\n\\frac{a}{b} = c\n$$"},
    {"bbox": [170, 300, 1500, 600], "category": "Table", "text": TABLE},
    {"bbox": [170, 610, 1500, 640], "category": "Caption", "text": "Table 1: sums"},
    {"bbox": [170, 700, 1500, 900], "category": "Picture"},
    {"bbox": [170, 950, 1500, 980], "category": "Text", "text": "as $x$ shows"},
]


def test_dots(answers: ModuleType) -> None:
    found = _read(answers.dots_output(json.dumps(DOTS), (1700, 2200), PAGE))
    assert [e.category for e in found.elements] == [
        "header",
        "title",
        "equation_isolated",
        "table",
        "table_caption",
        "figure",
        "text_block",
    ]
    assert [e.order for e in found.elements] == list(range(7))
    assert found.elements[1].text == "2 Results" and found.elements[2].latex == "\\frac{a}{b} = c"
    (table,) = found.tables
    assert table.table is not None and table.table.text_rows() == [["a", "b"]]
    assert table.box is not None and table.box.as_tuple() == pytest.approx((61.2, 108, 540, 216))
    assert found.text == (
        f"## 2 Results\n\n$$\n\\frac{{a}}{{b}} = c\n$$\n\n{TABLE}\n\nTable 1: sums\n\nas $x$ shows"
    )


@pytest.mark.parametrize("whole", [0, 1, 3, 6])
def test_a_list_that_breaks_off_keeps_what_came_before_and_what_is_there(
    answers: ModuleType, whole: int
) -> None:
    text = json.dumps(DOTS)
    start = len(json.dumps(DOTS[:whole])) + 1 if whole else 1
    cut = text.index('"category"', start) + len('"category": "Tab')
    found = _read(answers.dots_output(text[: max(cut, start)], (1700, 2200), PAGE))
    assert len(found.elements) >= whole
    kept = _read(answers.dots_output(json.dumps(DOTS), (1700, 2200), PAGE)).elements[:whole]
    assert found.elements[:whole] == kept


def test_the_text_of_a_table_that_breaks_off_stays(answers: ModuleType) -> None:
    text = json.dumps(DOTS)
    found = _read(answers.dots_output(text[: text.index("b</td>") + 1], (1700, 2200), PAGE))
    (table,) = found.tables
    assert table.table is not None and table.table.text_rows() == [["a", "b"]] and table.box is not None


@pytest.mark.parametrize(
    ("bad", "kept"),
    [
        ({"bbox": [0, 0, 10], "category": "Text", "text": "x"}, True),
        ({"bbox": [float("nan"), 0, 10, 10], "category": "Text", "text": "x"}, True),
        ({"bbox": ["a", 0, 10, 10], "category": "Text", "text": "x"}, True),
        ({"bbox": [5000, 5000, 6000, 6000], "category": "Text", "text": "x"}, True),
        ({"bbox": None, "category": "Of next year", "text": "x"}, True),
        ({"category": 7, "text": 8}, False),
        ("nothing", False),
        ({"bbox": [1, 2, 3, 4], "category": "Text", "text": {"a": 1}}, True),
    ],
)
def test_an_entry_that_is_wrong_costs_itself(answers: ModuleType, bad: object, kept: bool) -> None:
    text = json.dumps([DOTS[3], bad, DOTS[6]])
    found = _read(answers.dots_output(text, (1700, 2200), PAGE))
    assert found.elements[0].table is not None and found.elements[-1].text == "as $x$ shows"
    assert len(found.elements) == 2 + kept


def test_boxes_are_cut_at_the_page(answers: ModuleType) -> None:
    text = json.dumps([{"bbox": [-50, 100, 9999, 200], "category": "Text", "text": "x"}])
    (element,) = _read(answers.dots_output(text, (1700, 2200), PAGE)).elements
    assert element.box is not None and element.box.as_tuple() == pytest.approx((0, 36, 612, 72))


def test_json_as_models_write_it(answers: ModuleType) -> None:
    """Quotes that are not escaped, LaTeX whose backslashes are not doubled, line breaks inside of strings."""
    text = (
        '[{"bbox": [0, 0, 170, 220], "category": "Table", "text": "<table><tr><td colspan="2">h</td>'
        '</tr></table>"},\n'
        ' {"bbox": [0, 300, 170, 400], "category": "Formula", "text": "\\theta = \\frac{1}{2} \\alpha"},\n'
        ' {"bbox": [0, 500, 170, 600], "category": "Text", "text": "one\ntwo"}]'
    )
    found = _read(answers.dots_output(text, (1700, 2200), PAGE))
    assert [e.category for e in found.elements] == ["table", "equation_isolated", "text_block"]
    assert found.tables[0].table is not None and found.tables[0].table.n_cols == 2
    assert found.elements[1].latex == "\\theta = \\frac{1}{2} \\alpha"
    assert all(e.box is not None for e in found.elements)


def test_an_answer_that_is_no_list_is_markdown(answers: ModuleType) -> None:
    found = _read(answers.dots_output(f"# Title\n\n{TABLE}", (1700, 2200), PAGE))
    assert len(found.tables) == 1 and found.text is not None and found.text.startswith("# Title")


# --- DeepSeek-OCR ---------------------------------------------------------------------------------------

DEEPSEEK = f"""<|ref|>sub_title<|/ref|><|det|>[[100, 50, 899, 80]]<|/det|>
## Results

<|ref|>text<|/ref|><|det|>[[100, 100, 480, 200]]<|/det|>
We see \\( x < y \\) in [[3, 4]].

<|ref|>equation<|/ref|><|det|>[[100, 210, 480, 240]]<|/det|>
\\[ a \\coloneqq b \\]

<|ref|>table<|/ref|><|det|>[[100, 300, 899, 500]]<|/det|>
{TABLE}

<|ref|>table_caption<|/ref|><|det|>[[100, 510, 899, 530]]<|/det|>
Table 1 | Sums.

<|ref|>image<|/ref|><|det|>[[100, 600, 300, 700], [310, 600, 500, 720]]<|/det|>
<｜end▁of▁sentence｜>"""


def test_deepseek(answers: ModuleType) -> None:
    found = _read(answers.deepseek_output(DEEPSEEK, (999.0, 999.0)))
    assert [e.category for e in found.elements] == [
        "title",
        "text_block",
        "equation_isolated",
        "table",
        "table_caption",
        "figure",
    ]
    assert [e.box.as_tuple() for e in found.elements if e.box] == [
        (100, 50, 899, 80),
        (100, 100, 480, 200),
        (100, 210, 480, 240),
        (100, 300, 899, 500),
        (100, 510, 899, 530),
        (100, 600, 500, 720),
    ]
    assert found.elements[2].latex == "a := b" and found.tables[0].table is not None
    assert found.text is not None and "<|" not in found.text and "[[3, 4]]" in found.text
    assert "end" not in found.text


def test_deepseek_without_its_special_tokens(answers: ModuleType) -> None:
    """A server that skips special tokens leaves the label and the numbers."""
    bare = DEEPSEEK
    for token in ("<|ref|>", "<|/ref|>", "<|det|>", "<|/det|>", "<｜end▁of▁sentence｜>"):
        bare = bare.replace(token, "")
    assert _read(answers.deepseek_output(bare, PAGE)) == _read(answers.deepseek_output(DEEPSEEK, PAGE))


@pytest.mark.parametrize(
    ("tag", "boxes"),
    [
        ("<|ref|>text<|/ref|><|det|>[[1, 2, 3]]<|/det|>\n", 1),
        ("<|ref|>text<|/ref|><|det|>[[100, 100, 200, 200]]\n", 2),
        ("<|ref|>text<|det|>[[1, 2, 30, 40]]<|/det|>\n", 1),
        ("<|ref|>text<|/ref|>\n", 1),
        ("<|det|>[[1, 2, 3, 4]]", 1),
        ("<|ref|>text<|/ref|><|det|>[[5000, 5000, 6000, 6000]]<|/det|>", 1),
    ],
)
def test_a_tag_that_is_wrong_costs_itself(answers: ModuleType, tag: str, boxes: int) -> None:
    text = f"{tag}before\n<|ref|>table<|/ref|><|det|>[[10, 20, 500, 600]]<|/det|>\n{TABLE}"
    found = _read(answers.deepseek_output(text, PAGE))
    assert len(found.tables) == 1 and found.tables[0].box is not None
    assert found.text is not None and "before" in found.text and "<|" not in found.text
    assert sum(e.box is not None for e in found.elements) == boxes
    only = _read(answers.deepseek_output(f"{tag}nothing else", PAGE))
    assert only.text is not None and only.text.endswith("nothing else") and "<|" not in only.text


# --- Chandra --------------------------------------------------------------------------------------------

CHANDRA = """<div data-bbox="[102, 20, 900, 40]" data-label="Page-Header"><p>Journal</p></div>
<div data-bbox="102 64 900 96" data-label="Section-Header"><h2>Results</h2></div>
<div data-bbox="[102, 100, 900, 200]" data-label="Text"><p>We see <math>x &lt; y</math> here.</p></div>
<div data-bbox="[102, 210, 900, 260]" data-label="Equation-Block"><math display="block">a = b</math></div>
<div data-bbox="[102, 300, 900, 512]" data-label="Table"><table><tr><th>n</th>
<td><math>\\pm 1</math></td></tr></table></div>
<div data-bbox="[102, 600, 900, 700]" data-label="Form"><table><tr><td>name</td></tr></table></div>
<div data-bbox="[102, 700, 900, 900]" data-label="Image"><img alt="a cat"/></div>"""


def test_chandra(answers: ModuleType) -> None:
    found = _read(answers.chandra_output(CHANDRA, 1024, (1024.0, 512.0)))
    assert [e.category for e in found.elements] == [
        "header",
        "title",
        "text_block",
        "equation_isolated",
        "table",
        "table",
        "figure",
    ]
    assert found.elements[4].box is not None
    assert found.elements[4].box.as_tuple() == pytest.approx((102, 150, 900, 256))
    assert found.elements[1].box is not None and found.elements[1].box.as_tuple() == (102, 32, 900, 48)
    assert found.elements[2].text == "We see $x < y$ here." and found.elements[3].latex == "a = b"
    assert found.tables[0].table is not None and found.tables[0].table.text_rows() == [["n", "$\\pm 1$"]]
    assert found.text is not None and "## Results" in found.text and "cat" not in found.text
    assert "Journal" not in found.text and "$$\na = b\n$$" in found.text


@pytest.mark.parametrize(
    "bad",
    [
        '<div data-bbox="[1, 2]" data-label="Text"><p>x</p></div>',
        '<div data-bbox="nothing" data-label="Text"><p>x',
        "<div data-label=Text><p>x</div>",
        '<div data-bbox="[9000, 9000, 9999, 9999]"><p>x</p>',
        '<div data-bbox="[1, 2, 30, 40]" data-label="Text"><p>x <math>y</p></div>',
    ],
)
def test_a_block_of_chandra_that_is_wrong_costs_itself(answers: ModuleType, bad: str) -> None:
    found = _read(answers.chandra_output(f"{bad}\n{CHANDRA}", 1024, PAGE))
    assert len(found.elements) == 8 and found.elements[0].text is not None and "x" in found.elements[0].text
    assert len(found.tables) == 2 and all(t.table is not None for t in found.tables)


def test_html_without_blocks_is_html(answers: ModuleType) -> None:
    found = answers.chandra_output(f"<p><math>x</math></p>{TABLE}", 1024, PAGE)
    assert found == {"format": "html", "content": f"<p>$x$</p>{TABLE}"}


# --- MinerU2.5 ------------------------------------------------------------------------------------------


def test_the_layout_of_mineru(answers: ModuleType) -> None:
    text = (
        "<|box_start|>100 050 900 080<|box_end|><|ref_start|>title<|ref_end|><|rotate_up|>\n"
        "<|box_start|>100 100 900 300<|box_end|><|ref_start|>table<|ref_end|><|rotate_left|>\n"
        "<|box_start|>100 100 900 300<|box_end|><|ref_start|>table<|ref_end|><|rotate_left|>\n"
        "<|box_start|>100 300 900 500<|box_end|><|ref_start|>list<|ref_end|><|rotate_up|>\n"
        "<|box_start|>100 600 100 700<|box_end|><|ref_start|>text<|ref_end|>\n"
        "<|box_start|>950 950 1400 1400<|box_end|><|ref_start|>text<|ref_end|>\n"
        "<|box_start|>100 800 900"
    )
    found = answers.mineru_layout(text, (1000.0, 1000.0))
    assert [(b.label, b.box, b.angle) for b in found] == [
        ("title", (100, 50, 900, 80), 0),
        ("table", (100, 100, 900, 300), 270),
        ("text", (950, 950, 1000, 1000), 0),
    ]
    many = "".join(
        f"<|box_start|>{i} {i} 990 990<|box_end|><|ref_start|>text<|ref_end|>"
        for i in range(answers.MAX_BLOCKS + 1)
    )
    with pytest.raises(ValueError, match="501 blocks"):
        answers.mineru_layout(many, (1000.0, 1000.0))


# --- OTSL -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("<fcel>a<fcel>b<nl><fcel>c<ecel><nl>", [["a", "b"], ["c", ""]]),
        ("<fcel>a<lcel><nl><fcel>b<fcel>c<nl>", [["a", "a"], ["b", "c"]]),
        ("<fcel>a<fcel>b<nl><ucel><fcel>c<nl>", [["a", "b"], ["a", "c"]]),
        ("<fcel>a<lcel><fcel>b<nl><ucel><xcel><fcel>c<nl>", [["a", "a", "b"], ["a", "a", "c"]]),
        ("<ched>a<ched>b<nl><rhed>c<fcel>x < y & z<nl>", [["a", "b"], ["c", "x < y & z"]]),
        ("<lcel><fcel>b<nl><xcel><ucel><nl>", [["", "b"], ["", "b"]]),
        ("<fcel>a<fcel>b<nl><fcel>c<fcel>d", [["a", "b"], ["c", "d"]]),
        ("<fcel>a<lcel>b<nl>", [["a", "b"]]),
    ],
)
def test_otsl(answers: ModuleType, text: str, rows: list[list[str]]) -> None:
    (found,) = read_tables(answers.otsl_html(text), "html")
    table = found.table
    assert [[table.cell_at(r, c).text for c in range(table.n_cols)] for r in range(table.n_rows)] == rows  # type: ignore[union-attr]


def test_otsl_inside_of_a_page(answers: ModuleType) -> None:
    text = "Words\n<fcel>a<fcel>b<nl><fcel>c<fcel>d<nl>\nbetween <nl>\n<fcel>e<nl>\nend"
    read = answers.cleaned(text, ["otsl"])
    assert _rows(read) == [[["a", "b"], ["c", "d"]], [["e"]]]
    assert read.startswith("Words\n<table>") and "between" in read and read.endswith("\nend")
    assert answers.cleaned("no table, a <nl> alone", ["otsl"]) == "no table, a <nl> alone"


# --- Clean-up -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "text", "expected"),
    [
        ("fence", f"```html\n{TABLE}\n```", TABLE),
        ("fence", "```markdown\n# A\n\n```python\nx = 1\n```\n```", "# A\n\n```python\nx = 1\n```"),
        ("fence", f"Here it is:\n\n```html\n{TABLE}\n```\n", f"Here it is:\n\n{TABLE}"),
        ("fence", f"```html\n{TABLE}\n```\nand\n```html\n{TABLE}\n```", f"{TABLE}\nand\n{TABLE}"),
        ("fence", f"```html\n{TABLE}\n```\nThat is all.", f"{TABLE}\nThat is all."),
        ("fence", "```markdown\n# A\ncut", "# A\ncut"),
        ("fence", "# A\n\n```python\nx = 1\n```\n\nB", "# A\n\n```python\nx = 1\n```\n\nB"),
        ("think", "<think>\n# A?\n</think>\n# B", "\n# B"),
        ("think", "<think>it never ends", ""),
        ("front_matter", "---\nprimary_language: en\nis_table: False\n---\n# A\n\n---\n", "# A\n\n---\n"),
        ("front_matter", "---\nprimary_language: en", ""),
        ("front_matter", "---\nprimary_language: en\nThe text, without an end", "The text, without an end"),
        ("front_matter", "---\n\n| a |\n|---|\n| 1 |\n", "---\n\n| a |\n|---|\n| 1 |\n"),
        ("front_matter", "# A", "# A"),
        ("glm", "<|begin_of_box|># A<|end_of_box|>", "# A"),
        (
            "nanonets",
            "A ☑ <page_number>9/22</page_number><watermark>COPY < 2</watermark>B<img>a dog <b>runs</b></img>",
            "A ☑ B",
        ),
        ("nanonets", "<img>Figure 3: a dog</img> <signature>Jo</signature>", "Figure 3: a dog Jo"),
        ("nanonets", "<page_number>A text that goes on", "A text that goes on"),
        ("nanonets", "<img>open <img>a cat</img> B", "open  B"),
    ],
)
def test_clean_up(answers: ModuleType, step: str, text: str, expected: str) -> None:
    assert answers.cleaned(text, [step]) == expected


ALPHABET = '<>/|[]{}",:\\ \n0123456789xyz'
PIECES = [
    '{"bbox": [1, 2, 3, 4], "category": "Table", "text": "',
    "<|ref|>text<|/ref|>",
    "<|det|>[[1, 2, 3, 4]]<|/det|>",
    "<fcel>",
    "<lcel>",
    "<ucel>",
    "<xcel>",
    "<nl>",
    '<div data-bbox="[1, 2, 3, 4]" data-label="Table">',
    "<table><tr><td>",
    "<math>",
    "<img>",
    "---\n",
    "```\n",
]


@pytest.mark.parametrize("step", ["fence", "think", "front_matter", "glm", "nanonets", "otsl"])
def test_clean_up_costs_no_more_than_its_size(answers: ModuleType, step: str) -> None:
    pieces = [*PIECES, "```html\n", "<img></img>", "<page_number>", "---\na: b\n"]
    _hold_growth(pieces, lambda text: answers.cleaned(text, [step]))


@pytest.mark.parametrize("form", ["dots", "deepseek", "chandra", "mineru"])
def test_answers_cost_no_more_than_their_size(answers: ModuleType, form: str) -> None:
    read = {
        "dots": lambda text: answers.dots_output(text, (100, 100), PAGE),
        "deepseek": lambda text: answers.deepseek_output(text, PAGE),
        "chandra": lambda text: answers.chandra_output(text, 1024, PAGE),
        "mineru": lambda text: answers.mineru_layout(text, PAGE),
    }[form]
    _hold_growth([*PIECES, "<|box_start|>1 2 3 4<|box_end|>", '" } ] ', "</div>"], read)


def _hold_growth(pieces: list[str], read: Callable[[str], object]) -> None:
    found = []
    for number, (shape, make) in enumerate(inputs(pieces)):
        if number % N_SHAPES != number // N_SHAPES % N_SHAPES:
            continue
        if growth := excess(read, make):
            found.append(f"{shape}: {growth.seconds} s")
    assert not found


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(ALPHABET, max_size=8)), max_size=20).map("".join))
def test_any_answer_is_read(text: str) -> None:
    answers = _module()
    for output in (
        answers.dots_output(text, (100, 100), PAGE),
        answers.deepseek_output(text, PAGE),
        answers.chandra_output(text, 1024, PAGE),
    ):
        assert _read(output).text is not None
    for step in ("fence", "think", "front_matter", "glm", "nanonets", "otsl"):
        assert isinstance(answers.cleaned(text, [step]), str)
