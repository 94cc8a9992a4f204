"""Print the number of words of each page of the documentation (a report for CI, not a gate)."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORD = re.compile(r"\S*\w\S*")
"""Signs alone, as the bars of tables, are not words."""
GENERATED = re.compile(r"<!-- (\w+): begin -->.*?<!-- \1: end -->", re.S)
"""Parts of a page that a script writes."""


def pages() -> list[Path]:
    """Return all pages of the documentation, those of plug-ins included."""
    texts = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]
    return [*texts, *sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("plugins/*/docs/*.md"))]


def count_words(text: str) -> tuple[int, int]:
    """Return the number of words of a page, and how many of these are in generated parts."""
    generated = sum(len(WORD.findall(part[0])) for part in GENERATED.finditer(text))
    return len(WORD.findall(text)), generated


def report() -> str:
    """Return the word counts as a Markdown table, largest page first."""
    counts = {page: count_words(page.read_text(encoding="utf-8")) for page in pages()}
    rows = [
        f"| {page.relative_to(ROOT).as_posix()} | {words:,} | {generated:,} |"
        for page, (words, generated) in sorted(counts.items(), key=lambda item: -item[1][0])
    ]
    docs = [count for page, count in counts.items() if page.is_relative_to(ROOT / "docs")]
    words, generated = (sum(column) for column in zip(*docs, strict=True))
    head = [f"docs/: {words:,} words, {generated:,} of them generated.", ""]
    return "\n".join([*head, "| page | words | generated |", "|---|---:|---:|", *rows])


if __name__ == "__main__":
    print(report())  # noqa: T201 # for CI
