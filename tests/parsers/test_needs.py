"""What parsers need beyond packages."""

import platform
import sys
from pathlib import Path

import pytest

from parsemark.available import available
from parsemark.parsers import get_parser, needs
from parsemark.parsers.needs import missing_needs, program_versions


def test_variables_and_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SOME_KEY", raising=False)
    monkeypatch.setenv("SOME_WEIGHTS", str(tmp_path / "nothing"))
    needs = ("env:SOME_KEY", "folder:SOME_WEIGHTS", "sh", "no-such-program")
    assert [message.split()[0] for message in missing_needs(needs)] == [
        "SOME_KEY",
        "SOME_WEIGHTS",
        "no-such-program",
    ]
    monkeypatch.setenv("SOME_KEY", "secret")
    monkeypatch.setenv("SOME_WEIGHTS", str(tmp_path))
    messages = missing_needs(needs)
    assert len(messages) == 1
    assert "secret" not in messages[0]


def fake_program(folder: Path, name: str, version: str) -> None:
    folder.mkdir(exist_ok=True)
    script = folder / name
    script.write_text(f"#!/bin/sh\necho '{name} {version}' >&2\nexit 1\n")
    script.chmod(0o755)
    needs._version.cache_clear()


def test_an_upgraded_program_changes_the_fingerprint(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    prints = {}
    for version in ("24.02", "26.01"):
        fake_program(tmp_path, "pdftotext", version)
        assert program_versions(["poppler", "env:KEY", "gpu"]) == {"poppler": f"pdftotext {version}"}
        prints[version] = get_parser("pdftotext").fingerprint, get_parser("pdfplumber").fingerprint
    needs._version.cache_clear()
    assert prints["24.02"][0] != prints["26.01"][0]
    assert prints["24.02"][1] == prints["26.01"][1]


def test_only_the_chosen_setting_asks_for_its_program(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    prints = []
    for version in ("5.3", "5.5"):
        fake_program(tmp_path, "tesseract", version)
        prints.append([get_parser(f"rapid(words={w})").fingerprint for w in ("pdf", "tesseract")])
    needs._version.cache_clear()
    assert prints[0][0] == prints[1][0]
    assert prints[0][1] != prints[1][1]


def test_a_program_that_hangs_or_is_missing_says_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake_program(tmp_path, "java", "21")
    (tmp_path / "java").write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    monkeypatch.setattr(needs, "_VERSION_TIMEOUT_S", 0.2)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert program_versions(["java", "tesseract"]) == {"java": "", "tesseract": ""}
    needs._version.cache_clear()


def test_a_machine_without_wheels_is_named_before_anything_is_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PARSEMARK_CACHE", str(tmp_path))
    listed = {entry.name: dict(entry.details) for entry in available("parsers")}
    assert "no wheels for Linux aarch64 (paddlepaddle)" in listed["paddleocr"]["needs"]
    assert "no wheels for macOS x86_64 (onnxruntime)" in listed["rapid"]["needs"]
    assert "no wheels" not in listed["camelot"]["needs"]
    assert "AGPL-3.0" in listed["modular"]["weights"] and "yolo-doclaynet" in listed["modular"]["weights"]
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    (hint,) = get_parser("rapid").state().missing
    assert hint.startswith("wheels of onnxruntime for macOS x86_64 (") and "`podman build" in hint
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    assert not get_parser("rapid").state().missing
