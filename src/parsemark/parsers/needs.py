"""What parsers need that `uv` cannot install, and whether it is here."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Program:
    """A program that must be on the path."""

    executable: str
    install: str


PROGRAMS = {
    "java": Program("java", "apt install default-jre-headless"),
    "tesseract": Program("tesseract", "apt install tesseract-ocr tesseract-ocr-eng"),
    "poppler": Program("pdftotext", "apt install poppler-utils"),
    "gpu": Program("nvidia-smi", "an NVIDIA GPU with its driver"),
}


def missing_needs(needs: Iterable[str]) -> tuple[str, ...]:
    """Which needs are not met, each with what to do.

    A need is the name of a program in `PROGRAMS`, `env:NAME` (a variable: a key or an address) or
    `folder:NAME` (a variable that names a folder, as for weights).
    """
    return tuple(message for need in needs if (message := _what_is_missing(need)) is not None)


def _what_is_missing(need: str) -> str | None:
    kind, _, name = need.partition(":")
    if kind == "env":
        return None if os.environ.get(name) else f"{name} (set this environment variable)"
    if kind == "folder":
        value = os.environ.get(name)
        return None if value and Path(value).is_dir() else f"{name} (set it to a folder with the weights)"
    program = PROGRAMS.get(need)
    if program is None:
        return None if shutil.which(need) else f"{need} (put it on the PATH)"
    return None if shutil.which(program.executable) else f"{need} ({program.install})"
