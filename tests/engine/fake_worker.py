"""A worker that misbehaves on demand: the first word of the "PDF" says how. Speaks the protocol by hand."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path


def send(message: object) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def answer(request: dict, **changes: object) -> None:
    text = Path(request["pdf"]).read_text()
    output = {"format": "markdown", "content": f"| {text} | page {request['page']} |\n|---|---|\n| 1 | 2 |\n"}
    send({"id": request["id"], "output": output, "error": None, "wall_s": 0.0, "cpu_s": 0.0, **changes})


def once(request: dict) -> bool:
    """True the first time that this page is asked for."""
    mark = Path(request["pdf"]).with_suffix(".tried")
    if mark.exists():
        return False
    mark.touch()
    return True


def complain(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def crash(request: dict, hoard: list) -> None:
    complain(f"about to fall over {request['pdf']}")
    os.abort()


def crash_once(request: dict, hoard: list) -> None:
    if once(request):
        os._exit(3)
    answer(request)


def hang(request: dict, hoard: list) -> None:
    complain("waiting for godot")
    time.sleep(600)


def hang_with_child(request: dict, hoard: list) -> None:
    child = subprocess.Popen(["sleep", "600"])
    Path(request["pdf"]).with_suffix(".pid").write_text(str(child.pid))
    time.sleep(600)


def leak(request: dict, hoard: list) -> None:
    hoard += [b"x" * 2**20 for _ in range(400)]
    time.sleep(600)


def leak_in_child(request: dict, hoard: list) -> None:
    subprocess.run(
        [sys.executable, "-c", "x = b'x' * (400 << 20); import time; time.sleep(600)"], check=False
    )


def leak_slowly(request: dict, hoard: list) -> None:
    hoard += [b"x" * 2**20 for _ in range(60)]
    time.sleep(0.15)
    answer(request)


def garbage(request: dict, hoard: list) -> None:
    sys.stdout.write("Loading model … 100%\n")
    sys.stdout.flush()
    time.sleep(600)


def silent_exit(request: dict, hoard: list) -> None:
    sys.exit(0)


def huge(request: dict, hoard: list) -> None:
    block = b"x" * 2**20
    for _ in range(1024):
        sys.stdout.buffer.write(block)
    sys.stdout.buffer.flush()


def talkative(request: dict, hoard: list) -> None:
    for _ in range(2000):
        complain("blah " * 100)
    answer(request)


def error(request: dict, hoard: list) -> None:
    message = f"no such page in '{request['pdf']}' of {Path.home()}"
    answer(request, output=None, error={"message": message, "kind": "IndexError"})


def pay(request: dict, hoard: list) -> None:
    answer(request, cost_usd=0.3)


def nan(request: dict, hoard: list) -> None:
    answer(request, wall_s=float("nan"), cpu_s=-1.0)


def leak_beyond_its_session(request: dict, hoard: list) -> None:
    code = "x = b'x' * (400 << 20); import time; time.sleep(600)"
    child = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    Path(request["pdf"]).with_suffix(".pid").write_text(str(child.pid))
    time.sleep(600)


def kill_supervisor(request: dict, hoard: list) -> None:
    child = subprocess.Popen(["sleep", "600"], start_new_session=True)
    Path(request["pdf"]).with_suffix(".pid").write_text(str(child.pid))
    time.sleep(0.5)  # long enough to be seen
    os.kill(os.getppid(), 9)
    time.sleep(600)


def error_string(request: dict, hoard: list) -> None:
    answer(request, output=None, error="out of paper")


def error_list(request: dict, hoard: list) -> None:
    answer(request, output=None, error=["out of paper"])


def wall_huge(request: dict, hoard: list) -> None:
    answer(request, wall_s=10**400)


def cpu_huge(request: dict, hoard: list) -> None:
    answer(request, cpu_s=1e300)


def deep(request: dict, hoard: list) -> None:
    sys.stdout.write('{"id": ' + "[" * 50_000 + "\n")
    sys.stdout.flush()
    time.sleep(600)


def long_error(request: dict, hoard: list) -> None:
    answer(request, output=None, error={"message": "x" * 100_000, "kind": "y" * 100_000})


def slow(request: dict, hoard: list) -> None:
    time.sleep(0.2)
    answer(request)


def wait(request: dict, hoard: list) -> None:
    time.sleep(2.5)
    answer(request)


def burn(request: dict, hoard: list) -> None:
    while True:
        hoard[:] = range(1000)


def fine(request: dict, hoard: list) -> None:
    answer(request)


def main() -> None:
    if sys.argv[1:] == ["no-start"]:
        complain("no module named torch")
        sys.exit(1)
    versions = {"a\ud800": "b\udfff"} if sys.argv[1:] == ["surrogate"] else {"fake": "1.2.3"}
    send({"hello": 1, "parser": "fake", "versions": versions, "weights": {}})
    hoard: list = []
    for line in sys.stdin:
        request = json.loads(line)
        with Path(request["pdf"]).with_suffix(".log").open("a") as log:
            log.write(f"{request['page']}\n")
        behaviour = Path(request["pdf"]).read_text().split()[0]
        if behaviour.startswith("say:"):
            text = Path(request["pdf"]).read_text()
            answer(request, output=json.loads(text.removeprefix("say:").rpartition(" ")[0]))
            continue
        if behaviour.startswith("die-"):
            os.kill(os.getpid(), int(behaviour[4:]))
        globals()[behaviour.replace("-", "_")](request, hoard)


main()
