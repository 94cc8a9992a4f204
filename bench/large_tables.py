"""500 x 20 tables: similar ones, unrelated ones, and a table with a million cells, which is refused."""

import resource
import time

from bench._random_tables import as_html, table, with_noise
from parsemark.metrics import TableInput, get_metric

METRICS = ("teds", "teds(structure_only=true)", "grits_top", "grits_con")


def main() -> bool:
    cells = table(500, 20, seed=1)
    truth = as_html(cells)
    cases = {
        "8 % noise": (as_html(with_noise(cells, 0.08, seed=2)), 2.0),
        "unrelated": (as_html(table(500, 20, seed=3)), 10.0),
    }
    met = []
    for name, (pred, wanted_s) in cases.items():
        print(f"500x20, {name} (wanted: {wanted_s:g} s)")
        met += [_measure(spec, truth, pred) <= wanted_s for spec in METRICS]
    million = "<table>" + ("<tr>" + "<td>1</td>" * 1000 + "</tr>") * 1000 + "</table>"
    print("a million cells against themselves")
    met += [_measure(spec, million, million) <= 10.0 for spec in METRICS]
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory: {peak_mb:.0f} MB (wanted: 500)")
    return all(met) and peak_mb <= 500


def _measure(spec: str, truth: str, pred: str) -> float:
    metric = get_metric(spec)
    start = time.process_time()
    result = metric.score(TableInput(truth), TableInput(pred))
    seconds = time.process_time() - start
    shown = result.message if result.value is None else f"{result.value:.4f}"
    print(f"  {spec:28} {seconds:8.3f} s  {shown}")
    return seconds
