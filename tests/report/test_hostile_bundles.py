"""Sites made of hostile bundles: one value in a bundle, whose hashes fit, costs at most that bundle."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine.test_verify import Members, members_of, rewritten
from tests.store.fabricate import fabricate_run

from parsemark.report.leaderboard_site import build_board
from parsemark.store.bundle import write_bundle

ATTACK = "<img src=x onerror=alert(1)>"
VALUES: dict[str, Any] = {
    "null": None,
    "true": True,
    "negative": -7,
    "a huge number": 10**400,
    "1e308": 1e308,
    "not a number": float("nan"),
    "infinite": float("inf"),
    "empty": "",
    "controls": "a\x00b\x1b[2J\u202e",
    "half a character": "a\ud800",
    "many characters": "a" * 300_000,
    "markup": ATTACK,
    "a script's end": f"</script>{ATTACK}",
    "a path outside": "../../../../tmp/outside",
    "an absolute path": "/etc/passwd",
    "a link that runs": "javascript:alert(1)",
    "list": [],
    "object": {},
    "deep": json.loads("[" * 400 + "]" * 400),
    "many items": [0] * 30_000,
    "many keys": {f"k{k}": k for k in range(30_000)},
}
MAX_CPU_S = 30.0
N_TRIED = 20
"""Of thousands; `make faults` tries for minutes."""


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> Members:
    root = tmp_path_factory.mktemp("hostile")
    write_bundle(fabricate_run(root / "run", 3, ("good", "fair")), root / "sound.zip")
    return members_of(root / "sound.zip")


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where values stand in JSON."""
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from places(one, (*path, number))
    if path:
        yield path


def replaced(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    """A copy of JSON with one value replaced."""
    changed = json.loads(json.dumps(value))
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = by
    return changed


def forgeries(members: Members) -> Iterator[tuple[str, Members]]:
    """Bundles with one value replaced, in random order: each member that is JSON or lines of it."""
    chosen = random.Random(11)
    parts = [
        name for name in members if name.endswith((".json", ".jsonl")) and members[name].strip(b"[{}]\n ")
    ]
    while True:
        name = chosen.choice(parts)
        whole = [json.loads(line) for line in members[name].splitlines()] if name.endswith("l") else None
        data = json.loads(members[name]) if whole is None else whole[: chosen.randint(1, 3)]
        place, what = chosen.choice(list(places(data))), chosen.choice(list(VALUES))
        changed = replaced(data, place, VALUES[what])
        if whole is not None:
            lines = [json.dumps(row) for row in [*changed, *whole[len(changed) :]]]
            text = "\n".join(lines) + "\n"
        else:
            text = json.dumps(changed)
        yield f"{name} {place} is {what}", {**members, name: text.encode()}


def wrong_with(name: str, forged: Members, folder: Path) -> str:
    """Make a site of a forged bundle beside a sound one; returns what is wrong with it, "" if nothing is."""
    bundles = folder / "bundles"
    bundles.mkdir(parents=True)
    rewritten(bundles / "forged.zip", forged, rehash=not name.startswith("bundle.json"))
    begun = time.process_time()
    found = build_board([bundles], folder / "site")
    if (took := time.process_time() - begun) > MAX_CPU_S:
        return f"{took:.0f} s"
    if found.n_bundles + len(found.refused) != 1:
        return "it is neither shown nor refused"
    pages = list((folder / "site").rglob("*.html"))
    if any(
        ATTACK in page.read_text("utf-8") or 'href="javascript:' in page.read_text("utf-8") for page in pages
    ):
        return "it runs in a page"
    if not all(path.resolve().is_relative_to(folder.resolve()) for path in folder.rglob("*")):
        return "a file leads elsewhere"
    return "" if {path.name for path in folder.iterdir()} == {"bundles", "site"} else "files beside the site"


def test_one_hostile_value_costs_its_bundle(members: Members, tmp_path: Path) -> None:
    end = time.monotonic() + 60 * float(os.environ.get("FAULTS_MINUTES", "0")) / 10
    for number, (name, forged) in enumerate(forgeries(members)):
        if number >= N_TRIED and time.monotonic() > end:
            break
        assert wrong_with(name, forged, tmp_path / str(number)) == "", name
