"""Tables of a run for papers, and the page that shows them: with intervals, resolved leaders in bold."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, groupby, pairwise
from pathlib import Path
from typing import Any

from parsemark.errors import ParsemarkError, UsageError, require_known
from parsemark.plain_words import (
    INTERVAL,
    attribute_name,
    counted,
    counted_name,
    format_value,
    listed,
    type_name,
    unbroken,
)
from parsemark.protocols import PROTOCOLS, Figure, Slice, Summary, get_protocol
from parsemark.report.drawing import DataTable, TableColumn, TableRow
from parsemark.report.names import safe_name
from parsemark.report.site import ReportPage, Site
from parsemark.report.source import Drawing, RunSource
from parsemark.stats.intervals import FEWEST_DOCUMENTS
from parsemark.store import Run

LEADERBOARD = "leaderboard"
ALL = "all"
FOLDED = ("by-", "all-figures")  # tables by attribute, and that of every figure, are shown when opened
_LATEX = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--", "−": "$-$",
    "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "₀": "$_0$", "→": r"$\to$",
}  # fmt: skip


def tables_of(source: RunSource) -> list[DataTable]:
    """Return the leaderboard, one table for each attribute, and those of the protocol's publications."""
    return [
        _leaderboard(source, LEADERBOARD, main=True),
        _leaderboard(source, "all-figures", main=False),
        *_breakdowns(source),
        *source.drawing.paper_tables(source),
    ]


@dataclass(frozen=True)
class RunTableSet:
    """The tables that can be made of a run, and those of its protocol that cannot."""

    found: tuple[DataTable, ...]
    missing: Mapping[str, str]  # key to what the run lacks, as what follows "needs"


def _protocol_of(key: str) -> str | None:
    """Return the protocol that stands for the publication of a table."""
    for name in PROTOCOLS:
        try:
            if key in Drawing.of(get_protocol(name).presentation().drawing).paper_table_needs:
                return name
        except ParsemarkError:  # a plug-in that cannot be loaded has no tables
            continue
    return None


def choose_tables(tables: RunTableSet, wanted: Sequence[str]) -> list[DataTable]:
    """Return the tables with these keys, in the order asked for; `all` stands for every one. Raise UsageError
    if the run lacks what such a table is made of, or was not scored by its protocol; UnknownNameError carries
    the nearest ones.
    """
    if ALL in wanted:
        return list(tables.found)
    by_key = {table.key: table for table in tables.found}
    for key in wanted:
        if key in tables.missing:
            raise UsageError(
                f"The table {key} is not available for this run: it needs {tables.missing[key]}."
            )
        if key not in by_key:
            if (other := _protocol_of(key)) is not None:
                raise UsageError(
                    f"{key} is a table of the protocol {other}. Add --protocol {other}. If the run was not "
                    f"scored by it, first run: parsemark score RUN --protocol {other}"
                )
            require_known("table", key, by_key)
    return [by_key[key] for key in wanted]


def beside_each_other(sources: Sequence[RunSource]) -> list[DataTable]:
    """Return the tables of several runs with one group of columns for each corpus, as papers print them."""
    labels = [source.corpus for source in sources]
    if len(set(labels)) < len(labels):
        labels = [f"{source.corpus} ({source.run.path.name})" for source in sources]
    by_run = [{table.key: table for table in tables_of(source)} for source in sources]
    keys = dict.fromkeys(key for tables in by_run for key in tables)
    return [
        _join_tables([(label, t[key]) for label, t in zip(labels, by_run, strict=True) if key in t])
        for key in keys
    ]


def _join_tables(parts: Sequence[tuple[str, DataTable]]) -> DataTable:
    first = parts[0][1]
    title = " · ".join(dict.fromkeys(table.title for _, table in parts))
    caption, about = first.caption, first.about
    if len({table.whole_caption for _, table in parts}) > 1:  # pages, rules and settings are those of each
        caption = counted(len(parts), "run") + "."
        about = " ".join(f"{label}: {table.whole_caption}" for label, table in parts)
    if first.head == "Corpus":  # one row for each
        rows = tuple(TableRow(label, row.cells) for label, table in parts for row in table.rows)
        return DataTable(first.key, title, caption, about, first.columns, rows, first.head)
    columns = tuple(
        replace(column, label=_full_label(column), group=label)
        for label, table in parts
        for column in table.columns
    )
    names = list(dict.fromkeys(row.label for _, table in parts for row in table.rows))
    if len(ends := {table.rows[-1].label for _, table in parts if table.rows}) == 1:
        names.sort(key=lambda name: name in ends)  # what stands below all others everywhere, as a pooled row
    cells = [{row.label: row.cells for row in table.rows} for _, table in parts]
    empty = [(None,) * len(table.columns) for _, table in parts]
    rows = tuple(
        TableRow(name, tuple(chain(*(own.get(name, none) for own, none in zip(cells, empty, strict=True)))))
        for name in names
    )
    return DataTable(first.key, title, caption, about, columns, rows, first.head)


def _leaderboard(source: RunSource, key: str, *, main: bool) -> DataTable:
    """Return parsers from best to worst with the main figures, or with all."""
    summary = source.summary
    infos = [info for info in summary.shown() if info.main or not main]
    infos.sort(key=lambda info: info.name != summary.primary)
    counts = [counted_name(n, name) for name, n in summary.counts.items()]
    chosen = ", ".join(f"{name} {value}" for name, value in summary.settings.items())
    title = f"{source.recipe.title} on {source.corpus}" + ("" if main else ", every score")
    how = summary.protocol + (f", {chosen}" if chosen else "")
    columns = [(TableColumn.of(info), info.name, None) for info in infos]
    caption, rest = f"{', '.join(counts[:2])}.", [f"{', '.join(counts[2:])}."] if counts[2:] else []
    about = " ".join([*rest, f"Protocol: {how}.", *sampling(summary)])
    return DataTable.of_figures(key, title, caption, about, summary, columns)


def sampling(summary: Summary) -> list[str]:
    """Return the sampling of the intervals, and open questions, in words for a caption."""
    ranking, n = summary.ranking, summary.ranking.n_documents
    if n < FEWEST_DOCUMENTS:
        return [f"No intervals: {counted(n, 'document')} are too few for them."]
    types = ranking.new_types
    of_types = counted(types.n_types, type_name(types.attribute)) if types else ""
    unit = counted(n, "document") + (f" of {of_types}" if types else "")
    fixed = ", types held fixed" if types else ""
    said = [f"{INTERVAL}, from {unit}{fixed}. Bold: significantly better than all others."]
    open_ = [p for p in summary.parsers if (v := ranking.to_best(p)) and v.state == "not_significant"]
    if open_:
        said.append(f"Statistically indistinguishable from {ranking.best}: {listed(open_, len(open_))}.")
    if types and not types.is_answered:
        said.append(f"For new document types nothing can be decided: {of_types} are too few.")
    return said


def _breakdowns(source: RunSource) -> list[DataTable]:
    """Return for each attribute of pages or elements the parsers' scores, one column for each value."""
    parts: dict[tuple[str, str], list[Slice]] = {}
    for part in source.summary.slices:
        parts.setdefault((part.scope, part.attribute), []).append(part)
    found = []
    for (scope, attribute), own in parts.items():
        if len(own) < 2:
            continue
        info = source.summary.info(source.slice_figure(scope))
        key = f"by-{scope}-{attribute}"
        title = f"{info.label} by {attribute_name(attribute)} of the {scope.replace('_', ' ')}"
        sizes = ", ".join(f"{part.value}: {part.n:,}" for part in own)
        caption = f"{info.label}: one column for each {attribute_name(attribute)}."
        about = f"{info.definition} Number of {scope.replace('_', ' ')}s: {sizes}."
        columns = [(TableColumn.of(info, part.value, attribute), info.name, part) for part in own]
        found.append(DataTable.of_figures(table_key(key), title, caption, about, source.summary, columns))
    return found


def table_key(text: str) -> str:
    """Return letters, digits, hyphens and dots alone.

    >>> table_key("by-page-Fuzzy scan")
    'by-page-fuzzy-scan'
    """
    kept = "".join(c if c.isascii() and (c.isalnum() or c == ".") else " " for c in text.lower())
    return "-".join(kept.split()).replace("..", ".")


def to_markdown(table: DataTable) -> str:
    """Return a table as GitHub's Markdown."""
    heads = [table.head, *map(_full_label, table.columns)]
    lines = [_row(map(_markdown, heads)), "|---|" + "---:|" * len(table.columns)]
    for label, texts in shown_rows(table):
        cells = [_markdown(label)]
        for value, interval, is_best in texts:
            shown = f"**{_markdown(value)}**" if is_best else _markdown(value)
            cells.append(f"{shown} {_markdown(interval)}".rstrip())
        lines.append(_row(cells))
    return f"**{_markdown(table.title)}.** {_markdown(table.whole_caption)}\n\n" + "\n".join(lines) + "\n"


def to_latex(table: DataTable) -> str:
    r"""Return a table for `booktabs`: `\usepackage{booktabs}` is all that it needs."""
    caption = _latex(f"{table.title}. {table.whole_caption}")
    lines = [
        r"\begin{table}", r"  \centering", rf"  \caption{{{caption}}}",
        rf"  \label{{tab:{table.key}}}",
        rf"  \begin{{tabular}}{{l{'r' * len(table.columns)}}}", r"    \toprule",
    ]  # fmt: skip
    lines += _latex_groups(table)
    lines.append(f"    {_latex(table.head)} & " + " & ".join(_latex(c.label) for c in table.columns) + r" \\")
    lines.append(r"    \midrule")
    for label, texts in shown_rows(table):
        cells = [_latex(label)]
        for value, interval, is_best in texts:
            shown = rf"\textbf{{{_latex(value)}}}" if is_best else _latex(value)
            cells.append(shown + (rf" {{\scriptsize {_latex(interval)}}}" if interval else ""))
        lines.append("    " + " & ".join(cells) + r" \\")
    lines += [r"    \bottomrule", r"  \end{tabular}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def column_groups(table: DataTable) -> list[tuple[str, int]]:
    """Return the headings above the column heads, and their widths; empty where there are none."""
    groups = [(name, len(list(own))) for name, own in groupby(column.group for column in table.columns)]
    return groups if any(name for name, _ in groups) else []


def _latex_groups(table: DataTable) -> list[str]:
    """Return the line above the column heads, with a rule under each group."""
    if not (groups := column_groups(table)):
        return []
    ends = list(accumulate((n for _, n in groups), initial=1))
    heads = [rf"\multicolumn{{{n}}}{{c}}{{{_latex(name)}}}" for name, n in groups]
    rules = [
        rf"\cmidrule(lr){{{a + 1}-{b}}}"
        for (name, _), (a, b) in zip(groups, pairwise(ends), strict=True)
        if name
    ]
    return ["     & " + " & ".join(heads) + r" \\", "    " + " ".join(rules)]


def to_csv(table: DataTable) -> str:
    """Return a table for programs: columns for value, both ends of the interval and denominator; nothing
    rounded.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    parts = ("", " low", " high", " n", " best")
    writer.writerow([table.head, *(_full_label(c) + part for c in table.columns for part in parts)])
    for i, row in enumerate(table.rows):
        line: list[object] = [_csv_text(row.label)]
        for k, cell in enumerate(row.cells):
            if isinstance(cell, Figure):
                line += [cell.value, cell.low, cell.high, f"{cell.n:g}", int(i in table.best(k))]
            else:
                line += [_csv_text(cell or ""), "", "", "", ""]
        writer.writerow(["" if value is None else value for value in line])
    return out.getvalue()


WRITERS: dict[str, tuple[str, Callable[[DataTable], str]]] = {
    "markdown": (".md", to_markdown),
    "latex": (".tex", to_latex),
    "csv": (".csv", to_csv),
}
"""Format to the ending of its files, and what writes it."""


def shown_rows(table: DataTable) -> list[tuple[str, list[tuple[str, str, bool]]]]:
    """Return the label of each row, and its cells as text: value, interval, whether it is the best of its
    column.
    """
    best = [table.best(k) for k in range(len(table.columns))]
    return [
        (row.label, [(*_texts(c, table.columns[k]), i in best[k]) for k, c in enumerate(row.cells)])
        for i, row in enumerate(table.rows)
    ]


def _texts(cell: Figure | str | None, column: TableColumn) -> tuple[str, str]:
    """Return the texts of a cell: the value, and its interval in brackets."""
    if cell is None or isinstance(cell, str):
        return cell or "–", ""
    value = format_value(cell.value, column.style)
    if cell.interval is None or cell.value is None:
        return value, ""
    low, high = (format_value(end, column.style) for end in cell.interval)
    return value, f"[{low}, {high}]"


def _full_label(column: TableColumn) -> str:
    return " ".join(filter(None, [column.group, column.label]))


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _markdown(text: str) -> str:
    """Return text that cannot break out of its cell, nor be read as markup."""
    return "".join(f"\\{c}" if c in "\\|`*_<>" else c for c in unbroken(text))


def _latex(text: str) -> str:
    return "".join(_LATEX.get(c, c) for c in unbroken(text))


def _csv_text(text: str) -> str:
    """Escape a leading = + - @, which makes some spreadsheets run a cell as a formula; names of parsers are
    not ours.
    """
    return f"'{text}" if text[:1] in "=+-@\t\r" and text else text


def run_tables(paths: Sequence[Path], protocol: str | None = None) -> RunTableSet:
    """Return the tables of a run, or of several side by side; raise UsageError if they cannot stand in one
    table.
    """
    spec = str(get_protocol(protocol)) if protocol else None
    sources = [RunSource(Run.open(path), spec) for path in paths]
    if len({(s.summary.protocol, s.summary.comparability) for s in sources}) > 1:
        named = "; ".join(f"{s.run.path}: {s.summary.protocol} ({s.summary.comparability})" for s in sources)
        raise UsageError(f"The runs were scored in different ways and cannot share one table. {named}")
    found = tables_of(sources[0]) if len(sources) == 1 else beside_each_other(sources)
    keys = {table.key for table in found}
    needs = sources[0].drawing.paper_table_needs
    return RunTableSet(tuple(found), {key: what for key, what in needs.items() if key not in keys})


def _write(site: Site) -> None:
    """Write `tables.html`, and `tables/….{md,tex,csv}` for each table of each protocol."""
    folder = site.root / "tables"
    folder.mkdir()
    parts = []
    for source in site.sources:
        prefix = "" if source is site.source else f"{safe_name(source.summary.protocol)}."
        shown = [_shown_table(table, prefix) for table in tables_of(source)]
        shown.sort(key=lambda entry: entry["folded"])
        for entry in shown:
            for (_, href), (_, write) in zip(entry["files"], WRITERS.values(), strict=True):
                (site.root / href).write_text(write(entry["table"]), encoding="utf-8", errors="replace")
        parts.append((site.title(source), source.summary.protocol, shown))
    site.page("tables", parts=parts)


def _shown_table(table: DataTable, prefix: str) -> dict[str, Any]:
    """Return a table with its rows as text, and where its files are."""
    name = f"{prefix}{table.key}"
    return {
        "anchor": name,
        "table": table,
        "groups": column_groups(table),
        "rows": shown_rows(table),
        "files": [(kind, f"tables/{name}{ending}") for kind, (ending, _) in WRITERS.items()],
        "folded": table.key.startswith(FOLDED),
    }


PAGE = ReportPage("tables", _write, "Tables", under="charts")
