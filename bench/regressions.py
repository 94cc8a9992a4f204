"""Whether the gate, with its defaults, catches planted regressions, and lets runs of identical code pass.

Outputs of a parser for the demo are changed on 5 and on 10 % of their pages, in ten ways: each gate must fail
and name a page that was changed. `AA` runs of a script and of two parsers beside it are each held against the
one before, with the limits of the GitHub action: identical code, and whatever else the machine does.
Runs of a script that exchanges 1 % of the digits by chance are held against each other, with one and with
several parses of each page; then the script also drops rows.
"""

import itertools
import json
import os
import random
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from parsemark import api
from parsemark.corpora import Corpus, load_corpus
from parsemark.store import Run
from parsemark.verdicts.gate import GateLimits, gate_runs
from parsemark.verdicts.gate_checks import MIN_CHANGE, OFFSET, beyond_noise

PARSER = "pymupdf4llm"
BESIDE = ("pdftotext", "liteparse")
SHARES = (0.05, 0.10)
AA = int(os.environ.get("GATE_AA", "40"))
AA_PAGES = "12"
AA_LIMITS = GateLimits(max_slowdown=1.1, max_memory=1.2)
MIN_CAUGHT, MAX_ALARMS, MAX_NOISY_ALARMS = 18, 1, 2
NOISY_RUNS, NOISY_GATES, NOISY_PARSES = 6, 12, 3
REPLAY = """\
# /// script
# [tool.parsemark]
# licence = "MIT"
# gives = ["markdown"]
# ///
import hashlib
import json
import random
import re
from pathlib import Path

from parsemark_worker import serve, text_output

TEXTS = json.loads(Path(__file__).with_name("texts.json").read_text())
CHANCE = random.SystemRandom()


def parse(pdf, page, options):
    digest = hashlib.sha256(Path(pdf).read_bytes()).hexdigest()
    digits = lambda d: d[0] if CHANCE.random() > 0.01 else str(CHANCE.randrange(10))
    return text_output("markdown", re.sub(r"[0-9]", digits, TEXTS[f"{digest} {page}"]))


serve(parse)
"""

Change = Callable[[str, random.Random], str]
_TABLE = re.compile(r"(?:^\|.*\|[ \t]*\n?){3,}", re.M)


def main() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        caught = planted(Path(folder))
        alarms = identical(Path(folder))
        noisy_alarms, dropped = noisy(Path(folder))
    simulated()
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
    the checks that fail if it also drops rows on 3 pages.
    """
    run = Run.open(folder / "parsed")
    places = run.table("samples").select("sample", "pdf_sha256", "page_number").iter_rows()
    names = {sample: f"{digest} {page}" for sample, digest, page in places}
    texts = {s: run.prediction(s, PARSER).text or "" for s in names}
    script = folder / "noisy" / "mine.py"
    script.parent.mkdir()
    script.write_text(REPLAY)

    def parsed(name: str, texts: dict[str, str]) -> Run:
        replayed = {names[s]: text for s, text in texts.items()}
        script.with_name("texts.json").write_text(json.dumps(replayed))
        return api.bench("demo", [str(script)], out=script.with_name(name), repeats=NOISY_PARSES)

    runs = [parsed(f"run-{k}", texts) for k in range(NOISY_RUNS)]
    alarms = {1: 0, NOISY_PARSES: 0}
    for old, new in list(itertools.combinations(runs, 2))[:NOISY_GATES]:
        for n, (before, now) in ((1, (old.repeats[0], new.repeats[0])), (NOISY_PARSES, (old, new))):
            result = gate_runs(now, before, GateLimits())
            alarms[n] += not result.passed
            for check in result.failed:
                print(f"  {n} parses: {check.name}: {check.found}", flush=True)
    change, rng = KINDS["last row dropped"][0], random.Random("noisy")
    sick = rng.sample([s for s in sorted(texts) if _TABLE.search(texts[s])], 3)
    worse = texts | {s: change(texts[s], rng) for s in sick}
    result = gate_runs(parsed("drops", worse), runs[0], GateLimits())
    named = sum(any(s in page for check in result.failed for page in check.pages) for s in sick)
    others = {page.sample for page in result.worse} - set(sick)
    checks = ", ".join(check.name for check in result.failed)
    return alarms, f"{checks}; {named} of 3 named, {len(others)} others" if checks else ""


def simulated(n_pages: int = 60, n_gates: int = 1000) -> None:
    """Print how often pages look worse, on balance, between equal runs of simulated scores."""
    rng = np.random.default_rng(0)
    scales = np.exp(rng.normal(-3.5, 1, (n_pages, 1)))
    few = (np.arange(n_pages) < n_pages // 12)[:, None]
    kinds: dict[str, Callable[[int], np.ndarray]] = {
        "normal": lambda n: rng.normal(0, 0.03, (n_pages, n)),
        "normal, other widths": lambda n: rng.normal(0, 1, (n_pages, n)) * scales,
        "errors, one a page": lambda n: -0.02 * rng.poisson(1.0, (n_pages, n)),
        "errors, a tenth a page": lambda n: -0.02 * rng.poisson(0.1, (n_pages, n)),
        "two values": lambda n: 0.5 * rng.integers(0, 2, (n_pages, n)),
        "two values on 5 pages": lambda n: 0.5 * few * rng.integers(0, 2, (n_pages, n)),
    }
    for name, drawn in kinds.items():
        for n_parses in (2, 3, 5):
            alarms = 0
            for _ in range(n_gates):
                old, new = ([{str(k): v for k, v in enumerate(of)} for of in drawn(n_parses).T] for _ in "ab")
                moved = list(beyond_noise(old, new, MIN_CHANGE).values())
                alarms += moved.count(-1) > OFFSET * moved.count(1)
            print(f"  simulated, {name}, {n_parses} parses: {alarms / n_gates:.3f} of gates fail", flush=True)


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
