"""How the cost of reading and scoring grows with the size of adversarial inputs: the whole grammar.

Run with `python -m bench growth`. For every reader and metric it prints the inputs that cost most: CPU
seconds at 10, 30 and 100 kB with the exponent, and the memory that 100 kB take at their peak.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path

from tests.formats.test_growth import READERS
from tests.growth import HTML, SIZES, inputs, measure, slowness
from tests.metrics.test_growth import LARGE, TRUTH

from parsemark.errors import FormatError
from parsemark.metrics import TableInput, get_metric, list_metrics

SHOWN = 2
MAX_MB = 200
"""For 100 kB of anything."""

Read = Callable[[str], object]
Make = Callable[[int], str]


def main() -> bool:
    factor, total = slowness(), 0
    print(f"sizes {SIZES}, CPU s; this machine is {factor:.1f} times slower than the one of the limit")
    for name, (read, pieces) in READERS.items():
        total += report(name, read, list(inputs(pieces)), factor)
    for metric in list_metrics():
        if metric.metadata.kind == "table":
            total += report(f"{metric}, markup", _against_truth(str(metric)), _cells(), factor)
            total += report(
                f"{metric}, large", _against_itself(str(metric)), list(LARGE.items()), factor, grows=False
            )
    return total == 0


def report(name: str, read: Read, made: list[tuple[str, Make]], factor: float, *, grows: bool = True) -> int:
    """Measure all inputs; returns how many are over a limit."""
    found = [(measure(read, make), peak_mb(read, make(SIZES[-1])), shape) for shape, make in made]
    slow = sum(
        not growth.is_bounded(factor) if grows else growth.seconds[-1] / factor > 1 for growth, _, _ in found
    )
    large = sum(megabytes > MAX_MB for _, megabytes, _ in found)
    print(f"{name}: {len(found)} inputs, {slow} over the limit of time, {large} over {MAX_MB} MB", flush=True)
    slowest = sorted(found, key=lambda one: -one[0].seconds[-1])[:SHOWN]
    largest = sorted(found, key=lambda one: -one[1])[:1]
    for growth, megabytes, shape in slowest + [one for one in largest if one not in slowest]:
        shown = " ".join(f"{s:.3f}" for s in growth.seconds)
        print(f"    {shown}  exponent {growth.exponent:.2f}  {megabytes:.0f} MB  {shape}")
    return slow + large


def peak_mb(read: Read, text: str) -> float:
    """Return the additional peak memory of reading a text, in MB; Linux only."""
    gc.collect()
    before = _status("VmRSS")
    try:
        Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
        read(text)
    except FormatError:
        pass
    except OSError:
        return 0.0
    return (_status("VmHWM") - before) / 1024


def _status(key: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1])
    return 0


def _cells() -> list[tuple[str, Make]]:
    return [
        (shape, lambda n, m=make: f"<table><tr><td>{m(n)}</td></tr></table>") for shape, make in inputs(HTML)
    ]


def _against_truth(name: str) -> Read:
    return lambda text: get_metric(name).score(TableInput(TRUTH), TableInput(text))


def _against_itself(name: str) -> Read:
    return lambda text: get_metric(name).score(TableInput(text), TableInput(text.replace("a", "b")))
