"""Hostile archives, LaTeX, corpora and texts: each costs itself, in bounded time."""

from __future__ import annotations

import gzip
import random
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from plugins.makers.tests.test_sources import BAD_ARCHIVES, archive
from tests.faults.common import Case

from parsemark.system.pdflatex import CompileLimits, compile_latex
from parsemark_makers.latex.sources import locate, read_document

N_ARCHIVES = 400
LATEX = {
    "shell": r"\immediate\write18{touch OUT}x",
    "pipe": r'\input{"|touch OUT"}',
    "read": r"\input{SECRET}",
    "read by number": r"\openin3=SECRET \read3 to\x \x",
    "embed": r"\immediate\pdfobj stream file{SECRET}\pdfrefobj\pdflastobj x",
    "dump": r"\pdffiledump offset 0 length 200{SECRET}x",
    "above": r"\input{../secret.txt}",
    "write": r"\newwrite\w\immediate\openout\w=OUT \immediate\write\w{x}x",
    "write above": r"\newwrite\w\immediate\openout\w=../out \immediate\write\w{x}x",
    "loop": r"\loop\iftrue\repeat",
    "recursion": r"\def\x{\x a}\x",
    "memory": r"\def\x{x}\loop\iftrue\edef\x{\x\x}\repeat",
    "pages": r"\loop\iftrue x\newpage\repeat",
    "log": r"\loop\iftrue\immediate\write-1{xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx}\repeat",
    "file": r"\newwrite\w\immediate\openout\w=big \loop\iftrue\immediate\write\w{xxxxxxxxxxxxxxxx}\repeat",
    "prompt": r"\read-1 to\x \x",
    "error": r"\nosuchmacro",
    "no end": r"{{{{{",
}
GROWTH = """
import resource, sys, time
sys.setrecursionlimit(10_000)
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
from parsemark.errors import FormatError
from parsemark.formats import read_tables
text = sys.stdin.read()
begun = time.process_time()
try:
    read_tables(text, sys.argv[1] if sys.argv[1] != "any" else None)
except FormatError:
    pass
print(time.process_time() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""
TEXTS = {
    "text": [
        "_",
        "-",
        "|",
        " |",
        "+-",
        "a  b\n",
        "\t",
        "Sign:\n" + "_" * 60 + " (date)\n",
        "=",
        "\u3000",
        "- \n",
    ],
    "markdown": ["|", "| a ", "```\n", "`", "*", " __a", "[", "<br ", "\\", "| - ", "&#", "![", "> ", "$"],
    "html": [
        "<",
        "<td",
        "<table>",
        "<br ",
        "<!--",
        "</",
        "<td colspan=",
        "&",
        "<math/>",
        "<colgroup>",
        "<![<",
    ],
    "latex": ["\\\\[", "\\", "{", "}", "&", "$", "\\begin{", "\\cite{", "\\(", "%", "\\multicolumn{", "\\\\"],
}
SECONDS_PER_100_KB = 1.0


def attack(work: Path) -> Iterator[Case]:
    yield from _archives(work / "archives")
    yield from _latex(work / "latex")
    yield from _texts()


def _archives(work: Path) -> Iterator[Case]:
    work.mkdir()
    whole = archive(work / "whole.tar.gz", {f"{n}/main.tex": b"x" * 700 for n in range(4)}).read_bytes()
    plain = bytearray(gzip.decompress(whole))
    chosen = random.Random(7)
    candidates = dict(BAD_ARCHIVES)
    for number in range(N_ARCHIVES):
        changed = bytearray(plain)
        for _ in range(chosen.randint(1, 12)):
            changed[chosen.randrange(len(changed))] = chosen.choice(
                [0, 0x30, 0x37, 0x80, 0xFF, chosen.randrange(256)]
            )
        candidates[f"mutated {number}"] = bytes(
            changed[: chosen.choice([len(changed), chosen.randrange(600, 6000)])]
        )
    for name, data in candidates.items():
        path = work / "one.tar.gz"
        path.write_bytes(gzip.compress(data))
        begun = time.process_time()
        try:
            documents = [read_document(found) for found in locate([path])]
            held = len(documents) == 1 and time.process_time() - begun < 5
            yield Case(name, held, f"{time.process_time() - begun:.1f} s")
        except Exception as error:  # what is looked for
            yield Case(name, False, repr(error)[:200])


def _latex(work: Path) -> Iterator[Case]:
    if shutil.which("pdflatex") is None:
        return
    for name, body in LATEX.items():
        folder = work / name.replace(" ", "-") / "inside"
        folder.mkdir(parents=True)
        secret, out = folder.parent / "secret.txt", folder.parent / "out"
        secret.write_text("treasure island")
        filled = body.replace("SECRET", str(secret)).replace("OUT", str(out))
        source = f"\\documentclass{{article}}\\begin{{document}}{filled}\\end{{document}}"
        begun = time.monotonic()
        result = compile_latex(
            source, folder, limits=CompileLimits(cpu_s=4, wall_s=60, memory_mb=512, output_mb=4)
        )
        leaked = "treasure" in result.log or (
            result.pdf is not None and b"treasure" in result.pdf.read_bytes()
        )
        held = not leaked and not out.exists() and time.monotonic() - begun < 120
        yield Case(f"LaTeX: {name}", held, f"{result.reason}")


def _texts() -> Iterator[Case]:
    for kind, pieces in TEXTS.items():
        for piece in pieces:
            text = (piece * (100_000 // len(piece)))[:100_000]
            done = subprocess.run(
                [sys.executable, "-W", "ignore", "-c", GROWTH, kind if kind != "text" else "any"],
                input=text,
                capture_output=True,
                text=True,
                check=False,
            )
            words = done.stdout.split()
            held = done.returncode == 0 and float(words[0]) <= SECONDS_PER_100_KB
            yield Case(
                f"{kind}: {piece[:12]!r} × {100_000 // len(piece):,}", held, f"{words or done.stderr[-200:]}"
            )
    resource.getrusage(resource.RUSAGE_CHILDREN)
