import json
import multiprocessing
import subprocess
import sys
import threading
from pathlib import Path

import polars as pl
import pytest
from tests.store.fabricate import fabricate_manifest, fabricate_run

from parsemark.errors import StoreError
from parsemark.model import Status
from parsemark.store import (
    SCHEMA_VERSION,
    SCHEMAS,
    ParseCache,
    ParseRecord,
    ParserEntry,
    Run,
    RunFolder,
    work_key,
)
from parsemark.store.blobs import BlobStore
from parsemark.store.bundle import Bundle, write_bundle


def record(sample: str, parser: str = "p", **changes: object) -> ParseRecord:
    return ParseRecord(**{"sample": sample, "parser": parser, "status": Status.OK, "key": "k", **changes})


def test_fabricated_run_has_every_table(tmp_path: Path) -> None:
    run = Run.open(fabricate_run(tmp_path / "run").path)
    for name, schema in SCHEMAS.items():
        frame = run.table(name)
        assert frame.height > 0
        assert dict(frame.schema) == {k: pl.Schema(schema)[k] for k in schema}
    assert run.prediction("page-000", "good").tables[0].table is not None
    truth = run.truth("page-000")
    assert truth is not None and truth.tables
    blob = run.table("parses").filter(pl.col("status") == "ok")["blob"][0]
    assert json.loads(run.raw(blob))["format"] == "elements"
    assert set(run.summary().parsers) == {"good", "fair", "poor"}


def test_reading_a_run_loads_no_corpus_protocol_or_parser(tmp_path: Path) -> None:
    run = fabricate_run(tmp_path / "run")
    code = """
import sys
from parsemark.store import Run
run = Run.open(sys.argv[1])
run.summary(), run.table("scores"), run.records(), run.truth("page-000"), run.manifest.engines
rooms = {name.split(".")[1] for name in sys.modules if name.startswith("parsemark.")}
print(sorted(rooms & {"corpora", "protocols", "parsers", "consensus", "judges", "engine", "report"}))
"""
    done = [sys.executable, "-c", code, str(run.path)]
    assert subprocess.run(done, capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_equal_seeds_give_equal_runs(tmp_path: Path) -> None:
    one, two = (fabricate_run(tmp_path / name) for name in "ab")
    for name in SCHEMAS:
        assert one.table(name).equals(two.table(name))


def test_newer_schema_says_what_to_do(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", fabricate_manifest())
    path = run.path / "manifest.json"
    path.write_text(json.dumps({"schema_version": SCHEMA_VERSION + 1, "anything": "else"}))
    with pytest.raises(StoreError, match=r"newer parsemark \(schema 3.*Upgrade with"):
        Run.open(run.path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "cannot be read"),
        ("[]", "no schema_version"),
        ('{"schema_version": 1}', "not valid: command: is missing"),
    ],
)
def test_damaged_manifest(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(StoreError, match=message):
        Run.open(tmp_path)


def test_unknown_field_of_the_manifest_is_refused(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", fabricate_manifest())
    data = json.loads((run.path / "manifest.json").read_text())
    (run.path / "manifest.json").write_text(json.dumps({**data, "colour": "red"}))
    with pytest.raises(StoreError, match="colour"):
        Run.open(run.path)


def test_no_run_and_no_summary(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="not a run directory"):
        Run.open(tmp_path)
    run = Run.create(tmp_path / "run", fabricate_manifest())
    with pytest.raises(StoreError, match="not been scored yet"):
        run.summary()
    with pytest.raises(StoreError, match="no table 'sores'"):
        run.table("sores")
    with pytest.raises(StoreError, match="already contains a run"):
        Run.create(tmp_path / "run", fabricate_manifest())


def test_a_protocol_that_the_run_has_not_is_refused(tmp_path: Path) -> None:
    run = fabricate_run(tmp_path / "run", 3, ("good",))
    with pytest.raises(StoreError, match="no protocol 'documant': tables"):
        run.table("scores", "documant")


def test_torn_line_is_ignored_and_its_neighbours_are_kept(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", fabricate_manifest())
    with RunFolder.of(run).parses.journal() as journal:
        journal.append(record("a").to_json())
        journal.append(record("b").to_json())
    whole = journal.path.read_bytes()
    for end in range(len(whole)):
        journal.path.write_bytes(whole[:end])
        samples = [r.sample for r in run.records()]
        whole_lines = (whole[:end] + b"\n").count(b"}\n")
        assert samples == ["a", "b"][:whole_lines]


def test_journal_that_grows_is_not_folded_away(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", fabricate_manifest())
    with RunFolder.of(run).parses.journal() as growing:
        growing.append(record("a").to_json())
        RunFolder.of(run).parses.fold()
        assert growing.path.exists()
        growing.append(record("b").to_json())
    RunFolder.of(run).parses.fold()
    assert not list((run.path / "journal").iterdir())
    assert run.table("parses")["sample"].to_list() == ["a", "b"]


def test_the_later_line_counts_whatever_the_clock_said(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", fabricate_manifest())
    with RunFolder.of(run).parses.journal() as journal:
        journal.append(record("a", finished=2.0, attempts=2).to_json())
        journal.append(record("a", finished=1.0, attempts=1).to_json())
    assert [r.attempts for r in run.records()] == [1]
    RunFolder.of(run).parses.fold()
    assert run.table("parses")["attempts"].to_list() == [1]
    with RunFolder.of(run).parses.journal() as later:  # its clock was set back by a day
        later.append(record("a", finished=-86_400.0, attempts=3).to_json())
    assert [r.attempts for r in run.records()] == [3]
    RunFolder.of(run).parses.fold()
    assert [r.attempts for r in run.records()] == [3]


def test_of_two_writers_the_one_that_began_later_counts_also_after_it_was_folded(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", fabricate_manifest())
    with RunFolder.of(run).parses.journal() as slow:
        slow.append(record("a", finished=9.0, attempts=1).to_json())
        with RunFolder.of(run).parses.journal() as fast:
            fast.append(record("a", finished=1.0, attempts=2).to_json())
        RunFolder.of(run).parses.fold()
        assert [r.attempts for r in run.records()] == [2]
        since = RunFolder.of(run).parses.now()
        assert all(r.sequence < since for r in run.records())
    RunFolder.of(run).parses.fold()
    assert [r.attempts for r in run.records()] == [2]
    with RunFolder.of(run).parses.journal() as third:
        third.append(record("b").to_json())
    assert [r.sample for r in run.records() if r.sequence >= since] == ["b"]


def test_a_run_of_an_earlier_version_has_no_order_and_is_older_than_any_journal(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", fabricate_manifest())
    with RunFolder.of(run).parses.journal() as journal:
        journal.append(record("a", finished=9e9).to_json())
    RunFolder.of(run).parses.fold()
    path = RunFolder.of(run).files.path_of("parses")
    pl.read_parquet(path).drop("sequence").write_parquet(path)
    assert [r.sequence for r in run.records()] == [0]
    with RunFolder.of(run).parses.journal() as journal:
        journal.append(record("a", finished=1.0, attempts=5).to_json())
    assert [r.attempts for r in run.records()] == [5]


def _append_and_fold(path: Path, name: str, n: int) -> None:
    run = Run.open(path)
    for index in range(n):
        with RunFolder.of(run).parses.journal() as journal:
            journal.append(record(f"{name}-{index:02d}").to_json())
        RunFolder.of(run).parses.fold()
        RunFolder.of(run).update_manifest(lambda m: m.with_parser(ParserEntry(name=name, fingerprint="f")))


def test_processes_on_one_run_do_not_corrupt_it(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", fabricate_manifest())
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_append_and_fold, args=(run.path, name, 15)) for name in "xyz"]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    expected = sorted(f"{name}-{index:02d}" for name in "xyz" for index in range(15))
    assert run.table("parses")["sample"].to_list() == expected
    assert sorted(p.name for p in Run.open(run.path).manifest.parsers) == ["x", "y", "z"]


def test_damaged_blob_is_noticed(tmp_path: Path) -> None:
    blobs = BlobStore(tmp_path)
    blob = blobs.put(b"content")
    assert blobs.get(blob) == b"content"
    blobs.path(blob).write_bytes(b"contend")
    with pytest.raises(StoreError, match="damaged"):
        blobs.get(blob)
    with pytest.raises(StoreError, match="not the name of a blob"):
        blobs.get("../../etc/passwd")


def test_cache_gives_back_what_was_put(tmp_path: Path) -> None:
    cache, here, there = ParseCache(tmp_path / "c"), BlobStore(tmp_path / "a"), BlobStore(tmp_path / "b")
    key = work_key("1" * 64, 2, "fp")
    assert cache.get(key, "60s", there) is None
    cache.put(record("a", key=key, blob=here.put(b"raw"), wall_s=1.5), "60s", here)
    found = cache.get(key, "other limits", there)
    assert found is not None and found.cached and found.wall_s == 1.5
    assert there.get(found.blob or "") == b"raw"


def test_cached_failure_holds_only_for_the_same_limits(tmp_path: Path) -> None:
    cache, blobs = ParseCache(tmp_path / "c"), BlobStore(tmp_path / "a")
    cache.put(record("a", status=Status.PARSER_TIMEOUT), "60s", blobs)
    assert cache.get("k", "60s", blobs) is not None
    assert cache.get("k", "90s", blobs) is None


def test_damaged_cache_is_no_cache(tmp_path: Path) -> None:
    cache, blobs = ParseCache(tmp_path / "c"), BlobStore(tmp_path / "a")
    blob = blobs.put(b"raw")
    cache.put(record("a", blob=blob), "60s", blobs)
    other = BlobStore(tmp_path / "b")
    cache.blobs.path(blob).write_bytes(b"row")
    assert cache.get("k", "60s", other) is None
    for path in (tmp_path / "c" / "records").rglob("*.json"):
        path.write_text("{")
    assert cache.get("k", "60s", other) is None


@pytest.mark.parametrize("change", [("2" * 64, 2, "fp"), ("1" * 64, 3, "fp"), ("1" * 64, 2, "fq")])
def test_key_tells_pdf_page_and_parser_apart(change: tuple[str, int, str]) -> None:
    assert work_key(*change) != work_key("1" * 64, 2, "fp")


def test_a_table_that_is_replaced_while_it_is_read_is_the_old_or_the_new_one(tmp_path: Path) -> None:
    run = fabricate_run(tmp_path / "run", 4, ("good",))
    rows = [record(f"page-{n:03d}", error="x" * n).to_json() for n in range(300)]
    sizes = {1, 300}
    ended = threading.Event()

    def replace() -> None:
        while not ended.is_set():
            for size in sizes:
                RunFolder.of(run).write_table("parses", pl.DataFrame(rows[:size], schema=SCHEMAS["parses"]))

    RunFolder.of(run).write_table("parses", pl.DataFrame(rows[:1], schema=SCHEMAS["parses"]))
    writer = threading.Thread(target=replace)
    writer.start()
    try:
        assert {Run.open(run.path).table("parses").height for _ in range(25)} <= sizes
    finally:
        ended.set()
        writer.join()


def scored_with_details(folder: Path) -> Run:
    run = fabricate_run(folder)
    told = pl.when(pl.col("value").is_not_null()).then(pl.lit('{"counts": {"row_lost": 2}}'))
    RunFolder.of(run).write_table("scores", run.table("scores").with_columns(details=told))
    return run


def test_details_of_metrics_are_read_as_data(tmp_path: Path) -> None:
    run = Run.open(scored_with_details(tmp_path / "run").path)
    rows = run.scores("page-000", "good")
    assert {(row["sample"], row["parser"]) for row in rows} == {("page-000", "good")}
    assert next(row["details"] for row in rows if row["value"] is not None) == {"counts": {"row_lost": 2}}
    RunFolder.of(run).write_table("scores", run.table("scores").with_columns(details=pl.lit("{")))
    with pytest.raises(StoreError, match=r"scores.parquet is damaged.*parsemark score"):
        run.scores("page-000", "good")


def test_runs_from_before_details_were_kept_are_read(tmp_path: Path) -> None:
    run = scored_with_details(tmp_path / "run")
    path = run.protocol_folder() / "scores.parquet"
    pl.read_parquet(path).drop("details").write_parquet(path)
    assert run.table("scores")["details"].is_null().all()
    assert all(row["details"] is None for row in run.scores("page-000", "good"))


def test_bundles_carry_details_and_need_none(tmp_path: Path) -> None:
    run = scored_with_details(tmp_path / "run")
    write_bundle(run, tmp_path / "with.zip")
    write_bundle(run, tmp_path / "bare.zip", truth=False)
    for name, there in (("with.zip", True), ("bare.zip", False)):
        with Bundle(tmp_path / name) as bundle:
            (entry,) = bundle.index.protocols
            assert bundle.table("scores", entry)["details"].is_not_null().any() is there
