"""The conversation with a worker: what goes well, and everything that can go wrong."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.parsers.scripts import command_for
from tests.waiting import PATIENCE_S, is_running, wait_until

from parsemark.parsers import Answer, WorkerCommand, WorkerFailure, WorkerSession

OPTIONS = {"mode": "fast", "scale": 1.0}


def ask(folder: Path, body: str, *, timeout_s: float = 20, pages: int = 1) -> list[Answer]:
    with WorkerSession(command_for(folder, body)) as session:
        return [session.ask("some.pdf", page, OPTIONS, timeout_s=timeout_s) for page in range(1, pages + 1)]


def failure(
    folder: Path, body: str, *, timeout_s: float = 20, max_answer_bytes: int = 10**6
) -> WorkerFailure:
    with (
        pytest.raises(WorkerFailure) as caught,
        WorkerSession(command_for(folder, body), max_answer_bytes=max_answer_bytes) as session,
    ):
        session.ask("some.pdf", 1, OPTIONS, timeout_s=timeout_s)
    return caught.value


def failure_with_child(folder: Path, body: str, pid: Path) -> tuple[WorkerFailure, int]:
    """How a worker fails that has written the id of its child; on a busy machine that may take a while."""
    for timeout_s in (5, 20, 80, 320):
        pid.unlink(missing_ok=True)
        begun = time.monotonic()
        error = failure(folder, body, timeout_s=timeout_s)
        assert time.monotonic() - begun < timeout_s + PATIENCE_S, "it waited for what sleeps for an hour"
        if pid.exists() and (text := pid.read_text().strip()):
            return error, int(text)
    raise AssertionError("the worker never came to start its child")


def test_whatever_a_library_prints_does_not_touch_the_protocol(tmp_path: Path) -> None:
    body = """
    import os, subprocess, sys
    print("printed at import")
    from parsemark_worker import serve, text_output

    def parse(pdf, page, options):
        print('{"id": "1"}')
        os.write(1, b"written by C\\n")
        subprocess.run(["echo", "written by a child"], check=True)
        return text_output("text", "fine")

    serve(parse)
    """
    (answer,) = ask(tmp_path, body)
    assert answer.output is not None
    assert json.loads(answer.output)["content"] == "fine"


def test_modules_beside_the_script_can_be_imported_and_shadow_nothing(tmp_path: Path) -> None:
    (tmp_path / "helper_of_mine.py").write_text("WORD = 'helped'\n")
    (tmp_path / "json.py").write_text("raise RuntimeError('not the module that was meant')\n")
    body = """
    import json
    from helper_of_mine import WORD
    from parsemark_worker import serve, text_output

    serve(lambda pdf, page, options: text_output("text", json.loads('"' + WORD + '"')))
    """
    (answer,) = ask(tmp_path, body)
    assert json.loads(answer.output or b"")["content"] == "helped"


def test_a_child_cannot_eat_requests(tmp_path: Path) -> None:
    body = """
    import subprocess
    from parsemark_worker import serve, text_output

    def parse(pdf, page, options):
        return text_output("text", subprocess.run(["cat"], capture_output=True, text=True).stdout + str(page))

    serve(parse)
    """
    answers = ask(tmp_path, body, pages=2)
    assert [json.loads(a.output or b"")["content"] for a in answers] == ["1", "2"]


def test_an_exception_costs_one_page(tmp_path: Path) -> None:
    body = """
    from parsemark_worker import serve, text_output

    def parse(pdf, page, options):
        if page == 1:
            raise ValueError("no such glyph")
        return text_output("text", "fine") if page == 3 else {"x": float("nan")}

    serve(parse)
    """
    first, second, third = ask(tmp_path, body, pages=3)
    assert first.error == "ValueError: no such glyph" and first.output is None
    assert second.error is not None and second.output is None, "an output that JSON cannot hold is an error"
    assert third.error is None and third.output is not None


def test_time_is_measured_with_children_and_without_preparation(tmp_path: Path) -> None:
    body = """
    import subprocess, sys, time
    from parsemark_worker import serve, text_output

    BUSY = "import time\\nwhile time.process_time() < 0.3: pass"

    def prepare(options):
        while time.process_time() < 0.6: pass

    def parse(pdf, page, options):
        subprocess.run([sys.executable, "-c", BUSY], check=True)
        return text_output("text", "fine")

    serve(parse, prepare=prepare)
    """
    (answer,) = ask(tmp_path, body)
    assert 0.29 < answer.cpu_s < 0.59
    assert answer.wall_s >= answer.cpu_s * 0.5
    assert answer.peak_memory_mb is None or 1 < answer.peak_memory_mb < 1000


def test_a_crash_is_named_and_keeps_the_end_of_stderr(tmp_path: Path) -> None:
    body = """
    import os, sys
    from parsemark_worker import serve

    def parse(pdf, page, options):
        sys.stderr.write("x" * 100_000 + "the last words")
        sys.stderr.flush()
        os.abort()

    serve(parse)
    """
    error = failure(tmp_path, body)
    assert error.kind == "died"
    assert "SIGABRT" in str(error)
    assert "the last words" in error.stderr_tail
    assert len(error.stderr_tail) < 20_000


def test_exit_without_an_answer(tmp_path: Path) -> None:
    body = """
    import os
    from parsemark_worker import serve
    serve(lambda pdf, page, options: os._exit(0))
    """
    error = failure(tmp_path, body)
    assert error.kind == "died"
    assert "exit code 0" in str(error)


def test_a_hang_ends_at_the_deadline_with_its_children(tmp_path: Path) -> None:
    body = f"""
    import subprocess
    from parsemark_worker import serve

    def parse(pdf, page, options):
        child = subprocess.Popen(["sleep", "3600"])
        open({str(tmp_path / "pid")!r}, "w").write(str(child.pid))
        child.wait()

    serve(parse)
    """
    error, child = failure_with_child(tmp_path, body, tmp_path / "pid")
    assert error.kind == "timeout"
    assert not is_running(child)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("not JSON", "garbage"),
        ("[1, 2]", "garbage"),
        ("[" * 10_000, "garbage"),
        ('{"id": "7", "output": {}, "error": null, "wall_s": 0, "cpu_s": 0}', "garbage"),
        ('{"id": "1", "output": null, "error": null, "wall_s": 0, "cpu_s": 0}', "garbage"),
        ('{"id": "1", "output": {}, "error": null, "wall_s": "soon", "cpu_s": 0}', "garbage"),
        ('{"id": "1", "output": {"content": "' + "x" * 200_000 + '"}}', "too_large"),
    ],
)
def test_a_worker_without_the_kit_that_writes_nonsense(tmp_path: Path, line: str, kind: str) -> None:
    body = f"""
    import sys
    import parsemark_worker as kit
    requests, answers = kit._streams()
    kit._send(answers, {{"hello": 1, "parser": "x", "versions": {{}}, "weights": {{}}}})
    requests.readline()
    open(answers, "w").write({line!r} + "\\n")
    """
    assert failure(tmp_path, body, max_answer_bytes=100_000).kind == kind


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        ("import nothing_of_that_name", "died", "exit code 1"),
        (
            "import parsemark_worker as kit\nkit._send(kit._streams()[1], {'hello': 2, 'parser': 'x'})",
            "start",
            "protocol 2",
        ),
        ("import parsemark_worker as kit\nkit._send(kit._streams()[1], {'hi': 1})", "start", "not a `hello`"),
    ],
)
def test_a_worker_that_does_not_shake_hands(tmp_path: Path, body: str, kind: str, words: str) -> None:
    error = failure(tmp_path, body)
    assert error.kind == kind
    assert words in str(error)


def test_a_program_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(WorkerFailure, match="Cannot start"):
        WorkerSession(WorkerCommand((str(tmp_path / "nothing"),), {}, str(tmp_path)))


def test_a_surrogate_half_does_not_end_the_worker(tmp_path: Path) -> None:
    body = """
    from parsemark_worker import serve, text_output
    serve(lambda pdf, page, options: text_output("text", "a\\ud800b"))
    """
    (answer,) = ask(tmp_path, body)
    assert json.loads(answer.output or b"")["content"] == "a?b"


ESCAPES = {
    "its own session": "subprocess.Popen(['sleep', '3600'], start_new_session=True)",
    "forked twice": "subprocess.Popen(['sh', '-c', 'setsid sh -c \"echo $$ > PID; exec sleep 3600\" &'])",
    "the streams kept open": "subprocess.Popen(['sleep', '999'], start_new_session=True, stdout=4, stderr=2)",
}


@pytest.mark.parametrize("how", ESCAPES)
@pytest.mark.parametrize("then", ["os.abort()", "time.sleep(3600)"])
def test_no_child_escapes(tmp_path: Path, how: str, then: str) -> None:
    pid = tmp_path / "pid"
    body = f"""
    import os, subprocess, time
    from parsemark_worker import serve

    def parse(pdf, page, options):
        child = {ESCAPES[how].replace("PID", str(pid))}
        if {how!r} != "forked twice":
            open({str(pid)!r}, "w").write(str(child.pid))
        while not os.path.exists({str(pid)!r}) or not open({str(pid)!r}).read():
            time.sleep(0.01)
        {then}

    serve(parse)
    """
    _, child = failure_with_child(tmp_path, body, pid)
    assert not is_running(child)


def test_a_killed_driver_takes_its_workers_and_their_children_along(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    body = f"""
    import os, subprocess, time
    from parsemark_worker import serve

    def parse(pdf, page, options):
        child = subprocess.Popen(["sleep", "600"], start_new_session=True)
        open({str(pid)!r}, "w").write(f"{{child.pid}} {{os.getpid()}} {{os.getppid()}}")
        time.sleep(600)

    serve(parse)
    """
    command = command_for(tmp_path, body)
    driver = f"""
from parsemark.parsers import WorkerCommand, WorkerSession
command = WorkerCommand({command.argv!r}, {dict(command.env)!r}, {command.cwd!r})
WorkerSession(command).ask("some.pdf", 1, {{}}, timeout_s=600)
"""
    process = subprocess.Popen([sys.executable, "-c", driver])
    wait_until(lambda: pid.exists() and len(pid.read_text().split()) == 3)
    process.kill()
    process.wait()
    processes = [int(p) for p in pid.read_text().split()]
    wait_until(lambda: not any(is_running(p) for p in processes))
