"""`parsemark compare`: two parsers of a run, and two runs as CI compares them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.store.fabricate import fabricate_run
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.errors import UnknownNameError, UsageError
from parsemark.protocols import FigureSums
from parsemark.protocols.run_data.broken_pages import complete_sums
from parsemark.report.comparison_text import comparison_markdown
from parsemark.store import Run, RunFolder
from parsemark.verdicts import comparison
from parsemark.verdicts.comparison import compare_parsers, compare_runs

PARSERS = ("first", "second", "third")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    """The same pages and parsers twice; in the second run the first parser has become the worst."""
    folder = tmp_path_factory.mktemp("runs")
    old = fabricate_run(folder / "old", 40, PARSERS)
    return old, fabricate_run(folder / "new", 40, ("second", "third", "first"))


def test_two_parsers_in_words_and_numbers(runs: tuple[Run, Run]) -> None:
    comparison = compare_parsers(runs[0], "first", "third")
    assert comparison.primary.state == "better"
    assert comparison.primary.difference > 0.1
    assert comparison.primary.low < comparison.primary.difference < comparison.primary.high
    assert comparison.primary == runs[0].summary().ranking.verdict("first", "third")
    markdown = comparison_markdown(comparison)
    assert markdown.startswith("first is better than third: TE F1 Con")
    assert "| TE F1 Con |" in markdown


def test_the_better_one_is_named_first_with_its_number(runs: tuple[Run, Run]) -> None:
    values = runs[0].summary().parsers
    first, third = (f"{values[name]['te_f1_con'].value:.3f}" for name in ("first", "third"))
    for names in (("first", "third"), ("third", "first")):
        words = comparison_markdown(compare_parsers(runs[0], *names)).splitlines()[0]
        assert words.startswith(
            f"first is better than third: TE F1 Con {first} (first) vs {third} (third), difference +"
        )


def test_a_parser_is_not_compared_with_itself(runs: tuple[Run, Run]) -> None:
    with pytest.raises(UsageError, match="with itself"):
        compare_parsers(runs[0], "first", "first")


def test_a_parser_without_figures_of_the_protocol_is_refused(
    runs: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A parser of tables alone is not in the figures of `document`."""

    def sums(*arguments: Any) -> list[FigureSums]:
        found = complete_sums(*arguments)
        return [replace(f, sums={p: own for p, own in f.sums.items() if p != "second"}) for f in found]

    monkeypatch.setattr(comparison, "complete_sums", sums)
    with pytest.raises(UsageError, match=r"second returns nothing that tables scores.* first, third"):
        compare_parsers(runs[0], "first", "second")


def test_one_parser_alone_asks_for_the_other(runs: tuple[Run, Run]) -> None:
    result = CliRunner().invoke(app, ["compare", str(runs[0].path), "first"])
    assert isinstance(result.exception, UsageError)
    assert "The run has second, third." in str(result.exception)


def test_the_order_of_the_sides_only_turns_the_sign(runs: tuple[Run, Run]) -> None:
    there, back = (compare_parsers(runs[0], *names) for names in (("first", "second"), ("second", "first")))
    for a, b in zip(there.verdicts, back.verdicts, strict=True):
        assert a.difference == pytest.approx(-b.difference)
        assert a.p == pytest.approx(b.p, abs=0.02)


def test_an_incomplete_run_decides_nothing(runs: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch) -> None:
    """The ranking was open and `compare` named a winner."""
    summary = runs[1].summary()
    incomplete = summary.ranking.model_copy(update={"is_incomplete": True})
    opened = summary.model_copy(update={"ranking": incomplete})
    monkeypatch.setattr(Run, "summary", lambda *_: opened)
    assert compare_parsers(runs[0], "second", "third").primary.p is None
    result = CliRunner().invoke(app, ["compare", str(runs[0].path), "second", "third"])
    assert result.output.startswith("Whether second or third is better is open: the run is incomplete (")
    assert " better than " not in result.output and " worse " not in result.output


def test_a_run_equals_itself(runs: tuple[Run, Run]) -> None:
    result = compare_runs(runs[0], runs[0])
    assert [c.primary.difference for c in result.comparisons] == [0, 0, 0]
    assert result.drops(0) == []


def test_runs_of_too_few_documents_are_not_said_to_have_no_drop(tmp_path: Path) -> None:
    old = fabricate_run(tmp_path / "old", 4, PARSERS)
    new = fabricate_run(tmp_path / "new", 4, ("second", "third", "first"))
    shown = CliRunner().invoke(app, ["compare", str(new.path), "--old", str(old.path)]).output
    assert shown.startswith("Too few documents to test for a drop.")


def test_a_significant_drop_fails_and_names_the_parser(runs: tuple[Run, Run]) -> None:
    command = ["compare", str(runs[1].path), str(runs[0].path), "--fail-below", "-0.01"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 1
    assert result.output.startswith("**1 significant drop, 1 below -0.01.**")
    assert "### first" in result.output


@pytest.mark.parametrize(
    ("flags", "head"),
    [((), "**1 significant drop.**"), (("--fail-below", "-0.9"), "**1 significant drop, none below -0.9.**")],
)
def test_a_drop_is_said_whether_or_not_it_is_allowed(
    runs: tuple[Run, Run], flags: tuple[str, ...], head: str
) -> None:
    """The first line must not deny what the table below it shows; every sign is that of new minus old."""
    result = CliRunner().invoke(app, ["compare", str(runs[1].path), str(runs[0].path), *flags])
    assert result.exit_code == 0 and result.output.startswith(f"{head}\n")
    words = next(line for line in result.output.splitlines() if " is worse than " in line)
    assert words.startswith("first (new) is worse than first (old): ") and "difference −0." in words
    assert f"--old {runs[0].path}" in result.output


def test_the_older_run_stands_behind_the_newer_one_or_behind_old(runs: tuple[Run, Run]) -> None:
    """`compare A B` took A as the old run, and `compare A --old B` as the new one: verdicts were turned."""
    new, old = str(runs[1].path), str(runs[0].path)
    for command in ("compare", "gate"):
        behind, named = (
            CliRunner().invoke(app, [command, new, *other]) for other in ((old,), ("--old", old))
        )
        assert behind.output == named.output
        assert (behind.exit_code, named.exit_code) == ((0, 0) if command == "compare" else (1, 1))


def test_a_small_or_allowed_drop_passes(runs: tuple[Run, Run]) -> None:
    command = ["compare", str(runs[1].path), str(runs[0].path)]
    assert CliRunner().invoke(app, command).exit_code == 0
    assert CliRunner().invoke(app, [*command, "--fail-below", "-0.9"]).exit_code == 0


def test_an_unknown_parser_answers_with_those_there_are(runs: tuple[Run, Run]) -> None:
    with pytest.raises(UnknownNameError, match="first"):
        compare_parsers(runs[0], "firts", "third")


def test_runs_without_a_common_parser_cannot_be_compared(runs: tuple[Run, Run], tmp_path: Path) -> None:
    other = fabricate_run(tmp_path / "other", 4, ("somebody",))
    with pytest.raises(UsageError, match="no parser in common"):
        compare_runs(runs[0], other)


def test_runs_of_other_pages_or_corpora_are_not_compared(runs: tuple[Run, Run], tmp_path: Path) -> None:
    """A run that left out the pages on which it is bad must not pass."""
    fewer = fabricate_run(tmp_path / "fewer", 39, PARSERS)
    with pytest.raises(UsageError, match="different pages"):
        compare_runs(runs[0], fewer)
    result = CliRunner().invoke(app, ["compare", str(runs[0].path), str(fewer.path), "--fail-below", "-0.9"])
    assert isinstance(result.exception, UsageError)
    stranger = fabricate_run(tmp_path / "stranger", 40, PARSERS)
    RunFolder.of(stranger).update_manifest(
        lambda m: m.model_copy(update={"corpus": m.corpus.model_copy(update={"hash": "other"})})
    )
    with pytest.raises(UsageError, match="different corpora"):
        compare_runs(runs[0], stranger)
