"""The fingerprint of a parser: what decides its output, as a hash. Only parses of the same one are reused."""

import ast
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from parsemark.parsers.needs import given_files, program_versions
from parsemark.specs import OptionValue


def fingerprint(
    script: Path,
    kit: Path,  # the module of it that every worker runs
    environment: str,  # its hash: of the packages as they are, also of those that are installed from a path
    options: Mapping[str, OptionValue],
    needs: Sequence[str],
    *,
    weights: str = "",  # what is known of those that were fetched for it
    stands_alone: bool,  # whether what lies beside the script is none of its own, as with built-in ones
) -> str:
    """Return the hash of what decides its output: script and modules beside it, kit, environment, options,
    programs.

    Of the kit, what the script imports: a change of a part that it does not use changes nothing.
    """
    digest = hashlib.sha256()
    parts = [path.read_bytes() for path in (script, *sorted({kit, *modules_in(kit.parent, script)}))]
    for part in (*parts, environment.encode()):
        digest.update(hashlib.sha256(part).digest())
    digest.update(json.dumps(dict(options), sort_keys=True).encode())
    beside = [] if stands_alone else modules_in(script.parent, script)
    if (data := script.with_suffix(".json")).is_file():
        beside = [*beside, data]
    for path in beside:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    if files := given_files(needs):
        digest.update(json.dumps(files).encode())
    if weights:
        digest.update(weights.encode())
    if programs := program_versions(needs):
        digest.update(json.dumps(programs, sort_keys=True).encode())
    return digest.hexdigest()


def modules_in(folder: Path, script: Path) -> list[Path]:
    """Return the files of a folder that a script imports, directly or through each other, sorted."""
    found: set[Path] = set()
    pending = [script]
    while pending:
        for path in _imported_beside(pending.pop(), folder):
            if path not in found and path != script:
                found.add(path)
                pending.append(path)
    return sorted(found)


def _imported_beside(module: Path, folder: Path) -> Iterator[Path]:
    bases = (folder, module.parent) if module.is_relative_to(folder) else (folder,)
    for name in _imports(module):
        for base in dict.fromkeys(bases):
            target = base.joinpath(*name.split("."))
            # A package runs its __init__, and may hold what is imported from it by name.
            candidates = [target.with_suffix(".py"), target / "__init__.py"]
            candidates += [parent / "__init__.py" for parent in target.parents if parent.is_relative_to(base)]
            yield from (path for path in candidates if path.is_file() and path != base / "__init__.py")


def _imports(module: Path) -> Iterator[str]:
    try:
        tree = ast.parse(module.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if base:
                yield base
            yield from (f"{base}.{alias.name}".lstrip(".") for alias in node.names if alias.name != "*")
