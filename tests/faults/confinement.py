"""Workers that look for truths, other pages, keys and the network, that guess, never read, or burn time."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

from tests.engine.test_confinement import run_script
from tests.engine.test_questions import GUESSES, NEVER_READS, session
from tests.faults.common import Case

from parsemark.parsers.session import WorkerFailure
from parsemark.system.processes import why_not_confined

NAMES = (
    *("open", "list", "walk up", "link", "hard link", "proc root", "proc of parent", "proc cwd", "child"),
    *("shell", "write", "rename", "key", "home", "shadow", "network", "datagram", "kill", "limits"),
    *("keyring", "word of changes", "priority of parent"),
)


def attack(work: Path) -> Iterator[Case]:
    why = why_not_confined()
    if why is None:
        os.environ["STRANGE_API_KEY"] = "sk-of-somebody-else"
        with socket.create_server(("127.0.0.1", 0)) as server:
            _, seen = run_script(work / "alone", "#", server.getsockname()[1])
        got: list[str] = seen["got"]  # type: ignore[assignment]
        metadata = ("mode of", "owner of", "times of", "attribute of")
        for name in (*NAMES, *metadata):
            yield Case(f"a worker tries: {name}", not any(one.startswith(name) for one in got))
        yield Case("its page has a name that says nothing", seen["name"] == "document.pdf")
    os.environ["MY_TOKEN"] = "sk-SEC/RET-of-ours"
    header = '# network = true\n# variables = ["MY_TOKEN"]'
    run, _ = run_script(work / "declared", header, 9)
    stored = b"".join(path.read_bytes() for path in run.path.rglob("*") if path.is_file())
    yield Case("a key that a worker returns is stored nowhere", b"sk-SEC" not in stored)
    for name, code, pdf in (("guesses", GUESSES, "x"), ("never reads", NEVER_READS, "x" * 4_000_000)):
        try:
            with session(code) as asked:
                asked.ask(pdf, 1, {}, timeout_s=5)
            held = False
        except WorkerFailure:
            held = True
        yield Case(f"a worker that {name} is not believed", held)
