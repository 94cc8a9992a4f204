"""Tables of all formats in one document."""

import pytest

from parsemark.errors import FormatError, UsageError
from parsemark.formats import read_document, read_tables

DOCUMENT = """\
# A page

Prose with P(A|B), and a, b, c.

<table><tr><td>h</td><td>t | m</td></tr></table>

| p | q |
|---|---|
| 1 | 2 |

+---+---+
| g | r |
+---+---+

```csv
x,y,z
1,2,3
```

```python
table = [1, 2, 3]
a | b | c
d | e | f
```

Method      P     R
ours      0.91  0.88
theirs    0.80  0.79

The end.
"""


def test_every_table_is_found_once_with_its_place_and_format() -> None:
    found = read_tables(DOCUMENT)
    assert [f.format for f in found] == ["html", "markdown", "grid", "csv", "plain"]
    assert [f.table.text_rows()[0] for f in found] == [
        ["h", "t | m"],
        ["p", "q"],
        ["g", "r"],
        ["x", "y", "z"],
        ["Method", "P", "R"],
    ]
    for table in found:
        assert DOCUMENT[table.start : table.end] == table.source


def test_windows_line_ends() -> None:
    text = DOCUMENT.replace("\n", "\r\n")
    found = read_tables(text)
    assert [f.format for f in found] == ["html", "markdown", "grid", "csv", "plain"]
    assert all(text[f.start : f.end] == f.source for f in found)
    assert not any(cell.text.endswith("\r") for f in found for cell in f.table.cells)


def test_a_named_format_is_the_only_one_looked_for() -> None:
    assert [f.format for f in read_tables(DOCUMENT, "markdown")] == ["markdown", "markdown"]


def test_an_unknown_format_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="Unknown format 'htm'"):
        read_tables("", "htm")


def test_a_fence_never_closed() -> None:
    assert [f.format for f in read_tables("```markdown\n| a | b |\n|---|---|\n| 1 | 2 |\n")] == ["markdown"]


TABULAR = "\\begin{tabular}{lc} a & b \\\\ c & d \\end{tabular}"


def test_latex_among_text() -> None:
    (found,) = read_tables(f"Before\n\n\\begin{{table}}{TABULAR}\\end{{table}}\nAfter")
    assert (found.format, found.source, found.table.text_rows()) == (
        "latex",
        TABULAR,
        [["a", "b"], ["c", "d"]],
    )


def test_latex_inside_an_html_cell_is_part_of_it() -> None:
    found = read_tables(f"<table><tr><td>x {TABULAR}</td></tr></table>{TABULAR}")
    assert [f.format for f in found] == ["html", "latex"]


def test_math_of_a_markdown_cell_is_no_table() -> None:
    cell = "$\\begin{array}{c} a \\\\ b \\end{array}$"
    found = read_tables(f"| x | {cell} |\n|---|---|\n| 1 | 2 |")
    assert [f.format for f in found] == ["markdown"]
    assert found[0].table.text_rows()[0] == ["x", cell]


def test_an_array_is_a_table_only_where_it_looks_like_one() -> None:
    array = "\\begin{array}{cc} a & b \\\\ c & d \\end{array}"
    assert read_tables(f"Text with $$ {array} $$ in it.") == []
    assert [f.format for f in read_tables(f"$$ {array} $$")] == ["latex"]
    assert [f.format for f in read_tables("Text with " + array.replace("\\\\", "\\\\ \\hline"))] == ["latex"]


def test_items_that_end_with_a_semicolon_are_no_table() -> None:
    """Only a second column makes one: a list that a page break cut has its full stop elsewhere."""
    items = "1. a review of the records;\n2. storage at four degrees;\n3. removal of duplicates;"
    assert read_tables(f"We did this:\n\n{items}\n\nThen we stopped.") == []
    assert len(read_tables("name;mass\niron;55.8\ntin;118.7")) == 1


@pytest.mark.parametrize(
    "huge",
    [
        "| a " * 10_001 + "|\n" + "|---" * 10_001 + "|\n" + "| 1 " * 10_001 + "|",
        "\n".join(",".join(["1"] * 2_000) for _ in range(200)),
    ],
)
def test_a_table_over_a_limit_costs_itself(huge: str) -> None:
    text = f"# Title\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n{huge}\n\nSome words."
    with pytest.raises(FormatError):
        read_tables(text)
    assert [f.table.text_rows() for f in read_tables(text, leave_out=True)] == [[["a", "b"], ["1", "2"]]]
    elements = read_document(text).elements
    assert [e.table.text_rows() for e in elements if e.table] == [[["a", "b"], ["1", "2"]]]
    assert {"Title", "Some words."} <= {e.text for e in elements}
