import dataclasses
import io
from pathlib import Path

import polars as pl
import pytest
from tests.engine.fakes import FakeParser, make_corpus
from tests.judges.chat_server import ChatServer, completion
from tests.store.fabricate import fabricate_manifest
from tests.system.hostile_tasks import score_or_die

from parsemark.engine.events import Events
from parsemark.engine.parsing.parse import ParseOptions, parse_corpus
from parsemark.engine.scoring import chunk as chunks
from parsemark.engine.scoring import score as scoring
from parsemark.engine.scoring.score import score_run
from parsemark.errors import StoreError, UsageError
from parsemark.judges.ask import SESSION_VARIABLE
from parsemark.protocols import get_protocol
from parsemark.protocols.run_data.broken_pages import complete_summary
from parsemark.protocols.run_data.rows import BROKEN
from parsemark.report.source import RunSource
from parsemark.store import SCHEMAS, Run, RunFolder
from parsemark.verdicts.gate import save_baseline

BEHAVIOURS = ["fine", "fine", "error", "crash", "fine", "fine"]


@pytest.fixture
def parsed(tmp_path: Path) -> Run:
    corpus = make_corpus(tmp_path / "corpus", BEHAVIOURS)
    parsers = [FakeParser("one", fingerprint="1"), FakeParser("two", fingerprint="2")]
    return parse_corpus(tmp_path / "run", corpus, parsers, ParseOptions())


def tables(run: Run) -> dict[str, pl.DataFrame]:
    return {name: run.table(name) for name in ("predictions", "matches", "scores")}


def test_every_page_of_every_parser_is_scored(parsed: Run) -> None:
    (summary,) = score_run(parsed, n_workers=1)
    assert set(summary.parsers) == {"one", "two"}
    assert parsed.summary() == summary
    assert parsed.table("predictions").height == 12
    scores = parsed.table("scores")
    assert scores.select(pl.struct("sample", "parser").n_unique()).item() == 12
    failed = scores.filter((pl.col("sample") == "s002") & (pl.col("rule") == "content"))
    assert set(failed["status"]) == {"parser_failed"} and failed["value"].null_count() == failed.height
    assert dict(scores.schema) == dict(pl.Schema(SCHEMAS["scores"]))
    assert not (parsed.path / "parts").exists()
    prediction = parsed.prediction("s000", "one")
    assert prediction.tables[0].table is not None
    assert prediction.tables[0].table.text_rows()[1] == ["1", "2"]


def test_number_of_processes_and_repetition_do_not_change_the_scores(
    parsed: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    score_run(parsed, n_workers=1)
    before = tables(parsed)
    monkeypatch.setattr(scoring, "CHUNK_OUTPUTS", 2)
    score_run(parsed, n_workers=3)
    for name, frame in tables(parsed).items():
        assert frame.equals(before[name]), name


def test_page_that_kills_the_scorer_costs_only_itself(parsed: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "score_chunk", score_or_die)
    score_run(parsed, n_workers=1)
    scores = parsed.table("scores").filter(pl.col("rule") == "content")
    by_sample = {s: set(f["status"]) for (s,), f in scores.group_by("sample")}
    assert by_sample["s001"] == {"metric_failed"}
    assert "ok" in by_sample["s000"] | by_sample["s004"]
    assert parsed.table("predictions").height == 12
    assert "SIGABRT" in (parsed.prediction("s001", "one").message or "")
    broken = parsed.table("scores").filter(pl.col("metric") == BROKEN)
    assert set(broken["sample"]) == {"s003"} and broken.height == 2, "it costs itself, not the run"
    assert scores["sample"].is_sorted()


def test_protocol_that_raises_is_recorded(parsed: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    real = chunks.get_protocol("tables")

    class Raising:
        whole_documents = False
        serialise = "raw"

        def score_pdf(self, pdf, page_number, truth, prediction, text):
            if prediction.status == "ok":
                raise ZeroDivisionError("oops")
            return real.score_page(truth, prediction, text)

    monkeypatch.setattr(chunks, "get_protocol", lambda name: Raising())
    chunk = scoring._chunks(parsed, ("tables",), Events())[0]
    chunks.score_chunk(chunk)
    scores = pl.read_parquet(chunk.files.part("scores", "tables")).filter(pl.col("sample") == "s000")
    assert "metric_failed" in set(scores["status"])
    assert any("oops" in (m or "") for m in scores["message"])


def test_a_protocol_that_cannot_even_fail_is_told_about(parsed: Run) -> None:
    (before,) = score_run(parsed, n_workers=1)
    assert not any("did not score" in note for note in before.notes)
    scores = parsed.table("scores")
    lost = scores.head(1).with_columns(
        metric=pl.lit(BROKEN), value=pl.lit(None, pl.Float64), status=pl.lit("metric_failed")
    )
    RunFolder.of(parsed).write_table("scores", pl.concat([scores, lost.select(scores.columns)]))
    after = complete_summary(get_protocol("tables"), parsed.run_tables("tables"))
    assert [note for note in after.notes if note.startswith("tables did not score 1 output:")]
    parser = lost["parser"].item()
    counted = after.figure(parser, "broken_pages")
    assert counted is not None and counted.value == 1


def test_killed_scoring_goes_on_with_what_is_missing(parsed: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "CHUNK_OUTPUTS", 4)
    planned = scoring._chunks(parsed, ("tables",), Events())
    chunks.score_chunk(planned[0])
    counted: list[int] = []

    class Counting(Events):
        def scored(self, n_pages: int) -> None:
            counted.append(n_pages)

    score_run(parsed, n_workers=1, events=Counting())
    assert counted == [4, 4, 4]
    assert parsed.table("predictions").height == 12


def test_unparsed_pages_count_as_unanswered(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "corpus", ["fine"] * 3)
    parse_corpus(tmp_path / "run", corpus, [FakeParser("all")], ParseOptions())
    run = parse_corpus(tmp_path / "run", corpus, [FakeParser("few")], ParseOptions(pages="1"))
    notes: list[str] = []

    class Listening(Events):
        def note(self, text: str) -> None:
            notes.append(text)

    (summary,) = score_run(run, n_workers=1, events=Listening())
    assert notes == ["few: 2 of 3 pages not parsed; counted as pages without output."]
    answered = {name: (own["unanswered"].value, own["failures"].n) for name, own in summary.parsers.items()}
    assert answered == {"all": (0, 3), "few": (2, 3)}
    without = RunSource(run).failures("few")
    assert list(without["sample"]) == ["s001", "s002"] and set(without["status"]) == {"no_prediction"}
    few = run.table("scores").filter((pl.col("parser") == "few") & (pl.col("sample") == "s002"))
    assert "no_prediction" in set(few["status"])


def test_another_protocol_in_the_same_folder_keeps_the_first_and_scores_both(
    parsed: Run, tmp_path: Path
) -> None:
    score_run(parsed, n_workers=1)
    corpus = make_corpus(tmp_path / "corpus", BEHAVIOURS)
    parsers = [FakeParser("one", fingerprint="1")]
    other = "tables(match=content)"
    again = parse_corpus(parsed.path, corpus, parsers, ParseOptions(protocols=(other,)))
    assert again.manifest.protocols == [other, "tables"]
    assert [summary.protocol for summary in score_run(again, n_workers=1)] == [other, "tables"]
    assert again.summary().protocol == other  # what was asked for last is what is shown


def test_a_baseline_is_not_scored_into_zeros(parsed: Run, tmp_path: Path) -> None:
    score_run(parsed, n_workers=1)
    baseline = Run.open(save_baseline(parsed, tmp_path / "baseline"))
    before = baseline.summary()
    with pytest.raises(StoreError, match="has lost its stored outputs"):
        score_run(baseline, n_workers=1)
    elsewhere = tmp_path / "elsewhere"
    (parsed.path / "raw").rename(elsewhere)
    (parsed.path / "raw").symlink_to(elsewhere)
    with pytest.raises(StoreError, match="restore its folder raw/"):
        score_run(parsed, n_workers=1)
    assert parsed.summary() == before
    assert Run.open(baseline.path).summary() == before
    with pytest.raises(StoreError, match="gate RUN --save"):
        baseline.summary("document")


def test_nothing_to_score(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", fabricate_manifest())
    with pytest.raises(StoreError, match="nothing to score"):
        score_run(run)


def test_a_chunk_that_travels_gives_the_same_rows(parsed: Run) -> None:
    """What a node of a cluster does, without one: no file of ours is read there."""
    for chunk in scoring._chunks(parsed, ("tables",), Events()):
        packed = chunks.pack(chunk)
        elsewhere = dataclasses.replace(packed, chunk=dataclasses.replace(chunk, run=Path("/nowhere")))
        parts = chunks.score_packed(elsewhere)
        chunks.score_chunk(chunk)
        for path, data in zip(chunk.files.all(), parts, strict=True):
            assert pl.read_parquet(path).equals(pl.read_parquet(io.BytesIO(data))), path
        chunks.write_parts(chunk, parts)
        assert chunk.files.are_there()


def test_a_damaged_output_costs_its_page_when_it_travels_too(parsed: Run) -> None:
    (chunk, *_) = scoring._chunks(parsed, ("tables",), Events())
    blob = next(o.blob for page in chunk.pages for o in page.outputs if o.blob is not None)
    RunFolder.of(parsed).blobs.path(blob).write_bytes(b"damaged")
    packed = chunks.pack(chunk)
    assert list(packed.damaged) == [blob] and not RunFolder.of(parsed).blobs.path(blob).exists()
    predictions = pl.read_parquet(io.BytesIO(chunks.score_packed(packed)[0]))
    assert "parser_failed" in set(predictions["status"])


def test_an_unknown_executor_is_refused(parsed: Run) -> None:
    with pytest.raises(UsageError, match="executor"):
        score_run(parsed, executor="cloud")


def test_no_copy_is_made_of_a_process_with_code_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have started threads, which a fork would lose while they hold locks."""
    monkeypatch.setattr(scoring, "plugins_loaded", {"acme:Protocol"})
    assert scoring.ready_to_score(("document(profile=v1.6)",)) is None


def test_all_processes_of_a_scoring_share_one_limit_on_cost(
    parsed: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "CHUNK_OUTPUTS", 4)
    monkeypatch.setenv("PARSEMARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv(SESSION_VARIABLE, raising=False)
    with ChatServer(lambda r, c: completion('{"score": 5}', usage=(1000, 2048)), delay_s=0.05) as server:
        spec = server.spec(input_usd=1, output_usd=1)
        assert len(scoring._chunks(parsed, ("semantic",), Events())) > 1
        score_run(parsed, protocols=[f"semantic(judge={spec},max_cost=0.007)"], n_workers=4)
        assert len(server.requests) == 1, "a question costs $0.003, and another may cost over $0.004"
