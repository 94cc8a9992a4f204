"""Packages of others as `pip install` leaves them, for tests of plug-ins."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from parsemark.protocols import PROTOCOLS, get_protocol


def write_entry_points(folder: Path, package: str, entries: str) -> None:
    """Say beside the modules of a folder that they are a package with these entry points.

    Args:
        folder: On the path for modules, or to be put there.
        package: Its name.
        entries: What `entry_points.txt` holds.
    """
    info = folder / f"{package}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(entries)


def installed_protocol(
    module: Path, name: str, cls: str, patch: pytest.MonkeyPatch, folder: Path
) -> Iterator[None]:
    """A protocol of another package while a test runs, which scoring processes see too."""
    shutil.copy(module, folder)
    write_entry_points(folder, name, f"[parsemark.protocols]\n{name} = {module.stem}:{cls}\n")
    patch.syspath_prepend(folder)
    patch.setattr(PROTOCOLS, "_plugins", None)
    get_protocol.cache_clear()
    yield
    get_protocol.cache_clear()
