"""A conversation with one running worker: start, shake hands, ask page by page, end it with all its children.

Every wait has a deadline and every answer a size limit. What can go wrong is a `WorkerFailure` that says
how (`kind`) and carries the end of the worker's stderr; after one the session is dead and is replaced.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

from parsemark.errors import ParserError
from parsemark.parsers import messages
from parsemark.parsers.messages import Answer, ProtocolError
from parsemark.parsers.parser import WorkerCommand
from parsemark.specs import OptionValue
from parsemark.system.processes import EndedError, Supervised, describe_exit
from parsemark.system.scratch import ScratchFolder
from parsemark.system.secrets import masked

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


class WorkerSession:
    """One running worker. Use it as a context manager, or call `close`."""

    def __init__(
        self,
        command: WorkerCommand,
        *,
        start_timeout_s: float = START_TIMEOUT_S,
        max_answer_bytes: int = MAX_ANSWER_BYTES,
        disk_mb: int | None = None,
        on_start: Callable[[int, Path | None], None] | None = None,
    ) -> None:
        """Start the worker and wait for its hello; WorkerFailure if it cannot be started or does not shake
        hands.

        No more than `max_answer_bytes` of an answer are ever held, and no file is larger than `disk_mb`.
        `on_start` receives the process id and the folder of a confined worker before the wait, so that limits
        hold from the beginning.
        """
        self._max_answer_bytes = max_answer_bytes
        self._asked = 0
        self._prepared: set[str] = set()
        self._desk = _Desk(command, disk_mb)
        try:
            if shutil.which(command.argv[0], path=command.env.get("PATH")) is None:
                raise FileNotFoundError(errno.ENOENT, "the program was not found")
            env, rights = self._desk.env, self._desk.confinement
            self._supervised = Supervised(command.argv, env=env, cwd=command.cwd, confinement=rights)
        except OSError as error:
            self._desk.close()
            raise WorkerFailure("start", f"Cannot start {command.argv[0]}: {error.strerror}") from error
        assert self._supervised.process.stderr
        self._stderr = _Tail(self._supervised.process.stderr.fileno())
        if on_start is not None:
            on_start(self._supervised.pid, self._desk.folder)
        self._supervised.begin()
        line = self._read_line(time.monotonic() + start_timeout_s, f"starting ({start_timeout_s:.0f} s)")
        try:
            self.hello = messages.read_hello(line)
        except ProtocolError as error:
            raise self._failure("start", f"The worker's first line is not valid: {error}.") from error

    def prepare(self, options: Mapping[str, OptionValue], *, timeout_s: float) -> None:
        """Load models before the clock of a page starts, and before the worker has any page.

        Only once for the same options, and only if the worker says that it prepares itself. What fails here
        fails again, and is reported, when a page is asked for. WorkerFailure as of `ask`.
        """
        key = json.dumps(dict(options), sort_keys=True)
        if self.hello.prepares and key not in self._prepared:
            self._prepared.add(key)
            deadline = time.monotonic() + timeout_s
            self._exchange("its preparation", deadline, options, prepare=True)

    def ask(self, pdf: str, page: int, options: Mapping[str, OptionValue], *, timeout_s: float) -> Answer:
        """Parse one page, or all (`WHOLE_DOCUMENT`); after a WorkerFailure the worker is dead."""
        what = f"page {page}" if page != messages.WHOLE_DOCUMENT else "the document"
        given = self._desk.put(pdf)
        return self._exchange(what, time.monotonic() + timeout_s, options, pdf=given, page=page)

    def _exchange(
        self, what: str, deadline: float, options: Mapping[str, OptionValue], **wanted: str | int
    ) -> Answer:
        self._asked += 1
        # Not a guessable number: a worker cannot answer a request that it has not read.
        request_id = secrets.token_hex(8)
        request = json.dumps({"id": request_id, **wanted, "options": dict(options)})
        self._write(request.encode() + b"\n", deadline, what)
        line = self._read_line(deadline, what)
        try:
            return messages.read_answer(line, request_id)
        except ProtocolError as error:
            said = f"The worker's answer for {what} is not valid: {error}."
            raise self._failure("garbage", said) from error

    def _write(self, line: bytes, deadline: float, what: str) -> None:
        """Write a question; a worker that does not read it in time has not answered."""
        try:
            self._supervised.write(line, deadline)
        except TimeoutError as error:
            raise self._failure("timeout", f"The worker did not read the request for {what}.") from error
        except EndedError as error:
            raise self._failure("died", f"The worker {self._how_it_ended('before')} {what}.") from error

    def printed(self) -> str:
        """Return the end of what it wrote to standard error, and printed; whole once it is closed."""
        return self._stderr.text()

    def close(self) -> None:
        """End the worker and everything that it has started."""
        self._supervised.close()
        self._stderr.join()
        self._supervised.let_go()
        self._desk.close()

    def __enter__(self) -> WorkerSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read_line(self, deadline: float, doing: str) -> bytes:
        """Return the next line of the worker's stdout, waiting until the deadline at most."""
        try:
            return self._supervised.read_line(deadline, self._max_answer_bytes)
        except BufferError as error:
            raise self._failure("too_large", f"The answer exceeds {self._max_answer_bytes} bytes.") from error
        except TimeoutError as error:
            raise self._failure("timeout", f"The worker did not finish {doing} in time.") from error
        except EndedError as error:
            how = self._how_it_ended("during")
            said_nothing = self._asked == 0 and how == "ended with exit code 0 during" and not error.n_bytes
            hint = (
                " A worker script must end with `serve(parse)`: is that line missing?" if said_nothing else ""
            )
            raise self._failure("died", f"The worker {how} {doing}.{hint}") from error

    def _how_it_ended(self, when: str) -> str:
        code = self._supervised.exit_code(1)
        return f"closed its streams {when}" if code is None else f"ended {describe_exit(code)} {when}"

    def _failure(self, kind: FailureKind, message: str) -> WorkerFailure:
        self.close()
        return WorkerFailure(kind, message, self._stderr.text())


class _Desk:
    """A folder of the worker's own, with the file that it is given, under a name that says nothing."""

    def __init__(self, command: WorkerCommand, disk_mb: int | None) -> None:
        self.env, self.confinement = command.env, command.confinement
        self._keeps_names = command.file_names
        self._folder: ScratchFolder | None = None
        self._given: tuple[str, Path] | None = None
        if command.confinement is None:
            return
        self._folder = ScratchFolder("parsemark-worker-")
        room, files = self._folder.path / "own", self._folder.path / "given"
        room.mkdir()
        files.mkdir()
        allowed = command.confinement
        read, write = (*allowed.read, str(files)), (*allowed.write, str(room))
        self.confinement = replace(allowed, read=read, write=write, file_mb=disk_mb)
        self.env = {**command.env, "HOME": str(room), "TMPDIR": str(room)}

    @property
    def folder(self) -> Path | None:
        """Return where the worker writes; None if it is not confined."""
        return None if self._folder is None else self._folder.path

    def put(self, pdf: str) -> str:
        """Return where the worker finds a file: in its own folder, if it is confined to that."""
        if self._folder is None:
            return pdf
        if self._given is None or self._given[0] != pdf:
            if self._given is not None:
                self._given[1].unlink(missing_ok=True)
            source = Path(pdf)
            name = source.name if self._keeps_names else f"document{source.suffix}"
            copy = self._folder.path / "given" / name
            with contextlib.suppress(OSError):  # the worker says itself that a file is not there
                shutil.copyfile(source, copy)
            self._given = pdf, copy
        return str(self._given[1])

    def close(self) -> None:
        """Remove it."""
        if self._folder is not None:
            self._folder.close()
            self._folder = None


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
        """Return the end of what was written, without secrets."""
        return masked(self._kept.decode("utf-8", "replace"))
