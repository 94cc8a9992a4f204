"""Keys are never stored or printed, in whatever way somebody writes them; files are what the umask says."""

import json
import os
from base64 import b64encode
from pathlib import Path

import pytest

from parsemark.parsers.messages import read_answer
from parsemark.system import write_bytes
from parsemark.system.secrets import is_secret_name, masked, masked_bytes

KEY = 'sk-SEC/RET"ü+1'


@pytest.mark.parametrize(
    "text",
    [
        KEY,
        json.dumps(KEY),
        json.dumps(KEY, ensure_ascii=False),
        r"sk-SEC\/RET\"ü+1",
        r"sk\u002dSEC/RET\u0022\u00fC+1",
        "sk-SEC%2FRET%22%C3%BC%2B1",
        f"Bearer {KEY}, again {KEY}",
    ],
)
def test_a_secret_is_masked_however_it_is_written(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", KEY)
    for found in (masked(text), masked_bytes(text.encode()).decode()):
        assert "[secret]" in found and "RET" not in found
    monkeypatch.delenv("SOME_API_KEY")
    assert masked(text) == text and masked_bytes(b"\xff" + text.encode())[1:] == text.encode()
    assert "RET" not in masked(text, KEY)


def test_names_that_say_secret_and_others() -> None:
    secret = [
        "OPENAI_API_KEY",
        "HF_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "DB_PASSWORD",
        "AZURE_DI_KEY",
        "MYSECRET",
    ]
    plain = ["GIT_AUTHOR_NAME", "KEYBOARD", "PATH", "HOME", "TOKENIZERS_PARALLELISM", "LANG"]
    assert all(map(is_secret_name, secret)) and not any(map(is_secret_name, plain))


def test_answers_of_workers_are_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", KEY)
    times = {"id": "1", "wall_s": 1, "cpu_s": 1}
    answer = read_answer(json.dumps({**times, "output": {"format": "text", "content": KEY}}).encode(), "1")
    assert answer.output is not None and b"RET" not in answer.output
    answer = read_answer(json.dumps({**times, "error": {"kind": "E", "message": f"bad {KEY}"}}).encode(), "1")
    assert answer.error == "E: bad [secret]"


def test_files_follow_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        write_bytes(tmp_path / "private", b"x")
        os.umask(0o022)
        write_bytes(tmp_path / "public", b"x")
    finally:
        os.umask(before)
    assert [oct((tmp_path / n).stat().st_mode & 0o777) for n in ("private", "public")] == ["0o600", "0o644"]


@pytest.mark.parametrize("user", ["", "u:", "me:", "you:"])
def test_a_key_in_a_login_is_masked(user: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-of-somebody-else")
    said = b64encode(f"{user}sk-of-somebody-else".encode()).decode()
    assert len(masked(f"Authorization: Basic {said}")) < len(f"Authorization: Basic {said}") - 8
