"""A conversation with one running worker: start, shake hands, ask page by page, end its whole process group.

Every wait has a deadline and every answer a size limit. What can go wrong is a `WorkerFailure` that says
how (`kind`) and carries the end of the worker's stderr; after one the session is dead and is replaced.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from parsemark.errors import ParserError
from parsemark.parsers.parser import WorkerCommand
from parsemark.registry import OptionValue

PROTOCOL = 1
START_TIMEOUT_S = 120.0
MAX_ANSWER_BYTES = 64 * 1024 * 1024
_STDERR_TAIL_BYTES = 8_192
_CHUNK = 1 << 16

FailureKind = Literal["start", "timeout", "died", "garbage", "too_large"]


class WorkerFailure(ParserError):  # noqa: N818 - reads as what it is: a failure of the worker, not of ours
    """A worker that did not answer as it must."""

    def __init__(self, kind: FailureKind, message: str, stderr_tail: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.stderr_tail = stderr_tail

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.kind, str(self), self.stderr_tail)


@dataclass(frozen=True, slots=True)
class Hello:
    """What a worker says of itself when it is ready."""

    parser: str
    versions: Mapping[str, str]
    weights: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Answer:
    """A worker's answer for one page: an output, or the parser's own error."""

    output: bytes | None
    """The raw output as JSON bytes, to be stored as it came and read by `read_raw`."""
    error: str | None
    wall_s: float
    cpu_s: float
    peak_memory_mb: float | None = None


class WorkerSession:
    """One running worker. Use it as a context manager, or call `close`."""

    def __init__(
        self,
        command: WorkerCommand,
        *,
        start_timeout_s: float = START_TIMEOUT_S,
        max_answer_bytes: int = MAX_ANSWER_BYTES,
        on_start: Callable[[int], None] | None = None,
    ) -> None:
        """Start the worker and wait for its hello.

        Args:
            command: What starts it.
            start_timeout_s: Within which it must shake hands.
            max_answer_bytes: Of one answer; no more than that is ever held.
            on_start: Told the process id before the wait, so that limits hold from the beginning.

        Raises:
            WorkerFailure: If it cannot be started or does not shake hands.
        """
        self._max_answer_bytes = max_answer_bytes
        self._buffer = bytearray()
        self._asked = 0
        try:
            self._process = subprocess.Popen(
                command.argv,
                env=dict(command.env),
                cwd=command.cwd,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise WorkerFailure("start", f"Cannot start {command.argv[0]}: {error}") from error
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._stderr = _Tail(self._process.stderr.fileno())
        if on_start is not None:
            on_start(self._process.pid)
        self.hello = self._shake_hands(start_timeout_s)

    @property
    def pid(self) -> int:
        """The worker's process id, which is also its process group."""
        return self._process.pid

    def ask(self, pdf: str, page: int, options: Mapping[str, OptionValue], *, timeout_s: float) -> Answer:
        """Have one page parsed.

        Raises:
            WorkerFailure: If no proper answer came in time. The worker is dead afterwards.
        """
        self._asked += 1
        request_id = str(self._asked)
        request = {"id": request_id, "pdf": pdf, "page": page, "options": dict(options)}
        try:
            self._stdin.write(json.dumps(request).encode() + b"\n")
            self._stdin.flush()
        except OSError as error:
            raise self._failure("died", f"The worker had ended {self._how_it_ended()}.") from error
        message = self._read_message(time.monotonic() + timeout_s, f"page {page}")
        try:
            return _read_answer(message, request_id)
        except (KeyError, TypeError, ValueError) as error:
            raise self._failure("garbage", f"The worker's answer is not valid: {error!r}.") from error

    def close(self) -> None:
        """End the worker and everything that it has started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._stderr.join()
        for pipe in (self._stdin, self._stdout, self._process.stderr):
            with contextlib.suppress(OSError):
                if pipe:
                    pipe.close()

    def __enter__(self) -> WorkerSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _shake_hands(self, timeout_s: float) -> Hello:
        message = self._read_message(time.monotonic() + timeout_s, "its start")
        try:
            if message["hello"] != PROTOCOL:
                raise ValueError(f"it speaks protocol {message['hello']!r}, not {PROTOCOL}")
            versions = {str(k): str(v) for k, v in message.get("versions", {}).items()}
            weights = {str(k): str(v) for k, v in message.get("weights", {}).items()}
            return Hello(str(message["parser"]), versions, weights)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise self._failure("start", f"The worker's first line is not a hello: {error!r}.") from error

    def _read_message(self, deadline: float, doing: str) -> dict[str, Any]:
        line = self._read_line(deadline, doing)
        try:
            message = json.loads(line)
        except (ValueError, RecursionError) as error:
            shown = line[:80].decode("utf-8", "replace")
            raise self._failure("garbage", f"The worker wrote no JSON at {doing}: {shown!r}.") from error
        if not isinstance(message, dict):
            raise self._failure("garbage", f"The worker wrote no JSON object at {doing}.")
        return message

    def _read_line(self, deadline: float, doing: str) -> bytes:
        """The next line of the worker's stdout, waiting until the deadline at most."""
        searched = 0
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdout, selectors.EVENT_READ)
            while (end := self._buffer.find(b"\n", searched)) < 0:
                searched = len(self._buffer)
                if searched > self._max_answer_bytes:
                    raise self._failure("too_large", f"The answer is over {self._max_answer_bytes} bytes.")
                remaining = deadline - time.monotonic()
                if remaining <= 0 or not selector.select(remaining):
                    raise self._failure("timeout", f"The worker did not finish {doing} in time.")
                chunk = os.read(self._stdout.fileno(), _CHUNK)
                if not chunk:
                    raise self._failure("died", f"The worker ended during {doing} {self._how_it_ended()}.")
                self._buffer += chunk
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    def _how_it_ended(self) -> str:
        try:
            code = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return "its output"
        return f"by signal {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"

    def _failure(self, kind: FailureKind, message: str) -> WorkerFailure:
        self.close()
        return WorkerFailure(kind, message, self._stderr.text())


class _Tail:
    """Drains a pipe in the background and keeps its end: a talkative worker blocks nothing, fills nothing."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._kept = b""
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()

    def _drain(self) -> None:
        while True:
            try:
                chunk = os.read(self._descriptor, _CHUNK)
            except OSError:
                return
            if not chunk:
                return
            self._kept = (self._kept + chunk)[-_STDERR_TAIL_BYTES:]

    def join(self) -> None:
        """Wait until the pipe has ended (a grandchild that left the group may hold it open: not for long)."""
        self._thread.join(timeout=2)

    def text(self) -> str:
        """The end of what was written."""
        return self._kept.decode("utf-8", "replace")


def _read_answer(message: Mapping[str, Any], request_id: str) -> Answer:
    if message["id"] != request_id:
        raise ValueError(f"it answers request {message['id']!r}, not {request_id!r}")
    output, error = message.get("output"), message.get("error")
    if (output is None) == (error is None):
        raise ValueError("it has neither or both of output and error")
    peak = message.get("peak_memory_mb")
    return Answer(
        output=None if output is None else _as_bytes(output),
        error=None if error is None else f"{error.get('kind', 'Error')}: {error['message']}",
        wall_s=float(message["wall_s"]),
        cpu_s=float(message["cpu_s"]),
        peak_memory_mb=None if peak is None else float(peak),
    )


def _as_bytes(output: Any) -> bytes:
    """JSON in UTF-8; half a surrogate pair, which UTF-8 cannot hold, becomes a question mark."""
    return json.dumps(output, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace")
