"""What the rating server stands: 50 raters who rate 100 pairs each at the same time, and nothing is lost.

Each rater answers once a second, which is quicker than anybody reads two tables, and waits for the
confirmation. Times are of the answers, which are on the disk when they come back. What a request waits for
a processor belongs to the
machine: a file that is served from memory is asked for after each answer and timed beside it.
"""

import asyncio
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

N_RATERS, N_PAIRS = 50, 100
AIM_MS = 100.0
PEOPLE_PAUSE_S = 1.0
"""Between two answers of a rater: quicker than anybody reads two tables."""


def main() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pairs.json"
        table = "| Method | Score |\n|---|---|\n" + "\n".join(f"| m{k} | {k}.5 |" for k in range(20))
        pairs = [{"id": f"p{k}", "truth": f"{table}\n| x | {k} |", "pred": f"{table}\n| x | {k + 1} |"}
                 for k in range(N_PAIRS)]  # fmt: skip
        file.write_text(json.dumps({"schema_version": 1, "pairs": pairs}))
        command = [
            sys.executable,
            "-m",
            "parsemark",
            "rate",
            str(file),
            "--port",
            "0",
            "--no-browser",
            "--repeats",
            "0",
        ]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            link = process.stdout.readline().split()[-1]
            port = int(re.findall(r":(\d+)", link)[0])
            began = time.perf_counter()
            answers, idle = asyncio.run(everybody(port))
            wall = time.perf_counter() - began
        finally:
            process.kill()
            process.wait()
        out = Path(folder) / "ratings.json"
        export = [sys.executable, "-m", "parsemark", "study", "rate", str(file), "--export", str(out)]
        subprocess.run(export, check=True, capture_output=True)
        kept = sum(len(pair["ratings"]) for pair in json.loads(out.read_text())["pairs"])
    p50, p95 = (1000 * q for q in quantiles(answers))
    idle50, idle95 = (1000 * q for q in quantiles(idle))
    print(
        f"{N_RATERS} raters × {N_PAIRS} ratings in {wall:.0f} s: median {p50:.0f} ms, 95 % within "
        f"{p95:.0f} ms "
        f"(aim < {AIM_MS:g}); a page that does nothing: {idle50:.0f} and {idle95:.0f} ms; "
        f"{kept:,} of {N_RATERS * N_PAIRS:,} ratings kept"
    )
    return kept == N_RATERS * N_PAIRS and p95 < AIM_MS


def quantiles(values: list[float]) -> tuple[float, float]:
    parts = statistics.quantiles(values, n=100)
    return parts[49], parts[94]


async def everybody(port: int) -> tuple[list[float], list[float]]:
    answers: list[float] = []
    idle: list[float] = []
    people = [Browser(port) for _ in range(N_RATERS)]

    async def rate(number: int, browser: "Browser") -> None:
        await browser.open(f"rater {number}")
        await asyncio.sleep(PEOPLE_PAUSE_S * number / N_RATERS)
        item = (await browser.get("/api/item"))["item"]
        while item is not None:
            begin = time.perf_counter()
            body = {
                "place": item["place"],
                "score": number % 11,
                "nonce": f"nonce-{number:03}-{item['place']:04}",
            }
            found = await browser.call("POST", "/api/answer", json.dumps(body).encode())
            answers.append(time.perf_counter() - begin)
            item = json.loads(found)["item"]
            begin = time.perf_counter()
            await browser.call("GET", "/assets/icon.svg")
            idle.append(time.perf_counter() - begin)
            await asyncio.sleep(max(0.0, PEOPLE_PAUSE_S - (time.perf_counter() - begin)))

    await asyncio.gather(*(rate(number, browser) for number, browser in enumerate(people)))
    return answers, idle


class Browser:
    """One connection with its cookie; written by hand, so that the client does not take the server's
    processor.
    """

    def __init__(self, port: int) -> None:
        self.port = port
        self.cookie = self.csrf = ""

    async def open(self, name: str) -> None:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        await self.call("GET", "/")
        text = (await self.call("GET", "/")).decode()
        found = re.search(r'name="csrf" content="(\w+)"', text)
        assert found is not None
        self.csrf = found[1]
        await self.call("POST", "/api/enter", json.dumps({"name": name}).encode())

    async def get(self, path: str) -> Any:
        return json.loads(await self.call("GET", path))

    async def call(self, method: str, path: str, body: bytes = b"") -> bytes:
        lines = [f"{method} {path} HTTP/1.1", f"host: 127.0.0.1:{self.port}", f"content-length: {len(body)}"]
        lines += [f"cookie: {self.cookie}", f"x-parsemark: {self.csrf}", "", ""]
        self.writer.write("\r\n".join(lines).encode() + body)
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        if cookie := re.search(r"set-cookie: (parsemark_browser=[\w-]+)", head, re.IGNORECASE):
            self.cookie = cookie[1]
        size = re.search(r"content-length: (\d+)", head, re.IGNORECASE)
        data = await self.reader.readexactly(int(size[1]) if size else 0)
        assert head.split()[1] == "200", (head, data[:200])
        return data
