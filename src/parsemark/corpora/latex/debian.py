"""Which Debian package has a file that TeX does not find."""

from __future__ import annotations

import gzip
import re
from functools import lru_cache
from pathlib import Path

INDEX = Path(__file__).with_name("debian_files.tsv.gz")
"""Package, tab, its files: of Debian 12, by `apt-file search -x '/tex/.*\\.(sty|cls|…)$'`."""

_MISSING = (
    re.compile(r"^! LaTeX Error: File `([^'\n]{1,200})' not found", re.MULTILINE),
    re.compile(r"^! I can't find file `([^'\n]{1,200})'", re.MULTILINE),
    re.compile(r"^! ?pdfTeX error: \S{1,200} \(file ([^)\n]{1,200})\): (?:Font|cannot open)", re.MULTILINE),
    re.compile(r"^! Font \S+=([\w.-]{1,100}) (?:at \S+ )?not load", re.MULTILINE),
)


def missing_file(log: str) -> str | None:
    """The first file that a run of TeX did not find."""
    found = [(match.start(), match[1]) for pattern in _MISSING if (match := pattern.search(log))]
    return min(found)[1] if found else None


def package_of(file: str) -> str | None:
    """The Debian package that has a file, by its name.

    >>> package_of("IEEEtran.cls"), package_of("mine.sty")
    ('texlive-publishers', None)
    """
    if re.match(r"(ec|tc|la|lb|lc)(rm|bx|ti|tt|ss|sl|cc|bi|it|st|sx|so|xc|vt|ui)[a-z]?\d{4}", file):
        return "cm-super"
    packages = _packages()
    return packages.get(file) or packages.get(f"{file}.sty")


@lru_cache(maxsize=1)
def _packages() -> dict[str, str]:
    packages: dict[str, str] = {}
    for line in gzip.decompress(INDEX.read_bytes()).decode().splitlines():
        name, _, files = line.partition("\t")
        for file in files.split():
            if file not in packages or name.startswith("texlive-"):
                packages[file] = name
    return packages
