"""The noise of timing: how far CPU times of one parser differ from run to run, beside another, and in turns.

The same parser on the same pages, again and again: the standard deviation of the logarithm of the ratio of
two runs, as it is, after the ratio of a parser that ran beside it is taken out, and where both sides are
timed in turns. `parsemark.verdicts.time_ratios` takes these as allowances; here they must not be larger.
"""

import math
import os

import numpy as np

from parsemark.corpora import load_corpus
from parsemark.parsers import Parser, get_parser
from parsemark.parsers.session import WorkerSession
from parsemark.verdicts.time_ratios import REFERENCE_NOISE, RUN_NOISE, TURNS_NOISE, time_in_turns

RUNS, PAGES, AGAIN = 8, 8, 6
TIMED, BESIDE = ("pdfplumber", "camelot", "markitdown"), "pymupdf"


def main() -> bool:
    pages = [(s.pdf, s.page_number) for s in load_corpus("demo").samples() if s.pdf is not None][:PAGES]
    parsers = [get_parser(name) for name in (*TIMED, BESIDE)]
    for parser in parsers:
        parser.install()
    runs = np.array([[mean_log_time(parser, pages) for parser in parsers] for _ in range(RUNS)])
    again = [math.log(time_in_turns(parsers[0], parsers[0], pages).value) for _ in range(AGAIN)]
    found = {f"{TIMED[0]} in turns": (float(np.sqrt(np.mean(np.square(again)))), TURNS_NOISE)}
    for k, name in enumerate(TIMED):
        beside = runs[:, k] - runs[:, -1]
        found[f"two runs of {name}"] = math.sqrt(2) * float(runs[:, k].std(ddof=1)), RUN_NOISE
        found[f"{name} relative to {BESIDE}"] = math.sqrt(2) * float(beside.std(ddof=1)), REFERENCE_NOISE
    print(f"{PAGES} pages, {RUNS} runs, load {os.getloadavg()[0]:.1f}: deviation of the log of a ratio")
    for name, (noise, allowed) in found.items():
        print(f"  {name}: {noise:.3f} (allowed for: {allowed:.2f})")
    return all(noise <= allowed for noise, allowed in found.values())


def mean_log_time(parser: Parser, pages: list[tuple[object, int]]) -> float:
    """Return the mean log time of a run of its own."""
    with WorkerSession(parser.command()) as session:
        asked = [
            session.ask(str(pdf), page, parser.options, timeout_s=300) for pdf, page in (pages[0], *pages)
        ]
    return float(np.mean([math.log(answer.cpu_s) for answer in asked[1:] if answer.cpu_s]))
