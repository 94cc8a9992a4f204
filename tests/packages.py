"""Packages of others as `pip install` leaves them, for tests of plug-ins."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from parsemark.parsers.releases import releases
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


def write_wheel(folder: Path, name: str, version: str, source: str, requires: str = "") -> Path:
    """A wheel of one module, as an index or a folder of `--find-links` has it."""
    module = name.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    needs = f"Requires-Dist: {requires}\n" if requires else ""
    files = {
        f"{module}.py": source,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    path = folder / f"{module}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in files.items():
            archive.writestr(member, content)
    return path


def index_of_wheels(folder: Path, patch: pytest.MonkeyPatch) -> Path:
    """An empty folder of wheels in place of the package index, and a cache folder of its own."""
    wheels = folder / "wheels"
    wheels.mkdir()
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        patch.delenv(name, raising=False)
    patch.setenv("UV_FIND_LINKS", str(wheels))
    patch.setenv("UV_NO_INDEX", "1")
    patch.setenv("PARSEMARK_CACHE", str(folder / "cache"))
    releases.cache_clear()
    return wheels


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
