"""A chat endpoint on loopback whose behaviour tests choose: honest, slow, limited, broken, or obedient."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any

from tests.waiting import PATIENCE_S

Request = dict[str, Any]
Answer = tuple[int, dict[str, str], bytes]


def completion(content: Any, *, finish: str = "stop", usage: Any = (100, 20), **message: Any) -> Answer:
    body: dict[str, Any] = {
        "model": "fake",
        "choices": [
            {"message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}
        ],
    }
    if usage is not None:
        body["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
    return 200, {}, json.dumps(body).encode()


def error(status: int, message: str = "no", **headers: str) -> Answer:
    return status, headers, json.dumps({"error": {"message": message}}).encode()


_FENCE = re.compile(r"===== (.+?) ([0-9a-f]{16}) =====\n(.*?)\n===== end of \1 \2 =====", re.DOTALL)


def fenced_blocks(request: Request) -> dict[str, str]:
    """What lies in fences whose key the system message names, without the marks."""
    system, user = (m["content"] for m in request["messages"])
    found = {}
    for name, key, inside in _FENCE.findall(user):
        if f"the key {key}" in system:
            found[name] = "\n".join(line.removeprefix("│ ") for line in inside.split("\n"))
    return found


def unfenced_text(request: Request) -> str:
    """All that a model would take for instructions: everything but marked lines in fences with the right
    key.
    """
    system, user = (m["content"] for m in request["messages"])

    def emptied(match: re.Match[str]) -> str:
        if f"the key {match[2]}" not in system:
            return match[0]
        return "\n".join(line for line in match[3].split("\n") if not line.startswith("│ "))

    return system + "\n" + _FENCE.sub(emptied, user)


def honest(request: Request, _count: int) -> Answer:
    """Scores by how alike the two blocks are."""
    texts = list(fenced_blocks(request).values())
    likeness = SequenceMatcher(None, *texts, autojunk=False).ratio() if len(texts) == 2 else 0.0
    return completion(json.dumps({"errors": [], "score": round(10 * likeness)}))


@dataclass
class ChatServer:
    """Answers each request with `behaviour(request, how often this request came before)`."""

    behaviour: Callable[[Request, int], Answer | Awaitable[Answer]] = honest
    delay_s: float = 0.0
    requests: list[Request] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)
    n_at_once: int = 0
    most_at_once: int = 0
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def spec(self, **options: Any) -> str:
        inner = "".join(f",{key}={value}" for key, value in options.items())
        return f"openai(model=fake,base_url={self.url}{inner})"

    def __enter__(self) -> ChatServer:
        ready = threading.Event()
        self._loop = asyncio.new_event_loop()

        async def start() -> None:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
            self.port = self._server.sockets[0].getsockname()[1]
            ready.set()

        def run() -> None:
            asyncio.set_event_loop(self._loop)
            self._loop.run_until_complete(start())
            self._loop.run_forever()

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()
        assert ready.wait(PATIENCE_S)
        return self

    def __exit__(self, *_: object) -> None:
        def stop() -> None:
            self._server.close()
            for task in asyncio.all_tasks(self._loop):
                task.cancel()
            self._loop.call_later(0.01, self._loop.stop)

        self._loop.call_soon_threadsafe(stop)
        self._thread.join(10)
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                headers = {
                    name.strip().lower(): value.strip()
                    for name, _, value in (line.partition(":") for line in head.split("\r\n")[1:])
                }
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                await self._respond(writer, headers, body)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _respond(self, writer: asyncio.StreamWriter, headers: dict[str, str], body: bytes) -> None:
        request = json.loads(body)
        name = body.decode()
        count = self.seen[name]
        self.seen[name] += 1
        self.requests.append(request)
        self.headers.append(headers)
        self.n_at_once += 1
        self.most_at_once = max(self.most_at_once, self.n_at_once)
        try:
            if self.delay_s:
                await asyncio.sleep(self.delay_s)
            answer = self.behaviour(request, count)
            if not isinstance(answer, tuple):
                answer = await answer
            status, extra, data = answer
            if status == 0:  # hang up in the middle of a reply
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{")
                await writer.drain()
                raise ConnectionError
            lines = [f"HTTP/1.1 {status} X", "content-type: application/json", f"content-length: {len(data)}"]
            lines += [f"{key.replace('_', '-')}: {value}" for key, value in extra.items()]
            writer.write("\r\n".join([*lines, "", ""]).encode() + data)
            await writer.drain()
        finally:
            self.n_at_once -= 1
