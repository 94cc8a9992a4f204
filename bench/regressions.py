"""Whether the gate, with its defaults, catches planted regressions, and lets runs of identical code pass.

Outputs of a parser for the demo are changed on 5 and on 10 % of their pages, in ten ways: each gate must fail
and name a page that was changed. `AA` runs of a script and of two parsers beside it are each held against the
one before, with the limits of the GitHub action: identical code, and whatever else the machine does.
Runs of a script that exchanges 1 % of the digits by chance are held against each other, with one and with
several parses of each page; then the script also drops rows.
"""

import itertools
import os
import random
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import polars as pl

from parsemark import api
from parsemark.corpora import Corpus, load_corpus
from parsemark.store import Run
from parsemark.verdicts.gate import GateLimits, gate_runs

PARSER = "pymupdf4llm"
BESIDE = ("pdftotext", "liteparse")
SHARES = (0.05, 0.10)
AA = int(os.environ.get("GATE_AA", "40"))
AA_PAGES = "12"
AA_LIMITS = GateLimits(max_slowdown=1.1, max_memory=1.2)
MIN_CAUGHT, MAX_ALARMS, MAX_NOISY_ALARMS = 18, 1, 2
NOISY_PAGES, NOISY_RUNS, NOISY_GATES, NOISY_PARSES = "30", 6, 12, 3
NOISE = """\
import random
import re


def noisy(cells):
    chance = random.SystemRandom()
    last = max((cell["row"] for cell in cells), default=0)
    for cell in cells:
        digits = lambda d: d[0] if chance.random() > 0.01 else str(chance.randrange(10))
        cell["text"] = re.sub(r"\\d", digits, cell["text"])
    return [cell for cell in cells if not (DROPS and len(cells) % 8 == 0 and cell["row"] == last)]


"""

Change = Callable[[str, random.Random], str]
_TABLE = re.compile(r"(?:^\|.*\|[ \t]*\n?){3,}", re.M)


def main() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        caught = planted(Path(folder))
        alarms = identical(Path(folder))
        noisy_alarms, dropped = noisy(Path(folder))
    print(f"planted regressions: {caught} of {len(KINDS) * len(SHARES)} fail with a changed page named")
    print(f"identical code: {alarms} of {AA} gates fail")
    for n, failed in noisy_alarms.items():
        print(f"noisy parser, parses of each page {n}: {failed} of {NOISY_GATES} gates fail")
    print(f"noisy parser that drops rows, parses of each page {NOISY_PARSES}: {dropped}")
    quiet = alarms <= MAX_ALARMS and noisy_alarms[NOISY_PARSES] <= MAX_NOISY_ALARMS
    return caught >= MIN_CAUGHT and quiet and bool(dropped)


def planted(folder: Path) -> int:
    """Return how many planted regressions fail and name one of their pages."""
    corpus = load_corpus("demo")
    run = api.bench(corpus, [PARSER], out=folder / "parsed")
    pages = run.table("parses").filter(pl.col("status") == "ok")["sample"]
    texts = {sample: run.prediction(sample, PARSER).text or "" for sample in pages}
    bare = set(run.table("samples").filter(pl.col("n_tables") == 0)["sample"])
    old, caught = scored(corpus, texts, folder / "old"), 0
    for kind, (change, needs_table) in KINDS.items():
        for share in SHARES:
            rng = random.Random(f"{kind} {share}")
            fit = [s for s in sorted(texts) if (_TABLE.search(texts[s]) if needs_table else s in bare)]
            sick = rng.sample(fit, min(len(fit), round(share * len(texts))))
            new = dict(texts) | {s: change(texts[s], rng) for s in sick}
            result = gate_runs(scored(corpus, new, folder / f"{kind} {share}"), old, GateLimits())
            named = [s for s in sick if any(s in page for check in result.failed for page in check.pages)]
            caught += bool(named)
            checks = ", ".join(check.name for check in result.failed) or "NOTHING"
            print(f"  {kind}, {len(sick)} of {len(texts)} pages: {checks}; {len(named)} named", flush=True)
    return caught


def scored(corpus: Corpus, texts: dict[str, str], folder: Path) -> Run:
    """Return a scored run of outputs."""
    files = folder / "outputs"
    files.mkdir(parents=True)
    for sample, text in texts.items():
        (files / f"{sample}.md").write_text(text)
    return api.score(files, corpus, out=folder / "run", name="p", protocols=["tables"])


def identical(folder: Path) -> int:
    """Return how many gates between runs of identical code fail."""
    script = folder / "mine.py"
    workers = Path(api.__file__).parent / "parsers" / "workers"
    shutil.copy(workers / "pdfplumber.py", script)
    alarms, before = 0, None
    for k in range(AA + 1):
        out = folder / f"aa-{k}"
        now = api.bench("demo", [str(script), *BESIDE], out=out, pages=AA_PAGES, cache=False)
        if before is not None:
            result = gate_runs(now, before, AA_LIMITS)
            alarms += not result.passed
            for check in result.failed:
                print(f"  A/A {k}: {check.parser}: {check.name}: {check.found}", flush=True)
            shutil.rmtree(before.path)
        before = now
    return alarms


def noisy(folder: Path) -> tuple[dict[int, int], str]:
    """Return how many gates between runs of a noisy parser fail, by the number of parses of each page, and
    the checks that fail if it also drops rows.
    """
    worker = (Path(api.__file__).parent / "parsers" / "workers" / "pdfplumber.py").read_text()
    worker = worker.replace("import pdfplumber\n", f"{NOISE}import pdfplumber\n", 1)
    worker = worker.replace("cells=cells_from_rows(t, origin)", "cells=noisy(cells_from_rows(t, origin))")
    script = folder / "noisy" / "mine.py"
    script.parent.mkdir()

    def parsed(name: str, drops: bool) -> Run:
        script.write_text(worker.replace("DROPS", str(drops)))
        out = folder / "noisy" / name
        return api.bench("demo", [str(script)], out=out, pages=NOISY_PAGES, repeats=NOISY_PARSES)

    runs = [parsed(f"run-{k}", False) for k in range(NOISY_RUNS)]
    alarms = {1: 0, NOISY_PARSES: 0}
    for old, new in list(itertools.combinations(runs, 2))[:NOISY_GATES]:
        for n, (before, now) in ((NOISY_PARSES, (old, new)), (1, (old.repeats[0], new.repeats[0]))):
            result = gate_runs(now, before, GateLimits())
            alarms[n] += not result.passed
            for check in result.failed:
                print(f"  {n} parses: {check.name}: {check.found}", flush=True)
    failed = gate_runs(parsed("drops", True), runs[0], GateLimits()).failed
    return alarms, "; ".join(f"{check.name}: {check.found}" for check in failed)


def in_tables(edit: Callable[[list[str], random.Random], list[str]]) -> Change:
    """Change the lines of every table of a page."""

    def change(text: str, rng: random.Random) -> str:
        return _TABLE.sub(lambda found: "\n".join(edit(found[0].strip().split("\n"), rng)) + "\n", text)

    return change


def cells(line: str) -> list[str]:
    return line.strip().strip("|").split("|")


def row(parts: list[str]) -> str:
    return f"|{'|'.join(parts)}|"


def without_digit(line: str, rng: random.Random) -> str:
    """Return a line with one digit of each of its numbers exchanged."""
    return re.sub(r"\d(?=\D*\|)", lambda d: str((int(d[0]) + rng.randint(1, 9)) % 10), line)


def halves(lines: list[str], _: random.Random) -> list[str]:
    middle = 2 + (len(lines) - 2) // 2
    return [*lines[:middle], "", "A paragraph.", "", lines[middle], lines[1], *lines[middle + 1 :]]


def swapped(lines: list[str], _: random.Random) -> list[str]:
    return [line if k == 1 else row([*cells(line)[1:], cells(line)[0]]) for k, line in enumerate(lines)]


def joined(lines: list[str], _: random.Random) -> list[str]:
    """Return tables whose last two columns run together."""
    return [
        row([*parts[:-2], parts[-1] if k == 1 else " ".join(parts[-2:])])
        for k, line in enumerate(lines)
        for parts in [cells(line)]
    ]


KINDS: dict[str, tuple[Change, bool]] = {
    "last row dropped": (in_tables(lambda lines, _: lines[:-1]), True),
    "last column dropped": (in_tables(lambda lines, _: [row(cells(line)[:-1]) for line in lines]), True),
    "header dropped": (in_tables(lambda lines, _: [lines[2], lines[1], *lines[3:]]), True),
    "tables lost": (in_tables(lambda *_: [""]), True),
    "tables as plain lines": (
        in_tables(lambda lines, _: [line.replace("|", " ") for k, line in enumerate(lines) if k != 1]), True,
    ),
    "tables split": (in_tables(halves), True),
    "columns joined": (in_tables(joined), True),
    "columns exchanged": (in_tables(swapped), True),
    "digits altered": (in_tables(lambda lines, rng: [without_digit(line, rng) for line in lines]), True),
    "pages without tables emptied": (lambda *_: "", False),
}  # fmt: skip
