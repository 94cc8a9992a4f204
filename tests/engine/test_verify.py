"""Bundles: ours verify; whatever is changed in one is named, and nothing is written elsewhere."""

from __future__ import annotations

import hashlib
import io
import json
import random
import shutil
import struct
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.fakes import FakeParser, make_corpus
from tests.parsers.pages import write_page
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.corpora import Corpus, load_corpus
from parsemark.engine.bundle_checks import problems_in
from parsemark.engine.events import Events
from parsemark.engine.parsing.parse import ParseOptions, parse_corpus
from parsemark.engine.scoring.score import score_run
from parsemark.engine.verify_bundle import Verification, verify_bundle, verify_confined
from parsemark.errors import StoreError
from parsemark.protocols.tables import TablesProtocol
from parsemark.report import build_report
from parsemark.store import Run
from parsemark.store import bundle as store_bundle
from parsemark.store.bundle import Bundle, DamagedBundleError, write_bundle
from parsemark.system.processes import why_not_confined

BEHAVIOURS = ["fine", "fine", "error", "fine"]
Members = dict[str, bytes]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return make_corpus(tmp_path_factory.mktemp("corpus"), BEHAVIOURS)


@pytest.fixture(scope="module")
def run(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Run:
    parsers = [FakeParser("one", fingerprint="1"), FakeParser("two", fingerprint="2")]
    parsed = parse_corpus(tmp_path_factory.mktemp("run") / "run", corpus, parsers, ParseOptions())
    score_run(parsed, n_workers=1)
    return parsed


@pytest.fixture(scope="module")
def sound(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bundle") / "sound.zip"
    write_bundle(run, path)
    return path


def members_of(path: Path) -> Members:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewritten(path: Path, members: Members, *, rehash: bool = True) -> Path:
    """A bundle of changed members, whose index is made to fit them: what a careful forger would do."""
    members = dict(members)
    if rehash:
        index = json.loads(members["bundle.json"])
        raw = sorted(name[4:] for name in members if name.startswith("raw/"))
        names = [n for n in members if n != "bundle.json" and not n.startswith("raw/")]
        index["parts"] = {
            n: {"bytes": len(members[n]), "sha256": hashlib.sha256(members[n]).hexdigest()} for n in names
        }
        index["raw"] = {"n": len(raw), "sha256": hashlib.sha256("\n".join(raw).encode()).hexdigest()}
        members["bundle.json"] = json.dumps(index).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def edit_lines(data: bytes, change: Callable[[list[dict[str, Any]]], None]) -> bytes:
    rows = [json.loads(line) for line in data.splitlines()]
    change(rows)
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def failed(found: Verification) -> list[str]:
    return [check.name for check in found.checks if not check.passed]


def describe(found: Verification) -> str:
    return "\n".join(d for check in found.checks for d in check.differences)


def test_a_sound_bundle_verifies_with_and_without_its_corpus(sound: Path, corpus: Corpus) -> None:
    for given_corpus in (None, corpus):
        found = verify_bundle(sound, corpus=given_corpus, n_workers=1)
        assert found.passed, describe(found)
        assert [c.name for c in found.checks] == [
            "parts", "corpus", "protocols", "outputs", "statuses", "scores tables", "summary tables",
        ]  # fmt: skip
        assert any("taken from the bundle" in note for note in found.notes) == (given_corpus is None)


def test_equal_runs_give_equal_bundles(run: Run, sound: Path, tmp_path: Path) -> None:
    write_bundle(run, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == sound.read_bytes()


def test_no_folder_of_the_machine_is_published(run: Run, corpus: Corpus, sound: Path, tmp_path: Path) -> None:
    members = members_of(sound)
    assert b"no such page in 's002.pdf' of ~" in members["protocols/tables/scores.jsonl"]
    build_report(run.path, tmp_path)
    files = {path.name: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert any(b"no such page in" in data for data in files.values())
    for name, data in {**members, **files}.items():
        for folder in (run.path.parent, corpus.root):
            assert str(folder).encode() not in data, name
    manifest = store_bundle._public(
        run.manifest.model_copy(
            update={
                "command": [
                    "parsemark",
                    "bench",
                    "--out=/home/a/b c/d",
                    "-c",
                    "icdar2013:/data/x",
                    "--x",
                    "a/b",
                ],
                "corpus": run.manifest.corpus.model_copy(update={"spec": "folder:/home/a/papers"}),
            }
        )
    )
    assert manifest.command == ["parsemark", "bench", "--out=d", "-c", "icdar2013:x", "--x", "a/b"]
    assert manifest.corpus.spec == "folder:papers"


def test_without_truth_the_corpus_is_needed(run: Run, corpus: Corpus, tmp_path: Path) -> None:
    path = tmp_path / "blind.zip"
    write_bundle(run, path, truth=False)
    assert b"page 1" not in members_of(path)["samples.jsonl"]
    assert "texts.jsonl" not in members_of(path)
    scores = [json.loads(line) for line in members_of(path)["protocols/tables/scores.jsonl"].splitlines()]
    assert scores and all(row["message"] is None for row in scores), "messages quote the truth"
    with pytest.raises(StoreError, match="--corpus"):
        verify_bundle(path, n_workers=1)
    assert verify_bundle(path, corpus=corpus, n_workers=1).passed


@settings(max_examples=60)
@given(data=st.data())
def test_no_flipped_byte_passes(sound: Path, tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    whole = bytearray(sound.read_bytes())
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] ^= data.draw(st.integers(1, 255))
    path = tmp_path_factory.mktemp("flipped") / "flipped.zip"
    path.write_bytes(whole)
    try:
        with Bundle(path) as bundle:
            problems = list(bundle.damage())
            same = {n: bundle._read(n, 2**30) for n in bundle._members}
    except DamagedBundleError as error:
        assert "flipped.zip" in str(error)
        return
    # A byte that no reader looks at (a time stamp, an attribute) may differ; the content may not.
    assert problems or same == members_of(sound)


def test_a_flipped_byte_names_the_part(sound: Path, tmp_path: Path) -> None:
    members = members_of(sound)
    raw = next(name for name in members if name.startswith("raw/"))
    for name in ("samples.jsonl", "protocols/tables/scores.jsonl", raw):
        changed = {**members, name: members[name][:-2] + b" \n"}
        found = verify_bundle(rewritten(tmp_path / "b.zip", changed, rehash=False), n_workers=1)
        assert failed(found) == ["parts"] and name in describe(found)


def test_an_edited_score_is_named(sound: Path, tmp_path: Path) -> None:
    members = members_of(sound)

    def better(rows: list[dict[str, Any]]) -> None:
        row = next(r for r in rows if r["metric"] == "grits_con" and r["value"] is not None)
        row["value"] = row["value"] - 1e-6

    name = "protocols/tables/scores.jsonl"
    path = rewritten(tmp_path / "b.zip", {**members, name: edit_lines(members[name], better)})
    found = verify_bundle(path, n_workers=1)
    assert failed(found) == ["scores tables"]
    assert "page s000, one" in describe(found) and "when scored again" in describe(found)


def test_a_forged_size_of_the_corpus_is_named(sound: Path, corpus: Corpus, tmp_path: Path) -> None:
    """A run of chosen pages must not look like one of all."""
    members = members_of(sound)
    for name in ("bundle.json", "manifest.json"):
        content = json.loads(members[name])
        content["corpus"]["n_samples"] = len(BEHAVIOURS) - 1
        members[name] = json.dumps(content).encode()
    found = verify_bundle(rewritten(tmp_path / "b.zip", members), corpus=corpus, n_workers=1)
    assert failed(found) == ["corpus"]
    assert "it has 4 pages" in describe(found)


def test_a_forged_text_layer_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docs").mkdir()
    write_page(tmp_path / "docs" / "a.pdf")
    (tmp_path / "docs" / "a.md").write_text("| a | b |\n|---|---|\n| 1 | 2 |\n")
    corpus = load_corpus(f"folder:{tmp_path / 'docs'}")
    run = parse_corpus(tmp_path / "run", corpus, [FakeParser("one")], ParseOptions())
    score_run(run, n_workers=1)
    write_bundle(run, tmp_path / "sound.zip")
    assert verify_bundle(tmp_path / "sound.zip", corpus=corpus, n_workers=1).passed
    monkeypatch.chdir(tmp_path)  # a corpus that is named from here is found by the confined process too
    assert verify_confined(Path("sound.zip"), corpus=load_corpus("folder:docs"), n_workers=1).passed
    members = members_of(tmp_path / "sound.zip")
    members["texts.jsonl"] = edit_lines(members["texts.jsonl"], lambda rows: rows[0].update(text="nothing"))
    found = verify_bundle(rewritten(tmp_path / "b.zip", members), corpus=corpus, n_workers=1)
    assert failed(found) == ["corpus"]
    assert "another text layer" in describe(found)


def test_dropped_and_added_rows_are_named(sound: Path, tmp_path: Path) -> None:
    members = members_of(sound)
    name = "protocols/tables/matches.jsonl"
    for change, words in (
        (lambda rows: rows.pop(), "not in the matches"),
        (lambda rows: rows.append(dict(rows[0])), "does not follow"),
    ):
        path = rewritten(tmp_path / "b.zip", {**members, name: edit_lines(members[name], change)})
        found = verify_bundle(path, n_workers=1)
        assert failed(found) == ["scores tables"] and words in describe(found)


def test_an_edited_summary_is_named(sound: Path, tmp_path: Path) -> None:
    members = members_of(sound)
    name = "protocols/tables/summary.json"
    summary = json.loads(members[name])
    summary["parsers"]["one"][summary["primary"]]["value"] = 0.99999
    path = rewritten(tmp_path / "b.zip", {**members, name: json.dumps(summary).encode()})
    found = verify_bundle(path, n_workers=1)
    assert failed(found) == ["summary tables"]
    assert f"parsers.one.{summary['primary']}.value: 0.99999 in the bundle" in describe(found)


def test_swapped_outputs_are_named(sound: Path, tmp_path: Path) -> None:
    members = members_of(sound)

    def swap(rows: list[dict[str, Any]]) -> None:
        ok = [r for r in rows if r["blob"] is not None and r["parser"] == "one"]
        ok[0]["blob"], ok[1]["blob"] = ok[1]["blob"], ok[0]["blob"]

    path = rewritten(
        tmp_path / "b.zip", {**members, "parses.jsonl": edit_lines(members["parses.jsonl"], swap)}
    )
    found = verify_bundle(path, n_workers=1)
    assert "scores tables" in failed(found) and "page s000, one" in describe(found)
    contents = [n for n in members if n.startswith("raw/")]
    under_other_names = {**members, contents[0]: members[contents[1]], contents[1]: members[contents[0]]}
    found = verify_bundle(rewritten(tmp_path / "c.zip", under_other_names), n_workers=1)
    assert failed(found) == ["parts"] and contents[0] in describe(found) and contents[1] in describe(found)


def test_a_failure_that_is_called_an_answer_is_named(sound: Path, tmp_path: Path) -> None:
    members = members_of(sound)

    def hide(rows: list[dict[str, Any]]) -> None:
        for row in rows:
            if row["sample"] == "s000" and row["parser"] == "one":
                row.update(blob=None, status="no_prediction")

    path = rewritten(
        tmp_path / "b.zip", {**members, "parses.jsonl": edit_lines(members["parses.jsonl"], hide)}
    )
    found = verify_bundle(path, n_workers=1)
    assert failed(found)  # its output belongs to no page now, or its scores do not follow


@pytest.mark.parametrize(
    ("page", "changed", "checks"),
    [
        ("s002", {"status": "ok", "error": None}, ["outputs", "statuses"]),
        ("s002", {"status": "metric_failed"}, ["statuses"]),
        ("s002", {"status": "no_truth"}, ["statuses"]),
        ("s000", {"status": "parser_timeout"}, ["statuses"]),
        ("s000", {"status": "no_prediction"}, ["statuses"]),
        ("s002", {"status": "no_prediction"}, ["statuses"]),
        ("s002", {"status": "no_prediction", "key": "imported", "wall_s": None}, ["statuses"]),
    ],
)
def test_a_status_that_its_output_cannot_bear_is_named(
    sound: Path, tmp_path: Path, page: str, changed: dict[str, Any], checks: list[str]
) -> None:
    def lie(rows: list[dict[str, Any]]) -> None:
        next(r for r in rows if (r["sample"], r["parser"]) == (page, "one")).update(changed)

    members = members_of(sound)
    path = rewritten(
        tmp_path / "b.zip", {**members, "parses.jsonl": edit_lines(members["parses.jsonl"], lie)}
    )
    found = verify_bundle(path, n_workers=1)
    assert failed(found) == checks and f"page {page}, one: " in describe(found)
    with Bundle(path) as bundle:
        assert list(problems_in(bundle))


def test_a_page_without_a_record_is_named(sound: Path, tmp_path: Path) -> None:
    """Without the records of its failures a parser would have none."""
    members = members_of(sound)

    def drop(rows: list[dict[str, Any]]) -> None:
        rows[:] = [row for row in rows if row["status"] == "ok"]

    path = rewritten(
        tmp_path / "b.zip", {**members, "parses.jsonl": edit_lines(members["parses.jsonl"], drop)}
    )
    found = verify_bundle(path, n_workers=1)
    assert failed(found) == ["outputs"]
    assert "page s002, one: has no record" in describe(found) and "page s002, two: has no record" in describe(
        found
    )


def test_a_forged_run_that_is_scored_anew_keeps_its_failures(run: Run, tmp_path: Path) -> None:
    """Records edited in the run itself, then scored and bundled by our own commands."""
    shutil.copytree(run.path, tmp_path / "run")
    table = tmp_path / "run" / "parses.parquet"
    failing = pl.col("status") != "ok"
    parses = pl.read_parquet(table)
    assert parses.filter(failing).height == 2
    parses.with_columns(
        status=pl.lit("ok").cast(parses.schema["status"]),
        error=pl.when(failing).then(None).otherwise("error"),
    ).write_parquet(table)
    notes: list[str] = []

    class Told(Events):
        def note(self, text: str) -> None:
            notes.append(text)

    forged = Run.open(tmp_path / "run")
    (summary,) = score_run(forged, n_workers=1, events=Told())
    assert any("2 records" in note and "no output" in note for note in notes)
    figures = {p: f.value for p in ("one", "two") if (f := summary.figure(p, "failures"))}
    assert figures == {"one": 1.0, "two": 1.0}
    assert [r.status for r in forged.records() if r.blob is None] == ["parser_failed"] * 2


def test_another_corpus_is_named(sound: Path, tmp_path: Path) -> None:
    other = make_corpus(tmp_path / "other", ["fine", "fine", "error", "crash"])
    found = verify_bundle(sound, corpus=other, n_workers=1)
    assert failed(found) == ["corpus"]
    assert "not of fakes 1" in describe(found) and "page s003: another PDF" in describe(found)


def test_a_truth_that_is_not_the_corpus_is_named(sound: Path, corpus: Corpus, tmp_path: Path) -> None:
    members = members_of(sound)

    def easier(rows: list[dict[str, Any]]) -> None:
        rows[0]["truth"] = rows[0]["truth"].replace("page 1", "page 2")

    path = rewritten(
        tmp_path / "b.zip", {**members, "samples.jsonl": edit_lines(members["samples.jsonl"], easier)}
    )
    found = verify_bundle(path, corpus=corpus, n_workers=1)
    assert failed(found) == ["corpus"] and "page s000: another truth" in describe(found)


def test_another_version_of_a_protocol_is_named(sound: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TablesProtocol, "comparability", 99)
    found = verify_bundle(sound, n_workers=1)
    assert failed(found) == ["protocols"]
    assert "version 99" in describe(found) and "scores cannot be compared" in describe(found)


def test_protocols_that_ask_somebody_are_not_asked(sound: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TablesProtocol, "asks", property(lambda self: True))
    monkeypatch.setattr(
        "parsemark.engine.verify_bundle.score_run", lambda *a, **k: pytest.fail("it was asked")
    )
    found = verify_bundle(sound, n_workers=1)
    assert found.passed and any("NOT checked" in note for note in found.notes)


@pytest.mark.parametrize(
    "name",
    ["../evil", "/etc/passwd", "raw/../../x", "protocols/../x/summary.json", "raw/" + "A" * 64, "C:\\x",
     "raw/", "report/index.html", "protocols/t/summary.json\n", "bundle.json/x"],
)  # fmt: skip
def test_members_that_no_bundle_has_are_refused(sound: Path, tmp_path: Path, name: str) -> None:
    path = rewritten(tmp_path / "b.zip", {**members_of(sound), name: b"x"}, rehash=False)
    found = verify_bundle(path, n_workers=1)
    assert failed(found) == ["parts"] and "unexpected member" in describe(found)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["b.zip"]


def test_missing_and_extra_members_are_named(sound: Path, tmp_path: Path) -> None:
    members = members_of(sound)
    without = {n: d for n, d in members.items() if n != "parses.jsonl"}
    assert "parses.jsonl is missing" in describe(verify_bundle(rewritten(tmp_path / "a.zip", without)))
    raw = next(n for n in members if n.startswith("raw/"))
    fewer = {n: d for n, d in members.items() if n != raw}
    assert "raw outputs" in describe(verify_bundle(rewritten(tmp_path / "b.zip", fewer, rehash=False)))
    extra = {**members, f"raw/{hashlib.sha256(b'x').hexdigest()}": b"x"}
    found = verify_bundle(rewritten(tmp_path / "c.zip", extra))
    assert failed(found) == ["outputs"] and "belongs to no page" in describe(found)


def test_archives_that_are_meant_to_harm_are_refused(
    sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    twice = tmp_path / "twice.zip"
    with zipfile.ZipFile(twice, "w") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("bundle.json", b"{}")
        archive.writestr("bundle.json", b"{}")
    assert "twice" in describe(verify_bundle(twice))
    monkeypatch.setattr(store_bundle, "_FREE_BYTES", 1000)
    bomb = rewritten(tmp_path / "bomb.zip", {**members_of(sound), "texts.jsonl": b" " * 50_000_000})
    assert "implausible unpacked size" in describe(verify_bundle(bomb))
    monkeypatch.setattr(store_bundle, "MAX_MEMBERS", 3)
    assert "members" in describe(verify_bundle(sound))


def test_a_member_that_lies_about_its_size_is_refused(sound: Path, tmp_path: Path) -> None:
    """The sizes in the directory are what limits are held against: no more than that is ever unpacked."""
    data = bytearray(sound.read_bytes())
    at = data.index(b"PK\x01\x02")
    struct.pack_into("<I", data, at + 24, 10)
    path = tmp_path / "lying.zip"
    path.write_bytes(data)
    assert failed(verify_bundle(path, n_workers=1)) == ["parts"]


@pytest.mark.parametrize("content", [b"", b"PK", b"PK\x05\x06" + b"\0" * 18, b"no archive" * 100])
def test_what_is_no_bundle_is_said_to_be_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(content)
    assert failed(verify_bundle(path)) == ["parts"]


@pytest.mark.parametrize("index", [b"[]", b"{", b'{"version": "x"}', b"[" * 100_000, b"null"])
def test_an_index_that_is_none(sound: Path, tmp_path: Path, index: bytes) -> None:
    path = rewritten(tmp_path / "b.zip", {**members_of(sound), "bundle.json": index}, rehash=False)
    assert failed(verify_bundle(path)) == ["parts"]


def test_tables_of_other_shapes_are_refused(sound: Path, corpus: Corpus, tmp_path: Path) -> None:
    members = members_of(sound)
    for name in ("samples.jsonl", "parses.jsonl", "protocols/tables/scores.jsonl"):
        for data in (b"", b"[]\n", b'{"sample": 3}\n', b"not json\n", b'{"sample": null}\n'):
            path = rewritten(tmp_path / "b.zip", {**members, name: data})
            assert not verify_bundle(path, corpus=corpus, n_workers=1).passed


def test_a_newer_bundle_is_refused_with_advice(sound: Path, tmp_path: Path) -> None:
    members = members_of(sound)
    index = {**json.loads(members["bundle.json"]), "version": 99}
    path = rewritten(tmp_path / "b.zip", {**members, "bundle.json": json.dumps(index).encode()}, rehash=False)
    with pytest.raises(StoreError, match="Upgrade"):
        verify_bundle(path)


def test_a_run_that_is_not_scored_has_no_bundle(corpus: Corpus, tmp_path: Path) -> None:
    parsed = parse_corpus(tmp_path / "run", corpus, [FakeParser("one")], ParseOptions())
    with pytest.raises(StoreError, match="parsemark score"):
        write_bundle(parsed, tmp_path / "b.zip")
    assert not (tmp_path / "b.zip").exists()


def test_the_commands(run: Run, sound: Path, tmp_path: Path) -> None:
    invoke = CliRunner().invoke
    out = tmp_path / "mine.zip"
    made = invoke(app, ["bundle", str(run.path), "--out", str(out)])
    assert made.exit_code == 0 and str(out) in made.output.replace("\n", "")
    checked = invoke(app, ["verify", str(out), "--workers", "1", "--json"])
    assert checked.exit_code == 0 and json.loads(checked.stdout)["passed"] is True
    data = io.BytesIO(out.read_bytes())
    out.write_bytes(data.getvalue()[:-30])
    broken = invoke(app, ["verify", str(out)])
    assert broken.exit_code == 1 and "NOT verified." in broken.output
    missing = invoke(app, ["verify", str(tmp_path / "none.zip")])
    assert missing.exit_code != 0 and isinstance(missing.exception, StoreError)


PAGE_FIELDS = {"sample", "document", "page_number", "n_tables", "attributes", "truth"}
RECORD_FIELDS = {"sample", "parser", "status", "blob"}
"""What figures are made of."""
ODD: list[Any] = [
    None,
    0,
    -1,
    3,
    2**62,
    1.5,
    "",
    "x",
    "../../etc",
    "\u202e\x1b[2J",
    "{}",
    "[]",
    [1],
    {"a": 1},
    True,
]


@pytest.mark.parametrize("name", ["samples.jsonl", "parses.jsonl"])
def test_no_odd_value_in_a_table_breaks_the_check_or_passes_unseen(
    sound: Path, tmp_path: Path, name: str
) -> None:
    """Every field of a row in turn: it is named, or it is one that no figure is made of."""
    members = members_of(sound)
    lines = members[name].splitlines()
    first = json.loads(lines[0])
    free = set(first) - (PAGE_FIELDS if name == "samples.jsonl" else RECORD_FIELDS)
    rng = random.Random(7)
    for field in first:
        for value in [[1]] if field in free else rng.sample(ODD, 2):
            edited = json.dumps({**first, field: value}).encode()
            path = rewritten(tmp_path / "b.zip", {**members, name: b"\n".join([edited, *lines[1:]]) + b"\n"})
            found = verify_bundle(path, n_workers=1)
            assert field in free or not found.passed, (field, value)


def test_a_line_that_is_no_record_is_named_and_exits_1(sound: Path, tmp_path: Path) -> None:
    members = members_of(sound)
    path = rewritten(tmp_path / "b.zip", {**members, "parses.jsonl": members["parses.jsonl"] + b"{}\n"})
    result = CliRunner().invoke(app, ["verify", str(path)])
    assert result.exit_code == 1
    assert "line 9 of parses.jsonl is not valid" in " ".join(result.stdout.split())
    assert "parsed again" not in result.stdout
    path = rewritten(tmp_path / "b.zip", {**members, "manifest.json": b"{}"})
    result = CliRunner().invoke(app, ["verify", str(path)])
    assert result.exit_code == 1 and "no schema_version" in " ".join(result.stdout.split())


def test_a_count_of_tables_that_is_not_the_truth_is_named(sound: Path, tmp_path: Path) -> None:
    """Figures are taken over `n_tables`: with fewer every parser would find more of them."""
    members = members_of(sound)
    edited = edit_lines(members["samples.jsonl"], lambda rows: rows[0].update(n_tables=0))
    found = verify_bundle(rewritten(tmp_path / "b.zip", {**members, "samples.jsonl": edited}))
    assert failed(found) == ["corpus"] and "n_tables is 0, but its truth has 1" in describe(found)


def test_a_truth_that_cannot_be_read_is_named(sound: Path, tmp_path: Path) -> None:
    members = members_of(sound)
    for truth in ("nonsense", "{}", "[1]", '{"id": 1, "width": "x"}', "[" * 100_000):
        edited = edit_lines(members["samples.jsonl"], lambda rows, t=truth: rows[0].update(truth=t))
        found = verify_bundle(rewritten(tmp_path / "b.zip", {**members, "samples.jsonl": edited}))
        assert failed(found) == ["corpus"] and "cannot be read" in describe(found), truth[:20]


def test_a_bundle_is_verified_where_it_sees_nothing_else(sound: Path, corpus: Corpus, tmp_path: Path) -> None:
    found = verify_confined(sound, corpus=corpus, n_workers=1)
    assert found.passed, describe(found)
    assert found.checks == verify_bundle(sound, corpus=corpus, n_workers=1).checks
    with pytest.raises(StoreError, match=r"none\.zip"):
        verify_confined(tmp_path / "none.zip")
    without = {name: data for name, data in members_of(sound).items() if name != "parses.jsonl"}
    assert "parses.jsonl is missing" in describe(verify_confined(rewritten(tmp_path / "a.zip", without)))
    if why_not_confined() is None:  # a corpus of which it is not told where it lies cannot be read
        away = replace(corpus, root=tmp_path)
        with pytest.raises(StoreError, match="Permission denied"):
            verify_confined(sound, corpus=away, n_workers=1)


def test_a_bundle_says_whether_its_parsers_were_confined(sound: Path) -> None:
    found = verify_bundle(sound, n_workers=1)
    word = "yes" if why_not_confined() is None else "no"
    assert any(f"one {word}, two {word}" in note for note in found.notes)
