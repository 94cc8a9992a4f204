"""What asking judges costs: 1,000 pairs against a loopback server that answers in 50 ms, 16 at a time.

The ideal is 1,000 × 50 ms / 16. Beside it, in turns, runs a client that does nothing but send the same
bytes over 16 open connections and wait: what this machine, as loaded as it is, can reach at all.
"""

import asyncio
import json
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from parsemark.judges import AnswerStore, Asker, AskOptions, Pair, PairVerdict, get_judge, judge_pairs

N_PAIRS, CONCURRENCY, DELAY_S = 1000, 16, 0.05
AIM = 0.9
FLAT_MB = 30.0
_REPLY = json.dumps(
    {
        "choices": [{"message": {"content": '{"errors": [], "score": 7}'}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 500, "completion_tokens": 20},
    }
).encode()


def main() -> bool:
    with served() as port:
        ideal_s = N_PAIRS * DELAY_S / CONCURRENCY
        bare_s, judged_s, cpu_s = [], [], []
        for _ in range(3):
            bare_s.append(timed(lambda: asyncio.run(bare_client(port)))[0])
            wall, cpu = timed(lambda: judged(port, N_PAIRS))
            judged_s.append(wall)
            cpu_s.append(cpu)
        share = min(bare_s) / min(judged_s)
        print(
            f"{N_PAIRS:,} pairs at {CONCURRENCY}: {min(judged_s):.2f} s; ideal {ideal_s:.2f} s "
            f"({ideal_s / min(judged_s):.0%}); a bare client beside it {min(bare_s):.2f} s "
            f"({share:.0%}, aim >= {AIM:.0%}); "
            f"{1000 * min(cpu_s) / N_PAIRS:.2f} ms CPU per pair"
        )
        before = peak_mb()
        judged(port, 10 * N_PAIRS, CONCURRENCY * 16)
        grown = peak_mb() - before
        print(f"{10 * N_PAIRS:,} pairs: {grown:.1f} MB more memory than {N_PAIRS:,} (aim < {FLAT_MB:g})")
        return share >= AIM and grown < FLAT_MB


def timed(call: Any) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - wall, time.process_time() - cpu


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def judged(port: int, n: int, concurrency: int = CONCURRENCY) -> None:
    """Ask about `n` pairs, with a new file of answers; none of them is kept in memory."""
    count = 0

    def deliver(verdict: PairVerdict) -> None:
        nonlocal count
        assert verdict.score == 7
        count += 1

    pairs = (Pair(str(k), f"| a | {k} |\n" * 10, f"| a | {k + 1} |\n" * 10) for k in range(n))
    with tempfile.TemporaryDirectory() as folder, AnswerStore(Path(folder) / "answers.sqlite") as answers:
        judge = get_judge(f"openai(model=x,base_url=http://127.0.0.1:{port}/v1,input_usd=1,output_usd=1)")
        judge_pairs(pairs, [judge], Asker(answers, AskOptions(concurrency=concurrency)), deliver)
    assert count == n


async def bare_client(port: int) -> None:
    body = b"{" + b" " * 3000 + b"}"
    request = b"POST / HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % len(body) + body
    todo = iter(range(N_PAIRS))

    async def one() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in todo:
            writer.write(request)
            await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(len(_REPLY))
        writer.close()

    await asyncio.gather(*(one() for _ in range(CONCURRENCY)))


@contextmanager
def served() -> Iterator[int]:
    """Run the server in a process of its own."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    process.start()
    try:
        yield ours.recv()
    finally:
        process.terminate()
        process.join()


def _serve(pipe: Any) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(_REPLY)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                fields = (await reader.readuntil(b"\r\n\r\n")).lower()
                size = int(fields.split(b"content-length:")[1].split(b"\r\n")[0])
                await reader.readexactly(size)
                await asyncio.sleep(DELAY_S)
                writer.write(head + _REPLY)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def run() -> None:
        server = await asyncio.start_server(handle, "127.0.0.1", 0, backlog=1024)
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())
