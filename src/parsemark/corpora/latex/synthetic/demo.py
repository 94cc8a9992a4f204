"""The options of the demo corpus that is shipped with the package.

To make it anew after a change of the generator:

    python -m parsemark.corpora.latex.synthetic.demo src/parsemark/corpora/demo
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from parsemark.corpora.latex.synthetic.make import make_synthetic
from parsemark.corpora.latex.synthetic.options import SyntheticOptions

DEMO_OPTIONS = SyntheticOptions(
    pages=24,
    seed=3,
    name="demo",
    empty=1 / 3,
    long=0.1,
    document_pages=2,
    rotated=0.15,
    french=0.3,
    lines={"full": 0.25, "booktabs": 0.3, "partial": 0.2, "none": 0.25},
)

if __name__ == "__main__":
    target = Path(sys.argv[1])
    shutil.rmtree(target, ignore_errors=True)
    make_synthetic(DEMO_OPTIONS, target)
