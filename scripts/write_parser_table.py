"""Write locks and the table of parsers from the headers of workers (`make workers`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from parsemark.errors import ParserError
from parsemark.parsers.catalogue import builtin_scripts, get_parser, parser_names
from parsemark.parsers.declaration import read_declaration
from parsemark.parsers.environment import needs_lock, read_lock, write_lock
from parsemark.parsers.npm import npm_lock_path, read_npm_packages
from parsemark.parsers.parser import Parser
from parsemark.specs import format_option

BEGIN, END = "<!-- parsers: begin -->", "<!-- parsers: end -->"
PAPERS = ("Soric et al.", "OmniDocBench", "Horn & Keuper")


def unlocked(scripts: Iterable[Path]) -> Iterator[Path]:
    """Yield workers whose lock is missing or does not match their list of packages."""
    for script in scripts:
        declaration = read_declaration(script)
        try:
            is_locked = bool(read_lock(script, declaration)) or not needs_lock(declaration)
            if read_npm_packages(script, declaration) is not None:
                is_locked = is_locked and npm_lock_path(script).is_file()
        except ParserError:
            is_locked = False
        if not is_locked:
            yield script


def parser_table() -> str:
    """Return all parsers as a Markdown table: origin, requirements, output."""
    rows = [_row(get_parser(name)) for name in parser_names()]
    head = ["parser", "what it is", "licence", "needs", "gives", "options (default first)"]
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def papers_list() -> str:
    """Return the parsers that each paper compares, as a Markdown list."""
    by_paper: dict[str, list[str]] = {}
    for name in parser_names():
        for part in get_parser(name).info.paper.split(";"):
            for paper in PAPERS:
                if paper in part.partition(":")[0]:
                    by_paper.setdefault(paper, []).append(f"`{name}`")
    return "\n".join(f"- {paper}: {', '.join(names)}" for paper, names in by_paper.items())


def with_table(page: str) -> str:
    """Return the page with a new table between its marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{parser_table()}\n\nParsers of the papers:\n\n{papers_list()}\n{END}{after}"


def _row(parser: Parser) -> list[str]:
    info = parser.info
    needs = [_need(need) for need in info.needs]
    for option in info.options.values():
        by_need: dict[str, list[str]] = {}
        for choice in option.choices:
            for need in option.needs_of(choice):
                by_need.setdefault(_need(need), []).append(f"`{choice}`")
        needs += [f"{need} ({_few(choices, limit=3)})" for need, choices in by_need.items()]
    if info.reads != ("pdf",):
        needs.append(f"reads {', '.join(kind.upper() for kind in info.reads)}")
    limits = sorted({source.licence for source in info.weights if source.restricted})
    needs += [f"licence of the weights: {licence}" for licence in limits]
    if info.paid:
        needs.append("paid by the page")
    return [
        f"[`{parser.name}`]({info.homepage})",
        _plain(info.about),
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


def _few(values: list[str], separator: str = ", ", limit: int = 6) -> str:
    return separator.join(values[:limit]) + (
        f" and {len(values) - limit} more" if len(values) > limit else ""
    )


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    for worker in unlocked(builtin_scripts().values()):
        write_lock(worker, read_declaration(worker))
    page = Path(__file__).parents[1] / "docs" / "reference" / "parsers.md"
    page.write_text(with_table(page.read_text(encoding="utf-8")), encoding="utf-8")
