"""Writes the table of parsers in docs/parsers.md anew from the workers' own declarations."""

from pathlib import Path

from parsemark.parsers.listing import with_table

if __name__ == "__main__":
    page = Path(__file__).parents[1] / "docs" / "parsers.md"
    page.write_text(with_table(page.read_text(encoding="utf-8")), encoding="utf-8")
