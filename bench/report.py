"""What a report costs: the demo's size and time, and a run of 10,000 pages × 20 parsers."""

import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import polars as pl

from bench.engine import damaged, record
from parsemark.corpora import load_corpus
from parsemark.engine.parsing.parse import ParseOptions, add_samples, open_run
from parsemark.engine.scoring.score import score_run
from parsemark.store import ParserEntry, Run, RunFolder, schema_of

DEMO_MB, DEMO_CPU_S = 5.0, 5.0
LARGE_MB, LARGE_CPU_S, OPEN_S = 2_000.0, 180.0, 2.0
N_PAGES, N_PARSERS = 10_000, 20
TABLES = ("samples", "parses", "predictions", "matches", "scores")


def main() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        small = pretended_run(Path(folder) / "small", 8)
        size_mb, cpu_s, _ = build(small.path, Path(folder) / "demo-site")
        print(
            f"demo, {small.table('samples').height} pages × 8 parsers: {size_mb:.1f} MB (aim < {DEMO_MB:g}), "
            f"{cpu_s:.1f} s CPU (aim < {DEMO_CPU_S:g})"
        )
        good = size_mb < DEMO_MB and cpu_s < DEMO_CPU_S
        large = enlarged(pretended_run(Path(folder) / "twenty", N_PARSERS), Path(folder) / "large")
        site = Path(folder) / "large-site"
        size_mb, cpu_s, memory_mb = build(large, site)
        print(
            f"{N_PAGES:,} pages × {N_PARSERS} parsers: {cpu_s:.0f} s CPU (aim < {LARGE_CPU_S:g}), "
            f"{memory_mb:,.0f} MB of memory (aim < {LARGE_MB:,g}), report of {size_mb:,.0f} MB"
        )
        good &= cpu_s < LARGE_CPU_S and memory_mb < LARGE_MB
        return good and opens_quickly(site)


def build(run: Path, site: Path) -> tuple[float, float, float]:
    """Build a report in a process of its own: its size in MB, CPU seconds, and peak memory in MB."""
    program = "import sys; from pathlib import Path; from parsemark.report import build_report; "
    program += "build_report(Path(sys.argv[1]), Path(sys.argv[2]))"
    # Once before, so that the byte code of the libraries lies on disk, as it does for users.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, "-c", "import parsemark.report.build"], check=True, env=environment)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", program, run, site], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    size = sum(p.stat().st_size for p in site.rglob("*") if p.is_file())
    cpu_s = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    # The maximum over all children so far; the large report comes last and is the largest.
    return size / 1e6, cpu_s, after.ru_maxrss / 1e3


def opens_quickly(site: Path) -> bool:
    """Return whether each page of a report is usable within the limit; true with a note where no browser
    is.
    """
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        print("no Chromium here: how fast the report opens was not measured")
        return True
    from playwright.sync_api import sync_playwright

    slowest = 0.0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        browser.new_page().goto("about:blank")
        for name in ("index.html", "viewer.html", "charts.html", "compare.html"):
            page = browser.new_page()
            before = time.perf_counter()
            page.goto(f"{site.as_uri()}/{name}")
            page.wait_for_selector("html[data-ready]", state="attached")
            took = time.perf_counter() - before
            slowest = max(slowest, took)
            print(f"  {name} opens in {took:.2f} s (aim < {OPEN_S:g})")
        browser.close()
    return slowest < OPEN_S


def pretended_run(out: Path, n_parsers: int) -> Run:
    """Return the demo corpus, answered by pretended parsers and scored."""
    rng = random.Random(0)
    corpus = load_corpus("demo")
    run = open_run(out, corpus, ParseOptions())
    add_samples(run, corpus, None)
    samples = list(corpus.samples())
    records = []
    for number in range(n_parsers):
        name = f"pretended-{number:02d}"
        RunFolder.of(run).update_manifest(lambda m, n=name: m.with_parser(ParserEntry(name=n, fingerprint=n)))
        for sample in samples:
            elements = [damaged(rng, e) for e in sample.truth.tables] if sample.truth else []
            records.append(record(run, sample, name, elements).to_json())
    RunFolder.of(run).write_table("parses", pl.DataFrame(records, schema=schema_of("parses")))
    score_run(run)
    return run


def enlarged(run: Run, out: Path) -> Path:
    """Return a run with as many copies of the pages of `run` as are wanted; PDFs and raw outputs are left
    out.
    """
    large = Run.create(out, run.manifest)
    n_samples = run.table("samples").height
    copies = pl.DataFrame({"copy": [f"-{k:04d}" for k in range(-(-N_PAGES // n_samples))]})
    ids = run.table("samples").join(copies, how="cross").select(pl.col("sample") + pl.col("copy"))
    for name in TABLES:
        frame = run.table(name).join(copies, how="cross").with_columns(pl.col("sample") + pl.col("copy"))
        if name == "samples":
            frame = frame.with_columns(
                pl.col("document") + pl.col("copy"), pl.lit(None, pl.String).alias("pdf")
            )
        if name == "parses":
            frame = frame.with_columns(pl.lit(None, pl.String).alias("blob"))
        RunFolder.of(large).write_table(
            name, frame.drop("copy").join(ids.head(N_PAGES), on="sample", how="semi")
        )
    RunFolder.of(large).write_summary(run.summary())  # how long a summary takes is the engine's matter
    return out
