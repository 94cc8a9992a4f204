"""A worker sees its own files and the page that it was given: no truth, no other page, no key, no network."""

import json
import os
import socket
from dataclasses import replace
from pathlib import Path

import pytest
from tests.engine.fakes import make_corpus

from parsemark.engine.parsing.page_worker import PageLimits
from parsemark.engine.parsing.parse import ParseOptions, parse_corpus
from parsemark.engine.parsing.plan import PlannedPage
from parsemark.engine.parsing.ray import _Actor
from parsemark.errors import ParserError
from parsemark.parsers import get_parser
from parsemark.store import Run
from parsemark.system.processes import why_not_confined

SCRIPT = """\
# /// script
# requires-python = ">=3.11"
# dependencies = []
#
# [tool.parsemark]
# gives = ["text"]
{header}
# ///
import ctypes, json, os, resource, socket, subprocess, sys
from pathlib import Path
from parsemark_worker import serve, text_output

TARGET = {target!r}

def attempts(pdf):
    yield "open", lambda: Path(TARGET, "s001.pdf").read_text()
    yield "list", lambda: os.listdir(TARGET)
    yield "walk up", lambda: os.listdir(Path(pdf).parents[2])
    yield "link", lambda: (os.symlink(TARGET, "l"), os.listdir("l"))[1]
    yield "hard link", lambda: (os.link(TARGET + "/s001.pdf", os.environ["TMPDIR"] + "/h"), 1)[1]
    yield "proc root", lambda: Path("/proc/self/root" + TARGET, "s001.pdf").read_text()
    yield "proc of parent", lambda: Path(f"/proc/{{os.getppid()}}/environ").read_text()
    yield "proc cwd", lambda: os.listdir(f"/proc/{{os.getppid()}}/cwd")
    yield "child", lambda: subprocess.run(["cat", TARGET + "/s001.pdf"], check=True)
    yield "shell", lambda: subprocess.run("ls " + TARGET, shell=True, check=True)
    yield "write", lambda: Path(TARGET, "new.txt").write_text("x")
    yield "rename", lambda: os.rename(TARGET + "/s001.pdf", TARGET + "/gone.pdf")
    yield "key", lambda: os.environ["STRANGE_API_KEY"]
    yield "home", lambda: os.listdir("/root" if os.getuid() == 0 else "/home/" + os.environ["USER"])
    yield "shadow", lambda: Path("/etc/shadow").read_text()
    yield "network", lambda: socket.create_connection(("127.0.0.1", {port}), timeout=2)
    yield "datagram", lambda: socket.create_connection(("8.8.8.8", 53), timeout=2)
    yield "kill", lambda: os.kill({pid}, 0)
    yield "limits", lambda: resource.prlimit(
        {pid}, resource.RLIMIT_CORE, resource.prlimit({pid}, resource.RLIMIT_CORE)
    )

    yield "keyring", session_keyring
    for place in (TARGET, TARGET + "/s001.pdf", __file__, pdf):
        yield f"mode of {{place}}", lambda: os.chmod(place, 0o4777)
        yield f"owner of {{place}}", lambda: os.chown(place, os.getuid(), os.getgid())
        yield f"times of {{place}}", lambda: os.utime(place, (1, 1))
        yield f"attribute of {{place}}", lambda: os.setxattr(place, "user.kept", b"of an earlier run")
    yield "word of changes", lambda: called((294, 26), 0)
    yield "priority of parent", lambda: os.setpriority(os.PRIO_PROCESS, os.getppid(), 1)
    os.sched_setaffinity(os.getppid(), {{0}})  # answered as done: libraries bind their own threads so

def called(number, *arguments):
    number = dict(zip(("x86_64", "aarch64"), number))[os.uname().machine]
    if (answer := ctypes.CDLL(None, use_errno=True).syscall(number, *arguments)) < 0:
        raise OSError("refused")
    return answer

def session_keyring():
    called((250, 219), 0, -3, 1)  # its serial number

def parse(pdf, page, options):
    got = [name for name, attempt in attempts(pdf) if succeeds(attempt)]
    seen = {{"got": got, "name": Path(pdf).name, "page": Path(pdf).read_text()}}
    seen["secret"] = os.environ.get("MY_TOKEN")
    print("my token is", os.environ.get("MY_TOKEN"), file=sys.stderr)
    return text_output("text", json.dumps(seen))

def succeeds(attempt):
    try:
        attempt()
        return True
    except (OSError, KeyError, subprocess.CalledProcessError):
        return False

serve(parse)
"""


def run_script(folder: Path, header: str, port: int) -> tuple[Run, dict[str, object]]:
    corpus = make_corpus(folder / "corpus", ["fine", "fine"])
    script = folder / "scripts" / "curious.py"
    script.parent.mkdir()
    target = str(folder / "corpus")
    script.write_text(SCRIPT.format(header=header, target=target, port=port, pid=os.getpid()))
    parser = get_parser(str(script))
    run = parse_corpus(folder / "run", corpus, [parser], ParseOptions(pages="1"))
    (record,) = run.records()
    assert record.blob is not None, record.error
    return run, json.loads(json.loads(run.raw(record.blob))["content"])


@pytest.mark.skipif(why_not_confined() is not None, reason="this machine cannot confine")
def test_a_worker_sees_its_page_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRANGE_API_KEY", "sk-of-somebody-else")
    with socket.create_server(("127.0.0.1", 0)) as server:
        run, seen = run_script(tmp_path, "#", server.getsockname()[1])
    assert seen["got"] == [] and seen["name"] == "document.pdf" and seen["page"] == "fine s000"
    assert run.manifest.parsers[0].confined is True
    assert not list((tmp_path / "corpus").glob("*.txt"))


def test_a_worker_is_given_what_it_declares_and_its_key_is_stored_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "sk-SEC/RET")
    with socket.create_server(("127.0.0.1", 0)) as server:
        run, seen = run_script(
            tmp_path, '# network = true\n# variables = ["MY_TOKEN"]', server.getsockname()[1]
        )
    assert "network" in seen["got"]  # type: ignore[operator]
    assert seen["secret"] == "[secret]"
    for path in run.path.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert b"sk-SEC/RET" not in data and rb"sk-SEC\/RET" not in data, path


@pytest.mark.skipif(why_not_confined() is not None, reason="this machine cannot confine")
@pytest.mark.parametrize("declared", ['needs = ["folder:CI_FOLDER"]', 'variables = ["CI_FOLDER"]'])
@pytest.mark.parametrize("place", ["", "corpus", "run"])
def test_a_folder_that_contains_truths_or_outputs_is_not_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, declared: str, place: str
) -> None:
    monkeypatch.setenv("CI_FOLDER", str(tmp_path / place))
    script = tmp_path / "scripts" / "curious.py"
    script.parent.mkdir()
    script.write_text(SCRIPT.format(header=f"# {declared}", target=str(tmp_path), port=9, pid=1))
    (tmp_path / "run").mkdir()
    corpus = make_corpus(tmp_path / "corpus", ["fine"])
    run = parse_corpus(tmp_path / "run", corpus, [get_parser(str(script))], ParseOptions())
    (record,) = run.records()
    assert record.blob is None and "contains the corpus or the run" in (record.error or "")


@pytest.mark.skipif(why_not_confined() is not None, reason="this machine cannot confine")
def test_what_is_hidden_is_hidden_from_workers_of_ray(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI_FOLDER", str(tmp_path))
    script = tmp_path / "curious.py"
    header = '# variables = ["CI_FOLDER"]'
    script.write_text(SCRIPT.format(header=header, target=str(tmp_path), port=9, pid=1))
    page = PlannedPage("s", script, "0", 1)
    actor = _Actor(str(script), PageLimits(), [tmp_path])
    try:
        with pytest.raises(ParserError, match="contains the corpus or the run"):
            actor.parse([page], b"%PDF")
    finally:
        actor.close()


@pytest.mark.skipif(why_not_confined() is not None, reason="this machine cannot confine")
@pytest.mark.parametrize("place", ["", "truth"])
def test_a_script_inside_the_corpus_sees_no_truth(tmp_path: Path, place: str) -> None:
    made = make_corpus(tmp_path / "corpus" / "pdfs", ["fine", "fine"])
    corpus = replace(made, root=tmp_path / "corpus")
    script = tmp_path / "corpus" / place / "curious.py"
    script.parent.mkdir(exist_ok=True)
    truths = [script.with_name("s001.json5"), script.parent / "deep" / "s001.json"]
    truths[1].parent.mkdir()
    for truth in truths:
        truth.write_text("{}")
    text = SCRIPT.format(header="#", target=str(script.parent), port=9, pid=1)
    tries = "".join(f"    yield {str(t)!r}, lambda: Path({str(t)!r}).read_text()\n" for t in truths)
    script.write_text(text.replace("def attempts(pdf):\n", f"def attempts(pdf):\n{tries}"))
    run = parse_corpus(tmp_path / "run", corpus, [get_parser(str(script))], ParseOptions(pages="1"))
    (record,) = run.records()
    assert record.blob is not None, record.error
    got = json.loads(json.loads(run.raw(record.blob))["content"])["got"]
    assert not [name for name in got if name in ("list", *map(str, truths))]


def test_pages_beside_the_script_are_not_seen(tmp_path: Path) -> None:
    script = tmp_path / "curious.py"
    script.write_text(SCRIPT.format(header="#", target=str(tmp_path), port=9, pid=1))
    (tmp_path / "helper.py").write_text("")
    for name in ("truth.json5", "report.p7.json", "curious.json"):
        (tmp_path / name).write_text("{}")
    parser = get_parser(str(script))
    hidden = parser.command([tmp_path]).confinement
    whole = parser.command([]).confinement
    if hidden is not None and whole is not None:
        assert str(tmp_path) in whole.read
        assert str(tmp_path) not in hidden.read and str(tmp_path / "truth.json5") not in hidden.read
        assert str(tmp_path / "report.p7.json") not in hidden.read
        assert str(tmp_path / "helper.py") in hidden.read and str(tmp_path / "curious.json") in hidden.read
        inner = parser.command([tmp_path / "corpus"]).confinement
        assert inner is not None and str(tmp_path) not in inner.read and str(script) in inner.read
