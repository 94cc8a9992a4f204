"""The recipe: its options, its figures, the board's own interval, and its files."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from parsemark.formats import markdown_of
from parsemark.metrics.katex import Render, render_all
from parsemark.model import Fact, Page, Prediction
from parsemark.protocols.boards.olmocr.formulas import formulas_of
from parsemark.protocols.boards.olmocr.rules import BASELINE, RULES, Quirks, check, read_test
from parsemark.protocols.facts.protocol import Decide, FactsProtocol, FactTotals, Outcome
from parsemark.protocols.figures.summary import Summary
from parsemark.protocols.result_files import BoardRun, Files, as_json, as_lines
from parsemark.protocols.run_data.tables import RunTables

BOOTSTRAP_SEED = 0


@dataclass(frozen=True)
class OlmocrProtocol(FactsProtocol):
    """Every test of olmOCR-bench is passed or not; the score is the mean of the groups' shares.

    The options are known defects of the board, as they are by default; see `docs/boards/olmocr.md`.

    Args:
        short_text_in_query: A page shorter than the query is searched in the query: a blank passes.
        rounding: Exactly `max_diffs` differences fail for some lengths.
        unrenderable_passes: A true formula that shows nothing passes with any formula.
        errors_void: A page without output, or a table that makes upstream's code fail, voids all scores of a
            parser. Off by default: such pages count as empty ones.
        skip_baseline: Leave out the tests that every page has.
    """

    name: ClassVar[str] = "olmocr"
    title: ClassVar[str] = "olmOCR-bench: unit tests on pages"
    comparability: ClassVar[int] = 1
    rules: ClassVar[str] = RULES
    group_word: ClassVar[str] = "group"
    crashed: ClassVar[bool | None] = False

    short_text_in_query: bool = True
    rounding: bool = True
    unrenderable_passes: bool = True
    errors_void: bool = False
    skip_baseline: bool = False

    def asks_about(self, fact: Fact) -> bool:
        """Whether a fact of these rules is asked."""
        return super().asks_about(fact) and not (self.skip_baseline and fact.kind == BASELINE)

    def group_of(self, fact: Fact) -> str:
        """The file that a test stands in."""
        return fact.group or "facts"

    def deciding(self, facts: Sequence[Fact], truth: Page, prediction: Prediction) -> Decide:
        """Render the formulas of a page together, then decide its facts one by one."""
        md = markdown_of(prediction)
        renders = _renders(facts, md)
        quirks = Quirks(self.short_text_in_query, self.rounding, self.unrenderable_passes)

        def decide(fact: Fact) -> Outcome:
            place = {"pdf": "page", "page": fact.page, "id": fact.id, "type": fact.kind}
            return check(read_test({**fact.arguments, **place}), md, renders.get, quirks)

        return decide

    def totals(self, tables: RunTables) -> FactTotals:
        """Add up the facts of a run; with `errors_void` nothing is passed by a parser with an error."""
        import polars as pl

        from parsemark.protocols.figures.aggregate import FAILURES

        totals = super().totals(tables)
        if not self.errors_void:
            return totals
        failed = pl.col("status").is_in([str(status) for status in FAILURES])
        crashed = pl.col("message").str.starts_with("upstream's code fails").fill_null(False)
        wrong = tables.read("scores", "parser", where=(pl.col("element") != "") & (failed | crashed))
        for parser in set(wrong["parser"]):
            totals.sums[parser][:, : 2 * len(totals.groups) : 2] = 0.0
        return totals

    def summarise(self, tables: RunTables) -> Summary:
        """All figures, and the interval that the board prints: tests drawn inside their groups."""
        found = {}
        for parser, sums in self.totals(tables).sums.items():
            summed = sums.sum(axis=0)
            passed, n = summed[0:-2:2].astype(int), summed[1:-2:2].astype(int)
            scores = [1.0 * (k < p) for p, size in zip(passed, n, strict=True) for k in range(size)]
            rng = np.random.RandomState(BOOTSTRAP_SEED)
            found[parser] = list(bootstrap_interval(scores, [int(size) for size in n], rng))
        return super().summarise(tables).model_copy(update={"details": {"board_interval": found}})

    def result_files(self, board: BoardRun) -> Files:
        """Candidates' pages that the board's program scores, `failed-PARSER.jsonl` and `results.json`."""
        for parser in board.parsers:
            tests = {}
            for sample, document, number in board.pages():
                pred = board.prediction(sample, parser)
                yield f"{parser}/{document}_pg{number}_repeat1.md", markdown_of(pred)
                truth = board.run.truth(sample)
                for fact in truth.facts if truth else ():
                    place = {"pdf": f"{document}.pdf", "page": fact.page, "id": fact.id.partition("/")[2]}
                    tests[sample, fact.id] = {**place, "type": fact.kind, **fact.arguments}
            failed = (
                tests[row["sample"], row["element"]] for row in board.facts(parser) if row["value"] != 1
            )
            yield f"failed-{parser}.jsonl", as_lines(failed)
        intervals = board.summary.details.get("board_interval", {})
        numbers = {p: {**board.figures(p), "board_interval": intervals.get(p)} for p in board.parsers}
        yield "results.json", as_json(numbers)


def _renders(facts: Sequence[Fact], md: str) -> dict[str, Render | None]:
    """What formulas look like that can decide something: not where one is written exactly as it should be."""
    wanted = [fact for fact in facts if fact.kind == "math"]
    needed: dict[str, None] = {}
    for fact in wanted:
        candidates = formulas_of(md, dollars=not fact.arguments.get("ignore_dollar_delimited"))
        math = fact.arguments.get("math")
        if isinstance(math, str) and candidates and math not in candidates:
            needed |= dict.fromkeys([math, *candidates])
    return render_all("drawn", needed)


def bootstrap_interval(
    scores: Sequence[float],
    sizes: Sequence[int] | None,
    rng: np.random.RandomState,
    rounds: int = 1000,
    level: float = 0.95,
) -> tuple[float, float]:
    """The board's interval: tests are drawn inside their groups, the groups' means are averaged."""
    values = np.asarray(scores, dtype=float)
    if not len(values):
        return 0.0, 0.0
    groups = split_groups(values, sizes)
    means = [float(np.mean([np.mean(rng.choice(g, len(g))) for g in groups])) for _ in range(rounds)]
    tail = 100 * (1 - level) / 2
    return float(np.percentile(means, tail)), float(np.percentile(means, 100 - tail))


def split_groups(values: Any, sizes: Sequence[int] | None) -> list[Any]:
    """The values of each group that has any."""
    if sizes is None:
        return [values]
    if sum(sizes) != len(values):
        raise ValueError(f"groups of {sum(sizes)} tests do not make {len(values)}")
    ends = np.cumsum(sizes)
    return [values[end - size : end] for size, end in zip(sizes, ends, strict=True) if size]
