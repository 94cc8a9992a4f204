"""`parsemark gate`: what passes, what fails, and what is refused."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest
from tests.store.fabricate import fabricate_run
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.corpora import load_corpus
from parsemark.engine.import_outputs import import_predictions
from parsemark.engine.scoring.score import score_run
from parsemark.errors import ParserError, StoreError, UsageError
from parsemark.formats import write_document
from parsemark.parsers.messages import Answer
from parsemark.plain_words import signed_interval
from parsemark.protocols import get_protocol
from parsemark.report import build_report
from parsemark.report.comparison_text import (
    comparison_markdown,
    gate_annotations,
    gate_junit,
    gate_markdown,
    runs_markdown,
)
from parsemark.schemas import as_json
from parsemark.store import Run, RunFolder
from parsemark.verdicts import time_ratios
from parsemark.verdicts.comparison import compare_runs, require_comparable
from parsemark.verdicts.gate import (
    GateCheck,
    GateLimits,
    GateResult,
    GateSide,
    check_against,
    gate_runs,
    save_baseline,
)
from parsemark.verdicts.time_ratios import Timing, time_ratio, timing_between


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return fabricate_run(tmp_path_factory.mktemp("runs") / "old", 40, ("good", "fair"))


def changed(side: GateSide, **tables: pl.DataFrame) -> GateSide:
    """The side with other tables, summarised anew."""
    recipe = get_protocol(side.summary.protocol)
    tables_now = side.tables.changed(**tables)
    return GateSide(recipe.summarise(tables_now), tables_now)


def against(old: GateSide, new: GateSide, limits: GateLimits) -> dict[str, GateCheck]:
    checks = check_against(get_protocol(old.summary.protocol), old, new, limits, ["good"])
    return {check.name: check for check in checks.checks}


def lowered(side: GateSide, by: float) -> GateSide:
    worse = (pl.col("value") - by).clip(0.0, 1.0)
    scores = side.tables.scores.with_columns(
        value=pl.when(pl.col("parser") == "good").then(worse).otherwise(pl.col("value"))
    )
    return changed(side, scores=scores)


def test_a_run_passes_against_itself(run: Run) -> None:
    result = gate_runs(run, run, GateLimits(max_drop=0.0, max_slowdown=1.0, max_memory=1.0))
    assert result.passed and len(result.checks) == 16
    assert [c.found for c in result.checks if c.name.endswith(("chance", "plain drop"))] == [
        found
        for p in ("fair", "good")
        for found in 2 * [f"{run.summary().figure(p, 'te_f1_con').value:.3f}, identical outputs"]
    ]
    assert result.verdicts[1] == "good: identical outputs on all of 40 pages."


def test_a_drop_of_two_points_is_caught_with_its_pages(run: Run) -> None:
    old = GateSide.of(run, None)
    checks = against(old, lowered(old, 0.02), GateLimits(max_drop=0.01))
    beyond, plain = (
        next(c for n, c in checks.items() if word in n) for word in ("beyond chance", "plain drop")
    )
    assert not beyond.passed and not plain.passed
    assert beyond.pages and "same errors, worse scores" in beyond.pages[0]
    assert next(
        c for n, c in against(old, lowered(old, 0.02), GateLimits(max_drop=0.05)).items() if "plain" in n
    ).passed


@pytest.fixture(scope="module")
def edit_runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    """The same parser twice, scored by a figure of which less is better; at first it is right."""
    folder, corpus = tmp_path_factory.mktemp("edits"), load_corpus("demo")
    pages = ",".join(("demo-0004-*", "demo-0002-p1", *(f"demo-web-000{k}-p1" for k in range(2, 8))))
    runs = []
    for name in ("right", "wrong"):
        (folder / name).mkdir()
        for sample in corpus.samples():
            assert sample.truth is not None
            said = write_document(sample.truth)
            (folder / name / f"{sample.id}.md").write_text(said if name == "right" else f"{said[:200]} oh")
        run = import_predictions(
            folder / f"run-{name}", corpus, folder / name, name="p", pages=pages,
            protocols=("document(profile=v1.0)",),
        )  # fmt: skip
        score_run(run, n_workers=1)
        runs.append(Run.open(run.path))
    return runs[0], runs[1]


def test_worse_is_more_where_less_is_better(edit_runs: tuple[Run, Run]) -> None:
    right, wrong = edit_runs
    summary = right.summary()
    assert not summary.info(summary.primary).higher_is_better
    limits = GateLimits(max_drop=0.01)
    fell, rose = gate_runs(wrong, right, limits), gate_runs(right, wrong, limits)
    assert [c.passed for c in fell.checks if "drop" in c.name] == [False, False]
    assert [c.passed for c in rose.checks if "drop" in c.name] == [True, True]
    assert len(compare_runs(right, wrong).drops()) == len(compare_runs(right, wrong).drops(-0.05)) == 1
    assert not compare_runs(wrong, right).drops()


def test_a_run_is_equal_to_itself_and_no_zero_has_a_sign(edit_runs: tuple[Run, Run], tmp_path: Path) -> None:
    """Also a figure of which less is better, whose differences are turned round."""
    right, wrong = edit_runs
    result = compare_runs(right, right)
    assert [v.state for c in result.comparisons for v in c.verdicts] == ["equal"] * 5
    (same,) = result.comparisons
    assert "p (new) and p (old) are equal on every document" in comparison_markdown(same)
    gate = gate_markdown(gate_runs(right, right, GateLimits(max_drop=0)))
    said = runs_markdown(result) + comparison_markdown(same) + gate
    site = build_report(wrong.path, tmp_path / "site", against=right.path)
    said += re.sub("<[^>]*>", " ", (site.parent / "compare.html").read_text())
    assert not re.search(r"[-+−]0(?:\.0+)?(?![\d.])", said)


def test_a_table_that_is_found_only_partly_is_said_to_be(run: Run) -> None:
    """Its value falls to nothing although its match and its scores stay."""
    old = GateSide.of(run, None)
    own = (pl.col("parser") == "good") & (pl.col("pred").list.len() > 0)
    matches = old.tables.matches.with_columns(
        overlap=pl.when(own).then(pl.lit(0.45)).otherwise(pl.col("overlap"))
    )
    checks = against(old, changed(old, matches=matches), GateLimits(max_drop=0.01))
    plain = next(c for n, c in checks.items() if "plain drop" in n)
    assert not plain.passed and plain.pages
    assert all("partly found 0 → " in page for page in plain.pages)


def test_checks_that_could_not_be_made_are_skipped_in_junit(run: Run) -> None:
    limits = GateLimits(max_drop=0.1, max_slowdown=1.1, max_memory=1.2)
    result = gate_runs(run, None, limits, parsers=["good"])
    suite = ElementTree.fromstring(gate_junit(result))
    assert (suite.get("tests"), suite.get("skipped")) == (str(len(result.checks) + 3), "3")
    names = {case.get("name") for case in suite.iter("testcase") if case.find("skipped") is not None}
    assert names == {"plain drop", "CPU time", "peak memory"}
    assert {s["name"] for s in json.loads(json.dumps(as_json("gate", result)))["skipped"]} == names
    assert sum("was not checked, since the old run is missing" in note for note in result.notes) == 3


def test_new_failures_are_caught_and_old_ones_are_not(run: Run) -> None:
    old = GateSide.of(run, None)
    sick = set(old.tables.samples["sample"].sort().head(14))
    broken = pl.col("sample").is_in(sick) & (pl.col("parser") == "good")
    parses = old.tables.parses.with_columns(
        status=pl.when(broken).then(pl.lit("parser_failed")).otherwise(pl.col("status")),
        error=pl.when(broken).then(pl.lit("Out of \x1b[31mluck\n|")).otherwise(pl.col("error")),
    )
    new = changed(old, parses=parses)
    failing = against(old, new, GateLimits())["failing pages"]
    assert (failing.passed, failing.found) == (False, "14")
    assert failing.pages[0].endswith("parser_failed: Out of [31mluck |")
    assert against(new, new, GateLimits())["failing pages"].passed


@pytest.mark.parametrize(("factor", "passed"), [(1.0, True), (1.05, True), (1.2, False)])
def test_a_slowdown_is_caught(run: Run, factor: float, passed: bool) -> None:
    old = GateSide.of(run, None)
    new = changed(
        old,
        parses=old.tables.parses.with_columns(pl.col("cpu_s") * factor, pl.col("peak_memory_mb") * factor),
    )
    checks = against(old, new, GateLimits(max_slowdown=1.1, max_memory=1.1))
    assert (checks["CPU time"].passed, checks["peak memory"].passed) == (passed, passed)


def test_one_parser_alone_needs_no_allowance_for_others(tmp_path: Path) -> None:
    """Whoever asks for one parser asks one question; asked for all, the gate says what `compare` says."""
    old = fabricate_run(tmp_path / "old", 24, ("a", "b", "c", "d"), seed=1)
    new = fabricate_run(tmp_path / "new", 24, ("b", "c", "d", "a"), seed=2)
    limits = GateLimits(max_failures=None, regressions=False)
    (among,) = (c for c in gate_runs(new, old, limits).checks if c.parser == "a")
    verdict = next(c for c in compare_runs(old, new).comparisons if c.a == "a (new)").primary
    assert signed_interval(verdict.low, verdict.high) in among.found
    (alone,) = gate_runs(new, old, limits, parsers=["a"]).checks

    def width(found: str) -> float:
        low, high = map(float, re.findall(r"[-+][\d.]+", found.replace("−", "-"))[-2:])
        return high - low

    assert width(alone.found) < width(among.found)


def test_a_least_value(run: Run) -> None:
    assert gate_runs(run, None, GateLimits(minimum={"te_f1_con": 0.1}, max_failures=None)).passed
    assert not gate_runs(run, None, GateLimits(minimum={"te_f1_con": 1.0}), parsers=["fair"]).passed
    (undefined,) = gate_runs(
        run, None, GateLimits(minimum={"invented_numbers": 3}, max_failures=None), parsers=["fair"]
    ).failed
    assert undefined.found == "not defined here"
    with pytest.raises(UsageError, match=r"tables has no score 'te_f1_cno'; choose one of: .*\bap\b"):
        gate_runs(run, None, GateLimits(minimum={"te_f1_cno": 0.5}))


def test_what_differs_is_not_compared(run: Run, tmp_path: Path) -> None:
    other = fabricate_run(tmp_path / "pages", 41, ("good", "fair"))
    with pytest.raises(UsageError, match="different pages"):
        gate_runs(other, run, GateLimits())
    stranger = fabricate_run(tmp_path / "corpus", 40, ("good", "fair"))
    RunFolder.of(stranger).update_manifest(
        lambda m: m.model_copy(update={"corpus": m.corpus.model_copy(update={"hash": "other"})})
    )
    with pytest.raises(UsageError, match="different corpora"):
        gate_runs(stranger, run, GateLimits())
    old = GateSide.of(run, None)
    newer = GateSide(
        old.summary.model_copy(update={"comparability": old.summary.comparability + 1}), old.tables
    )
    with pytest.raises(UsageError, match="version of the protocol"):
        against(old, newer, GateLimits())


def test_runs_matched_by_different_rules_are_told_how_both_can_be_compared(tmp_path: Path) -> None:
    """`auto` would choose as before: the advice must name the rule, and following it must work."""
    run = fabricate_run(tmp_path / "run")
    summary = run.summary()
    other = summary.model_copy(update={"settings": {**summary.settings, "match": "ngrams"}})
    with pytest.raises(UsageError, match="match was ngrams and is bbox") as refused:
        require_comparable(other, summary)
    advised = re.findall(r"--protocol '([^']+)'", str(refused.value))
    assert advised == ["tables(match=ngrams)", "tables(match=bbox)"]
    for spec in advised:
        score_run(run, protocols=[spec], n_workers=1)
        assert gate_runs(run, run, GateLimits(), protocol=spec).passed


def test_a_limit_that_nothing_was_measured_for_is_named(run: Run, tmp_path: Path) -> None:
    parses = run.table("parses").with_columns(pl.lit(None, pl.Float64).alias("cpu_s"))
    untimed = fabricate_run(tmp_path / "untimed", 40, ("good", "fair"))
    RunFolder.of(untimed).write_table("parses", parses)
    result = gate_runs(untimed, run, GateLimits(max_slowdown=1.1, max_memory=9.0, max_failures=None))
    assert [note for note in result.notes if "CPU time was not checked" in note]
    assert not [note for note in result.notes if "peak memory was not checked" in note]


def test_a_baseline_is_small_and_serves_as_the_old_run(run: Run, tmp_path: Path) -> None:
    folder = save_baseline(run, tmp_path / "baseline")
    assert not (folder / "raw").exists()
    assert gate_runs(run, Run.open(folder), GateLimits(max_drop=0.0)).passed


def test_from_the_command_line(run: Run, tmp_path: Path) -> None:
    files = {kind: tmp_path / f"gate.{ending}" for kind, ending in (("markdown", "md"), ("junit", "xml"))}
    command = [
        "gate",
        str(run.path),
        "--old",
        str(run.path),
        *(x for f in files.values() for x in ("--out", str(f))),
    ]
    result = CliRunner().invoke(app, [*command, "--save", str(tmp_path / "kept")])
    assert result.exit_code == 0 and "Gate passed" in result.output
    shown = CliRunner().invoke(app, [*command, "--json"])
    assert shown.exit_code == 0 and json.loads(shown.stdout)["passed"] is True
    assert ElementTree.parse(files["junit"]).getroot().get("failures") == "0"
    assert (tmp_path / "kept" / "manifest.json").exists()
    failed = CliRunner().invoke(app, [*command, "--min", "te_f1_con=1.1", "--save", str(tmp_path / "not")])
    assert failed.exit_code == 1 and "**Gate failed: 2 of" in failed.output
    assert not (tmp_path / "not").exists()


def test_hostile_names_stay_text() -> None:
    check = GateCheck("<script>|`x", "n\x00me", False, "1", "0", ("p: <b>|\n",))
    result = GateResult((check,))
    assert "<script>" not in gate_markdown(result) and "<b>" not in gate_markdown(result)
    assert ElementTree.fromstring(gate_junit(result)).find("testcase/failure") is not None
    assert json.loads(json.dumps(as_json("gate", result)))["passed"] is False


def test_a_parser_that_fails_everywhere_fails_even_if_nothing_else_can_be_compared(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without any output the rule of matching may be another one; the gate says what is wrong, not that."""
    old = GateSide.of(run, None)
    parses = old.tables.parses.with_columns(status=pl.lit("parser_failed"))
    scored_otherwise = old.summary.model_copy(update={"settings": {**old.summary.settings, "match": "other"}})
    sick = GateSide(scored_otherwise, old.tables.changed(parses=parses))
    sides = iter([sick, old])
    monkeypatch.setattr(GateSide, "of", classmethod(lambda cls, *_: next(sides)))
    result = gate_runs(run, run, GateLimits(), parsers=["good"])
    assert [c.name for c in result.failed] == ["failing pages"]
    assert "match was" in result.notes[-1]


@pytest.mark.parametrize("limits", [{"minimum": {"te_f1_con": float("nan")}}, {"max_drop": float("nan")}])
def test_a_limit_that_is_no_number_is_refused(limits: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="is not a number"):
        GateLimits(**limits)  # type: ignore[arg-type]


def without_two_pages(side: GateSide) -> tuple[GateSide, list[str]]:
    """Two pages that were right fall to nothing: what answered their tables is gone."""
    own = pl.col("parser") == "good"
    pairs = side.tables.matches.filter(own & (pl.col("kind") == "pair") & (pl.col("overlap") > 0.5))
    lost = sorted(set(pairs["sample"]))[:2]
    gone = own & pl.col("sample").is_in(lost) & (pl.col("truth").list.len() > 0)
    empty = pl.lit([], pl.List(pl.String))
    matches = side.tables.matches.with_columns(
        pred=pl.when(gone).then(empty).otherwise(pl.col("pred")),
        kind=pl.when(gone).then(pl.lit("miss")).otherwise(pl.col("kind")),
        overlap=pl.when(gone).then(None).otherwise(pl.col("overlap")),
    )
    return changed(side, matches=matches), lost


def other_outputs(side: GateSide, samples: list[str]) -> GateSide:
    """The side, with other raw outputs on these pages."""
    own = pl.col("sample").is_in(samples) & (pl.col("parser") == "good")
    blob = pl.when(own).then(pl.lit("another")).otherwise(pl.col("blob"))
    return changed(side, parses=side.tables.parses.with_columns(blob=blob))


def test_two_pages_that_fall_to_nothing_are_named_and_can_be_forbidden(run: Run) -> None:
    old = GateSide.of(run, None)
    new, lost = without_two_pages(old)
    recipe = get_protocol(old.summary.protocol)
    default = check_against(recipe, old, other_outputs(new, lost), GateLimits(interval=False), ["good"])
    assert [c.name for c in default.failed] == [
        "lost tables",
        "TE F1 Con: pages that got worse",
        "errors that rose",
    ]
    assert all(sample in "".join(check.pages) for check in default.failed for sample in lost)
    assert default.verdicts[0].startswith("good got worse on these pages: TE F1 Con ")
    back = check_against(recipe, new, other_outputs(old, lost), GateLimits(), ["good"])
    assert (
        back.passed
        and "improved on these pages" in back.verdicts[0]
        and "2 pages better, 0 worse" in back.verdicts[0]
    )
    lenient = check_against(recipe, old, new, GateLimits(interval=False, regressions=False), ["good"])
    assert lenient.passed and {page.sample for page in lenient.worse} >= set(lost)
    assert any(change.label == "Missed" and change.new > change.old for change in lenient.errors["good"])
    text = gate_markdown(lenient)
    assert "Gate passed" in text and all(sample in text for sample in lost) and "missed 0 → " in text
    limits = GateLimits(interval=False, max_lost_tables=0, max_page_drop=0.3)
    strict = {check.name: check for check in check_against(recipe, old, new, limits, ["good"]).checks}
    assert not strict["lost tables"].passed and not strict["TE F1 Con: largest drop of a page"].passed
    assert strict["lost tables"].question and strict["lost tables"].pages
    kept = check_against(recipe, old, old, limits, ["good"])
    assert kept.passed and not kept.worse


def test_a_gain_that_cannot_be_seen_is_no_improvement(run: Run) -> None:
    new = GateSide.of(run, None)
    old = lowered(new, 0.0001)
    pages = new.tables.samples["sample"].to_list()
    result = check_against(
        get_protocol(new.summary.protocol), old, other_outputs(new, pages), GateLimits(), ["good"]
    )
    assert "(0.000), 0 pages better, 0 worse" in result.verdicts[0]
    assert result.verdicts[0].startswith("good as good as before: ") and "improved" not in result.verdicts[0]


def test_errors_and_pages_are_in_every_output(run: Run) -> None:
    old = GateSide.of(run, None)
    new, lost = without_two_pages(old)
    recipe = get_protocol(old.summary.protocol)
    result = check_against(recipe, old, new, GateLimits(max_lost_tables=0), ["good"])
    data = json.loads(json.dumps(as_json("gate", result)))
    assert {page["sample"] for page in data["worse"]} >= set(lost)
    assert any(change["label"] == "Missed" for change in data["errors"]["good"])
    suite = ElementTree.fromstring(gate_junit(result))
    assert lost[0] in (suite.findtext("system-out") or "")
    assert "missed" in (suite.findtext("testcase/failure") or "")
    annotations = gate_annotations(result)
    assert annotations.startswith("::error title=good%3A ") and "::warning" in annotations
    assert all(line.startswith("::") for line in annotations.splitlines())
    link = gate_markdown(result, lambda parser, sample: f"<https://x.org/{parser}/{sample}>")
    assert f"[look](<https://x.org/good/{lost[0]}>)" in link


def test_a_page_is_listed_once_and_what_is_left_out_is_counted(run: Run) -> None:
    old = GateSide.of(run, None)
    recipe, limits = get_protocol(old.summary.protocol), GateLimits(max_drop=0.01, max_page_drop=0.01)
    result = check_against(recipe, old, lowered(old, 0.05), limits, ["good"])
    text = gate_markdown(result)
    assert len(result.failed) == 3 and len(result.worse) > 10
    assert all(text.count(f"- {page}\n") == 1 for page in result.worse[:10])
    more = f"and {len(result.worse) - 10} more"
    assert text.count(more) == 1 and more in gate_annotations(result) and more in gate_junit(result)
    failing = GateCheck(
        "p", "failing pages", False, "12", "≤ 0", tuple(f"page-{k}: crashed" for k in range(12))
    )
    assert "- page-9: crashed\n- and 2 more (--json has them all)\n" in gate_markdown(GateResult((failing,)))
    assert "page-11: crashed" in json.dumps(as_json("gate", GateResult((failing,))))


def test_an_old_run_that_is_named_and_absent_fails(run: Run, tmp_path: Path) -> None:
    absent = str(tmp_path / "baseline")
    failed = CliRunner().invoke(app, ["gate", str(run.path), "--old", absent])
    assert isinstance(failed.exception, UsageError) and "does not exist" in str(failed.exception)
    lenient = ["gate", str(run.path), "--old", absent, "--max-failures", "99"]
    made = CliRunner().invoke(app, [*lenient, "--save", absent])
    assert made.exit_code == 0 and "does not exist yet" in made.output
    assert CliRunner().invoke(app, lenient).exit_code == 0


def test_a_baseline_as_the_new_run_is_refused(edit_runs: tuple[Run, Run], tmp_path: Path) -> None:
    right, _ = edit_runs
    baseline = Run.open(save_baseline(right, tmp_path / "kept"))
    assert gate_runs(right, baseline, GateLimits()).passed
    with pytest.raises(UsageError, match="is a baseline"):
        gate_runs(baseline, right, GateLimits())


def test_a_baseline_keeps_the_types_of_errors(edit_runs: tuple[Run, Run], tmp_path: Path) -> None:
    right, wrong = edit_runs
    baseline = Run.open(save_baseline(right, tmp_path / "kept"))
    assert gate_runs(wrong, baseline, GateLimits()).errors == gate_runs(wrong, right, GateLimits()).errors
    (baseline.protocol_folder(baseline.protocols[0]) / "errors.parquet").write_bytes(b"no parquet")
    with pytest.raises(StoreError, match="Save the baseline again"):
        gate_runs(wrong, baseline, GateLimits())


@pytest.mark.parametrize(
    ("machine", "references", "low", "high"),
    [({}, (), 0.7, 1.0), ({"cpu": "another"}, (), 0.3, 0.7), ({"cpu": "another"}, ("fair",), 0.85, 1.0)],
)
def test_times_of_other_machines_are_compared_with_a_wider_bound(
    run: Run, machine: dict[str, str], references: tuple[str, ...], low: float, high: float
) -> None:
    """Twice as slow a machine makes every parser slower; one that did not change shows it."""
    factor = 2.0 if references else 1.0
    slow = run.table("parses").with_columns(pl.col("cpu_s") * factor)
    timing = Timing(not machine, references)
    ratio = time_ratio(run.table("parses"), slow, "good", "cpu_s", timing)
    assert ratio is not None and ratio.value == pytest.approx(1.0) and low < ratio.low < high


def test_a_kernel_patch_is_no_other_machine(run: Run, tmp_path: Path) -> None:
    other = fabricate_run(tmp_path / "other", 40, ("good", "fair"))
    hardware = {"machine": "x", "cpu": "y", "cpus": 2}
    for one, kernel in ((run, "6.1.0-1"), (other, "6.1.0-2")):
        RunFolder.of(one).update_manifest(
            lambda m, k=kernel: m.model_copy(update={"machine": {"platform": k, **hardware}})
        )
    assert timing_between(run, other).is_same_hardware
    RunFolder.of(other).update_manifest(lambda m: m.model_copy(update={"machine": {**m.machine, "cpu": "z"}}))
    found = timing_between(run, other)
    assert not found.is_same_hardware and set(found.references) == {"good", "fair"}
    scripts = [e.model_copy(update={"spec": f"{e.name}.py"}) for e in other.manifest.parsers]
    RunFolder.of(other).update_manifest(lambda m: m.model_copy(update={"parsers": scripts}))
    found = timing_between(run, other)
    assert not found.references and "different machines" in found.note


def test_an_unchanged_parser_is_the_clock_and_cannot_be_slower(run: Run, tmp_path: Path) -> None:
    """A machine three times as slow fails neither parser; the one that is twice as slow beside it fails, with
    its pages.
    """
    limits = GateLimits(max_slowdown=1.1, max_memory=1.2)
    for factor, passed in ((3.0, True), (6.0, False)):
        new = fabricate_run(tmp_path / f"new-{factor}", 40, ("good", "fair"))
        script = [
            e.model_copy(update={"fingerprint": "edited"}) if e.name == "good" else e
            for e in new.manifest.parsers
        ]
        RunFolder.of(new).update_manifest(lambda m, s=script: m.model_copy(update={"parsers": s}))
        slower = pl.when(pl.col("parser") == "good").then(factor).otherwise(3.0)
        RunFolder.of(new).write_table("parses", new.table("parses").with_columns(pl.col("cpu_s") * slower))
        result = gate_runs(new, run, limits)
        checks = {c.parser: c for c in result.checks if c.name == "CPU time"}
        assert checks["fair"].passed and "the same code" in checks["fair"].found
        assert checks["good"].passed is passed and bool(checks["good"].pages) is not passed
    assert all("(2.00 ×)" in page and " s → " in page for page in checks["good"].pages)
    assert "(2.00 ×)" in gate_markdown(result)


class DriftingSession:
    """A worker on a machine that gets slower by the call: every parse takes 4 % more than the one before."""

    calls = 0

    def __init__(self, cost_s: float) -> None:
        self.cost_s = cost_s

    def __enter__(self) -> "DriftingSession":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def ask(self, *_: object, **__: object) -> Answer:
        DriftingSession.calls += 1
        return Answer(b"{}", None, None, self.cost_s * 1.04**DriftingSession.calls)


def parser_of(cost_s: float) -> Any:
    return SimpleNamespace(
        state=lambda: SimpleNamespace(missing=()), install=lambda: None, command=lambda: cost_s, options={}
    )


@pytest.mark.parametrize(("true", "is_slower"), [(1.0, False), (1.1, True), (0.9, False)])
def test_what_is_timed_in_turns_does_not_see_the_machine_drift(
    true: float, is_slower: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time_ratios, "limited_session", DriftingSession)
    pages = [(Path("a.pdf"), k) for k in range(1, 13)]
    found = time_ratios.time_in_turns(parser_of(0.1), parser_of(0.1 * true), pages)
    assert found.value == pytest.approx(true, rel=0.02) and (found.low > 1) is is_slower
    with pytest.raises(ParserError, match="3 of 3 pages"):
        time_ratios.time_in_turns(parser_of(0.1), parser_of(0.1), pages[:3])


def test_versions_are_timed_again_where_they_can_be_and_recorded_times_serve_where_not(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = GateLimits(max_slowdown=1.1)
    without = gate_runs(run, run, limits, parsers=["good"], time_again=20)
    assert without.passed and any("good was not timed again" in note for note in without.notes)
    asked = []

    def slower(old: Any, new: Any, pages: Any) -> time_ratios.Ratio:
        asked.append((old, new))
        return time_ratios.Ratio(1.3, 1.25)

    old = fabricate_run(tmp_path / "old", 40, ("good", "fair"))
    RunFolder.of(old).update_manifest(
        lambda m: m.model_copy(
            update={"parsers": [e.model_copy(update={"versions": {"good-pdf": "1.0"}}) for e in m.parsers]}
        )
    )
    now = SimpleNamespace(fingerprint=next(e.fingerprint for e in run.manifest.parsers if e.name == "good"))
    monkeypatch.setattr(time_ratios, "get_parser", lambda name: now)
    monkeypatch.setattr(time_ratios, "own_package", lambda parser: SimpleNamespace(name="good-pdf"))
    monkeypatch.setattr(time_ratios, "at_version", lambda parser, version: f"good@{version}")
    monkeypatch.setattr(time_ratios, "time_in_turns", slower)
    result = gate_runs(run, old, limits, parsers=["good"], time_again=20)
    assert asked == [("good@1.0", now)] and not result.passed
    assert [c.found for c in result.checks if c.name == "CPU time"] == ["1.30 × (at least 1.25)"]
    assert any("timed here, in turns" in note for note in result.notes)
    assert not any("has changed since the new run" in note for note in result.notes)
    now.fingerprint = "another"
    edited = gate_runs(run, old, limits, parsers=["good"], time_again=20)
    assert any("has changed since the new run" in note for note in edited.notes)
    assert gate_runs(run, old, limits, parsers=["good"]).passed, "recorded times alone say nothing is slower"
