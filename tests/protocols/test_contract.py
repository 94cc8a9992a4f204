"""A protocol that nobody has heard of shows up everywhere: the contract of `protocols/contract.py`."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest
from tests.engine.fakes import FakeParser, make_corpus
from tests.packages import installed_protocol
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.engine.parsing.parse import ParseOptions, parse_corpus
from parsemark.engine.scoring.score import score_run
from parsemark.errors import UnknownNameError, UsageError
from parsemark.protocols import Presentation, Summary, canonical_specs, get_protocol, with_options
from parsemark.report import build_report
from parsemark.report.chunks import decode
from parsemark.report.comparison_text import comparison_markdown
from parsemark.report.source import Drawing
from parsemark.store import Run
from parsemark.verdicts.comparison import compare_parsers, compare_runs


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """As another package would do it: by an entry point, which scoring processes see too."""
    module, folder = Path(__file__).with_name("word_protocol.py"), tmp_path_factory.mktemp("plugin")
    yield from installed_protocol(module, "words", "WordProtocol", monkeypatch, folder)


@pytest.fixture
def run(registered: None, tmp_path: Path) -> Run:
    corpus = make_corpus(tmp_path / "corpus", ["fine", "fine", "error", "fine"])
    parsers = [FakeParser("one"), FakeParser("two")]
    opened = parse_corpus(tmp_path / "run", corpus, parsers, ParseOptions(protocols=("words", "tables")))
    score_run(opened, n_workers=1)
    return Run.open(opened.path)


def test_each_protocol_of_a_run_has_its_own_tables(run: Run) -> None:
    assert run.protocols == ["words", "tables"]
    assert set(run.table("scores", "words")["metric"]) == {"wordiness"}
    assert "teds" in set(run.table("scores", "tables")["metric"])
    assert run.table("matches", "words").is_empty() and not run.table("matches", "tables").is_empty()
    assert set(run.table("matches", "tables")["category"]) == {"table"}
    words, tables = run.summary("words"), run.summary("tables")
    assert (words.protocol, words.comparability, tables.protocol) == ("words", 3, "tables")
    # Two cells of ten on three of four pages; the fourth failed and counts.
    assert words.parsers["one"]["wordiness"].n == 4
    assert words.parsers["one"]["failures"].value == 1


def test_scoring_by_one_more_protocol_keeps_the_others(run: Run) -> None:
    before = run.table("scores", "tables")
    score_run(run, protocols=["words(enough=1)"], n_workers=1)
    again = Run.open(run.path)
    assert again.protocols == ["words", "tables", "words(enough=1)"]
    assert again.table("scores", "tables").equals(before)
    assert again.summary("words(enough=1)").parsers["one"]["wordiness"].value == 0.75


def test_report_has_a_leaderboard_of_each(run: Run, tmp_path: Path) -> None:
    site = build_report(run.path, tmp_path / "site").parent
    assert "Number of words" in (site / "index.html").read_text()
    assert "Wordiness" in (site / "index.html").read_text()
    assert "Table extraction</a>" in (site / "index.html").read_text(), "a switch leads from one to the other"
    assert not list(site.glob("leaderboard*.html"))
    data = decode((site / "data" / "compare.js").read_text())
    assert [p["primary"] for p in data["protocols"]] == ["Wordiness", "TE F1 Con"]
    assert [len(decode((site / "data" / f"values/{k}/0.js").read_text())) for k in (0, 1)] == [4, 4]


def test_charts_that_cannot_be_made_cost_only_themselves(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raises(*_: object) -> list[object]:
        raise KeyError("no such column")

    recipe = type(get_protocol("words"))
    acme = ModuleType("acme_drawing")
    acme.DRAWING = Drawing(charts=raises, parser_charts=raises)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "acme_drawing", acme)
    drawn = Presentation(drawing="acme_drawing:DRAWING")
    monkeypatch.setattr(recipe, "presentation", lambda _: drawn)
    with pytest.warns(UserWarning, match=r"acme_drawing:DRAWING: its charts .* \(KeyError: 'no such"):
        site = build_report(run.path, tmp_path / "site").parent
    assert "Number of words" in (site / "index.html").read_text()
    monkeypatch.setattr(recipe, "presentation", lambda _: Presentation(element_errors=raises))
    with pytest.raises(KeyError):  # no errors would be a claim
        build_report(run.path, tmp_path / "errors")
    monkeypatch.setattr(recipe, "presentation", lambda _: Presentation(drawing="acme_gone:DRAWING"))
    with pytest.warns(UserWarning, match=r"acme_gone:DRAWING could not be loaded \(ModuleNotFoundError"):
        build_report(run.path, tmp_path / "gone")
    monkeypatch.setattr(recipe, "presentation", raises)
    with pytest.warns(UserWarning, match="words: its presentation could not be made"):
        build_report(run.path, tmp_path / "other")


def test_compare_uses_the_verdict_of_the_leaderboard(run: Run) -> None:
    comparison = compare_parsers(run, "one", "two", "words")
    assert comparison.primary == run.summary("words").ranking.verdict("one", "two")
    assert "| Wordiness |" in comparison_markdown(comparison)


def test_leaderboard_and_compare_on_the_command_line(run: Run) -> None:
    result = CliRunner().invoke(app, ["score", str(run.path), "--protocol", "words"])
    assert result.exit_code == 0 and "Wordiness" in result.output, result.output
    result = CliRunner().invoke(app, ["compare", str(run.path), "one", "two", "--protocol", "words"])
    assert "Wordiness" in result.output


def test_what_cannot_be_compared_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = run.summary("words").model_copy(update={"comparability": 4})
    monkeypatch.setattr(Run, "summary", _answering(run, changed))
    with pytest.raises(UsageError, match="version of the protocol was 3 and is 4"):
        compare_runs(Run.open(run.path), run, "words")


def _answering(changed_run: Run, changed: Summary):
    real = Run.summary
    return lambda self, protocol=None: changed if self is changed_run else real(self, protocol)


def test_a_wrong_protocol_is_refused_before_parsing(registered: None, tmp_path: Path) -> None:
    for wrong, message in (
        ("wrods", "words"),
        ("words(enugh=2)", "enough"),
        ("tables(metrics=teds+nothing)", "nothing"),
    ):
        command = ["bench", "--protocol", wrong, "--out", str(tmp_path / "run")]
        result = CliRunner().invoke(app, command)
        assert result.exit_code != 0
        assert message in f"{result.output}{result.exception}"
    assert not (tmp_path / "run").exists()


def test_specs_parse_back(registered: None) -> None:
    specs = ["tables", "tables(match=bbox)", "tables(match=ngrams,metrics=reader+teds(structure_only=true))"]
    assert canonical_specs(specs) == specs
    assert canonical_specs(["tables(match=auto)", "tables"]) == ["tables"]
    assert with_options("tables", match="content", metrics=None) == "tables(match=content)"
    assert get_protocol("tables(metrics=teds)").metrics == ("teds",)
    with pytest.raises(UsageError, match="choose one of: auto"):
        get_protocol("tables(match=nothing)")
    with pytest.raises(UnknownNameError):
        get_protocol("nothing")


def test_query_tells_protocols_apart(run: Run) -> None:
    from parsemark.store.run import query_run

    rows = dict(query_run(run.path, "SELECT protocol, count(*) FROM scores GROUP BY protocol").rows)
    assert rows["words"] == 8 and rows["tables"] > 8


def test_a_run_of_the_former_schema_keeps_its_parses(run: Run) -> None:
    import json

    path = run.path / "manifest.json"
    data = json.loads(path.read_text())
    del data["protocols"]
    path.write_text(json.dumps({**data, "schema_version": 1, "protocol": "tables"}))
    old = Run.open(run.path)
    assert old.manifest.protocols == ["tables"]
    assert old.table("parses").filter(pl.col("status") == "ok").height == 6
