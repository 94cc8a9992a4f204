"""olmOCR-bench's tests: which ones are valid, whether a page passes one, and the recipe with its files.

Everything is as in `allenai/olmocr`, `olmocr/bench`, at commit f7cfe4c; `docs/olmocr.md` lists what is
wrong with it and kept.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from parsemark.formats import markdown_of
from parsemark.model import Fact, Page, Prediction
from parsemark.protocols import BoardRun, Files, RunTables, Summary, as_json, as_lines
from parsemark.protocols.facts import Decide, FactsProtocol, FactTotals, Outcome
from parsemark_boards.cell_grids import (
    MAX_SLOTS,
    RELATIONS,
    CellGrid,
    CellSpec,
    Place,
    Relation,
    grid_of,
    html_grids,
    pipe_tables,
)
from parsemark_boards.katex import Render, render_all
from parsemark_boards.near_search import near
from parsemark_boards.olmocr.formulas import Renderer, formulas_of, page_has_formula
from parsemark_boards.olmocr.text import (
    alphanumerics,
    formatted_pieces,
    has_foreign_characters,
    is_equal,
    is_like,
    limit,
    marker_places,
    normalise,
    stands_at_marker,
    trailing_repeats,
)
from parsemark_boards.olmocr.truth import BASELINE, RULES, read_test

BoardTest = Mapping[str, Any]
BOOTSTRAP_SEED = 0


@dataclass(frozen=True)
class OlmocrProtocol(FactsProtocol):
    """Share of olmOCR-bench's tests that pass, as a mean over its groups.

    The options are known defects of the benchmark, as they are by default; see `docs/olmocr.md`.

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
    upstream: ClassVar[str] = "olmocr f7cfe4c (March 2026)"
    comparability: ClassVar[int] = 1
    rules: ClassVar[str] = RULES
    group_word: ClassVar[str] = "group"
    crashed: ClassVar[bool | None] = False

    short_text_in_query: bool = True
    rounding: bool = True
    unrenderable_passes: bool = True
    errors_void: bool = False
    skip_baseline: bool = False

    @classmethod
    def check_fact(cls, fact: Fact) -> None:
        """Raise CorpusError for a test that olmOCR-bench refuses."""
        _test_of(fact)

    def asks_about(self, fact: Fact) -> bool:
        """Return whether a fact of these rules is asked."""
        return super().asks_about(fact) and not (self.skip_baseline and fact.kind == BASELINE)

    def group_of(self, fact: Fact) -> str:
        """Return the file that a test stands in."""
        return fact.group or "facts"

    def deciding(self, facts: Sequence[Fact], truth: Page, prediction: Prediction) -> Decide:
        """Render the formulas of a page together, then decide its facts one by one."""
        md = markdown_of(prediction)
        renders = _renders(facts, md)

        def decide(fact: Fact) -> Outcome:
            return check(_test_of(fact), md, renders.get, self)

        return decide

    def totals(self, tables: RunTables) -> FactTotals:
        """Add up the facts of a run; with `errors_void` nothing is passed by a parser with an error."""
        import polars as pl

        from parsemark.protocols.run_scores.aggregate import FAILURES

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
        """Return all figures, and the interval that the benchmark prints: tests drawn inside their groups."""
        found = {}
        for parser, sums in self.totals(tables).sums.items():
            summed = sums.sum(axis=0)
            passed, n = summed[0:-2:2].astype(int), summed[1:-2:2].astype(int)
            scores = [1.0 * (k < p) for p, size in zip(passed, n, strict=True) for k in range(size)]
            rng = np.random.RandomState(BOOTSTRAP_SEED)
            found[parser] = list(bootstrap_interval(scores, [int(size) for size in n], rng))
        return super().summarise(tables).model_copy(update={"details": {"board_interval": found}})

    def result_files(self, board: BoardRun) -> Files:
        """Return candidates' pages that the benchmark's program scores, `failed-PARSER.jsonl` and
        `results.json`.
        """
        for parser in board.parsers:
            tests = {}
            for sample, document, number in board.pages():
                pred = board.prediction(sample, parser)
                yield f"{parser}/{document}_pg{number}_repeat1.md", markdown_of(pred)
                truth = board.run.truth(sample)
                for fact in truth.facts if truth else ():
                    place = {"pdf": f"{document}.pdf", "page": fact.page, "id": fact.id.partition("/")[2]}
                    tests[sample, fact.id] = {**place, "type": fact.kind, **fact.arguments}
            failed = (row for row in board.facts(parser) if row["value"] != 1)
            yield f"failed-{parser}.jsonl", as_lines(tests[row["sample"], row["element"]] for row in failed)
        intervals = board.summary.details.get("board_interval", {})
        numbers = {p: {**board.figures(p), "board_interval": intervals.get(p)} for p in board.parsers}
        yield "results.json", as_json(numbers)


AS_PUBLISHED = OlmocrProtocol()


def _test_of(fact: Fact) -> BoardTest:
    """Return a fact as the benchmark's test."""
    place = {"pdf": "page", "page": fact.page, "id": fact.id, "type": fact.kind}
    return read_test({**fact.arguments, **place})


def _renders(facts: Sequence[Fact], md: str) -> dict[str, Render | None]:
    """Render the formulas that can decide something; one that is written exactly as it should be is left
    out.
    """
    needed: dict[str, None] = {}
    for fact in (own for own in facts if own.kind == "math"):
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
    """Return the benchmark's interval: tests are drawn inside their groups, the groups' means are
    averaged.
    """
    values = np.asarray(scores, dtype=float)
    if not len(values):
        return 0.0, 0.0
    groups = split_groups(values, sizes)
    means = [float(np.mean([np.mean(rng.choice(g, len(g))) for g in groups])) for _ in range(rounds)]
    tail = 100 * (1 - level) / 2
    return float(np.percentile(means, tail)), float(np.percentile(means, 100 - tail))


def split_groups(values: Any, sizes: Sequence[int] | None) -> list[Any]:
    """Return the values of each group that has any."""
    if sizes is None:
        return [values]
    if sum(sizes) != len(values):
        raise ValueError(f"groups of {sum(sizes)} tests do not make {len(values)}")
    ends = np.cumsum(sizes)
    return [values[end - size : end] for size, end in zip(sizes, ends, strict=True) if size]


# --- tests --------------------------------------------------------------------------------------------------


def check(test: BoardTest, md: str, render: Renderer, options: OlmocrProtocol = AS_PUBLISHED) -> Outcome:
    """Return whether a page passes a test that `read_test` gave.

    IndexError where a table makes upstream's code fail, which voids the candidate's whole score there;
    TooHardError where a search takes too long or tables have too many slots.
    """
    if test["type"] == "math":
        return _math(test, md, render, options)
    if test["type"] == "table":
        return Outcome(*table_holds(test, md))
    return _CHECKS[test["type"]](test, md, options)


def _is_found(query: str, text: str, least: float, options: OlmocrProtocol) -> bool:
    if not options.short_text_in_query and len(text) < least * len(query):
        return False
    return is_like(query, text, least if options.rounding else least - 1e-9)


def _present(test: BoardTest, md: str, options: OlmocrProtocol) -> Outcome:
    query, text = test["text"], normalise(md)
    if not test["case_sensitive"]:
        query, text = query.lower(), text.lower()
    first, last = test["first_n"], test["last_n"]
    if not all(isinstance(own or 0, int) for own in (first, last)):
        raise IndexError("first_n and last_n must be whole numbers: upstream's own code fails on others")
    if first and last:
        text = text[:first] + text[-last:]
    elif first or last:
        text = text[:first] if first else text[-last:]
    found = _is_found(query, text, limit(query, test["max_diffs"]), options)
    if test["type"] == "absent":
        return Outcome(not found, "" if not found else "it is there")
    return Outcome(found, "" if found else nearest(query, text))


def _order(test: BoardTest, md: str, _: OlmocrProtocol) -> Outcome:
    text = normalise(md)
    before, after = (near(test[side], text, test["max_diffs"]) for side in ("before", "after"))
    if not before or not after:
        missing = test["before"] if not before else test["after"]
        return Outcome(False, f"{missing!r} is not found")
    passed = min(start for start, *_ in before) < max(start for start, *_ in after)
    return Outcome(passed, "" if passed else "they are in the opposite order")


def _math(test: BoardTest, md: str, render: Renderer, options: OlmocrProtocol) -> Outcome:
    wanted = render(test["math"]) if not options.unrenderable_passes else None
    if wanted is not None and not wanted.spans:
        return Outcome(None, "the fact's formula cannot be rendered or shows nothing")
    return Outcome(*page_has_formula(test["math"], md, render, dollars=not test["ignore_dollar_delimited"]))


def _baseline(test: BoardTest, md: str, _: OlmocrProtocol) -> Outcome:
    if test["max_length"] is not None:
        n = alphanumerics(md, without_images=test["max_length_skips_image_alt_tags"])
        return Outcome(n <= test["max_length"], f"{n} letters and digits")
    if not any(map(str.isalnum, md)):
        return Outcome(False, "the output is empty")
    if any(count > test["max_repeats"] for count in trailing_repeats(md)):
        return Outcome(False, "the output ends in a repetition")
    if test["check_disallowed_characters"] and has_foreign_characters(md):
        return Outcome(False, "the output has Chinese or Japanese letters or emoji")
    return Outcome(True)


def _format(test: BoardTest, md: str, options: OlmocrProtocol) -> Outcome:
    text, pieces = test["text"], formatted_pieces(md, test["format"])
    if not test["case_sensitive"]:
        text, pieces = text.lower(), tuple(piece.lower() for piece in pieces)
    least = limit(text, test["max_diffs"])
    passed = any(_is_found(text, piece, least, options) for piece in pieces)
    return Outcome(passed, "" if passed else f"{len(pieces)} pieces are {test['format']}, none is this")


def _footnote(test: BoardTest, md: str, _: OlmocrProtocol) -> Outcome:
    places = marker_places(md, test["marker"])
    if not places:
        return Outcome(False, "the marker is not found")
    for name, side in (("appears_before_marker", -1), ("appears_after_marker", 1)):
        if test[name] and not stands_at_marker(md, places, test[name], test["max_diffs"], side):
            return Outcome(False, f"{test[name]!r} does not stand {'before' if side < 0 else 'behind'} it")
    return Outcome(True)


_CHECKS: Mapping[str, Callable[[BoardTest, str, OlmocrProtocol], Outcome]] = {
    "present": _present,
    "absent": _present,
    "order": _order,
    "baseline": _baseline,
    "format": _format,
    "footnote": _footnote,
}


def nearest(query: str, text: str) -> str:
    """Return the part of an output that is nearest to a text."""
    from rapidfuzz.fuzz import partial_ratio_alignment

    found = partial_ratio_alignment(query, text)
    if found is None or not found.score or len(text) < len(query):
        return "nothing like it"
    return f"nearest: {text[found.dest_start : found.dest_end][:200]}"


# --- tables -------------------------------------------------------------------------------------------------


def markdown_tables(md: str) -> list[CellGrid]:
    """Return every run of at least two lines with a `|`: also one inside of HTML, formulas or prose."""
    found = []
    for _, rows in pipe_tables(md, lambda line: not line.strip().strip("- :|")):
        headed = ([CellSpec(text, heading=not c) for c, text in enumerate(row)] for row in rows[1:])
        if (grid := grid_of([[CellSpec(text, heading=True) for text in rows[0]], *headed])) is not None:
            found.append(grid)
    return found


def html_tables(md: str) -> list[CellGrid]:
    """Return every table element that has rows, nested ones again by themselves."""
    return html_grids(md, lambda cell: cell.get_text(), budget=MAX_SLOTS)


@lru_cache(maxsize=16)
def tables_of(md: str, markdown: bool) -> tuple[tuple[CellGrid, dict[Place, str]], ...]:
    """Return the tables of a page with the normal form of their cells; Markdown's first, if they are asked
    for.
    """
    grids = [*(markdown_tables(md) if markdown else []), *html_tables(md)]
    return tuple((grid, {place: normalise(text) for place, text in grid.text.items()}) for grid in grids)


def related(grid: CellGrid, cell: Place, relation: Relation) -> set[Place]:
    """Return the cells that stand in a relation to a cell."""
    if relation == "top_heading":
        return grid.reached(cell, "up", grid.headings)
    if relation == "left_heading":
        return grid.reached(cell, "left", grid.headings)
    return grid.neighbours(cell, relation)


def table_holds(wanted: Mapping[str, Any], md: str) -> tuple[bool, str]:
    """Return whether some table has a cell in these surroundings; the texts are in normal form."""
    tables = tables_of(md, not wanted["ignore_markdown_tables"])
    cell, max_diffs, found = wanted["cell"], wanted["max_diffs"], False
    asked = [(name, wanted[name]) for name in RELATIONS if wanted.get(name)]
    for grid, texts in tables:
        for place, text in texts.items():
            if not _equal(cell, text, max_diffs):
                continue
            found = True
            around = ((value, related(grid, place, name)) for name, value in asked)
            if all(any(_equal(v, texts[other], max_diffs) for other in places) for v, places in around):
                return True, text
    if not tables:
        return False, "the output has no table"
    if not found:
        return False, f"no cell has {cell!r}"
    return False, f"a cell has {cell!r}, but not with {', '.join(f'{n} {v!r}' for n, v in asked)}"


def _equal(query: str, text: str, max_diffs: int) -> bool:
    least = max(0.5, limit(query, max_diffs))
    return query == text if least == 1.0 else is_equal(query, text, least)
