"""Writes the table of parsers in docs/parsers.md anew from the workers' own declarations."""

from __future__ import annotations

from pathlib import Path

from parsemark.parsers.catalogue import get_parser, parser_names
from parsemark.parsers.parser import Parser
from parsemark.specs import format_option

BEGIN, END = "<!-- parsers: begin -->", "<!-- parsers: end -->"


def parser_table() -> str:
    """All parsers as a Markdown table: where they come from, what they need, what they give."""
    rows = [_row(get_parser(name)) for name in parser_names()]
    head = ["parser", "what it is", "in the papers", "licence", "needs", "gives", "options (default first)"]
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def with_table(page: str) -> str:
    """The page with the table between its marks made anew."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{parser_table()}\n{END}{after}"


def _row(parser: Parser) -> list[str]:
    info = parser.info
    needs = [_need(need) for need in info.needs]
    for option in info.options.values():
        by_need: dict[str, list[str]] = {}
        for choice in option.choices:
            for need in option.needs_of(choice):
                by_need.setdefault(_need(need), []).append(f"`{choice}`")
        needs += [f"{need} ({_few(choices)})" for need, choices in by_need.items()]
    if info.reads != ("pdf",):
        needs.append(f"reads {', '.join(kind.upper() for kind in info.reads)}")
    if info.weights:
        needs.append(info.weights)
    if info.paid:
        needs.append("paid by the page")
    return [
        f"[`{parser.name}`]({info.homepage})",
        _plain(info.about),
        _plain(info.paper) or "-",
        info.licence,
        _plain("; ".join(needs)) or "-",
        ", ".join(info.gives),
        _options(parser) or "-",
    ]


def _need(need: str) -> str:
    kind, _, name = need.partition(":")
    return {"env": f"`{name}`", "folder": f"weights in `{name}`"}.get(kind, need)


def _options(parser: Parser) -> str:
    shown = []
    for key, option in parser.info.options.items():
        others = [choice for choice in option.choices if choice != option.default]
        values = [format_option(option.default), *(format_option(c) for c in others)]
        shown.append(f"`{key}={_few(values, ', ')}`" if others else f"`{key}={values[0]}`")
    return _plain(", ".join(shown))


def _few(values: list[str], separator: str = ", ") -> str:
    return separator.join(values[:6]) + (f" and {len(values) - 6} more" if len(values) > 6 else "")


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    page = Path(__file__).parents[1] / "docs" / "parsers.md"
    page.write_text(with_table(page.read_text(encoding="utf-8")), encoding="utf-8")
