"""How cost grows with pages: recorded outputs of four parsers through score, summarise, compare and report.

The pages are copies of the demo's under new names, each with its own raw outputs (as the parsers gave them,
made distinct by white space), so that nothing is parsed and nothing is shared. `PARSEMARK_SCALE_PAGES` sets
the sizes (2000,5000,10000). Every stage runs in a process of its own; its CPU time is that of all processes.

In a folder of its own (`PARSEMARK_SCALE_DIR`) it can be stopped and started again: what was measured stands
in `results.jsonl`, scoring goes on with the chunks that are missing, and the CPU time that it had used until
then is added. The report is that of a large run, without pictures of pages and raw outputs.
"""

import contextlib
import hashlib
import json
import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from itertools import pairwise
from multiprocessing import forkserver
from pathlib import Path

import polars as pl

import parsemark as pm
from parsemark.engine.scoring.score import score_run
from parsemark.protocols import get_protocol
from parsemark.report.build import build_site
from parsemark.report.site import ReportOptions
from parsemark.store import Run, RunFolder
from parsemark.verdicts.comparison import compare_parsers

PARSERS = ("pdfplumber", "camelot(flavor=stream)", "liteparse", "pdf-inspector")
SIZES = tuple(int(n) for n in os.environ.get("PARSEMARK_SCALE_PAGES", "2000,5000,10000").split(","))
STAGES = ("score", "summarise", "compare", "report")
MAX_EXPONENT = 1.05
MAX_SCORING_MB = 300.0
LOOK_EVERY_S = 5.0
TICKS = os.sysconf("SC_CLK_TCK")


def main() -> bool:
    given = os.environ.get("PARSEMARK_SCALE_DIR")
    if given is None:
        with tempfile.TemporaryDirectory() as folder:
            return measure(Path(folder))
    Path(given).mkdir(parents=True, exist_ok=True)
    return measure(Path(given))


def measure(folder: Path) -> bool:
    """Measure all sizes that are not measured yet; whether all aims are met."""
    results = folder / "results.jsonl"
    known = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    found = {(row["stage"], row["pages"]): row for row in known}
    for size in SIZES:
        missing = [stage for stage in STAGES if (stage, size) not in found]
        if missing:
            run = enlarged(demo_run(folder), folder / str(size), size)
        for stage in missing:
            row = {"stage": stage, "pages": size, **measured(stage, run)}
            found[stage, size] = row
            with results.open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(describe(row), flush=True)
        shutil.rmtree(folder / str(size), ignore_errors=True)
    return verdict({stage: [found[stage, size] for size in SIZES] for stage in STAGES})


def verdict(found: dict[str, list[dict[str, float]]]) -> bool:
    good = True
    for stage, rows in found.items():
        exponent = growth([r["cpu_s"] for r in rows])
        memory = growth([r["driver_mb"] for r in rows])
        good &= exponent <= MAX_EXPONENT
        print(
            f"{stage}: CPU time grows as pages^{exponent:.2f} (aim ≤ {MAX_EXPONENT}), "
            f"memory of the driver as pages^{memory:.2f}"
        )
    worst = max(r["child_mb"] for r in found["score"])
    print(f"a scoring process takes at most {worst:.0f} MB (aim ≤ {MAX_SCORING_MB:.0f})")
    return good and worst <= MAX_SCORING_MB


def growth(values: list[float]) -> float:
    """Return the steepest exponent between neighbouring sizes."""
    pairs = zip(pairwise(SIZES), pairwise(values), strict=True)
    return max((math.log(d / c) / math.log(b / a) for (a, b), (c, d) in pairs), default=0.0)


def describe(row: dict[str, float]) -> str:
    size, per = int(row["pages"]), row["cpu_s"] / row["pages"] * 1000
    return (
        f"{size:6,} pages  {row['stage']:9}  {row['cpu_s']:7.1f} s CPU ({per:.2f} per 1,000 pages)  "
        f"{row['driver_mb']:6.0f} MB, a process {row['child_mb']:4.0f} MB  "
        f"{row['disk_mb'] / size * 1000:6.2f} MB of disk per 1,000 pages"
    )


def demo_run(folder: Path) -> Run:
    path = folder / "demo"
    return Run.open(path) if (path / "protocols").exists() else pm.bench("demo", PARSERS, out=path)


def enlarged(run: Run, out: Path, n_pages: int) -> Path:
    """Return a run of copies of another run's pages, with distinct raw outputs."""
    whole = out / ".enlarged"
    if whole.exists():
        return out
    shutil.rmtree(out, ignore_errors=True)
    samples, parses = run.table("samples"), run.table("parses")
    large = Run.create(out, run.manifest)
    raw = {blob: run.raw(blob) for blob in parses["blob"].drop_nulls().unique()}
    parts: dict[str, list[Path]] = {"samples": [], "parses": []}
    (out / "copies").mkdir()
    for copy in range(-(-n_pages // samples.height)):
        kept = samples.head(n_pages - copy * samples.height)
        own = parses.filter(pl.col("sample").is_in(kept["sample"].implode()))
        mark = b"\t" + "".join(" \n"[int(bit)] for bit in f"{copy:b}").encode()
        rows = {
            "samples": [copied(row, copy) for row in kept.iter_rows(named=True)],
            "parses": [
                {**row, "sample": named(row["sample"], copy), "blob": put(large, raw.get(row["blob"]), mark)}
                for row in own.iter_rows(named=True)
            ],
        }
        for name, frame in (("samples", samples), ("parses", parses)):
            path = out / "copies" / f"{name}-{copy:06d}.parquet"
            pl.DataFrame(rows[name], schema=frame.schema).sort("sample").write_parquet(path)
            parts[name].append(path)
    for name, paths in parts.items():
        RunFolder.of(large).join_parts(name, paths)
    shutil.rmtree(out / "copies")
    whole.touch()
    return out


def named(name: str, copy: int) -> str:
    return f"c{copy:06d}-{name}"


def copied(row: dict[str, object], copy: int) -> dict[str, object]:
    name = named(str(row["sample"]), copy)
    truth = str(row["truth"]).replace(json.dumps(row["sample"]), json.dumps(name), 1)
    return {**row, "sample": name, "document": named(str(row["document"]), copy), "truth": truth}


def put(run: Run, data: bytes | None, mark: bytes) -> str | None:
    """Store data as a run does, but without waiting for the disk."""
    if data is None:
        return None
    blob = hashlib.sha256(data + mark).hexdigest()
    path = RunFolder.of(run).blobs.path(blob)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data + mark)
    return blob


def measured(stage: str, run: Path) -> dict[str, float]:
    before = size_mb(run) if stage == "report" else 0.0
    used = run / f".{stage}.cpu"
    earlier = float(used.read_text()) if used.exists() else 0.0
    program = [sys.executable, "-m", "bench.scale", stage, str(run)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            used.write_text(str(earlier + cpu_of_tree(process.pid)))
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(LOOK_EVERY_S)
        answer = json.loads(process.stdout.read() if process.stdout else "")
    answer["cpu_s"] += earlier
    answer["disk_mb"] = size_mb(run) - before if stage in ("score", "report") else 0.0
    return dict(answer)


def cpu_of_tree(root: int) -> float:
    """Return CPU seconds of a process, of its descendants, and of those that have ended."""
    parents, used = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(folder.name)] = int(fields[1])
        used[int(folder.name)] = sum(int(n) for n in fields[11:15]) / TICKS
    tree, new = {root}, {root}
    while new:
        new = {pid for pid, parent in parents.items() if parent in new} - tree
        tree |= new
    return sum(used.get(pid, 0.0) for pid in tree)


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
        build_site(path, path / "report", ReportOptions(max_images=0, max_raw_outputs=0))
    forkserver._forkserver._stop()  # the processes of the pool are counted once they have ended
    own, children = (resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    cpu_s = own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
    print(
        json.dumps({"cpu_s": cpu_s, "driver_mb": own.ru_maxrss / 1e3, "child_mb": children.ru_maxrss / 1e3})
    )


if __name__ == "__main__":
    run_stage(sys.argv[1], Path(sys.argv[2]))
