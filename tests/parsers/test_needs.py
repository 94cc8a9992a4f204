"""What parsers need beyond packages."""

from pathlib import Path

import pytest

from parsemark.parsers.needs import missing_needs


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
