"""Makers of other packages: found by name, checked, and run into a folder that is whole or absent."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from tests.corpora.fake_makers import Blank, Copy
from typer.testing import CliRunner

import parsemark
from parsemark import corpus_make
from parsemark.cli.main import app
from parsemark.corpora import load_corpus
from parsemark.corpora.check import CHECKS, check_corpus
from parsemark.corpora.making import MAKERS, get_maker, list_makers
from parsemark.errors import CorpusError, MissingPluginError, PluginError, UnknownNameError, UsageError
from parsemark.specs import Registry

runner = CliRunner()


def install(patch: pytest.MonkeyPatch, registry: Registry, **targets: str) -> None:
    """Have these be all that other packages register."""
    module = "tests.corpora.fake_makers"
    points = {name: EntryPoint(name, f"{module}:{cls}", registry.group) for name, cls in targets.items()}
    patch.setattr(registry, "_plugins", points)


@pytest.fixture(autouse=True)
def _makers(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, MAKERS, blank="Blank", copy="Copy", wrong="NoTitles")
    install(monkeypatch, CHECKS)


def test_a_maker_has_the_options_of_its_spec() -> None:
    assert get_maker("blank(pages=3,papers=a5+b5)") == Blank(pages=3, papers=("a5", "b5"))
    assert get_maker("blank", {"pages": 2, "seed": 4}) == Blank(pages=2, seed=4)


@pytest.mark.parametrize(
    ("spec", "options", "message"),
    [
        ("blank", {}, "Maker 'blank' needs the option 'pages': --pages N."),
        ("blank(pages=3)", {"pages": 4}, "Option 'pages' of 'blank' is given twice."),
        ("blank(pages=3,colour=red)", {}, "Maker 'blank' has no option 'colour'"),
        ("blank(pages=many)", {}, "Option 'pages' of 'blank' must be int, not 'many'."),
        ("copy", {"pages": 3}, "Maker 'copy' has no option 'pages'"),
    ],
)
def test_wrong_options_are_refused(spec: str, options: dict[str, int], message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("(", r"\(")):
        get_maker(spec, options)


def test_names_that_are_not_makers() -> None:
    with pytest.raises(MissingPluginError, match="`typst` is part of parsemark-makers: pip install"):
        get_maker("typst(pages=1)")
    with pytest.raises(UnknownNameError, match="blank"):
        get_maker("blink")
    with pytest.raises(PluginError, match="not a subclass of"):
        get_maker("wrong")


def test_the_command_makes_a_corpus_as_the_function_does(tmp_path: Path) -> None:
    arguments = ["--pages", "3", "--seed", "7", "--out", str(tmp_path / "a")]
    result = runner.invoke(app, ["corpus", "make", "blank(papers=a5+b5)", *arguments])
    assert result.exit_code == 0, result.output
    steps: list[tuple[int, int | None]] = []
    made = corpus_make(
        Blank(pages=3, seed=7, papers=("a5", "b5")), tmp_path / "b", progress=lambda *step: steps.append(step)
    )
    assert steps == [(0, 3), (1, 3), (1, 3), (1, 3)]
    assert (tmp_path / "a" / "corpus.json").read_bytes() == (tmp_path / "b" / "corpus.json").read_bytes()
    assert result.stdout.splitlines() == [
        f"{tmp_path / 'a'}: 3 pages, hash {made.manifest.hash[:16]}",
        "all of them are blank",
    ]
    assert len(load_corpus(tmp_path / "b")) == made.n_pages == 3
    with pytest.raises(UsageError, match="not empty"):
        corpus_make("blank(pages=1)", tmp_path / "b")


def test_a_maker_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        corpus_make("copy", tmp_path / "out", corpus="demo")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("maker", "given", "message"),
    [
        ("copy", {}, "give one with --corpus"),
        ("blank(pages=1)", {"corpus": "demo"}, "leave out --corpus"),
        ("blank(pages=1)", {"sources": ["x.tex"]}, "leave out x.tex"),
        (Copy(), {"seed": 1}, "A maker object already has its options"),
    ],
)
def test_what_a_maker_does_not_read_is_refused(
    maker: str, given: dict[str, object], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises((UsageError, CorpusError), match=message):
        corpus_make(maker, tmp_path / "out", **given)
    assert not (tmp_path / "out").exists()


def test_help_lists_makers_and_the_options_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    shown = " ".join(runner.invoke(app, ["corpus", "make", "--help"]).stdout.split())
    assert "blank Empty pages. (parsemark)" in shown
    assert "typst Not installed: pip install parsemark-makers" in shown
    assert "it is not a subclass of parsemark.corpora.making.Maker" in shown
    assert shown == " ".join(runner.invoke(app, ["corpus", "make"]).output.split())
    one = " ".join(runner.invoke(app, ["corpus", "make", "blank", "--help"]).stdout.split())
    assert "seed=0 Moves the page size." in one and "papers=a4+letter Paper sizes, in turn." in one
    assert "typst" not in one.partition("blank (parsemark)")[2]


def test_makers_know_which_distribution_brings_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MAKERS, "_plugins", None)
    for maker in list_makers():
        assert maker.distribution == "parsemark-makers" and maker.summary


def test_checks_of_other_packages_are_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus_make("blank(pages=2)", tmp_path / "a")
    corpus = load_corpus(tmp_path / "a")
    report = check_corpus(corpus)
    assert report.measured == [] and report.notes == [
        "The check tex_grids did not run: it is part of parsemark-makers (pip install parsemark-makers)."
    ]
    install(monkeypatch, CHECKS, tex_grids="NoTitles")
    report = check_corpus(corpus)
    assert report.notes == [] and report.is_faithful
    assert report.summary()[1] == "pages without a title: 2"
    assert report.disagreements == ["blank-1 has no title.", "blank-2 has no title."]
    install(monkeypatch, CHECKS, titles="Broken")
    with pytest.raises(PluginError, match="titles"):
        check_corpus(corpus)
    install(monkeypatch, CHECKS, titles="Blank")
    with pytest.raises(PluginError, match="not a subclass of"):
        check_corpus(corpus)


def test_the_function_is_public() -> None:
    assert parsemark.corpus_make is corpus_make
