"""How the cost of reading grows with the size of adversarial inputs: the whole grammar, every reader.

Run with `python -m bench growth`. Prints the inputs that cost most, with the exponent over 10 to 100 kB.
"""

from __future__ import annotations

from tests.formats.test_growth import READERS
from tests.growth import SIZES, inputs, measure, slowness

SHOWN = 3


def main() -> bool:
    factor, total = slowness(), 0
    print(f"sizes {SIZES}, CPU s; this machine is {factor:.1f} times slower than the one of the limit")
    for name, (read, pieces) in READERS.items():
        found = [(measure(read, make), shape) for shape, make in inputs(pieces)]
        unbounded = sum(not growth.is_bounded(factor) for growth, _ in found)
        total += unbounded
        print(f"{name}: {len(found)} inputs, {unbounded} over the limit")
        for growth, shape in sorted(found, key=lambda pair: -pair[0].seconds[-1])[:SHOWN]:
            shown = " ".join(f"{s:.3f}" for s in growth.seconds)
            print(f"    {shown}  exponent {growth.exponent:.2f}  {shape}")
    return total == 0
