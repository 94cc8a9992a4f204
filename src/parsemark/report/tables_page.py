"""The page with tables for papers, and each of them as a file to take along."""

from typing import Any

from parsemark.protocols.charts import DataTable
from parsemark.report.names import safe_name
from parsemark.report.paper_tables import WRITERS, cell_texts, column_groups, tables_of
from parsemark.report.site import ReportPage, Site

FOLDED = ("by-", "all-figures")  # tables by attribute, and that of every figure, are shown when opened


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
    """A table with its rows as text (value, interval, whether it is the best), and where its files are."""
    rows = []
    best = [table.best(k) for k in range(len(table.columns))]
    for i, row in enumerate(table.rows):
        texts = [cell_texts(cell, column) for cell, column in zip(row.cells, table.columns, strict=True)]
        rows.append((row.label, [(*text, i in best[k]) for k, text in enumerate(texts)]))
    name = f"{prefix}{table.key}"
    return {
        "anchor": name,
        "table": table,
        "groups": column_groups(table),
        "rows": rows,
        "files": [(kind, f"tables/{name}{ending}") for kind, (ending, _) in WRITERS.items()],
        "folded": table.key.startswith(FOLDED),
    }


PAGE = ReportPage("tables", _write, "Tables")
