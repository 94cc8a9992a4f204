"""`parsemark.toml`: takes the place of defaults, is overridden by flags, and is refused with its place."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parsers.pages import write_page
from typer.testing import CliRunner

from parsemark import config
from parsemark.cli.main import app
from parsemark.config import defaults_of_commands, read_settings, settings_text
from parsemark.errors import UsageError

ECHO = Path(__file__).with_name("echo_parser.py")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def invoke(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


def test_init_writes_a_file_that_is_read_back(here: Path) -> None:
    made = invoke(
        "init", "--corpus", "folder:my docs", "--parser", "pdfplumber", "--parser", "camelot(flavor=stream)"
    )
    assert made.exit_code == 0, made.output
    settings = read_settings(here / "parsemark.toml")
    assert settings.bench.corpus == "folder:my docs" and settings.bench.out == "runs/my docs"
    assert settings.bench.parsers == ["pdfplumber", "camelot(flavor=stream)"]
    again = invoke("init")
    assert again.exit_code != 0 and isinstance(again.exception, UsageError)
    assert invoke("init", "--overwrite").exit_code == 0
    assert read_settings(here / "parsemark.toml").bench.corpus == "demo"


@pytest.mark.parametrize(
    "arguments",
    [
        ("--parser", "pdfplumer"),
        ("--parser", "camelot(flavour=stream)"),
        ("--corpus", "fodler:documents"),
        ("--corpus", "no_such_corpus"),
        ("--protocol", "tabels"),
    ],
)
def test_init_refuses_names_that_nothing_has(here: Path, arguments: tuple[str, str]) -> None:
    made = invoke("init", *arguments)
    assert isinstance(made.exception, UsageError) and not (here / "parsemark.toml").exists()


def test_init_writes_evidence_where_no_page_has_a_truth(here: Path) -> None:
    (here / "documents").mkdir()
    write_page(here / "documents" / "one.pdf")
    assert invoke("init", "--corpus", "folder:documents").exit_code == 0
    assert read_settings(here / "parsemark.toml").bench.protocols == ["evidence", "tables"]
    (here / "documents" / "one.p1.t1.csv").write_text("a,b\n1,2\n")
    assert invoke("init", "--corpus", "folder:documents", "--overwrite").exit_code == 0
    assert read_settings(here / "parsemark.toml").bench.protocols == ["tables"]


def test_init_says_what_is_not_there_yet(here: Path) -> None:
    made = invoke("init", "--corpus", "folder:documents", "--parser", "tools/mine.py")
    assert made.exit_code == 0 and (here / "parsemark.toml").exists()
    assert "documents does not exist yet" in made.stderr and "mine.py" in made.stderr
    (here / "documents").mkdir()
    assert invoke("init", "--corpus", "folder:documents", "--overwrite").stderr == ""


@given(st.text(st.characters(codec="utf-8")), st.lists(st.text(st.characters(codec="utf-8")), min_size=1))
def test_any_text_is_written_so_that_it_reads_back(
    tmp_path_factory: Any, corpus: str, parsers: list[str]
) -> None:
    path = tmp_path_factory.mktemp("toml") / "parsemark.toml"
    text = settings_text(corpus=corpus, parsers=parsers, protocols=["tables"], name="x")
    path.write_bytes(text.encode())
    settings = read_settings(path)
    assert settings.bench.corpus == corpus and settings.bench.parsers == parsers


def test_every_key_is_shown_by_init_and_is_a_flag() -> None:
    """A key that no flag has would be ignored in silence."""
    import inspect

    from parsemark.cli.bench import bench
    from parsemark.cli.compare import gate

    text = settings_text(corpus="demo", parsers=["x"], protocols=["tables"], name="x")
    for section in (config.BenchSettings, config.GateSettings):
        for key in section.model_fields:
            assert f"{key} =" in text or f"[gate.{key}]" in text, key
    full = config.SettingsFile.model_validate(
        {
            "bench": {
                "corpus": "demo", "parsers": ["x"], "protocols": ["tables"], "pages": "1",
                "out": "o", "workers": 1, "timeout_s": 1.0, "memory_mb": 64,
                "max_cost": 1.0, "cache": True, "strict": True, "report": False,
            },
            "gate": {
                "min": {"a": 1.0}, "max_drop": 0.1, "interval": True, "max_failures": 1, "max_slowdown": 1.5,
                "max_memory": 2.0, "parsers": ["x"], "protocol": "tables",
            },
        }
    )  # fmt: skip
    assert set(full.bench.model_fields_set) == set(config.BenchSettings.model_fields)
    for command, function in (("bench", bench), ("gate", gate)):
        known = set(inspect.signature(function).parameters)
        assert set(defaults_of_commands(full)[command]) <= known, command


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[bench]\nparser = 'x'", "bench.parser"),
        ("[bench]\nworkers = 0", "bench.workers"),
        ("[bench]\nparsers = 'x'", "bench.parsers"),
        ("[gate]\nmax_slowdown = 0.5", "gate.max_slowdown"),
        ("[gate.min]\nte = 'high'", "gate.min.te"),
        ("[becnh]\n", "becnh"),
        ("not toml", "cannot be read"),
        ("a = " + "[" * 5000, "cannot be read"),
    ],
)
def test_what_is_wrong_is_named(here: Path, text: str, place: str) -> None:
    (here / "parsemark.toml").write_text(text)
    result = invoke("bench")
    assert isinstance(result.exception, UsageError) and place in str(result.exception)
    assert invoke("list", "metrics").exit_code == 0  # other commands do not read it


@pytest.mark.parametrize("kind", ["pipe", "folder", "endless", "nothing"])
def test_what_is_no_file_is_not_passed_over(here: Path, kind: str) -> None:
    path = here / "parsemark.toml"
    {
        "pipe": lambda: os.mkfifo(path),
        "folder": path.mkdir,
        "endless": lambda: path.symlink_to("/dev/zero"),
        "nothing": lambda: path.symlink_to("nowhere"),
    }[kind]()
    result = invoke("gate", "run")
    assert isinstance(result.exception, UsageError) and "is not a file" in str(result.exception)


def test_bench_reads_it_and_flags_override_it(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    class StopError(Exception):
        pass

    def parse(corpus: Any, parsers: Any, how: Any, **more: Any) -> None:
        seen.update(corpus=corpus.spec, parsers=parsers, pages=how.pages, out=more["out"], how=how)
        raise StopError

    monkeypatch.setattr("parsemark.api.parse", parse)
    monkeypatch.setattr(sys, "argv", ["parsemark", "bench"])
    (here / "parsemark.toml").write_text(
        f"[bench]\ncorpus = 'demo'\nparsers = ['{ECHO}']\npages = '3'\nout = 'there'\n"
        "protocols = ['tables(match=bbox)']\n"
    )
    result = invoke("--trust-config", "bench", "--pages", "2", "--workers", "1")
    assert isinstance(result.exception, StopError)
    assert seen["parsers"] == [str(ECHO)] and seen["pages"] == "2" and seen["out"] == Path("there")
    assert seen["how"].protocols == ("tables(match=bbox)",)
    (here / "other.toml").write_text("[bench]\npages = '7'\n")
    invoke("--config", "other.toml", "bench")
    assert seen["pages"] == "7" and seen["parsers"] is None
    missing = invoke("--config", "none.toml", "bench")
    assert isinstance(missing.exception, UsageError)


def test_a_baseline_that_the_settings_name_and_that_is_absent_fails(here: Path) -> None:
    (here / "parsemark.toml").write_text(
        "[gate]\nbaseline = 'base'\nmax_drop = 0.1\nmax_lost_tables = 0\n[gate.min]\nte_f1_con = 0.5\n"
    )
    gate = defaults_of_commands(read_settings(here / "parsemark.toml"))["gate"]
    assert gate == {"max_drop": 0.1, "max_lost_tables": 0, "minimum": ["te_f1_con=0.5"], "old": "base"}
    absent = invoke("gate", "no-run")
    assert isinstance(absent.exception, UsageError) and "The old run base does not exist" in str(
        absent.exception
    )
    assert "The baseline base does not exist yet" in invoke("gate", "no-run", "--save", "base").stderr


def test_a_file_of_the_folder_runs_its_own_scripts_after_one_question(
    here: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARSEMARK_CACHE", str(tmp_path_factory.mktemp("cache")))
    run: list[Any] = []

    def parse(corpus: Any, parsers: Any, how: Any, **more: Any) -> None:
        run.append(parsers)
        raise KeyError

    monkeypatch.setattr("parsemark.api.parse", parse)
    path = here / "parsemark.toml"
    path.write_text(f"[bench]\ncorpus = 'demo'\nparsers = ['{ECHO}']\n")
    refused = invoke("bench")
    assert isinstance(refused.exception, UsageError) and "--trust-config" in str(refused.exception)
    assert run == []
    invoke("--trust-config", "bench")
    invoke("--config", str(path), "bench")
    assert len(run) == 2

    monkeypatch.setattr("parsemark.cli.trust.can_ask", lambda: True)
    assert isinstance(CliRunner().invoke(app, ["bench"], input="n\n").exception, UsageError)
    assert len(run) == 2
    CliRunner().invoke(app, ["bench"], input="y\n")
    CliRunner().invoke(app, ["bench"], input="")  # it is remembered
    assert len(run) == 4
    path.write_text("[bench]\ncorpus = 'demo'\nparsers = ['other.py']\n")
    assert isinstance(CliRunner().invoke(app, ["bench"], input="n\n").exception, UsageError)
    path.write_text("[bench]\ncorpus = 'demo'\nparsers = ['pdfplumber']\n")
    invoke("bench")
    assert run[-1] == ["pdfplumber"]
