"""A damaged run names the file that is damaged and says how it is made anew; nothing is a traceback."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.store.fabricate import fabricate_manifest, fabricate_run

from parsemark.errors import StoreError, WriteError
from parsemark.model import Status
from parsemark.store import ParseRecord, Run, RunFolder


def flip(data: bytes) -> bytes:
    return bytes(b ^ 0x5A if i % 97 == 13 else b for i, b in enumerate(data))


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "cut at the front": lambda data: data[len(data) // 2 :],
    "flipped": flip,
    "flipped at the end": lambda data: data[:-60] + flip(data[-60:]) if len(data) > 60 else b"x",
    "text": lambda data: b"not a table at all",
    "another table": lambda data: _other_table(),
}


def _other_table() -> bytes:
    import io

    target = io.BytesIO()
    pl.DataFrame({"x": [1]}).write_parquet(target)
    return target.getvalue()


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return fabricate_run(tmp_path_factory.mktemp("sound") / "run")


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("table", ["samples", "parses", "predictions", "matches", "scores"])
def test_damaged_tables(sound: Run, tmp_path: Path, table: str, damage: str) -> None:
    import shutil

    shutil.copytree(sound.path, tmp_path / "run")
    run = Run.open(tmp_path / "run")
    path = RunFolder.of(run).files.path_of(table, run.protocols[0])
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    try:
        run.table(table)
        if table == "predictions":
            run.prediction("page-000", "good")
    except StoreError as error:
        assert path.name in str(error)
        assert "parsemark score" in str(error) or "repeat the command" in str(error)
        assert len(str(error)) < 600
    else:
        assert damage.startswith("flipped"), "only a flipped bit may go unnoticed, in a value"


@pytest.mark.parametrize(
    "line",
    [
        "{}",
        '{"sample": "s"}',
        '{"sample": 1, "parser": "p", "status": "ok", "key": "k"}',
        '{"sample": "s", "parser": "p", "status": "fine", "key": "k"}',
        '{"sample": "s", "parser": "p", "status": "ok", "key": "k", "finished": "now"}',
        '{"sample": "s", "parser": "p", "status": "ok", "key": "k", "n_bytes": "x"}',
        '{"sample": "s", "parser": "p", "status": "ok", "key": "k", "colour": "red"}',
    ],
)
def test_a_line_of_a_journal_that_is_no_record(tmp_path: Path, line: str) -> None:
    run = Run.create(tmp_path / "run", fabricate_manifest())
    (run.path / "journal").mkdir()
    good = json.dumps(ParseRecord("s", "p", Status.OK, "k").to_json())
    (run.path / "journal" / "1-a.jsonl").write_text(f"{good}\n{line}\n")
    with pytest.raises(StoreError, match=r"1-a\.jsonl, line 2 is not valid: .* parsed again"):
        run.records()


@pytest.mark.parametrize("line", ["not json", "[1, 2]", "7", '{"sample": "s"'])
def test_a_whole_line_of_a_journal_that_is_no_object(tmp_path: Path, line: str) -> None:
    run = Run.create(tmp_path / "run", fabricate_manifest())
    (run.path / "journal").mkdir()
    good = json.dumps(ParseRecord("s", "p", Status.OK, "k").to_json())
    (run.path / "journal" / "1-a.jsonl").write_text(f"{line}\n{good}\n")
    with pytest.raises(StoreError, match=r"1-a\.jsonl, line 1 is not a record\. .* parsed again"):
        run.records()


def test_torn_lines_are_passed_over(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", fabricate_manifest())
    (run.path / "journal").mkdir()
    good = json.dumps(ParseRecord("s", "p", Status.OK, "k").to_json())
    (run.path / "journal" / "1-a.jsonl").write_text(f"{good}\n{good[:40]}")
    assert len(run.records()) == 1


@pytest.mark.parametrize("name", ["raw", "journal", "protocols"])
def test_folders_that_are_links_are_not_written_to(sound: Run, tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    run = Run.create(tmp_path / "run", fabricate_manifest())
    (run.path / name).symlink_to(outside)
    with pytest.raises(WriteError, match="symbolic link"):
        RunFolder.of(run).blobs.put(b"x")
        RunFolder.of(run).parses.journal().close()
        RunFolder.of(run).write_table("scores", sound.table("scores"))
    assert not list(outside.iterdir())


def test_a_folder_of_runs_is_no_run(tmp_path: Path) -> None:
    Run.create(tmp_path / "runs" / "one", fabricate_manifest())
    with pytest.raises(StoreError, match="contains the run one"):
        Run.create(tmp_path / "runs", fabricate_manifest())
