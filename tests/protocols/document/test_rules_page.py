"""The page of the published rules has every section that the code cites."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "plugins" / "boards" / "docs" / "omnidocbench-rules.md"
CODE = ROOT / "src" / "parsemark" / "protocols" / "document"
CITATION = re.compile(r"\bsections? ((?:\d+(?:\.\d+)?(?:, | and | to )?)+)")


def cited() -> dict[str, str]:
    """Each section that a file of the published rules cites, with the file."""
    return {
        number: path.name
        for path in sorted(CODE.rglob("*.py"))
        for found in CITATION.findall(path.read_text(encoding="utf-8"))
        for number in re.findall(r"\d+(?:\.\d+)?", found)
    }


def test_every_section_that_is_cited_exists() -> None:
    there = set(re.findall(r"(?m)^##+ (\d+(?:\.\d+)?)\b", PAGE.read_text(encoding="utf-8")))
    assert {"3.12", "5.10", "8"} <= set(cited()) <= there, sorted(set(cited()) - there)


def test_the_sections_are_in_order() -> None:
    numbers = re.findall(r"(?m)^##+ (\d+)(?:\.(\d+))?\b", PAGE.read_text(encoding="utf-8"))
    places = [(int(major), int(minor) if minor else -1) for major, minor in numbers]
    assert places == sorted(set(places))


def test_the_code_says_where_the_rules_are() -> None:
    assert "omnidocbench-rules.md" in (CODE / "omnidocbench" / "__init__.py").read_text(encoding="utf-8")
