"""How cost grows with pages: recorded outputs of four parsers through score, summarise, compare and report.

The pages are copies of the demo's under new names, each with its own raw outputs (as the parsers gave them,
made distinct by white space), so that nothing is parsed and nothing is shared. `PARSEMARK_SCALE_PAGES` sets
the sizes (2000,5000,10000). Every stage runs in a process of its own; its CPU time is that of all processes.
"""

import json
import math
import os
import resource
import subprocess
import sys
import tempfile
from itertools import pairwise
from multiprocessing import forkserver
from pathlib import Path

import polars as pl

import parsemark as pm
from parsemark.engine.scoring import score_run
from parsemark.protocols import get_protocol
from parsemark.report.comparison import compare_parsers
from parsemark.store import Run

PARSERS = ("pdfplumber", "camelot(flavor=stream)", "liteparse", "pdf-inspector")
SIZES = tuple(int(n) for n in os.environ.get("PARSEMARK_SCALE_PAGES", "2000,5000,10000").split(","))
STAGES = ("score", "summarise", "compare", "report")
MAX_EXPONENT = 1.05
MAX_SCORING_MB = 300.0


def main() -> bool:
    found: dict[str, list[dict[str, float]]] = {stage: [] for stage in STAGES}
    with tempfile.TemporaryDirectory(dir=os.environ.get("PARSEMARK_SCALE_DIR")) as folder:
        small = pm.bench("demo", PARSERS, out=Path(folder) / "demo")
        for size in SIZES:
            run = enlarged(small, Path(folder) / str(size), size)
            for stage in STAGES:
                found[stage].append(measured(stage, run))
                print(told(stage, size, found[stage][-1]), flush=True)
            subprocess.run(["rm", "-rf", run], check=True)
    good = True
    for stage, rows in found.items():
        exponent = growth([r["cpu_s"] for r in rows])
        good &= exponent <= MAX_EXPONENT
        print(f"{stage}: CPU time grows as pages^{exponent:.2f} (aim ≤ {MAX_EXPONENT})")
    worst = max(r["child_mb"] for r in found["score"])
    print(f"a scoring process takes at most {worst:.0f} MB (aim ≤ {MAX_SCORING_MB:.0f})")
    return good and worst <= MAX_SCORING_MB


def growth(cpu_s: list[float]) -> float:
    """The steepest exponent between neighbouring sizes."""
    pairs = zip(pairwise(SIZES), pairwise(cpu_s), strict=True)
    return max((math.log(d / c) / math.log(b / a) for (a, b), (c, d) in pairs), default=0.0)


def told(stage: str, size: int, row: dict[str, float]) -> str:
    per = row["cpu_s"] / size * 1000
    return (
        f"{size:6,} pages  {stage:9}  {row['cpu_s']:7.1f} s CPU ({per:.2f} per 1,000 pages)  "
        f"{row['driver_mb']:6.0f} MB, a process {row['child_mb']:4.0f} MB  "
        f"{row['disk_mb'] / size * 1000:6.2f} MB of disk per 1,000 pages"
    )


def enlarged(run: Run, out: Path, n_pages: int) -> Path:
    """A run of copies of another run's pages, with distinct raw outputs."""
    samples, parses = run.table("samples"), run.table("parses")
    large = Run.create(out, run.manifest)
    raw = {blob: run.raw(blob) for blob in parses["blob"].drop_nulls().unique()}
    sample_rows, parse_rows = [], []
    for copy in range(-(-n_pages // samples.height)):
        kept = samples.head(n_pages - copy * samples.height)
        for row in kept.iter_rows(named=True):
            name = f"c{copy:06d}-{row['sample']}"
            truth = row["truth"].replace(json.dumps(row["sample"]), json.dumps(name), 1)
            sample_rows.append(
                {**row, "sample": name, "document": f"c{copy:06d}-{row['document']}", "truth": truth}
            )
        for row in parses.filter(pl.col("sample").is_in(kept["sample"].implode())).iter_rows(named=True):
            blob = row["blob"]
            if blob is not None:
                mark = "".join(" \n"[int(bit)] for bit in f"{copy:b}")
                blob = large.blobs.put(raw[blob] + b"\t" + mark.encode())
            parse_rows.append({**row, "sample": f"c{copy:06d}-{row['sample']}", "blob": blob})
    large.write_table("samples", pl.DataFrame(sample_rows, schema=samples.schema))
    large.write_table("parses", pl.DataFrame(parse_rows, schema=parses.schema))
    return out


def measured(stage: str, run: Path) -> dict[str, float]:
    before = size_mb(run)
    program = [sys.executable, "-m", "bench.scale", stage, str(run)]
    answer = json.loads(subprocess.run(program, check=True, capture_output=True, text=True).stdout)
    answer["disk_mb"] = size_mb(run) if stage == "score" else size_mb(run) - before
    return dict(answer)


def size_mb(folder: Path) -> float:
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()) / 1e6


def run_stage(stage: str, path: Path) -> None:
    run = Run.open(path)
    if stage == "score":
        score_run(run, n_workers=2)
    elif stage == "summarise":
        get_protocol("tables").summarise(run.run_tables("tables"))
    elif stage == "compare":
        compare_parsers(run, PARSERS[0], PARSERS[1])
    else:
        pm.build_report(run)
    forkserver._forkserver._stop()  # the processes of the pool are counted once they have ended
    own, children = (resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    cpu_s = own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
    print(
        json.dumps({"cpu_s": cpu_s, "driver_mb": own.ru_maxrss / 1e3, "child_mb": children.ru_maxrss / 1e3})
    )


if __name__ == "__main__":
    run_stage(sys.argv[1], Path(sys.argv[2]))
