"""How a gate decides: false alarms between runs that differ by chance alone, and planted faults."""

import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from bench.report import pretended_run
from parsemark.protocols import RunTables, get_protocol
from parsemark.verdicts.gate import GateLimits, GateSide, check_against

REPEATS = 60
NOISE, TIME_NOISE = 0.02, 0.08
"""Of each score, and of the logarithm of each time: what a parser with some chance in it shows."""
LIMITS = GateLimits(max_slowdown=1.1, max_memory=1.2)
MAX_FALSE_ALARMS = 0.05
MIN_CAUGHT = 0.9


def main() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        stored = GateSide.of(pretended_run(Path(folder) / "run", 2), None)
        frames = (stored.tables.frame(name) for name in ("samples", "parses", "matches", "scores"))
        side = GateSide(stored.summary, RunTables(*frames))  # in memory: the folder goes
    parser = side.tables.parsers[0]
    rng = np.random.default_rng(0)
    trials = {
        "the same parser": lambda s: s,
        "2 points less": lambda s: lowered(s, parser, 0.02),
        "14 of 24 pages fail": lambda s: failing(s, parser, 14),
        "20 % slower": lambda s: slower(s, parser, 1.2),
    }
    good = True
    for name, fault in trials.items():
        alarms = 0
        for _ in range(REPEATS):
            old, new = noisy(side, rng), fault(noisy(side, rng))
            recipe = get_protocol(side.summary.protocol)
            checks = check_against(recipe, old, new, LIMITS, [parser])
            alarms += not all(check.passed for check in checks.checks)
        share = alarms / REPEATS
        # Two standard errors over the aim are chance.
        bound = MAX_FALSE_ALARMS + 2 * (MAX_FALSE_ALARMS * (1 - MAX_FALSE_ALARMS) / REPEATS) ** 0.5
        met = share <= bound if name == "the same parser" else share >= MIN_CAUGHT
        good &= met
        print(f"{name}: {share:.0%} of {REPEATS} alarms{'' if met else '  MISSED'}")
    return good


def again(side: GateSide, **tables: pl.DataFrame) -> GateSide:
    # A gate reads no numbers from the summary here.
    return GateSide(side.summary, side.tables.changed(**tables))


def noisy(side: GateSide, rng: np.random.Generator) -> GateSide:
    scores, parses = side.tables.scores, side.tables.parses
    value = (pl.col("value") + pl.Series(rng.normal(0, NOISE, len(scores)))).clip(0.0, 1.0)
    paired = pl.when(pl.col("category") != "").then(value).otherwise(pl.col("value"))
    times = pl.Series(np.exp(rng.normal(0, TIME_NOISE, len(parses))))
    return again(
        side,
        scores=scores.with_columns(value=paired),
        parses=parses.with_columns(
            cpu_s=pl.lit(0.5) * times, peak_memory_mb=pl.lit(200.0) * times, wall_s=pl.lit(0.5) * times
        ),
    )


def lowered(side: GateSide, parser: str, by: float) -> GateSide:
    own = (pl.col("parser") == parser) & (pl.col("category") != "")
    value = pl.when(own).then((pl.col("value") - by).clip(0.0, 1.0)).otherwise(pl.col("value"))
    return again(side, scores=side.tables.scores.with_columns(value=value))


def failing(side: GateSide, parser: str, n_pages: int) -> GateSide:
    sick = side.tables.samples["sample"].sort().head(n_pages).to_list()
    own = pl.col("sample").is_in(sick) & (pl.col("parser") == parser)
    status = pl.when(own).then(pl.lit("parser_failed")).otherwise(pl.col("status"))
    return again(side, parses=side.tables.parses.with_columns(status=status))


def slower(side: GateSide, parser: str, factor: float) -> GateSide:
    own = pl.col("parser") == parser
    time = pl.when(own).then(pl.col("cpu_s") * factor).otherwise(pl.col("cpu_s"))
    return again(side, parses=side.tables.parses.with_columns(cpu_s=time))
