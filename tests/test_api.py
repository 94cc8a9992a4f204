"""The public calls do what the commands do."""

import re
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from PIL import Image
from tests.engine.fakes import make_corpus
from typer.testing import CliRunner

import parsemark as pm
from parsemark.cli.main import app
from parsemark.errors import UsageError

WORKER = Path(__file__).parent / "cli" / "echo_parser.py"


def test_bench_compare_and_report(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "corpus", ["fine", "fine", "fine"])
    out = tmp_path / "run"
    parsers = [str(WORKER), f"{WORKER}(speed=slow)"]
    run = pm.bench(corpus, parsers, out=out, workers=1, cache=False)
    summary = run.summary()
    names = list(summary.parsers)
    assert len(names) == 2
    again = pm.bench(corpus, parsers, out=out, workers=1)
    assert again.summary() == summary
    comparison = pm.compare(out, *names)
    assert comparison.primary == summary.ranking.verdict(*names)
    assert pm.score(out, workers=1).protocols == [summary.protocol]
    assert pm.build_report(run).read_text().startswith("<!doctype html>")


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> tuple[pm.Run, pm.Run]:
    """Outputs made elsewhere, twice: the truth, and the truth without the tables of two pages."""
    folder = tmp_path_factory.mktemp("outputs")
    corpus = pm.load_corpus("demo")
    chosen = [s for s in corpus.samples() if s.truth is not None and s.truth.tables][:8]
    runs = []
    for name in ("old", "new"):
        (folder / name).mkdir()
        for k, sample in enumerate(chosen):
            assert sample.truth is not None
            said = "Nothing." if name == "new" and k < 2 else pm.write_document(sample.truth)
            (folder / name / f"{sample.id}.md").write_text(said)
        pages = ",".join(sample.id for sample in chosen)
        runs.append(
            pm.score(folder / name, "demo", name="mine", out=folder / f"run-{name}", pages=pages, workers=1)
        )
    return runs[0], runs[1]


def test_outputs_from_elsewhere_are_gated_with_pages_errors_and_pictures(
    scored: tuple[pm.Run, pm.Run], tmp_path: Path
) -> None:
    old, new = scored
    assert old.summary().parsers["mine"]["te_f1_con"].value == 1
    assert pm.gate(old, old, max_drop=0.0, max_lost_tables=0).passed
    result = pm.gate(new, old, max_lost_tables=0)
    assert not result.passed
    fallen = {page.sample for page in result.worse}
    assert len(fallen) == 2 and all(page.new == 0 for page in result.worse)
    assert result.errors["mine"], "why it fell is said"
    gate = ("gate", str(new.path), "--old", str(old.path), "--max-lost-tables", "0")
    said = CliRunner().invoke(app, [*gate, "--pictures", str(tmp_path / "worst")])
    assert said.exit_code == 1 and said.output.count("Picture: ") == 2
    pictures = sorted((tmp_path / "worst").iterdir())
    assert len(pictures) == 2 and all(any(f in p.name for p in pictures) for f in fallen)
    for picture in pictures:
        with Image.open(picture) as drawn:
            assert drawn.width > drawn.height, "the old output and the new one, side by side"
    passed = CliRunner().invoke(
        app, ["gate", str(old.path), "--old", str(old.path), "--pictures", str(tmp_path / "none")]
    )
    assert passed.exit_code == 0 and not (tmp_path / "none").exists()


def test_two_runs_are_compared_on_each_group_of_pages(scored: tuple[pm.Run, pm.Run]) -> None:
    old, new = scored
    plain, sliced = (
        CliRunner().invoke(app, ["compare", str(new.path), "--old", str(old.path), *more]).output
        for more in ((), ("--verbose",))
    )
    assert "| pages with |" in sliced and "| pages with |" not in plain
    now, before = (
        {
            (part.attribute, part.value): part.figures["mine"]["te_f1_con"].value
            for part in run.summary().slices
            if part.scope == "page"
        }
        for run in (new, old)
    )
    rows = re.findall(r"^\| (\S+): (.+?) \| \d+ \| ([\d.]+) \| ([\d.]+) \|", sliced, re.MULTILINE)
    assert len(rows) > 5 and any(a != b for _, _, a, b in rows)
    for attribute, value, a, b in rows:
        assert (float(a), float(b)) == (
            pytest.approx(now[attribute, value], abs=6e-4),
            pytest.approx(before[attribute, value], abs=6e-4),
        )


def test_a_board_of_bundles(scored: tuple[pm.Run, pm.Run], tmp_path: Path) -> None:
    (tmp_path / "bundles").mkdir()
    for run, who in zip(scored, ("Ada", "Bob"), strict=True):
        bundle = pm.bundle(run, tmp_path / "bundles" / f"{who}.zip", submitter=who)
        assert pm.verify(bundle, "demo").passed
    (tmp_path / "bundles" / "broken.zip").write_bytes(b"no archive")
    result = pm.site([tmp_path / "bundles"], tmp_path / "site", corpora=["demo"], reports=False)
    assert "Ada" in result.page.read_text() and "Bob" in result.page.read_text()
    assert len(result.refused) == 1


def test_how_a_run_is_spread_reaches_the_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from parsemark.engine.parsing import parse as engine

    corpus = make_corpus(tmp_path / "corpus", ["fine"])
    with pytest.raises(UsageError, match="choose 'local' or 'ray'"):
        pm.bench(corpus, [str(WORKER)], out=tmp_path / "run", executor="slurm")
    seen = []

    def stop(*arguments: Any, **_: Any) -> None:
        seen.extend(a for a in arguments if isinstance(a, engine.ParseOptions))
        raise KeyboardInterrupt

    monkeypatch.setattr(engine, "parse_corpus", stop)
    with pytest.raises(KeyboardInterrupt):
        pm.bench(corpus, [str(WORKER)], out=tmp_path / "r", executor="ray://head:10001")
    assert [(o.executor, o.address) for o in seen] == [("ray", "ray://head:10001")]


def test_a_path_is_a_corpus_a_name_is_a_list_of_one_and_pages_may_be_counted(tmp_path: Path) -> None:
    folder = pm.load_corpus("demo").root
    out = tmp_path / "run"
    run = pm.bench(folder, str(WORKER), pages=2, protocols="tables", workers=1, cache=False, out=out)
    assert (len(run.records()), run.manifest.protocols) == (2, [run.summary().protocol])
    with pytest.raises(pm.FormatError, match="Expected a Table, not list"):
        pm.write_table([["a", "b"]], "csv")  # type: ignore[arg-type]


def test_rows_and_frames_are_tables() -> None:
    rows = [["a", "b"], [1, "x"], [2, None]]
    markdown = "| a | b |\n|---|---|\n| 1 | x |\n| 2 | |"
    frame = {"a": [1, 2], "b": ["x", None]}
    for table in (rows, pd.DataFrame(frame), pl.DataFrame(frame)):
        assert pm.teds(table, markdown) == pm.teds(markdown, table) == 1
        assert pm.grits(table, rows).con == 1
    found = pm.score_pair(rows, pd.DataFrame({"a": [1, 3], "b": ["x", None]}), ["teds", "reader"])
    assert found["teds"].value is not None and 0 < found["teds"].value < 1
    assert found["reader"].details["errors"], "a metric says why"


def test_the_json_that_predictions_may_be_is_what_the_page_prints(tmp_path: Path) -> None:
    page = (Path(__file__).parents[1] / "docs" / "reference" / "runs.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    sample = next(s for s in pm.load_corpus("demo").samples() if s.truth is not None and s.truth.tables)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / f"{sample.id}.json").write_text(example)
    run = pm.score(tmp_path / "mine", "demo", name="mine", out=tmp_path / "run", pages=sample.id, workers=1)
    found = run.prediction(sample.id, "mine")
    assert found.status is pm.Status.OK, found.message
    assert [str(e.category) for e in found.elements] == ["title", "text_block", "table", "table"]
    assert [t.table.text_rows() for t in found.tables if t.table] == [[["a", "b"], ["1", "2"]]] * 2
    assert found.tables[0].box is not None and found.tables[0].confidence == 0.93
