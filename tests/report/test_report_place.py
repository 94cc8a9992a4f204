"""A report goes to its place and nowhere else: not through links, not over what somebody else wrote."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.store.fabricate import fabricate_run
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.errors import UsageError
from parsemark.plain_words import visible
from parsemark.report import build_report
from parsemark.report.build import MARK
from parsemark.store import Run, RunFolder


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return fabricate_run(tmp_path_factory.mktemp("place") / "run", n_pages=2, parsers=("good", "poor"))


def test_planted_links_are_not_followed(run: Run, tmp_path: Path) -> None:
    first = build_report(run.path, tmp_path / "first")
    names = sorted(path.name for path in first.parent.iterdir())
    assert MARK in names and "index.html" in names and ".held" not in names
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("mine")
    for name in names:
        target = tmp_path / f"planted-{name}"
        target.mkdir()
        (target / MARK).write_text("")
        (target / name).unlink(missing_ok=True)
        (target / name).symlink_to(outside if (first.parent / name).is_dir() else outside / "file")
        try:
            page = build_report(run.path, target)
        except UsageError:
            assert name == MARK or not (target / MARK).exists()
        else:
            assert page.read_text() == first.read_text() and not (target / name).is_symlink()
        assert (outside / "file").read_text() == "mine" and len(list(outside.iterdir())) == 1


def test_the_folder_of_the_report_may_not_be_a_link_out_of_the_run(tmp_path: Path) -> None:
    run = fabricate_run(tmp_path / "run", n_pages=1, parsers=("good",))
    (tmp_path / "home").mkdir()
    (run.path / "report").symlink_to(tmp_path / "home")
    with pytest.raises(UsageError, match="is a symbolic link"):
        build_report(run.path, run.path / "report")
    assert not list((tmp_path / "home").iterdir())


@pytest.mark.parametrize("name", ["index.html", "parser-mine.html", "images", "compare.html"])
def test_what_somebody_else_wrote_stays(run: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir() if "." not in name else (tmp_path / name).write_text("mine")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(UsageError, match="not part of a report"):
        build_report(run.path, tmp_path)
    assert sorted(tmp_path.iterdir()) == before


def test_other_files_beside_a_report_stay(run: Run, tmp_path: Path) -> None:
    (tmp_path / "CNAME").write_text("example.org")
    build_report(run.path, tmp_path)
    (tmp_path / "parser-old.html").write_text("of an older report")
    build_report(run.path, tmp_path)
    assert (tmp_path / "CNAME").read_text() == "example.org"
    assert not (tmp_path / "parser-old.html").exists()


def test_characters_that_hide_or_move_text_are_shown() -> None:
    assert visible("a\x1b[31mb\u202ec\u200bd\te\nf") == "a⟨U+001B⟩[31mb⟨U+202E⟩c⟨U+200B⟩d\te\nf"


def test_a_protocol_that_is_not_installed_costs_itself(tmp_path: Path) -> None:
    """A colleague without the plug-in sees what the other protocols say, and which one is missing."""
    run = fabricate_run(tmp_path / "run", n_pages=2, parsers=("good", "poor"))
    (spec,) = run.protocols
    folder = run.protocol_folder("stranger")
    folder.mkdir(parents=True)
    (folder / "summary.json").write_bytes((run.protocol_folder(spec) / "summary.json").read_bytes())
    RunFolder.of(run).update_manifest(lambda manifest: manifest.with_protocols((spec, "stranger")))
    done = CliRunner().invoke(app, ["report", str(run.path), "--out", str(tmp_path / "site")])
    assert done.exit_code == 0, done.output
    assert "Not shown: stranger. No installed package provides it." in done.output
    RunFolder.of(run).update_manifest(
        lambda manifest: manifest.model_copy(update={"protocols": ["stranger"]})
    )
    with pytest.raises(UsageError, match="was scored only by stranger"):
        build_report(run.path, tmp_path / "other")
