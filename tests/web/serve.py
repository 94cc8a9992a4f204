"""The web apps in a process of their own, as a user starts them, and a client that behaves like a browser."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from tests.waiting import PATIENCE_S

PAIRS = [
    {
        "id": f"t{k}/secret_parser_{k % 3}",
        "group": f"t{k}",
        "truth": f"| Method | Score |\n|---|---|\n| ours | {k}.5 |\n| theirs | 2.0 |",
        "pred": f"| Method | Score |\n|---|---|\n| ours | {k}.{5 + k % 2} |\n| theirs | 2.0 |",
        "parser": f"secret_parser_{k % 3}",
        "complexity": "simple",
    }
    for k in range(12)
]


def write_pairs(folder: Path, pairs: list[dict[str, Any]] | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "pairs.json"
    file.write_text(json.dumps({"schema_version": 1, "kind": "table", "pairs": pairs or PAIRS}))
    return file


@contextmanager
def served(
    *arguments: str, stderr: int | None = None
) -> Iterator[tuple[dict[str, str], subprocess.Popen[str]]]:
    """Start `parsemark …` and give the links that it says, and its process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "parsemark", *arguments, "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
    )
    try:
        assert process.stdout is not None
        links = {}
        for line in process.stdout:
            if line.startswith("Every change is saved"):
                break
            name, _, link = line.strip().rpartition("  ")
            links[name.strip()] = link
        assert links, "the server did not start"
        yield links, process
    finally:
        process.kill()
        process.wait()


class Person:
    """A browser: keeps cookies, and sends the CSRF value of the page that it sees."""

    def __init__(self, link: str) -> None:
        self.client = httpx.Client(follow_redirects=True, trust_env=False, timeout=PATIENCE_S)
        self.go_to(link)
        self.see(link)

    def go_to(self, link: str) -> None:
        """Ask another server from now on: one that is started again has another port, for the old one may
        belong to somebody else by then.
        """
        base = re.match(r"http://[^/]+", link)
        assert base is not None
        self.client.base_url = httpx.URL(base[0])

    def see(self, link: str = "/") -> str:
        text = self.client.get(link).text
        found = re.search(r'name="csrf" content="(\w+)"', text)
        if found:
            self.csrf = found[1]
        return text

    def post(self, path: str, data: Any, **headers: str) -> httpx.Response:
        known = {"x-parsemark": self.csrf, "content-type": "application/json"}
        return self.client.post(path, content=json.dumps(data), headers={**known, **headers})

    def get(self, path: str) -> Any:
        return self.client.get(path).json()


class Rater(Person):
    """Somebody who rates."""

    def __init__(self, link: str, name: str) -> None:
        super().__init__(link)
        assert self.post("/api/enter", {"name": name}).status_code == 200
        self.see()
        self.n_sent = 0
        self.name = name

    def item(self) -> dict[str, Any] | None:
        found: dict[str, Any] | None = self.get("/api/item")["item"]
        return found

    def rate(self, score: float | None, place: int | None = None, **more: Any) -> httpx.Response:
        item = self.item() if place is None else {"place": place}
        assert item is not None
        self.n_sent += 1
        data = {
            "place": item["place"],
            "score": score,
            "comment": "",
            "nonce": f"{id(self)}-{self.n_sent:08}",
        }
        return self.post("/api/answer", {**data, **more})
