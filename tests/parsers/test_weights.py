"""Weights of parsers: fetched by the hub's own client from a hub on this machine, checked and recorded."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.parsers.hub import COMMIT, Hub, serving
from tests.parsers.scripts import WORKING
from typer.testing import CliRunner

import parsemark as pm
from parsemark.cli import running
from parsemark.cli.main import app
from parsemark.errors import ParserError
from parsemark.parsers import Parser, WorkerSession, get_parser
from parsemark.parsers.weights import ACCEPT, FETCH, FROM
from parsemark.system import cache_folder

pytestmark = pytest.mark.parsers

MODEL = bytes(range(256)) * 40_000
FILES = {"config.json": b'{"a": 1}', "model.safetensors": MODEL, "onnx/big.onnx": b"unused"}
HEAD = """\
# /// script
# requires-python = ">=3.11"
# dependencies = []
#
# [tool.parsemark]
# licence = "MIT"
# gives = ["cells"]
# needs = ["folder:SMALL_WEIGHTS"]
# weight-files = ["detection/model.safetensors"]
# [[tool.parsemark.weights]]
# source = "hf:someone/small@main"
# files = ["config.json", "*.safetensors"]
# folder = "detection"
# licence = "MIT"
# ///
"""
READING = """
import os
from pathlib import Path
from parsemark_worker import serve, text_output
FOLDER = Path(os.environ["SMALL_WEIGHTS"])
def parse(pdf, page, options):
    return text_output("text", f"{len((FOLDER / 'detection/model.safetensors').read_bytes())}")
serve(parse, weights=sorted(FOLDER.rglob("*.safetensors")))
"""


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    """A hub with one repository; weights are kept in a folder of the test, the client is shared."""
    envs = cache_folder("envs")
    envs.mkdir(parents=True, exist_ok=True)
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "envs").symlink_to(envs)
    monkeypatch.setenv("PARSEMARK_CACHE", str(tmp_path / "cache"))
    for name in ("HF_TOKEN", "HF_HUB_OFFLINE", "HF_HUB_CACHE", "SMALL_WEIGHTS", ACCEPT, FROM):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "no-login"))
    monkeypatch.setenv(FETCH, "1")
    with serving(Hub({"someone/small": dict(FILES)})) as served:
        monkeypatch.setenv("HF_ENDPOINT", served.address)
        yield served


def parser_in(folder: Path, head: str = HEAD, body: str = READING) -> Parser:
    script = folder / "small.py"
    script.write_text(head + body)
    return get_parser(str(script))


def message_of(parser: Parser) -> str:
    assert parser.weights is not None
    with pytest.raises(ParserError) as failure:
        parser.weights.fetch()
    assert "\n" not in str(failure.value)
    assert not parser.weights.is_ready()
    return str(failure.value)


def test_weights_are_fetched_checked_recorded_and_read_by_a_confined_worker(hub: Hub, tmp_path: Path) -> None:
    parser = parser_in(tmp_path)
    assert parser.weights is not None and parser.state().kind == "installable"
    before = parser_in(tmp_path).fingerprint
    seen: list[tuple[int, int]] = []
    parser.weights.fetch(bar=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (len(MODEL) + 8, len(MODEL) + 8)
    folder = parser.weights.folder
    assert sorted(p.name for p in folder.rglob("*") if p.is_file()) == [
        *("config.json", "model.safetensors", "parsemark-weights.json"),
    ]
    record = parser.weights.record
    assert record is not None and record.sources[0].commit == COMMIT
    assert record.sources[0].files["detection/model.safetensors"].sha256 == hashlib.sha256(MODEL).hexdigest()
    assert parser.weights.versions == {"hf:someone/small@main": COMMIT}
    assert str(parser.weights) == "MIT, 10.2 MB, revision not pinned, here"
    assert parser_in(tmp_path).fingerprint != before
    assert parser_in(tmp_path).state().kind in ("ready", "installable")
    parser.install()
    (tmp_path / "page.pdf").write_bytes(b"%PDF-1.4\n")
    with WorkerSession(parser.command()) as session:
        answer = session.ask(str(tmp_path / "page.pdf"), 1, parser.options, timeout_s=60)
        assert session.hello.weights == {"model.safetensors": hashlib.sha256(MODEL).hexdigest()}
    assert answer.output is not None and str(len(MODEL)) in json.loads(answer.output)["content"]
    asked = len(hub.asked)
    parser.install()
    assert len(hub.asked) == asked, "what is here is not asked for again"


def test_a_variable_of_the_user_wins(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own" / "detection").mkdir(parents=True)
    (tmp_path / "own" / "detection" / "model.safetensors").write_bytes(b"own")
    monkeypatch.setenv("SMALL_WEIGHTS", str(tmp_path / "own"))
    parser = parser_in(tmp_path)
    assert parser.weights is None and not parser.state().missing
    assert parser.command().env["SMALL_WEIGHTS"] == str(tmp_path / "own")
    assert hub.asked == []


def test_a_broken_connection_is_taken_up_where_it_broke(hub: Hub, tmp_path: Path) -> None:
    hub.cut_after = 4_000_000
    parser = parser_in(tmp_path)
    assert parser.weights is not None
    parser.weights.fetch()
    assert parser.weights.is_ready()
    ranges = [
        given for method, path, given in hub.asked if method == "GET" and path.endswith("model.safetensors")
    ]
    starts = [int(given[6:-1]) if given else 0 for given in ranges]
    assert starts[0] == 0 and len(starts) > 2 and sorted(set(starts)) == starts


def test_a_killed_fetch_goes_on(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed at once while the file arrives: the next one asks for the rest alone."""
    hub.cut_after = 3_000_000
    parser = parser_in(tmp_path)
    assert parser.weights is not None
    script = str(tmp_path / "small.py")
    code = f"from parsemark.parsers import get_parser; get_parser({script!r}).weights.fetch()"
    part = parser.weights.folder.with_suffix(".part") / "detection" / "model.safetensors.part"
    running = subprocess.Popen([sys.executable, "-c", code], env=dict(os.environ))
    deadline = time.monotonic() + 120
    while not (part.is_file() and part.stat().st_size >= 2_000_000) and time.monotonic() < deadline:
        time.sleep(0.05)
    running.kill()
    running.wait()
    arrived = part.stat().st_size
    assert 2_000_000 <= arrived < len(MODEL)
    hub.cut_after, hub.asked = None, []
    time.sleep(0.5)  # its client is ended with it
    parser.weights.fetch()
    ranges = [
        given for method, path, given in hub.asked if method == "GET" and path.endswith("model.safetensors")
    ]
    assert len(ranges) == 1 and int(ranges[0][6:-1]) >= arrived
    assert parser.weights.is_ready()


def test_other_bytes_are_refused_and_not_kept(hub: Hub, tmp_path: Path) -> None:
    hub.wrong = "config.json"
    parser = parser_in(tmp_path)
    assert "config.json arrived with the hash" in message_of(parser)
    hub.wrong = "model.safetensors"
    message = message_of(parser)
    assert "hf:someone/small@main model.safetensors arrived with the hash" in message
    assert parser.weights is not None and not list(parser.weights.folder.parent.rglob("model.safetensors*"))


def test_a_hash_of_the_header_or_the_lock_is_required(hub: Hub, tmp_path: Path) -> None:
    head = HEAD.replace(
        '# folder = "detection"', '# folder = "detection"\n# sha256 = { "config.json" = "00ff" }'
    )
    assert "config.json has the SHA-256" in message_of(parser_in(tmp_path, head))
    parser = parser_in(tmp_path)
    assert parser.weights is not None
    parser.weights.fetch()
    done = CliRunner().invoke(app, ["parsers", "install", "--lock", str(tmp_path / "small.py")])
    assert done.exit_code == 0 and "weights pinned in" in done.output
    pinned = parser_in(tmp_path)
    assert pinned.weights is not None and pinned.weights.folder != parser.weights.folder
    assert str(pinned.weights) == "MIT, 10.2 MB, not here"
    hub.files["someone/small"]["config.json"] = b'{"a": 2}'
    assert "config.json has the SHA-256" in message_of(pinned)
    assert any(f"/revision/{COMMIT}" in path for _, path, _ in hub.asked)
    (tmp_path / "small.py").write_text((HEAD + READING).replace("someone/small@main", "someone/other@main"))
    with pytest.raises(
        ParserError, match=r"small\.weights\.json does not match the weights that small\.py lists"
    ):
        get_parser(str(tmp_path / "small.py"))


def test_a_revision_that_is_gone(hub: Hub, tmp_path: Path) -> None:
    hub.revisions = {"other"}
    message = message_of(parser_in(tmp_path))
    assert "has no revision main; name another one" in message


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        (401, "", "set HF_TOKEN to"),
        (403, "GatedRepo", "is gated: ask for access at http://127.0.0.1"),
        (404, "RepoNotFound", "does not exist or is private"),
        (500, "", "answers 500"),
    ],
)
def test_refusals_are_one_line_each(hub: Hub, tmp_path: Path, status: int, code: str, expected: str) -> None:
    hub.status, hub.error_code = {"/api/models": status}, code
    assert expected in message_of(parser_in(tmp_path))


def test_too_many_requests_are_waited_for_and_then_reported(hub: Hub, tmp_path: Path) -> None:
    parser = parser_in(tmp_path)
    hub.status = {"/api/models": 429}
    assert "429, too many requests" in message_of(parser)
    hub.status, hub.times = {"resolve": 429}, 1
    assert parser.weights is not None
    parser.weights.fetch()


def test_a_gated_repository_opens_with_a_token_that_is_kept_nowhere(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.token = "hf_secret_of_the_test"
    parser = parser_in(tmp_path)
    assert "HF_TOKEN" in message_of(parser)
    monkeypatch.setenv("HF_TOKEN", hub.token)
    assert parser.weights is not None
    parser.weights.fetch()
    for path in (tmp_path / "cache" / "weights").rglob("*"):
        assert not path.is_file() or hub.token.encode() not in path.read_bytes()
    assert hub.token not in json.dumps(dict(parser.command().env))


def test_a_hub_that_is_not_there(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert "set HF_ENDPOINT; files from elsewhere: --weights-from DIR" in message_of(parser_in(tmp_path))


def test_names_that_lead_elsewhere_are_refused(hub: Hub, tmp_path: Path) -> None:
    hub.files["someone/small"]["../../escaped.safetensors"] = b"x"
    assert "not allowed" in message_of(parser_in(tmp_path))
    assert not list(tmp_path.rglob("escaped*"))


def test_a_full_disk_is_one_line_and_what_arrived_is_kept(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parser = parser_in(tmp_path)
    script = str(tmp_path / "small.py")
    code = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (5_000_000, 5_000_000))\n"
        f"from parsemark.parsers import get_parser; get_parser({script!r}).weights.fetch()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=dict(os.environ), capture_output=True, text=True, check=False
    )
    assert "does not fit on the disk; make room and run the command again" in done.stderr
    assert parser.weights is not None and not parser.weights.is_ready()
    part = parser.weights.folder.with_suffix(".part") / "detection" / "model.safetensors.part"
    assert part.stat().st_size > 0
    Usage = namedtuple("Usage", "free")
    monkeypatch.setattr("parsemark.parsers.weights.shutil.disk_usage", lambda _: Usage(1_000_000))
    assert "takes 10 MB, and 1 MB are free in" in message_of(parser)


def test_a_licence_must_be_accepted_and_fetching_must_be_allowed(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = HEAD.replace('# licence = "MIT"\n# ///', '# licence = "CC-BY-NC-4.0"\n# restricted = true\n# ///')
    parser = parser_in(tmp_path, head)
    command = f"run `parsemark parsers install {tmp_path / 'small.py'} --accept-licence`"
    assert command in message_of(parser) and command in str(parser.state())
    monkeypatch.setenv(ACCEPT, "1")
    assert parser.state().kind == "installable"
    monkeypatch.delenv(FETCH)
    assert command in message_of(parser)
    assert hub.asked == []


def test_files_from_a_folder_or_a_cache_of_the_hub(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    monkeypatch.setenv(FROM, str(elsewhere))
    parser = parser_in(tmp_path)
    assert "hf download someone/small --revision main --local-dir DIR/someone/small" in message_of(parser)
    (elsewhere / "someone" / "small").mkdir(parents=True)
    for name in ("config.json", "model.safetensors"):
        (elsewhere / "someone" / "small" / name).write_bytes(FILES[name])
    assert parser.weights is not None
    parser.weights.fetch()
    assert parser.weights.is_ready()
    monkeypatch.delenv(FROM)
    snapshot = tmp_path / "hub" / "models--someone--small" / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    (snapshot.parents[1] / "refs").mkdir()
    (snapshot.parents[1] / "refs" / "main").write_text(COMMIT)
    for name in ("config.json", "model.safetensors"):
        (snapshot / name).write_bytes(FILES[name])
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("PARSEMARK_CACHE", str(tmp_path / "another"))
    parser.weights.fetch()
    assert parser.weights.versions == {"hf:someone/small@main": COMMIT}
    assert hub.asked == []


def test_a_file_that_is_gone_is_fetched_again(hub: Hub, tmp_path: Path) -> None:
    parser = parser_in(tmp_path)
    assert parser.weights is not None
    parser.weights.fetch()
    (parser.weights.folder / "detection" / "config.json").unlink()
    assert not parser.weights.is_ready()
    parser.weights.fetch()
    assert parser.weights.is_ready()


def test_files_at_an_address(hub: Hub, tmp_path: Path) -> None:
    hub.revisions.add("files")
    address = f"{hub.address}/someone/small/resolve/files/model.safetensors?download=1"
    sha256 = hashlib.sha256(MODEL).hexdigest()[:8]
    head = HEAD.replace("hf:someone/small@main", address).replace(
        '# files = ["config.json", "*.safetensors"]', f'# sha256 = {{ "model.safetensors" = "{sha256}" }}'
    )
    parser = parser_in(tmp_path, head)
    assert parser.weights is not None
    parser.weights.fetch()
    assert (parser.weights.folder / "detection" / "model.safetensors").read_bytes() == MODEL


@pytest.mark.parametrize("from_folder", [False, True])
def test_files_that_an_address_lists(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, from_folder: bool
) -> None:
    listed = {"manifest.json": b'{"files": ["model.safetensors", "a b/vocab.txt"]}', "a b/vocab.txt": b"a"}
    hub.files["someone/small"] |= listed
    hub.files["someone/small"]["a%20b/vocab.txt"] = listed["a b/vocab.txt"]  # as it is asked for
    address = f"{hub.address}/someone/small/resolve/main/manifest.json"
    head = HEAD.replace("hf:someone/small@main", address)
    parser = parser_in(tmp_path, head.replace('files = ["config.json", "*.safetensors"]', "listing = true"))
    if from_folder:
        monkeypatch.setenv(FROM, str(tmp_path / "elsewhere"))
        assert "put it and the files that it lists into" in message_of(parser)
        for name, data in {**listed, "model.safetensors": MODEL}.items():
            path = tmp_path / "elsewhere" / "someone" / "small" / "resolve" / "main" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    assert parser.weights is not None
    parser.weights.fetch()
    folder = parser.weights.folder / "detection"
    assert (folder / "model.safetensors").read_bytes() == MODEL
    assert (folder / "a b" / "vocab.txt").read_bytes() == b"a"
    assert bool(hub.asked) is not from_folder


@pytest.mark.parametrize("listing", [b"no JSON", b"[]", b'{"files": []}', b'{"files": ["../up"]}'])
def test_a_listing_that_is_none_is_one_line(hub: Hub, tmp_path: Path, listing: bytes) -> None:
    hub.files["someone/small"]["manifest.json"] = listing
    address = f"{hub.address}/someone/small/resolve/main/manifest.json"
    head = HEAD.replace("hf:someone/small@main", address)
    parser = parser_in(tmp_path, head.replace('files = ["config.json", "*.safetensors"]', "listing = true"))
    assert "manifest.json has no list of files." in message_of(parser)


def test_an_unknown_source_is_named_with_the_ways_to_write_one(tmp_path: Path) -> None:
    for source in ("s3://bucket/x", "hf:nobody", "http://elsewhere.org/x", "pypi:thing"):
        with pytest.raises(
            ParserError, match="is not a valid source of weights; write hf:OWNER/NAME@REVISION"
        ):
            parser_in(tmp_path, HEAD.replace("hf:someone/small@main", source), WORKING)
    with pytest.raises(ParserError, match="is not a path below a folder"):
        parser_in(tmp_path, HEAD.replace('"detection"\n# licence', '"../up"\n# licence'), WORKING)


def test_install_fetches_and_says_so(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parser_in(tmp_path)
    monkeypatch.delenv(FETCH)
    script = str(tmp_path / "small.py")
    refused = CliRunner().invoke(app, ["try", str(write(tmp_path / "a.pdf")), "-p", script, "--pages", "1-1"])
    assert f"run `parsemark parsers install {script}`" in str(refused.exception)
    done = CliRunner().invoke(app, ["parsers", "install", script])
    assert done.exit_code == 0, done.output
    assert "fetching hf:someone/small@main" in done.output and "small: ready" in done.output


def test_a_run_that_no_parser_can_start_is_refused_and_a_terminal_is_asked(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parser_in(tmp_path)
    monkeypatch.delenv(FETCH)
    command = ["bench", str(write(tmp_path / "a.pdf")), "--parser", str(tmp_path / "small.py")]
    command += ["--out", str(tmp_path / "run"), "--no-score"]
    refused = CliRunner().invoke(app, command)
    assert str(refused.exception).startswith("No parser of this run can be used here. small: missing weights")
    assert not (tmp_path / "run").exists() and "failed on every page" not in refused.output
    monkeypatch.setattr(running, "can_ask", lambda: True)
    declined = CliRunner().invoke(app, command, input="n\n")
    assert "Weights to download: small (MIT, size unknown). Download them now?" in declined.output
    assert declined.exit_code != 0 and hub.asked == []
    done = CliRunner().invoke(app, command, input="y\n")
    assert done.exit_code == 0, done.output
    assert [record.status for record in pm.Run.open(tmp_path / "run").records()] == ["ok"]


def write(path: Path) -> Path:
    from tests.parsers.pages import write_page

    return write_page(path)
