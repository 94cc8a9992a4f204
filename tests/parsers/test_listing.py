"""docs/parsers.md is made of the registry, and its example works as it is printed."""

import re
from pathlib import Path

import pytest
from tests.parsers.pages import write_page

from parsemark.parsers import get_parser, parser_names
from parsemark.parsers.listing import parser_table, with_table
from parsemark.parsers.trial import try_parser

PAGE = Path(__file__).parents[2] / "docs" / "parsers.md"


def test_the_page_has_the_table_of_the_registry() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert with_table(text) == text, "run scripts/write_parser_table.py"


def test_every_parser_is_listed_once() -> None:
    rows = parser_table().splitlines()[2:]
    names = [re.match(r"\| \[`([^`]+)`\]", row) for row in rows]
    assert [m[1] for m in names if m] == parser_names()


@pytest.mark.parametrize("name", parser_names())
def test_every_worker_says_where_it_stands(name: str) -> None:
    info = get_parser(name).info
    assert all(len(line) < 200 for line in (info.about, info.paper, info.weights))
    if any(need.startswith("folder:") for need in info.needs):
        assert info.weights, "say what to put into the folder"


@pytest.mark.parsers
def test_add_your_parser_works_as_the_page_says(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    section = text[text.index("## Your own parser") :]
    code = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert code is not None
    (tmp_path / "my_parser.py").write_text(code[1])
    trial = try_parser(get_parser(str(tmp_path / "my_parser.py")), write_page(tmp_path / "paper.pdf"))
    assert trial.prediction.tables and "pdfplumber" in trial.hello.versions
