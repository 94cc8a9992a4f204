"""Parsers by name, by path and by plug-in; options and fingerprints."""

from pathlib import Path

import pytest
from tests.packages import write_entry_points
from tests.parsers.scripts import HEADER, WORKING, write_worker

from parsemark.errors import ParserError, UnknownNameError, UsageError
from parsemark.parsers import DEFAULT_PARSERS, get_parser, parser_names


@pytest.mark.parametrize("name", parser_names())
def test_every_parser_says_what_a_user_must_know(name: str) -> None:
    parser = get_parser(name)
    assert parser.name == parser.spec == name
    assert parser.info.about and parser.info.homepage.startswith("https://")
    assert parser.info.licence != "unknown"
    assert parser.info.gives
    assert all("==" in dependency for dependency in parser.declaration.dependencies), "pin every package"
    assert parser.state().kind in ("ready", "installable", "missing")


@pytest.mark.parametrize(("name", "option"), [("rapid", "min_confidence"), ("tatr", "min_confidence")])
def test_what_a_detector_is_unsure_of_is_kept(name: str, option: str) -> None:
    """Cut at one half, a curve ends early and average precision is lower."""
    assert get_parser(name).options[option] == 0.05


def test_the_default_set_is_six_to_eight_known_parsers() -> None:
    names = [get_parser(spec).name for spec in DEFAULT_PARSERS]
    assert names == list(DEFAULT_PARSERS), "written as canonical names"
    assert 6 <= len(set(names)) <= 8


def test_a_name_is_an_identity() -> None:
    parser = get_parser(" camelot( flavor = stream )")
    assert parser.name == "camelot(flavor=stream)"
    assert get_parser(parser.name).fingerprint == parser.fingerprint
    assert get_parser("camelot(flavor=lattice)").name == "camelot", "a default is not repeated"
    assert get_parser("camelot").fingerprint != parser.fingerprint


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("camelot(flavour=stream)", "has no option 'flavour'; it has: flavor"),
        ("camelot(flavor=strem)", "choose one of: lattice, stream, network, hybrid"),
        ("rapid(min_confidence=high)", "must be float, not 'high'"),
        ("img2table(borderless=1)", "must be bool, not 1"),
        ("camelot(flavor", "Cannot read"),
    ],
)
def test_bad_options_are_refused_with_what_is_allowed(spec: str, words: str) -> None:
    with pytest.raises(UsageError, match=words.replace("(", r"\(")):
        get_parser(spec)


def test_an_unknown_name_answers_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="'pdfplumber'"):
        get_parser("pdfplumer")


def test_a_whole_number_serves_as_a_float(tmp_path: Path) -> None:
    parser = get_parser(f"{write_worker(tmp_path)}(scale=2)")
    assert parser.options == {"mode": "fast", "scale": 2.0}
    assert parser.name == "mine(scale=2.0)"
    assert get_parser(parser.spec).fingerprint == parser.fingerprint


def test_the_fingerprint_changes_with_the_script(tmp_path: Path) -> None:
    before = get_parser(str(write_worker(tmp_path))).fingerprint
    assert get_parser(str(write_worker(tmp_path, WORKING + "\n# changed"))).fingerprint != before


def test_a_script_must_not_take_the_name_of_a_known_parser(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="rename the file"):
        get_parser(str(write_worker(tmp_path, name="camelot.py")))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("print('hello')", "exactly one"),
        (f"{HEADER}\n{HEADER}", "exactly one"),
        ("# /// script\n# dependencies = 5\n# ///\n", "not valid"),
        ("# /// script\n# dependencies = [\n# ///\n", "not valid"),
        ("# /// script\n# [tool.parsemark]\n# needs = ['folder:PWD']\n# ///\n", "a folder of yours"),
        ("# /// script\n# [tool.parsemark]\n# variables = ['HOME']\n# ///\n", "a folder of yours"),
        ("# /// script\n# requires-python = '/tmp/program'\n# ///\n", "not a range of versions"),
        ("# /// script\n# requires-python = 'pypy'\n# ///\n", "not a range of versions"),
        ("# /// script\n# dependencies = ['-r/etc/hostname']\n# ///\n", "not a requirement"),
        ("# /// script\n# dependencies = ['--target=/tmp', 'a']\n# ///\n", "not a requirement"),
        ('# /// script\n# dependencies = ["a\\n--no-index"]\n# ///\n', "not a requirement"),
        ("# /// script\n# [tool.uv]\n# override-dependencies = ['-ra']\n# ///\n", "not a requirement"),
        ("# /// script\n# [tool.parsemark]\n# gives = ['magic']\n# ///\n", "not valid"),
        ("# /// script\n# [tool.parsemark]\n# license = 'MIT'\n# ///\n", "not valid"),
        (
            "# /// script\n# [tool.parsemark.options.x]\n# default = 1\n# choices = [2]\n# ///\n",
            "not among the choices",
        ),
    ],
)
def test_a_bad_declaration_is_refused(tmp_path: Path, source: str, words: str) -> None:
    script = tmp_path / "bad.py"
    script.write_text(source)
    with pytest.raises(ParserError, match=words):
        get_parser(str(script))


def test_a_program_that_is_no_worker_is_answered_with_what_a_worker_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mytool.sh").write_text("#!/bin/sh\n")
    monkeypatch.chdir(tmp_path)
    for spec in ("mytool.sh", "./mytool.sh", str(tmp_path / "mytool.sh")):
        with pytest.raises(UsageError, match=r"is not a Python script.*parsemark score OUTPUTS"):
            get_parser(spec)


def test_a_script_that_does_not_exist() -> None:
    with pytest.raises(ParserError, match="Cannot read the worker script"):
        get_parser("no/such/worker.py")


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package that brings three parsers, two of them broken."""
    script = write_worker(tmp_path, name="their_worker.py")
    (tmp_path / "their_package.py").write_text(
        f"WORKER = {str(script)!r}\ndef broken(): raise RuntimeError('oops')\n"
    )
    write_entry_points(
        tmp_path,
        "their_package",
        "[parsemark.parsers]\ntheirs = their_package:WORKER\n"
        "oops = their_package:broken\ngone = their_package:NOTHING\n",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    return script


def test_another_package_can_bring_parsers(plugin: Path) -> None:
    parser = get_parser("theirs(mode=slow)")
    assert parser.script == plugin
    assert parser.name == parser.spec == "theirs(mode=slow)"
    assert "theirs" in parser_names()


@pytest.mark.parametrize("name", ["oops", "gone"])
@pytest.mark.usefixtures("plugin")
def test_a_broken_plugin_costs_itself_alone(name: str) -> None:
    with pytest.raises(ParserError, match="cannot be loaded"):
        get_parser(name)
    assert get_parser("theirs").name == "theirs"


def test_needs_depend_on_options(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    state = get_parser("rapid(words=tesseract)").state()
    assert state.kind == "missing"
    assert "tesseract-ocr" in str(state)
    assert get_parser("rapid").state().kind != "missing"
    assert "java" in str(get_parser("tabula").state())
