"""Stand-ins for packages whose models are not here: their names, signatures and the shapes they return.

Each text file here is one tool; its parts are the files that a line `# == path` begins. `laid_out` writes
them as packages. `tests/parsers/test_wheels.py` holds every name and parameter against the real wheels.
"""

import re
from pathlib import Path

FOLDER = Path(__file__).parent


def sources(tool: str) -> dict[str, str]:
    """Path in the package to source, for one tool."""
    text = (FOLDER / f"{tool}.txt").read_text(encoding="utf-8")
    parts = re.split(r"(?m)^# == (\S+)$\n", text)[1:]
    return dict(zip(parts[0::2], parts[1::2], strict=True))


def laid_out(tool: str, folder: Path, pinned: dict[str, str]) -> Path:
    """Write a tool's stand-ins below a folder, with the pinned versions as their own."""
    for path, source in sources(tool).items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source, encoding="utf-8")
        for parent in list(file.relative_to(folder).parents)[:-1]:
            (folder / parent / "__init__.py").touch()
    for name, version in pinned.items():
        info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True, exist_ok=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    return folder
