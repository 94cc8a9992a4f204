"""Pages of predictions for tests of the tables protocol, and the tables of a run of them."""

import json

import polars as pl

from parsemark.formats.model_json import page_to_json
from parsemark.model import Box, Element, Page, Prediction, Status, Table
from parsemark.protocols import PageScores, RunTables, Summary
from parsemark.protocols.tables import TablesProtocol

ROWS_A = [["city", "people"], ["Lisbon", "545796"], ["Porto", "231800"]]
ROWS_B = [["metal", "density"], ["copper", "8.96"], ["lead", "11.34"]]


def table(name: str, rows: list[list[str]], box: Box | None, confidence: float | None = None) -> Element:
    return Element(name, "table", box=box, table=Table.from_rows(rows), confidence=confidence)


LEFT, RIGHT = Box(0, 0, 100, 100), Box(200, 0, 300, 100)
PAGES = {
    "p1": Page(
        "p1", 500, 500, (table("t1", ROWS_A, LEFT), table("t2", ROWS_B, RIGHT)), attributes={"layout": "one"}
    ),
    "p2": Page("p2", 500, 500, (table("t1", ROWS_B, LEFT),), attributes={"layout": "two"}),
    "empty": Page("empty", 500, 500, attributes={"layout": "one"}),
}


class Bench:
    """Collects pages of predictions and makes the tables of a run of them."""

    def __init__(self, pages: dict[str, Page] = PAGES) -> None:
        self.pages = pages
        self.scores: list[PageScores] = []
        self.parses: list[dict[str, object]] = []

    def add(self, parser: str, sample: str, *tables: Element, status: Status = Status.OK) -> None:
        prediction = Prediction(sample, parser, status, tables)
        self.scores.append(TablesProtocol().score_page(self.pages[sample], prediction, "Lisbon Porto 545796"))
        self.parses.append(
            {
                "sample": sample,
                "parser": parser,
                "status": str(status),
                "cpu_s": 2.0,
                "wall_s": 1.0,
                "peak_memory_mb": 10.0,
                "cost_usd": None,
            }
        )

    def tables(self) -> RunTables:
        samples = pl.DataFrame(
            [
                {
                    "sample": n,
                    "document": n,
                    "n_tables": len(p.tables),
                    "attributes": json.dumps(dict(p.attributes)),
                    "truth": json.dumps(page_to_json(p)),
                }
                for n, p in self.pages.items()
            ]
        )
        matches = pl.DataFrame([_row(m) for s in self.scores for m in s.matches], infer_schema_length=None)
        scores = pl.DataFrame([_row(r) for s in self.scores for r in s.scores], infer_schema_length=None)
        parses = pl.DataFrame(self.parses, schema_overrides={"cost_usd": pl.Float64})
        matches = matches.with_columns(pl.col("confidence").cast(pl.Float64))
        return RunTables(samples, parses, matches, scores)

    def summary(self) -> Summary:
        return TablesProtocol().summarise(self.tables())


def _row(row: object) -> dict[str, object]:
    fields = {name: getattr(row, name) for name in row.__dataclass_fields__}
    return {k: list(v) if isinstance(v, tuple) else str(v) if k == "status" else v for k, v in fields.items()}


def value(summary: Summary, parser: str, name: str) -> float:
    return summary.parsers[parser][name].value
